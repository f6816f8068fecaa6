"""What a request says about how it came counts only when a named proxy says it."""

import asyncio
import os
import subprocess
import sys

import pytest
from django.core.handlers.wsgi import WSGIRequest

from tests.app_server import ROOT
from tests.quick import first_is_quick
from webnav_site.edge.door import Door
from webnav_site.edge.limits import EdgeLimits

HTTPS = [(b"x-forwarded-proto", b"https"), (b"host", b"localhost")]


def is_secure(peer: str, tmp_path) -> bool:
    """Whether the app believes that a request of this peer, which says so, came by https."""
    seen = []

    def app(environ, start_response):
        seen.append(WSGIRequest(environ).is_secure())
        start_response("204 No Content", [])
        return [b""]

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        pass

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "headers": HTTPS,
        "client": (peer, 5000),
        "server": ("localhost", 80),
    }
    asyncio.run(Door(app, EdgeLimits(), tmp_path)(scope, receive, send))
    return seen[0]


@pytest.mark.parametrize(("peer", "believed"), [("10.0.0.7", True), ("192.0.2.1", False), ("", False)])
def test_only_a_named_proxy_says_that_a_request_came_by_https(peer, believed, settings, tmp_path) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    assert is_secure(peer, tmp_path) is believed


@pytest.mark.slow
@first_is_quick(
    ("wrong", "told"),
    [
        ({"APP_ORIGIN": "webnav.example"}, "APP_ORIGIN must be like https://webnav.example, without a path"),
        ({"SNAPSHOT_ORIGIN": "https://a.example/p"}, "SNAPSHOT_ORIGIN must be like https://webnav.example, without a"),
        ({"BEHIND_PROXY": "true"}, "BEHIND_PROXY=true needs TRUSTED_PROXIES: the addresses of the proxies"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8,proxy.example"}, "TRUSTED_PROXIES holds 'proxy.example', which is no address"),
        ({"METRICS_ADDRESSES": "unix"}, "METRICS_ADDRESSES holds 'unix', which is no address and no network"),
    ],
)
def test_a_setting_that_names_no_address_is_told_in_a_line_at_the_start(wrong: dict[str, str], told: str) -> None:
    environment = {**os.environ, "TRUSTED_PROXIES": "", **wrong}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"webnav: {told}")
    assert done.stderr.count("\n") == 1
