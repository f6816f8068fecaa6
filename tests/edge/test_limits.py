"""Limits as settings, and counts that end where they began."""

import re
import subprocess
import sys
from dataclasses import fields

import pytest

from tests.app_server import ROOT
from webnav_site.edge.clients import ALL, Clients, TooMuch
from webnav_site.edge.limits import EdgeLimits, from_environment, variable


def test_every_limit_can_be_set_and_is_written_down_with_its_default() -> None:
    said = dict(
        re.findall(r"^\| `(WEB_\w+)` \| (\d+) \|", (ROOT / "docs/operating.md").read_text("utf-8"), re.MULTILINE)
    )
    assert said == {variable(field.name): str(field.default) for field in fields(EdgeLimits)}
    assert from_environment({}) == EdgeLimits()
    assert from_environment({"WEB_BODY_RATE": "5"}) == EdgeLimits(body_rate=5)


@pytest.mark.parametrize("text", ["many", "1.5", "0", "-1"])
def test_a_limit_that_is_no_count_is_an_error_that_names_it(text) -> None:
    with pytest.raises(ValueError, match="WEB_BODY_RATE"):
        from_environment({"WEB_BODY_RATE": text})


def test_a_process_may_have_as_many_connections_as_the_limit_says() -> None:
    script = """import resource
from webnav_site.edge.limits import EdgeLimits, allow_as_many_files
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
allow_as_many_files(EdgeLimits(connections=300))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"""
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(told.stdout) == 1112


def test_what_a_client_gives_back_leaves_nothing() -> None:
    clients = Clients()
    with clients.holding("192.0.2.1", "bodies", 1, 2), clients.holding("192.0.2.1", "bytes", 100, 100):
        assert clients.held("192.0.2.1", "bodies") == 1
        with pytest.raises(TooMuch), clients.holding("192.0.2.1", "bytes", 1, 100):
            pass
        assert clients.take("192.0.2.2", "bytes", 1, 100)
        assert clients.take(ALL, "bytes", 100, 100)
    clients.give_back("192.0.2.2", "bytes")
    clients.give_back(ALL, "bytes", 100)
    assert clients._held == {}
