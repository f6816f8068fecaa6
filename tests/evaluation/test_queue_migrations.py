"""Tasks of review before queues could ask of whole trajectories, and back to that."""

import pytest

from evaluation.models import ReviewQueue, ReviewTask
from evaluation.reviews.choosing import QueueDemand, make_queue
from tests import factories
from tests.template_database import migrate_back_and_forth


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_queues_of_steps_survive_the_way_back_and_forth() -> None:
    trajectory = factories.make_trajectory()
    study = factories.make_study(trajectory.run.dataset.project, [trajectory.run])
    steps = make_queue(None, study, QueueDemand("random", 3, 1))
    make_queue(None, study, QueueDemand("whole_random", 3, 1))
    migrate_back_and_forth("evaluation", "0022")
    assert ReviewQueue.objects.get() == steps
    assert list(ReviewTask.objects.values_list("trajectory", flat=True)) == [trajectory.pk] * 3
