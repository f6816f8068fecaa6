"""Who may review what agents did, and what follows from a review; the same for pages and API."""

from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from agents.models import Trajectory, TrajectoryStep
from annotations.access import rules
from annotations.models import Project
from evaluation.models import BadReview, Review, ReviewMention, ReviewQueue, ReviewReason, ReviewTask, Study
from evaluation.models.page_regions import BadRegion, PageRegion
from evaluation.models.review_queues import ReviewQueueQuerySet
from evaluation.models.reviews import ReviewReasonQuerySet
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.counting import wake_on_commit


class SaidOfStep(NamedTuple):
    """A review as it was sent, of step `seq` or (None) of the whole trajectory; an empty verdict takes it back.
    `reason`: the key of one of the project's reasons, or its text. `region`: a `PageRegion` as a dictionary."""

    seq: int | None
    verdict: str
    reason: int | str | None
    comment: str
    region: object = None  # as it was sent

    def step_of(self, found: Trajectory) -> TrajectoryStep | None:
        """The step that the review is about; None for the whole trajectory. BadReview where it is not decided."""
        if self.seq is None:
            return None
        step = found.steps.filter(seq=self.seq).first() if 0 <= self.seq < 2**31 else None
        if step is None:
            raise BadReview("This step is not decided yet.")
        return step

    def reason_of(self, project: Project) -> ReviewReason | None:
        """The project's reason that it names, if any. BadReview where the verdict has no such reason."""
        if self.reason is None:
            return None
        rows = ReviewReason.objects.ensured_for(project)
        if isinstance(self.reason, str):
            found = rows.filter(verdict=self.verdict, text=self.reason).first()
        else:
            found = rows.filter(pk=self.reason).first() if 0 <= self.reason < 2**63 else None
        if found is None:
            offered = ", ".join(one.text for one in rows.offered().filter(verdict=self.verdict))
            raise BadReview(f"There is no such reason of this verdict. There are: {offered or 'none'}.")
        return found

    def region_of(self) -> PageRegion | None:
        """The rectangle of the step's page that it names, if any. BadReview for what is none."""
        try:
            return None if self.region is None else PageRegion.read(self.region)
        except BadRegion as error:
            raise BadReview(str(error)) from error


class QueueProgress(NamedTuple):
    """How much a queue asks for, how much of it by as many people as were asked for, and how much is left for one
    person."""

    size: int
    done: int
    left: int


def require_may_read(user: User, found: Trajectory) -> None:
    """Raise PermissionDenied where the user may not see the gold of the trajectory's split, which reviews tell."""
    rules.require_gold(user, found.run.dataset.project, found.conversation.split)


def require_may_review(user: User, found: Trajectory) -> None:
    """Raise PermissionDenied, with the reason, unless the user may review the trajectory."""
    require_may_read(user, found)
    rules.require(user, "review", found.run.dataset.project)


def give_review(user: User, found: Trajectory, said: SaidOfStep) -> Review:
    """Store a person's review in place of their earlier one, and tell whom it names with @. BadReview for what cannot
    be said of it."""
    step = said.step_of(found)
    reason = said.reason_of(found.run.dataset.project)
    before = Review.objects.of_step(found, said.seq).filter(reviewer=user).first()
    if reason is not None and reason.retired_at and (before is None or before.reason_id != reason.pk):
        raise BadReview("This reason is offered no more.")
    with transaction.atomic():
        words = said.verdict, reason, said.comment
        given = Review.objects.give(found, step, user, *words, region=said.region_of())
        given.follow_gold()
        ReviewMention.objects.follow(given)
    wake_on_commit()
    return given


def reasons_for(user: User, project: Project) -> ReviewReasonQuerySet:
    """A project's reasons, with how often each was given. Only reviews that the user may read are counted: otherwise a
    count that grows would tell what was said of a step whose gold is hidden."""
    ways = "reviews__trajectory__conversation__split", "reviews__trajectory__run__dataset__project"
    return ReviewReason.objects.ensured_for(project).with_given(rules.shows_gold(user, *ways))


def ask_for_reviews(user: User, study: Study, demand: QueueDemand) -> ReviewQueue:
    """Store a queue of steps of a study, or of whole trajectories, for people to judge. ValueError where there is
    nothing to look at."""
    rules.require(user, "manage", study.project)
    _require_gold(user, study.project, study.runs.values_list("trajectories__conversation__split", flat=True))
    return make_queue(user, study, demand)


def studies_to_ask_of(user: User) -> QuerySet[Study]:
    """Studies with runs, the newest first, of whose steps or trajectories the user may ask people to judge some."""
    studies = Study.objects.filter(project__in=rules.projects(user, "manage"), runs__isnull=False)
    return studies.order_by("-pk").distinct()


def queues_for(user: User) -> ReviewQueueQuerySet:
    """The queues that the user may see. The size of a queue tells how much was found wrong or judged
    differently, so a queue with anything whose gold is hidden is left out."""
    tasks = ReviewTask.objects.filter(queue=OuterRef("pk"))
    hidden = tasks.exclude(rules.shows_gold(user, "trajectory__conversation__split", "queue__project"))
    return rules.visible(user, ReviewQueue.objects.all()).exclude(Exists(hidden))


def require_may_open(user: User, queue: ReviewQueue) -> None:
    """Raise PermissionDenied where the user may not see the gold of all that the queue asks of."""
    # Of its own, at most 2,000: of the study, all trajectories would be read at every step that is judged.
    splits = queue.tasks.values_list("trajectory__conversation__split", flat=True)
    _require_gold(user, queue.project, splits)


def next_asked(user: User, queue: ReviewQueue) -> ReviewTask | None:
    """What this person is asked to judge next."""
    rules.require(user, "review", queue.project)
    return queue.tasks.left_for(user).select_related("step").first()


def progress_for(user: User, queue: ReviewQueue) -> QueueProgress:
    may = rules.can(user, "review", queue.project)
    left = queue.tasks.left_for(user).count() if may else 0
    return QueueProgress(queue.tasks.count(), queue.tasks.done().count(), left)


def _require_gold(user: User, project: Project, splits: QuerySet[Any]) -> None:
    """Raise PermissionDenied where the user may not see the gold of one of these splits: verdicts on steps tell it."""
    for split in splits.distinct().order_by():
        if split:
            rules.require_gold(user, project, split)
