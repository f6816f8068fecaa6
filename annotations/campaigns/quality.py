"""How good a campaign's work is and how fast it goes: per person, per code of the rubric, per week. Every number is one
of items, which `ItemFilter` finds again."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Avg, Count, Exists, OuterRef, Q, Sum
from django.db.models.functions import TruncWeek

from annotations.access import rules
from annotations.campaigns.holding_up import SHOWS
from annotations.models import Assignment, Campaign, Defect, Item, Stage, Verdict
from annotations.models.work.queue import AssignmentQuerySet, ItemQuerySet

WEEKS = 8  # that are shown; a forecast rests on those of the last four that are over
SHOWN = {  # word of the address -> its label, and what a place of an item is
    "submitted": ("submitted", Q(state=Assignment.State.SUBMITTED)),
    "written": (
        "handed in, verifications aside",
        (Q(state=Assignment.State.SUBMITTED) | Q(was_returned=True)) & ~Q(item__stage=Stage.VERIFY),
    ),
    "judged": ("judged", Q(was_judged=True)),
    "first": ("passed the first time", Q(was_judged=True, failed_first=False)),
    "returned": ("returned", Q(was_returned=True)),
    "faulty": ("with a defect", Q(is_faulty=True)),
}
ORDERS = {  # word of the address -> its label, and the columns
    "": ("next first", ("-session__weight", "session__position", "pk")),
    "oldest": ("oldest first", ("opened_at", "pk")),
    "rounds": ("most rounds first", ("-rounds", "pk")),
    "minutes": ("most time first", ("-seconds", "pk")),
    "name": ("by name", ("session__name", "pk")),
}
WEIGHTS = {"first": 2.0, "usual": 1.0, "last": 0.5}  # word of a priority -> how early its sessions are handed out


def shown(word: str) -> Q:
    return SHOWN[word][1]


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class PersonQuality:
    """What became of what a person wrote, verifications aside. `rounds` and `seconds` are means over finished work."""

    name: str
    written: int
    judged: int
    first: int
    returned: int
    faulty: int
    rounds: float | None
    seconds: float | None

    @property
    def first_yield(self) -> float | None:
        """The share of the judged work that passed the first time; None where nothing was judged."""
        return share(self.first, self.judged)

    @property
    def return_rate(self) -> float | None:
        return share(self.returned, self.judged)


@dataclass(frozen=True)
class CodeQuality:
    """A code of the rubric and the items in which verifiers found it."""

    code: str
    question: str
    items: int
    judged: int

    @property
    def share(self) -> float | None:
        return share(self.items, self.judged)


@dataclass(frozen=True)
class WeekOfWork:
    start: date
    stages: dict[str, int]


class CampaignWork:
    """The work of a campaign as one user may see it: without items of test splits whose gold is hidden from them."""

    def __init__(self, campaign: Campaign, user: User) -> None:
        self.campaign, self.user = campaign, user

    def items(self) -> ItemQuerySet:
        rows = Item.objects.filter(session__campaign=self.campaign, session__deleted_at=None)
        return rules.gold_filter(self.user, rows, "session__split", "session__campaign__project")

    def places(self) -> AssignmentQuerySet:
        """Assignments of these items, each annotated with what verifiers have said in rounds that are over. Verdicts of
        bulk accepts, which rest on checks alone, do not count."""
        judged = Verdict.objects.of_ended_rounds().filter(assignment=OuterRef("pk"), bulk=None)
        returned = judged.filter(outcome=Verdict.Outcome.RETURN)
        defects = Defect.objects.filter(verdict__in=self._verdicts(), verdict__assignment=OuterRef("pk"))
        return (
            Assignment.objects.active()
            .filter(item__in=self.items())
            .annotate(
                was_judged=Exists(judged),
                was_returned=Exists(returned),
                failed_first=Exists(returned.filter(round=1)),
                is_faulty=Exists(defects),
            )
        )

    def names(self) -> list[str]:
        """Names of the people who have a place of an item."""
        return sorted(set(self.places().order_by().values_list("user__username", flat=True).distinct()))

    def with_code(self, code: str) -> AssignmentQuerySet:
        """Assignments in which a verifier found the defect with this code."""
        named = Defect.objects.filter(verdict__in=self._verdicts(), code=code)
        return self.places().filter(pk__in=named.values("verdict__assignment"))

    def people(self) -> list[PersonQuality]:
        told = ("written", "judged", "first", "returned", "faulty")
        counts: dict[str, Any] = {name: Count("pk", filter=shown(name)) for name in told}
        made = self.places().exclude(item__stage=Stage.VERIFY).order_by().values("user__username")
        done = shown("submitted") & ~Q(item__stage=Stage.VERIFY)
        means = {"rounds": Avg("round", filter=done), "seconds": Avg("active_seconds", filter=done)}
        rows: Any = made.annotate(**counts, **means).order_by("user__username")
        return [PersonQuality(row["user__username"], **{name: row[name] for name in (*counts, *means)}) for row in rows]

    def codes(self) -> list[CodeQuality]:
        """The codes of the rubric and others that verdicts name, the ones found in most items first."""
        judged = self.items().filter(assignments__in=self.places().filter(shown("judged"))).distinct().count()
        rows = Defect.objects.filter(verdict__in=self._verdicts()).order_by().values("code")
        found = {row["code"]: row["n"] for row in rows.annotate(n=Count("verdict__assignment__item", distinct=True))}
        asked = {entry["code"]: entry["question"] for entry in self.campaign.rubric}
        codes = [CodeQuality(code, asked.get(code, ""), found.get(code, 0), judged) for code in asked | found]
        return sorted(codes, key=lambda one: -one.items)

    def weeks(self) -> list[WeekOfWork]:
        """How many items were submitted in each week, for the last weeks in which any were, newest first."""
        rows = self.places().filter(shown("submitted")).exclude(submitted_at=None).order_by()
        weekly: Any = rows.annotate(week=TruncWeek("submitted_at")).values("week", "item__stage")
        found: dict[date, dict[str, int]] = {}
        for row in weekly.annotate(n=Count("item", distinct=True)).order_by("-week"):
            found.setdefault(row["week"].date(), dict.fromkeys(Stage.values, 0))[row["item__stage"]] = row["n"]
        return [WeekOfWork(start, stages) for start, stages in list(found.items())[:WEEKS]]

    def _verdicts(self) -> Any:
        rows = Verdict.objects.of_ended_rounds().filter(assignment__item__in=self.items(), bulk=None)
        return rows.exclude(assignment__state=Assignment.State.RELEASED)


def weeks_left(weeks: list[WeekOfWork], today: date, left: dict[str, int]) -> dict[str, str]:
    """For each stage a sentence: how long the items that are left take at the pace of the last four whole weeks."""
    this = today - timedelta(days=today.weekday())
    over = [week for week in weeks if this - timedelta(weeks=4) <= week.start < this]
    found = {}
    for stage in Stage.values:
        done = sum(week.stages[stage] for week in over)
        if not left[stage]:
            found[stage] = "nothing is left"
        elif not done:
            found[stage] = f"{left[stage]:,} left; no week with work of this stage is over yet"
        else:
            found[stage] = f"{left[stage]:,} left: about {left[stage] / (done / 4):.1f} weeks at {done / 4:g} a week"
    return found


class ItemFilter:
    """Which items of a campaign are listed: by the cleaned data of `WorkFilterForm`."""

    def __init__(self, work: CampaignWork, wanted: dict[str, Any]) -> None:
        self.work, self.wanted = work, wanted

    def rows(self) -> ItemQuerySet:
        items, wanted = self.work.items(), self.wanted
        for name in ("stage", "state"):
            if wanted.get(name):
                items = items.filter(**{name: wanted[name]})
        if wanted.get("show") in SHOWS:
            _, of_these = SHOWS[wanted["show"]]
            items = of_these(items)
        if wanted.get("q"):
            items = items.filter(session__name__icontains=wanted["q"])
        if (places := self._places()) is not None:
            items = items.filter(pk__in=places.order_by().values("item"))
        held = Q(assignments__state=Assignment.State.RELEASED)
        items = items.annotate(seconds=Sum("assignments__active_seconds", filter=~held))
        _, order = ORDERS[wanted.get("order", "")]
        return items.annotate(rounds=Avg("assignments__round", filter=~held)).order_by(*order)

    def _places(self) -> AssignmentQuerySet | None:
        """Assignments of which a listed item must have one; None where the filter asks nothing about assignments."""
        wanted = self.wanted
        became = wanted.get("show") in SHOWN
        if not became and not any(wanted.get(name) for name in ("person", "code", "week")):
            return None
        rows = self.work.with_code(wanted["code"]) if wanted.get("code") else self.work.places()
        if wanted.get("person"):
            rows = rows.filter(user__username=wanted["person"])
        if became:
            rows = rows.filter(shown(wanted["show"]))
        if wanted.get("week"):
            rows = rows.filter(shown("submitted"), submitted_at__date__gte=wanted["week"])
            rows = rows.filter(submitted_at__date__lt=wanted["week"] + timedelta(weeks=1))
        return rows
