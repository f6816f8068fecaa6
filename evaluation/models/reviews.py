"""Reviews: what people say of an agent's steps, a verdict with a reason. Scores follow them
(`evaluation.scores.reviewed`)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.urls import reverse
from django.utils import timezone

from agents.models import Run, Trajectory, TrajectoryStep
from annotations.models import Correction, Project
from annotations.models.accounts.projects import User
from annotations.models.choices import MAX_REASON
from evaluation.models.page_regions import BadRegion, PageRegion


class BadReview(ValueError):
    """A review cannot be stored; the message says why."""


class ReviewVerdict(models.TextChoices):
    """Who was wrong: the verdict of a review."""

    AGENT_WRONG = "agent_wrong", "agent wrong"
    GOLD_WRONG = "gold_wrong", "gold wrong"
    BOTH_ACCEPTABLE = "both_acceptable", "both acceptable"
    PAGE_BROKEN = "page_broken", "page broken"


RIGHT = (ReviewVerdict.BOTH_ACCEPTABLE, ReviewVerdict.GOLD_WRONG)  # the agent was not wrong
ABOUT_GOLD = (ReviewVerdict.GOLD_WRONG, ReviewVerdict.PAGE_BROKEN)  # of a recorded step, whatever an agent did there
# What a project starts with; its admins change it.
REASONS: dict[str, tuple[str, ...]] = {
    ReviewVerdict.AGENT_WRONG: (
        "wrong sibling",
        "wrong value",
        "stale memory",
        "misread the instruction",
        "step left out",
        "step repeated",
        "unreadable reply",
        "copied wrong value",
        "right element not offered",
        "prediction: counterfactual",
        "prediction: low competence",
        "prediction: generic",
        "prediction: other",
    ),
    ReviewVerdict.GOLD_WRONG: (
        "wrong element recorded",
        "wrong value recorded",
        "does not follow from the instruction",
        "step not needed",
    ),
    ReviewVerdict.BOTH_ACCEPTABLE: ("same effect", "other order", "other wording of the value"),
    ReviewVerdict.PAGE_BROKEN: (
        "page not recorded whole",
        "element not in the page",
        "wrong page",
        "answer not on the page",
    ),
}


class ReviewReasonQuerySet(models.QuerySet["ReviewReason"]):
    def ensured_for(self, project: Project) -> Self:
        """The reasons of a project; where it has none yet, `REASONS` are stored as its own first."""
        rows = self.filter(project=project)
        if not rows.exists():
            made: Any = [ReviewReason(project=project, verdict=v, text=text) for v in REASONS for text in REASONS[v]]
            self.bulk_create(made, ignore_conflicts=True)
        return rows

    def with_given(self, counted: Q) -> Self:
        """Annotate `given`, how often each reason was given, in the reviews that fit `counted` (a condition on
        `reviews`)."""
        return self.annotate(given=Count("reviews", filter=counted))

    def offered(self) -> Self:
        return self.filter(retired_at=None)

    def add(self, project: Project, verdict: str, text: str) -> bool:
        """Add a reason to a project; whether it is new there."""
        return self.get_or_create(project=project, verdict=verdict, text=text)[1]


class ReviewReason(models.Model):
    """A reason on a project's list. A retired one is no longer offered; reviews that gave it keep it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="review_reasons")
    verdict = models.CharField(max_length=16, choices=ReviewVerdict.choices)
    text = models.CharField(max_length=120)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = ReviewReasonQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "verdict", "text"], name="review_reason_once")]

    def __str__(self) -> str:
        return self.text

    def switch(self) -> None:
        """Retire the reason, or offer it again."""
        self.retired_at = None if self.retired_at else timezone.now()
        self.save(update_fields=["retired_at"])


