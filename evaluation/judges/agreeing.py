"""How far judges agree with people, and what a run's success rate is once a judge's errors are taken out of it.

People's verdict on a trajectory is that of most who reviewed the whole of it; as many against as for, or a broken page,
count in nothing, and so does a review of what has changed since. A judge's verdict is never counted as a person's.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from django.utils.http import urlencode

from agents.models import Run
from annotations.access import rules
from annotations.agreement import Agreement, cohen, cohen_counts, estimate
from evaluation.judges import JUDGES
from evaluation.metrics.judged import EstimatedRate, JudgedByPeople, corrected_rate, labels_wanted, wilson
from evaluation.models import JudgeVerdict
from evaluation.reviews.estimating import WIDTH


class _Pair(NamedTuple):
    run: int
    conversation: int
    judge: bool
    people: bool | None


@dataclass(frozen=True)
class JudgedRun:
    """One judge on one run, or (`run` None) on all of them."""

    run: Run | None
    rate: EstimatedRate  # of trajectories that it calls a success
    known: JudgedByPeople
    kappa: Agreement
    corrected: EstimatedRate | None  # the rate, by the judge's errors in all runs

    @property
    def too_few(self) -> str:
        """Why its kappa has no interval; "" where it has one."""
        return self.kappa.too_few_of("conversation")


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge, asking one model with one pack, beside people."""

    judge: str
    label: str
    model: str
    pack: str  # one of its names; packs with the same texts are one
    pack_sha256: str
    unsaid: int  # trajectories of which it could not tell, or gave no usable answer
    tokens: int
    cost: float
    rows: list[JudgedRun]  # each run, then all where there are several
    wanted: tuple[int, int] | None  # successes and failures that people should have reviewed, for an interval of WIDTH

    @property
    def all(self) -> JudgedRun:
        return self.rows[-1]

    @property
    def more(self) -> int | None:
        """About how many more trajectories, drawn by chance, hold what is `wanted`; None where that cannot be said."""
        rate = self.all.corrected
        if self.wanted is None or rate is None or not 0 < rate.value < 1:
            return None
        needed = max(ceil(self.wanted[0] / rate.value), ceil(self.wanted[1] / (1 - rate.value)))
        return max(0, needed - self.all.known.right - self.all.known.wrong)

    @property
    def to_review(self) -> str:
        """The query for what people should review next of what it judged, in an order drawn by chance."""
        return urlencode({"judge": self.judge, "model": self.model, "people": "untold", "order": "drawn"})

    @property
    def name(self) -> str:
        """Its label with model and pack."""
        return " · ".join(filter(None, (self.label, self.model, self.pack)))


def agreements(*runs: Run) -> list[JudgeAgreement]:
    """Every judge of these runs."""
    found: dict[tuple[str, str, str], list[JudgeVerdict]] = defaultdict(list)
    verdicts = JudgeVerdict.objects.fresh().filter(trajectory__run__in=runs).with_people()
    for one in verdicts.select_related("trajectory").defer("said", "answers").order_by("judge", "model", "pack", "pk"):
        found[one.judge, one.model, one.pack_sha256].append(one)
    return [_agreement(key, own, runs) for key, own in found.items()]


def told_agreements(rights: rules.Rights, runs: Sequence[Run]) -> list[JudgeAgreement]:
    """`agreements` on those runs whose gold this user may see: a verdict on a trajectory says what its gold is."""
    return agreements(*(run for run in runs if rights.sees_gold(run.dataset.project_id, run.split)))


def _agreement(key: tuple[str, str, str], verdicts: list[JudgeVerdict], runs: Sequence[Run]) -> JudgeAgreement:
    said = [
        _Pair(one.trajectory.run_id, one.trajectory.conversation_id, one.success, one.people)
        for one in verdicts
        if one.success is not None
    ]
    known = _compared(said)
    by_run: dict[int, list[_Pair]] = defaultdict(list)
    for one in said:
        by_run[one.run].append(one)
    rows = [_row(by_run[run.pk], run, known) for run in runs if run.pk in by_run]
    if len(rows) != 1:
        rows.append(_row(said, None, known))
    name, model, pack_sha256 = key
    right = sum(one.judge for one in said)
    return JudgeAgreement(
        name,
        JUDGES[name].label if name in JUDGES else name,
        model,
        verdicts[-1].pack,
        pack_sha256,
        len(verdicts) - len(said),
        sum(one.prompt_tokens + one.completion_tokens for one in verdicts),
        sum(one.cost for one in verdicts),
        rows,
        labels_wanted(right, len(said), known, WIDTH) if said else None,
    )


def _row(said: list[_Pair], run: Run | None, calibration: JudgedByPeople) -> JudgedRun:
    right = sum(one.judge for one in said)
    ratings: dict[int, list[tuple[bool, bool]]] = defaultdict(list)
    for one in said:
        if one.people is not None:
            ratings[one.conversation].append((one.judge, one.people))
    counts = {conversation: cohen_counts(pairs) for conversation, pairs in ratings.items()}
    kappa = estimate(counts, cohen, sum(map(len, ratings.values())))
    return JudgedRun(
        run, wilson(right, len(said)), _compared(said), kappa, corrected_rate(right, len(said), calibration)
    )


def _compared(said: Sequence[_Pair]) -> JudgedByPeople:
    right = [one.judge for one in said if one.people is True]
    wrong = [one.judge for one in said if one.people is False]
    return JudgedByPeople(len(right), sum(right), len(wrong), len(wrong) - sum(wrong))


def as_json(found: JudgeAgreement) -> dict[str, Any]:
    """The agreement of a judge as plain data."""
    return {
        "judge": found.judge,
        "model": found.model,
        "pack": found.pack,
        "unsaid": found.unsaid,
        "tokens": found.tokens,
        "cost": found.cost,
        "wanted": found.wanted,
        "more": found.more,
        "rows": [
            {
                "run": row.run.pk if row.run else None,
                "rate": row.rate.told(),
                "reviewed": row.known.right + row.known.wrong,
                "kappa": {"value": row.kappa.value, "low": row.kappa.low, "high": row.kappa.high},
                "sensitivity": row.known.sensitivity.told(),
                "specificity": row.known.specificity.told(),
                "corrected": row.corrected.told() if row.corrected else None,
            }
            for row in found.rows
        ],
    }
