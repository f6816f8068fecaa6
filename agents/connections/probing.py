"""The test of a connection: what it answers, how long that takes, and what it can do beyond that.

Every question is small, and all are asked side by side, so that a page can wait for it.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx2
import openai

from agents.llm.calls import Calls, Endpoint
from agents.llm.errors import BadReply
from agents.llm.lanes import in_lanes
from agents.llm.stored_endpoints import endpoint_of
from agents.llm.usage import Usage
from agents.models import Connection
from annotations.text.amounts import amount

MOST_SECONDS = 60.0  # for each question, of a connection that allows more: somebody looks at the page meanwhile
BEGINNING = 40  # characters of an answer that is no JSON
LANES = 6
MAX_SAID = 300
_PNG = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAA"  # the first bytes of PNGs of 16 by 16 pixels
# Pictures of one colour each: a model that names both colours has looked at them.
COLOURS = {
    "red": f"{_PNG}FklEQVR42mO4w8BAEmIY1TCqYfhqAADSz9wBDE0DgAAAAABJRU5ErkJggg==",
    "blue": f"{_PNG}FUlEQVR42mNgYLhDIhrVMKph2GoAABrA3AE9glnoAAAAAElFTkSuQmCC",
}
TOOL = {
    "type": "function",
    "function": {"name": "click", "description": "Click.", "parameters": {"type": "object", "properties": {}}},
}
UNUSABLE = (
    openai.APIError,
    httpx2.HTTPError,
    BadReply,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)
Check = Callable[[Any], str]
"""Why an answer does not show that the endpoint can do it; "" where it does."""


def probe(connection: Connection) -> dict[str, Any]:
    """What a connection answers: {"reply", "seconds", "error"} and, of a language model that answered, "can": {name:
    {"ok", "said"}}. Raises ValueError for a connection that cannot be used."""
    own = endpoint_of(connection)
    endpoint = replace(own, timeout=min(own.timeout, MOST_SECONDS), attempts=1)
    asked = EndpointProbe(endpoint)
    if connection.kind == Connection.Kind.EMBEDDING:
        return asked.outcome(asked.vector)
    found = asked.outcome(asked.plain)
    if not found["error"]:
        names = list(ABILITIES)
        answers = in_lanes(lambda name, _: asked.can(name), names, LANES)
        found["can"] = dict(zip(names, answers, strict=True))
    return found


class EndpointProbe:
    """Asks one endpoint questions; tells what it answered, or why it did not."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.calls = Calls(endpoint, "LLM")
        self.limit = "max_tokens"

    def outcome(self, ask: Callable[[], str]) -> dict[str, Any]:
        begun = time.monotonic()
        try:
            reply, error = ask(), ""
        except UNUSABLE as problem:
            reply, error = "", self._words_of_problem(problem)
        return {"reply": reply[:MAX_SAID], "seconds": round(time.monotonic() - begun, 2), "error": error}

    def plain(self) -> str:
        """The model's reply to a plain question. Newer models refuse `max_tokens`; they are asked again with
        `max_completion_tokens`."""
        try:
            answer = self.complete()
        except openai.BadRequestError as error:
            if "max_completion_tokens" not in self.calls.reason(error):
                raise
            self.limit = "max_completion_tokens"
            answer = self.complete()
        content = _message(answer)["content"]
        if content is None and answer["choices"][0].get("finish_reason") != "length":  # one that thinks needs more room
            raise BadReply("it holds no text")
        return str(content or "")

    def vector(self) -> str:
        calls = self.calls.client.embeddings.with_streaming_response
        asked = {"model": self.endpoint.model, "input": ["hello"], "encoding_format": "float"}
        return f"{len(self._read(calls.create, asked)['data'][0]['embedding'])} dimensions"

    def complete(self, question: Any = "Say hello.", **more: Any) -> Any:
        message = {"role": "user", "content": question}
        values: dict[str, Any] = {"model": self.endpoint.model, "messages": [message], self.limit: 16}
        return self._read(self.calls.client.chat.completions.with_streaming_response.create, values | more)

    def _read(self, create: Callable[..., Any], values: dict[str, Any]) -> Any:
        """The JSON of an answer, read within the time limit however slowly it comes."""
        begun = time.monotonic()
        with create(**values, extra_headers=self.calls.headers) as response:
            content = self.calls.content(response, Usage(), begun)
        try:
            return json.loads(content)
        except ValueError:
            start = " ".join(content[: 4 * BEGINNING].decode("utf-8", "replace").split())[:BEGINNING]
            asks = "is the base URL that of an API, as far as /v1?"
            raise BadReply(f"it is no JSON and begins with “{start}”: {asks}") from None

    def can(self, name: str) -> dict[str, Any]:
        more, check = ABILITIES[name]
        try:
            said = SEVERAL[name](self, more) if name in SEVERAL else check(self.complete(**more))
        except UNUSABLE as problem:
            said = self._words_of_problem(problem)
        return {"ok": not said, "said": said[:MAX_SAID]}

    def _words_of_problem(self, problem: Exception) -> str:
        if isinstance(problem, BadReply | openai.APIError | httpx2.HTTPError):
            return str(self.calls.failure(problem).error)
        return f"the answer cannot be read ({type(problem).__name__})"


def _follows_seeds(asked: EndpointProbe, more: dict[str, Any]) -> str:
    first, second, other = (_message(asked.complete(**more | {"seed": seed}))["content"] for seed in (7, 7, 8))
    if first != second:
        return "the same seed gave two answers"
    return "every seed gave the same answer" if first == other else ""


def _sees(asked: EndpointProbe, more: dict[str, Any]) -> str:
    """What the model said of a picture whose colour it does not name; "" where it names the colours of all. Some
    endpoints ignore pictures and answer all the same, so that an answer alone proves nothing."""
    for colour, picture in COLOURS.items():
        shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
        question = [{"type": "text", "text": "What colour is this picture? Answer with one word."}, shown]
        said = str(_message(asked.complete(question, **more))["content"])
        if colour not in said.lower():
            return f"it said “{said[:60]}” of a picture that is all {colour}"
    return ""


def _two(answer: Any) -> str:
    found = len(answer["choices"])
    return "" if found == 2 else f"{amount(found, 'sample')} in an answer to n=2; it is asked again"


def _logprobs(answer: Any) -> str:
    told = answer["choices"][0].get("logprobs")
    return "" if told and told["content"] else "the answer has none"


def _calls_tool(answer: Any) -> str:
    return "" if _message(answer).get("tool_calls") else "no tool was called"


def _message(answer: Any) -> Any:
    return answer["choices"][0]["message"]


SEVERAL: dict[str, Callable[[EndpointProbe, dict[str, Any]], str]] = {"seeds": _follows_seeds, "images": _sees}
"""What more than one answer tells."""
ABILITIES: dict[str, tuple[dict[str, Any], Check]] = {
    "n": ({"n": 2, "temperature": 1.0}, _two),
    "seeds": ({"temperature": 1.0, "question": "Write five random words."}, lambda answer: ""),
    "logprobs": ({"logprobs": True}, _logprobs),
    "images": ({}, lambda answer: ""),
    "tools": ({"tools": [TOOL], "tool_choice": "required", "question": "Click."}, _calls_tool),
}
"""What is found out: the arguments of the question, and how its answer is read."""
