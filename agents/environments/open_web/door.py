"""The only way out of a browser: a proxy on the loopback that connects to listed hosts and to nothing else. Core.

Whatever a page asks for passes it, images, scripts and sockets as well as what a redirect leads to. The name is looked
up here, and the connection goes to the address that was checked.
"""

import select
import socket
import socketserver
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from agents.environments.open_web.hosts import AllowedHosts, NotListed

CONNECTING, IDLE = 10, 60  # seconds
MOST_HEADERS = 1 << 16  # bytes
HOPS = ("proxy-", "connection:", "keep-alive:")  # headers that are for a proxy


class WayOut(socketserver.ThreadingTCPServer):
    """The proxy, on a port of its own."""

    daemon_threads = True

    def __init__(self, hosts: AllowedHosts) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.hosts = hosts
        self.refused: list[str] = []  # why something was not let through

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def connect(self, host: str, port: int) -> socket.socket:
        """A connection to a listed host. Raises NotListed and OSError."""
        try:
            addresses = self.hosts.addresses(host, port)
        except NotListed as error:
            self.refused.append(str(error))
            raise
        failed: OSError | None = None
        for address in addresses:
            try:
                return socket.create_connection((address, port), CONNECTING)
            except OSError as error:
                failed = error
        raise failed or OSError(f"{host} has no address")


class _Passing(socketserver.StreamRequestHandler):
    """One request, and all that follows on its connection, to one host."""

    server: WayOut
    rbufsize = 0  # what comes after the headers is passed on, not read
    timeout = IDLE

    def handle(self) -> None:
        with suppress(OSError, ValueError):
            method, target, _ = self.rfile.readline(MOST_HEADERS).decode("latin-1").split()
            headers = self._headers()
            if method == "CONNECT":
                host, _, port = target.rpartition(":")
                head = b""
            else:
                parts = urlsplit(target)
                host, port = parts.hostname or "", str(parts.port or 80)
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                head = "".join([f"{method} {path} HTTP/1.1\r\n", *headers, "Connection: close\r\n\r\n"]).encode(
                    "latin-1"
                )
            self._pass(host.strip("[]"), int(port), head)

    def _headers(self) -> list[str]:
        found: list[str] = []
        while (line := self.rfile.readline(MOST_HEADERS).decode("latin-1")).strip():
            if not line.lower().startswith(HOPS):
                found.append(line)
            if sum(map(len, found)) > MOST_HEADERS:
                raise ValueError("too many headers")
        return found

    def _pass(self, host: str, port: int, head: bytes) -> None:
        try:
            outside = self.server.connect(host, port)
        except (NotListed, OSError) as error:
            status = "403 Forbidden" if isinstance(error, NotListed) else "502 Bad Gateway"
            said = f"{error}\n".encode()
            lines = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(said)}\r\n\r\n"
            self.wfile.write(lines.encode() + said)
            return
        with outside:
            if head:
                outside.sendall(head)
            else:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            _tunnel(self.connection, outside)


def _tunnel(inside: socket.socket, outside: socket.socket) -> None:
    """Pass bytes both ways until one side is done, or nothing comes for a minute."""
    other = {inside: outside, outside: inside}
    while True:
        ready, _, _ = select.select([inside, outside], [], [], IDLE)
        for one in ready:
            data = one.recv(1 << 16)
            if not data:
                return
            other[one].sendall(data)
        if not ready:
            return
