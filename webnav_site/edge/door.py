"""Takes HTTP requests from their headers to the last byte of the answer: limits, body, thread, answer."""

import asyncio
import sys
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from a2wsgi.asgi_typing import HTTPScope
from a2wsgi.wsgi import Body, build_environ
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from annotations.access.clients import client_address, client_network, trusts_peer
from webnav_site.edge import accounts, bodies
from webnav_site.edge.answers import Answer, Environ, Sender, Wsgi, made_by
from webnav_site.edge.clients import ALL, CLIENTS, Clients, TooMuch, Turns
from webnav_site.edge.connections import CONNECTION
from webnav_site.edge.limits import EdgeLimits
from webnav_site.edge.pools import Pools
from webnav_site.edge.refusals import AsgiScope, Gone, Receive, Send, TurnedAway, announced, answer

LATE_HEADERS = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
# What watches the app, and how it is answered when the database keeps its threads waiting.
LATE = {
    "/healthz": Answer(503, LATE_HEADERS, b'{"status": "failing"}'),
    "/metrics": Answer(503, LATE_HEADERS, b'{"detail": "The metrics could not be read in time."}'),
}
PROBES = 16  # of people with accounts at the same time: strangers share one


class Door:
    """The ASGI application for HTTP, around a WSGI application."""

    def __init__(self, wsgi: Wsgi, limits: EdgeLimits, folder: Path, clients: Clients = CLIENTS) -> None:
        self.wsgi, self.limits, self.folder, self.clients = wsgi, limits, folder, clients
        self.pools, self.turns = Pools(limits), Turns(limits.client_threads)
        self._probes: dict[str, dict[bytes, asyncio.Future[Answer]]] = {path: {} for path in LATE}

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        scope = _as_wsgi_can_tell(scope)
        try:
            _check_fields(scope)
            if scope["path"] in LATE and scope["method"] in ("GET", "HEAD"):
                await self._sender(scope, send).send(await self._watched(scope), self.pools)
            else:
                await self._work(scope, receive, send)
        except TurnedAway as refused:
            await answer(refused, scope, receive, send)
        except TooMuch as error:
            busy = f"Too much at the same time from your address ({error}); try again in a moment."
            await answer(TurnedAway(429, busy), scope, receive, send)
        except Gone:
            await _hang_up(scope, receive)

    async def _work(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        client = client_network(scope["client"][0])
        sender = self._sender(scope, send)
        async with self._body(scope, receive, client) as body:
            made = await self._in_turn(client, sender, _environ(scope, body), self._executor(scope))
        # Counted, never refused: it is made already. The next request of a client that does not fetch is refused.
        with self.clients.holding(client, "bytes", len(made.whole or b""), sys.maxsize):
            await sender.send(made, self.pools)

    def _sender(self, scope: AsgiScope, send: Send) -> Sender:
        return Sender(scope, send, self.limits)

    def _executor(self, scope: AsgiScope) -> Executor:
        return self.pools.uploads if self._is_upload(announced(scope)) else self.pools.pages

    def _is_upload(self, length: int) -> bool:
        return length > self.limits.anonymous_bytes

    @asynccontextmanager
    async def _body(self, scope: AsgiScope, receive: Receive, client: str) -> AsyncIterator[BinaryIO]:
        """The body of a request; it counts among the client's until the block ends."""
        limits, holding, length = self.limits, self.clients.holding, _length(scope)
        is_upload = self._is_upload(length)
        if is_upload:
            await self._check_size(scope, length)
        with (
            holding(client, "bodies", length > 0, limits.client_bodies),
            holding(client, "uploads", is_upload, limits.client_uploads),
            holding(ALL, "uploads", is_upload, limits.uploads),
            holding(client, "bytes", length, limits.client_bytes),
        ):
            place = bodies.Place(self.folder, limits.anonymous_bytes, self.pools.disk)
            async with bodies.received(receive, length, bodies.pace(limits, is_upload), place) as body:
                yield body

    async def _check_size(self, scope: AsgiScope, length: int) -> None:
        """Raise TurnedAway for a body that is too large for its sender, before a byte of it is read."""
        most = self.limits.upload_bytes
        if length <= most:
            ask = partial(accounts.body_limit, scope, self.limits)
            most = await asyncio.get_running_loop().run_in_executor(self.pools.accounts, ask)
        if length > most:
            raise TurnedAway(413, f"The body has {length:,} bytes; at most {most:,} are taken here from you.")
        if not bodies.has_room(self.folder, length, self.limits.spare_bytes):
            kept = f"{self.limits.spare_bytes / 1e9:.1f} GB of the server's disk are kept free"
            raise TurnedAway(507, f"There is no room for this: {kept}, and it would take some of them.")

    async def _in_turn(self, client: str, sender: Sender, environ: Environ, executor: Executor) -> Answer:
        """Django's answer, made in a thread once one is free. For a client that has left by then nothing is done."""
        loop, most = asyncio.get_running_loop(), self.limits.waiting_requests
        with (
            self.clients.holding(client, "requests", 1, self.limits.client_requests),
            self.clients.holding(ALL, "requests", 1, most),
        ):
            async with self.turns.turn(client):
                return await loop.run_in_executor(executor, sender.make, self.wsgi, environ)

    async def _watched(self, scope: AsgiScope) -> Answer:
        """The answer to what watches us (health, metrics): made in threads of its own, and a failing one where the
        database keeps them waiting, so that there always is one."""
        task = self._probe(scope)
        if task is not None:
            await asyncio.wait({task}, timeout=self.limits.health_seconds)
        return task.result() if task is not None and task.done() else LATE[scope["path"]]

    def _probe(self, scope: AsgiScope) -> asyncio.Future[Answer] | None:
        """The future of such an answer; requests that ask the same share one."""
        probes, headers = self._probes[scope["path"]], dict(scope["headers"])
        own = headers.get(b"cookie", b"") + headers.get(b"authorization", b"")
        if scope["path"] == "/metrics":  # who asks from a named address is told
            own += scope["client"][0].encode()
        key = _known_host(headers.get(b"host", b"")) + b" " + own
        if key not in probes:
            if own and len(probes) >= PROBES:
                return None
            environ = _environ(scope | {"method": "GET"}, BytesIO())
            pool = self.pools.watched[scope["path"]]
            probes[key] = asyncio.ensure_future(
                asyncio.get_running_loop().run_in_executor(pool, made_by, self.wsgi, environ)
            )
            probes[key].add_done_callback(lambda _: probes.pop(key))
        return probes[key]


def _known_host(host: bytes) -> bytes:
    """The name in a Host header as far as an answer depends on it, so that nobody can invent names without end: a host
    of ours by its name, all other ones that we answer to, or not, alike."""
    name, _ = split_domain_port(host.decode("latin-1"))
    if name in settings.ALLOWED_HOSTS:
        return name.encode()
    return b"*" if validate_host(name, settings.ALLOWED_HOSTS) else b""


def _environ(scope: AsgiScope, body: BinaryIO) -> Environ:
    """The WSGI environment of a request; a2wsgi has types of its own for ASGI's scope and for files."""
    return cast(Environ, build_environ(cast(HTTPScope, scope), cast(Body, body)))


def _as_wsgi_can_tell(scope: AsgiScope) -> AsgiScope:
    """The scope without headers that could deceive Django: names with `_` (`X_Forwarded_Proto` would read like the
    proxy's own `X-Forwarded-Proto`), X-Forwarded-For, as the client is known, and X-Forwarded-Proto unless a named
    proxy sent it."""
    peer, port = scope.get("client") or ("", 0)
    unwanted = {b"x-forwarded-for"} if trusts_peer(peer) else {b"x-forwarded-for", b"x-forwarded-proto"}
    wanted = [pair for pair in scope["headers"] if b"_" not in pair[0] and pair[0] not in unwanted]
    return {**scope, "headers": wanted, "client": (client_address(scope), port)}


def _check_fields(scope: AsgiScope) -> None:
    """Raise TurnedAway for an address with more fields than Django takes: it fails, and again on the page that says
    so."""
    most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    if scope["query_string"].count(b"&") >= most:
        raise TurnedAway(400, f"The address has more than {most:,} fields.")


def _length(scope: AsgiScope) -> int:
    """The length of the request's body. Raises TurnedAway for one of unknown length, which Django would read as
    empty."""
    if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
        raise TurnedAway(411, "Send the body with a Content-Length.")
    return announced(scope)


async def _hang_up(scope: AsgiScope, receive: Receive) -> None:
    """Close the connection and wait until the server has seen it, as it expects every request to end."""
    if connection := scope.get(CONNECTION):
        connection.abort()
        while (await receive())["type"] != "http.disconnect":
            pass
