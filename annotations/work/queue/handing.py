"""Handing out work: who gets which item next, and leases, so that nobody is locked out and nobody does it twice."""

import uuid
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotations.access import rules
from annotations.models import Assignment, Campaign, Item, Stage
from annotations.work import stages

LEASE = timedelta(minutes=2)
HEARTBEAT_SECONDS = 20
NEEDS = {Stage.DECOMPOSE: "annotate", Stage.REWRITE: "annotate", Stage.VERIFY: "review"}
State, Review = Assignment.State, Assignment.Review


class Refused(ValueError):
    """An assignment cannot be taken; the message says why, `holder` names who has it (None: nobody does)."""

    def __init__(self, message: str, holder: str | None = None) -> None:
        super().__init__(message)
        self.holder = holder


def next_item(user: AbstractBaseUser, campaign: Campaign, stage: str) -> Assignment | None:
    """What this person should do next: their returned work, then what they have begun, then what is assigned to them;
    in an open pool else a free item, or one whose holder's lease ran out. `why_nothing` explains None.

    A new item comes with a lease; the rest gets one by `take`.
    """
    if not _is_open(campaign) or not rules.can(user, NEEDS[Stage(stage)], campaign.project):
        return None
    # Items that others lock are passed over first; then waited for, as a locked one may have places left.
    for skip_locked in (True, False):
        tried: list[int] = []
        while True:
            with transaction.atomic():  # one attempt each: locks of items that turned out full are let go
                _one_request_at_a_time(user, campaign)
                if (own := _own(user, campaign, stage)) is not None:
                    return own
                if campaign.mode != Campaign.Mode.OPEN or _is_capped(user, campaign, stage):
                    return None
                item = _first_free(user, campaign, stage, tried, skip_locked)
                if item is None:
                    break
                if (slot := _free_slot(item)) is not None:
                    return lease(hand(item, user, slot), user)
                tried.append(item.pk)
    return _abandoned(user, campaign, stage)


def why_nothing(user: AbstractBaseUser, campaign: Campaign, stage: str) -> str:
    """One exact sentence for an empty queue."""
    project, word = campaign.project, Stage(stage).label
    if campaign.deleted_at:
        return f"{campaign} is in the bin."
    if campaign.closed_at:
        return f"{campaign} was closed on {campaign.closed_at:%-d %B %Y}."
    if not rules.can(user, NEEDS[Stage(stage)], project):
        return f"Your role in {project} may not {NEEDS[Stage(stage)]}; ask one of its admins."
    if not campaign.sessions.live().exists():
        return f"{campaign} has no sessions yet: they are made on its Organise page."
    items = _items(campaign, stage)
    if not items.exists():
        return _why_none_opened(stage)
    if _is_capped(user, campaign, stage):
        return f"You have had {_counted(campaign.cap)} to {word}, the most that one person gets in {campaign}."
    left = items.filter(state=Item.State.OPEN)
    if not left.exists():
        return f"Nothing is left to {word}: {_counted(items.count())} so far, all done."
    if campaign.mode == Campaign.Mode.ASSIGNED:
        return f"{campaign} gives work to people by name, and nothing is assigned to you to {word}."
    return _why_none_of(left, user, campaign, stage)


def hand(item: Item, user: AbstractBaseUser, slot: int) -> Assignment:
    """Give a place of an item to a person, with the first parts of their annotation."""
    made = Assignment.objects.create(
        item=item, user=user, slot=slot, guideline=item.session.campaign.guidelines.first()
    )
    stages.start_document(made)
    return made


@transaction.atomic
def take(assignment: Assignment, user: AbstractBaseUser) -> Assignment:
    """The assignment under a lease of this person, who is at work on it from now on.

    The holder of a live lease keeps its token, so that two tabs of one person do not fight. Another person takes
    over where the lease has run out: the assignment with its parts and edits is theirs then. Refused otherwise.
    """
    assignment.refresh_from_db(from_queryset=Assignment.objects.select_for_update(of=("self",)))
    if assignment.state not in Assignment.UNFINISHED:
        raise Refused("It was submitted." if assignment.state == State.SUBMITTED else "It was given back.")
    if assignment.user_id != user.pk:
        _check_takeover(assignment, user)
    return lease(assignment, user)


def lease(assignment: Assignment, user: AbstractBaseUser) -> Assignment:
    """Write the lease of a locked assignment: a new one, or the person's own live one made longer."""
    now = timezone.now()
    is_live = assignment.user_id == user.pk and assignment.lease_until is not None and assignment.lease_until > now
    if not is_live:
        assignment.lease_token = uuid.uuid4()
    assignment.user, assignment.state = user, State.IN_PROGRESS
    assignment.lease_until, assignment.heartbeat_at = now + LEASE, now
    assignment.save(update_fields=["user", "state", "lease_token", "lease_until", "heartbeat_at"])
    return assignment


