"""Every line of a log is redacted: whatever a stranger writes into an address, it takes time in proportion."""

import time

import pytest

from webnav_site.monitor.redaction import GONE, Redactor

PARTS = ("a", "token", "token ", "a://", "a-", "/s/", "sk-", "Bearer ", 'password="', "cookie:", "cookie ", "a:")


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("part", PARTS)
def test_long_texts_are_redacted_in_time(part) -> None:
    begun = time.perf_counter()
    Redactor().text(f"Not Found: /{part * (300_000 // len(part))}")
    assert time.perf_counter() - begun < 1.5  # it took hours for "a"


@pytest.mark.parametrize("name", ["token", "x-my_token", "csrfmiddlewaretoken", "API-KEY", "sessionid", "my_password"])
def test_names_may_begin_with_anything(name) -> None:
    assert Redactor().text(f'{name}=abcdef&b=1 "{name}": "abcdef"') == f'{name}={GONE}&b=1 "{name}": "{GONE}"'
