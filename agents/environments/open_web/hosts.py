"""Which hosts may be reached, and at which addresses. Core.

A name that leads to an address of the own network is refused, so that no page of others, and no name server, leads into
it; such a host is reached where it is named by its address, or as localhost.
"""

import ipaddress
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from agents.environments.protocol import NoSuchTask
from annotations.public_addresses import is_public

SETTING = "OPEN_WEB_HOSTS"
USUAL_PORTS = {"http": 80, "https": 443}
OFF = f"the open web is off: {SETTING} names no hosts. Whoever runs the app lists those whose pages agents may open"
AS_ROOT = "{} is a host of others, and as root Chromium has no sandbox: run the app as another user"


class NotListed(ValueError):
    """A host may not be reached; the message says why."""


@dataclass(frozen=True)
class AllowedHosts:
    """What a list names: "example.org", "*.example.org" for all below it, each with the usual ports or with its own, as
    "localhost:8080"."""

    entries: tuple[str, ...]

    @classmethod
    def told(cls) -> "AllowedHosts":
        """Those of the setting. Raises NoSuchTask where it names none."""
        entries = tuple(os.environ.get(SETTING, "").lower().split())
        if not entries:
            raise NoSuchTask(OFF)
        return cls(entries)

    def start_pages(self) -> list[str]:
        """An address on each host that is named by itself."""
        return sorted(f"http://{entry}/" for entry in self.entries if not entry.startswith("*."))

    def check(self, url: str) -> SplitResult:
        """The parts of an address that may be opened. Raises NotListed."""
        try:
            parts = urlsplit(url)
            port = parts.port or USUAL_PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise NotListed(f"{url[:200]} is no address") from error
        if parts.scheme not in USUAL_PORTS or not parts.hostname or parts.username or parts.password:
            raise NotListed(f"{url[:200]} is no address of a website")
        self.require(parts.hostname, port)
        return parts

    def require(self, host: str, port: int) -> None:
        """Raise NotListed unless the list names this host with this port."""
        host = host.lower().rstrip(".")
        names = {host, *(f"*.{host.split('.', place)[place]}" for place in range(1, host.count(".") + 1))}
        shown = f"[{host}]" if ":" in host else host
        wanted = {f"{name}:{port}" for name in names - {host}} | {f"{shown}:{port}"}
        if port in USUAL_PORTS.values():
            wanted |= (names - {host}) | {shown}
        if not wanted & set(self.entries):
            raise NotListed(f"{shown}:{port} is not among the hosts of {SETTING}")

    def addresses(self, host: str, port: int) -> Sequence[str]:
        """The IP addresses to connect to, in order. Raises NotListed, and OSError where the name leads nowhere."""
        self.require(host, port)
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses:
            if is_public(address) and os.geteuid() == 0:
                raise NotListed(AS_ROOT.format(host))
            if not is_public(address) and not _means_own_network(host):
                raise NotListed(f"{host} leads to {address}, which is no public address")
        return addresses


def _means_own_network(host: str) -> bool:
    """Whether whoever names this host knows that it is one of the own network."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return True
