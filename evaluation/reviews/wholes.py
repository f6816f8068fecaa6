"""Chooses the whole trajectories of a study that people are asked to judge."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from agents.models import Run, Trajectory
from evaluation.metrics.episodes import FULL_REWARD
from evaluation.models import JudgeVerdict, ReviewChoice


class WholeDraw:
    """Chooses up to `size` whole trajectories of these runs that are done, by key; the same seed draws the same ones.
    `listed`: those of a list, in its order. What a judge said of a trajectory before it grew says nothing."""

    def __init__(self, runs: QuerySet[Run], size: int, seed: int, listed: Sequence[int] = ()) -> None:
        self.all = Trajectory.objects.filter(run__in=runs, state=Trajectory.State.DONE).with_metric(FULL_REWARD)
        self.rows = self.all.filter(~Q(right=None))
        self.size, self.random, self.listed = size, random.Random(seed), listed

    def at_random(self) -> list[int]:
        return self._drawn(self.rows)

    def failures(self) -> list[int]:
        return self._drawn(self.rows.filter(Q(right=False)))

    def judged_failures(self) -> list[int]:
        return self._drawn(self.all.filter(self._judged(success=False)))

    def disagreements(self) -> list[int]:
        too_kind = Q(self._judged(success=True), right=False)
        return self._drawn(self.rows.filter(too_kind | Q(self._judged(success=False), right=True)))

    def of_list(self) -> list[int]:
        """ValueError for what is listed twice, or is none of them, or is more than the queue is to hold."""
        if len(self.listed) > self.size:
            raise ValueError(f"{len(self.listed):,} trajectories are listed, and the queue is to hold {self.size:,}.")
        unknown = set(self.listed) - set(self.all.filter(pk__in=self.listed).values_list("pk", flat=True))
        if unknown:
            named = ", ".join(map(str, sorted(unknown)[:5]))
            raise ValueError(f"Of the study's trajectories that are done, none has this number: {named}.")
        if len(set(self.listed)) < len(self.listed):
            raise ValueError("A trajectory is listed twice.")
        return list(self.listed)

    @staticmethod
    def _judged(*, success: bool) -> Exists:
        said = JudgeVerdict.objects.fresh().filter(trajectory=OuterRef("pk"), error="", success=success)
        return Exists(said)

    def _drawn(self, rows: QuerySet[Trajectory]) -> list[int]:
        return drawn_keys(rows, self.size, self.random)


def drawn_keys(rows: QuerySet[Any], size: int, rng: random.Random) -> list[int]:
    """The keys of up to `size` of these rows at random, the same ones for the same numbers of `rng`."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True))
    return rng.sample(keys, min(size, len(keys)))


WHOLE_CHOICES: dict[str, Callable[[WholeDraw], list[int]]] = {
    ReviewChoice.WHOLE_RANDOM: WholeDraw.at_random,
    ReviewChoice.WHOLE_FAILURES: WholeDraw.failures,
    ReviewChoice.WHOLE_JUDGED: WholeDraw.judged_failures,
    ReviewChoice.WHOLE_DISAGREE: WholeDraw.disagreements,
    ReviewChoice.WHOLE_LISTED: WholeDraw.of_list,
}
