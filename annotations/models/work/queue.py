"""The queue as sets of rows: which items are free and for whom, and which assignments come first."""

from collections.abc import Iterable
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import models, transaction
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Prefetch, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Now

from annotations.models.accounts.projects import Account, Membership, Project, Role, User
from annotations.models.lease import LeaseQuerySet
from annotations.models.work.campaigns import Campaign, Stage
from annotations.models.work.partial_rows import partly
from annotations.models.work.parts import Part
from annotations.models.work.sessions import Session
from annotations.text.segmentation import cuts_of, most_alike

if TYPE_CHECKING:
    from annotations.models.work.assignments import Assignment
    from annotations.models.work.items import Item  # noqa: F401

# In SQL, as every save runs it: Django takes longer to put it together than to do all else that a save needs.
FOR_SAVING_SQL = """
SELECT a.*, i.stage, i.session_id, s.split, s.is_gold, s.campaign_id, c.project_id, m.role
FROM annotations_assignment a
JOIN annotations_item i ON i.id = a.item_id
JOIN annotations_session s ON s.id = i.session_id
JOIN annotations_campaign c ON c.id = s.campaign_id
LEFT JOIN annotations_membership m ON m.project_id = c.project_id AND m.user_id = %s
WHERE a.id = %s AND s.deleted_at IS NULL
FOR UPDATE OF a
"""

PACE_OF = 20  # items handed in last, whose median is a person's pace
FEWEST_FOR_PACE = 3
LYING = timedelta(days=3)  # from which on work that nobody has opened lies


class NotYours(Exception):
    """Somebody wants to write who does not hold the lease, or no longer. `code` tells the browser why, `holder` who has
    the work."""

    def __init__(self, code: str, message: str, holder: str | None = None) -> None:
        super().__init__(message)
        self.code, self.holder = code, holder


class NotFree(ValueError):
    """An assignment cannot be taken; the message says why, `holder` names who has it (None: nobody does)."""

    def __init__(self, message: str, holder: str | None = None) -> None:
        super().__init__(message)
        self.holder = holder


class StaleWork(ValueError):
    """The work has changed since it was read."""


class NotReady(ValueError):
    """Work that cannot go on yet; `problems` are sentences for the person at work, `steps` the first steps of the parts
    that they name."""

    def __init__(self, problems: list[str], steps: list[int] | None = None) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems
        self.steps = steps or []


