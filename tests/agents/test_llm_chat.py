"""The endpoint client against a real HTTP server: retries, limits, accounting, faults."""

import base64
import logging
import ssl
import time

import pytest

from agents.llm.calls import retry_after
from agents.llm.chat import ChatLlm, Endpoint, from_environment
from agents.llm.errors import BadReply, LlmError, NotConfigured, RateLimited, RequestRefused, Unreachable
from agents.llm.protocol import Message, Reply, Request
from agents.llm.usage import Prices
from agents.types import Image
from tests.agents.llm_server import (
    Answer,
    cut_off,
    empty_choices,
    failure,
    good,
    in_turn,
    malformed,
    prompt_text,
    serve,
)

KEY = "sk-very-secret-0123456789"
PRICES = Prices(prompt=2.0, completion=10.0)


def ask(text: str = "one two three", **settings) -> Request:
    return Request((Message("system", "Be brief."), Message("user", text)), "test-model", **settings)


def client(server, **settings) -> ChatLlm:
    settings = {"prices": PRICES, "first_wait": 0.01, "timeout": 5.0, "api_key": KEY} | settings
    return ChatLlm(Endpoint(server.url, "test-model", **settings))


def test_a_request_becomes_a_call_and_its_answer_a_reply() -> None:
    with serve(lambda body: "Answer: B") as server:
        llm = client(server)
        (reply,) = llm.complete([ask(max_tokens=7, stop=("\n",), seed=3)])
    assert server.requests == [
        {
            "model": "test-model",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two three"}],
            "temperature": 0.0,
            "max_tokens": 7,
            "stop": ["\n"],
            "seed": 3,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (reply.text, reply.model, reply.finish_reasons) == ("Answer: B", "test-model", ("stop",))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (5, 2)
    assert reply.usage.cost == pytest.approx((5 * 2.0 + 2 * 10.0) / 1e6)
    assert not reply.usage.estimated
    assert not reply.usage.cached


def test_certificates_are_read_once_for_all_clients(monkeypatch) -> None:
    read = []
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *paths: read.append(paths))
    for public_only in (False, True):
        for _ in range(3):
            ChatLlm(Endpoint("https://llm.example/v1", "test-model", public_only=public_only))
    assert len(read) <= 1


def test_images_are_sent_after_the_text_as_data_urls() -> None:
    picture = Image(b"\x89PNG not really", "image/png")
    with serve(lambda body: "seen") as server:
        client(server).complete([Request((Message("user", "What is this?", (picture,)),), "m")])
    text, image = server.requests[0]["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is this?"}
    head, _, data = image["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data) == picture.data


def test_text_that_is_no_unicode_is_sent_all_the_same() -> None:
    with serve(lambda body: "ok") as server:
        (reply,) = client(server).complete([ask("half \ud83d a pair")])
    assert reply.text == "ok"
    assert server.requests[0]["messages"][1]["content"] == "half ? a pair"


@pytest.mark.parametrize(
    ("fault", "paid"),
    [
        (failure(500), False),
        (failure(503, retry_after="0"), False),
        (failure(429, retry_after="0"), False),
        (good(delay=5.0), False),
        (cut_off(), True),
        (malformed(), True),
        (empty_choices(), True),
        (Answer(b"null"), True),
        (Answer(b"<html>gateway</html>"), True),
        (good(choices=[{"index": 0}]), True),
    ],
    ids=["500", "503", "429", "slow", "cut-off", "malformed", "empty", "null", "html", "no-message"],
)
def test_a_passing_fault_is_retried_and_what_it_may_have_cost_is_counted(fault, paid) -> None:
    with serve(in_turn(fault, "fine")) as server:
        (reply,) = client(server, timeout=1.0 if fault.delay else 10.0).complete([ask()])
    assert reply.text == "fine"
    assert len(server.requests) == 2
    assert (reply.usage.prompt_tokens > 5) == paid
    assert (reply.usage.cost > (5 * 2 + 1 * 10) / 1e6) == paid


@pytest.mark.parametrize(
    ("fault", "error", "words", "calls"),
    [
        (failure(500, "on fire"), Unreachable, "answered 500: on fire", 4),
        (failure(429, "slow down"), RateLimited, "takes no more requests: slow down", 4),
        (good(delay=5.0), Unreachable, "did not answer within 0.3 s", 4),
        (good(pause=0.05), BadReply, "it did not end within 0.3 s", 2),
        (cut_off(), BadReply, "it was cut off", 2),
        (malformed(), BadReply, "the answer is no JSON", 2),
        (Answer(b"[" * 100_000), BadReply, "the answer is no JSON", 2),
        (Answer(b"9" * 5_000), BadReply, "the answer is no JSON", 2),
        (empty_choices(), BadReply, "the answer has no choices", 2),
        (failure(401, "bad key " + KEY), RequestRefused, r"401 \(is LLM_API_KEY right\?\): bad key \[key\]", 1),
        (failure(404, "no such model"), RequestRefused, "are LLM_BASE_URL and the model right", 1),
        (failure(400, "too long"), RequestRefused, "too long", 1),
    ],
    ids=["500", "429", "slow", "dribble", "cut-off", "malformed", "deep", "long-number", "empty", "401", "404", "400"],
)
def test_a_lasting_fault_ends_in_a_clear_error(fault, error, words, calls) -> None:
    with serve(lambda body: fault) as server:
        timeout = 0.3 if "0.3 s" in words else 10.0
        (answer,) = client(server, timeout=timeout, attempts=4, answers=2).complete([ask()])
    assert type(answer) is error
    with pytest.raises(error, match=words):
        raise answer
    assert len(server.requests) == calls
    assert (answer.usage.prompt_tokens > 0) == (error is BadReply)


def test_nobody_listening_is_an_error_with_the_address() -> None:
    with serve(lambda body: "x") as server:
        url = server.url
    (answer,) = ChatLlm(Endpoint(url, "m", attempts=2, first_wait=0.01)).complete([ask()])
    assert isinstance(answer, Unreachable)
    assert url in str(answer)


def test_one_failing_request_never_loses_the_others() -> None:
    def reply(body):
        text = prompt_text(body)
        return failure(400, "never") if "bad" in text else text.split()[-1]

    with serve(reply) as server:
        answers = client(server).complete([ask("a"), ask("bad"), ask("c"), ask("bad"), ask("e")])
    assert [answer.text if isinstance(answer, Reply) else type(answer) for answer in answers] == [
        "a",
        RequestRefused,
        "c",
        RequestRefused,
        "e",
    ]


@pytest.mark.timed
def test_retry_after_is_waited_for() -> None:
    with serve(in_turn(failure(429, retry_after="0.3"), "fine")) as server:
        (reply,) = client(server).complete([ask()])
    assert reply.text == "fine"
    assert 0.3 <= server.times[1] - server.times[0] < 3.0
    assert reply.seconds >= 0.3


def test_too_long_a_retry_after_is_not_waited_for() -> None:
    with serve(lambda body: failure(429, retry_after="3600")) as server:
        (answer,) = client(server).complete([ask()])
    assert isinstance(answer, RateLimited)
    assert "asks to wait 3600 s" in str(answer)
    assert len(server.requests) == 1


@pytest.mark.timed
def test_waits_grow_exponentially() -> None:
    with serve(lambda body: failure(500)) as server:
        client(server, attempts=4, first_wait=0.05).complete([ask()])
    waits = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert 0.0375 <= waits[0] < waits[2]
    assert 0.15 <= waits[2] < 2.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "-5"}, None),
    ],
)
def test_retry_after_is_read_as_number_or_date(headers, seconds) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.timed
def test_at_most_concurrency_requests_run_at_once() -> None:
    with serve(lambda body: good(delay=0.05)) as server:
        llm = client(server, concurrency=3)
        started = time.monotonic()
        answers = llm.complete([ask() for _ in range(9)])
        seconds = time.monotonic() - started
    assert all(isinstance(answer, Reply) for answer in answers)
    assert server.most_busy == 3
    assert seconds < 9 * 0.05 * 0.9


