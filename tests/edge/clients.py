"""Clients that no browser is: silent, slow, or sending what nobody asked for. All on the loopback, whose whole network
belongs to this machine: each may have an address of its own."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field


@dataclass
class Line:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hear(self, seconds: float = 20) -> bytes:
        """All that comes until the other side hangs up; what has come by then when it resets the connection."""
        heard = bytearray()
        with suppress(ConnectionError):
            async with asyncio.timeout(seconds):
                while piece := await self.reader.read(65536):
                    heard += piece
        return bytes(heard)

    def close(self) -> None:
        self.writer.transport.abort()


async def connect(port: int, source: str = "127.0.0.1", buffer: int = 0) -> Line:
    """`buffer`: bytes that the machine takes in before the client reads them."""
    plain = socket.socket()
    if buffer:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    plain.bind((source, 0))
    plain.setblocking(False)
    await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", port))
    return Line(*await asyncio.open_connection(sock=plain, limit=buffer or 65536))


def head(method: str, path: str, length: int | None = None, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode()


async def ask(port: int, request: bytes, source: str = "127.0.0.1", seconds: float = 20) -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own; the request says `Connection: close`."""
    line = await connect(port, source)
    try:
        await line.say(request)
        heard = await line.hear(seconds)
    finally:
        line.close()
    start, _, body = heard.partition(b"\r\n\r\n")
    return (int(start.split()[1]) if start else 0), body


@dataclass
class Probe:
    """Asks for a page again and again, and remembers how long each answer took and what it was."""

    port: int
    path: str
    pause: float
    cookie: str = ""
    seconds: list[float] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    async def run(self) -> None:
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        request = head("GET", self.path, Connection="close", **cookie)
        while True:
            begun = time.perf_counter()
            status, _ = await ask(self.port, request)
            self.seconds.append(time.perf_counter() - begun)
            self.statuses.append(status)
            await asyncio.sleep(self.pause)

    def p95(self) -> float:
        ordered = sorted(self.seconds)
        return ordered[int(len(ordered) * 0.95)]


async def while_it_runs(seconds: float, *runs: Callable[[], Awaitable[None]]) -> None:
    """Let them run for so long, then stop them."""
    tasks = [asyncio.ensure_future(run()) for run in runs]
    try:
        await asyncio.sleep(seconds)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def many(count: int, one: Callable[[int], Awaitable[Line]]) -> list[Line]:
    return list(await asyncio.gather(*(one(number) for number in range(count))))
