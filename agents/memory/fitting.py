"""What is fitted on the transitions of a dataset: how sure retrieval may be, and the weights of the embedded value.

Fitted on steps of the dev split, where there is one; else on train steps, each without its own conversation.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any, NamedTuple

from agents.memory.transitions import Happened, PastTransitions
from agents.models import WorldModelFit
from agents.types import Action
from agents.world_model.calibration import Calibration, bins, calibration_error, error_by_chance, fitted
from agents.world_model.effects import facts, happenings
from agents.world_model.predicting import Prediction, RetrievedEffects, Situation
from agents.world_model.valuing import NAMES, EmbeddedValue, features, fitted_value
from annotations.dom.differences import difference
from annotations.dom.roles import INTERACTIVE_ROLES
from annotations.models import Split

CASES = 300  # steps that a confidence is fitted on
POINTS = 20  # of a smooth curve, as it is stored
VALUED = 120  # steps that the value is fitted on
PARTS = 5  # of conversations, each of which is held out once
OTHERS = 4  # other actions on the page of each of them
TYPED = ("textbox", "searchbox", "spinbutton")
SEED = 0


def fit_world_model(past: PastTransitions) -> WorldModelFit:
    """Fit the confidence and the value on a dataset's transitions and store them, in the place of what was fitted
    before."""
    cases = [found for _, found in past.recorded(Split.DEV, CASES)]
    split = Split.DEV if cases else Split.TRAIN
    if not cases:
        cases = [found for _, found in past.recorded(Split.TRAIN, CASES)]
    world = RetrievedEffects(past)
    known = judged(world, cases)
    strange = judged(RetrievedEffects(PastTransitions(past.dataset, past.encoder, own_website=False)), cases)
    curve = fitted([one.raw for one in known], [one.right for one in known])
    elsewhere = smooth([one.raw for one in (*known, *strange)], [one.right for one in (*known, *strange)])
    value = _value(past, replace(world, calibration=curve, elsewhere=elsewhere))
    right = [one.right for one in known]
    measured: dict[str, Any] = {"split": str(split), "cases": len(known), "right": sum(right)}
    if known:
        told = [curve.of(one.raw) for one in known]
        measured |= {
            "calibration_error": calibration_error(told, right),
            "bins": [[one.confidence, one.share, one.count] for one in bins(told, right)],
            "held_out": _held_out(known, strange),
        }
    found, _ = WorldModelFit.objects.update_or_create(
        dataset=past.dataset,
        encoder=past.encoder.name,
        defaults={
            "transitions": past.dataset.transitions.count(),
            "calibration": {"known": asdict(curve), "elsewhere": asdict(elsewhere)},
            "value": {"names": list(NAMES), "weights": list(value.weights), "bias": value.bias},
            "measured": measured,
        },
    )
    return found


class JudgedPrediction(NamedTuple):
    """The share of past cases that said what was predicted of a step, whether it was right, and where the step is."""

    raw: float
    right: bool
    conversation: int
    website: str


def judged(world: RetrievedEffects, cases: Sequence[Happened]) -> list[JudgedPrediction]:
    """The predictions of a world model at steps, with whether each was right. One that follows from no past case claims
    nothing, so that there is nothing to fit of it: it is left out."""
    predictions = world.predict([case.situation for case in cases])
    return [
        JudgedPrediction(one.raw, is_right(one, case), case.situation.conversation, case.situation.website)
        for one, case in zip(predictions, cases, strict=True)
        if one.cases
    ]


def _held_out(known: Sequence[JudgedPrediction], strange: Sequence[JudgedPrediction]) -> dict[str, Any]:
    """How good both confidences are where they were not fitted: at other conversations, and at other websites."""
    by_site = [[Case(one.raw, one.right, one.website) for one in rows] for rows in (known, strange)]
    by_conversation = [Case(one.raw, one.right, one.conversation) for one in known]
    return {
        "known": held_out(by_conversation, fitted, parts=PARTS),
        "elsewhere": held_out(by_site[1], smooth, also=by_site[0]),
    }


@dataclass(frozen=True)
class Case:
    """A prediction that a confidence is fitted on. `group`: its conversation or website, which is held out whole."""

    raw: float
    right: bool
    group: Hashable


def held_out(
    cases: Sequence[Case],
    fit: Callable[[Sequence[float], Sequence[bool]], Calibration],
    *,
    also: Sequence[Case] = (),
    parts: int | None = None,
) -> dict[str, Any] | None:
    """How good a confidence is where it was not fitted: each group's cases by the curve of the other groups, in `parts`
    parts where that is given. `also`: further cases that it is fitted on. None with one group, as nothing is left."""
    groups = sorted({case.group for case in cases}, key=str)
    if len(groups) < 2:
        return None
    part_of = {group: place % (parts or len(groups)) for place, group in enumerate(groups)}
    told: list[float] = []
    right: list[bool] = []
    for part in sorted(set(part_of.values())):
        others = [case for case in (*cases, *also) if part_of.get(case.group) != part]
        curve = fit([case.raw for case in others], [case.right for case in others])
        own = [case for case in cases if part_of[case.group] == part]
        told += [curve.of(case.raw) for case in own]
        right += [case.right for case in own]
    return {
        "cases": len(told),
        "right": sum(right),
        "confidence": sum(told) / len(told),
        "calibration_error": calibration_error(told, right),
        "error_by_chance": error_by_chance(told),
    }


def smooth(raw: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The curve by logistic regression. Unlike the isotonic one it has two parameters, which hold for websites that are
    unlike those it is fitted on. Where all are right, or none, there is nothing to regress: isotonic then."""
    found = fitted_value([[one] for one in raw], right)
    if not found.weights:
        return fitted(raw, right)
    points = [place / POINTS for place in range(POINTS + 1)]
    (slope,) = found.weights
    return Calibration(tuple(points), tuple(1 / (1 + math.exp(-slope * one - found.bias)) for one in points))


