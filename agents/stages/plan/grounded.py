"""The untrained planner: the operation follows from the element, the value is copied from the instruction. Core."""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from agents.encoders.embedding import Encoder
from agents.types import Action, Observation
from agents.words.values import PLACEHOLDER, best_option, candidate_values, words
from annotations.dom.elements import DescribedElement

TYPED_ROLES = frozenset({"textbox", "searchbox", "spinbutton"})
CHOSEN_ROLES = frozenset({"combobox", "listbox"})
NAMED = 0.5  # overlap from which an option counts as named
ANNOUNCED = 0.3  # for a value right after the label's own words ("from Arlen Bridge")


@dataclass(frozen=True)
class GroundedPlan:
    """An action, and for each of its parts why it was chosen, in words."""

    action: Action
    why: dict[str, str]


PlanSteps = Generator[list[str], np.ndarray, GroundedPlan]
"""A plan being made: gives the texts that it compares and is sent their vectors."""


def operation_of(element: DescribedElement) -> str:
    """SELECT for lists of options, TYPE for text fields, CLICK for everything else."""
    if element.tag == "select" or (element.role in CHOSEN_ROLES and element.options):
        return "SELECT"
    if (
        element.role in TYPED_ROLES
        or element.tag == "textarea"
        or (element.role == "combobox" and element.tag == "input")
    ):
        return "TYPE"
    return "CLICK"


def plan_all(plans: Sequence[PlanSteps], encoder: Encoder) -> list[GroundedPlan]:
    """Run several plans side by side, so that the texts that they compare are encoded together."""
    done: dict[int, GroundedPlan] = {}
    vectors: dict[str, np.ndarray] = {}
    waiting: dict[int, list[str]] = {place: [] for place in range(len(plans))}
    while waiting:
        asked = {}
        for place, texts in waiting.items():
            try:
                known = [vectors[text] for text in texts]
                asked[place] = plans[place].send(np.stack(known)) if known else next(plans[place])
            except StopIteration as end:
                done[place] = end.value
        if new := list(dict.fromkeys(text for texts in asked.values() for text in texts if text not in vectors)):
            vectors |= zip(new, encoder.encode(new), strict=True)
        waiting = asked
    return [done[place] for place in range(len(plans))]


def plan(element: DescribedElement, observation: Observation, recalled: Sequence[str] = ()) -> PlanSteps:
    """Act on the chosen element. `recalled`: instructions of earlier turns, searched when this one names no value."""
    operation = operation_of(element)
    if operation == "CLICK":
        return GroundedPlan(
            Action("CLICK", element.node_id), {"operation": f"{_with_article(element.role or element.tag)} is clicked"}
        )
    sources = [observation.instruction, *recalled]
    used = [past.value for past in observation.turn_actions if past.value]
    if operation == "SELECT":
        value, why = yield from _option(element, sources)
    else:
        value, why = yield from _typed(element, sources, used)
    reason = {"operation": f"{_with_article(element.role or element.tag)} takes {operation}", "value": why}
    return GroundedPlan(Action(operation, element.node_id, value), reason)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def _where(number: int) -> str:
    return "the instruction" if number == 0 else "an earlier instruction"


ValueSteps = Generator[list[str], np.ndarray, tuple[str, str]]
"""A value and why, found as `PlanSteps`."""


def _option(element: DescribedElement, sources: Sequence[str]) -> ValueSteps:
    """An option that is named (now or earlier), else the one nearest in meaning to the instruction."""
    texts = [text for _, text in element.options]
    for number, source in enumerate(sources):
        found = best_option(texts, source)
        if found is not None and found[1] >= NAMED:
            return texts[found[0]], f"option named in {_where(number)} (overlap {found[1]:.2f})"
    offered = [text for text in texts if not PLACEHOLDER.search(text)] or texts
    if not offered:
        return "", "the list has no options in the page"
    vectors = yield [sources[0], *(f"{element.name} {text}" for text in offered)]
    scores = vectors[1:] @ vectors[0]
    best = int(np.argmax(scores))
    return offered[best], f"no option is named; nearest in meaning ({scores[best]:.2f})"


def _typed(element: DescribedElement, sources: Sequence[str], used: Sequence[str]) -> ValueSteps:
    label = element.name or element.text
    for number, source in enumerate(sources):
        spans = candidate_values(source, used, label)
        if not spans:
            continue
        if len(spans) == 1:
            return _part(spans[0], label), f"the only fitting value in {_where(number)}"
        vectors = yield [label, *(f"{' '.join(_before(source, span))} {span}".strip() for span in spans)]
        scores = vectors[1:] @ vectors[0]
        announced = set(words(label))
        scores += ANNOUNCED * np.array([bool(announced & set(_before(source, span)[-2:])) for span in spans])
        best = int(np.argmax(scores))
        why = f"of {len(spans)} values in {_where(number)} nearest to “{label}” ({scores[best]:.2f})"
        return _part(spans[best], label), why
    return "", "no instruction names a value"


def _before(source: str, span: str) -> list[str]:
    """The three words before a span, in lower case: they say what it is ("the password V8WJY")."""
    return words(source[: max(0, source.find(span))])[-3:]


def _part(value: str, label: str) -> str:
    """The half of a full name that a label asks for."""
    parts = value.split()
    if len(parts) == 2 and re.search(r"\b(?:first|given)\s+name", label, re.I):
        return parts[0]
    if len(parts) == 2 and re.search(r"\b(?:last|family|sur)\s*name", label, re.I):
        return parts[1]
    return value