class ReviewQuerySet(models.QuerySet["Review"]):
    def standing(self) -> Self:
        """Reviews that were not taken back."""
        return self.exclude(verdict="")

    def with_people(self) -> Self:
        return self.select_related("step", "reviewer", "reason")

    def of_step(self, trajectory: Trajectory, seq: int | None) -> Self:
        """Reviews of one step of a trajectory, or (`seq` None) of the whole of it."""
        return self.filter(trajectory=trajectory, step__seq=seq) if seq is not None else self.of_whole(trajectory)

    def with_representation(self) -> Self:
        """Annotate `representation`, the judged step's action in words, read without the rest of its trace."""
        return self.annotate(representation=KeyTextTransform("representation", KeyTransform("act", "step__trace")))

    def with_alike(self) -> Self:
        """Annotate `has_alike`: whether it is about a failed step of a study's run, so that one may ask for reviews of
        failures like it."""
        of_study = Exists(Run.objects.filter(pk=OuterRef("trajectory__run"), studies__isnull=False))
        return self.annotate(has_alike=Q(of_study, step__step__isnull=False, step__success=False))

    def count_by_verdict(self) -> dict[str, int]:
        return dict(self.order_by().values_list("verdict").annotate(Count("pk")))

    def by_reason(self) -> Counter[str]:
        """How many standing reviews give each reason; those without one are left out."""
        given = self.standing().order_by().exclude(reason=None)
        return Counter(given.values_list("reason__text", flat=True))

    def of_whole(self, trajectory: Trajectory) -> Self:
        return self.filter(trajectory=trajectory, step=None)

    def of_wholes(self) -> Self:
        """Standing reviews of whole trajectories as they are now: what was said before one grew counts no more."""
        return self.standing().filter(step=None, changed_at__gte=F("trajectory__updated_at"))

    def counted(self, by: str) -> Subquery:
        """How many there are, for each of what they are `by`, for a query of others."""
        return Subquery(self.order_by().values(by).annotate(n=Count("pk")).values("n"))

    def of_steps_of(self, run: Run) -> Self:
        """Standing reviews of the run's recorded steps, oldest first, whichever run they were given in; without those
        of gold that has been corrected, or found right, since."""
        return self.of_recorded(TrajectoryStep.objects.with_gold().filter(run=run).values("step"))

    def with_decisions(self) -> Self:
        """With the judged steps, without what their stages recorded, and who says it why."""
        rows = self.select_related("step", "reviewer", "reason", "trajectory__run")
        return rows.defer("step__trace", "step__candidate_ids", "step__candidate_scores", "step__branches")

    def of_recorded(self, steps: models.QuerySet[Any]) -> Self:
        """Standing reviews of these recorded steps, as `of_steps_of` reads them."""
        decided = Correction.objects.filter(step=OuterRef("step__step"), decided_at__gte=OuterRef("changed_at"))
        rows = self.standing().filter(step__step__in=steps)
        return rows.exclude(Q(verdict=ReviewVerdict.GOLD_WRONG) & Exists(decided)).order_by("changed_at", "id")

    def uncounted(self) -> Self:
        """Reviews that scores do not take into account yet. Those of whole trajectories and of steps without a recorded
        action are left out, as they change no score."""
        return self.filter(is_counted=False, step__step__isnull=False)

    def note_counted(self) -> None:
        """Note that scores take these reviews into account."""
        self.update(is_counted=True)

    def give(
        self,
        trajectory: Trajectory,
        step: TrajectoryStep | None,
        reviewer: User,
        verdict: str,
        reason: ReviewReason | None = None,
        comment: str = "",
        *,
        region: PageRegion | None = None,
    ) -> "Review":
        """Store what a person says of a step, or of the whole trajectory, in place of what they said before; verdict ""
        takes it back. BadReview for what cannot be said of it."""
        _check(verdict, comment, reason, trajectory, step)
        try:
            if region is not None:
                region.check_of(step)
        except BadRegion as error:
            raise BadReview(str(error)) from error
        said = {
            "verdict": verdict,
            "reason": reason,
            "comment": comment.strip(),
            "region": region.as_dict() if region else None,
            "changed_at": timezone.now(),
            "is_counted": False,
        }
        return self.update_or_create(trajectory=trajectory, step=step, reviewer=reviewer, defaults=said)[0]


def _check(
    verdict: str, comment: str, reason: ReviewReason | None, trajectory: Trajectory, step: TrajectoryStep | None
) -> None:
    if verdict and verdict not in ReviewVerdict.values:
        raise BadReview(f"A verdict is one of {', '.join(ReviewVerdict.values)}, or empty to take it back.")
    if reason is not None and (reason.verdict != verdict or reason.project_id != trajectory.run.dataset.project_id):
        raise BadReview("This reason is none of this verdict.")
    if len(comment) > MAX_REASON:
        raise BadReview(f"A comment has at most {MAX_REASON:,} characters; this one has {len(comment):,}.")
    if "\0" in comment:
        raise BadReview("A comment must not hold NUL characters.")
    if verdict == ReviewVerdict.BOTH_ACCEPTABLE and step is not None and not step.operation:
        raise BadReview("The agent did nothing here that could be acceptable.")
    needs_gold = verdict in (ReviewVerdict.GOLD_WRONG, ReviewVerdict.BOTH_ACCEPTABLE)
    if needs_gold and step is not None and step.step_id is None:
        raise BadReview("This step has no recorded action to compare with.")


