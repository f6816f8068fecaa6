"""Tasks of review before queues could ask of whole trajectories, and back to that."""

import pytest
from django.core.management import call_command

from evaluation.models import ReviewQueue, ReviewTask
from evaluation.reviews.choosing import QueueDemand, make_queue
from tests import factories


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_queues_of_steps_survive_the_way_back_and_forth() -> None:
    trajectory = factories.make_trajectory()
    study = factories.make_study(trajectory.run.dataset.project, [trajectory.run])
    steps = make_queue(None, study, QueueDemand("random", 3, 1))
    make_queue(None, study, QueueDemand("whole_random", 3, 1))
    try:
        call_command("migrate", "evaluation", "0022", verbosity=0)
    finally:
        call_command("migrate", "evaluation", verbosity=0)
    assert ReviewQueue.objects.get() == steps
    assert list(ReviewTask.objects.values_list("trajectory", flat=True)) == [trajectory.pk] * 3
