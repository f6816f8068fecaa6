"""The rows that other tests start from are consistent."""

import pytest

from annotations.models import Step
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_made_trajectory_covers_every_step_of_its_conversation() -> None:
    conversation = factories.make_conversation(turns=2, steps=3, split="test_task")
    trajectory = factories.make_trajectory(conversation=conversation)
    assert trajectory.step_count == trajectory.steps.count() == 6
    assert trajectory.run.split == "test_task"


def test_the_gold_element_of_a_made_step_is_in_its_page_and_candidates() -> None:
    for step in Step.objects.filter(turn__conversation=factories.make_conversation(turns=1, steps=3)):
        target = step.targets.get()
        assert f'backend_node_id="{target.node_id}"' in step.snapshot.html
        positives, negatives = step.candidate_records()
        assert [candidate.node_id for candidate in positives] == [target.node_id]
        assert len(positives) + len(negatives) == step.candidate_count