@transaction.atomic
def beat(rows: QuerySet[Assignment], token: uuid.UUID | str) -> Assignment | None:
    """Extend the lease of the one of these that has it by this token, and count the time at work; None when somebody
    else has it or it is over.

    A lease that ran out is alive again if nobody took it; such a pause counts as none of the work.
    """
    held = rows.filter(lease_token=token, state__in=Assignment.UNFINISHED)
    found = held.select_related("user").select_for_update(of=("self",)).first()
    if found is None:
        return None
    now = timezone.now()
    since = now - (found.heartbeat_at or now)
    found.active_seconds += round(since.total_seconds()) if since <= LEASE else 0
    found.lease_until, found.heartbeat_at = now + LEASE, now
    found.save(update_fields=["lease_until", "heartbeat_at", "active_seconds"])
    return found


@transaction.atomic
def give_back(assignment: Assignment) -> None:
    """Let go of an item: its place is free for others. Refused once it is submitted or returned for correction."""
    assignment.refresh_from_db(from_queryset=Assignment.objects.select_for_update(of=("self",)))
    if assignment.state == State.SUBMITTED:
        raise Refused("It was submitted.")
    if assignment.review == Review.RETURNED:
        raise Refused("It was returned to you for correction: nobody else can go on with it.")
    assignment.state, assignment.lease_token, assignment.lease_until = State.RELEASED, None, None
    assignment.save(update_fields=["state", "lease_token", "lease_until"])


