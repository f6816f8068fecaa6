"""Test gold of a project that its members can read elsewhere: the same errand, in a split that hides nothing."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from django.db.models import Q

from annotations.models import Dataset, Target

_TEST = Q(step__turn__conversation__split__startswith="test")
_DATASET, _CONVERSATION = "step__turn__conversation__dataset", "step__turn__conversation"
_ROW = (
    *("step__snapshot", "step__operation", "step__value", "node_id"),
    *(f"{_DATASET}__name", f"{_CONVERSATION}__source_id", "step__turn__index", "step"),
)


_Done = tuple[int | str, ...]  # page, operation, value, element


class _GoldRow(NamedTuple):
    """One gold element of a step, with where it is: the fields of `_ROW`."""

    page: int
    operation: str
    value: str
    node: str
    dataset: str
    conversation: str
    turn: int
    step: int

    @property
    def action(self) -> _Done:
        """The same wherever the page is."""
        return self[:4]

    @property
    def place(self) -> tuple[str, str]:
        return self.dataset, self.conversation


@dataclass(frozen=True)
class OpenGold:
    """How many test turns of `hidden` can be read in `opened_by` (names of datasets), with the first of them: the
    conversation of the turn, its number, and the conversation that shows it."""

    hidden: str
    opened_by: str
    turns: int
    example: tuple[str, int, str]

    @classmethod
    def of(cls, dataset: Dataset) -> "list[OpenGold]":
        """Test turns of the dataset that some readable conversation of its project plays, and those of other datasets
        that a conversation of this one plays: each gold action of the turn on the same page. It tells of gold, so it
        is for those alone who may see it."""
        targets = Target.objects.filter(**{f"{_DATASET}__project": dataset.project}).exclude(step__snapshot=None)
        own, tests, readable = Q(**{_DATASET: dataset}), targets.filter(_TEST), targets.exclude(_TEST)
        found = []
        for hidden, shown in (tests.filter(own), readable), (tests.exclude(own), readable.filter(own)):
            on_its_pages = shown.filter(step__snapshot__in=hidden.values("step__snapshot"))
            rows = (_GoldRow(*row) for row in hidden.values_list(*_ROW))
            found += _opened(rows, (_GoldRow(*row) for row in on_its_pages.values_list(*_ROW)))
        return sorted(found, key=lambda one: (-one.turns, one.hidden, one.opened_by))


def _opened(hidden: Iterable[_GoldRow], readable: Iterable[_GoldRow]) -> list[OpenGold]:
    shown: dict[_Done, set[tuple[str, str]]] = defaultdict(set)
    for row in readable:
        shown[row.action].add(row.place)
    turns: dict[tuple[str, str, int], dict[int, set[_Done]]] = defaultdict(lambda: defaultdict(set))
    for row in hidden:
        turns[*row.place, row.turn][row.step].add(row.action)  # any of a step's elements is its gold

    @cache  # many turns of a dataset begin on one page with one action
    def players(steps: frozenset[frozenset[_Done]]) -> dict[str, str]:
        """Each dataset with the first of its conversations that do all of it."""
        found = set.intersection(*(set().union(*(shown.get(action, ()) for action in step)) for step in steps))
        return dict(sorted(found, reverse=True))

    found: dict[tuple[str, str], list[tuple[str, int, str]]] = defaultdict(list)
    for (dataset, conversation, index), steps in turns.items():
        for name, player in players(frozenset(map(frozenset, steps.values()))).items():
            found[dataset, name].append((conversation, index + 1, player))
    return [OpenGold(*names, len(examples), min(examples)) for names, examples in found.items()]
