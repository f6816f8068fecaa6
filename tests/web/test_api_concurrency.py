"""Requests at the same time, and downloads that do not fill the memory."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from django.test import RequestFactory
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access.idempotency import once
from annotations.models import Project
from tests import factories
from webnav_site.edge.clients import Clients
from webnav_site.edge.door import Door
from webnav_site.edge.limits import EdgeLimits


@pytest.mark.django_db(transaction=True)
def test_the_same_request_sent_eight_times_at_once_is_worked_on_once() -> None:
    user = factories.make_user()

    def work() -> Response:
        return Response({"project": factories.make_project().pk}, status=202)

    def send(_: int) -> tuple[int, dict]:
        headers = {"HTTP_IDEMPOTENCY_KEY": "same"}
        plain = RequestFactory().post("/api/exports/", {"a": 1}, content_type="application/json", **headers)
        request = Request(plain, parsers=[JSONParser()])
        request.user = user
        try:
            response = once(request, work)
            return response.status_code, response.data
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert Project.objects.count() == 1
    assert answers == [(202, {"project": Project.objects.get().pk})] * 8


def asked(
    wsgi: Callable,
    headers: list[tuple[bytes, bytes]] = (),
    body: bytes = b"",
    seen: Callable[[dict], None] = lambda message: None,
) -> list[dict]:
    """What the server sends for a request with these headers; `seen` is told of each message, and a slow one waits."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": headers,
    }
    sent = []

    async def receive() -> dict:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)
        seen(message)
        await asyncio.sleep(0.001)

    asyncio.run(Door(wsgi, EdgeLimits(), Path("/nowhere"), Clients())(scope, receive, send))
    return sent


def test_a_header_that_only_reads_like_the_proxys_is_dropped() -> None:
    found = []

    def wsgi(environ: dict, start_response: Callable) -> list[bytes]:
        found.append({name: value for name, value in environ.items() if "FORWARDED" in name})
        start_response("200 OK", [])
        return [b"."]

    asked(wsgi, [(b"x_forwarded_proto", b"https"), (b"x-forwarded-host", b"example.org")])
    assert found == [{"HTTP_X_FORWARDED_HOST": "example.org"}]


def refuse_to_work(environ: dict, start_response: Callable) -> list[bytes]:
    raise AssertionError("nothing may come this far")


def test_a_body_of_unknown_length_is_refused_and_not_read_as_empty() -> None:
    sent = asked(refuse_to_work, [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")], b"{}")
    assert sent[0]["status"] == 411
    assert b"Content-Length" in sent[1]["body"]


def test_a_download_is_made_only_as_fast_as_it_is_fetched() -> None:
    """Gigabytes must not gather in memory while the browser is slow."""
    made: list[int] = []
    fetched: list[int] = []
    ahead: list[int] = []

    def seen(message: dict) -> None:
        ahead.append(len(made) - sum(fetched))
        fetched.append(len(message.get("body", b"")))

    def wsgi(environ: dict, start_response: Callable) -> Iterator[bytes]:
        start_response("200 OK", [])
        return (made.append(number) or b"x" for number in range(300))

    sent = asked(wsgi, seen=seen)
    assert b"".join(message.get("body", b"") for message in sent) == b"x" * 300
    assert max(ahead) < 30
