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


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_queue_of_what_is_nearest_to_a_failure_keeps_its_steps_on_the_way_back_and_forth() -> None:
    """What the failure was is forgotten on the way back; it stays the first of its steps."""
    trajectory = factories.make_trajectory(conversation=factories.make_conversation(turns=2, steps=3))
    study = factories.make_study(trajectory.run.dataset.project, [trajectory.run])
    failure = trajectory.steps.failed().first()
    queue = make_queue(None, study, QueueDemand("nearest", 50, 1, failure=failure.pk))
    steps = list(queue.tasks.values_list("step", flat=True))
    migrate_back_and_forth("evaluation", "0026")
    kept = ReviewQueue.objects.get()
    assert (kept, kept.failure) == (queue, None)
    assert list(kept.tasks.values_list("step", flat=True)) == steps
    assert steps[0] == failure.pk
