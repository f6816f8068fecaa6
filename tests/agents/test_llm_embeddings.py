"""Encoders behind an endpoint, against a real HTTP server: dimensions, batches, faults, secrecy, what is paid once."""

import json
import logging
from typing import Any

import numpy as np
import pytest

from agents.encoders import weights
from agents.encoders.embedding import HashEncoder, load_encoder
from agents.encoders.kept import DictVectors
from agents.llm import embeddings
from agents.llm.calls import Endpoint
from agents.llm.embeddings import EndpointEncoder
from agents.llm.errors import BadReply, LlmError, RequestRefused, Unreachable
from agents.llm.usage import Prices
from agents.memory.build import build_exemplars, build_snippets
from agents.models import Exemplar, MemorySnippet, TextEmbedding
from tests import factories
from tests.agents.llm_server import Answer, failure, in_turn, serve

KEY = "sk-very-secret-0123456789"
ADA = "text-embedding-ada-002"


def vectors(dimensions: int = 1536):
    """Hashed words, not of unit length: what is compared must be made so."""
    return lambda body: (HashEncoder(dimensions).encode(body["input"]) + 0.1).tolist()


def client(server, store=None, **settings) -> EndpointEncoder:
    settings = {"prices": Prices(0.1, 0.0), "first_wait": 0.01, "timeout": 5.0, "api_key": KEY} | settings
    return EndpointEncoder(Endpoint(server.url, ADA, **settings), store)


def test_texts_become_unit_vectors_in_their_order_and_are_accounted_for() -> None:
    texts = ["book a room", "", "pay now", "book a room"]
    with serve(vectors()) as server:
        encoder = client(server)
        found = encoder.encode(texts)
        assert encoder.dimensions == 1536
    raw = HashEncoder(1536).encode(texts) + 0.1
    assert found == pytest.approx(raw / np.linalg.norm(raw, axis=1, keepdims=True), abs=1e-6)
    (asked,) = server.requests
    assert asked == {"model": ADA, "input": ["book a room", " ", "pay now"], "encoding_format": "float"}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert encoder.name == f"endpoint:{ADA}"
    assert (encoder.usage.prompt_tokens, encoder.usage.estimated) == (5, False)
    assert encoder.usage.cost == pytest.approx(5 * 0.1 / 1e6)


@pytest.mark.parametrize("dimensions", [24, 768, 3072])
def test_dimensions_are_found_out_from_the_first_answer(dimensions) -> None:
    with serve(vectors(dimensions)) as server:
        encoder = client(server)
        assert encoder.encode([]).shape == (0, dimensions)
        assert encoder.dimensions == dimensions
    assert len(server.requests) == 1


def test_texts_go_in_batches_by_number_and_by_tokens(monkeypatch) -> None:
    monkeypatch.setattr(embeddings, "BATCH_TEXTS", 3)
    monkeypatch.setattr(embeddings, "BATCH_TOKENS", 20)
    texts = [f"text {n}" for n in range(5)] + ["long " * 18, "short"]
    with serve(vectors(8)) as server:
        client(server, concurrency=1).encode(texts)
    assert [len(request["input"]) for request in server.requests] == [3, 2, 2] or [
        len(request["input"]) for request in server.requests
    ] == [3, 2, 1, 1]
    assert [text for request in server.requests for text in request["input"]] == texts


def test_a_text_that_is_too_long_is_cut_to_what_the_model_reads() -> None:
    with serve(vectors(8)) as server:
        EndpointEncoder(Endpoint(server.url, ADA), max_tokens=4).encode(["one two three four five six", "one"])
    assert server.requests[0]["input"] == ["one two three four", "one"]


@pytest.mark.parametrize(
    ("fault", "error", "calls"),
    [
        (failure(500, "on fire"), Unreachable, 4),
        (failure(401, "bad key " + KEY), RequestRefused, 1),
        (Answer(b'{"data": [{"index": 0, "emb'), BadReply, 2),
        (Answer(b'{"data": []}'), BadReply, 2),
        (Answer(b'{"data": [{"index": 1, "embedding": [1.0]}]}'), BadReply, 2),
        (Answer(b'{"data": [{"index": 0, "embedding": ["a"]}]}'), BadReply, 2),
        (Answer(b'{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}'), BadReply, 2),
        (Answer(b'{"data": [{"index": 0, "embedding": [NaN]}]}'), BadReply, 2),
        (Answer(b'{"data": [{"index": 0, "embedding": []}]}'), BadReply, 2),
        (Answer(b"[]"), BadReply, 2),
    ],
    ids=["500", "401", "cut", "empty", "index", "text", "zero", "nan", "no-numbers", "list"],
)
def test_a_lasting_fault_ends_in_a_clear_error_without_the_key(fault, error, calls, caplog) -> None:
    with serve(lambda body: fault) as server, caplog.at_level(logging.DEBUG):
        encoder = client(server, attempts=4, answers=2)
        with pytest.raises(error) as raised:
            encoder.encode(["a"])
    assert len(server.requests) == calls
    assert "embedding endpoint" in str(raised.value)
    if error is RequestRefused:
        assert "(is EMBEDDING_API_KEY right?)" in str(raised.value)
    assert (encoder.usage.prompt_tokens > 0) == (error is BadReply)
    assert KEY not in str(raised.value) + repr(encoder.endpoint) + caplog.text


