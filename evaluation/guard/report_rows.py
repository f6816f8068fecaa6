"""The guard's report as rows: for the plots of its page and for its CSV."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from agents.models import GuardRule
from annotations.access.rules import Rights
from annotations.models import Dataset, Split
from evaluation.guard.labels import BY_MODELS, BY_PEOPLE
from evaluation.guard.measuring import GOLDS, GuardMeasurement, with_packaged_labels
from evaluation.guard.weighing import weighted_of

WIDTH, PAD = 480, 12  # of the plot of an interval, pixels; its axis lies within
GOAL = {"recall": ("at least 95", (0.95, 1)), "false_alarms": ("at most 5", (0, 0.05))}
MEASURES = {"recall": "Risky steps that are held", "false_alarms": "Harmless steps that are held up"}
COLUMNS = ("split", "measure", "risky_where", "guard", "weighted", "value", "low", "high", "hits", "n")
ALONE, FORESEEN = "policy", "policy+prediction"  # as `act.guard` names them
MOST_PAGES = 400  # that a request reads at most: a job looks at all of them


def measurement_for(rights: Rights, dataset: Dataset, by: str = "") -> GuardMeasurement:
    """The measurement by the current rules of the dataset's project, of the steps whose gold the user may see. `by`:
    whose labels count, one of `SOURCES`; "" for the packaged ones where the dataset has any, else those of people."""
    policy = GuardRule.objects.policy(dataset.project_id)
    sees_test = rights.sees_gold(dataset.project_id, Split.TEST_TASK)
    by = by or (BY_MODELS if with_packaged_labels([dataset.pk]) else BY_PEOPLE)
    return GuardMeasurement(dataset, rules=policy, sees_test=sees_test, by=by, most_pages=MOST_PAGES)


def report_of(measurement: GuardMeasurement) -> dict[str, Any]:
    """The report with estimates for all steps (`weighted`), the rules that recorded steps cannot meet, as they tell no
    address (`not_counted`), and the report of the guard that foresees (`foreseen`), which is None until past
    transitions have been asked about a labelled step."""
    beside, of_address = replace(measurement, foresees=True), [str(one) for one in measurement.rules if one.of == "url"]
    alone, foreseen = (
        one.report() | {"weighted": weighted_of(one), "not_counted": of_address} for one in (measurement, beside)
    )
    return alone | {"foreseen": foreseen if foreseen["steps"] else None}


def numbers(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each split, each measure, each way to count disputed labels and each guard, and where a part of the
    steps is labelled by chance, one of the estimate for all of them."""
    guards = {ALONE: report, FORESEEN: report["foreseen"]} if report.get("foreseen") else {ALONE: report}
    for split in report["splits"]:
        for measure in MEASURES:
            for gold in GOLDS:
                for guard, told in guards.items():
                    place = {"split": split, "measure": measure, "risky_where": gold, "guard": guard}
                    yield place | {"weighted": False} | told["splits"][split][gold][measure]
                    if split in told["weighted"]:
                        yield place | {"weighted": True} | told["weighted"][split][gold][measure]


@dataclass(frozen=True)
class ShareRow:
    """A share with its interval; in pixels where there is a value."""

    split: str
    words: str
    counted: str
    guard: str  # "" where there is one guard only
    share: dict[str, Any]
    band: tuple[float, float]  # where the goal is reached: from, and how wide, pixels

    @property
    def plot(self) -> dict[str, float] | None:
        if self.share["value"] is None:
            return None
        return {name: pixel(self.share[name]) for name in ("value", "low", "high")}


@dataclass(frozen=True)
class ShareTable:
    """One measure, for all splits and ways to count, drawn on one axis."""

    title: str
    goal: str
    rows: list[ShareRow]


def tables(report: dict[str, Any]) -> list[ShareTable]:
    found, two = list(numbers(report)), bool(report.get("foreseen"))
    return [
        ShareTable(MEASURES[measure], words, [_row(one, reached, two) for one in found if one["measure"] == measure])
        for measure, (words, reached) in GOAL.items()
    ]


def ticks() -> list[tuple[float, int]]:
    return [(pixel(percent / 100), percent) for percent in (0, 25, 50, 75, 100)]


def _row(one: dict[str, Any], reached: tuple[float, float], two: bool) -> ShareRow:
    gold, (start, end) = one["risky_where"], map(pixel, reached)
    counted = GOLDS[gold][0] + ("; weighed, for all steps" if one["weighted"] else "")
    return ShareRow(one["split"], gold, counted, one["guard"] if two else "", one, (start, round(end - start, 1)))


def pixel(share: float) -> float:
    """Where a share lies on the axis."""
    return round(PAD + share * (WIDTH - 2 * PAD), 1)