class Unsure(ValueError):
    """Work that can be handed in, accepted or proposed, but hardly as it is; `problems` are sentences about it. Pages
    ask once, the API refuses it unless `sure` is sent."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join([*problems, "Send `sure`: true to go on all the same."]))
        self.problems = problems


def check_sure(found: Iterable[str], *, sure: bool) -> None:
    """Raise Unsure for what was found, unless the caller is sure of it."""
    if not sure and (problems := list(found)):
        raise Unsure(problems)


class VerdictRefused(ValueError):
    """A verdict that cannot be given; the message says why, to the verifier."""


class ItemQuerySet(models.QuerySet["Item"]):
    def to_do(self, campaign: Campaign, stage: str) -> Self:
        """A stage's items that can be worked on, heaviest first."""
        items = self.filter(session__campaign=campaign, session__deleted_at=None, stage=stage)
        if stage == Stage.VERIFY:
            items = items.filter(subject__state="submitted")
        return items.order_by("-session__weight", "session__position", "id")

    def with_places(self) -> Self:
        """Open items that have a free place."""
        taken = self._places().filter(item=OuterRef("pk")).order_by().values("item")
        counted = Coalesce(Subquery(taken.annotate(n=Count("pk")).values("n")), 0)
        return self.filter(state=self.model.State.OPEN).alias(taken=counted).filter(taken__lt=F("overlap"))

    def not_of(self, user: User) -> Self:
        """Items without those of which this person has a place, and without verifications of their own work."""
        has = self._places().filter(item=OuterRef("pk"), user_id=user.pk or 0)
        return self.exclude(Exists(has)).exclude(subject__user=user)

    def seen_by(self, user: User, project: Project) -> Self:
        """Items without those of test splits, where this person may not see their gold: the steps of a session show
        it."""
        return self if project.shows_gold(user, "test") else self.exclude(session__split__startswith="test")

    def with_versions(self) -> Self:
        """Items that two people or more have handed in, of which one version can be made of two: none has passed, and
        nobody has begun to rewrite with their cuts. Hidden gold items are compared with what is known."""
        handed_in = self._places().filter(item=OuterRef("pk"), state="submitted").exclude(review="not_taken")
        counted = Coalesce(Subquery(handed_in.order_by().values("item").annotate(n=Count("pk")).values("n")), 0)
        begun = self._places().filter(item__session=OuterRef("session"), item__stage=Stage.REWRITE)
        rows = self.filter(session__released=None, session__is_gold=False).exclude(stage=Stage.VERIFY)
        live = rows.filter(session__deleted_at=None, session__campaign__deleted_at=None)
        free = live.exclude(Q(stage=Stage.DECOMPOSE) & Exists(begun)).alias(handed_in=counted)
        return free.filter(handed_in__gt=1).order_by("session__position", "id")

    def holding_up(self) -> Self:
        """Items of sessions that are to become conversations and have not: without hidden gold, and without
        verifications of what its author has in hand."""
        rows = self.filter(session__deleted_at=None, session__released=None, session__is_gold=False)
        return rows.exclude(Q(stage=Stage.VERIFY) & ~Q(subject__state="submitted"))

    def with_nobody_left(self) -> Self:
        """Open items with a free place that no member could get: those who may work on them have had their part, or may
        not see the gold of their split."""
        left = {stage: self._members_left(stage) for stage in (Stage.DECOMPOSE, Stage.VERIFY)}
        is_verified = Q(stage=Stage.VERIFY)
        somebody = (is_verified & left[Stage.VERIFY]) | (~is_verified & left[Stage.DECOMPOSE])
        return self.holding_up().with_places().exclude(somebody)

    def free_for_somebody(self) -> Self:
        """Items that hold up, of which a member could get a place."""
        stuck = self.with_nobody_left().order_by().values("pk")
        return self.holding_up().with_places().exclude(pk__in=stuck)

    def asked_about(self) -> Self:
        """Items of sessions with an open question: a thread of comments that nobody has resolved."""
        thread = {"session__comments__isnull": False, "session__comments__parent": None}
        open_ones = {"session__comments__resolved_at": None, "session__comments__deleted_at": None}
        asked = self.filter(**thread, **open_ones).order_by().values("pk")
        return self.holding_up().filter(pk__in=asked)

    def not_taken_up(self) -> Self:
        """Items with work that was returned and that its author has not opened since."""
        return self.holding_up().filter(pk__in=self._places().not_taken_up().order_by().values("item"))

    def lying(self) -> Self:
        """Items with work that its holder has not opened for days."""
        return self.holding_up().filter(pk__in=self._places().lying().order_by().values("item"))

    def under_way(self) -> Self:
        """Items that somebody has in hand, and has opened lately."""
        held = self._places().unfinished().exclude(pk__in=self._places().not_taken_up().order_by().values("pk"))
        held = held.exclude(pk__in=self._places().lying().order_by().values("pk"))
        return self.filter(pk__in=held.order_by().values("item"))

    def _members_left(self, stage: Stage) -> Q:
        """Whether a member could get a place of an item of this stage; of rewriting as of decomposing."""
        has = self._places().filter(item=OuterRef(OuterRef("pk")), user=OuterRef("user"))
        wrote = self._places().filter(verified_as=OuterRef(OuterRef("pk")), user=OuterRef("user"))
        able = Membership.objects.able(stage.ability).filter(
            ~Exists(has), project=OuterRef("session__campaign__project"), user__is_active=True
        )
        if stage == Stage.VERIFY:
            able = able.exclude(Exists(wrote))
        is_test = Q(session__split__startswith="test")
        return (is_test & Q(Exists(able.seeing_test_gold()))) | (~is_test & Q(Exists(able)))

    def widen(self, overlap: int) -> None:
        """Give each of these items at least so many places."""
        self.filter(overlap__lt=overlap).update(overlap=overlap)

    def not_begun(self) -> Self:
        """Open items of which nobody has begun a place, though somebody may have one."""
        begun = self._places().filter(item=OuterRef("pk")).exclude(state="assigned", round=1, version=0)
        return self.filter(state=self.model.State.OPEN).exclude(Exists(begun))

    def follow(self, overlap: int) -> tuple[int, int]:
        """Give those of these items that nobody has begun so many places, and never fewer than are taken: how many
        items have changed, and how many keep another number."""
        beyond = self._places().filter(item=OuterRef("pk"), slot__gte=overlap)
        others = self.exclude(overlap=overlap)
        changed = others.not_begun().exclude(Exists(beyond)).update(overlap=overlap)
        return changed, others.count()

    def for_planning(self) -> Self:
        """Items, heaviest first, with all rows that deciding who gets them reads."""
        rows = self.select_related("session__campaign", "subject").prefetch_related("assignments")
        return rows.order_by("-session__weight", "session__position", "pk")

    def for_listing(self) -> Self:
        """Items with the people who work on each and the parts that they have written, in the order of their steps."""
        rows = self.select_related("session__website", "subject__user")
        task = "first_step__turn__conversation__sessiontask"  # of this session: a conversation may be in several
        parts = Part.objects.filter(**{f"{task}__session": F("assignment__item__session")})
        parts = parts.order_by(f"{task}__position", "first_step__turn__index", "first_step__index")
        return rows.prefetch_related("assignments__user", Prefetch("assignments__parts", parts))

    def for_checking(self) -> Self:
        """Verifications with all rows that their checks read."""
        related = ("session__campaign__project", "subject__user", "subject__item__session", "held_back")
        return self.select_related(*related).prefetch_related("session__comments")

    def free_for(self, user: User, campaign: Campaign, stage: str) -> Self:
        """Items of an open pool that this person could get now, in the order in which they are handed out."""
        return self.to_do(campaign, stage).with_places().not_of(user).seen_by(user, campaign.project)

    def unseen_places(self, campaign: Campaign) -> int:
        """In a campaign that gives work by name: places of open items that nobody can see, because nobody has them."""
        if campaign.mode != Campaign.Mode.ASSIGNED:
            return 0
        free = (
            self.filter(session__campaign=campaign, session__deleted_at=None).with_places().annotate(taken=F("taken"))
        )
        return sum(overlap - taken for overlap, taken in free.values_list("overlap", "taken"))

    def _places(self) -> "AssignmentQuerySet":
        """The places that somebody has, of any item."""
        places: AssignmentQuerySet = AssignmentQuerySet(self.model.assignments.rel.related_model)
        return places.active()


