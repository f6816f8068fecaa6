"""What holds campaigns up: why their sessions do not become conversations, each reason with the rows behind it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, QuerySet
from django.urls import reverse

from annotations.models import Assignment, Campaign, Dispute, Item, Proposal, Session, Stage
from annotations.models.work.queue import ItemQuerySet
from annotations.text.amounts import amount

# What is done already and waits comes first.
STAGES = (Stage.VERIFY, Stage.REWRITE, Stage.DECOMPOSE)
LONG = timedelta(days=3)
SHOWS = {  # word of the address -> its label among the filters of a campaign's work
    "untaken": "returned and not taken up",
    "nobody": "nobody left who may do it",
    "free": "with a place that nobody has",
    "lying": f"held, and not opened for {LONG.days} days",
    "asked": "with an open question",
}
Rows = QuerySet[Any, Any]


@dataclass(frozen=True)
class Hindrance:
    """A reason for which a campaign does not get on, in a few words, and the page with its rows. `needs`: the ability
    that the page asks for."""

    text: str
    url: str
    needs: str = "review"


def held_up_items(word: str, items: ItemQuerySet) -> ItemQuerySet:
    """Those of these items of which a word of `SHOWS` speaks."""
    if word == "nobody":
        return items.with_nobody_left()
    if word == "free":
        return _free(items)
    if word == "asked":
        return items.asked_about()
    places = _untaken(items) if word == "untaken" else _lying(items)
    return items.filter(pk__in=places.order_by().values("item"))


def hindrances(campaigns: Sequence[Campaign]) -> dict[int, list[Hindrance]]:
    """What holds each of these open campaigns up, by key, the most pressing first: nothing where all is handed out and
    under way. The number of queries does not grow with the campaigns."""
    found: dict[int, list[Hindrance]] = {campaign.pk: [] for campaign in campaigns if campaign.is_open}
    for pk, hindrance in _all(list(found)):
        found[pk].append(hindrance)
    return found


def _all(keys: list[int]) -> Iterator[tuple[int, Hindrance]]:
    items = Item.objects.filter(session__campaign__in=keys)
    yield from _organising(keys)
    for pk, count in _counted(_untaken(items), "item__session__campaign"):
        yield pk, _work(pk, f"{amount(count, 'item')} returned, and not taken up since", show="untaken")
    disputes = Dispute.objects.live().open().filter(assignment__item__session__campaign__in=keys)
    for pk, count in _counted(disputes, "assignment__item__session__campaign"):
        said = f"{amount(count, 'dispute')} between verifiers: a further person decides"
        yield pk, Hindrance(said, reverse("annotate-disputes"))
    yield from _unmanned(items)
    for pk, count in _counted(_lying(items), "item__session__campaign"):
        yield pk, _work(pk, f"{amount(count, 'item')} held, and not opened for {LONG.days} days", show="lying")
    for pk, count in _counted(items.asked_about(), "session__campaign", "session"):
        yield pk, _work(pk, f"{amount(count, 'session')} with an open question", show="asked")
    for pk, count in _counted(Proposal.objects.of_sessions().filter(campaign__in=keys), "campaign"):
        said = f"{amount(count, 'proposed session')} to be accepted or dismissed"
        yield pk, Hindrance(said, reverse("annotate-organise", args=[pk]), "manage")


def _organising(keys: list[int]) -> Iterator[tuple[int, Hindrance]]:
    """Campaigns without sessions, and sessions that are not open for work."""
    sessions = Session.objects.live().filter(campaign__in=keys)
    filled = set(sessions.order_by().values_list("campaign", flat=True).distinct())
    for pk in keys:
        if pk not in filled:
            yield pk, Hindrance("no sessions yet: organise some", reverse("annotate-organise", args=[pk]), "manage")
    for pk, count in _counted(sessions.unopened(), "campaign"):
        said = f"{amount(count, 'session')} not open for work"
        yield pk, Hindrance(said, reverse("annotate-organise", args=[pk]), "manage")


def _unmanned(items: ItemQuerySet) -> Iterator[tuple[int, Hindrance]]:
    """Places that nobody has, stage by stage: because nobody may, or because nobody works on the stage."""
    stuck = _by_stage(items.with_nobody_left())
    free = _by_stage(_free(items))
    under_way = _by_stage(Item.objects.filter(pk__in=_at_work(items).values("item")))
    for stage in STAGES:
        for pk, count in stuck[stage].items():
            whose = "who wrote it or had it" if stage == Stage.VERIFY else "who had their part"
            said = f"{amount(count, 'item')} to {stage.label} for one more person: nobody may but {whose}"
            yield pk, _work(pk, said, stage=stage, show="nobody")
        for pk, count in free[stage].items():
            if not under_way[stage][pk]:
                said = f"{amount(count, 'item')} to {stage.label}, and nobody is at it"
                yield pk, _work(pk, said, stage=stage, show="free")


def _free(items: ItemQuerySet) -> ItemQuerySet:
    """Items of which somebody could get a place."""
    open_ones = items.holding_up().with_places()
    return open_ones.exclude(pk__in=items.with_nobody_left().order_by().values("pk"))


def _untaken(items: ItemQuerySet) -> Rows:
    return Assignment.objects.filter(item__in=items.holding_up().order_by()).not_taken_up()


def _lying(items: ItemQuerySet) -> Rows:
    return Assignment.objects.filter(item__in=items.holding_up().order_by()).lying(LONG)


def _at_work(items: ItemQuerySet) -> Rows:
    """What somebody has, and has opened lately."""
    held = Assignment.objects.filter(item__in=items.order_by()).unfinished()
    left = _untaken(items).order_by().values("pk"), _lying(items).order_by().values("pk")
    return held.exclude(pk__in=left[0]).exclude(pk__in=left[1])


def _counted(rows: Rows, campaign: str, of: str = "pk") -> Iterator[tuple[int, int]]:
    """(campaign, how many) for these rows, which lead to their campaign by this path."""
    counted = rows.order_by().values(pk_of=F(campaign)).annotate(n=Count(of, distinct=True)).order_by("pk_of")
    yield from counted.values_list("pk_of", "n")


def _by_stage(items: Rows) -> dict[str, dict[int, int]]:
    """Stage -> campaign -> how many of these items."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    rows = items.order_by().values("stage", "session__campaign").annotate(n=Count("pk"))
    for stage, campaign, count in rows.values_list("stage", "session__campaign", "n"):
        found[stage][campaign] = count
    return found


def _work(pk: int, text: str, **filters: str) -> Hindrance:
    """A reason whose rows the table of the campaign's work lists by these filters."""
    return Hindrance(text, f"{reverse('annotate-campaign-work', args=[pk])}?{urlencode(filters)}")
