"""Scanners of failures that ask a language model; `ASKING` names them all. They run only where somebody starts a job
for it, and people's reviews say how often they are right, as of rules. Core."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.llm.usage import Usage
from annotations import extensions
from annotations.dom.text import page_text
from evaluation.asking.definition import PAGE_CHARACTERS, REASONS, AskedModel, Demand, bounded, last_match
from evaluation.scanners.step import FailedStep

PART = 2_000  # characters of each of instruction, reply and actions
MANY = 4_000  # of what was asked or done before, the last ones
LIST = 8_000  # of all reasons together
AROUND = 2_000  # our words
REPLY = 200  # tokens: a sentence and a number
_CHOICE = re.compile(r"reason\W{0,5}(\d{1,3})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Explanation:
    """What such a scanner says of a failed step. `reason` "": none of those that it could choose; `error`: it gave no
    usable answer and is to be asked again."""

    reason: str = ""
    said: str = ""
    usage: Usage = field(default_factory=Usage)
    error: str = ""


class AskingScanner:
    """A way to have a language model say why a step failed; a class derives from it for each."""

    label = ""
    texts: tuple[str, ...] = ()  # of a prompt pack

    def demand(self) -> Demand:
        """What it asks of one step, at most."""
        raise NotImplementedError

    def explain(self, step: FailedStep, reasons: Sequence[str], panel: AskedModel) -> Explanation:
        """Which of these reasons, by which people speak in reviews, explains the step. May raise LlmError."""
        raise NotImplementedError


class ReasonScanner(AskingScanner):
    """Asks one question of a failed step: which reason of the list fits, or none, with one sentence."""

    label = "language model, by the list of reasons"
    texts = ("scan_reason",)

    def demand(self) -> Demand:
        return Demand(1, AROUND + 4 * PART + 2 * MANY + PAGE_CHARACTERS + LIST)

    def explain(self, step: FailedStep, reasons: Sequence[str], panel: AskedModel) -> Explanation:
        listed = _fitting(reasons)
        question = {
            "instruction": step.instruction[:PART],
            "earlier": "\n".join(step.earlier)[-MANY:] or "nothing",
            "before": "\n".join(action.words or action.kind for action in step.before)[-MANY:] or "nothing",
            "done": (step.done.words or step.error or "nothing")[:PART],
            "reply": (step.reply or "not stored")[:PART],
            "gold": step.gold.words[:PART],
            "page": bounded("" if step.root is None else page_text(step.root)) or "not stored",
            "reasons": "\n".join(f"{place}. {text}" for place, text in enumerate(listed, 1)),
        }
        form = f"{REASONS}Reason: ({'|'.join(map(str, range(len(listed) + 1)))})"
        reply = panel.ask("scan_reason", [question], REPLY, form)[0].strip()
        number = last_match(_CHOICE, reply)
        if number is None or int(number) > len(listed):
            return Explanation("", reply, panel.usage, "The reply names no reason of the list.")
        said = _CHOICE.sub("", reply).strip(' \n."“”*')
        return Explanation(listed[int(number) - 1] if int(number) else "", said, panel.usage)


def _fitting(reasons: Sequence[str]) -> list[str]:
    """The first reasons that fit together into LIST characters."""
    kept, left = [], LIST
    for text in reasons:
        left -= len(text) + len("999. \n")
        if left < 0:
            break
        kept.append(text)
    return kept


ASKING: dict[str, AskingScanner] = {"reason": ReasonScanner()}
# By other packages; ours cannot be replaced.
ADDED = extensions.load_into(ASKING, extensions.ASKING_SCANNERS, lambda scanner: scanner())
