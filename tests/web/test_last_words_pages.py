"""The pages of a job and of a study show what their dead workers left; the lines only to who manages the project."""

import pytest

from annotations.models import Job
from evaluation.models import Shard, Study
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db
LEFT = {"last_log": "line 698\nline 699", "peak_memory": 3 * 1024**3, "gpu_memory": 2 * 1024**3, "state": "failed"}


@pytest.mark.parametrize(("role", "sees"), [("admin", True), ("reader", False)])
def test_a_job_shows_what_its_dead_worker_left(role: str, sees: bool) -> None:
    project = factories.make_project()
    job = factories.make_job(project, **LEFT)
    page = source(client_of(factories.make_user(role, project)).get(f"/jobs/{job.pk}/"))
    assert ("line 699" in page) is sees
    assert "at most 3.0\xa0GB, 2.0\xa0GB of the device" in page


@pytest.mark.parametrize(("role", "sees"), [("admin", True), ("reader", False)])
def test_a_study_shows_which_shards_lost_their_worker(role: str, sees: bool) -> None:
    project = factories.make_project()
    run = factories.make_run(dataset=factories.make_dataset(project))
    study = Study.objects.create(project=project, name="compared")
    study.runs.add(run)
    factories.make_shard(run, last_error="Its worker died 3 times", **LEFT)
    page = source(client_of(factories.make_user(role, project)).get(f"/studies/{study.pk}/"))
    assert ("line 699" in page) is sees
    assert "at most 3.0\xa0GB and 2.0\xa0GB of the device" in page
    assert "Its worker died 3 times" in page


@pytest.mark.slow
def test_a_shard_that_went_well_in_the_end_is_no_trouble() -> None:
    """Its first worker died; what the second did is there."""
    project = factories.make_project()
    run = factories.make_run(dataset=factories.make_dataset(project))
    study = Study.objects.create(project=project, name="compared")
    study.runs.add(run)
    left = LEFT | {"state": "queued", "last_error": "OSError: away", "error_id": "abc"}
    shard = Shard.objects.claim(factories.make_shard(run, **left).pk)
    client = client_of(factories.make_user("admin", project))
    assert "Workers that died or failed" in source(client.get(f"/studies/{study.pk}/"))
    shard.finish(Shard.State.DONE)
    page = source(client.get(f"/studies/{study.pk}/"))
    assert "Workers that died or failed" not in page
    assert "OSError" not in page
    told = client.get(f"/api/shards/{shard.pk}/").json()
    assert (told["state"], told["last_error"], told["error_id"]) == ("done", "", "")


def test_a_job_that_went_well_in_the_end_says_nothing_of_its_first_attempt() -> None:
    project = factories.make_project()
    left = LEFT | {"state": "queued", "last_error": "OSError: away"}
    job = Job.objects.claim(factories.make_job(project, **left).pk)
    job.finish(Job.State.DONE)
    page = source(client_of(factories.make_user("admin", project)).get(f"/jobs/{job.pk}/"))
    assert "line 699" not in page
    assert "OSError" not in page
