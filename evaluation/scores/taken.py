"""What steps took, so that agents can be compared: those that rank a dataset's pages by the same weights share what
they have computed of them, and its pages share texts, also those of two splits, so that the first run alone would look
slow."""

from collections.abc import Sequence

from django.db.models import Avg

from agents.models import Run, TrajectoryStep
from evaluation.models import Breakdown

RankedBy = tuple[int, str, str]  # dataset, kind of ranking, its weights


class TakenSteps:
    """What the steps of runs took, on average of each run."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self.steps = TrajectoryStep.objects.filter(run__in=runs).order_by().values_list("run")

    def seconds(self) -> dict[int, float]:
        """Run -> the seconds that deciding a step took, with ranking as it took where pages were new: in that run
        on the same dataset with the same weights which took longest for it, as far as that is kept."""
        own, ranking = dict(self.steps.annotate(mean=Avg("milliseconds") / 1000)), self._ranking()
        longest = dict[RankedBy, float]()
        for ranked, seconds in ranking.values():
            longest[ranked] = max(seconds, longest.get(ranked, 0.0))
        return {
            run: seconds + (longest[ranking[run][0]] - ranking[run][1] if run in ranking else 0.0)
            for run, seconds in own.items()
        }

    def tokens(self) -> dict[int, float]:
        """Run -> the tokens that were read and written for a step."""
        return dict(self.steps.annotate(mean=Avg("prompt_tokens") + Avg("completion_tokens")))

    def money(self) -> dict[int, float]:
        """Run -> the money of a step, of runs whose calls had a price."""
        return dict(self.steps.annotate(mean=Avg("cost")).filter(mean__gt=0))

    def _ranking(self) -> dict[int, tuple[RankedBy, float]]:
        """Run of the same datasets -> (what it ranks by what, the seconds of a step that this took)."""
        datasets = {run.dataset_id for run in self.runs}
        kept = Breakdown.objects.filter(run__dataset__in=datasets, content__has_key="ranking_seconds")
        by = ("run__dataset", "run__recipe__rank__kind", "run__recipe__rank__model")
        rows = kept.values_list("run", "content__ranking_seconds", *by)
        return {run: ((dataset, *ranked), seconds) for run, seconds, dataset, *ranked in rows}
