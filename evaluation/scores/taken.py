"""What a step took, so that agents can be compared: those that rank the same pages by the same weights share what they
have computed of them, so that the first of them alone would look slow."""

from collections.abc import Sequence

from django.db.models import Avg

from agents.models import Run, TrajectoryStep
from evaluation.models import Breakdown

Pages = tuple[int, str, str, str]


def seconds_a_step(runs: Sequence[Run]) -> dict[int, float]:
    """Run -> the seconds that deciding a step took on average, as if each had ranked its pages for the first time: with
    the ranking of that run of the same pages and weights which took longest for it, as far as that is kept."""
    own = TrajectoryStep.objects.filter(run__in=runs).order_by().values_list("run").annotate(mean=Avg("milliseconds"))
    taken = {run: mean / 1000 for run, mean in own}
    ranking = _ranking([run.dataset_id for run in runs])
    longest = dict[Pages, float]()
    for pages, seconds in ranking.values():
        longest[pages] = max(seconds, longest.get(pages, 0.0))
    return {
        run: seconds + (longest[ranking[run][0]] - ranking[run][1] if run in ranking else 0.0)
        for run, seconds in taken.items()
    }


def _ranking(datasets: Sequence[int]) -> dict[int, tuple[Pages, float]]:
    """Run of these datasets -> (what it ranks by what, the seconds of a step that this took)."""
    kept = Breakdown.objects.filter(run__dataset__in=datasets, content__has_key="ranking_seconds")
    rows = kept.values_list(
        "run",
        "run__dataset",
        "run__split",
        "run__recipe__rank__kind",
        "run__recipe__rank__model",
        "content__ranking_seconds",
    )
    return {run: ((dataset, split, kind, model), seconds) for run, dataset, split, kind, model, seconds in rows}
