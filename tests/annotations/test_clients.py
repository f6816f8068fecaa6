"""Who is asking: the socket's peer, unless a proxy that is named says otherwise."""

import pytest
from django.test import RequestFactory

from annotations.access.clients import client_address, client_network

PROXY = "10.0.0.9"


@pytest.fixture
def _behind_a_proxy(settings) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/24", "2001:db8:1::9"]


def both(peer: str, forwarded: str | None) -> str:
    """The address of a request and of a scope that say the same; they must agree."""
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    request = RequestFactory().get("/", REMOTE_ADDR=peer, **headers)
    pairs = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode("latin1"))]
    scope = {"client": (peer, 5000) if peer else None, "headers": pairs}
    assert client_address(request) == client_address(scope)
    return client_address(scope)


@pytest.mark.parametrize("forwarded", [None, "", "198.51.100.7", "10.0.0.9", "127.0.0.1, 198.51.100.7", "nonsense"])
def test_what_a_client_says_about_itself_is_not_believed(settings, forwarded) -> None:
    settings.TRUSTED_PROXIES = []
    assert both("203.0.113.5", forwarded) == "203.0.113.5"
    assert both("127.0.0.1", forwarded) == "127.0.0.1"


@pytest.mark.usefixtures("_behind_a_proxy")
@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("192.0.2.66, 198.51.100.7", "198.51.100.7"),  # the left one is the client's own invention
        ("192.0.2.66, 198.51.100.7, 10.0.0.3", "198.51.100.7"),  # two of our proxies in a row
        ("10.0.0.4, 10.0.0.3", "10.0.0.4"),  # one of our own machines asks
        ("192.0.2.66, nonsense", PROXY),
        ("nonsense, 10.0.0.3", "10.0.0.3"),
        ("198.51.100.7:40222", "198.51.100.7"),
        ("[2001:db8:7::1]:40222", "2001:db8:7::1"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("", PROXY),
    ],
)
def test_behind_a_named_proxy_the_client_is_whom_the_outermost_proxy_saw(forwarded, address) -> None:
    assert both(PROXY, forwarded) == address
    assert both("2001:db8:1::9", forwarded) in {address, "2001:db8:1::9"}


@pytest.mark.usefixtures("_behind_a_proxy")
def test_a_client_that_reaches_the_app_past_the_proxy_is_not_believed() -> None:
    assert both("203.0.113.5", "198.51.100.7") == "203.0.113.5"


def test_a_local_socket_has_no_address_and_is_believed_only_when_named(settings) -> None:
    settings.TRUSTED_PROXIES = []
    assert both("", "198.51.100.7") == ""
    settings.TRUSTED_PROXIES = ["unix"]
    assert both("", "198.51.100.7") == "198.51.100.7"


def test_a_proxy_without_an_address_is_an_error(settings) -> None:
    settings.TRUSTED_PROXIES = ["proxy.example"]
    with pytest.raises(ValueError, match=r"proxy\.example"):
        both("203.0.113.5", None)


def test_the_addresses_that_one_machine_can_take_are_counted_together() -> None:
    assert client_network("2001:db8:7:1::1") == client_network("2001:db8:7:1:ffff::2") == "2001:db8:7:1::/64"
    assert client_network("2001:db8:7:2::1") != client_network("2001:db8:7:1::1")
    assert client_network("203.0.113.5") == "203.0.113.5"
    assert client_network("") == ""
