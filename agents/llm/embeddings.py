"""Text embeddings of any OpenAI-compatible endpoint (the papers used text-embedding-ada-002). Core.

An `agents.encoders.embedding.Encoder`: the dimensions are found out from the first answer, every distinct text is paid
for once, and what has been paid for is kept in a store.
"""

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx2
import numpy as np
import openai

from agents.encoders.embedding import FROM_ENDPOINT
from agents.encoders.kept import DictVectors, VectorStore, key_of
from agents.llm.calls import Calls, Endpoint, Failure, endpoint_settings
from agents.llm.errors import BadReply, LlmError, NotConfigured
from agents.llm.lanes import in_lanes
from agents.llm.tokens import TokenCounter, counter
from agents.llm.usage import Usage
from annotations.monitor.spans import span

BATCH_TEXTS = 128  # of one request; endpoints take up to 2,048, fewer lose less when one fails
BATCH_TOKENS = 100_000  # of one request; OpenAI takes 300,000
MAX_TOKENS = 8191  # of one text, as OpenAI's models read it; longer ones are cut


@dataclass(frozen=True)
class Embedded:
    """The answer to one request: a vector a row, and the usage."""

    vectors: np.ndarray
    usage: Usage


class EndpointEncoder:
    """Texts to unit vectors by an endpoint; `usage` is what it has taken so far. Raises `LlmError`."""

    def __init__(self, endpoint: Endpoint, store: VectorStore | None = None, max_tokens: int = MAX_TOKENS) -> None:
        self.name = FROM_ENDPOINT + endpoint.model
        self.endpoint = endpoint
        self.usage = Usage()
        self.tokens: TokenCounter = counter(endpoint.model)
        self.max_tokens = max_tokens
        self._store = store or DictVectors()
        self._calls = Calls(endpoint, "EMBEDDING")
        self._dimensions = 0
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        """The number of dimensions, as the endpoint's first answer has it; asks for one where nothing has been embedded
        yet."""
        if not self._dimensions:
            self.encode(["dimensions"])
        return self._dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        """The vectors of texts, one row each, float32. Where one request fails, the answers of others are stored all
        the same, so they are not paid for twice."""
        sent = [self.tokens.cut(_plain(text), self.max_tokens) for text in texts]
        keys = [self._key(text) for text in sent]
        known = self._store.get_many(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, sent, strict=True) if key not in known}
        if missing:
            known |= self._ask(missing)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        found = np.stack([known[key] for key in keys])
        self._dimensions = found.shape[1]
        return found

    def _key(self, text: str) -> str:
        """The key of a text's vector: SHA-256 (hex) of the endpoint's address, the model and the text."""
        return key_of(self._calls.address, self.endpoint.model, text)

    def _ask(self, missing: dict[str, str]) -> dict[str, np.ndarray]:
        batches = list(self._batches(missing))
        answers = in_lanes(lambda keys, stop: self._embed(keys, missing, stop), batches, self.endpoint.concurrency)
        for answer in answers:
            if isinstance(answer, LlmError):
                raise answer
        return {key: vector for answer in answers if isinstance(answer, dict) for key, vector in answer.items()}

    def _batches(self, missing: dict[str, str]) -> Iterator[list[str]]:
        keys: list[str] = []
        tokens = 0
        for key, text in missing.items():
            size = self.tokens.count(text)
            if keys and (len(keys) == BATCH_TEXTS or tokens + size > BATCH_TOKENS):
                yield keys
                keys, tokens = [], 0
            keys.append(key)
            tokens += size
        if keys:
            yield keys

    def _embed(
        self, keys: list[str], missing: dict[str, str], stop: threading.Event
    ) -> dict[str, np.ndarray] | LlmError:
        """Ask for one batch, and store its answer at once."""
        texts = [missing[key] for key in keys]
        with span("embed", model=self.endpoint.model, texts=len(texts)) as told:
            answer = self._calls.repeat(lambda: self._attempt(texts), stop)
            told |= {"prompt_tokens": answer.usage.prompt_tokens, "cost": answer.usage.cost}
        with self._lock:
            self.usage += answer.usage
        if isinstance(answer, LlmError):
            return answer
        found = dict(zip(keys, answer.vectors, strict=True))
        self._store.put_many(self.endpoint.model, found)
        return found

    def _attempt(self, texts: Sequence[str]) -> Embedded | Failure:
        started = time.monotonic()
        guess = self._usage(sum(map(self.tokens.count, texts)), estimated=not self.tokens.exact)
        try:
            calls = self._calls.client.embeddings.with_streaming_response
            with calls.create(
                model=self.endpoint.model,
                input=list(texts),
                encoding_format="float",
                extra_headers=self._calls.headers,
            ) as response:
                content = self._calls.content(response, guess, started)
            return self._read(content, len(texts), guess)
        except (BadReply, openai.APIError, httpx2.HTTPError) as error:
            return self._calls.failure(error)

    def _read(self, content: bytes, count: int, guess: Usage) -> Embedded:
        """The vectors of an answer, in the order of the texts. BadReply where it cannot be read."""
        try:
            values = json.loads(content)
            rows = sorted(values["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
            tokens = values.get("usage", {}).get("prompt_tokens")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BadReply(f"the answer holds no embeddings ({type(error).__name__}: {error})"[:200], guess) from None
        if vectors.ndim != 2 or len(vectors) != count or [row["index"] for row in rows] != list(range(count)):
            raise BadReply(f"the answer holds {len(rows)} embeddings for {count} texts", guess)
        if self._dimensions not in (0, vectors.shape[1]):
            raise BadReply(f"embeddings have {vectors.shape[1]} dimensions, and had {self._dimensions}", guess)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and (norms > 0).all()):
            raise BadReply("an embedding has no direction", guess)
        usage = self._usage(tokens) if type(tokens) is int and tokens >= 0 else guess
        return Embedded(vectors / norms, usage)

    def _usage(self, tokens: int, estimated: bool = False) -> Usage:
        prices = self.endpoint.prices
        return Usage(tokens, 0, prices.cost(tokens, 0) if prices else 0.0, estimated=estimated)


def _plain(text: str) -> str:
    """The text in a form that can be sent: halves of surrogate pairs are replaced, and an empty text, which endpoints
    refuse, becomes a space."""
    return text.encode("utf-8", "replace").decode() or " "


def from_environment(model: str, store: VectorStore | None = None) -> EndpointEncoder:
    """The encoder of the settings EMBEDDING_…, as `endpoint_settings` says (EMBEDDING_PRICE_COMPLETION is not asked
    for), and of EMBEDDING_MAX_TOKENS, to which texts are cut."""
    endpoint = endpoint_settings("EMBEDDING", model)
    try:
        limit = int(os.environ.get("EMBEDDING_MAX_TOKENS") or MAX_TOKENS)
    except ValueError as error:
        raise NotConfigured(f"EMBEDDING_MAX_TOKENS must be a whole number: {error}") from None
    return EndpointEncoder(endpoint, store, limit)
