"""What holds campaigns up: why their sessions do not become conversations, each reason with the rows behind it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count, F, QuerySet
from django.urls import reverse

from annotations.models import Dispute, Item, Proposal, Session, Stage
from annotations.models.work.queue import LYING, ItemQuerySet
from annotations.text.amounts import amount

# What is done already and waits comes first.
STAGES = (Stage.VERIFY, Stage.REWRITE, Stage.DECOMPOSE)
SHOWS: dict[str, tuple[str, Callable[[ItemQuerySet], ItemQuerySet]]] = {
    # word of the address -> its label among the filters of a campaign's work, and the items
    "untaken": ("returned and not taken up", ItemQuerySet.not_taken_up),
    "nobody": ("nobody left who may do it", ItemQuerySet.with_nobody_left),
    "free": ("with a place that nobody has", ItemQuerySet.free_for_somebody),
    "lying": (f"held, and not opened for {LYING.days} days", ItemQuerySet.lying),
    "asked": ("with an open question about the session", ItemQuerySet.asked_about),
}


@dataclass(frozen=True)
class Hindrance:
    """A reason for which a campaign does not get on, in a few words, and the page with its rows. `needs`: the ability
    that the page asks for."""

    text: str
    url: str
    needs: str = "review"


def hindrances(campaigns: Iterable[int]) -> dict[int, list[Hindrance]]:
    """What holds each of these open campaigns up, by key, the most pressing first: nothing where all is handed out and
    under way. The number of queries does not grow with the campaigns."""
    found: dict[int, list[Hindrance]] = {pk: [] for pk in campaigns}
    for pk, hindrance in HoldingUp(list(found)).reasons():
        found[pk].append(hindrance)
    return found


class HoldingUp:
    """Finds what holds the campaigns with these keys up."""

    def __init__(self, campaigns: list[int]) -> None:
        self.campaigns = campaigns
        self.items = Item.objects.filter(session__campaign__in=campaigns)
        self._free = _by_stage(self.items.free_for_somebody())
        self._under_way = _by_stage(self.items.under_way())

    def reasons(self) -> Iterator[tuple[int, Hindrance]]:
        """(campaign, reason), the most pressing reasons first."""
        yield from self._organising()
        yield from self._shown("untaken", "{} returned, and not taken up since")
        yield from self._disputed()
        yield from self._unmanned()
        yield from self._shown("lying", f"{{}} held, and not opened for {LYING.days} days")
        yield from self._shown("asked", "{} with an open question about the session")
        for pk, count in _counted(Proposal.objects.of_sessions().filter(campaign__in=self.campaigns), "campaign"):
            said = f"{amount(count, 'proposed session')} to be accepted or dismissed"
            yield pk, Hindrance(said, reverse("annotate-organise", args=[pk]), "manage")
        yield from self._waiting()

    def _organising(self) -> Iterator[tuple[int, Hindrance]]:
        """Campaigns without sessions, and sessions that are not open for work."""
        sessions = Session.objects.live().filter(campaign__in=self.campaigns)
        filled = set(sessions.order_by().values_list("campaign", flat=True).distinct())
        for pk in self.campaigns:
            if pk not in filled:
                yield pk, Hindrance("no sessions yet: organise some", reverse("annotate-organise", args=[pk]), "manage")
        for pk, count in _counted(sessions.unopened(), "campaign"):
            said = f"{amount(count, 'session')} not open for work"
            yield pk, Hindrance(said, reverse("annotate-organise", args=[pk]), "manage")

    def _shown(self, word: str, said: str) -> Iterator[tuple[int, Hindrance]]:
        _, of_these = SHOWS[word]
        for pk, count in _counted(of_these(self.items), "session__campaign"):
            yield pk, _work(pk, said.format(amount(count, "item")), show=word)

    def _disputed(self) -> Iterator[tuple[int, Hindrance]]:
        path = "assignment__item__session__campaign"
        for pk, count in _counted(Dispute.objects.live().open().filter(**{f"{path}__in": self.campaigns}), path):
            said = f"{amount(count, 'dispute')} between verifiers: a further person decides"
            yield pk, Hindrance(said, reverse("annotate-disputes"))

    def _unmanned(self) -> Iterator[tuple[int, Hindrance]]:
        """Places that nobody has, stage by stage: because nobody may, or because nobody works on the stage."""
        stuck = _by_stage(self.items.with_nobody_left())
        for stage in STAGES:
            for pk, count in stuck[stage].items():
                whose = "who wrote it or had it" if stage == Stage.VERIFY else "who had their part"
                said = f"{amount(count, 'item')} to {stage.label} for one more person: nobody may but {whose}"
                yield pk, _work(pk, said, stage=stage, show="nobody")
            for pk, count in self._free[stage].items():
                if pk not in self._under_way[stage]:
                    said = f"{amount(count, 'item')} to {stage.label}, and nobody is at it"
                    yield pk, _work(pk, said, stage=stage, show="free")

    def _waiting(self) -> Iterator[tuple[int, Hindrance]]:
        """Places that nobody has on stages where others are under way: nothing is wrong, and more people would help."""
        for stage in STAGES:
            for pk, count in self._free[stage].items():
                if under_way := self._under_way[stage].get(pk):
                    said = f"{amount(count, 'item')} to {stage.label} that nobody has, beside {under_way} under way"
                    yield pk, _work(pk, said, stage=stage, show="free")


def _counted(rows: QuerySet, campaign: str) -> Iterator[tuple[int, int]]:
    """(campaign, how many) for these rows, which lead to their campaign by this path."""
    counted = rows.order_by().values(pk_of=F(campaign)).annotate(n=Count("pk", distinct=True)).order_by("pk_of")
    yield from counted.values_list("pk_of", "n")


def _by_stage(rows: QuerySet) -> dict[str, dict[int, int]]:
    """Stage -> campaign -> how many of these items."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    counted = rows.order_by().values("stage", "session__campaign").annotate(n=Count("pk"))
    for stage, campaign, count in counted.values_list("stage", "session__campaign", "n"):
        found[stage][campaign] = count
    return found


def _work(pk: int, text: str, **filters: str) -> Hindrance:
    """A reason whose rows the table of the campaign's work lists by these filters."""
    return Hindrance(text, f"{reverse('annotate-campaign-work', args=[pk])}?{urlencode(filters)}")