def is_right(prediction: Prediction, case: Happened) -> bool:
    """Whether all that happened was predicted, and nothing else."""
    return prediction.facts == facts(happenings(difference(case.situation.tree, case.after)))


def _value(past: PastTransitions, world: RetrievedEffects) -> EmbeddedValue:
    """The weights of the embedded value, fitted to tell the action taken at a train step from others on its page."""
    asked, right = choices_of_train(past)
    return value_of(asked, world.predict(asked), right)


def choices_of_train(past: PastTransitions) -> tuple[list[Situation], list[bool]]:
    """Actions that were taken at train steps, with others on their pages, and of each whether it was taken."""
    rng = Random(SEED)
    asked: list[Situation] = []
    right: list[bool] = []
    for _, case in past.recorded(Split.TRAIN, VALUED):
        others = other_actions(case.situation, rng, OTHERS)
        asked += [case.situation, *others]
        right += [True, *[False] * len(others)]
    return asked, right


def value_of(asked: Sequence[Situation], told: Sequence[Prediction], right: Sequence[bool]) -> EmbeddedValue:
    """The embedded value, fitted on actions, what is predicted of each, and whether it was the right one."""
    return fitted_value([features(*pair) for pair in zip(asked, told, strict=True)], right)


def other_actions(situation: Situation, rng: Random, most: int) -> list[Situation]:
    """At most `most` actions on other elements of the page for the same instruction: first on elements of the same
    role, which are harder to tell apart, within a role in an order drawn by `rng`."""
    target = situation.target
    offered = [
        line for line in situation.lines.lines if line.role in INTERACTIVE_ROLES and line.node_id != target.node_id
    ]
    rng.shuffle(offered)
    offered.sort(key=lambda line: line.role != target.role)
    return [replace(situation, action=_action(line.node_id, line.role, situation)) for line in offered[:most]]


def _action(node_id: str, role: str, situation: Situation) -> Action:
    taken = situation.action
    if role == situation.target.role:
        return replace(taken, node_id=node_id)
    if role in TYPED:
        return Action("TYPE", node_id, taken.value)
    return Action(
        "SELECT" if role in ("combobox", "listbox") else "CLICK", node_id, taken.value if role == "combobox" else ""
    )