class Review(models.Model):
    """A person's verdict on a step of a trajectory, or on the whole trajectory; each person has one of each."""

    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="reviews")
    step = models.ForeignKey(
        TrajectoryStep, models.CASCADE, null=True, blank=True, related_name="reviews", help_text="Empty: the whole."
    )
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="reviews")
    verdict = models.CharField(max_length=16, choices=ReviewVerdict.choices, blank=True, help_text="Empty: taken back.")
    reason = models.ForeignKey(ReviewReason, models.PROTECT, null=True, blank=True, related_name="reviews")
    comment = models.TextField(blank=True, max_length=MAX_REASON)
    region = models.JSONField(null=True, blank=True, help_text="Of the step's page (`PageRegion`). Empty: none named.")
    changed_at = models.DateTimeField()
    is_counted = models.BooleanField(default=False, help_text="Whether scores follow it as it is.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-changed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["step", "reviewer"], name="step_reviewed_once_each"),
            models.UniqueConstraint(
                fields=["trajectory", "reviewer"], condition=Q(step=None), name="trajectory_reviewed_once_each"
            ),
            models.CheckConstraint(
                condition=Q(verdict="") | Q(verdict__in=ReviewVerdict.values), name="review_verdict_known"
            ),
            models.CheckConstraint(
                condition=Q(region__isnull=True) | Q(step__isnull=False), name="review_region_of_a_step"
            ),
        ]
        indexes = [
            models.Index(fields=["changed_at"]),
            models.Index(fields=["id"], condition=Q(is_counted=False), name="review_uncounted"),
        ]

    def __str__(self) -> str:
        return f"{self.get_verdict_display() or 'taken back'} · {self.reviewer}"

    @property
    def place_name(self) -> str:
        """What it is about, in words."""
        of = f"the review of {self.trajectory.run.recipe_name} on {self.trajectory.conversation.source_id}"
        return f"{of}, step {self.step.seq + 1}" if self.step else f"{of}, the whole of it"

    @property
    def url(self) -> str:
        """The replay at what it is about."""
        if self.step is None:
            return f"{reverse('trajectory', args=[self.trajectory_id])}?whole=1"
        return reverse("trajectory-step", args=[self.trajectory_id, self.step.seq])

    @property
    def shown_region(self) -> PageRegion | None:
        return PageRegion(**self.region) if self.region else None

    def follow_gold(self) -> None:
        """Ask for a correction where the review calls gold wrong, with the agent's action as a suggestion. Where no
        review calls it wrong any more, and nobody has proposed a correction yet, withdraw the request."""
        done = self.step
        if done is None or done.step is None:
            return
        if self.verdict == ReviewVerdict.GOLD_WRONG:
            words = [self.reason.text if self.reason else "", self.comment]
            reason = ": ".join(filter(None, words)) or "A reviewer calls the recorded action wrong."
            if len(reason) > MAX_REASON:  # the comment alone fits
                reason = self.comment
            action = {"operation": done.operation, "value": done.value, "node_id": done.node_id}
            Correction.objects.ask(done.step, self.reviewer, reason, action if done.operation else None)
        elif not Review.objects.filter(step__step=done.step, verdict=ReviewVerdict.GOLD_WRONG).exists():
            asked = Correction.objects.filter(step=done.step, asked_by=self.reviewer, corrected_by=None)
            asked.filter(state=Correction.State.OPEN).delete()


class ReviewedRunQuerySet(models.QuerySet["ReviewedRun"]):
    def judged_otherwise(self, runs: Sequence[Run]) -> list["ReviewedRun"]:
        """Those of these runs, in order, in which reviews or corrections judge a step otherwise than recorded gold."""
        counted = self.filter(Q(accepted__gt=0) | Q(left_out__gt=0) | Q(corrected__gt=0), run__in=runs)
        found = {row.run_id: row for row in counted}
        return [found[run.pk] for run in runs if run.pk in found]


class ReviewedRun(models.Model):
    """How many steps of a run reviews judge differently or leave out of the scores."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="reviewed")
    accepted = models.PositiveIntegerField(default=0, help_text="Steps whose action counts as right by reviews.")
    left_out = models.PositiveIntegerField(default=0, help_text="Steps whose gold or page is wrong, in no score.")
    corrected = models.PositiveIntegerField(default=0, help_text="Steps that are judged otherwise by corrected gold.")

    objects = ReviewedRunQuerySet.as_manager()

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.accepted} accepted, {self.left_out} left out, {self.corrected} corrected"