def in_order_of_need(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Unfinished ones: returned first, then begun, then assigned (those of a later round before new ones)."""
    need = Case(
        When(review=Review.RETURNED, then=Value(0)),
        When(state=State.IN_PROGRESS, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    ordered = ("need", "-round", "-item__session__weight", "item__session__position", "id")
    return assignments.filter(state__in=Assignment.UNFINISHED).alias(need=need).order_by(*ordered)


def held_items(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Leave out what cannot be worked on: sessions in the bin, and verifications whose subject is being corrected."""
    is_waiting = Q(item__stage=Stage.VERIFY) & ~Q(item__subject__state=State.SUBMITTED)
    return assignments.filter(item__session__deleted_at=None).exclude(is_waiting)


def free_places(campaign: Campaign) -> int:
    """Places of open items that nobody has."""
    items = Item.objects.filter(session__campaign=campaign, session__deleted_at=None, state=Item.State.OPEN)
    free = items.annotate(taken=_taken()).filter(taken__lt=F("overlap"))
    return sum(overlap - taken for overlap, taken in free.values_list("overlap", "taken"))


def _is_open(campaign: Campaign) -> bool:
    return campaign.deleted_at is None and campaign.closed_at is None


def _one_request_at_a_time(user: AbstractBaseUser, campaign: Campaign) -> None:
    """Until the transaction ends: a person who asks twice at once gets one item, and no more than the cap."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [campaign.pk, user.pk])


def _mine(user: AbstractBaseUser, campaign: Campaign, stage: str) -> QuerySet[Assignment]:
    return Assignment.objects.active().filter(user=user, item__session__campaign=campaign, item__stage=stage)


def _own(user: AbstractBaseUser, campaign: Campaign, stage: str) -> Assignment | None:
    return in_order_of_need(held_items(_mine(user, campaign, stage))).select_related("item__session").first()


def _is_capped(user: AbstractBaseUser, campaign: Campaign, stage: str) -> bool:
    return campaign.cap > 0 and _mine(user, campaign, stage).count() >= campaign.cap


def _items(campaign: Campaign, stage: str) -> QuerySet[Item]:
    """The stage's items that can be worked on, heaviest first."""
    items = Item.objects.filter(session__campaign=campaign, session__deleted_at=None, stage=stage)
    if stage == Stage.VERIFY:
        items = items.filter(subject__state=State.SUBMITTED)
    return items.order_by("-session__weight", "session__position", "id")


def _taken() -> Subquery:
    """How many places of an item somebody has."""
    places = Assignment.objects.active().filter(item=OuterRef("pk")).order_by().values("item")
    return Coalesce(Subquery(places.annotate(n=Count("pk")).values("n")), 0)


def _not_ones_own(items: QuerySet[Item], user: AbstractBaseUser) -> QuerySet[Item]:
    """Without items that the person has a place of, or a verification of their own work."""
    has = Assignment.objects.active().filter(item=OuterRef("pk"), user=user)
    return items.exclude(Exists(has)).exclude(subject__user=user)


def _with_seen_gold(items: QuerySet[Item], user: AbstractBaseUser, campaign: Campaign) -> QuerySet[Item]:
    """Without test splits for people who may not see their gold: the steps of a session show it."""
    if rules.sees_gold(user, campaign.project, "test"):
        return items
    return items.exclude(session__split__startswith="test")


def _free(user: AbstractBaseUser, campaign: Campaign, stage: str) -> QuerySet[Item]:
    items = _items(campaign, stage).filter(state=Item.State.OPEN).alias(taken=_taken()).filter(taken__lt=F("overlap"))
    return _with_seen_gold(_not_ones_own(items, user), user, campaign)


def _first_free(
    user: AbstractBaseUser, campaign: Campaign, stage: str, tried: list[int], skip_locked: bool
) -> Item | None:
    free = _free(user, campaign, stage).exclude(pk__in=tried)
    return free.select_for_update(skip_locked=skip_locked, of=("self",)).select_related("session__campaign").first()


def _free_slot(item: Item) -> int | None:
    """The first free place of a locked item. Counted again: others may have come between the query and the lock."""
    used = set(item.assignments.active().values_list("slot", flat=True))
    return next((slot for slot in range(item.overlap) if slot not in used), None)


def _left_behind(user: AbstractBaseUser, campaign: Campaign, stage: str) -> QuerySet[Assignment]:
    """Begun by others whose lease ran out, never returned for correction: their authors go on with those."""
    items = _with_seen_gold(_not_ones_own(_items(campaign, stage), user), user, campaign)
    return (
        Assignment.objects.filter(item__in=items.order_by(), state=State.IN_PROGRESS, review=Review.NONE)
        .filter(lease_until__lt=timezone.now())
        .order_by("lease_until")
    )


@transaction.atomic
def _abandoned(user: AbstractBaseUser, campaign: Campaign, stage: str) -> Assignment | None:
    _one_request_at_a_time(user, campaign)
    found = _left_behind(user, campaign, stage).select_for_update(skip_locked=True, of=("self",)).first()
    return None if found is None else lease(found, user)


def _check_takeover(assignment: Assignment, user: AbstractBaseUser) -> None:
    """Refused unless this person may go on with another's assignment."""
    holder, item = assignment.user.get_username(), assignment.item
    campaign = item.session.campaign
    if assignment.lease_until is not None and assignment.lease_until > timezone.now():
        raise Refused(f"{holder} is at work on it.", holder)
    rules.require(user, NEEDS[Stage(item.stage)], campaign.project)
    if campaign.mode == Campaign.Mode.ASSIGNED:
        raise Refused(f"{campaign} gives work to people by name, and this is {holder}'s.", holder)
    if assignment.state == State.ASSIGNED:
        raise Refused(f"It is assigned to {holder}, who has not begun.", holder)
    if assignment.review == Review.RETURNED:
        raise Refused(f"It was returned to {holder}, who corrects it.", holder)
    if not _not_ones_own(Item.objects.filter(pk=item.pk), user).exists():
        raise Refused("You have a part in this item already.", holder)
    if not rules.sees_gold(user, campaign.project, item.session.split):
        raise Refused("It is of a test split, whose gold actions you may not see.", holder)


def _why_none_opened(stage: str) -> str:
    return {
        Stage.DECOMPOSE: "The sessions are not open for work yet: that is done on the campaign's Organise page.",
        Stage.REWRITE: "Rewriting begins when the first decomposition is submitted; none is yet.",
        Stage.VERIFY: "Verifying begins when the first rewrite is submitted; none waits for it now.",
    }[Stage(stage)]


def _why_none_of(left: QuerySet[Item], user: AbstractBaseUser, campaign: Campaign, stage: str) -> str:
    """Why none of the items left in an open pool is for this person."""
    seen = _with_seen_gold(left, user, campaign)
    if not seen.exists():
        return f"{_left(left, stage)}, all of test splits, whose gold actions you may not see."
    others = _not_ones_own(seen, user)
    if not others.exists():
        own = "rewrites of your own" if stage == Stage.VERIFY else "of which you have had your part"
        return f"{_left(seen, stage)}, {own}: other people's work."
    holders = Assignment.objects.filter(item__in=others.order_by(), state__in=Assignment.UNFINISHED)
    people = holders.order_by().values("user").distinct().count()
    first = holders.filter(lease_until__gt=timezone.now()).order_by("lease_until").first()
    until = (
        f"the next lease runs out at {timezone.localtime(first.lease_until):%H:%M:%S} unless its holder goes on"
        if first
        else "nobody is at work on them right now"
    )
    return f"{_left(others, stage)}, held by {_counted(people, 'person', 'people')}; {until}."


def _left(items: QuerySet[Item], stage: str) -> str:
    return f"Left to {Stage(stage).label}: {_counted(items.count())}"


def _counted(count: int, one: str = "item", many: str = "items") -> str:
    return f"{count} {one if count == 1 else many}"
