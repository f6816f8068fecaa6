"""Workers that die while they load models use up no attempt of a shard or a job: nothing of it was tried."""

from datetime import timedelta
from typing import TypeVar

import pytest
from django.utils import timezone

from agents.memory.jobs import start_embedding
from agents.models import MemorySnippet, Run
from annotations.jobs import running as jobs
from annotations.models import Job
from annotations.models.jobs.jobs import LOADING
from annotations.models.jobs.loading import LOADING_DEATHS, LOADING_WAITS
from annotations.models.jobs.worker_leases import MAX_ATTEMPTS
from evaluation.models.shards import Shard
from evaluation.studies import running
from tests import factories
from tests.evaluation.study_rows import make_study, numbers, rows, undisturbed
from tests.quick import first_is_quick

State = Shard.State
W = TypeVar("W", Shard, Job)


def claimed_again(work: W) -> W:
    """As soon as it may be tried."""
    type(work).objects.filter(pk=work.pk).update(not_before=None)
    return type(work).objects.claim(work.pk)


def die(work: W) -> W:
    """Its worker falls silent and is noticed."""
    type(work).objects.filter(pk=work.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    type(work).objects.reap()
    return type(work).objects.get(pk=work.pk)


@pytest.fixture
def shard(dataset) -> Shard:
    return Shard.objects.claim(make_study(dataset).runs.get().shards.get().pk)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_three_workers_killed_while_models_load_change_nothing_of_a_study(
    dataset, hash_encoder, worker, tmp_path, monkeypatch
) -> None:
    deaths = tmp_path / "deaths"
    deaths.write_text(str(MAX_ATTEMPTS))
    monkeypatch.setenv("DEATHS", str(deaths))
    study = make_study(dataset, publish=True)
    run = study.runs.get()
    killed = worker("killed", "tests.evaluation.dies_loading_worker")
    killed.wait_until(lambda: Run.objects.get(pk=run.pk).is_over, 120, "end of the run")
    assert deaths.read_text() == "0", "it died while models were loading"
    shard = run.shards.get()
    assert (Run.objects.get(pk=run.pk).state, shard.state, shard.loading_deaths) == (Run.State.DONE, State.DONE, 0)
    reference = undisturbed(dataset)
    assert (rows(run), numbers(run)) == (rows(reference), numbers(reference))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_three_workers_killed_while_an_encoder_loads_do_not_end_an_embedding(
    dataset, worker, tmp_path, monkeypatch
) -> None:
    deaths = tmp_path / "deaths"
    deaths.write_text(str(MAX_ATTEMPTS))
    monkeypatch.setenv("DEATHS", str(deaths))
    job = start_embedding(user=None, dataset=dataset, parts=["snippets"])
    killed = worker("killed", "tests.evaluation.dies_loading_worker")
    killed.wait_until(lambda: Job.objects.get(pk=job.pk).is_over, 200, "end of the embedding")
    job.refresh_from_db()
    assert (job.state, job.last_error, job.loading_deaths) == (State.DONE, "", 0)
    assert deaths.read_text() == "0", "it died while the encoder was loading"
    assert MemorySnippet.objects.filter(conversation__dataset=dataset).count() == 30


def test_deaths_while_models_load_use_up_no_attempt_and_wait_longer_each_time(shard) -> None:
    for number, wait in enumerate(LOADING_WAITS, 1):
        assert (shard.attempt, shard.is_loaded) == (1, False)
        shard.tell("loading models")
        shard = die(shard)
        assert (shard.state, shard.attempt, shard.loading_deaths) == (State.QUEUED, 0, number)
        left = (shard.not_before - timezone.now()).total_seconds() if shard.not_before else 0
        assert wait - 5 < left <= wait
        shard = claimed_again(shard)
    assert sum(LOADING_WAITS) > 600, "somebody may look at the machine meanwhile"


def test_a_shard_that_waits_is_taken_by_nobody_and_says_why(shard) -> None:
    Shard.objects.filter(pk=shard.pk).update(loading_deaths=4)
    shard = die(shard)
    assert (Shard.objects.claim(shard.pk), Shard.objects.reap()) == (None, [])
    assert shard.worker_text().endswith("s: 5 workers died while models were loading")
    Shard.objects.filter(pk=shard.pk).update(not_before=timezone.now())
    assert Shard.objects.reap() == [shard.pk]
    assert Shard.objects.filter(pk=shard.pk).unheard(lambda queue: 1), "its message is gone with its worker"
    assert Shard.objects.claim(shard.pk).not_before is None


def test_after_many_deaths_it_is_parked_with_the_reason_and_a_person_may_try_again(shard) -> None:
    Shard.objects.filter(pk=shard.pk).update(loading_deaths=LOADING_DEATHS - 1, peak_memory=3 * 1024**3)
    shard = die(shard)
    assert (shard.state, shard.lease_token) == (State.FAILED, None)
    said = f"{LOADING_DEATHS} workers died one after the other while they loaded its models"
    assert shard.last_error.startswith(said)
    assert "it held up to 3.0 GB" in shard.last_error
    running.reap()
    study = shard.run.studies.get()
    assert Run.objects.get(pk=shard.run_id).error == shard.last_error
    running.resume_study(study)
    shard.refresh_from_db()
    assert (shard.state, shard.loading_deaths, shard.not_before) == (State.QUEUED, 0, None)


def test_deaths_after_models_are_loaded_use_up_attempts(shard) -> None:
    for number in range(1, MAX_ATTEMPTS + 1):
        assert shard.attempt == number
        shard.tell("deciding", loaded=True)
        shard = die(shard)
        if number < MAX_ATTEMPTS:
            assert (shard.state, shard.loading_deaths) == (State.QUEUED, 0)
            shard = claimed_again(shard)
            assert not shard.is_loaded, "another worker has to load them first"
    assert (shard.state, "died 3 times" in shard.last_error) == (State.FAILED, True)


def test_a_stored_result_makes_earlier_deaths_forgotten(shard) -> None:
    shard = claimed_again(die(shard))
    assert shard.loading_deaths == 1
    shard.got_on()
    assert Shard.objects.get(pk=shard.pk).loading_deaths == 0


@pytest.mark.slow
def test_a_worker_says_that_models_are_loaded_before_it_decides(dataset, hash_encoder) -> None:
    run = make_study(dataset).runs.get()
    shard = Shard.objects.claim(run.shards.get().pk)
    seen = []
    running.work(shard, lambda: seen.append(Shard.objects.get(pk=shard.pk).is_loaded))
    assert set(seen) == {True}


@pytest.mark.slow
@pytest.mark.django_db
@first_is_quick("kind", ["train", "embed", "induce", "transition"])
def test_jobs_that_load_weights_are_tried_again_like_shards(kind) -> None:
    job = Job.objects.claim(factories.make_job(kind=kind).pk)
    for number, wait in enumerate(LOADING_WAITS, 1):
        job = die(job)
        assert (job.state, job.attempt, job.loading_deaths) == (State.QUEUED, 0, number)
        if wait:
            assert Job.objects.claim(job.pk) is None
            assert job.worker_text().endswith(f": {number} workers died while models were loading")
        job = claimed_again(job)
    job = die(job)
    assert job.state == State.FAILED
    assert f"{LOADING_DEATHS} workers died one after the other while they loaded its models" in job.last_error
    assert "Try it again once a worker stays up." in job.last_error
    job = jobs.retry(job)
    assert (job.state, job.loading_deaths, job.not_before) == (State.QUEUED, 0, None)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["import", "export", "propose"])
def test_jobs_that_load_nothing_use_up_attempts_from_the_start(kind) -> None:
    job = Job.objects.claim(factories.make_job(kind=kind).pk)
    for _ in range(MAX_ATTEMPTS - 1):
        job = claimed_again(die(job))
    job = die(job)
    assert (job.state, "died 3 times" in job.last_error) == (State.FAILED, True)


@pytest.mark.django_db
def test_a_job_that_has_begun_uses_up_attempts_until_it_loads_again() -> None:
    job = Job.objects.claim(factories.make_job(kind="train").pk)
    job.tell({"phase": "reading", "unit": "conversations", "done": 0})
    job = claimed_again(die(job))
    assert (job.attempt, job.loading_deaths) == (2, 0)
    job.tell({"phase": "reading", "unit": "conversations", "done": 1})
    job.tell({"phase": LOADING, "unit": "steps", "done": 0})
    job = claimed_again(die(job))
    assert (job.attempt, job.loading_deaths) == (1, 1)
    job.tell({"phase": "epoch 0.1", "unit": "steps", "done": 1})
    assert Job.objects.get(pk=job.pk).loading_deaths == 0