def test_missing_usage_is_estimated_and_marked() -> None:
    with serve(lambda body: good("word " * 30, usage=None)) as server:
        (reply,) = client(server).complete([ask("x" * 3000)])
    assert reply.usage.estimated
    assert 750 < reply.usage.prompt_tokens < 1500
    assert 30 <= reply.usage.completion_tokens < 150
    assert reply.usage.cost > 0


def test_an_endpoint_that_gives_one_sample_at_a_time_is_asked_again() -> None:
    with serve(lambda body: f"sample {body['seed']}") as server:
        (reply,) = client(server).complete([ask(n=3, seed=5, temperature=1.0)])
    assert reply.texts == ("sample 5", "sample 6", "sample 7")
    assert [request.get("n", 1) for request in server.requests] == [3, 1, 1]
    assert reply.usage.prompt_tokens == 15
    with serve(lambda body: ["a", "b", "c"]) as server:
        (reply,) = client(server).complete([ask(n=3, temperature=1.0)])
    assert reply.texts == ("a", "b", "c")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "words", ["'n' : number must be at most 1", "Only one completion choice is allowed", "n must be 1, got 3"]
)
def test_an_endpoint_that_refuses_n_is_asked_n_times_with_seeds(words) -> None:
    def one(body):
        return failure(400, words) if body.get("n", 1) > 1 else f"sample {body['seed']}"

    with serve(one) as server:
        llm = client(server)
        replies = [llm.complete([ask(n=4, seed=seed, temperature=1.0)])[0].texts for seed in (0, 10)]
    assert replies == [tuple(f"sample {seed}" for seed in range(4)), tuple(f"sample {seed}" for seed in range(10, 14))]
    assert [request.get("n", 1) for request in server.requests] == [4, *[1] * 8]  # it is refused once, not each time


