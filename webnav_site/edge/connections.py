"""Connections with deadlines. uvicorn itself waits for ever for the end of a header, and for a client that stops
reading."""

import time
from asyncio import AbstractEventLoop, Transport
from typing import Any, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from annotations.access.clients import client_address, client_network, trusts_peer
from webnav_site.edge.clients import CLIENTS
from webnav_site.edge.limits import EdgeLimits
from webnav_site.edge.sockets import Socket

CONNECTION = "webnav.connection"  # in an ASGI scope: the connection, which `abort` ends
SWEEP_SECONDS = 0.5
REFUSALS = {
    400: "Bad Request",
    408: "Request Timeout",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
}


def limits() -> EdgeLimits:
    """The limits of the settings. They are read when the first client comes, as uvicorn loads this module before the
    application."""
    from django.conf import settings

    return settings.WEB_LIMITS


class ClientConnection(HttpToolsProtocol):
    """One client's connection with deadlines, for `uvicorn --http webnav_site.edge.connections:ClientConnection`."""

    client_key = ""
    counted = False
    header_since: float | None = None  # a request has begun, or must; its headers are not complete
    header_size = 0
    in_body = False
    unread_since: float | None = None
    unread = 0
    is_socket = False

    def connection_made(  # type: ignore[override]  # as uvicorn has it: of this kind are all that listen here
        self, transport: Transport
    ) -> None:
        super().connection_made(transport)
        self.header_since = time.monotonic()
        peer = self.client[0] if self.client else ""
        most = limits().client_connections
        if not trusts_peer(peer):  # a proxy brings many clients: their requests are counted, not its connections
            key = client_network(client_address({"client": (peer, 0)}))
            if not CLIENTS.take(key, "connections", 1, most):
                self.refuse(429)
                return
            self.client_key = key
            self.counted = True
        _sweeper(self.loop).add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to our WebSocket class. It stays one of the client's connections until it is lost,
        and keeps its own deadlines. A handshake that the library drops without a word, as one with a body, is refused:
        its client would hold the connection for ever."""
        self.is_socket, self.ws_protocol_class = True, Socket
        super().handle_websocket_upgrade()
        opened = cast(Socket, self.transport.get_protocol())
        opened.lost = self._forget
        if not opened.handshake_initiated:
            self.refuse(400)

    def data_received(self, data: bytes) -> None:
        if not self.in_body:
            self.header_since = self.header_since or time.monotonic()
            if self.header_size > limits().header_bytes:  # before this piece, which may hold the start of a body
                self.refuse(431)
                return
            self.header_size += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.header_since is None:  # its first bytes came together with the end of the last request
            self.header_since, self.header_size = time.monotonic(), 1

    def on_headers_complete(self) -> None:
        cast(dict[str, Any], self.scope)[CONNECTION] = self
        self.in_body, self.header_since, self.header_size = True, None, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.in_body = False
        super().on_message_complete()

    def refuse(self, status: int) -> None:
        """Answer a request that was never complete, and hang up."""
        if not self.transport.is_closing():
            line = f"HTTP/1.1 {status} {REFUSALS[status]}\r\n"
            self.transport.write(f"{line}connection: close\r\ncontent-length: 0\r\n\r\n".encode())
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        self.transport.abort()

    def check(self, now: float, limits: EdgeLimits) -> None:
        """Hang up on a client that exceeds a deadline."""
        if self.is_socket or (self.cycle is not None and not self.cycle.response_complete):
            return  # a WebSocket, or being answered: both have deadlines of their own
        if self._unread_for(now) > limits.fetch_seconds:
            self.abort()
        elif self.in_body:  # it still sends a body, though the answer is complete
            self.transport.close()
        elif self.header_since is not None and now - self.header_since > limits.header_seconds:
            # Browsers open connections that they may need later: one that never said anything is told nothing.
            self.refuse(408) if self.header_size else self.transport.close()

    def _unread_for(self, now: float) -> float:
        """For how many seconds a finished answer, or a refusal, has not got a byte further."""
        size = self.transport.get_write_buffer_size()
        if not size or size != self.unread:
            self.unread, self.unread_since = size, now
        return now - (self.unread_since or now)

    def _forget(self) -> None:
        _sweeper(self.loop).discard(self)
        if self.counted:
            self.counted = False
            CLIENTS.give_back(self.client_key, "connections")


class Sweeper:
    """Checks all connections of an event loop twice a second, while there are any."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.connections: dict[ClientConnection, None] = {}  # in the order in which they came
        self.runs = False

    def add(self, connection: ClientConnection) -> None:
        self.connections[connection] = None
        if len(self.connections) > limits().connections:
            self._make_room()
        if not self.runs:
            self.runs = True
            self.loop.call_later(SWEEP_SECONDS, self.sweep)

    def discard(self, connection: ClientConnection) -> None:
        self.connections.pop(connection, None)

    def sweep(self) -> None:
        now, allowed = time.monotonic(), limits()
        for connection in list(self.connections):
            connection.check(now, allowed)
        self.runs = bool(self.connections)
        if self.runs:
            self.loop.call_later(SWEEP_SECONDS, self.sweep)

    def _make_room(self) -> None:
        """Close a connection: the first that has not sent a whole request yet, else the newest."""
        silent = (connection for connection in self.connections if connection.header_since is not None)
        next(silent, next(reversed(self.connections))).abort()


_SWEEPERS: WeakKeyDictionary[AbstractEventLoop, Sweeper] = WeakKeyDictionary()


def _sweeper(loop: AbstractEventLoop) -> Sweeper:
    if loop not in _SWEEPERS:
        _SWEEPERS[loop] = Sweeper(loop)
    return _SWEEPERS[loop]
