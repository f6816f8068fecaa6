"""Trains the learned part of the guard on labelled controls and steps, and tries it on those that it did not see."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from agents.environments.pieces import ReadPiece
from agents.guard.judging import judge, weighed
from agents.guard.learned import NUMBERS, LearnedPart
from agents.guard.policy import KINDS, Risk
from agents.guard.pressing import SURE_KINDS
from agents.types import Action
from annotations.dom.tree import Element
from evaluation.guard.controls import LabelledControl, read_control
from evaluation.guard.labels import StepLabels
from evaluation.guard.measuring import GuardMeasurement, Share, labelled_steps

WEIGHTS = dict.fromkeys(("develop", "held", "learn", "former", "taught"), 1.0) | {"odd": 0.5, "sample": 0.5}
"""Parts learned of, by how much."""
LEAST = 3  # examples that have a piece of evidence; rarer ones are left out
STRENGTH = 2.6  # the larger, the less the numbers are held small
HOLDS_FROM = 0.5  # of a control that the rules let pass
PASSES_BELOW = 0.05  # of one that they hold
SMALL = 0.004  # numbers below are left out of the file
FOLDS = 10


@dataclass(frozen=True)
class LearnedExample:
    """What speaks for or against the risk of a labelled use of a control, and the risk that the rules see. `group`:
    examples of one are tried together."""

    part: str
    group: str
    labels: StepLabels
    evidence: Mapping[str, float]
    by_rules: Risk | None

    @property
    def kind(self) -> str:
        """The class that its labels say; of two kinds of risk the first."""
        return self.labels.first if all(self.labels.risky) else ""

    def is_held(self, chance: float) -> bool:
        if self.by_rules is not None and (not self.evidence or self.by_rules.kind in SURE_KINDS):
            return True
        return bool(self.evidence) and chance >= (HOLDS_FROM if self.by_rules is None else PASSES_BELOW)


def of_controls(controls: Iterable[LabelledControl], read: Callable[[str, str], ReadPiece]) -> Iterator[LearnedExample]:
    """Labelled controls as examples, of their pages as `read` reads them: each is a group of its own."""
    for one in controls:
        if one.part in WEIGHTS:
            root, action = read_control(one, read)
            yield _example(one.part, f"{one.part} {one.key}", root, action, one.labels)


def of_steps(measurement: GuardMeasurement) -> Iterator[LearnedExample]:
    """The labelled steps of a dataset (the sample) as examples, those of a website as one group."""
    for website, seen, action, labels in labelled_steps(measurement):
        if seen.root is not None:
            yield _example("sample", website, seen.root, action, labels)


def _example(part: str, group: str, root: Element, action: Action, labels: StepLabels) -> LearnedExample:
    return LearnedExample(part, group, labels, weighed(root, action), judge(root, action).risk)


def learned_from(examples: Iterable[LearnedExample]) -> list[LearnedExample]:
    """The examples that count for the numbers: on whose risk the labels agree, and that have evidence."""
    return [one for one in examples if one.part in WEIGHTS and not one.labels.are_disputed and one.evidence]


def train(examples: Sequence[LearnedExample]) -> dict[str, tuple[float, ...]]:
    """The numbers of each piece of evidence, by two logistic regressions with numbers held small, of the risk and, of
    what is risky, of its kind; the same each time."""
    own = learned_from(examples)
    counted = Counter(piece for one in own for piece in one.evidence)
    pieces = sorted(piece for piece, count in counted.items() if count >= LEAST)
    risky = [one for one in own if one.kind]
    risk = _fitted(own, pieces, [int(bool(one.kind)) for one in own])
    kinds = _fitted(risky, pieces, [[*KINDS].index(one.kind) for one in risky])
    rows = np.round(np.column_stack([risk[:, 1] - risk[:, 0], kinds]), 3)
    kept = np.abs(rows).max(axis=1) >= SMALL
    return {piece: tuple(row.tolist()) for piece, row, keep in zip(pieces, rows, kept, strict=True) if keep}


def _fitted(examples: Sequence[LearnedExample], pieces: Sequence[str], classes: Sequence[int]) -> np.ndarray:
    """A number for each piece of evidence and each class, shape (pieces, classes)."""
    matrix, count = _matrix(examples, pieces), max(classes) + 1
    gold = np.eye(count)[classes]
    share = np.array([WEIGHTS[one.part] for one in examples])[:, None]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(len(pieces), count)
        sums = matrix @ weights
        sums -= sums.max(axis=1, keepdims=True)
        logs = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        slope = matrix.T @ (share * (np.exp(logs) - gold)) + weights / STRENGTH
        return float(-(share * gold * logs).sum() + (weights**2).sum() / 2 / STRENGTH), slope.ravel()

    found = minimize(loss, np.zeros(len(pieces) * count), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x.reshape(len(pieces), count)


def _matrix(examples: Sequence[LearnedExample], pieces: Sequence[str]) -> csr_matrix:
    place = {piece: number for number, piece in enumerate(pieces)}
    cells = [
        (row, place[piece], amount)
        for row, one in enumerate(examples)
        for piece, amount in one.evidence.items()
        if piece in place
    ]
    rows, columns, amounts = zip(*cells, strict=True)
    return csr_matrix((amounts, (rows, columns)), shape=(len(examples), len(pieces)))


def tried(examples: Sequence[LearnedExample], folds: int = FOLDS) -> Iterator[tuple[LearnedExample, float]]:
    """Each example with the chance of a risk that numbers give it which were trained without any of its group."""
    fold_of = {group: fold for fold, group in _dealt(examples, folds)}
    for fold in range(folds):
        own = [one for one in examples if fold_of[one.group] == fold]
        if own:
            part = LearnedPart(
                train([one for one in examples if fold_of[one.group] != fold]), HOLDS_FROM, PASSES_BELOW, {}
            )
            yield from ((one, part.chance(one.evidence)) for one in own)


def _dealt(examples: Sequence[LearnedExample], folds: int) -> Iterator[tuple[int, str]]:
    """A fold for each group, by a draw that is always the same."""
    groups = sorted({one.group for one in examples}, key=lambda group: sha256(group.encode()).hexdigest())
    yield from ((number % folds, group) for number, group in enumerate(groups))


def trial(examples: Sequence[LearnedExample]) -> dict[str, dict[str, Any]]:
    """By part, recall and false alarms by the rules alone and with numbers that had not seen the example's group."""
    found: dict[str, dict[str, Any]] = {}
    judged = list(tried([one for one in examples if not one.labels.are_disputed]))
    for part in dict.fromkeys(one.part for one, _ in judged):
        own = [(one, chance) for one, chance in judged if one.part == part]
        found[part] = {
            "rules": _shares([(one, one.by_rules is not None) for one, _ in own]),
            "learned": _shares([(one, one.is_held(chance)) for one, chance in own]),
        }
    return found


def _shares(held: Sequence[tuple[LearnedExample, bool]]) -> dict[str, Any]:
    risky = [is_held for one, is_held in held if one.kind]
    harmless = [is_held for one, is_held in held if not one.kind]
    told = {"recall": risky, "false_alarms": harmless}
    return {name: Share(sum(own), len(own)).told() for name, own in told.items()}


def write(path: Path, weights: Mapping[str, tuple[float, ...]], examples: Sequence[LearnedExample]) -> None:
    """The numbers as a file, a line for each piece of evidence, with what they were trained on."""
    own = learned_from(examples)
    learned_of = dict(sorted(Counter(one.part for one in own).items()))
    told = {"learned_of": learned_of, "holds_from": HOLDS_FROM, "passes_below": PASSES_BELOW, "numbers": NUMBERS}
    head = json.dumps(told, ensure_ascii=False)
    lines = (f"{json.dumps(piece, ensure_ascii=False)}:{_row(row)}" for piece, row in weights.items())
    path.write_text(f'{head[:-1]}, "weights": {{\n' + ",\n".join(lines) + "\n}}\n", "utf-8")


def _row(row: Sequence[Any]) -> str:
    return json.dumps(row, separators=(",", ":"))