def test_another_refusal_of_several_samples_is_an_error_at_once() -> None:
    with serve(lambda body: failure(400, "this prompt is too long")) as server:
        (answer,) = client(server).complete([ask(n=4, temperature=1.0)])
    assert isinstance(answer, RequestRefused)
    assert len(server.requests) == 1


@pytest.mark.timed
def test_samples_that_come_one_at_a_time_are_asked_side_by_side() -> None:
    with serve(lambda body: good(f"sample {body['seed']}", delay=0.05)) as server:
        llm = client(server, concurrency=4)
        (reply,) = llm.complete([ask(n=9, seed=0, temperature=1.0)])
    assert sorted(reply.texts) == sorted(f"sample {seed}" for seed in range(9))
    assert reply.texts[1:] == tuple(f"sample {seed}" for seed in range(1, 9))
    assert server.most_busy == 4


def test_top_p_is_sent_where_it_is_set() -> None:
    with serve(lambda body: "ok") as server:
        client(server).complete([ask(top_p=0.9, temperature=1.0)])
        client(server).complete([ask(temperature=1.0)])
    assert [request.get("top_p") for request in server.requests] == [0.9, None]


def test_stop_strings_hold_even_where_the_endpoint_overlooks_them() -> None:
    with serve(lambda body: "Action: CLICK\nObservation: made up") as server:
        (reply,) = client(server).complete([ask(stop=("Observation:", "\nObs"))])
    assert reply.text == "Action: CLICK"


def test_a_refusal_without_text_is_an_empty_text() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "content_filter"}
    with serve(lambda body: good(choices=[choice])) as server:
        (reply,) = client(server).complete([ask()])
    assert (reply.text, reply.finish_reasons) == ("", ("content_filter",))


def test_newer_models_get_their_name_for_the_limit() -> None:
    def reply(body):
        return failure(400, "use 'max_completion_tokens' instead") if "max_tokens" in body else "fine"

    with serve(reply) as server:
        llm = client(server)
        assert [llm.complete([ask(max_tokens=9)])[0].text for _ in range(2)] == ["fine", "fine"]
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 9, 9]


def test_the_key_is_in_no_representation_log_or_error(caplog) -> None:
    with (
        serve(in_turn(failure(500, f"key {KEY}"), failure(403, f"key {KEY}"))) as server,
        caplog.at_level(logging.DEBUG),
    ):
        llm = client(server)
        (answer,) = llm.complete([ask()])
    assert isinstance(answer, RequestRefused)
    shown = f"{answer!r} {answer} {llm!r} {llm.endpoint!r} {llm.info!r} {caplog.text}"
    assert "[key]" in shown
    assert KEY not in shown


def test_an_unreadable_answer_is_quoted_without_the_key() -> None:
    with serve(lambda body: Answer(b"you sent " + KEY.encode())) as server:
        (answer,) = client(server).complete([ask()])
    assert isinstance(answer, BadReply)
    assert "you sent [key]" in str(answer)
    assert KEY not in str(answer)


def test_without_a_key_no_authorization_is_sent(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    with serve(lambda body: "x") as server:
        client(server, api_key="").complete([ask()])
    assert "authorization" not in server.headers[0]


def test_the_environment_configures_the_client(monkeypatch) -> None:
    with serve(lambda body: "hello") as server:
        for name, value in {
            "LLM_BASE_URL": server.url + "/",
            "LLM_MODEL": "m",
            "LLM_API_KEY": KEY,
            "LLM_PRICE_PROMPT": "1",
            "LLM_PRICE_COMPLETION": "2.5",
            "LLM_TIMEOUT": "9",
            "LLM_CONCURRENCY": "2",
        }.items():
            monkeypatch.setenv(name, value)
        llm = from_environment()
        assert llm.complete([ask()])[0].text == "hello"
    assert (llm.info.identity, llm.info.model, llm.info.prices) == (server.url, "m", Prices(1.0, 2.5))
    assert (llm.endpoint.timeout, llm.endpoint.concurrency) == (9.0, 2)
    monkeypatch.delenv("LLM_PRICE_PROMPT")
    with pytest.raises(NotConfigured, match="set both LLM_PRICE_PROMPT"):
        from_environment()
    monkeypatch.setenv("LLM_PRICE_PROMPT", "cheap")
    with pytest.raises(NotConfigured, match="could not convert"):
        from_environment()
    monkeypatch.delenv("LLM_MODEL")
    with pytest.raises(LlmError, match="set LLM_MODEL"):
        from_environment()


@pytest.mark.parametrize("url", ["ftp://x/v1", "localhost:8000", "http://user:pass@host/v1", ""])
def test_a_wrong_address_is_refused(url) -> None:
    with pytest.raises(ValueError, match="base_url"):
        Endpoint(url, "m")
