"""Calls to an OpenAI-compatible endpoint: where and how to ask, retries, limits, what went wrong. Core.

The `openai` package builds and sends the calls; its own retries are off, so that ours can be seen, stopped and counted.
"""

import email.utils
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai

from agents.llm.addresses import ErrorBody, PublicTransport, trusted
from agents.llm.deadline import OutOfTime, is_over, seconds_left
from agents.llm.errors import BadReply, LlmError, NotConfigured, RateLimited, RequestRefused, Unreachable
from agents.llm.usage import Prices, Usage

logger = logging.getLogger(__name__)
LARGEST_ANSWER = 50_000_000  # bytes
SHORTEST_WAIT = 0.1  # seconds for an attempt that begins just before time is up
CONNECT_SECONDS = 10.0


class Answered(Protocol):
    """What attempts give: a frozen dataclass with the usage of the answer."""

    @property
    def usage(self) -> Usage: ...


R = TypeVar("R", bound=Answered)


@dataclass(frozen=True)
class Endpoint:
    """The address, model, key and limits of an endpoint. The key is left out of representations, log lines and
    errors."""

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
    public_only: bool = False  # nothing is sent to an address that is not public
    name: str = ""  # of its connection: requests for a model of that name are for `model`

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            httpx2.URL(self.base_url)
        except (ValueError, httpx2.InvalidURL):  # brackets without an end, a port beyond 65535, a name that is none
            usable = False
        if not usable or not self.base_url.isprintable() or " " in self.base_url:
            raise ValueError(f"base_url must be an http or https address, got {self.base_url!r}")
        if parts.username or parts.password:
            raise ValueError("base_url must not contain a user name or password; use api_key")
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("the key has characters that no key has, such as line breaks")
        if min(self.timeout, self.concurrency, self.attempts, self.answers) <= 0:
            raise ValueError("timeout, concurrency, attempts and answers must be more than 0")


@dataclass(frozen=True)
class Failure:
    """An attempt without an answer. `passing`: another attempt may succeed; `asked_wait`: the seconds that the endpoint
    asks to wait."""

    error: LlmError
    passing: bool = True
    asked_wait: float | None = None


