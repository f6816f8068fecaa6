"""How well a world model predicts what recorded actions changed, beside three simple guesses."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from agents.llm.protocol import Llm
from agents.memory.transitions import Happened, PastTransitions
from agents.memory.written import Foretold, prompted_facts, trained_facts
from agents.world_model.calibration import ReliabilityBin, bins, calibration_error, error_by_chance
from agents.world_model.effects import Effect, agreement, applied, facts, happenings
from annotations.agreement import Agreement, Counts, estimate
from annotations.dom.differences import difference

NOTHING, FREQUENT, OF_KIND, RETRIEVED = "nothing changes", "the most frequent change", "… of its kind", "retrieval"
BEATEN = (FREQUENT, OF_KIND)  # guesses over which gains are told; "nothing changes" knows nothing of any action


@dataclass(frozen=True)
class Predicted:
    """How right predictions were: mean F1 over single changes and the share of steps predicted exactly, of all steps
    and of those that change anything. `unread`: answers that could not be read, which foretell nothing."""

    f1: float
    exact: float
    changing_f1: float
    changing_exact: float
    unread: int = 0


@dataclass(frozen=True)
class Gain:
    """How much more a world model had right than a guess at the same steps: paired differences of F1 and of the share
    that is exact, with intervals that draw conversations. `operation`: of those steps, "" for all."""

    model: str
    guess: str
    operation: str
    f1: Agreement
    exact: Agreement
    model_exact: int  # how many steps it had wholly right
    guess_exact: int


@dataclass(frozen=True)
class Measured:
    """What was measured on one split. `changing` is the share of steps that change anything; `bins` group predictions
    by their confidence; `error_by_chance` is the calibration error of so few steps where every confidence is right."""

    split: str
    steps: int
    changing: float = 0.0
    scores: dict[str, Predicted] = field(default_factory=dict)
    calibration_error: float = 0.0
    bins: list[ReliabilityBin] = field(default_factory=list)
    error_by_chance: float = 0.0
    gains: list[Gain] = field(default_factory=list)
    across_turns: int = 0  # steps that end a turn, counted by the first page of the next

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    past: PastTransitions,
    split: str,
    limit: int | None,
    model: str = "",
    across_turns: bool = False,
    llm: Llm | None = None,
) -> Measured:
    """Measure predictions on the steps of a split that have a page before and after, on `limit` of them at most.
    `model`: a trained world model to measure too; `llm`: a language model, prompted. `across_turns`: last steps of
    turns count too, by the first page of the next."""
    cases = [case for _, case in past.recorded(split, limit, across_turns)]
    if not cases:
        return Measured(split, 0)
    truth = [facts(happenings(difference(case.situation.tree, case.after))) for case in cases]
    said: dict[str, Sequence[Foretold | None]] = dict(guesses(past, cases))
    found = past.world_model().predict([case.situation for case in cases])
    said[RETRIEVED] = [one.facts for one in found]
    asked = [case.situation for case in cases]
    if model:
        said[model] = trained_facts(model, asked)
    if llm is not None:
        said[llm.info.model] = prompted_facts(llm, asked)
    right = [one.facts == true for one, true in zip(found, truth, strict=True)]
    told = [one.confidence for one in found]
    changing = sum(map(bool, truth)) / len(truth)
    scores = {name: _score(guess, truth) for name, guess in said.items()}
    error = calibration_error(told, right)
    across = sum(case.across_turns for case in cases)
    gained = [
        one
        for name in said
        if name not in (NOTHING, *BEATEN)
        for guess in BEATEN
        for one in gains(cases, said, truth, name, guess)
    ]
    return Measured(
        split, len(cases), changing, scores, error, bins(told, right), error_by_chance(told), gained, across
    )


def gains(
    cases: Sequence[Happened],
    said: Mapping[str, Sequence[Foretold | None]],
    truth: Sequence[Foretold],
    model: str,
    guess: str,
) -> list[Gain]:
    """What a world model gains over a guess, over all steps and by operation."""
    read = [[one or Counter() for one in said[name]] for name in (model, guess)]
    by_operation: dict[str, list[int]] = {"": list(range(len(cases)))}
    for place, case in enumerate(cases):
        by_operation.setdefault(case.situation.action.operation, []).append(place)
    gained = []
    for operation, places in sorted(by_operation.items()):
        whole = [[found[place] == truth[place] for place in places] for found in read]
        parts = [[agreement(found[place], truth[place]) for place in places] for found in read]
        of = [cases[place].situation.conversation for place in places]
        f1, exact = (_paired(of, *pair) for pair in (parts, whole))
        gained.append(Gain(model, guess, operation, f1, exact, *(sum(one) for one in whole)))
    return gained


def _paired(conversations: Sequence[int], ours: Sequence[float], theirs: Sequence[float]) -> Agreement:
    """The mean of the differences."""
    sums: dict[int, Counts] = defaultdict(lambda: np.zeros(2))
    for conversation, mine, other in zip(conversations, ours, theirs, strict=True):
        sums[conversation] += (float(mine) - float(other), 1)
    return estimate(sums, lambda counts: counts[..., 0] / counts[..., 1], len(ours))


def _score(guess: Sequence[Foretold | None], truth: Sequence[Foretold]) -> Predicted:
    pairs = [(one or Counter(), true) for one, true in zip(guess, truth, strict=True)]
    changing = [pair for pair in pairs if pair[1]]
    f1, exact, changing_f1, changing_exact = (
        _mean(some, whole) for some in (pairs, changing) for whole in (False, True)
    )
    return Predicted(f1, exact, changing_f1, changing_exact, sum(one is None for one in guess))


def _mean(pairs: Sequence[tuple[Counter[str], Counter[str]]], whole: bool) -> float:
    if not pairs:
        return 0.0
    return statistics.fmean(float(one == other) if whole else agreement(one, other) for one, other in pairs)


def guesses(past: PastTransitions, cases: Sequence[Happened]) -> dict[str, list[Counter[str]]]:
    """What three guesses say of each case: that nothing changes, the most frequent change, and the most frequent one at
    steps of the same operation and role."""
    told: Counter[str] = Counter()
    by_kind: dict[tuple[str, str], Counter[str]] = {}
    effects: dict[str, tuple[Effect, ...]] = {}
    for operation, role, stored in past.dataset.transitions.order_by("pk").values_list("operation", "role", "effects"):
        key = repr(stored)
        effects[key] = tuple(Effect.from_dict(one) for one in stored)
        told[key] += 1
        by_kind.setdefault((operation, role), Counter())[key] += 1
    most = next((key for key, _ in told.most_common() if effects[key]), repr([]))

    def of_kind(case: Happened) -> str:
        situation = case.situation
        found = by_kind.get((situation.action.operation, situation.target.role), told)
        return found.most_common(1)[0][0]

    return {
        NOTHING: [Counter() for _ in cases],
        FREQUENT: [_on(case, effects.get(most, ())) for case in cases],
        OF_KIND: [_on(case, effects[of_kind(case)]) for case in cases],
    }


def _on(case: Happened, effects: Sequence[Effect]) -> Counter[str]:
    return facts(applied(effects, case.situation.lines, case.situation.action))
