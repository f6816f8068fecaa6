"""Episodes in which nothing happens until people say or do something: meanwhile their worker does other work."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from agents.models.driving import Drive
from agents.models.guarding import HeldStep
from agents.models.trajectories import Trajectory

TYPED = Q(trajectory__conversation__extra__typed=True)


def awaits_people(run: str) -> Q:
    """Rows, whose run is named by the field `run`, of which nothing but a person's next words, action or decision is
    waited for: runs of one episode that people type or show, and those whose last episodes people have stopped."""
    drives = Drive.objects.thinking().filter(TYPED | Q(shows=True), trajectory__run=OuterRef(run))
    held = HeldStep.objects.waiting().filter(TYPED, until__gt=Now(), trajectory__run=OuterRef(run))
    return Q(Exists(drives)) | Q(Exists(held)) | _is_left_to_people(run)


def _is_left_to_people(run: str) -> Q:
    """Whether an episode of the run stands still for a person, and none other is under way or still to begin."""
    thinking = Drive.objects.thinking().filter(trajectory__run=OuterRef(run))
    own = Exists(Drive.objects.thinking().filter(trajectory=OuterRef("pk")))
    decided = Exists(HeldStep.objects.waiting().filter(trajectory=OuterRef("pk"), until__gt=Now()))
    goes_on: QuerySet[Trajectory] = Trajectory.objects.filter(run=OuterRef(run)).filter(
        Q(state=Trajectory.State.WAITING) | Q(state=Trajectory.State.RUNNING) & ~own & ~decided
    )
    return Q(Exists(thinking)) & ~Q(Exists(goes_on))
