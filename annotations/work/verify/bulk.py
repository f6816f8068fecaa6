"""Accepting several verifications at once: only those whose every check is green, and some of them are held back for
people."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from random import SystemRandom

from django.db import transaction
from django.db.models import Prefetch

from annotations.desk.write.checks import clauses, new_words, open_warnings
from annotations.edits.saving import open_desk
from annotations.models import (
    Assignment,
    BulkAccept,
    Campaign,
    HeldBack,
    Item,
    Stage,
    StaleWork,
    Verdict,
    VerdictRefused,
)
from annotations.models.accounts.projects import Account
from annotations.text.amounts import amount
from annotations.work.verify import verdicts
from annotations.work.verify.let_through import LetThrough, let_through

MOST = 100  # items that are checked for one person at once
FEWEST = 2


@dataclass(frozen=True)
class CheckedItem:
    """A verification on which a user could give a verdict, with reasons against accepting it unseen."""

    item: Item
    subject: Assignment
    own: Assignment | None  # their place, where they have one already
    parts: list[dict]  # of the document
    concerns: list[str]

    @classmethod
    def of(cls, user: Account, item: Item, own: Assignment | None) -> "CheckedItem":
        """Check an item, which comes with all rows that this reads."""
        subject = item.subject
        assert subject is not None  # a constraint of the table
        desk = open_desk(subject, user)
        asked = [(clause["state"], clause["text"]) for task in clauses(desk) for clause in task]
        about = [one for one in item.session.open_threads() if one.assignment_id in (None, subject.pk)]
        found = [
            *(["held back for a second look"] if hasattr(item, "held_back") else []),
            *([f"in round {subject.round}: look at what was mended"] if subject.round > 1 else []),
            *_counted([str(one) for one in about], "open comment"),
            *_counted(open_warnings(desk), "open warning"),
            *_counted([text for state, text in asked if state == "uncovered"], "uncovered clause"),
            *_counted([text for state, text in asked if state == "doubled"], "doubled clause"),
            *_counted(new_words(desk), "word", "that no source says"),
        ]
        return cls(item, subject, own, desk.ordered(), found)


@dataclass(frozen=True)
class BulkTally:
    """Counts of bulk accepts: items accepted, held back, looked at and returned, and the estimate of faulty ones that
    follows."""

    accepted: int
    held_back: int
    looked_at: int
    returned: int
    through: LetThrough


def checked(user: Account, campaign: Campaign, among: Collection[int] | None = None) -> list[CheckedItem]:
    """The items that this person could verify now (of those in `among`), their own first, each with its concerns."""
    if not campaign.is_open or not campaign.project.lets(user, Stage.VERIFY.ability):
        return []
    items = Item.objects.to_do(campaign, Stage.VERIFY).seen_by(user, campaign.project)
    items = items if among is None else items.filter(pk__in=among)
    own = Assignment.objects.filter(item__in=items.order_by(), user=user).unfinished()
    by_item = {one.item_id: one for one in own.order_by("item__session__position", "pk")[:MOST]}
    rows = list(items.filter(pk__in=by_item).for_checking())
    room = int(min(Assignment.objects.room_left(user, campaign, Stage.VERIFY), MOST - len(rows)))
    if campaign.mode == Campaign.Mode.OPEN and room > 0:
        rows += items.with_places().not_of(user).for_checking()[:room]
    return [CheckedItem.of(user, item, by_item.get(item.pk)) for item in rows]


@transaction.atomic
def accept(user: Account, campaign: Campaign, chosen: Mapping[int, int]) -> BulkAccept:
    """Accept these items (key -> the version of the rewrite that was read), apart from some that are held back.

    All or none: StaleWork names the first that is not as it was shown, or not green any more.
    """
    campaign.project.require(user, Stage.VERIFY.ability)
    if len(chosen) < FEWEST:
        raise VerdictRefused("Choose two items at least: one of them is held back for a second look.")
    campaign.take_turns(user)
    subjects = Assignment.objects.filter(verified_as__in=chosen, verified_as__session__campaign=campaign)
    list(subjects.order_by("pk").lock())  # before their items, as whoever judges one does
    there = {one.item.pk: one for one in checked(user, campaign, chosen)}
    for item, version in chosen.items():
        _check_chosen(there.get(item), version)
    held = set(SystemRandom().sample(sorted(chosen), math.ceil(len(chosen) * campaign.second_look / 100)))
    bulk = BulkAccept.objects.create(campaign=campaign, user=user, size=len(chosen), share=campaign.second_look)
    bulk.hold_back([there[item].item for item in sorted(held)])
    for item in sorted(set(chosen) - held):
        verdicts.give(_place(user, there[item]), Verdict.Outcome.ACCEPT, {}, "", [], bulk)
    return bulk


def with_outcomes() -> Prefetch:
    """Prefetches what was held back of each bulk accept, with its outcome, in one query for all."""
    return Prefetch("held_back", HeldBack.objects.with_outcome())


def tally(bulks: Iterable[BulkAccept]) -> BulkTally:
    """The counts of several bulk accepts together, taken as one random draw."""
    return tally_of(BulkAccept.objects.filter(pk__in=[bulk.pk for bulk in bulks]).prefetch_related(with_outcomes()))


def tally_of(found: Iterable[BulkAccept]) -> BulkTally:
    """As `tally`, for rows that were read `with_outcomes`."""
    size, outcomes = 0, []
    for bulk in found:
        size += bulk.size
        outcomes += [one.outcome for one in bulk.held_back.all()]
    looked_at, returned = sum(map(bool, outcomes)), outcomes.count(Verdict.Outcome.RETURN)
    through = let_through(size - len(outcomes) + looked_at, looked_at, returned)
    return BulkTally(size - len(outcomes), len(outcomes), looked_at, returned, through)


def _counted(found: list[str], what: str, more: str = "") -> list[str]:
    """How many there are, and what the first one says."""
    of = f"{amount(len(found), what)} {more}".rstrip()
    return [f"{of}: {found[0]}{' …' if len(found) > 1 else ''}"] if found else []


def _check_chosen(found: CheckedItem | None, version: int) -> None:
    """Raise StaleWork unless the item can be verified, is green, and has the version that was read."""
    if found is None:
        raise StaleWork("One of the items is not yours to verify any more; nothing was accepted. Look again.")
    if found.concerns or found.subject.version != version:
        why = ", ".join(found.concerns) or "it has changed"
        raise StaleWork(f"{found.item.session} cannot be accepted unseen ({why}); nothing was accepted. Look again.")


def _place(user: Account, found: CheckedItem) -> Assignment:
    """The person's assignment of an item; made now where they have none."""
    if found.own is not None:
        return found.own
    item = Item.objects.select_for_update(of=("self",)).get(pk=found.item.pk)
    slot = item.free_slot()
    if slot is None:
        raise StaleWork(f"Somebody else took {found.item.session} meanwhile; nothing was accepted. Look again.")
    return item.hand(user, slot)
