"""The prompts of planners, and how a language model answers them. Core.

A planner makes a prompt and reads the text of the answer; a generator has it answered, by weights in this process or by
an endpoint.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agents.llm.errors import BadReply, LlmError, RequestRefused
from agents.llm.protocol import GREEDY, Llm, Reply, Request, Sampling
from agents.llm.protocol import Message as ChatMessage
from agents.llm.tokens import counter
from agents.types import DecisionUsage, Image
from agents.words.sequence import PagePart


@dataclass(frozen=True)
class PagePrompt:
    """A prompt in the form of MindAct and Self-MAP: earlier pages with their answers, the current page and the
    question.

    `openings`: the beginnings that an answer may have, for constrained decoding; one that ends in a space is followed
    by any text. `spoken` False: local models read page and question without speakers, and nothing before them where
    `system` is empty.
    """

    current: tuple[PagePart, ...]
    system: str
    history: tuple[PagePart, ...] = ()
    openings: tuple[str, ...] = ()
    image: Image | None = None
    spoken: bool = True

    def chat(self) -> tuple[ChatMessage, ...]:
        """The prompt as chat messages; page and question are one message of the user."""
        messages = [ChatMessage("system", self.system.strip())] if self.system else []
        page = ""
        for message in (*self.history, *self.current):
            if message.sender == "webpage":
                page = f"'''\n{message.text}\n'''\n\n" if message.text else ""
            elif message.sender == "human":
                messages.append(ChatMessage("user", f"{page}{message.text}"))
            elif message.text.strip():
                messages.append(ChatMessage("assistant", message.text))
        if self.image is not None:
            messages[-1] = ChatMessage("user", messages[-1].content, (self.image,))
        return tuple(messages)


@dataclass(frozen=True)
class ChatPrompt:
    """A prompt as messages. `flat`: the published form for models that read one text, "" where there is none. `form`: a
    pattern of the answers that can be read, to which small models are held."""

    messages: tuple[ChatMessage, ...]
    stop: tuple[str, ...] = ()
    flat: str = ""
    form: str = ""

    def chat(self) -> tuple[ChatMessage, ...]:
        return self.messages


PlannerPrompt = PagePrompt | ChatPrompt
CUT = "[…]"  # stands in a trace where something of a prompt was cut before a model read it


@dataclass(frozen=True)
class Generated:
    """An answer, the prompt as it was read, and its usage. With an `error` the text is empty. `others`: the further
    samples, where several were drawn. `sent`: a page prompt of which parts were cut, as the model read it, with CUT
    where it was; None where it read all. `model`: who answered, as an endpoint names it; "" of weights here."""

    text: str
    prompt: str
    usage: DecisionUsage
    error: str = ""
    others: tuple[str, ...] = ()
    sent: PagePrompt | None = None
    model: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All samples, in the order in which they were drawn; none with an error."""
        return () if self.error else (self.text, *self.others)


class Generator(Protocol):
    """Answers prompts, in order. Raises `LlmError` where trying again later may work, or when a budget is used up.

    `sampling` replaces the recipe's sampling for one call, to draw several samples of a prompt, say.
    """

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: Sampling | None = None) -> list[Generated]: ...

    def count_tokens(self, text: str) -> int: ...


def transcript(messages: Sequence[ChatMessage]) -> str:
    """Messages as one readable text."""
    return "\n\n".join(f"{message.role}: {message.content}" for message in messages)


class ChatGenerator:
    """Asks a language model by its `Llm`, in batches. `model` "": the one that the `Llm` has."""

    def __init__(
        self,
        llm: Llm,
        model: str = "",
        max_tokens: int = 100,
        sampling: Sampling = GREEDY,
    ) -> None:
        self.llm = llm
        self.model = model or llm.info.model
        self.max_tokens, self.sampling = max_tokens, sampling

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: Sampling | None = None) -> list[Generated]:
        drawn = sampling or self.sampling
        requests = [self.request(prompt, drawn) for prompt in prompts]
        replies = complete(self.llm, requests)
        return [
            replace(_generated(request, reply), sent=self.sent(prompt))
            for prompt, request, reply in zip(prompts, requests, replies, strict=True)
        ]

    def sent(self, prompt: PlannerPrompt) -> PagePrompt | None:
        """A page prompt as the model was sent it, where parts were cut: an endpoint is sent all."""
        return None

    def request(self, prompt: PlannerPrompt, drawn: Sampling) -> Request:
        """The request that carries a prompt to the model: its messages, and how replies are drawn."""
        stop = prompt.stop if isinstance(prompt, ChatPrompt) else ()
        temperature, top_p = drawn.temperature, drawn.top_p
        return Request(prompt.chat(), self.model, temperature, self.max_tokens, stop, drawn.n, drawn.seed, top_p)

    def count_tokens(self, text: str) -> int:
        """The tokens of a text: exact where the model's tokenizer is known, else an estimate that is rather too
        high."""
        return counter(self.model).count(text)


def complete(llm: Llm, requests: list[Request]) -> list[Reply | LlmError]:
    """The answers. Raises the first error that may pass (server down, rate limit) or that ends everything (budget,
    configuration); answers given before are in the reply cache, so they are not paid for twice."""
    replies = llm.complete(requests)
    for reply in replies:
        if isinstance(reply, LlmError) and not isinstance(reply, BadReply | RequestRefused):
            raise reply
    return replies


def _generated(request: Request, reply: Reply | LlmError) -> Generated:
    calls = reply.requests if isinstance(reply, Reply) else 1
    usage = DecisionUsage(calls, reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cost)
    if isinstance(reply, LlmError):
        return Generated("", transcript(request.messages), usage, str(reply))
    return Generated(reply.text, transcript(request.messages), usage, others=reply.texts[1:], model=reply.model)
