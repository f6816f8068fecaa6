"""What every language model takes and gives. Core.

`Llm.complete` is batch-first: it gives one `Reply` or `LlmError` per request, in order, so one request that fails never
loses the others. Errors are data here; a caller who cannot go on raises the error it was given.
"""

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Protocol

from agents.llm.errors import LlmError
from agents.llm.tokens import counter
from agents.llm.usage import Prices, Usage
from agents.types import Image

ROLES = ("system", "user", "assistant")
TOKENS_PER_MESSAGE = 8  # role and separators of a chat template
TOKENS_PER_IMAGE = 1500  # about what endpoints charge for a screenshot


@dataclass(frozen=True)
class Message:
    """One message of a conversation with a model; images follow the text."""

    role: str  # system | user | assistant
    content: str
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}; got {self.role!r}")


@dataclass(frozen=True)
class Sampling:
    """How texts are drawn: `n` of them. Temperature 0 gives the most likely text; `top_p` leaves only the likeliest
    tokens that together have this probability. The same seed draws the same texts, if the model supports it."""

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"n must be at least 1, got {self.n}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature must be 0 or more, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be more than 0 and at most 1, got {self.top_p}")


GREEDY = Sampling()


@dataclass(frozen=True)
class Request:
    """One question to a model: `n` samples of at most `max_tokens` tokens each, cut before any `stop` string.

    `pattern`: a regular expression that the answer matches; for models that can be held to one.
    """

    messages: tuple[Message, ...]
    model: str
    temperature: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    n: int = 1
    seed: int | None = None
    top_p: float = 1.0
    pattern: str = ""

    def __post_init__(self) -> None:
        if not self.messages:
            raise ValueError("a request needs at least one message")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, got {self.max_tokens}")
        if any(not text for text in self.stop):
            raise ValueError("a stop string must not be empty")
        Sampling(self.n, self.temperature, self.top_p, self.seed)

    def to_dict(self) -> dict[str, Any]:
        """JSON-serialisable and canonical; an image is named by media type and SHA-256. A `top_p` of 1 and
        no `pattern` are left out: replies that were kept before they could be set are found again."""
        values = {
            "messages": [
                {
                    "role": message.role,
                    "content": message.content,
                    "images": [f"{image.media_type} {image.sha256()}" for image in message.images],
                }
                for message in self.messages
            ],
            "model": self.model,
            "temperature": float(self.temperature),
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
            "n": self.n,
            "seed": self.seed,
        }
        values |= {"pattern": self.pattern} if self.pattern else {}
        return values if self.top_p == 1 else values | {"top_p": float(self.top_p)}

    def key(self, identity: str) -> str:
        """SHA-256 (hex) of the whole request and of who answers it (`LlmInfo.identity`)."""
        canonical = json.dumps([identity, self.to_dict()], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """The `n` texts of a request, given in so many `requests`. `seconds` includes waits between attempts."""

    texts: tuple[str, ...]
    usage: Usage
    model: str  # as the endpoint names it
    finish_reasons: tuple[str, ...]  # of each text: "stop", "length", or the endpoint's word
    seconds: float
    requests: int = 1  # more where an endpoint gives fewer than n at once

    @property
    def text(self) -> str:
        """The first text: the only one unless n > 1."""
        return self.texts[0]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Reply":
        """The inverse of `to_dict`, also after a way through JSON."""
        return cls(
            tuple(values["texts"]),
            Usage(**values["usage"]),
            values["model"],
            tuple(values["finish_reasons"]),
            values["seconds"],
            values.get("requests", 1),
        )


@dataclass(frozen=True)
class LlmInfo:
    """What callers must know of a model: who answers, and how many requests it takes at a time."""

    identity: str  # address of the endpoint: part of the cache key
    model: str  # for requests of callers who name none
    prices: Prices | None  # None: not known
    lanes: int = 1  # calls of `complete` that it works on at the same time
    batch: int = 1  # requests that it answers together in one call


class Llm(Protocol):
    info: LlmInfo

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        """One answer per request, in order. Raises nothing for a request that fails."""
        ...


def estimate(request: Request, prices: Prices | None) -> Usage:
    """Upper estimate of what a request uses: all samples as long as they may get, and the prompt
    paid for each of them, as with endpoints that give one at a time."""
    prompt, completion = request.n * prompt_tokens(request), request.n * request.max_tokens
    cost = prices.cost(prompt, completion) if prices else 0.0
    return Usage(prompt, completion, cost, estimated=True)


def prompt_tokens(request: Request) -> int:
    """The tokens that are read to answer once, rather too many: the texts as `tokens.counter` counts them, separators
    and images estimated."""
    texts = sum(_count(request.model, message.content) for message in request.messages)
    images = sum(len(message.images) for message in request.messages)
    return texts + TOKENS_PER_MESSAGE * len(request.messages) + TOKENS_PER_IMAGE * images


@lru_cache(maxsize=1024)
def _count(model: str, text: str) -> int:
    """The tokens of a text. Kept, as a request is counted before it is sent and when it is answered, and messages
    recur."""
    return counter(model).count(text)


def exactly(text: str) -> str:
    """A pattern that matches this text alone. `re.escape` would not do: it also escapes characters that the engines of
    models want as they are."""
    return re.sub(r"[\\^$.|?*+()\[\]{}/]", lambda found: f"\\{found[0]}", text)


def cut(text: str, stop: tuple[str, ...]) -> str:
    """The text before the first stop string; not every endpoint cuts by itself."""
    return text[: min((place for place in map(text.find, stop) if place >= 0), default=len(text))]