def test_a_passing_fault_is_retried() -> None:
    with serve(in_turn(failure(503, retry_after="0"), [[0.6, 0.8]])) as server:
        assert client(server).encode(["a"]) == pytest.approx(np.array([[0.6, 0.8]]))
    assert len(server.requests) == 2


def test_what_was_answered_stays_paid_for_when_another_batch_fails(monkeypatch) -> None:
    monkeypatch.setattr(embeddings, "BATCH_TEXTS", 1)
    good = vectors(8)
    bad = ["b"]

    def reply(body: dict[str, Any]):
        return failure(400, "no") if body["input"] == bad else good(body)

    store = DictVectors()
    with serve(reply) as server:
        with pytest.raises(LlmError):
            client(server, store, concurrency=1).encode(["a", "b", "c"])
        bad.clear()
        assert client(server, store).encode(["a", "b", "c"]).shape == (3, 8)
    asked = [request["input"] for request in server.requests]
    assert sorted(asked) == [["a"], ["b"], ["b"], ["c"]]


def test_other_dimensions_in_the_same_process_are_an_error() -> None:
    with serve(in_turn([[1.0, 0.0]], [[1.0, 0.0, 0.0]])) as server:
        encoder = client(server, answers=1)
        encoder.encode(["a"])
        with pytest.raises(BadReply, match="embeddings have 3 dimensions, and had 2"):
            encoder.encode(["b"])


@pytest.fixture
def endpoint(monkeypatch):
    """The configured endpoint, with 1,536 dimensions."""
    with serve(vectors()) as server:
        monkeypatch.setenv("EMBEDDING_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_API_KEY", KEY)
        yield server


@pytest.mark.slow
def test_a_recipe_names_it_and_every_process_pays_once(endpoint, db) -> None:
    first = load_encoder(f"endpoint:{ADA}").encode(["a b", "c"])
    again = load_encoder(f"endpoint:{ADA}").encode(["c", "a b"])
    assert again[::-1] == pytest.approx(first)
    assert len(endpoint.requests) == 1
    assert TextEmbedding.objects.count() == 2
    load_encoder("endpoint:another").encode(["c"])
    assert json.loads(json.dumps(endpoint.requests[-1]))["model"] == "another"


def test_memory_by_an_endpoint_stands_beside_that_of_local_weights(endpoint, db) -> None:
    conversation = factories.make_conversation(turns=3, steps=2)
    encoder, local = load_encoder(f"endpoint:{ADA}"), HashEncoder()
    for each in (encoder, local):
        assert build_snippets([conversation.pk], each) == 6
        assert build_exemplars(conversation.dataset, each) == 3
    lengths = {row.encoder: len(row.embedding) for row in Exemplar.objects.all()}
    assert lengths == {encoder.name: 1536, local.name: 384}
    text = MemorySnippet.objects.filter(encoder=encoder.name).first().text
    (query,) = encoder.encode([text])
    nearest = MemorySnippet.objects.nearest_earlier(encoder.name, [(conversation.pk, 2)], [query], 1)
    assert nearest[0][-1] == pytest.approx(1.0, abs=1e-3)
    assert len(Exemplar.objects.filter(encoder=encoder.name).nearest(query, 2)) == 2


@pytest.mark.django_db
def test_without_settings_it_is_said_which_are_missing(monkeypatch) -> None:
    monkeypatch.delenv("EMBEDDING_BASE_URL", raising=False)
    with pytest.raises(ValueError, match="no embedding endpoint is configured: set EMBEDDING_BASE_URL"):
        load_encoder(f"endpoint:{ADA}")
    monkeypatch.setenv("EMBEDDING_BASE_URL", "file:///etc/passwd")
    with pytest.raises(ValueError, match="must be an http or https address"):
        load_encoder(f"endpoint:{ADA}")


def test_people_name_a_model_and_never_an_address(endpoint, db) -> None:
    assert weights.open_to_people(f"endpoint:{ADA}")
    assert weights.open_to_people("endpoint:BAAI/bge-m3")
    assert not weights.open_to_people("endpoint:a/../../etc")
    load_encoder("endpoint:http://127.0.0.1:9/v1").encode(["a"])
    assert endpoint.requests[0]["model"] == "http://127.0.0.1:9/v1", "it is the configured endpoint that is asked"
