"""A language model behind any OpenAI-compatible endpoint. Core."""

import re
import threading
import time
from dataclasses import replace

import httpx2
import openai

from agents.llm import chat_format
from agents.llm.calls import Calls, Endpoint, Failure, endpoint_settings
from agents.llm.errors import BadReply, LlmError, OneAtATime, Unreachable
from agents.llm.lanes import in_lanes
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Usage
from annotations.monitor.spans import span

ONE_SAMPLE = re.compile(r"\bn\b|\b(one|single) (completion|choice)")  # how endpoints word that they refuse n


class ChatLlm:
    """A client of one endpoint; may be shared by threads. `concurrency` holds over all of its calls together."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._calls = Calls(endpoint, "LLM")
        # Requests may name the connection, whose model may be changed: what was kept is told apart by the model then.
        identity = f"{self._calls.address} {endpoint.model}" if endpoint.name else self._calls.address
        self.info = LlmInfo(identity, endpoint.model, endpoint.prices, lanes=endpoint.concurrency)
        self._limit_names: dict[str, str] = {}  # per model, where it is not max_tokens
        self._at_once: dict[str, int] = {}  # per model, where it gives only so many samples in one answer

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        name, model = self.endpoint.name, self.endpoint.model
        asked = [replace(one, model=model) if name and one.model == name else one for one in requests]
        return in_lanes(self._ask, asked, self.endpoint.concurrency)

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
            answers = in_lanes(
                lambda part, _: self._calls.repeat(lambda: self._attempt(part), stop), parts, self.endpoint.concurrency
            )
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
        return Reply(texts, usage, replies[0].model, reasons, time.monotonic() - started, len(replies))

    def _parts(self, request: Request, done: int) -> list[Request]:
        """The requests that together give the samples from number `done` on, each of as many samples as the endpoint
        gives at once. A seeded request gets a seed of its own in each."""
        most = self._at_once.get(request.model, request.n)
        return [
            replace(
                request, n=min(most, request.n - first), seed=None if request.seed is None else request.seed + first
            )
            for first in range(done, request.n, most)
        ]

    def _attempt(self, request: Request) -> Reply | Failure:
        started = time.monotonic()
        values = chat_format.body(request, self._limit_names.get(request.model, "max_tokens"))
        try:
            calls = self._calls.client.chat.completions.with_streaming_response
            with calls.create(**values, extra_headers=self._calls.headers, timeout=self._calls.timeout) as response:
                content = self._calls.content(response, chat_format.unread(request, self.endpoint.prices), started)
            return chat_format.read(content, request, self.endpoint.prices, time.monotonic() - started)
        except openai.APIStatusError as error:
            return self._other_wording(error, request) or self._calls.failure(error)
        except (BadReply, openai.APIError, httpx2.HTTPError) as error:
            return self._calls.failure(error)

    def _other_wording(self, error: openai.APIStatusError, request: Request) -> Failure | None:
        """The failure of a request that the endpoint refused for its form, to be sent in another form from now on; None
        where it refused the content."""
        status, reason, name = error.status_code, self._calls.reason(error), self._calls.name
        if status == 400 and "max_completion_tokens" in reason and request.model not in self._limit_names:
            self._limit_names[request.model] = "max_completion_tokens"  # newer models refuse the older name
            return Failure(Unreachable(f"{name} wants another name for max_tokens"), asked_wait=0.0)
        if status in (400, 422) and request.n > 1 and ONE_SAMPLE.search(reason):
            return Failure(OneAtATime(f"{name} gives one sample at a time: {reason}"), passing=False)
        return None


def from_environment() -> ChatLlm:
    """The endpoint of the settings LLM_…, as `endpoint_settings` says."""
    return ChatLlm(endpoint_settings("LLM"))
