"""Queues of steps that people are asked to judge: how the steps were chosen, by how many people each is judged, and
progress."""

from collections.abc import Sequence
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q

from agents.models import TrajectoryStep
from annotations.models import Project
from annotations.models.projects import Account
from evaluation.models.reviews import Review
from evaluation.models.studies import Study

STANDS = ~Q(step__reviews__verdict="")


class ReviewChoice(models.TextChoices):
    """How the steps of a queue are chosen."""

    RANDOM = "random", "at random"
    FAILURES = "failures", "failures, at random"
    UNCERTAIN = "uncertain", "uncertain: the two best candidates are closest"
    DISAGREE = "disagree", "where runs of the study disagree, at random"
    SCANNER = "scanner", "what a scanner found, at random"
    FORESEEN = "foreseen", "wrong predictions of what the recorded action does, at random"


class ReviewQueueQuerySet(models.QuerySet["ReviewQueue"]):
    def with_size(self) -> Self:
        """Annotate `size`, the number of steps of each queue."""
        return self.annotate(size=Count("tasks"))


class ReviewQueue(models.Model):
    """Some steps of a study's runs, in an order, each to be judged by `overlap` people."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="review_queues")
    study = models.ForeignKey(Study, models.CASCADE, related_name="review_queues")
    choice = models.CharField(max_length=10, choices=ReviewChoice.choices)
    scanner = models.CharField(max_length=60, blank=True, help_text="Whose findings it asks of, where that is chosen.")
    population = models.PositiveIntegerField(help_text="Steps that were chosen from.")
    said_right = models.PositiveIntegerField(help_text="Of these, how many are right by recorded gold.")
    overlap = models.PositiveSmallIntegerField(default=1, help_text="People that judge each step.")
    seed = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewQueueQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        chosen = self.get_choice_display().partition(":")[0].partition(",")[0]
        return f"{self.study}: {chosen}{f' ({self.scanner})' if self.scanner else ''}"

    def ask(self, steps: Sequence[int]) -> None:
        """Put these steps of trajectories, given by key, into the queue in this order."""
        rows: Any = [ReviewTask(queue=self, step_id=step, place=place) for place, step in enumerate(steps)]
        ReviewTask.objects.bulk_create(rows)

    @property
    def probability(self) -> float | None:
        """The probability with which any step of the study came into the queue; None where steps were not chosen at
        random."""
        return self.tasks.count() / self.population if self.choice == ReviewChoice.RANDOM and self.population else None


class ReviewTaskQuerySet(models.QuerySet["ReviewTask"]):
    def counted(self) -> Self:
        """Annotate `given`, by how many people each step is judged."""
        return self.annotate(given=Count("step__reviews", filter=STANDS, distinct=True))

    def done(self) -> Self:
        """Tasks whose step is judged by as many people as were asked for."""
        return self.counted().filter(given__gte=models.F("queue__overlap"))

    def left_for(self, user: Account) -> Self:
        """Tasks that this person may still judge, in order."""
        own = Review.objects.standing().filter(step=OuterRef("step"), reviewer=user)
        return self.counted().filter(~Exists(own), given__lt=models.F("queue__overlap")).order_by("place")


class ReviewTask(models.Model):
    """A step of a queue, which people are asked to judge."""

    given: int  # where it is `counted`

    queue = models.ForeignKey(ReviewQueue, models.CASCADE, related_name="tasks")
    step = models.ForeignKey(TrajectoryStep, models.CASCADE, related_name="review_tasks")
    place = models.PositiveIntegerField()

    objects = ReviewTaskQuerySet.as_manager()

    class Meta:
        ordering = ["queue", "place"]
        constraints = [models.UniqueConstraint(fields=["queue", "step"], name="step_asked_once_per_queue")]

    def __str__(self) -> str:
        return f"{self.place + 1}: step {self.step_id}"  # the step would be read whole, with its trace
