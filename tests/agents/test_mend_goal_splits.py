"""Live goals that an earlier version put into another split than that of their conversation."""

import pytest
from django.core.management import call_command

from agents.live.goals import new_goals
from annotations.models import Dataset
from annotations.sample.goals import conversations
from tests import factories

pytestmark = pytest.mark.django_db
HIDDEN = "test_"


@pytest.fixture
def goals() -> Dataset:
    """All of the sample in split dev, and one goal of a task that the sample has not."""
    dataset = new_goals(factories.make_project(), "old-goals", "sample-sites")
    for task in [*conversations(), "unknown"]:
        extra = {"task": task, "seed": 0}
        factories.make_conversation(dataset=dataset, source_id=f"{task}-0", split="dev", extra=extra)
    return dataset


def splits_of(dataset: Dataset) -> dict[str, str]:
    return {goal.extra["task"]: goal.split for goal in dataset.conversations.all()}


@pytest.mark.slow
def test_goals_get_the_split_of_their_conversation(goals: Dataset, capsys) -> None:
    call_command("mend_goal_splits")
    right = {task: told.split or "dev" for task, told in conversations().items()}
    assert any(split.startswith(HIDDEN) for split in right.values())
    assert splits_of(goals) == right | {"unknown": "dev"}
    call_command("mend_goal_splits")
    assert "old-goals: 0 goals got" in capsys.readouterr().out


def test_a_dry_run_only_tells(goals: Dataset, capsys) -> None:
    call_command("mend_goal_splits", dry_run=True)
    assert set(splits_of(goals).values()) == {"dev"}
    wrong = sum(1 for told in conversations().values() if told.split not in ("", "dev"))
    assert f"old-goals: {wrong} goals would get" in capsys.readouterr().out


def test_other_datasets_are_left_alone(goals: Dataset) -> None:
    task = next(task for task, told in conversations().items() if told.split.startswith(HIDDEN))
    recorded = factories.make_conversation(dataset=factories.make_dataset(), split="train", extra={"task": task})
    call_command("mend_goal_splits")
    recorded.refresh_from_db()
    assert recorded.split == "train"


def test_where_there_are_none_it_says_so(capsys) -> None:
    call_command("mend_goal_splits", dry_run=True)
    assert capsys.readouterr().out == "There are no goals on the sample's websites.\n"
