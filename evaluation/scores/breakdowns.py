"""Where a run fails, by reason and slice: computed when a run is scored, and kept for its study's page."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from agents.models import Run
from evaluation.metrics.outcomes import Metric, StepOutcome
from evaluation.metrics.scores import MetricPreset
from evaluation.models import Breakdown
from evaluation.scores import failures
from evaluation.scores.failures import Slice


def store_breakdown(run: Run, preset: MetricPreset, judged: list[StepOutcome]) -> None:
    """Replace what is kept of the run under a preset; `judged` are all of its steps."""
    found = compute_breakdown(run, preset, judged)
    content = {
        "reasons": {reason.key: count for reason, count in found["counts"]},
        "by_turn": [asdict(row) for row in found["by_turn"]],
        "by_website": [asdict(row) for row in found["by_website"]],
    }
    Breakdown.objects.update_or_create(run=run, preset=preset, defaults={"step_count": len(judged), "content": content})


def stored_breakdown(run: Run, preset: MetricPreset) -> dict[str, Any] | None:
    """What was kept of a run that comes with `done`, its stored steps; None when there are others now."""
    kept = Breakdown.objects.filter(run=run, preset=preset, step_count=run.done).first()
    if kept is None:
        return None
    counts = kept.content["reasons"]
    return {
        "counts": [(reason, counts.get(reason.key, 0)) for reason in failures.reasons(run.top_k)],
        "by_turn": _slices(kept.content["by_turn"]),
        "by_website": _slices(kept.content["by_website"]),
    }


def compute_breakdown(run: Run, preset: MetricPreset, judged: list[StepOutcome]) -> dict[str, Any]:
    """`counts` (reason, failed steps), `by_turn` and `by_website`."""
    return {
        "counts": failures.counted(run.steps.failed(), run.top_k),
        "by_turn": failures.by_turn(judged, preset),
        "by_website": failures.by_website(judged, preset),
    }


def _slices(rows: Iterable[dict[str, Any]]) -> list[Slice]:
    metrics = ("step_success", "turn_success")
    return [Slice(**row | {name: Metric(**row[name]) for name in metrics}) for row in rows]
