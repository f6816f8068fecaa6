"""Which IP addresses are those of public hosts. Core.

Everything that the IANA special-purpose registries (IPv4 and IPv6, of 2025) know is refused, whether Python calls it
global or not: its table follows the registries late and takes their exceptions for reachable hosts. Of IPv6 only what
is given out to networks (2000::/3) is let through, and an address that carries an IPv4 one must carry a public one,
wherever in it that lies.
"""

import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

REFUSED_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
        "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 "
        "203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 "
        # Services of clouds on addresses that look public: metadata and name servers of Azure and of Alibaba.
        "168.63.129.16/32 100.100.100.200/32"
    ).split()
)
GIVEN_OUT_V6 = ipaddress.IPv6Network("2000::/3")
REFUSED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 64:ff9b::/96 64:ff9b:1::/48 ::/8 "
        "100::/64 100:0:0:1::/64 fc00::/7 fe80::/10 fec0::/10 ff00::/8"
    ).split()
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether a connection to this address leaves for a public host. False for what is no address."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not any(ip in network for network in REFUSED_V4)
    if (carried := list(_carried(ip))) and (ip.ipv4_mapped or ip in NAT64):
        return all(is_public(str(inner)) for inner in carried)  # the same host, by another way
    if not all(is_public(str(inner)) for inner in carried):
        return False
    return ip in GIVEN_OUT_V6 and ip.is_global and not any(ip in network for network in REFUSED_V6)


def _carried(ip: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that lead on from this one: mapped, 6to4, Teredo (server and client), NAT64, ISATAP."""
    number = int(ip)
    if ip.ipv4_mapped is not None:
        yield ip.ipv4_mapped
    if ip.sixtofour is not None:
        yield ip.sixtofour
    if ip.teredo is not None:
        yield from ip.teredo
    if ip in NAT64:
        yield ipaddress.IPv4Address(number & 0xFFFFFFFF)
    if number >> 32 & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE):
        yield ipaddress.IPv4Address(number & 0xFFFFFFFF)
