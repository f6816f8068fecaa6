"""The guard on controls in context: small pages with one element and what is done to it, written and labelled by
language models that had not seen the guard, a part of them held back from whoever makes its rules."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agents.environments.pieces import ReadPiece
from agents.guard.judging import judge
from agents.guard.learned import LearnedPart
from agents.guard.policy import KINDS, Risk
from agents.types import Action
from annotations.agreement import cohen, cohen_counts, estimate
from annotations.dom.tree import Element, parse
from evaluation.guard.labels import StepLabels
from evaluation.guard.measuring import GOLDS, Share, shares
from evaluation.models.risk_labels import HARMLESS

PACKAGED = Path(__file__).parent / "control_labels.csv"
PARTS = {
    "odd": "called as no guard by words likes it",
    "develop": "called as is usual",
    "held": "called as is usual; measured unread while the rules were made",
    "learn": "called as is usual",
    "former": "called as is usual; measured unread before the learned part might let anything pass",
    "taught": "called as is usual",
    "test": "called as is usual; neither rules nor the learned part were made by these",
}
"""Whoever changed rules has read what these got wrong, and the learned part was trained on them, but on `test`."""
WRITTEN_BY = "Written and labelled by a language model, labelled again by another that did not see the first labels."
ELEMENT = "t"  # the id of the element in each piece of HTML


@dataclass(frozen=True)
class LabelledControl:
    """A small page, what is done to one element of it, and two labels of that: a kind of risk each, or harmless."""

    key: str
    part: str
    site: str
    html: str
    action: Action  # without the number of its element, which reading the page gives
    labels: StepLabels
    why: str


@dataclass(frozen=True)
class JudgedControl:
    """A labelled control with the risk that the guard finds."""

    control: LabelledControl
    risk: Risk | None

    @property
    def labels(self) -> StepLabels:
        return self.control.labels

    @property
    def is_held(self) -> bool:
        return self.risk is not None

    def told(self) -> dict[str, Any]:
        one = self.control
        place = {"key": one.key, "part": one.part, "site": one.site, "operation": one.action.operation}
        return place | vars(one.labels) | {"why": one.why, "held": self.risk.why if self.risk else ""}


@cache
def packaged_controls() -> tuple[LabelledControl, ...]:
    """The packaged controls in order. ValueError where the file names no kind of risk, or no part."""
    with PACKAGED.open(newline="", encoding="utf-8") as file:
        return tuple(_control(row) for row in csv.DictReader(file))


def _control(row: dict[str, str]) -> LabelledControl:
    labels = StepLabels(row["reader_a"], row["reader_b"])
    unknown = ({labels.first, labels.second} - {HARMLESS, *KINDS}) | ({row["part"]} - PARTS.keys())
    if unknown:
        raise ValueError(f"{PACKAGED.name}, {row['id']}: {min(unknown)!r} is no part or kind of risk")
    action = Action(row["operation"], None, row["value"])
    return LabelledControl(row["id"], row["part"], row["site"], row["html"], action, labels, row["why"])


def read_control(control: LabelledControl, read: Callable[[str, str], ReadPiece]) -> tuple[Element, Action]:
    """The page of a control as `read` reads it, and what is done on it."""
    seen = read(control.html, ELEMENT)
    return parse(seen.page), Action(control.action.operation, seen.node_id, control.action.value)


def judged_controls(
    controls: Iterable[LabelledControl],
    read: Callable[[str, str], ReadPiece],
    learned: LearnedPart | None = None,
) -> Iterator[JudgedControl]:
    """The guard's verdict on each control, on its page as `read` reads it, by no rule of a policy."""
    for one in controls:
        root, action = read_control(one, read)
        yield JudgedControl(one, judge(root, action, learned=learned).risk)


def controls_report(judged: Sequence[JudgedControl]) -> dict[str, Any]:
    """The report as JSON: by part how far the labels agree, recall and false alarms, recall by kind of risk, and what
    is missed or held up for nothing."""
    parts = {part: [one for one in judged if one.control.part == part] for part in PARTS}
    return {
        "controls": len(judged),
        "parts": {part: _part(own) for part, own in parts.items() if own},
        "missed": [one.told() for one in judged if any(one.labels.risky) and not one.is_held],
        "false_alarms": [one.told() for one in judged if not any(one.labels.risky) and one.is_held],
    }


def _part(judged: Sequence[JudgedControl]) -> dict[str, Any]:
    counts = {one.control.key: cohen_counts([one.labels.risky]) for one in judged}
    kappa = estimate(counts, cohen, len(judged))
    return {
        "controls": len(judged),
        "disputed": sum(one.labels.are_disputed for one in judged),
        "kappa": {"value": kappa.value, "low": kappa.low, "high": kappa.high},
        **{gold: shares(judged, counted) for gold, (_, counted) in GOLDS.items()},
        "recall_by_kind": {kind: _recall_of(judged, kind).told() for kind in KINDS},
    }


def _recall_of(judged: Sequence[JudgedControl], kind: str) -> Share:
    """How many of those that both call risky, and the first this kind of risk, are held, whatever kind they are called
    then."""
    own = [one for one in judged if all(one.labels.risky) and one.labels.first == kind]
    return Share(sum(one.is_held for one in own), len(own))
