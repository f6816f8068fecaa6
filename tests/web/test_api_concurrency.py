"""Requests at the same time, and downloads that do not fill the memory."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import AsyncRequestFactory, RequestFactory
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.downloads import streamed
from annotations.idempotency import once
from annotations.models import Project
from tests import factories


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


def count_up(pulled: list[int]) -> Iterator[bytes]:
    for number in range(1000):
        pulled.append(number)
        yield b"x"


def test_a_stream_is_pulled_chunk_by_chunk_under_asgi() -> None:
    """Django itself would collect a plain iterator first, and a download of gigabytes with it."""
    pulled: list[int] = []
    response = streamed(AsyncRequestFactory().get("/"), count_up(pulled), "text/plain")

    async def read_three() -> None:
        chunks = aiter(response.streaming_content)
        for _ in range(3):
            await anext(chunks)

    asyncio.run(read_three())
    assert len(pulled) == 3


def test_a_stream_is_a_plain_one_under_wsgi() -> None:
    response = streamed(RequestFactory().get("/"), count_up([]), "text/plain")
    assert b"".join(response.streaming_content) == b"x" * 1000
