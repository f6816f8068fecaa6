"""A batch that the embedded model takes minutes for ends in its middle once a person waits for its worker; what was
answered is not asked again, and it cannot be held up for ever."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agents.llm.stored import DatabaseStore
from agents.models import Run
from annotations.jobs import way_inside
from annotations.models import Split
from annotations.models.jobs import worker_leases
from evaluation.models import Shard
from evaluation.studies import running
from evaluation.studies.watching import watch
from tests import factories
from tests.evaluation.recipe_world import tiny_weights

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
AT_ONCE = 8  # requests that the embedded model answers together


class Kept(list[int]):
    """How many answers were kept at a time; `then` is called after each."""

    def then(self) -> None:
        pass


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    found, put_many = Kept(), DatabaseStore.put_many

    def put(self, answered) -> None:
        put_many(self, answered)
        found.append(len(answered))
        found.then()

    monkeypatch.setattr(DatabaseStore, "put_many", put)
    monkeypatch.setattr(worker_leases, "LOOK_SECONDS", 0.05)
    return found


@pytest.fixture
def run(hash_encoder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Its twelve steps are one batch, for which the embedded model is asked twice."""
    monkeypatch.delenv("LLM_EMBEDDED", raising=False)
    dataset = factories.make_dataset()
    for split in (Split.TRAIN, Split.TEST_TASK):
        factories.make_conversation(turns=3, steps=4, split=split, dataset=dataset)
    changes = {"batch_size": "16", "rank.model": str(tiny_weights(tmp_path)["cross_encoder"])}
    asked = {"splits": [Split.TEST_TASK], "overrides": changes, "publish": False}
    return running.create_study(user=None, dataset=dataset, recipes=["mindact-icl"], **asked).runs.get()


@pytest.fixture
def watched(run: Run, in_thread) -> Callable[[], None]:
    """Somebody watches an agent on another dataset, from now on."""
    dataset = factories.make_dataset()
    factories.make_conversation(1, 1, split="train", dataset=dataset)
    user = factories.make_user("annotator", dataset.project)
    return lambda: in_thread(lambda: watch(user))


def work(run: Run) -> Shard:
    shard = Shard.objects.claim(run.shards.get().pk)
    assert shard is not None
    running.work(shard)
    return run.shards.get()


def test_a_batch_ends_for_who_waits_and_goes_on_where_it_was(run: Run, kept: Kept, watched) -> None:
    kept.then = watched
    shard = work(run)
    assert (shard.state, shard.attempt, run.steps.count()) == (Shard.State.QUEUED, 0, 0)
    assert kept[0] == AT_ONCE
    assert sum(kept) < 12, "in the middle of what it was asked then"
    Shard.objects.exclude(run=run).update(state="done")
    assert work(run).state == Shard.State.DONE
    assert (run.steps.count(), sum(kept)) == (12, 12), "nothing was asked twice"


def test_it_ends_a_few_times_and_is_decided_then_whoever_waits(run: Run, kept: Kept, watched) -> None:
    watched()
    states = [work(run).state for _ in range(way_inside.MOST + 1)]
    assert states == [Shard.State.QUEUED] * way_inside.MOST + [Shard.State.DONE]


def test_it_is_decided_whole_where_nobody_waits(run: Run, kept: Kept) -> None:
    assert work(run).state == Shard.State.DONE
    assert kept == [AT_ONCE, 4]
