"""kill -9 of a worker in the middle of a study changes nothing but the time it takes."""

import signal
import time

import pytest

from agents.models import Run
from evaluation.models import Shard
from evaluation.studies import running
from tests.evaluation.sample_rows import gold_steps, import_website
from tests.evaluation.study_rows import make_study, numbers, rows, undisturbed

SECONDS = 150  # until a worker must have got on; a quiet machine needs a tenth


def is_midway(run: Run) -> bool:
    """A worker holds a shard, has stored part of it, and has more than a batch to go."""
    for shard in run.shards.filter(state=Shard.State.RUNNING):
        stored = run.steps.filter(trajectory__conversation__in=shard.conversation_ids).count()
        if 0 < stored < shard.step_count - 4:
            return True
    return False


def noticed(run: Run, dead: set[str]) -> bool:
    """Whether nothing is left to the dead, once what beat does every 30 s is done; dying may take a moment."""
    running.reap()
    return not run.shards.filter(state=Shard.State.RUNNING, lease_owner__in=dead).exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_middle_leaves_the_rows_and_numbers_of_an_undisturbed_run(
    tmp_path, small_shards, worker
) -> None:
    dataset = import_website(tmp_path / "sample")
    total = gold_steps(dataset)
    first = worker("first")
    study = make_study(dataset, publish=True)
    run = study.runs.get()
    assert run.shards.count() >= 3

    first.wait_until(lambda: is_midway(run), SECONDS, "shard that is partly stored")
    first.kill()
    assert 0 < run.steps.count() < total
    assert run.shards.filter(state=Shard.State.RUNNING).exists(), "it died holding a shard"

    left = run.shards.filter(state=Shard.State.RUNNING)
    held, dead = set(left.values_list("pk", flat=True)), set(left.values_list("lease_owner", flat=True))
    second = worker("second")
    second.wait_until(lambda: noticed(run, dead), SECONDS, "notice of the death")
    second.wait_until(lambda: Run.objects.get(pk=run.pk).is_over, SECONDS, "end of the run")
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert run.shards.exclude(state=Shard.State.DONE).count() == 0
    owners = set(run.shards.filter(pk__in=held).values_list("lease_owner", flat=True))
    assert not owners & dead, "the shard of the dead worker was claimed again"

    reference = undisturbed(dataset)
    assert run.steps.count() == reference.steps.count() == total
    assert rows(run) == rows(reference)
    assert numbers(run) == numbers(reference)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_told_to_stop_puts_its_work_back_at_the_next_batch(tmp_path, worker) -> None:
    dataset = import_website(tmp_path / "sample")
    first = worker("first")
    run = make_study(dataset, publish=True, overrides={"batch_size": "1"}).runs.get()
    first.wait_until(lambda: is_midway(run), SECONDS, "shard that is partly stored")
    first.process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    first.process.wait(timeout=60)
    assert time.monotonic() - begun < 25, "what supervises it waits no longer"
    shard = run.shards.get()
    assert (shard.state, shard.attempt, shard.lease_until) == (Shard.State.QUEUED, 0, None)
    assert 0 < run.steps.count() < gold_steps(dataset)
    running.run_inline(run.studies.get())
    assert rows(run) == rows(undisturbed(dataset))
