"""Why agents come to little here: the stand-in that ranks for them seldom has the gold element among those that they
are shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from agents.cookbook.starters import is_starter
from agents.models import Run
from evaluation.models import Score

MOSTLY = 0.5  # of the steps at which it is not shown
FINEST = 5  # "in 4 of 5 steps"


@dataclass(frozen=True)
class OutOfReach:
    """Recipes that a stand-in ranks for on a split, with its recall among the `top_k` elements that they are shown."""

    recipes: tuple[str, ...]
    split: str
    ranker: str
    top_k: int
    recall: float

    @property
    def share(self) -> str:
        """In how many steps the gold element is not shown: "4 of 5", "nearly all"."""
        missed = Fraction(1 - self.recall).limit_denominator(FINEST)
        return "nearly all" if missed == 1 else f"{missed.numerator} of {missed.denominator}"

    @classmethod
    def of(cls, runs: Iterable[Run], scores: Iterable[Score]) -> "list[OutOfReach]":
        """The splits on which stand-ins seldom rank the gold element high enough, by the scores of one preset."""
        recalls = {(score.run_id, score.metric): score.value for score in scores if score.headline}
        found: dict[tuple[str, str, int, float], list[str]] = {}
        for run in runs:
            ranker = run.recipe.get("rank", {}).get("model", "")
            recall = recalls.get((run.pk, f"recall@{run.top_k}"))
            if is_starter(ranker) and recall is not None and 1 - recall >= MOSTLY:
                found.setdefault((run.split, ranker, run.top_k, recall), []).append(run.recipe_name)
        return [
            cls(tuple(dict.fromkeys(names)), split or "all splits", ranker, top_k, recall)
            for (split, ranker, top_k, recall), names in found.items()
        ]
