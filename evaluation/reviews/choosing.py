"""Chooses the steps of a study that people are asked to judge, and stores queues of them or of whole trajectories."""

import random
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from agents.models import TrajectoryStep
from agents.models.steps import TrajectoryStepQuerySet
from agents.stages.known import silent_of_outcomes
from annotations.models.accounts.projects import Account
from evaluation.models import ReviewChoice, ReviewQueue, ScannedRun, ScannerAnswer, Study
from evaluation.reviews.foreseen import Foreseen
from evaluation.reviews.likeness import FailureLikeness
from evaluation.reviews.wholes import WHOLE_CHOICES, WholeDraw, drawn_keys
from evaluation.scanners import SCANNERS
from evaluation.scanners.asking import ASKING

LARGEST, MOST_PEOPLE = 2_000, 5


class StepDraw:
    """Chooses up to `size` of some stored steps, by key; the same seed draws the same ones. `found`: those in which a
    scanner found its failure; `failure`: the one that others are like."""

    def __init__(
        self,
        rows: TrajectoryStepQuerySet,
        size: int,
        seed: int,
        *,
        found: Collection[int] = (),
        failure: int | None = None,
    ) -> None:
        self.rows, self.size, self.random = rows, size, random.Random(seed)
        self.found, self.failure = found, failure

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
        said = self.rows.exclude(branches=[]).exclude(trace__imagine__kind__in=silent_of_outcomes())
        keys = list(said.order_by("pk").values_list("pk", flat=True))
        self.random.shuffle(keys)
        return list(islice((pk for pk in keys if Foreseen(self._with_pages(pk)).came_true is False), self.size))

    def _with_pages(self, pk: int) -> TrajectoryStep:
        rows = self.rows.select_related("step__snapshot__dictionary", "step__snapshot_after__dictionary")
        return rows.prefetch_related("step__targets").defer("trace").get(pk=pk)

    def of_scanner(self) -> list[int]:
        return self._drawn(self.rows.failed().filter(pk__in=self.found))

    def nearest(self) -> list[int]:
        """The failure that was seen, and those most like it. ValueError where there is none."""
        return FailureLikeness(self.rows).nearest(self.failure)[: self.size]

    def _drawn(self, rows: QuerySet[TrajectoryStep]) -> list[int]:
        return drawn_keys(rows, self.size, self.random)


CHOICES: dict[str, Callable[[StepDraw], list[int]]] = {
    ReviewChoice.RANDOM: StepDraw.at_random,
    ReviewChoice.FAILURES: StepDraw.failures,
    ReviewChoice.UNCERTAIN: StepDraw.uncertain,
    ReviewChoice.DISAGREE: StepDraw.disagreements,
    ReviewChoice.SCANNER: StepDraw.of_scanner,
    ReviewChoice.FORESEEN: StepDraw.foreseen_wrongly,
    ReviewChoice.NEAREST: StepDraw.nearest,
}


class QueueDemand(NamedTuple):
    """What a queue asks for. `scanner`: whose findings; `trajectories`: which ones, in which order; `failure`: the key
    of the failed step that others are like; each where `choice` is that."""

    choice: str
    size: int
    overlap: int
    seed: int = 0
    scanner: str = ""
    trajectories: Sequence[int] = ()
    failure: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.choice in WHOLE_CHOICES

    def check(self) -> None:
        """ValueError, with the reason, where nothing can be chosen like that."""
        if self.choice not in CHOICES | WHOLE_CHOICES:
            raise ValueError(f"What is judged is chosen by one of {', '.join(CHOICES | WHOLE_CHOICES)}.")
        if (self.choice == ReviewChoice.SCANNER) != (self.scanner in SCANNERS or self.scanner in ASKING):
            raise ValueError(f"What a scanner found is chosen by one of {', '.join((*SCANNERS, *ASKING))}.")
        if not 1 <= self.size <= LARGEST:
            raise ValueError(f"A queue holds 1 to {LARGEST:,} steps or trajectories.")
        if not 1 <= self.overlap <= MOST_PEOPLE:
            raise ValueError(f"Each is judged by 1 to {MOST_PEOPLE} people.")
        if (self.choice == ReviewChoice.WHOLE_LISTED) != bool(self.trajectories):
            raise ValueError(f"Trajectories are listed where {ReviewChoice.WHOLE_LISTED} is chosen, and only there.")
        if (self.choice == ReviewChoice.NEAREST) != (self.failure is not None):
            raise ValueError(f"A failed step is named where {ReviewChoice.NEAREST} is chosen, and only there.")
        if self.choice == ReviewChoice.NEAREST and self.size < 2:
            raise ValueError("A queue of what is like a failure holds that and at least one other: 2 steps or more.")

    def choose(self, study: Study) -> tuple[list[int], dict[str, int]]:
        """The keys of what is chosen, and the counts of what it was chosen from."""
        if self.is_whole:
            wholes = WholeDraw(study.runs.all(), self.size, self.seed, self.trajectories)
            found, right = wholes.rows, wholes.rows.filter(Q(right=True))
            return WHOLE_CHOICES[self.choice](wholes), {"population": found.count(), "said_right": right.count()}
        rows = TrajectoryStep.objects.filter(run__studies=study, step__isnull=False)
        seen = self._seen(study) if self.scanner else ()
        counts = {"population": rows.count(), "said_right": rows.filter(success=True).count()}
        draw = StepDraw(rows, self.size, self.seed, found=seen, failure=self.failure)
        return CHOICES[self.choice](draw), counts

    def _seen(self, study: Study) -> set[int]:
        """Keys of the steps of a study in which the scanner found something."""
        if self.scanner in ASKING:
            return ScannerAnswer.objects.filter(step__run__studies=study).steps_found(self.scanner)
        return ScannedRun.objects.filter(run__studies=study).steps_found(self.scanner)


def make_queue(user: Account | None, study: Study, demand: QueueDemand) -> ReviewQueue:
    """Store a queue of steps of a study, or of whole trajectories. ValueError where there is nothing to look at."""
    demand.check()
    found, counts = demand.choose(study)
    if not found:
        noun = "trajectory" if demand.is_whole else "step"
        raise ValueError(f"No stored {noun} of this study can be chosen like that.")
    asked = {name: getattr(demand, name) for name in ("choice", "overlap", "seed", "scanner")}
    asked |= {"failure_id": demand.failure, "created_by": user}
    with transaction.atomic():
        queue = ReviewQueue.objects.create(project=study.project, study=study, **asked, **counts)
        queue.ask(found)
    return queue
