"""Opens WebSockets to pages of the app alone, limits them per client, and answers plainly where there is none."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.http.request import split_domain_port, validate_host
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from annotations.access.clients import client_address, client_network
from webnav_site.edge.clients import CLIENTS, Clients
from webnav_site.edge.limits import EdgeLimits
from webnav_site.edge.refusals import AsgiScope, Receive, Send

FOREIGN, NOT_FOUND, TOO_MANY = 4403, 4404, 4429  # what a socket is closed with
DENIAL = "websocket.http.response"  # an answer to the handshake, where the server can send one
REASONS = {
    403: b"WebSockets are opened by pages of the app itself.\n",
    404: b"There is no WebSocket here.\n",
    429: b"Too many WebSockets are open from your address.\n",
}


class Sockets:
    """The ASGI application for WebSockets, which limits them, around another one."""

    def __init__(self, inner, limits: EdgeLimits, clients: Clients = CLIENTS) -> None:
        self.inner, self.limits, self.clients = inner, limits, clients

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        client = client_network(client_address(scope))
        if not self.clients.take(client, "sockets", 1, self.limits.client_sockets):
            await refuse(scope, receive, send, 429, TOO_MANY)
            return
        try:
            await self.inner(scope, receive, send)
        finally:
            self.clients.give_back(client, "sockets")


class OwnPages:
    """The ASGI application for WebSockets, to pages of the app alone: browsers send cookies with every handshake,
    whichever page makes it. The page's origin is the app's, or that of the host that was asked, its port included, as
    other programs of the same machine have other ports; the host is none but the app's."""

    def __init__(self, inner, origin: str, hosts: list[str]) -> None:
        self.inner, self.origin, self.hosts = inner, origin, hosts

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        named = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = named.get(b"host", ""), named.get(b"origin", "")
        is_ours = validate_host(split_domain_port(host)[0], self.hosts)
        if is_ours and (origin == self.origin or _place(origin) == host.lower()):
            await self.inner(scope, receive, send)
        else:
            await refuse(scope, receive, send, 403, FOREIGN)


def _place(origin: str) -> str:
    """Host and port of an origin; "" of what is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


class Socket(WebSocketsSansIOProtocol):
    """One client's WebSocket. It keeps three harmless things out of the log, which anybody could else fill: a handshake
    answered with a status, which uvicorn takes for a forgotten one, a client that left while we wrote, and a text that
    is none. `lost` is called when the connection is gone."""

    lost: Callable[[], None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self.lost:
            self.lost()
        super().connection_lost(exc)

    async def send(self, message: Any) -> None:
        with suppress(ClientDisconnected):  # the application is told by what it receives next
            await super().send(message)
        self.handshake_complete |= self.close_sent

    def send_receive_event_to_app(self) -> None:
        try:
            if self.curr_msg_data_type == "text":
                b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self.frames = []
            self.conn.send_close(1007)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()


async def not_found(scope: AsgiScope, receive: Receive, send: Send) -> None:
    """Refuse a handshake at any address that has no WebSocket; the last route."""
    await refuse(scope, receive, send, 404, NOT_FOUND)


async def refuse(scope: AsgiScope, receive: Receive, send: Send, status: int, code: int) -> None:
    """Refuse the handshake with a status, or else with a code that means the same."""
    await receive()
    if DENIAL in scope.get("extensions", {}):
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": f"{DENIAL}.start", "status": status, "headers": headers})
        await send({"type": f"{DENIAL}.body", "body": REASONS[status]})
    else:
        await send({"type": "websocket.close", "code": code})
