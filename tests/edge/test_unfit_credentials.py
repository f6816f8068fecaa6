"""What names nobody is nobody, on every door: a token or a session's cookie that is no text is no failure of ours."""

from http.cookies import SimpleCookie

import pytest
from django.conf import settings
from django.test import Client

from tests import factories
from webnav_site.edge.accounts import body_limit
from webnav_site.edge.limits import EdgeLimits

pytestmark = pytest.mark.django_db
TOKENS = ["\xff", "\x00", "a\x00" * 8, "é" * 64, "0" * 50_000, "/../" * 16]
KEYS = ['"\\000abcdefgh"', '"\\377abcdefgh"', "\xff" * 9, '"a b c d e f"', "'--abcdefgh"]


def asked(path: str, **headers: str) -> int:
    return Client(raise_request_exception=False).get(path, **headers).status_code


@pytest.mark.parametrize("token", TOKENS, ids=ascii)
def test_a_token_that_is_none_is_a_wrong_token(token: str) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Token {token}"}
    assert {asked(path, **headers) for path in ("/api/me/", "/api/steps/1/")} == {401}
    client = Client(raise_request_exception=False)
    assert client.post("/api/auth/logout/", **headers).status_code == 401


@pytest.mark.parametrize("key", KEYS, ids=ascii)
def test_a_cookie_that_names_no_session_is_nobody_s(key: str) -> None:
    headers = {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}={key}"}
    assert asked("/api/me/", **headers) == 401
    assert asked("/", **headers) == 302
    assert asked("/login/", **headers) == 200
    assert asked("/healthz", **headers) == 200


@pytest.mark.parametrize("name", [b"authorization", b"cookie"])
def test_nobody_sends_large_bodies(name: bytes, in_thread) -> None:
    limits = EdgeLimits()
    for value in [f"Token {token}" for token in TOKENS] if name == b"authorization" else KEYS:
        given = value if name == b"authorization" else f"{settings.SESSION_COOKIE_NAME}={value}"
        scope = {"method": "POST", "path": "/api/imports/", "headers": [(name, given.encode("latin1"))]}
        assert in_thread(lambda scope=scope: body_limit(scope, limits)) == limits.anonymous_bytes


def test_a_session_and_a_token_still_let_in() -> None:
    user = factories.make_user("reader", password="correct horse battery staple")
    client = Client()
    client.force_login(user)
    assert client.get("/api/me/").status_code == 200
    key = SimpleCookie(client.cookies.output(header=""))[settings.SESSION_COOKIE_NAME].value
    assert asked("/api/me/", HTTP_COOKIE=f"{settings.SESSION_COOKIE_NAME}={key}") == 200
