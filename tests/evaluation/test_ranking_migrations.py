"""Steps of agents that only rank, which were failed whatever their element was, and back to that."""

import pytest

from agents.models import TrajectoryStep
from agents.recipes import literature
from evaluation.models import Breakdown
from tests import factories
from tests.template_database import migrate_back_and_forth


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_steps_that_are_there_become_right_by_their_element() -> None:
    dataset = factories.make_dataset()
    conversation = factories.make_conversation(1, 3, dataset=dataset)
    for name in ("deberta", "grounded"):
        run = factories.make_run(dataset, recipe_name=name, recipe=literature.to_dict(literature.get(name)))
        factories.make_trajectory(run, conversation)
        Breakdown.objects.create(run=run, preset="corrected", step_count=3, content={})
    TrajectoryStep.objects.update(operation="", success=False)
    migrate_back_and_forth("evaluation", "0024")
    found = TrajectoryStep.objects.filter(success=True).values_list("run__recipe_name", "element_correct")
    assert list(found) == [("deberta", True)]
    assert Breakdown.objects.get().run.recipe_name == "grounded", "it is counted anew"