class Calls:
    """Calls to one endpoint; may be shared by threads. At most `concurrency` run at once, over all of its users.

    `prefix` is that of its settings, which errors name: "LLM" or "EMBEDDING".
    """

    def __init__(self, endpoint: Endpoint, prefix: str) -> None:
        self.endpoint = endpoint
        parts = urlsplit(endpoint.base_url)
        query = dict(parse_qsl(parts.query))
        self.address = parts._replace(query="", fragment="").geturl().rstrip("/")
        self.name = f"the {prefix if prefix == 'LLM' else prefix.lower()} endpoint {self.address}"
        self._prefix = prefix
        self._places = threading.BoundedSemaphore(endpoint.concurrency)
        azure = "api-version" in query  # its older addresses take the key in a header of their own
        self.headers = None if endpoint.api_key and not azure else {"Authorization": openai.Omit()}
        self.client = openai.OpenAI(
            base_url=self.address,
            api_key=endpoint.api_key or "none",
            default_query=query or None,
            default_headers={"api-key": endpoint.api_key} if azure and endpoint.api_key else None,
            # The address is known: who follows a redirect takes the key along, and to a page nobody has looked at.
            http_client=openai.DefaultHttpxClient(
                verify=trusted(),
                transport=PublicTransport(verify=trusted()) if endpoint.public_only else None,
                follow_redirects=False,
                event_hooks={"response": [self._bound]},
            ),
            max_retries=0,
            timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout)),
        )

    def _bound(self, response: httpx2.Response) -> None:
        """Limit the body of an error answer, which the client would read to its end by itself."""
        if not response.is_success:
            response.stream = ErrorBody(response.stream, self.endpoint.timeout)

    def repeat(self, attempt: Callable[[], R | Failure], stop: threading.Event) -> R | LlmError:
        """Make attempts, waiting longer before each, until one gives an answer, another one would not help, or the
        endpoint's number of attempts is used up."""
        wasted = Usage()
        answers = 0
        for number in range(1, self.endpoint.attempts + 1):
            with self._places:
                outcome = Failure(OutOfTime(), passing=False) if is_over() else attempt()
            if not isinstance(outcome, Failure):
                answered: R = replace(cast(Any, outcome), usage=outcome.usage + wasted)
                return answered
            error = outcome.error
            wasted += error.usage
            error.usage = wasted
            answers += isinstance(error, BadReply)
            wait = self._wait(number, outcome.asked_wait)
            last = number == self.endpoint.attempts or answers == self.endpoint.answers
            if is_over():
                return error if isinstance(error, OutOfTime) else OutOfTime(str(error), wasted)
            if not outcome.passing or last or wait > self.endpoint.longest_wait:
                break
            logger.info("Attempt %d of %d failed, next in %.1f s: %s", number, self.endpoint.attempts, wait, error)
            left = seconds_left()
            if stop.wait(wait if left is None else min(wait, max(0.0, left))):
                break
        return error

    def _wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt: what the endpoint asks for, else exponential; both with jitter."""
        wait = min(self.endpoint.first_wait * 2 ** (attempt - 1), self.endpoint.longest_wait / 1.25)
        return float(wait) * random.uniform(0.75, 1.25) if asked is None else asked + random.uniform(0, 0.25) * wait

    def content(self, response: openai.APIResponse[Any], usage: Usage, started: float) -> bytes:
        """The whole body of an answer. BadReply where it does not end in time; by then the endpoint may have charged
        for it: `usage`, which is estimated."""
        content = b""
        try:
            for chunk in response.iter_bytes():
                content += chunk
                if time.monotonic() - started > self.endpoint.timeout or is_over() or len(content) > LARGEST_ANSWER:
                    limits = f"{self.endpoint.timeout:g} s and {LARGEST_ANSWER:,} bytes"
                    raise BadReply(f"it did not end within {limits}", usage)
        except httpx2.TimeoutException:
            raise BadReply("it stopped in the middle", usage) from None
        except httpx2.HTTPError as error:
            raise BadReply(f"it was cut off: {error}", usage) from None
        return content

    @property
    def timeout(self) -> httpx2.Timeout:
        """How long an attempt that begins now may be silent."""
        left = seconds_left()
        most = self.endpoint.timeout if left is None else min(self.endpoint.timeout, max(left, SHORTEST_WAIT))
        return httpx2.Timeout(most, connect=min(CONNECT_SECONDS, most))

    def failure(self, error: BadReply | openai.APIError | httpx2.HTTPError) -> Failure:
        """Turn the error of an attempt into a `Failure`: why it failed, and whether another attempt may succeed."""
        if isinstance(error, BadReply):
            return Failure(BadReply(f"{self.name} gave no usable answer: {self.clean(error)}", error.usage))
        if isinstance(error, openai.APITimeoutError):
            return Failure(Unreachable(f"{self.name} did not answer within {self.endpoint.timeout:g} s"))
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error)
        return Failure(Unreachable(f"{self.name} cannot be reached: {self.clean(error.__cause__ or error)}"))

    def reason(self, error: openai.APIStatusError) -> str:
        """Why the endpoint refused, in its own words, cleaned."""
        return self.clean(error.body.get("message") if isinstance(error.body, dict) else error.body or error.message)

    def _refusal(self, error: openai.APIStatusError) -> Failure:
        status, reason = error.status_code, self.reason(error)
        if status == 429 and error.code == "insufficient_quota":
            return Failure(RequestRefused(f"{self.name} has no credit left for this key: {reason}"), passing=False)
        if status == 429:
            wait = retry_after(error.response.headers)
            asked = "" if wait is None else f" and asks to wait {wait:g} s"
            return Failure(RateLimited(f"{self.name} takes no more requests{asked}: {reason}"), asked_wait=wait)
        if status == 408 or status >= 500:
            wait = retry_after(error.response.headers)
            return Failure(Unreachable(f"{self.name} answered {status}: {reason}"), asked_wait=wait)
        if 300 <= status < 400:
            place = self.clean(error.response.headers.get("location", "elsewhere"))
            return Failure(RequestRefused(f"{self.name} is not there but at {place}: give that address"), passing=False)
        own = self.endpoint.name and f"connection {self.endpoint.name}"
        hints = {
            401: f" (is the key of {own} right?)" if own else f" (is {self._prefix}_API_KEY right?)",
            404: f" (are {f'the address of {own}' if own else f'{self._prefix}_BASE_URL'} and the model right?)",
        }
        hint = hints.get(status, "")
        return Failure(RequestRefused(f"{self.name} refused the request with {status}{hint}: {reason}"), passing=False)

    def clean(self, text: object) -> str:
        """A text of the endpoint, cut to 500 characters and without the key, which some endpoints repeat."""
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


def endpoint_settings(prefix: str, model: str = "") -> Endpoint:
    """The endpoint of the environment's <prefix>_BASE_URL, _API_KEY and, unless a model is given, _MODEL; where set,
    with _PRICE_PROMPT and _PRICE_COMPLETION per million tokens, _TIMEOUT seconds per attempt, _ATTEMPTS of them and
    _CONCURRENCY requests at once.

    NotConfigured names what is missing or wrong.
    """
    names = ("BASE_URL", "MODEL", "API_KEY", "PRICE_PROMPT", "PRICE_COMPLETION", "TIMEOUT", "CONCURRENCY", "ATTEMPTS")
    values = {name: os.environ.get(f"{prefix}_{name}", "") for name in names}
    values["MODEL"] = model or values["MODEL"]
    kind = prefix if prefix == "LLM" else prefix.lower()
    missing = [f"{prefix}_{name}" for name in ("BASE_URL", "MODEL") if not values[name]]
    if missing:
        raise NotConfigured(f"no {kind} endpoint is configured: set {' and '.join(missing)}")
    try:
        return Endpoint(
            values["BASE_URL"],
            values["MODEL"],
            values["API_KEY"],
            _prices(prefix, values),
            timeout=float(values["TIMEOUT"] or Endpoint.timeout),
            concurrency=int(values["CONCURRENCY"] or Endpoint.concurrency),
            attempts=int(values["ATTEMPTS"] or Endpoint.attempts),
        )
    except ValueError as error:
        raise NotConfigured(f"the {kind} endpoint's settings are wrong: {error}") from error


def _prices(prefix: str, values: Mapping[str, str]) -> Prices | None:
    """The prices per million tokens; None where none are set. An encoder writes nothing, so its price of reading is
    enough."""
    prompt, completion = values["PRICE_PROMPT"], values["PRICE_COMPLETION"]
    if prefix == "EMBEDDING":
        completion = prompt and "0"
    if bool(prompt) != bool(completion):
        raise NotConfigured(f"set both {prefix}_PRICE_PROMPT and {prefix}_PRICE_COMPLETION, or none of them")
    return Prices(float(prompt), float(completion)) if prompt else None
