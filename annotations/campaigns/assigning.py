"""Giving items to people by name: planning who would get what, doing it, handing over what somebody has: what was done
stays."""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotations.models import Assignment, Campaign, Edit, Item, Stage
from annotations.models.work.queue import ItemQuerySet


@dataclass(frozen=True)
class Order:
    """How to distribute: people with their weights, people per item, and the most that one person has (0: no cap)."""

    people: tuple[tuple[User, float], ...]
    overlap: int
    cap: int = 0


@dataclass
class AssignmentPlan:
    """Who would get what: (item, person) pairs, and how many places stay free with the reason."""

    pairs: list[tuple[Item, User]] = field(default_factory=list)
    unfilled: Counter = field(default_factory=Counter)

    def per_person(self) -> list[tuple[str, int]]:
        counts = Counter(person.get_username() for _, person in self.pairs)
        return sorted(counts.items())


def _unfit(person: User, item: Item, holders: Container[int], writers: Container[int], sees_test: bool) -> str:
    """Why somebody may have no place of an item, by the keys of `REFUSED`; "" where they may."""
    if person.pk in holders:
        return "held"
    if item.subject is not None and (item.subject.user_id == person.pk or person.pk in writers):
        return "own"
    return "gold" if item.session.split.startswith("test") and not sees_test else ""


class _People:
    """The people to whom a plan gives items, with their weights, and how many items each has had."""

    def __init__(self, campaign: Campaign, stage: str, order: Order) -> None:
        self._had = Counter(Assignment.objects.of(campaign, stage).values_list("user_id", flat=True))
        self._weights = {person: weight for person, weight in order.people if weight > 0}
        self._sees_test = {person: campaign.project.shows_gold(person, "test") for person in self._weights}
        self._cap = order.cap

    def next_for(self, item: Item, holders: set[int], writers: Container[int]) -> User | str:
        """The person who has fewest items for their weight among those who may have a place of the item, counted as
        given to them; or, where nobody may, the reason by its key in `REFUSED`."""
        sees = self._sees_test
        whys = {person: _unfit(person, item, holders, writers, sees[person]) for person in self._weights}
        fit = [person for person, why in whys.items() if not why]
        if not fit:
            return "gold" if "gold" in whys.values() else "people"
        below = [person for person in fit if not self._cap or self._had[person.pk] < self._cap]
        if not below:
            return "cap"
        chosen = min(below, key=lambda one: ((self._had[one.pk] + 1) / self._weights[one], one.get_username()))
        self._had[chosen.pk] += 1
        return chosen


def plan(campaign: Campaign, stage: str, items: Iterable[Item], order: Order) -> AssignmentPlan:
    """Fill every item up to the overlap, each place with the person who has least for their weight.

    Nobody gets an item twice, their own rewrite to verify, a test split whose gold they may not see, or more than the
    cap, what they have had already included. Items come with `assignments`, `session` and `subject` loaded.
    """
    items = list(items)
    made, people = AssignmentPlan(), _People(campaign, stage, order)
    writers = Edit.objects.writers_of(item.pk for item in items)
    for item in items:
        holders = {one.user_id for one in item.taken()}
        for _ in range(order.overlap - len(holders)):
            chosen = people.next_for(item, holders, writers.get(item.pk, ()))
            if isinstance(chosen, str):
                made.unfilled[chosen] += 1
            else:
                holders.add(chosen.pk)
                made.pairs.append((item, chosen))
    return made


@transaction.atomic
def assign(campaign: Campaign, stage: str, items: QuerySet[Item], order: Order) -> AssignmentPlan:
    """Do what `plan` says, on rows locked so that nobody claims the same places meanwhile."""
    locked = list(items.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
    fresh = list(Item.objects.filter(pk__in=locked).for_planning())
    made = plan(campaign, stage, fresh, order)
    used = {item.pk: {one.slot for one in item.taken()} for item in fresh}
    for item, person in made.pairs:
        slot = next(slot for slot in range(order.overlap) if slot not in used[item.pk])
        used[item.pk].add(slot)
        item.hand(person, slot)
    Item.objects.filter(pk__in=locked).widen(order.overlap)
    return made


class Handover:
    """Gives chosen items of a campaign to one person, in place of somebody who has them. What was written goes along,
    and stays theirs who wrote it; an item that cannot be given stays with whoever has it."""

    def __init__(self, campaign: Campaign, person: User) -> None:
        self._person = person
        self._stages = {stage for stage in Stage.values if person in campaign.able_people(stage)}
        self._sees_test = campaign.project.shows_gold(person, "test")

    @transaction.atomic
    def of(self, chosen: ItemQuerySet) -> Counter[str]:
        """Give the chosen items; how many were given (under "") and how many were not, by their key in `REFUSED`."""
        held = Assignment.objects.active().filter(item__in=chosen.order_by())
        list(held.order_by("pk").lock())  # before their items, as whoever is at work does
        locked = list(chosen.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
        items = list(Item.objects.filter(pk__in=locked).for_planning())
        writers = Edit.objects.writers_of(item.pk for item in items)
        return Counter(self._give(item, writers.get(item.pk, ())) for item in items)

    def _give(self, item: Item, writers: Container[int]) -> str:
        if why := self._why_not(item, writers):
            return why
        if (slot := item.free_slot()) is not None:
            item.hand(self._person, slot)
            return ""
        one = item.to_hand_on()
        if one is None:
            return "begun"
        item.hand_on(one, self._person)
        return ""

    def _why_not(self, item: Item, writers: Container[int]) -> str:
        if item.state != Item.State.OPEN:
            return "closed"
        if item.stage not in self._stages:
            return "role"
        if Assignment.objects.active().filter(item__subject__item=item, user=self._person).exists():
            return "judges"
        return _unfit(self._person, item, {one.user_id for one in item.taken()}, writers, self._sees_test)


REFUSED = {
    "closed": "are not open",
    "role": "are of a stage that this person's role does not do",
    "held": "are theirs already",
    "own": "verify their own work",
    "judges": "are verified by this person",
    "gold": "are of a test split whose gold they may not see",
    "begun": "are being worked on right now, or were handed in",
}
