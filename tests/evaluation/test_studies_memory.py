"""Studies whose agent runs out of memory: in smaller batches, or ended with advice instead of tried again."""

import pytest

from agents.pipeline import Pipeline
from evaluation.models import Shard
from evaluation.studies import running
from tests.evaluation.study_rows import make_study, rows, undisturbed

pytestmark = pytest.mark.django_db


def hungry(most: int):
    decide = Pipeline.decide

    def within(self, observations):
        if len(observations) > most:
            raise MemoryError(f"{len(observations)} steps")
        return decide(self, observations)

    return within


@pytest.mark.slow
def test_a_batch_that_does_not_fit_is_split_and_gives_the_same_rows(dataset, hash_encoder, monkeypatch) -> None:
    reference = undisturbed(dataset)
    monkeypatch.setattr(Pipeline, "decide", hungry(1))
    run = undisturbed(dataset)
    assert run.shards.get().attempt == 1
    assert rows(run) == rows(reference)


@pytest.mark.slow
def test_a_step_that_does_not_fit_ends_the_shard_and_says_what_to_change(dataset, hash_encoder, monkeypatch) -> None:
    monkeypatch.setattr(Pipeline, "decide", hungry(0))
    run = make_study(dataset).runs.get()
    running.work(Shard.objects.claim(run.shards.get().pk))
    shard = run.shards.get()
    assert (shard.state, shard.attempt) == (Shard.State.FAILED, 1), "trying again would not help"
    assert "batch_size (now 4)" in shard.last_error
    run.refresh_from_db()
    assert "Out of memory" in run.error
