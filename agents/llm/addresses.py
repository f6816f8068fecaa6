"""Calls that leave for public hosts only: the address of a connection comes from a person. Core.

A host is looked up once for each request, every address found must be public, and the request goes to exactly that
address under the host's name.
"""

import socket
import ssl
import time
from collections.abc import Iterator
from functools import cache
from typing import cast

import httpx2

from annotations.public_addresses import is_public


class NotPublic(httpx2.ConnectError):
    """A host of which some address is not public; httpx calls this an error of the connection."""


@cache
def trusted() -> ssl.SSLContext:
    """The certificates of this machine, read once for all clients: 20 ms each, for addresses without TLS as well."""
    return httpx2.create_ssl_context()


class PublicTransport(httpx2.HTTPTransport):
    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=public_address(host, request.url.port))
        return super().handle_request(request)


class ErrorBody(httpx2.SyncByteStream):
    """As much of what comes with an error as comes in time and is read by anybody."""

    LARGEST = 100_000  # bytes, before they are decompressed

    def __init__(self, stream: object, seconds: float) -> None:
        self._stream = cast(httpx2.SyncByteStream, stream)
        self._ends = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        left = self.LARGEST
        try:
            for chunk in self._stream:
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0 or time.monotonic() > self._ends:
                    return
        except httpx2.HTTPError:
            return

    def close(self) -> None:
        self._stream.close()


def public_address(host: str, port: int | None = None) -> str:
    """Where a request to this host goes. Raises NotPublic, which says why it goes nowhere."""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError(f"{host} has no address") from error
    for address in found:
        if not is_public(address):
            raise NotPublic(
                f"{host} is not a public address; an admin of the installation may say that the connection is on a "
                "private network"
            )
    return found[0]