class AssignmentQuerySet(LeaseQuerySet["Assignment"]):
    def active(self) -> Self:
        """Assignments that hold a place of their item: all that were not given back."""
        return self.exclude(state=self.model.State.RELEASED)

    def unfinished(self) -> Self:
        """Assignments that their holder may still write."""
        return self.filter(state__in=self.model.UNFINISHED)

    def of(self, campaign: Campaign, stage: str) -> Self:
        """Assignments that hold a place in a stage of a campaign."""
        return self.active().filter(item__session__campaign=campaign, item__stage=stage)

    def room_left(self, user: Account, campaign: Campaign, stage: str) -> float:
        """How many more items of a stage this person may get; infinity where the campaign has no cap."""
        if not campaign.cap:
            return float("inf")
        return campaign.cap - self.of(campaign, stage).filter(user=user).count()

    def are_capped(self, user: Account, campaign: Campaign, stage: str) -> bool:
        """Whether this person has had as many items of this stage as the campaign allows one person."""
        return self.room_left(user, campaign, stage) <= 0

    def next_of(self, user: Account, campaign: Campaign, stage: str) -> "Assignment | None":
        """What this person has to do already: returned, begun or assigned to them."""
        mine = self.of(campaign, stage).filter(user=user).workable()
        return mine.in_order_of_need().select_related("item__session").first()

    def pace(self, user: Account, campaign: Campaign, stage: str) -> float | None:
        """The median seconds of the items that this person handed in last; None where they were too few."""
        done = self.of(campaign, stage).filter(user=user, state=self.model.State.SUBMITTED, active_seconds__gt=0)
        seconds = list(done.order_by("-submitted_at").values_list("active_seconds", flat=True)[:PACE_OF])
        return median(seconds) if len(seconds) >= FEWEST_FOR_PACE else None

    def with_step_count(self) -> Self:
        """Annotate `steps`, the number of steps of the session."""
        return self.annotate(steps=Count("item__session__tasks__conversation__turns__steps"))

    def begun_sessions(self, campaign: Campaign) -> set[int]:
        """Keys of sessions that somebody has work on, so that their tasks may not change any more."""
        rows = self.active().filter(item__session__campaign=campaign)
        return set(rows.values_list("item__session_id", flat=True))

    def workable(self) -> Self:
        """Assignments without those that cannot be worked on: sessions in the bin, verifications whose subject is being
        corrected."""
        is_waiting = Q(item__stage=Stage.VERIFY) & ~Q(item__subject__state=self.model.State.SUBMITTED)
        return self.filter(item__session__deleted_at=None).exclude(is_waiting)

    def in_order_of_need(self) -> Self:
        """Unfinished assignments: returned ones first, then begun ones, then assigned ones (those of a later round
        before new ones)."""
        need = Case(
            When(review=self.model.Reviewed.RETURNED, then=Value(0)),
            When(state=self.model.State.IN_PROGRESS, then=Value(1)),
            default=Value(2),
            output_field=IntegerField(),
        )
        ordered = ("need", "-round", "-item__session__weight", "item__session__position", "id")
        return self.unfinished().alias(need=need).order_by(*ordered)

    def not_taken_up(self) -> Self:
        """Returned work that its author has not opened since."""
        returned = self.unfinished().filter(review=self.model.Reviewed.RETURNED)
        return returned.filter(round__gt=1, lease_token=None)

    def lying(self) -> Self:
        """Unfinished work that its holder has not had open for days; what was returned and not taken up aside."""
        taken_up = self.unfinished().exclude(pk__in=self.not_taken_up().order_by().values("pk"))
        return taken_up.alias(seen=Coalesce("heartbeat_at", "created_at")).filter(seen__lt=Now() - LYING)

    def left_behind(self) -> Self:
        """Assignments that somebody has begun and left, so that others may take them over: the lease ran out. Returned
        ones are not among them, as their authors go on with those."""
        begun = self.filter(state=self.model.State.IN_PROGRESS, review=self.model.Reviewed.NONE)
        return begun.run_out().order_by("lease_until")

    def not_begun(self, items: ItemQuerySet) -> Self:
        """Assignments of these items that nobody has touched, in their first round."""
        return self.filter(item__in=items.order_by(), state=self.model.State.ASSIGNED, round=1, version=0)

    @transaction.atomic
    def take_back(self, items: ItemQuerySet) -> int:
        """Free the places of these items that nobody has begun; returns how many."""
        rows = self.filter(pk__in=self.not_begun(items).values("pk")).select_for_update()
        still = self.filter(pk__in=[row.pk for row in rows], state=self.model.State.ASSIGNED)
        return still.update(state=self.model.State.RELEASED)

    def judge_again(self, round: int) -> None:
        """Give assignments that were handed in back to their people, for another round."""
        self.filter(state=self.model.State.SUBMITTED).update(state=self.model.State.ASSIGNED, round=round)

    def lock(self) -> Self:
        """Lock these rows until the transaction ends, but not the related rows that are read with them."""
        return self.select_for_update(of=("self",))

    def for_saving(self, pk: int, user: User) -> Any:
        """One of these assignments, locked until the transaction ends: saves of one annotation wait for each other,
        others do not.

        `role` is the user's in its project, None for strangers. None for what is not there or in the bin. Item, session
        and campaign come with it as far as saving needs them, and read the rest when it is asked for. 0.6 ms where
        Django's own query takes 2.5 ms.
        """
        found: Any = next(iter(self.raw(FOR_SAVING_SQL, [user.pk, pk])), None)
        if found is None:
            return None
        campaign = partly(Campaign, id=found.campaign_id, project_id=found.project_id)
        known = {"split": found.split, "is_gold": found.is_gold}
        session = partly(Session, id=found.session_id, campaign_id=campaign.pk, **known)
        session.campaign = campaign
        item_model = self.model.item.field.related_model
        found.item = partly(item_model, id=found.item_id, session_id=session.pk, stage=found.stage)
        found.item.session = session
        if found.user_id == user.pk:
            found.user = user
        if user.is_superuser:
            found.role = Role.ADMIN
        return found

    @transaction.atomic
    def beat(self, token: UUID | str) -> Any:
        """Extend the lease of the one of these that is held by this token, and count the time at work; None when
        somebody else has it or it is over.

        A lease that ran out is alive again if nobody took it; such a pause is not counted as work.
        """
        found = self.under(token).select_related("user").lock().first()
        if found is not None:
            found.beat()
        return found

    def chosen_decomposition(self, session: Session) -> Any:
        """The submitted decomposition that agrees best with the others (mean boundary similarity); the first of
        equals. One that was closed for another is left out. NotReady when none is submitted."""
        rows = self.filter(item__session=session, item__stage=Stage.DECOMPOSE, state=self.model.State.SUBMITTED)
        submitted = list(rows.exclude(review="not_taken").prefetch_related("parts").order_by("id"))
        if not submitted:
            raise NotReady([f"No decomposition of {session} has been submitted yet."])
        if len(submitted) == 1:
            return submitted[0]
        places = session.places()
        cuts = [cuts_of((part.first_step_id for part in one.parts.all()), places) for one in submitted]
        return submitted[most_alike(cuts, len(places))]
