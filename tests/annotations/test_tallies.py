"""Stored counts: right whoever writes, however they write, and in nobody's way."""

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Run, RunTally, TrajectoryStep
from annotations.models import Conversation, ConversationTally, Dataset, Step, Turn
from tests import factories


def stored(dataset: Dataset) -> dict[str, tuple[int, int, int]]:
    rows = ConversationTally.by_split(dataset.pk)
    return {row["split"]: (row["conversation_count"], row["turn_count"], row["step_count"]) for row in rows}


def counted(dataset: Dataset) -> dict[str, tuple[int, int, int]]:
    """The obvious way: every row is looked at."""
    found: dict[str, tuple[int, int, int]] = {}
    for conversation in Conversation.objects.filter(dataset=dataset):
        turns = Turn.objects.filter(conversation=conversation)
        steps = Step.objects.filter(turn__in=turns)
        before = found.get(conversation.split, (0, 0, 0))
        added = (1, turns.count(), steps.count())
        found[conversation.split] = tuple(a + b for a, b in zip(before, added, strict=True))
    return found


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "move", "delete", "shorten", "fold"]), st.integers(0, 3), st.integers(1, 3)),
    max_size=8,
)


@pytest.mark.slow
@pytest.mark.django_db
@given(changes=CHANGES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_writes_leave_the_counts_of_the_rows_that_are_there(changes) -> None:
    with transaction.atomic():
        dataset = factories.make_dataset()
        for what, place, size in changes:
            apply_change(dataset, what, place, size)
            assert stored(dataset) == counted(dataset)
        transaction.set_rollback(True)


def apply_change(dataset: Dataset, what: str, place: int, size: int) -> None:
    rows = list(dataset.conversations.order_by("pk"))
    chosen = rows[place % len(rows)] if rows else None
    if what == "add":
        factories.make_conversation(dataset=dataset, turns=size, steps=place, split=["train", "dev"][place % 2])
    elif what == "move":
        dataset.conversations.update(split=["train", "test_task"][place % 2])
    elif what == "fold":
        ConversationTally.fold()
    elif what == "delete" and chosen:
        chosen.delete()
    elif what == "shorten" and chosen:
        chosen.turns.filter(index__gte=size).delete()


@pytest.mark.django_db
def test_a_conversation_knows_its_counts_and_a_deleted_dataset_leaves_nothing_behind() -> None:
    conversation = factories.make_conversation(turns=2, steps=3)
    conversation.refresh_from_db()
    assert (conversation.turn_count, conversation.step_count) == (2, 6)
    conversation.delete()
    conversation.dataset.websites.all().delete()
    conversation.dataset.delete()
    ConversationTally.fold()
    assert not ConversationTally.objects.exists()


@pytest.mark.django_db
def test_folding_makes_one_row_of_many_and_changes_no_count() -> None:
    dataset = factories.make_dataset()
    website = factories.make_website(dataset)
    for _ in range(3):
        factories.make_conversation(dataset=dataset, website=website, turns=1, steps=2)
    before = stored(dataset)
    assert ConversationTally.fold() > 1
    assert ConversationTally.objects.count() == 1
    assert stored(dataset) == before == {"train": (3, 3, 6)}
    assert ConversationTally.fold() == 1


@pytest.mark.django_db
def test_the_steps_of_a_run_are_counted_with_their_errors() -> None:
    run = factories.make_trajectory(stored=3).run
    TrajectoryStep.objects.filter(run=run, seq=1).update(error="no answer")
    found = Run.objects.with_progress().get(pk=run.pk)
    assert (found.done, found.failed) == (3, 1)
    run.steps.filter(seq=1).delete()
    found = Run.objects.with_progress().get(pk=run.pk)
    assert (found.done, found.failed) == (2, 0)
    RunTally.fold()
    assert RunTally.objects.get().done == 2


@pytest.mark.django_db(transaction=True)
def test_two_that_write_into_one_split_and_one_that_folds_do_not_wait_for_one_another(in_thread) -> None:
    dataset = factories.make_dataset()
    website = factories.make_website(dataset)

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '500ms'")
            factories.make_conversation(dataset=dataset, website=website, turns=1, steps=1)
            ConversationTally.fold()

    with transaction.atomic():
        factories.make_conversation(dataset=dataset, website=website, turns=1, steps=1)
        ConversationTally.fold()
        in_thread(write)
    assert stored(dataset) == {"train": (2, 2, 2)}
