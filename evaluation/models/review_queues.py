"""Queues of steps, or of whole trajectories, that people are asked to judge: how they were chosen, by how many people
each is judged, and progress."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Case, Count, Exists, F, Max, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from agents.models import Trajectory, TrajectoryStep
from annotations.models import Project
from annotations.models.accounts.projects import Account
from evaluation.models.reviews import BadReview, Review, ReviewQuerySet
from evaluation.models.studies import Study


class ReviewChoice(models.TextChoices):
    """How the steps, or whole trajectories, of a queue are chosen."""

    RANDOM = "random", "at random"
    FAILURES = "failures", "failures, at random"
    UNCERTAIN = "uncertain", "uncertain: the two best candidates are closest"
    DISAGREE = "disagree", "where runs of the study disagree, at random"
    SCANNER = "scanner", "what a scanner found, at random"
    FORESEEN = "foreseen", "wrong predictions of what the recorded action does, at random"
    NEAREST = "nearest", "nearest to a failure that was seen"
    ASKED = "asked", "that people asked the team about"
    WHOLE_RANDOM = "whole_random", "whole trajectories, at random"
    WHOLE_FAILURES = "whole_failures", "whole trajectories that failed by the metric, at random"
    WHOLE_JUDGED = "whole_judged", "whole trajectories that a judge calls a failure, at random"
    WHOLE_DISAGREE = "whole_disagree", "whole trajectories on which a judge and the metric differ, at random"
    WHOLE_LISTED = "whole_listed", "whole trajectories, in the order of a list"


# Chosen by what scanners found, so that what people say of these tells nothing of what scanners miss.
BY_SCANNERS = (ReviewChoice.SCANNER, ReviewChoice.NEAREST)


class ReviewQueueQuerySet(models.QuerySet["ReviewQueue"]):
    def with_size(self) -> Self:
        """Annotate `size`, for how many steps or trajectories each queue asks."""
        return self.annotate(size=Count("tasks"))

    def of_questions(self, study: Study) -> "ReviewQueue":
        """The queue of what people ask the team about steps of a study. Each is looked at by two people, whoever asks
        among them where they have said something themselves."""
        asked = {"project": study.project, "population": 0, "said_right": 0, "overlap": 2}
        return self.get_or_create(study=study, choice=ReviewChoice.ASKED, defaults=asked)[0]


class ReviewQueue(models.Model):
    """Some steps of a study's runs, or whole trajectories, in an order, each to be judged by `overlap` people."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="review_queues")
    study = models.ForeignKey(Study, models.CASCADE, related_name="review_queues")
    choice = models.CharField(max_length=16, choices=ReviewChoice.choices)
    scanner = models.CharField(max_length=60, blank=True, help_text="Whose findings it asks of, where that is chosen.")
    failure = models.ForeignKey(
        TrajectoryStep,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="That its steps are like, where that is chosen.",
    )
    population = models.PositiveIntegerField(help_text="Steps, or trajectories, that were chosen from.")
    said_right = models.PositiveIntegerField(help_text="Of these, how many are right by recorded gold or reward.")
    overlap = models.PositiveSmallIntegerField(default=1, help_text="People that judge each.")
    seed = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewQueueQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        chosen = self.get_choice_display().partition(":")[0].partition(",")[0]
        return f"{self.study}: {chosen}{f' ({self.scanner})' if self.scanner else ''}"

    @property
    def is_whole(self) -> bool:
        """Whether it asks of whole trajectories, where others ask of steps."""
        return self.choice.startswith("whole_")

    @property
    def is_random(self) -> bool:
        """Whether each had the same chance to come into it, so that it tells of all there are."""
        return self.choice in (ReviewChoice.RANDOM, ReviewChoice.WHOLE_RANDOM)

    @property
    def noun(self) -> str:
        """What it asks of: "step" or "trajectory"."""
        return "trajectory" if self.is_whole else "step"

    @property
    def nouns(self) -> str:
        return "trajectories" if self.is_whole else "steps"

    def ask(self, keys: Sequence[int]) -> None:
        """Put these into the queue in this order: steps of trajectories, or whole trajectories, by key."""
        found = TrajectoryStep.objects.filter(pk__in=() if self.is_whole else keys)
        of_step = dict(found.values_list("pk", "trajectory"))
        told: Any = ({"trajectory_id": of_step.get(key, key), "step_id": key if of_step else None} for key in keys)
        ReviewTask.objects.bulk_create(ReviewTask(queue=self, place=place, **about) for place, about in enumerate(told))

    def put(self, step: TrajectoryStep, asked_by: Account, question: str) -> "ReviewTask":
        """Ask about one more step, or about one that is asked about in other words."""
        told = {"trajectory": step.trajectory, "asked_by": asked_by, "question": question}
        told |= {"asked_at": timezone.now(), "seen_at": None}
        last = self.tasks.aggregate(last=Max("place", default=-1))["last"]
        task, _ = self.tasks.update_or_create(step=step, defaults=told, create_defaults=told | {"place": last + 1})
        self.count_anew()
        return task

    def count_anew(self) -> None:
        """Count what a queue of questions asks of; one without any goes."""
        self.population, self.said_right = self.tasks.count(), self.tasks.filter(step__success=True).count()
        if self.population:
            self.save(update_fields=["population", "said_right"])
        else:
            self.delete()

    def reviews(self) -> ReviewQuerySet:
        """The reviews of what it asks of."""
        if self.is_whole:
            return Review.objects.of_wholes().filter(trajectory__review_tasks__queue=self)
        return Review.objects.standing().filter(step__review_tasks__queue=self)

    @property
    def probability(self) -> float | None:
        """The probability with which each of the study's came into the queue; None where they were not chosen at
        random."""
        return self.tasks.count() / self.population if self.is_random and self.population else None


