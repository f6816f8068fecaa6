"""Workers die, come back, meet old messages and lose new ones: the rows stay the same."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from agents.llm.deadline import go_on
from agents.models import Run
from agents.pipeline import Pipeline
from annotations.jobs import waking
from annotations.models import Conversation
from annotations.models.jobs.messaged import TELL_AGAIN, TELL_ANYWAY
from evaluation import tasks
from evaluation.models.shards import Shard
from evaluation.scores.reviewed import store_all_scores
from evaluation.scores.scoring import judge_step
from evaluation.studies import running
from tests.evaluation.study_rows import make_study, numbers, rows, undisturbed


def test_a_stale_worker_writes_no_rows_and_does_not_end_the_run(dataset, hash_encoder) -> None:
    run = make_study(dataset).runs.get()
    stale = Shard.objects.claim(run.shards.get().pk)
    Shard.objects.filter(pk=stale.pk).update(lease_token=uuid.uuid4())  # somebody else has it now
    running.work(stale)
    assert run.steps.count() == 0
    assert Run.objects.get(pk=run.pk).state == Run.State.RUNNING
    assert Shard.objects.get(pk=stale.pk).state == Shard.State.RUNNING


@pytest.mark.slow
def test_a_worker_that_loses_its_lease_midway_stops_and_the_next_one_does_the_rest(dataset, hash_encoder) -> None:
    run = make_study(dataset).runs.get()
    paused = Shard.objects.claim(run.shards.get().pk)

    def pause_past_the_lease() -> None:
        if run.steps.count() == 8:
            Shard.objects.filter(pk=paused.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
            running.work(Shard.objects.claim(paused.pk))  # meanwhile another worker finishes it

    running.work(paused, pause_past_the_lease)
    assert run.steps.count() == 30
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert rows(run) == rows(undisturbed(dataset))


@pytest.mark.slow
def test_a_message_delivered_five_times_gives_one_row_per_step(dataset, hash_encoder, in_thread) -> None:
    run = make_study(dataset).runs.get()
    for _ in range(5):
        tasks.run_shard(run.shards.get().pk)
    assert run.steps.count() == 30
    assert run.shards.get().attempt == 1
    assert not run.shards.end_run(run, store_all_scores), "it was ended by the first"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_many_callers_at_once_one_ends_the_run(dataset, hash_encoder) -> None:
    run = make_study(dataset).runs.get()
    shard = Shard.objects.claim(run.shards.get().pk)
    running.run_conversations(run, shard.conversation_ids, judge_step, shard.fenced)
    shard.finish(Shard.State.DONE)

    def finish(_: int) -> bool:
        try:
            return run.shards.end_run(run, store_all_scores)
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(finish, range(5))) == [False, False, False, False, True]
    assert numbers(run) == numbers(undisturbed(dataset))


@pytest.mark.django_db(transaction=True)
def test_a_cancel_that_comes_too_late_leaves_the_ended_run_as_it_is(
    dataset, hash_encoder, in_thread, monkeypatch
) -> None:
    study = make_study(dataset)
    run, lock = study.runs.get(), Run.locked

    def end_just_before(locked: Run) -> Run:
        in_thread(lambda: Run.objects.filter(pk=run.pk).update(state=Run.State.DONE))
        return lock(locked)

    monkeypatch.setattr(Run, "locked", end_just_before)
    study.cancel(store_all_scores)
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert run.shards.get().state == Shard.State.QUEUED, "untouched"


def test_the_reaper_publishes_shards_whose_message_was_lost_and_only_those(
    dataset, small_shards, messages, monkeypatch
) -> None:
    monkeypatch.setattr(waking, "left_in", lambda queue: 0)
    run = make_study(dataset).runs.get()
    lost, told, old, freed, held = run.shards.order_by("index")
    now = timezone.now()
    Shard.objects.filter(pk=told.pk).update(published_at=now)
    Shard.objects.filter(pk=old.pk).update(published_at=now - 2 * TELL_AGAIN)
    dead = {"state": Shard.State.RUNNING, "attempt": 1, "lease_token": uuid.uuid4(), "lease_owner": "elsewhere:1"}
    Shard.objects.filter(pk=freed.pk).update(published_at=now, lease_until=now - timedelta(seconds=1), **dead)
    Shard.objects.filter(pk=held.pk).update(published_at=now, lease_until=now + timedelta(seconds=60), **dead)
    running.reap()
    assert sorted(messages) == [lost.pk, old.pk, freed.pk]
    messages.clear()
    running.reap()
    assert messages == []


def test_messages_do_not_pile_up_while_their_queue_has_some(dataset, small_shards, messages, monkeypatch) -> None:
    """A worker that was busy for an hour found hundreds, which took up one shard after the other before any job."""
    left = {"gpu": 3}
    monkeypatch.setattr(waking, "left_in", lambda queue: left[queue])
    run = make_study(dataset).runs.get()
    now = timezone.now()
    run.shards.update(published_at=now - 2 * TELL_AGAIN)
    first = run.shards.order_by("index").first()
    run.shards.filter(pk=first.pk).update(published_at=now - 2 * TELL_ANYWAY)
    running.reap()
    assert messages == [first.pk], "its message may lie where no worker is any more"
    messages.clear()
    left["gpu"] = 0
    running.reap()
    assert sorted(messages) == sorted(run.shards.exclude(pk=first.pk).values_list("pk", flat=True))


def test_whoever_frees_a_shard_without_a_message_is_helped_by_the_reaper(dataset, small_shards, messages) -> None:
    run = make_study(dataset).runs.get()
    run.shards.update(published_at=timezone.now())
    shard = Shard.objects.claim(run.shards.first().pk)
    Shard.objects.filter(pk=shard.pk).update(state=Shard.State.QUEUED, **Shard.FREE)
    running.reap()
    assert messages == [shard.pk]


@pytest.mark.slow
def test_the_reaper_ends_a_run_whose_last_worker_died_before_ending_it(dataset, hash_encoder, messages) -> None:
    run = make_study(dataset).runs.get()
    shard = Shard.objects.claim(run.shards.get().pk)
    running.run_conversations(run, shard.conversation_ids, judge_step, shard.fenced)
    shard.finish(Shard.State.DONE)
    running.reap()
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert run.scores.exists()


def test_a_rolled_back_study_tells_nobody(dataset, messages, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True) as callbacks, transaction.atomic():
        make_study(dataset, publish=True)
        transaction.set_rollback(True)
    assert callbacks == []
    assert messages == []
    assert not Shard.objects.exists()


def test_a_committed_study_tells_workers_once_per_shard(
    dataset, small_shards, messages, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = make_study(dataset, publish=True).runs.get()
        assert messages == [], "not before the rows can be seen"
    assert messages == list(run.shards.values_list("pk", flat=True))
    assert not run.shards.filter(published_at=None).exists()


@pytest.mark.django_db(transaction=True)
def test_a_study_stands_when_nobody_can_be_told(dataset, messages, monkeypatch) -> None:
    def unreachable(pk: int) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(tasks.run_shard, "delay", unreachable)
    run = make_study(dataset, publish=True).runs.get()
    assert run.shards.filter(published_at=None).count() == 1
    monkeypatch.setattr(tasks.run_shard, "delay", messages.append)
    running.reap()
    assert messages == [run.shards.get().pk]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_conversation_that_kills_its_worker_parks_its_shard_while_the_others_finish(
    dataset, small_shards, worker
) -> None:
    poisoned = Conversation.objects.filter(dataset=dataset).order_by("position")[2]
    poisoned.turns.filter(index=1).update(instruction="POISON")
    run = make_study(dataset, publish=True).runs.get()
    deadly = worker("deadly", "tests.evaluation.deadly_worker")

    def over() -> bool:
        time.sleep(0.2)
        running.reap()
        return Run.objects.get(pk=run.pk).is_over

    deadly.wait_until(over, 120, "end of the run")
    run.refresh_from_db()
    assert run.state == Run.State.DONE_WITH_ERRORS
    assert "died 3 times" in run.error
    parked = run.shards.exclude(state=Shard.State.DONE).get()
    assert parked.conversation_ids == [poisoned.pk]
    assert (parked.state, parked.attempt) == (Shard.State.FAILED, 3)
    assert run.steps.exclude(trajectory__conversation=poisoned).count() == 24
    assert run.scores.exists()


@pytest.mark.slow
def test_what_somebody_watches_goes_before_what_waits_and_what_is_at_work(dataset, hash_encoder) -> None:
    other, waiting = make_study(dataset).runs.get(), make_study(dataset).runs.get()
    Shard.objects.update(published_at=timezone.now())
    at_work, watched = Shard.objects.claim(other.shards.get().pk), []

    def somebody_watches() -> None:
        if not watched:
            study = make_study(dataset, overrides={"batch_size": "1"}, limit=1)
            study.runs.get().shards.update(is_watched=True, published_at=timezone.now())
            watched.append(study.runs.get())

    running.work(at_work, somebody_watches)
    assert other.steps.count() == 4, "it stops after the batch at work"
    assert other.shards.get().state == Shard.State.QUEUED
    tasks.run_shard(waiting.shards.get().pk)
    assert watched[0].steps.count() == watched[0].step_count
    assert waiting.steps.count() == 0
    tasks.run_shard(watched[0].shards.get().pk)
    tasks.run_shard(other.shards.get().pk)
    assert other.steps.count() + waiting.steps.count() == 60, "the others go on"


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_run_lets_its_worker_go_in_the_middle_of_a_batch(dataset, hash_encoder, monkeypatch) -> None:
    """Its decisions take as long as a batch of the embedded model; between two of its tokens it asks the same."""
    study = make_study(dataset)
    shard = Shard.objects.claim(study.runs.get().shards.get().pk)
    asked: list[float] = []

    def decide_for_long(pipeline, observations, wanted=None):
        study.cancel(store_all_scores)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            asked.append(time.monotonic())
            go_on()
            time.sleep(0.05)
        raise AssertionError("nobody has told the batch that its run was cancelled")

    monkeypatch.setattr(Pipeline, "decide", decide_for_long)
    running.work(shard)
    assert asked[-1] - asked[0] < 15
    assert Shard.objects.get(pk=shard.pk).state == Shard.State.CANCELLED
    assert study.runs.get().state == Run.State.CANCELLED
