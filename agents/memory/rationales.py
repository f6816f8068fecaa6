"""Rationales of past steps by a language model: asked for once, stored beside those of people, shown in prompts.

A rationale that a person wrote or corrected always comes first (`agents.observations.newest_rationales`).
"""

from collections.abc import Sequence

from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.prompts.packs import Pack, webnav
from agents.types import DecisionUsage
from agents.words.generator import complete
from agents.words.past_step import RationaleRequest
from annotations.models import Rationale

MAX_TOKENS = 100  # as published (sources.md M5.4)


class RationaleWriter:
    """Asks for the rationales of steps that have none. Without an LLM (`recall.rationales=stored`) it asks nobody."""

    def __init__(self, llm: Llm | None, model: str = "", pack: Pack | None = None) -> None:
        self.llm, self.pack = llm, pack or webnav()
        self.model = model or (llm.info.model if llm else "")
        self._texts: dict[int, str] = {}  # step -> text

    def write(self, requests: Sequence[RationaleRequest]) -> dict[int, tuple[str, DecisionUsage]]:
        """Step -> its rationale and what it took now. Steps are left out whose answer cannot be read."""
        found = {r.step.key: (self._texts[r.step.key], DecisionUsage()) for r in requests if r.step.key in self._texts}
        missing = list({r.step.key: r for r in requests if r.step.key not in found}.values())
        if self.llm is None or not missing:
            return found
        questions = [Request(question(request, self.pack), self.model, max_tokens=MAX_TOKENS) for request in missing]
        rows = []
        for request, reply in zip(missing, complete(self.llm, questions), strict=True):
            if isinstance(reply, LlmError) or not (text := _first_lines(reply.text)):
                continue
            self._texts[request.step.key] = text
            used = reply.usage
            found[request.step.key] = (text, DecisionUsage(1, used.prompt_tokens, used.completion_tokens, used.cost))
            rows.append(
                Rationale(step_id=request.step.key, text=text, source=Rationale.Source.MODEL, model_name=self.model)
            )
        Rationale.objects.bulk_create(rows)
        return found


def question(request: RationaleRequest, pack: Pack) -> tuple[Message, ...]:
    """What a model is asked about a step; as published, worked examples stand before it as if they had been asked
    (sources.md M5.4)."""
    step = request.step
    said = pack.prompt("rationale").messages(
        page=request.page,
        task=step.instruction,
        actions="\n".join(step.past_actions) or "None",
        answer=request.answer,
    )
    return tuple(Message(*message) for message in said)


def _first_lines(text: str) -> str:
    """The rationale without its label and without what a model adds after a blank line."""
    return text.strip().removeprefix("Rationale:").strip().split("\n\n")[0].strip()
