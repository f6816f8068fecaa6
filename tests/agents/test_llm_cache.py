"""What was answered once costs nothing again, and only the very same request is the same."""

import json
from dataclasses import replace

import pytest

from agents.llm.cache import CHUNK, CachedLlm
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.errors import RequestRefused
from agents.llm.protocol import LlmInfo, Message, Reply, Request
from agents.llm.usage import Prices
from agents.types import Image
from tests.agents.llm_in_memory import DictStore
from tests.agents.llm_server import failure, good, prompt_text, serve

FIRST, SECOND, WEBP = Image(b"1"), Image(b"2"), Image(b"1", "image/webp")
REQUEST = Request((Message("system", "a"), Message("user", "b")), "m")
CHANGED = {
    "role": replace(REQUEST, messages=(Message("user", "a"), Message("user", "b"))),
    "content": replace(REQUEST, messages=(Message("system", "a"), Message("user", "c"))),
    "fewer messages": replace(REQUEST, messages=REQUEST.messages[:1]),
    "image": replace(REQUEST, messages=(*REQUEST.messages[:1], Message("user", "b", (FIRST,)))),
    "other image": replace(REQUEST, messages=(*REQUEST.messages[:1], Message("user", "b", (SECOND,)))),
    "image type": replace(REQUEST, messages=(*REQUEST.messages[:1], Message("user", "b", (WEBP,)))),
    "model": replace(REQUEST, model="n"),
    "temperature": replace(REQUEST, temperature=0.5),
    "max_tokens": replace(REQUEST, max_tokens=99),
    "stop": replace(REQUEST, stop=("x",)),
    "n": replace(REQUEST, n=2),
    "seed": replace(REQUEST, seed=1),
    "top_p": replace(REQUEST, top_p=0.9),
    "seed 0": replace(REQUEST, seed=0),
}


def client(server) -> ChatLlm:
    return ChatLlm(Endpoint(server.url, "m", prices=Prices(1.0, 1.0), first_wait=0.01, attempts=2))


def test_the_key_covers_the_whole_request_and_who_answers() -> None:
    keys = {name: request.key("http://a/v1") for name, request in CHANGED.items()}
    keys["itself"] = REQUEST.key("http://a/v1")
    keys["endpoint"] = REQUEST.key("http://b/v1")
    assert len(set(keys.values())) == len(CHANGED) + 2
    assert replace(REQUEST, temperature=0).key("http://a/v1") == keys["itself"]
    # Written down, so that a change of the canonical form is noticed: it makes every stored reply unfindable.
    assert keys["itself"] == "d62956f66d75abdd859b12f3b39faa20f56806da56787e1a905c12536f5652ef"


def test_a_second_call_costs_nothing_and_reports_the_tokens_as_cached() -> None:
    with serve(lambda body: "fine words") as server:
        llm = CachedLlm(client(server), DictStore())
        (first,) = llm.complete([REQUEST])
        (second,) = llm.complete([REQUEST])
    assert len(server.requests) == 1
    assert first.usage.cost > 0
    assert not first.usage.cached
    assert second.texts == first.texts
    assert second.usage == replace(first.usage, cost=0.0, cached=True)
    assert second.seconds == 0.0


def test_a_batch_asks_only_for_what_is_missing_and_equal_requests_once() -> None:
    with serve(prompt_text) as server:
        llm = CachedLlm(client(server), DictStore())
        llm.complete([CHANGED["content"]])
        answers = llm.complete([REQUEST, CHANGED["content"], REQUEST, CHANGED["model"]])
    assert [answer.text for answer in answers] == ["a\nb", "a\nc", "a\nb", "a\nb"]
    assert [answer.usage.cached for answer in answers] == [False, True, True, False]
    assert len(server.requests) == 3


def test_samples_are_cached_by_seed() -> None:
    with serve(lambda body: [f"{body['seed']}.{i}" for i in range(3)]) as server:
        llm = CachedLlm(client(server), DictStore())
        sampled = replace(REQUEST, temperature=1.0, n=3, seed=7)
        answers = [llm.complete([request])[0] for request in (sampled, sampled, replace(sampled, seed=8))]
    assert [answer.texts[2] for answer in answers] == ["7.2", "7.2", "8.2"]
    assert len(server.requests) == 2


def test_an_error_is_not_kept() -> None:
    replies = iter([failure(400), good("now")])
    with serve(lambda body: next(replies)) as server:
        llm = CachedLlm(client(server), DictStore())
        failed = llm.complete([REQUEST, REQUEST])
        (answer,) = llm.complete([REQUEST])
    assert [type(error) for error in failed] == [RequestRefused, RequestRefused]
    assert answer.text == "now"


@pytest.mark.slow
def test_what_was_answered_before_a_crash_is_kept() -> None:
    """A long list is written in chunks; the process ends in the second."""

    class Crash(Exception):
        pass

    class CrashingLlm:
        def __init__(self, llm) -> None:
            self.info, self.llm, self.calls = llm.info, llm, 0

        def complete(self, requests):
            self.calls += 1
            if self.calls == 2:
                raise Crash
            return self.llm.complete(requests)

    requests = [replace(REQUEST, seed=i) for i in range(CHUNK + 1)]
    store = DictStore()
    with serve(lambda body: str(body["seed"])) as server:
        llm = client(server)
        with pytest.raises(Crash):
            CachedLlm(CrashingLlm(llm), store).complete(requests)
        answers = CachedLlm(llm, store).complete(requests)
    assert [answer.text for answer in answers] == [str(i) for i in range(CHUNK + 1)]
    assert len(server.requests) == CHUNK + 1


def test_a_model_that_batches_loses_one_batch_at_most_when_it_is_killed() -> None:
    class Killed(BaseException):
        """As its process ends: nothing after it runs."""

    class BatchingLlm:
        """Answers through the endpoint, and dies in its second batch."""

        info = LlmInfo("local", "m", None, batch=4)

        def complete(self, requests):
            if len(server.requests) == 4:
                raise Killed
            return client(server).complete(requests)

    store, requests = DictStore(), [replace(REQUEST, seed=i) for i in range(10)]
    with serve(lambda body: "a") as server, pytest.raises(Killed):
        CachedLlm(BatchingLlm(), store).complete(requests)
    keys = [request.key("local") for request in requests]
    assert list(store.get_many(keys)) == keys[:4]


def test_a_reply_survives_the_way_through_json() -> None:
    with serve(lambda body: ["ä", "b"]) as server:
        (reply,) = client(server).complete([replace(REQUEST, n=2)])
    assert Reply.from_dict(json.loads(json.dumps(reply.to_dict()))) == reply


@pytest.mark.parametrize("wrong", [{"top_p": 0.0}, {"top_p": 1.1}, {"n": 0}, {"temperature": -1.0}])
def test_sampling_that_cannot_be_is_refused_by_name(wrong) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        replace(REQUEST, **wrong)
