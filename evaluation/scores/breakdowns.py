"""Where a run fails, by reason and slice, what ranking took, and what live conversations came to on each site: computed
when a run is scored, and kept for its study's pages."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from agents.models import Run
from evaluation.metrics.episodes import EpisodeOutcome
from evaluation.metrics.live_turns import LiveTurn
from evaluation.metrics.outcomes import Metric, StepOutcome
from evaluation.metrics.scores import MetricPreset
from evaluation.models import Breakdown, Study
from evaluation.scores import failures
from evaluation.scores.failures import Slice
from evaluation.scores.live import episodes_of, metrics_by_site, turns_of
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
            "ranking_seconds": self.run.steps.mean_seconds_of("rank"),
        }
        Breakdown.objects.update_or_create(
            run=self.run, preset=self.preset, defaults={"step_count": len(judged), "content": content}
        )

    def stored(self) -> dict[str, Any] | None:
        """The breakdown that is kept; None when the number of stored steps has changed since. The run comes with
        `done`, that number."""
        kept = Breakdown.objects.filter(run=self.run, preset=self.preset, step_count=self.run.done).first()
        if kept is None or "reasons" not in kept.content:  # of live conversations there are other slices
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


class SiteBreakdown:
    """Computes and keeps what the conversations of a live run came to on each site; the same by both presets."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def store(self, episodes: list[EpisodeOutcome], turns: list[LiveTurn]) -> None:
        """Replace what is kept. `episodes`, `turns`: all of the run."""
        found = metrics_by_site(episodes, turns, self.run.seed)
        by_site = {site: [asdict(metric) for metric in metrics.values()] for site, metrics in found.items()}
        defaults = {"step_count": Run.objects.filter(pk=self.run.pk).done_steps(), "content": {"by_site": by_site}}
        Breakdown.objects.update_or_create(run=self.run, preset=Study.Preset.CORRECTED, defaults=defaults)

    def of_now(self) -> dict[str, dict[str, Metric]]:
        """Site -> metric -> its mean: as kept, or computed where another number of episodes has ended since. The run
        comes with `done`, that number."""
        rows = Breakdown.objects.filter(run=self.run, preset=Study.Preset.CORRECTED, step_count=self.run.done)
        kept = rows.filter(content__has_key="by_site").first()
        if kept is None:
            turns = turns_of(self.run.steps.turn_ends())
            return metrics_by_site(episodes_of(self.run.trajectories.all()), turns, self.run.seed)
        of_site: dict[str, list[dict[str, Any]]] = kept.content["by_site"]
        return {site: {row["name"]: Metric(**row) for row in rows} for site, rows in sorted(of_site.items())}


def _slices(rows: Iterable[dict[str, Any]]) -> list[Slice]:
    metrics = ("step_success", "turn_success")
    return [Slice(**row | {name: Metric(**row[name]) for name in metrics}) for row in rows]
