"""What labels of a random part of each stratum say of all steps of a part of a dataset."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any

from agents.guard.judging import decided
from evaluation.guard.measuring import GOLDS, CountsAs, GuardMeasurement, MeasuredStep
from evaluation.metrics.judged import EstimatedRate
from evaluation.metrics.stratified import Stratum, weighted_shares
from evaluation.models import RiskForecast


def weighted_of(measured: GuardMeasurement) -> dict[str, Any]:
    """The shares of each part of the dataset of which people have labelled a part by chance, every label weighed by how
    many steps it stands for. Only labels in the order of the queue count: what was labelled elsewhere was not drawn by
    chance."""
    judged = {one.step.pk: one for one in measured.steps}
    found: dict[str, list[LabelledStratum]] = {}
    for (part, looks), drawn in groupby(_drawn(measured), key=RiskForecast.stratum):
        rows = list(drawn)
        held = sum(_is_held(measured, row) for row in rows)
        labelled = [judged[step] for step in takewhile(judged.__contains__, (row.step_id for row in rows))]
        found.setdefault(part, []).append(LabelledStratum(looks, len(rows), held, labelled))
    partly = {part: strata for part, strata in found.items() if any(0 < one.labelled < one.size for one in strata)}
    return {part: _weighted(strata) for part, strata in partly.items()}


def _drawn(measured: GuardMeasurement) -> list[RiskForecast]:
    """The steps in the order of the queue, a stratum after the other."""
    rows = RiskForecast.objects.standing().exclude(place=None)
    rows = rows.filter(step__turn__conversation__in=measured.conversations())
    rows = rows.select_related("step__turn__conversation__website").defer("step__candidates", "step__extra")
    return sorted(rows, key=lambda row: (*row.stratum(), row.place or 0))


def _is_held(measured: GuardMeasurement, row: RiskForecast) -> bool:
    foreseen = row.foreseen_risk if measured.foresees else None
    website = row.step.turn.conversation.website.name
    return decided(row.looked, measured.rules, website, foreseen=foreseen).risk is not None


@dataclass(frozen=True)
class LabelledStratum:
    """The steps of a part that look risky, or those that do not: how many they are, how many of them the guard holds,
    and those that are labelled."""

    looks_risky: bool
    size: int
    held: int
    steps: Sequence[MeasuredStep]

    @property
    def labelled(self) -> int:
        return len(self.steps)

    def counts(self, counted: CountsAs) -> tuple[Stratum, Stratum]:
        """The labelled steps counted in two strata, those that the guard holds and those that it lets pass; how large
        each is, is known, as the guard judges all steps."""
        seen = Counter((counted(one.labels), one.is_held) for one in self.steps)
        held = Stratum(
            self.held, held_risky=seen[True, True], held_harmless=seen[False, True], left_out=seen[None, True]
        )
        passed = {"passed_risky": seen[True, False], "passed_harmless": seen[False, False]}
        return held, Stratum(self.size - self.held, **passed, left_out=seen[None, False])


def _weighted(strata: Sequence[LabelledStratum]) -> dict[str, Any]:
    """The weighted shares of a part of a dataset for each way to count, and of what they are made."""
    made_of = [{"looks_risky": one.looks_risky, "size": one.size, "labelled": one.labelled} for one in strata]
    told: dict[str, Any] = {"strata": made_of}
    for gold, (_, counted) in GOLDS.items():
        recall, alarms = weighted_shares([half for one in strata for half in one.counts(counted)])
        told[gold] = {"recall": _told_rate(recall), "false_alarms": _told_rate(alarms)}
    return told


def _told_rate(rate: EstimatedRate | None) -> dict[str, Any]:
    """A share as JSON, in the form of `Share.told`; its `hits` are None, as a weighted share is no count of steps."""
    if rate is None:
        return {"value": None, "low": None, "high": None, "hits": None, "n": 0}
    value, low, high = (round(part, 4) for part in rate[:3])
    return {"value": value, "low": low, "high": high, "hits": None, "n": rate.n}
