"""The places of a campaign's items, one per person who works on an item, by the state in which progress counts them:
those that people have, and those that nobody has yet."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, F, Max, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotations.models import Assignment, Campaign, Item, Session, Stage
from annotations.models.work.queue import AssignmentQuerySet
from annotations.models.work.sessions import SessionQuerySet

STATES = ("passed", "submitted", "returned", "in_progress", "todo")  # as the bars show them, from the left
LEFT = ("returned", "in_progress", "todo")
FREE = "(free)"  # as the person of a place; no user's name has a bracket
NO_BATCH = " "  # as the batch of a session without one; a batch's name is stripped
State, Reviewed = Assignment.State, Assignment.Reviewed


def state_name(state: str) -> str:
    """A state in words."""
    return "to do" if state == "todo" else state.replace("_", " ")


def taken_places(campaigns: Iterable[int]) -> AssignmentQuerySet:
    """Places that people have in live sessions, each annotated with the state by which it is `counted_as`.
    Decompositions and verifications count as passed when their session has passed, and so does a rewrite that was not
    taken, as another one was."""
    rows = Assignment.objects.active().filter(item__session__campaign__in=campaigns, item__session__deleted_at=None)
    is_over = ~Q(item__stage=Stage.REWRITE) | Q(review=Reviewed.NOT_TAKEN)
    has_passed = Q(review=Reviewed.PASSED) | Q(is_over, state=State.SUBMITTED, item__session__released__isnull=False)
    words = Case(
        When(has_passed, then=Value("passed")),
        When(state=State.SUBMITTED, then=Value("submitted")),
        When(review=Reviewed.RETURNED, then=Value("returned")),
        When(state=State.IN_PROGRESS, then=Value("in_progress")),
        default=Value("todo"),
    )
    return rows.annotate(counted_as=words)


@dataclass(frozen=True)
class ListedPlace:
    """A row of the list; one that nobody has is without `assignment` and `person`, and one whose item is not open is
    without `since`, when it came into its state."""

    session: Session
    stage: str
    state: str
    since: datetime | None
    assignment: int | None = None
    person: str = ""
    review: str = ""

    @property
    def state_name(self) -> str:
        """With what became of it, where that is not what its bar says."""
        if self.review == Reviewed.NOT_TAKEN:
            return "another version passed"
        return state_name(self.state)


class CampaignPlaces:
    """The places of a campaign that a filter leaves (the cleaned data of `PlaceFilterForm`), to be cut into pages: as
    many as progress counts. Those that people have come first."""

    def __init__(self, campaign: Campaign, wanted: dict[str, str]) -> None:
        stage, state, person, batch = (wanted.get(name, "") for name in ("stage", "state", "person", "batch"))
        self._stages = [stage] if stage else list(Stage.values)
        states = LEFT if state == "left" else (state,)
        sessions, taken = campaign.sessions.live(), taken_places([campaign.pk])
        if batch:
            sessions = sessions.filter(batch=batch.strip())
            taken = taken.filter(item__session__batch=batch.strip())
        if state:
            taken = taken.filter(Q(counted_as__in=states))
        if person:
            taken = taken.filter(user__username=person)
        has_free = person in ("", FREE) and (not state or "todo" in states)
        self._taken = taken.filter(item__stage__in=self._stages)
        self._free = self._free_places(sessions) if has_free else []
        self._count = self._taken.count()

    def __len__(self) -> int:
        return self._count + len(self._free)

    def __getitem__(self, cut: slice) -> list[ListedPlace]:
        first, end, _ = cut.indices(len(self))
        taken = self._of_people(first, min(end, self._count)) if first < self._count else []
        return taken + self._of_nobody(self._free[max(0, first - self._count) : max(0, end - self._count)])

    def _free_places(self, sessions: SessionQuerySet) -> list[tuple[int, str, int]]:
        """(session, stage, how manieth of the two) of each free place."""
        names = [f"free_{stage}" for stage in self._stages]
        rows = sessions.with_free_places().annotate(**{f"n_{name}": F(name) for name in names})
        return [
            (pk, stage, number)
            for pk, *counts in rows.values_list("pk", *(f"n_{name}" for name in names))
            for stage, count in zip(self._stages, counts, strict=True)
            for number in range(count)
        ]

    def _of_people(self, first: int, end: int) -> list[ListedPlace]:
        changes = Assignment.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
        since = Subquery(changes.annotate(at=Max("events__pgh_created_at")).values("at"))
        rows = self._taken.annotate(since=Coalesce(since, "created_at"))
        rows = rows.order_by("item__session__position", "item__session", "item__stage", "pk")
        names = ("item__session", "item__stage", "counted_as", "since", "pk", "user__username", "review")
        found = list(rows.values_list(*names)[first:end])
        sessions = Session.objects.in_bulk({session for session, *_ in found})
        return [ListedPlace(sessions[session], *told) for session, *told in found]

    def _of_nobody(self, places: list[tuple[int, str, int]]) -> list[ListedPlace]:
        sessions = Session.objects.in_bulk({session for session, _, _ in places})
        opened = self._opened(sessions)
        return [
            ListedPlace(sessions[session], stage, "todo", next(iter(opened[session, stage][number:]), None))
            for session, stage, number in places
        ]

    @staticmethod
    def _opened(sessions: Iterable[int]) -> dict[tuple[int, str], list[datetime]]:
        """By session and stage, for each free place of an open item when it was opened."""
        opened: dict[tuple[int, str], list[datetime]] = defaultdict(list)
        items = Item.objects.filter(session__in=sessions, state=Item.State.OPEN).order_by("pk")
        for item in items.prefetch_related("assignments"):
            opened[item.session_id, item.stage] += [item.opened_at] * (item.overlap - len(item.taken()))
        return opened
