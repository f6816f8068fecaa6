"""Episodes in which nothing happens until people say or do something: meanwhile their worker does other work."""

from datetime import datetime, timedelta

from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, When
from django.db.models.functions import Now

from agents.models.driving import HOLD_SECONDS, Drive
from agents.models.guarding import HeldStep
from agents.models.trajectories import Trajectory

TYPED = Q(trajectory__conversation__extra__typed=True)


def awaits_people(run: str) -> Q:
    """Rows, whose run is named by the field `run`, of which nothing but a person's next words, action or decision is
    waited for: runs of one episode that people type or show, and those whose last episodes people have stopped."""
    drives = Drive.objects.thinking().filter(TYPED | Q(shows=True), trajectory__run=OuterRef(run))
    held = HeldStep.objects.waiting().filter(TYPED, until__gt=Now(), trajectory__run=OuterRef(run))
    return Q(Exists(drives)) | Q(Exists(held)) | _is_left_to_people(run)


def last_asked(run_id: int) -> datetime | None:
    """Since when a worker of a run is to go on with what people last said, did or decided, or left undone for too long;
    None where they have not."""
    wanted = Case(
        When(~Q(state__in=Drive.OPEN), then=F("ended_at")),
        When(asked__isnull=False, then=F("until") - timedelta(seconds=HOLD_SECONDS)),  # `ask` sets it
        When(stands_at=None, then=F("began_at")),
        When(until__lte=Now(), then=F("until")),
    )
    driven = Drive.objects.filter(trajectory__run=run_id).aggregate(at=Max(wanted))["at"]
    held = HeldStep.objects.filter(trajectory__run=run_id, state__in=HeldStep.BY_PEOPLE)
    return max(filter(None, (driven, held.aggregate(at=Max("decided_at"))["at"])), default=None)


def _is_left_to_people(run: str) -> Q:
    """Whether an episode of the run stands still for a person, and none other is under way or still to begin."""
    thinking = Drive.objects.thinking().filter(trajectory__run=OuterRef(run))
    own = Exists(Drive.objects.thinking().filter(trajectory=OuterRef("pk")))
    decided = Exists(HeldStep.objects.waiting().filter(trajectory=OuterRef("pk"), until__gt=Now()))
    goes_on: QuerySet[Trajectory] = Trajectory.objects.filter(run=OuterRef(run)).filter(
        Q(state=Trajectory.State.WAITING) | Q(state=Trajectory.State.RUNNING) & ~own & ~decided
    )
    return Q(Exists(thinking)) & ~Q(Exists(goes_on))
