"""Endpoints that mean harm, and settings of connections that no endpoint has: said, and at no cost to the site."""

import json
import time
from typing import Any

import pytest
from django.test import Client

from agents.connections import probing, views
from agents.llm.calls import Endpoint
from agents.llm.chat import ChatLlm
from agents.llm.errors import LlmError
from agents.models import Connection
from tests import factories
from tests.agents.llm_server import Answer, completion, serve
from tests.agents.test_connections import FIELDS, KEY, asked, make_connection

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(factories.make_superuser())
    return client


def test_the_key_of_azure_does_not_follow_a_redirect_to_another_address() -> None:
    with serve(lambda body: "mine now") as thief:
        away = Answer(b"", 307, {"Location": f"{thief.url}/chat/completions"})
        with serve(lambda body: away) as azure:
            row = make_connection(f"{azure.url}?api-version=2024-10-21")
            views.test(row)
            assert azure.headers[0]["api-key"] == KEY
        assert thief.requests == []
        assert f"is not there but at {thief.url}/chat/completions" in row_found(row)


def row_found(row: Connection) -> str:
    return str(Connection.objects.get(pk=row.pk).found["error"])


@pytest.mark.parametrize("status", [200, 400, 500])
def test_an_answer_that_is_cut_off_is_an_error_of_the_endpoint(status: int) -> None:
    cut = Answer(json.dumps(completion("hello")).encode(), status, cut=9)
    with serve(lambda body: cut) as server:
        row = make_connection(server.url)
        views.test(row)
        assert str(server.url) in row_found(row)
        answer = asked(ChatLlm(Endpoint(server.url, "m", attempts=1)))
    assert isinstance(answer, LlmError)


def test_an_error_that_never_ends_is_read_for_as_long_as_an_answer(monkeypatch) -> None:
    drop = Answer(b"no " * 200, 500, pause=0.05)
    with serve(lambda body: drop) as server:
        begun = time.monotonic()
        answer = asked(ChatLlm(Endpoint(server.url, "m", attempts=1, timeout=1.0)))
    assert time.monotonic() - begun < 5
    assert "answered 500: no no no" in str(answer)


def test_an_endpoint_that_never_ends_its_answer_is_given_up(monkeypatch) -> None:
    """A page waits for the test, and each byte comes in time."""
    monkeypatch.setattr(probing, "MOST_SECONDS", 1.0)
    drop = Answer(json.dumps(completion("hello")).encode(), pause=0.05)
    with serve(lambda body: drop) as server:
        begun = time.monotonic()
        found = probing.probe(make_connection(server.url))
    assert time.monotonic() - begun < 5
    assert "did not end within 1 s" in found["error"]
    monkeypatch.undo()
    Connection.objects.all().delete()
    with serve(lambda body: drop) as server:
        assert "did not end within 0.5 s" in probing.probe(make_connection(server.url, timeout=0.5))["error"], "its own"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_url": "http://example.org:99999/v1"}, "must be an http or https address"),
        ({"base_url": "http://[::1/v1"}, "must be an http or https address"),
        ({"base_url": "http://a b/v1"}, "must be an http or https address"),
        ({"base_url": "http://１２７.0.0.1/v1"}, "must be an http or https address"),
        ({"timeout": "nan"}, ""),
        ({"timeout": "1e9"}, "at most"),
        ({"concurrency": "32000"}, "at most"),
        ({"attempts": "32000"}, "at most"),
        ({"price_prompt": "nan", "price_completion": "nan"}, ""),
        ({"price_prompt": "1", "price_completion": "1e308"}, "price must lie in 0 to 1,000,000"),
        ({"key": "sk-one\nX-Two: three"}, "key"),
        ({"key": "sk-schlüssel"}, "key"),
    ],
)
def test_what_no_endpoint_has_is_refused_by_page_and_api(admin, changes: dict[str, str], said: str) -> None:
    page = admin.post("/connections/", FIELDS | changes)
    assert page.status_code == 200
    assert said in page.content.decode()
    body: dict[str, Any] = FIELDS | changes
    body["api_key"] = body.pop("key")
    answer = admin.post("/api/connections/", body | {"private": True}, content_type="application/json")
    assert answer.status_code == 400, answer.content
    assert said in answer.content.decode()
    assert KEY not in answer.content.decode()
    assert not Connection.objects.exists()
    assert admin.get("/api/connections/").status_code == 200