class ReviewTaskQuerySet(models.QuerySet["ReviewTask"]):
    def counted(self) -> Self:
        """Annotate `given`, by how many people each is judged."""
        of_step, of_whole = _reviews_of_task()
        given = Case(When(step=None, then=of_whole.counted("trajectory")), default=of_step.counted("step"))
        return self.annotate(given=Coalesce(given, 0))

    def done(self) -> Self:
        """Tasks that as many people have judged as were asked for."""
        return self.counted().filter(given__gte=F("queue__overlap"))

    def questions(self, trajectory: Trajectory) -> Self:
        """Those by which somebody asks the team about a step of a trajectory, in order."""
        return self.filter(trajectory=trajectory).of_questions().order_by("place")

    def of_questions(self) -> Self:
        """Questions to the team, each with `answers`, how many other people have judged its step since, and
        `answered_at`, when the last of them did."""
        since = Review.objects.standing().filter(step=OuterRef("step"), changed_at__gte=OuterRef("asked_at"))
        others = since.exclude(reviewer=OuterRef("asked_by"))
        last = others.order_by("-changed_at").values("changed_at")[:1]
        found = self.exclude(question="").annotate(
            answers=Coalesce(others.counted("step"), 0), answered_at=Subquery(last, output_field=models.DateTimeField())
        )
        return found.select_related("step", "asked_by", "queue").defer("step__trace")

    def answered(self, is_so: bool = True) -> Self:
        """Of questions, those that somebody has answered, or nobody."""
        return self.filter(answers__gt=0) if is_so else self.filter(answers=0)

    def answered_for(self, user: Account) -> Self:
        """Questions of this person with an answer that they have not read, the newest answer first."""
        mine = self.of_questions().filter(asked_by=user).answered()
        return mine.exclude(seen_at__gte=F("answered_at")).order_by("-answered_at")

    def left_for(self, user: Account) -> Self:
        """Tasks that this person may still judge, in order."""
        of_step, of_whole = (Exists(rows.filter(reviewer=user)) for rows in _reviews_of_task())
        left = self.counted().filter(~of_step, given__lt=F("queue__overlap"))
        return left.exclude(Q(of_whole, step=None)).exclude(asked_by=user).order_by("place")


class ReviewTask(models.Model):
    """A step, or a whole trajectory, that people are asked to judge."""

    given: int  # where it is `counted`
    answers: int  # of a question: `of_questions`
    answered_at: datetime | None

    queue = models.ForeignKey(ReviewQueue, models.CASCADE, related_name="tasks")
    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="review_tasks")
    step = models.ForeignKey(
        TrajectoryStep,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="review_tasks",
        help_text="Empty: the whole.",
    )
    place = models.PositiveIntegerField()
    question = models.TextField(blank=True, help_text="What somebody asks the team about the step.")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(null=True, blank=True, help_text="When the question was asked.")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="When who asked last read the answers.")

    objects = ReviewTaskQuerySet.as_manager()

    class Meta:
        ordering = ["queue", "place"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "step"], name="step_asked_once_per_queue"),
            models.UniqueConstraint(
                fields=["queue", "trajectory"], condition=Q(step=None), name="whole_asked_once_per_queue"
            ),
        ]

    def __str__(self) -> str:
        about = f"step {self.step_id}" if self.step_id else f"trajectory {self.trajectory_id}"
        return f"{self.place + 1}: {about}"  # the step would be read whole, with its trace

    def asked(self, viewer: Account) -> dict[str, Any]:
        """The question as the replay page reads it."""
        by = self.asked_by.get_username() if self.asked_by else "somebody"
        own = self.asked_by_id == viewer.pk
        unread = self.answered_at is not None and (self.seen_at is None or self.seen_at < self.answered_at)
        told = {"seq": self.step.seq if self.step else None, "by": by, "question": self.question}
        may = {"may_withdraw": own and not self.answers, "unread": own and unread}
        return told | may | {"own": own, "answers": self.answers}

    def see(self, by: Account) -> None:
        """Who asked has read the answers."""
        self._check_own(by)
        self.seen_at = timezone.now()
        self.save(update_fields=["seen_at"])

    @transaction.atomic
    def take_back(self, by: Account) -> None:
        """Who asked withdraws the question. BadReview where somebody has answered it."""
        self._check_own(by)
        queue = ReviewQueue.objects.select_for_update().get(pk=self.queue_id)
        if ReviewTask.objects.filter(pk=self.pk).of_questions().answered().exists():
            raise BadReview("Somebody has answered: the question stays, with what they said.")
        self.delete()
        queue.count_anew()

    def _check_own(self, by: Account) -> None:
        if self.asked_by_id != by.pk:
            raise PermissionDenied("Only who asked a question withdraws it, or is told of its answers.")


def _reviews_of_task() -> tuple[ReviewQuerySet, ReviewQuerySet]:
    """The reviews of a task's step, and those of its whole trajectory, for queries of tasks."""
    of_step = Review.objects.standing().filter(step=OuterRef("step"))
    return of_step, Review.objects.of_wholes().filter(trajectory=OuterRef("trajectory"))
