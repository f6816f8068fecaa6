"""How far a campaign is: per stage, person and batch, and when it will be done."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from django.db.models import Count, Sum

from annotations.campaigns.places import LEFT, STATES, taken_places
from annotations.models import Assignment, Campaign, Session, Stage
from annotations.shown_progress import span_text

LAST, FEWEST = 50, 5  # finished places that a forecast rests on, and the least of them


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
        return sum(getattr(self, state) for state in LEFT)

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
    """Progress by the campaigns' keys, in two queries; `CampaignPlaces` lists what it counts."""
    found = {campaign.pk: CampaignProgress() for campaign in campaigns}
    for row in _sessions(found):
        progress = found[row["campaign"]]
        progress.sessions += row["n"]
        progress.passed_sessions += row["passed"]
        for stage in Stage.values:
            progress.stages[stage].todo += row[stage]
            _of(progress.batches, row["batch"])[stage].todo += row[stage]
    for row in _taken(found):
        for tally in _tallies(found[row["item__session__campaign"]], row):
            tally.add(row["counted_as"], row["n"])
    return found


def forecast(campaign: Campaign, stage: str, left: int) -> str:
    """How much work is left, as a sentence with its basis. What was not made at the workbench has no time."""
    word = Stage(stage).label
    if not left:
        return f"Nothing is left to {word}."
    finished = Assignment.objects.filter(
        item__session__campaign=campaign, item__stage=stage, state=Assignment.State.SUBMITTED, active_seconds__gt=0
    ).order_by("-submitted_at")
    seconds = list(finished.values_list("active_seconds", flat=True)[:LAST])
    if len(seconds) < FEWEST:
        return f"{left} left to {word}; a forecast needs the times of {FEWEST} finished ones, {len(seconds)} are known."
    each = median(seconds)
    basis = f"the median active time of the last {len(seconds)}"
    return f"About {span_text(left * each)} of work left to {word}: {left} × {span_text(each)}, {basis}."


def _sessions(campaigns: Iterable[int]) -> Iterable[Mapping]:
    """How many sessions each batch of the campaigns has, how many of them have passed, and their free places."""
    rows = Session.objects.live().filter(campaign__in=campaigns).with_free_places().order_by()
    free = {stage: Sum(f"free_{stage}") for stage in Stage.values}
    return rows.values("campaign", "batch").annotate(n=Count("pk"), passed=Count("released"), **free)


def _taken(campaigns: Iterable[int]) -> Iterable[Mapping]:
    """How many places people have in each state, by campaign, batch, stage and person."""
    names = ("item__session__campaign", "item__session__batch", "item__stage", "user__username", "counted_as")
    return taken_places(campaigns).order_by().values(*names).annotate(n=Count("pk"))


def _tallies(progress: CampaignProgress, row: Mapping) -> list[ItemCounts]:
    stage = row["item__stage"]
    people, batches = _of(progress.people, row["user__username"]), _of(progress.batches, row["item__session__batch"])
    return [progress.stages[stage], people[stage], batches[stage]]


def _of(tallies: dict[str, dict[str, ItemCounts]], name: str) -> dict[str, ItemCounts]:
    return tallies.setdefault(name, {stage: ItemCounts() for stage in Stage.values})
