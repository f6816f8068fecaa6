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
from evaluation.scores.overruled import Overruled


class RunBreakdown:
    """Computes and keeps where a run fails, by the metrics of a preset."""

    def __init__(self, run: Run, preset: MetricPreset) -> None:
        self.run, self.preset = run, preset

    def store(self, judged: list[StepOutcome]) -> None:
        """Replace the breakdown that is kept. `judged`: all steps of the run."""
        found = self.computed(judged)
        content = {
            "reasons": {reason.key: count for reason, count in found["counts"]},
            "by_turn": [asdict(row) for row in found["by_turn"]],
            "by_website": [asdict(row) for row in found["by_website"]],
            "overruled": asdict(found["overruled"]) if found["overruled"] else None,
        }
        Breakdown.objects.update_or_create(
            run=self.run, preset=self.preset, defaults={"step_count": len(judged), "content": content}
        )

    def stored(self) -> dict[str, Any] | None:
        """The breakdown that is kept; None when the number of stored steps has changed since. The run comes with
        `done`, that number."""
        kept = Breakdown.objects.filter(run=self.run, preset=self.preset, step_count=self.run.done).first()
        if kept is None:
            return None
        counts = kept.content["reasons"]
        return {
            "counts": [(reason, counts.get(reason.key, 0)) for reason in failures.reasons(self.run.top_k)],
            "by_turn": _slices(kept.content["by_turn"]),
            "by_website": _slices(kept.content["by_website"]),
            "overruled": Overruled.of_stored(told) if (told := kept.content.get("overruled")) else None,
        }

    def computed(self, judged: list[StepOutcome]) -> dict[str, Any]:
        """`counts` (reason, failed steps), `by_turn`, `by_website`, and the steps at which another action was done than
        was chosen by value (`overruled`)."""
        return {
            "counts": failures.counted(self.run.steps.failed(), self.run.top_k),
            "by_turn": failures.by_turn(judged, self.preset),
            "by_website": failures.by_website(judged, self.preset),
            "overruled": Overruled.in_run(self.run),
        }


def _slices(rows: Iterable[dict[str, Any]]) -> list[Slice]:
    metrics = ("step_success", "turn_success")
    return [Slice(**row | {name: Metric(**row[name]) for name in metrics}) for row in rows]
