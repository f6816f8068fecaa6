"""Asks the probes' questions of a language model, and reads the letter that it answers."""

import re
from collections.abc import Sequence
from functools import partial
from string import ascii_uppercase

from agents.llm.errors import LlmError
from agents.llm.protocol import Llm
from agents.memory.describe import asked_in_words
from agents.prompts.packs import Pack
from agents.world_model.predicting import Prediction
from agents.world_model.records import described, first_lines
from evaluation.probes.steps import ProbedStep

MOST_CHARACTERS = 6_000  # of a page in a question
_cut = partial(first_lines, most=MOST_CHARACTERS)
_LETTER = re.compile(r"answer\W*([A-Z])\b", re.IGNORECASE)
_ALONE = re.compile(r"\b([A-Z])\b")


def pages_chosen(llm: Llm, pack: Pack, steps: Sequence[ProbedStep]) -> list[int | None]:
    """For each step, which of two pages the model takes for the next one (0 or 1); None where its answer cannot be
    read."""
    filled = []
    for step in steps:
        pages = [step.happened.after, step.other_tree]
        first, second = pages if step.true_is_first else pages[::-1]
        filled.append(_asked(step) | {"first": _cut(first), "second": _cut(second)})
    return [_place(answer, 2) for answer in asked_in_words(llm, pack, "probe_pages", filled)]


def actions_chosen(
    llm: Llm, pack: Pack, steps: Sequence[ProbedStep], foreseen: Sequence[Sequence[Prediction]] = ()
) -> list[int | None]:
    """For each step, the place of the action that the model takes for the best; None where its answer cannot be read.
    `foreseen`: what each action is expected to do, which the model is told."""
    filled = []
    for step, predictions in zip(steps, foreseen or [()] * len(steps), strict=True):
        lines = []
        for place, one in enumerate(step.actions):
            lines.append(f"{ascii_uppercase[place]}. {described(one.action, one.tree)}")
            if predictions:
                lines.append(f"   expected: {'; '.join(predictions[place].text.split(chr(10)))}")
        told = {key: value for key, value in _asked(step).items() if key != "action"}
        filled.append(told | {"actions": "\n".join(lines)})
    answers = asked_in_words(llm, pack, "probe_actions", filled)
    return [_place(answer, len(step.actions)) for answer, step in zip(answers, steps, strict=True)]


def _asked(step: ProbedStep) -> dict[str, str]:
    situation = step.happened.situation
    page = _cut(situation.tree)
    return {
        "objective": situation.instruction,
        "observation": page,
        "action": described(situation.action, situation.tree),
    }


def _place(answer: str | LlmError, choices: int) -> int | None:
    """The place of the choice whose letter follows "Answer", or is the only letter of the answer; None for any other
    answer."""
    if isinstance(answer, LlmError):
        return None
    named = _LETTER.findall(answer) or (_ALONE.findall(answer) if len(set(_ALONE.findall(answer))) == 1 else [])
    place = ascii_uppercase.index(named[-1].upper()) if named else choices
    return place if place < choices else None
