"""Episodes that a person types or shows, and in which nothing happens until people say something: meanwhile their
worker does other work."""

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from agents.models.driving import Drive
from agents.models.guarding import HeldStep

TYPED = Q(trajectory__conversation__extra__typed=True)


def awaits_people(run: str) -> Q:
    """Rows, whose run is named by the field `run`, of which nothing but a person's next words, action or decision is
    waited for. Such a run is one episode."""
    drives = Drive.objects.thinking().filter(TYPED | Q(shows=True), trajectory__run=OuterRef(run))
    held = HeldStep.objects.waiting().filter(TYPED, until__gt=Now(), trajectory__run=OuterRef(run))
    return Q(Exists(drives)) | Q(Exists(held))
