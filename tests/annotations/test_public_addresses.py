"""Only public hosts are told anything: every special-purpose block, and IPv4 inside of IPv6, is refused."""

import ipaddress

import pytest

from annotations.public_addresses import is_public

# The IANA special-purpose address registries, one address or more of each block.
SPECIAL = (
    "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.8.8.8 168.63.129.16 169.254.169.254 172.16.0.1 "
    "172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.192 192.0.2.1 192.31.196.1 "
    "192.52.193.1 192.88.99.1 192.88.99.2 192.168.0.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 "
    "224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 "
    ":: ::1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:192.0.0.192 ::ffff:0:127.0.0.1 "
    "64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 64:ff9b:1::8.8.8.8 "
    "64:ff9b:1:ffff:ffff:ffff:808:808 100::1 100:0:0:1::1 200::1 400::1 2001::1 2001:0:808:808:: 2001:1::1 2001:1::2 "
    "2001:1::3 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2002:7f00:1:: "
    "2002:808:808::1 2620:4f:8000::1 3fff::1 5f00::1 4000::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 "
    "fd00:ec2::254 2606:4700::5efe:127.0.0.1 2606:4700::200:5efe:10.0.0.1 not-an-address 127.1"
).split()
PUBLIC = (
    "8.8.8.8 1.1.1.1 93.184.215.14 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.17.0.1 223.255.255.1 "
    "2606:4700::1111 2a00:1450:4001::200e 2001:4860:4860::8888 2400:cb00::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8"
).split()


@pytest.mark.parametrize("address", SPECIAL)
def test_what_has_a_special_purpose_is_no_public_host(address) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_hosts_are_told(address) -> None:
    assert is_public(address)


def test_nothing_that_python_knows_as_private_is_public() -> None:
    for version in (ipaddress._IPv4Constants, ipaddress._IPv6Constants):
        for network in version._private_networks:
            for address in (network[0], network[-1]):
                assert not is_public(str(address)), address
