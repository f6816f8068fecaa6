"""Replies kept in the database."""

from dataclasses import replace

import pytest

from agents.llm.cache import CachedLlm
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.protocol import Message, Request
from agents.llm.stored import DatabaseStore
from agents.llm.usage import Prices
from agents.models import LlmReply
from agents.types import Image
from tests.agents.llm_server import prompt_text, serve

pytestmark = pytest.mark.django_db
REQUEST = Request((Message("user", "hello", (Image(b"png"),)),), "m" * 250, seed=4)


def client(server) -> CachedLlm:
    return CachedLlm(ChatLlm(Endpoint(server.url, "m", prices=Prices(3.0, 7.0), attempts=1)), DatabaseStore())


def test_replies_outlive_the_client() -> None:
    with serve(lambda body: ["ä", "b"]) as server:
        (first,) = client(server).complete([replace(REQUEST, n=2)])
        (second,) = client(server).complete([replace(REQUEST, n=2)])
    assert len(server.requests) == 1
    assert second == replace(first, usage=replace(first.usage, cost=0.0, cached=True), seconds=0.0)
    row = LlmReply.objects.get()
    assert row.model == "m" * 200
    assert row.request["messages"][0]["images"] == [f"image/png {Image(b'png').sha256()}"]
    assert row.reply["usage"]["cost"] == pytest.approx(first.usage.cost)


def test_a_batch_takes_two_queries(django_assert_num_queries) -> None:
    with serve(prompt_text) as server:
        llm = client(server)
        requests = [replace(REQUEST, seed=seed) for seed in range(20)]
        with django_assert_num_queries(2):  # a look-up and a write
            llm.complete(requests)
        with django_assert_num_queries(1):
            llm.complete(requests)


def test_the_older_of_two_replies_stays() -> None:
    with serve(lambda body: f"reply {len(server.requests)}") as server:
        llm = ChatLlm(Endpoint(server.url, "m"))
        older, newer = llm.complete([REQUEST])[0], llm.complete([REQUEST])[0]
    store = DatabaseStore()
    for reply in (older, newer):
        store.put_many([("k" * 64, REQUEST, reply)])
    assert store.get_many(["k" * 64, "l" * 64]) == {"k" * 64: older}


def test_what_the_database_cannot_hold_does_not_stop_the_work() -> None:
    def reply(body):
        return "a\0b" if "odd reply" in prompt_text(body) else "fine"

    odd_page = replace(REQUEST, messages=(Message("user", "page with \0 and half \ud83d"),))
    odd_reply = replace(REQUEST, messages=(Message("user", "odd reply"),))
    with serve(reply) as server:
        for _ in range(2):
            answers = client(server).complete([odd_page, odd_reply])
    assert [answer.text for answer in answers] == ["fine", "a\0b"]
    assert len(server.requests) == 3  # the odd reply is asked for again, the odd page is not
    assert LlmReply.objects.get().request["messages"][0]["content"] == "page with \ufffd and half ?"
