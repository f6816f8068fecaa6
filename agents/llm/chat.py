"""Any OpenAI-compatible endpoint: retries, limits, accounting. Core.

The `openai` package builds and sends the calls; its own retries are off, so that ours can be seen, stopped and counted.
"""

import email.utils
import logging
import os
import random
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from agents.llm import chat_format
from agents.llm.errors import BadReply, LlmError, NotConfigured, OneAtATime, RateLimited, RequestRefused, Unreachable
from agents.llm.lanes import in_lanes
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Prices, Usage
from annotations.observe.spans import span

logger = logging.getLogger(__name__)
LARGEST_ANSWER = 50_000_000  # bytes
CONNECT_SECONDS = 10.0
ONE_SAMPLE = re.compile(r"\bn\b|\b(one|single) (completion|choice)")  # how endpoints word that they refuse n


@dataclass(frozen=True)
class Endpoint:
    """Where and how to ask. The key is in no representation, log line or error."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)  # empty: no Authorization header
    prices: Prices | None = None
    timeout: float = 120.0  # seconds for one attempt, from sending to the last byte
    concurrency: int = 8  # requests at once
    attempts: int = 6  # of a request that fails for a passing reason
    answers: int = 3  # unreadable answers, each of which may cost money, before a request is given up
    first_wait: float = 1.0  # seconds before the second attempt; doubles from then on
    longest_wait: float = 60.0  # also the longest Retry-After that is waited for

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url must be an http or https address, got {self.base_url!r}")
        if parts.username or parts.password:
            raise ValueError("base_url must not contain a user name or password; use api_key")
        if min(self.timeout, self.concurrency, self.attempts, self.answers) <= 0:
            raise ValueError("timeout, concurrency, attempts and answers must be more than 0")


@dataclass(frozen=True)
class Failure:
    """One attempt that gave nothing. `passing`: it may work later; `asked_wait`: seconds, as the endpoint asked."""

    error: LlmError
    passing: bool = True
    asked_wait: float | None = None


class ChatLlm:
    """A client of one endpoint; may be shared by threads. `concurrency` holds over all of its calls together."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        address = endpoint.base_url.rstrip("/")
        self.info = LlmInfo(address, endpoint.model, endpoint.prices, lanes=endpoint.concurrency)
        self._places = threading.BoundedSemaphore(endpoint.concurrency)
        self._limit_names: dict[str, str] = {}  # per model, where it is not max_tokens
        self._at_once: dict[str, int] = {}  # per model, where it gives only so many samples in one answer
        self._headers = None if endpoint.api_key else {"Authorization": openai.Omit()}
        self._client = openai.OpenAI(
            base_url=address,
            api_key=endpoint.api_key or "none",
            max_retries=0,
            timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout)),
        )

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        return in_lanes(self._ask, requests, self.endpoint.concurrency)

    def _ask(self, request: Request, stop: threading.Event) -> Reply | LlmError:
        with span("llm", model=request.model) as told:
            answer = self._all_samples(request, stop)
            told |= {
                "prompt_tokens": answer.usage.prompt_tokens,
                "completion_tokens": answer.usage.completion_tokens,
                "cost": answer.usage.cost,
                "failed": isinstance(answer, LlmError),
            }
            return answer

    def _all_samples(self, request: Request, stop: threading.Event) -> Reply | LlmError:
        """All samples of a request; an endpoint that gives fewer than n at once is asked for the rest side by side."""
        started = time.monotonic()
        replies: list[Reply] = []
        usage = Usage()
        while (done := sum(len(reply.texts) for reply in replies)) < request.n:
            parts = self._parts(request, done)
            answers = in_lanes(lambda part, _: self._try(part, stop), parts, self.endpoint.concurrency)
            usage = sum((answer.usage for answer in answers), usage)
            for part, answer in zip(parts, answers, strict=True):
                if isinstance(answer, OneAtATime):
                    self._at_once[request.model] = 1
                    continue
                if isinstance(answer, LlmError):
                    answer.usage = usage
                    return answer
                if len(answer.texts) < part.n:
                    self._at_once[request.model] = len(answer.texts)
                replies.append(answer)
        texts = tuple(text for reply in replies for text in reply.texts)
        reasons = tuple(reason for reply in replies for reason in reply.finish_reasons)
        return Reply(texts, usage, replies[0].model, reasons, time.monotonic() - started)

    def _parts(self, request: Request, done: int) -> list[Request]:
        """The request for the samples from number `done` on, in as many as the endpoint needs; each draws with a seed
        of its own, where there is one."""
        most = self._at_once.get(request.model, request.n)
        return [
            replace(
                request, n=min(most, request.n - first), seed=None if request.seed is None else request.seed + first
            )
            for first in range(done, request.n, most)
        ]

    def _try(self, request: Request, stop: threading.Event) -> Reply | LlmError:
        """Attempts until an answer can be read, waiting longer each time."""
        wasted = Usage()
        answers = 0
        for attempt in range(1, self.endpoint.attempts + 1):
            with self._places:
                outcome = self._attempt(request)
            if isinstance(outcome, Reply):
                return replace(outcome, usage=outcome.usage + wasted)
            error = outcome.error
            wasted += error.usage
            error.usage = wasted
            answers += isinstance(error, BadReply)
            wait = self._wait(attempt, outcome.asked_wait)
            last = attempt == self.endpoint.attempts or answers == self.endpoint.answers
            if not outcome.passing or last or wait > self.endpoint.longest_wait:
                break
            logger.info("Attempt %d of %d failed, next in %.1f s: %s", attempt, self.endpoint.attempts, wait, error)
            if stop.wait(wait):
                break
        return error

    def _wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt: what the endpoint asks for, else exponential; both with jitter."""
        wait = min(self.endpoint.first_wait * 2 ** (attempt - 1), self.endpoint.longest_wait / 1.25)
        return float(wait) * random.uniform(0.75, 1.25) if asked is None else asked + random.uniform(0, 0.25) * wait

    def _attempt(self, request: Request) -> Reply | Failure:
        started = time.monotonic()
        values = chat_format.body(request, self._limit_names.get(request.model, "max_tokens"))
        try:
            calls = self._client.chat.completions.with_streaming_response
            with calls.create(**values, extra_headers=self._headers) as response:
                content = self._content(response, request, started)
            return chat_format.read(content, request, self.endpoint.prices, time.monotonic() - started)
        except BadReply as error:
            return Failure(BadReply(f"{self._name} gave no usable answer: {self._clean(error)}", error.usage))
        except openai.APITimeoutError:
            return Failure(Unreachable(f"{self._name} did not answer within {self.endpoint.timeout:g} s"))
        except openai.APIConnectionError as error:
            return Failure(Unreachable(f"{self._name} cannot be reached: {self._clean(error.__cause__ or error)}"))
        except openai.APIStatusError as error:
            return self._refusal(error, request)

    def _content(self, response: openai.APIResponse[Any], request: Request, started: float) -> bytes:
        """The whole body, in time; from here on the endpoint may have charged for the answer."""
        content = b""
        usage = chat_format.unread(request, self.endpoint.prices)
        try:
            for chunk in response.iter_bytes():
                content += chunk
                if time.monotonic() - started > self.endpoint.timeout or len(content) > LARGEST_ANSWER:
                    limits = f"{self.endpoint.timeout:g} s and {LARGEST_ANSWER:,} bytes"
                    raise BadReply(f"it did not end within {limits}", usage)
        except httpx2.TimeoutException:
            raise BadReply("it stopped in the middle", usage) from None
        except httpx2.HTTPError as error:
            raise BadReply(f"it was cut off: {error}", usage) from None
        return content

    def _refusal(self, error: openai.APIStatusError, request: Request) -> Failure:
        status = error.status_code
        reason = self._clean(error.body.get("message") if isinstance(error.body, dict) else error.body or error.message)
        if status == 400 and "max_completion_tokens" in reason and request.model not in self._limit_names:
            self._limit_names[request.model] = "max_completion_tokens"  # newer models refuse the older name
            return Failure(Unreachable(f"{self._name} wants another name for max_tokens"), asked_wait=0.0)
        if status in (400, 422) and request.n > 1 and ONE_SAMPLE.search(reason):
            return Failure(OneAtATime(f"{self._name} gives one sample at a time: {reason}"), passing=False)
        if status == 429 and error.code == "insufficient_quota":
            return Failure(RequestRefused(f"{self._name} has no credit left for this key: {reason}"), passing=False)
        if status == 429:
            wait = retry_after(error.response.headers)
            asked = "" if wait is None else f" and asks to wait {wait:g} s"
            return Failure(RateLimited(f"{self._name} takes no more requests{asked}: {reason}"), asked_wait=wait)
        if status == 408 or status >= 500:
            wait = retry_after(error.response.headers)
            return Failure(Unreachable(f"{self._name} answered {status}: {reason}"), asked_wait=wait)
        hint = {401: " (is LLM_API_KEY right?)", 404: " (are LLM_BASE_URL and the model right?)"}.get(status, "")
        return Failure(RequestRefused(f"{self._name} refused the request with {status}{hint}: {reason}"), passing=False)

    @property
    def _name(self) -> str:
        return f"the LLM endpoint {self.info.identity}"

    def _clean(self, text: object) -> str:
        """At most some lines of foreign text, without the key, which some endpoints repeat."""
        key = self.endpoint.api_key
        plain = str(text).replace(key, "[key]") if key else str(text)
        return plain[:500]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of `Retry-After-Ms` or `Retry-After` (a number or a date); None without a readable one."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def from_environment() -> ChatLlm:
    """The endpoint of LLM_BASE_URL, LLM_API_KEY and LLM_MODEL; where set, with the prices LLM_PRICE_PROMPT and
    LLM_PRICE_COMPLETION per million tokens, LLM_TIMEOUT seconds per attempt, LLM_ATTEMPTS of them and
    LLM_CONCURRENCY requests at once.

    NotConfigured names what is missing or wrong.
    """
    names = ("BASE_URL", "MODEL", "API_KEY", "PRICE_PROMPT", "PRICE_COMPLETION", "TIMEOUT", "CONCURRENCY", "ATTEMPTS")
    values = {name: os.environ.get(f"LLM_{name}", "") for name in names}
    missing = [f"LLM_{name}" for name in ("BASE_URL", "MODEL") if not values[name]]
    if missing:
        raise NotConfigured(f"no LLM endpoint is configured: set {' and '.join(missing)}")
    prices = [values["PRICE_PROMPT"], values["PRICE_COMPLETION"]]
    if any(prices) and not all(prices):
        raise NotConfigured("set both LLM_PRICE_PROMPT and LLM_PRICE_COMPLETION, or none of them")
    try:
        endpoint = Endpoint(
            values["BASE_URL"],
            values["MODEL"],
            values["API_KEY"],
            Prices(*map(float, prices)) if all(prices) else None,
            timeout=float(values["TIMEOUT"] or Endpoint.timeout),
            concurrency=int(values["CONCURRENCY"] or Endpoint.concurrency),
            attempts=int(values["ATTEMPTS"] or Endpoint.attempts),
        )
    except ValueError as error:
        raise NotConfigured(f"the LLM endpoint's settings are wrong: {error}") from error
    return ChatLlm(endpoint)
