"""Chooses the steps of a study that people are asked to judge."""

import random
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from agents.models import TrajectoryStep
from agents.models.steps import TrajectoryStepQuerySet
from annotations.models.projects import Account
from evaluation.models import ReviewChoice, ReviewQueue, ScannedRun, Study
from evaluation.reviews.foreseen import Foreseen
from evaluation.scanners import SCANNERS

LARGEST, MOST_PEOPLE = 2_000, 5


class StepDraw:
    """Chooses up to `size` of some stored steps, by key; the same seed draws the same ones. `found`: those in which a
    scanner found its failure."""

    def __init__(self, rows: TrajectoryStepQuerySet, size: int, seed: int, found: Collection[int] = ()) -> None:
        self.rows, self.size, self.random, self.found = rows, size, random.Random(seed), found

    def at_random(self) -> list[int]:
        return self._drawn(self.rows)

    def failures(self) -> list[int]:
        return self._drawn(self.rows.filter(success=False))

    def uncertain(self) -> list[int]:
        """The steps whose two best candidates have the closest scores; steps with fewer than two scores are left
        out."""
        scores = self.rows.order_by("pk").values_list("candidate_scores", "pk")
        leads = ((said[0] - said[1], pk) for said, pk in scores.iterator(2_000) if said and len(said) > 1)
        return [pk for _, pk in sorted(leads)[: self.size]]

    def disagreements(self) -> list[int]:
        """Wrong steps that another run of the study decided rightly."""
        right = self.rows.filter(success=True).values("step")
        return self._drawn(self.rows.filter(success=False, step__in=right))

    def foreseen_wrongly(self) -> list[int]:
        """Steps at which a world model said of the recorded action what did not come true. Steps are looked at in the
        order drawn until there are enough, as each means reading two pages."""
        said = self.rows.exclude(branches=[]).exclude(trace__imagine__kind="value_only")
        keys = list(said.order_by("pk").values_list("pk", flat=True))
        self.random.shuffle(keys)
        return list(islice((pk for pk in keys if Foreseen(self._with_pages(pk)).came_true is False), self.size))

    def _with_pages(self, pk: int) -> TrajectoryStep:
        rows = self.rows.select_related("step__snapshot__dictionary", "step__snapshot_after__dictionary")
        return rows.prefetch_related("step__targets").defer("trace").get(pk=pk)

    def of_scanner(self) -> list[int]:
        return self._drawn(self.rows.failed().filter(pk__in=self.found))

    def _drawn(self, rows: QuerySet[TrajectoryStep]) -> list[int]:
        keys = list(rows.order_by("pk").values_list("pk", flat=True))
        return self.random.sample(keys, min(self.size, len(keys)))


CHOICES: dict[str, Callable[[StepDraw], list[int]]] = {
    ReviewChoice.RANDOM: StepDraw.at_random,
    ReviewChoice.FAILURES: StepDraw.failures,
    ReviewChoice.UNCERTAIN: StepDraw.uncertain,
    ReviewChoice.DISAGREE: StepDraw.disagreements,
    ReviewChoice.SCANNER: StepDraw.of_scanner,
    ReviewChoice.FORESEEN: StepDraw.foreseen_wrongly,
}


def make_queue(
    user: Account | None, study: Study, choice: str, size: int, overlap: int, seed: int = 0, scanner: str = ""
) -> ReviewQueue:
    """Store a queue of steps of a study. `scanner`: whose findings, where `choice` is that. ValueError where there is
    nothing to look at."""
    if choice not in CHOICES:
        raise ValueError(f"Steps are chosen by one of {', '.join(CHOICES)}.")
    if (choice == ReviewChoice.SCANNER) != (scanner in SCANNERS):
        raise ValueError(f"What a scanner found is chosen by one of {', '.join(SCANNERS)}.")
    if not 1 <= size <= LARGEST:
        raise ValueError(f"A queue holds 1 to {LARGEST:,} steps.")
    if not 1 <= overlap <= MOST_PEOPLE:
        raise ValueError(f"Each step is judged by 1 to {MOST_PEOPLE} people.")
    rows = TrajectoryStep.objects.filter(run__studies=study, step__isnull=False)
    seen = ScannedRun.objects.filter(run__studies=study).steps_found(scanner) if scanner else ()
    found = CHOICES[choice](StepDraw(rows, size, seed, seen))
    if not found:
        raise ValueError("No stored step of this study can be chosen like that.")
    counts = {"population": rows.count(), "said_right": rows.filter(success=True).count()}
    asked: dict[str, Any] = {"choice": choice, "overlap": overlap, "seed": seed, "created_by": user, "scanner": scanner}
    with transaction.atomic():
        queue = ReviewQueue.objects.create(project=study.project, study=study, **asked, **counts)
        queue.ask(found)
    return queue
