"""A page that is missing fails the steps whose prompts show it, each with its sentence; all others are decided."""

from pathlib import Path

import pytest

from agents.models import Run, Trajectory, TrajectoryStep
from annotations.models import Dataset, Split, Step
from tests import factories
from tests.evaluation.test_recipes_run import endpoint, run, weights
from tests.quick import first_is_quick

__all__ = ["endpoint", "weights"]  # fixtures
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("endpoint", "hash_encoder")]
WHERE = "no page was recorded at turn 2, step 2"
OWN = f"its elements cannot be ranked: {WHERE}"
IN_TURN = f"a page of the prompt cannot be shown: {WHERE}"
IN_MEMORY = f"the page or a page of memory cannot be shown: {WHERE}"


@pytest.fixture
def dataset(db: None) -> Dataset:
    """Two conversations of three turns with three steps each; the page at turn 1, step 1 of the first was not kept."""
    dataset = factories.make_dataset()
    factories.make_conversation(turns=2, steps=2, split=Split.TRAIN, dataset=dataset)
    first, _ = (factories.make_conversation(turns=3, steps=3, split=Split.TEST_TASK, dataset=dataset) for _ in range(2))
    Step.objects.filter(turn__conversation=first, turn__index=1, index=1).update(snapshot=None)
    return dataset


@pytest.mark.slow
@first_is_quick(
    ("recipe", "failed"),
    [
        ("synapse-abstraction", {}),  # shows actions of before, no pages
        ("bare", {(1, 2): IN_TURN}),
        ("mindact", {(2, index): IN_MEMORY for index in range(3)}),
    ],
)
def test_the_steps_that_show_a_missing_page_fail_and_no_others(
    recipe: str, failed: dict[tuple[int, int], str], dataset: Dataset, weights: dict[str, Path]
) -> None:
    done = run(recipe, dataset, weights)
    rows = TrajectoryStep.objects.filter(trajectory__run=done).select_related("step__turn__conversation")
    first = dataset.conversations.filter(split=Split.TEST_TASK).earliest("pk")
    told = {(row.step.turn.conversation_id, row.step.turn.index, row.step.index): row.error for row in rows if row.step}
    assert len(told) == 18
    wanted = {(first.pk, *place): said for place, said in {(1, 1): OWN, **failed}.items()}
    assert {place: said for place, said in told.items() if said} == wanted
    assert {row.success for row in rows if row.error} == {False}, "and counts as wrong"
    assert done.state == Run.State.DONE
    assert {row.state for row in Trajectory.objects.filter(run=done)} == {Trajectory.State.DONE}
    assert done.scores.exists()
