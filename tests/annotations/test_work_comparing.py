"""The clauses and warnings of a session are told from the few texts that may have something in common, and are those
of the plain way, which compares each with all."""

import random
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.edits.warned import PartText
from annotations.work.decompose.clauses import RecordedTask, covered
from annotations.work.decompose.invented import AskedFor
from annotations.work.decompose.spoken import FEW_WORDS, SpokenParts
from annotations.work.rewrite import said_again
from annotations.work.rewrite.warnings import check_rewrites

CLAUSES = [
    "book the red tent at Lake Como for two adults",
    "book the blue tent at Lake Como for two adults",
    "open the tent",
    "pay it by invoice to the firm and send me the receipt",
    "Check the price of the red tent, then sort by price",
    "tent red the of price the Check",
    "请搜索红色鞋子",
    "Add one to cart. Add one to cart",
    "and then",
    "",
]
TEXT = st.lists(st.sampled_from(CLAUSES), max_size=4).map(". ".join)
SESSION = st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6)


@contextmanager
def compared_with_all() -> Iterator[None]:
    def backwards(asked: AskedFor, *_: Any) -> dict[Any, list[int]]:
        class Everywhere(dict[Any, list[int]]):
            def get(self, key: Any, default: Any = None) -> Any:
                return [place for place in range(len(asked.tasks)) for _ in range(3)]

        return Everywhere()

    def all_near(asked: said_again._ClausesByWord, left: Set[str], there: Set[str]) -> list[Any]:
        return [one for one in asked.every if len(one.keys & left) >= FEW_WORDS - 1 or one.keys <= there]

    with (
        mock.patch.object(SpokenParts, "near", lambda parts, clause: parts.of_step.items()),
        mock.patch.object(said_again._ClausesByWord, "near", all_near),
        mock.patch.object(AskedFor, "_following", property(backwards)),
    ):
        yield


def session(rows: Sequence[tuple[str, str, str]]) -> tuple[list[RecordedTask], dict[int, str], list[PartText]]:
    """Of each source, its one part and its rewrite; every second task has a part more, with the rewrite's words."""
    tasks: list[RecordedTask] = []
    said: dict[int, str] = {}
    for place, (source, instruction, rewrite) in enumerate(rows):
        steps = (2 * place, 2 * place + 1)[: 1 + place % 2]
        tasks.append(RecordedTask(source, steps))
        said |= dict(zip(steps, (instruction, rewrite), strict=False))
    parts = [PartText(place, instruction, rewrite, []) for place, (_, instruction, rewrite) in enumerate(rows)]
    return tasks, said, parts


@given(SESSION)
def test_what_is_told_quickly_is_what_comparing_all_tells(rows: list[tuple[str, str, str]]) -> None:
    tasks, said, parts = session(rows)
    quickly = covered(tasks, said), check_rewrites(parts)
    with compared_with_all():
        assert quickly == (covered(tasks, said), check_rewrites(parts))


@given(SESSION)
def test_what_earlier_turns_say_is_the_same_for_each_turn_as_if_it_came_last(rows: list[tuple[str, str, str]]) -> None:
    _, _, parts = session(rows)
    codes = {"unsaid", "unchanged"}
    whole = [one for one in check_rewrites(parts) if one.code in codes]
    each = [
        one
        for place, part in enumerate(parts)
        for one in check_rewrites(parts[: place + 1])
        if one.code in codes and one.step == part.step
    ]
    assert whole == each


def seconds(work: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


@pytest.mark.timed
def test_a_session_of_200_turns_takes_a_fraction_of_comparing_all() -> None:
    drawn = random.Random(16)
    things = [f"{word}{number}" for word in ("lamp", "tent", "boat", "coat", "desk") for number in "abcdefgh"]
    rows = []
    for _ in range(200):
        clauses = [f"{verb} the {' '.join(drawn.sample(things, 4))}" for verb in ("open", "book", "sort")]
        text = ", ".join(clauses)
        rows.append((text, text, text.replace("the ", "that ", 1)))
    tasks, said, parts = session(rows)

    def work() -> object:
        return covered(tasks, said), check_rewrites(parts)

    quickly = seconds(work, 3)
    with compared_with_all():
        assert quickly * 2 < seconds(work, 1)
