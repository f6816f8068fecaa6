"""How far a campaign is: per stage, person and batch, and when it will be done."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from django.db.models import Count, Q

from annotations.models import Assignment, Campaign, Session, Stage
from annotations.shown_progress import span_text

STATES = ("passed", "submitted", "returned", "in_progress", "todo")  # as the bars show them, from the left
LAST, FEWEST = 50, 5  # finished places that a forecast rests on, and the least of them
State, Reviewed = Assignment.State, Assignment.Reviewed


@dataclass
class ItemCounts:
    """Places of items (one per person who works on one) by state."""

    passed: int = 0
    submitted: int = 0
    returned: int = 0
    in_progress: int = 0
    todo: int = 0

    @property
    def total(self) -> int:
        return sum(getattr(self, state) for state in STATES)

    @property
    def left(self) -> int:
        return self.returned + self.in_progress + self.todo

    def add(self, state: str, count: int) -> None:
        setattr(self, state, getattr(self, state) + count)

    @property
    def segments(self) -> list[tuple[str, str, int, int, int]]:
        """(class, words, count, x, width) per state of the bar, which is 1000 wide."""
        found, x = [], 0
        for state in STATES:
            count = getattr(self, state)
            width = round(1000 * count / self.total) if self.total else 0
            found.append((state, state.replace("_", " "), count, x, width))
            x += width
        return found


@dataclass
class CampaignProgress:
    """How many items of one campaign are in which state, by stage, person and batch. A session counts in every stage,
    also in those that are not open yet."""

    sessions: int = 0
    passed_sessions: int = 0
    stages: dict[str, ItemCounts] = field(default_factory=lambda: {stage: ItemCounts() for stage in Stage.values})
    people: dict[str, dict[str, ItemCounts]] = field(default_factory=dict)  # user name -> stage
    batches: dict[str, dict[str, ItemCounts]] = field(default_factory=dict)

    @property
    def is_passed(self) -> bool:
        """Whether there are sessions, and all have passed."""
        return 0 < self.sessions == self.passed_sessions


def progress_of(campaigns: Iterable[Campaign]) -> dict[int, CampaignProgress]:
    """Progress by the campaigns' keys, in two queries. Decompositions and verifications count as passed when their
    session has passed; the to-do places of a session are those that nobody has, and those not begun."""
    by_key = {campaign.pk: campaign for campaign in campaigns}
    found = {pk: CampaignProgress() for pk in by_key}
    places: dict[tuple[int, str, str], int] = defaultdict(int)
    sessions = Session.objects.live().filter(campaign__in=by_key).order_by().values_list("campaign", "batch")
    counted = sessions.annotate(n=Count("pk"), unreleased=Count("pk", filter=Q(released=None)))
    for pk, batch, count, open_ones in counted:
        found[pk].sessions += count
        found[pk].passed_sessions += count - open_ones
        for stage in Stage.values:
            places[pk, batch, stage] = open_ones * by_key[pk].places_per_session(stage)
    for row in _counts(by_key):
        progress = found[row["campaign"]]
        if not row["released"]:
            places[row["campaign"], row["batch"], row["item__stage"]] -= row["n"]
        for tally in _tallies(progress, row):
            tally.add(_state(row), row["n"])
    for (pk, batch, stage), free in places.items():
        found[pk].stages[stage].todo += max(0, free)
        _of(found[pk].batches, batch)[stage].todo += max(0, free)
    return found


def forecast(campaign: Campaign, stage: str, left: int) -> str:
    """How much work is left, as a sentence with its basis. What was not made at the workbench has no time."""
    word = Stage(stage).label
    if not left:
        return f"Nothing is left to {word}."
    finished = Assignment.objects.filter(
        item__session__campaign=campaign, item__stage=stage, state=State.SUBMITTED, active_seconds__gt=0
    ).order_by("-submitted_at")
    seconds = list(finished.values_list("active_seconds", flat=True)[:LAST])
    if len(seconds) < FEWEST:
        return f"{left} left to {word}; a forecast needs the times of {FEWEST} finished ones, {len(seconds)} are known."
    each = median(seconds)
    basis = f"the median active time of the last {len(seconds)}"
    return f"About {span_text(left * each)} of work left to {word}: {left} × {span_text(each)}, {basis}."


def _counts(campaigns: Iterable[int]) -> Iterable[dict]:
    active = (
        Assignment.objects.active()
        .filter(item__session__campaign__in=campaigns, item__session__deleted_at=None)
        .order_by()
    )
    return (
        row
        | {"campaign": row["item__session__campaign"], "batch": row["item__session__batch"]}
        | {"released": row["item__session__released"] is not None}
        for row in active.values(
            "item__session__campaign",
            "item__session__batch",
            "item__session__released",
            "item__stage",
            "user__username",
            "state",
            "review",
        ).annotate(n=Count("pk"))
    )


def _tallies(progress: CampaignProgress, row: dict) -> list[ItemCounts]:
    stage = row["item__stage"]
    people, batches = _of(progress.people, row["user__username"]), _of(progress.batches, row["batch"])
    return [progress.stages[stage], people[stage], batches[stage]]


def _of(tallies: dict[str, dict[str, ItemCounts]], name: str) -> dict[str, ItemCounts]:
    return tallies.setdefault(name, {stage: ItemCounts() for stage in Stage.values})


def _state(row: dict) -> str:
    """The state by which an assignment is counted: the name of a field of `ItemCounts`."""
    if row["review"] == Reviewed.PASSED or (row["state"] == State.SUBMITTED and row["released"]):
        return "passed"
    if row["state"] == State.SUBMITTED:
        return "submitted"
    if row["review"] == Reviewed.RETURNED:
        return "returned"
    return "in_progress" if row["state"] == State.IN_PROGRESS else "todo"
