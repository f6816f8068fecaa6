"""Measures how well each model knows where actions lead, on held-out steps of a dataset (WMA, section 3 and Table
10)."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.llm.protocol import Llm
from agents.memory.fitting import choices_of_train, value_of
from agents.memory.measuring import RETRIEVED, guesses
from agents.memory.transitions import PastTransitions
from agents.memory.written import trained_facts
from agents.prompts.packs import Pack
from agents.world_model.effects import agreement
from agents.world_model.predicting import Prediction
from agents.world_model.valuing import EmbeddedValue
from evaluation.metrics.judged import EstimatedRate, wilson
from evaluation.probes.multiple_choice import actions_chosen, pages_chosen
from evaluation.probes.steps import ProbedStep, probed_steps

CHANCE = "chance"
UNKNOWING = Prediction((), 0.0, 0.0)
EMBEDDED = "embedded value"


@dataclass(frozen=True)
class Probe:
    """The result of one model at one probe. `unread`: answers that named none of the choices, which count as wrong."""

    share: EstimatedRate
    unread: int = 0

    def told(self) -> dict[str, Any]:
        rate = self.share
        return {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n, "unread": self.unread}


@dataclass(frozen=True)
class Probed:
    """The results of all probes on one split, by model."""

    split: str
    steps: int
    pages: dict[str, Probe]  # the true next page of two
    actions: dict[str, Probe]  # the action of ten, without what is expected of each
    actions_foreseen: dict[str, Probe]  # and with it
    coverage: dict[str, float]  # mean share of the true changes that are foretold, of steps that change the page

    def to_dict(self) -> dict[str, Any]:
        told = {
            name: {model: probe.told() for model, probe in getattr(self, name).items()}
            for name in ("pages", "actions", "actions_foreseen")
        }
        return {"split": self.split, "steps": self.steps, **told, "coverage": self.coverage}


def probe(
    past: PastTransitions,
    split: str,
    limit: int | None,
    model: str = "",
    llm: Llm | None = None,
    pack: Pack | None = None,
) -> Probed:
    """Run all probes on the first `limit` steps of a split. `model`: a world model trained here, to be probed too;
    `llm`: a language model that chooses, asked in the words of `pack`."""
    steps = probed_steps(past, split, limit)
    said = _foretold(past, steps, model)
    pairs = [step for step in steps if step.other_tree]
    tens = [step for step in steps if len(step.actions) > 1]
    foreseen = [past.world_model().predict(step.actions) for step in tens]
    pages = {name: _of_two(steps, found) for name, found in said.items()}
    actions, with_pages = _by_value(past, tens, foreseen)
    actions[CHANCE] = Probe(_mean_rate([1 / len(step.actions) for step in tens]))
    if llm is not None and pack is not None:
        name = llm.info.model
        pages[name] = _chosen(pages_chosen(llm, pack, pairs), [0 if step.true_is_first else 1 for step in pairs])
        taken = [step.taken for step in tens]
        actions[name] = _chosen(actions_chosen(llm, pack, tens), taken)
        with_pages[name] = _chosen(actions_chosen(llm, pack, tens, foreseen), taken)
    coverage = {name: _coverage(steps, found) for name, found in said.items()}
    return Probed(split, len(steps), pages, actions, with_pages, coverage)


def _foretold(past: PastTransitions, steps: Sequence[ProbedStep], model: str) -> dict[str, list[Counter[str]]]:
    """The changes that each model, and each guess without knowledge, expects of every step: model -> a counter of
    changes for each step."""
    cases = [step.happened for step in steps]
    situations = [case.situation for case in cases]
    found = guesses(past, cases)
    found[RETRIEVED] = [one.facts for one in past.world_model().predict(situations)]
    if model:
        found[model] = [said or Counter() for said in trained_facts(model, situations)]
    return found


def _of_two(steps: Sequence[ProbedStep], said: Sequence[Counter[str]]) -> Probe:
    """The probe of two pages: chosen is the page whose difference agrees more with what was expected. A tie counts as
    half right."""
    points = []
    for step, expected in zip(steps, said, strict=True):
        if step.other_tree:
            true, other = agreement(expected, step.true), agreement(expected, step.other)
            points.append(float(true > other) if true != other else 0.5)
    return Probe(_mean_rate(points))


def _by_value(
    past: PastTransitions, tens: Sequence[ProbedStep], foreseen: Sequence[Sequence[Prediction]]
) -> tuple[dict[str, Probe], dict[str, Probe]]:
    """The probe of ten actions with the embedded value function: fitted and asked without, and with, what past
    transitions predict."""
    asked, right = choices_of_train(past)
    blind = value_of(asked, [UNKNOWING] * len(asked), right)
    without = [[UNKNOWING] * len(step.actions) for step in tens]
    return (
        {EMBEDDED: Probe(_mean_rate(_best(blind, tens, without)))},
        {EMBEDDED: Probe(_mean_rate(_best(past.value(), tens, foreseen)))},
    )


def _best(value: EmbeddedValue, tens: Sequence[ProbedStep], foreseen: Sequence[Sequence[Prediction]]) -> list[float]:
    """For each step, 1 where the action that was taken has the highest value, else 0; a share in a tie."""
    points = []
    for step, predictions in zip(tens, foreseen, strict=True):
        values = [value.of(*pair) for pair in zip(step.actions, predictions, strict=True)]
        best = max(values)
        points.append((values[step.taken] == best) / values.count(best))
    return points


def _chosen(answers: Sequence[int | None], right: Sequence[int]) -> Probe:
    hits = sum(answer == place for answer, place in zip(answers, right, strict=True))
    return Probe(wilson(hits, len(right)), answers.count(None))


def _mean_rate(points: Sequence[float]) -> EstimatedRate:
    """Wilson's interval for a mean of points in 0..1: it is at least as wide as an interval of such points would be."""
    return wilson(sum(points), len(points))


def _coverage(steps: Sequence[ProbedStep], said: Sequence[Counter[str]]) -> float:
    shares = [
        (expected & step.true).total() / step.true.total()
        for step, expected in zip(steps, said, strict=True)
        if step.true
    ]
    return statistics.fmean(shares) if shares else 0.0
