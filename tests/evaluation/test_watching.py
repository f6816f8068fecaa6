"""The study that everybody starts by one key: whose it is, one at a time, and for whom there is none."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils import timezone

from agents.models import Run
from annotations.jobs import running, stopping
from annotations.models import Dataset
from annotations.models.jobs.worker_leases import owner_name
from evaluation.models import Shard, Study
from evaluation.models.shards import WATCHED_FOR
from evaluation.studies.watching import NAME, watch
from tests import factories
from tests.web.test_permissions import client_of
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """With one conversation of the train split, and one of a hidden split that must not be taken."""
    found = factories.make_dataset()
    for split in ("test_task", "train"):
        factories.make_conversation(1, 1, split=split, dataset=found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("role", ["annotator", "reviewer", "admin"])
def test_everybody_who_works_in_a_project_starts_it_from_home(role: str, dataset: Dataset) -> None:
    user = factories.make_user(role, dataset.project)
    client = client_of(user)
    assert 'data-key="w"' in client.get("/").content.decode()
    answer = client.post(reverse("study-watch"))
    study = Study.objects.get()
    trajectory = study.runs.get().trajectories.get()
    assert answer["Location"] == f"{reverse('trajectory', args=[trajectory.pk])}?watch=1"
    assert (study.name, study.created_by, trajectory.conversation.split) == (NAME, user, "train")
    assert client.get(answer["Location"]).status_code == 200


def test_who_asks_while_one_is_under_way_watches_that_one(dataset: Dataset) -> None:
    first = watch(factories.make_user("annotator", dataset.project))
    assert watch(factories.make_user("reviewer", dataset.project)) == first
    Run.objects.update(state=Run.State.DONE)
    assert watch(factories.make_user("reviewer", dataset.project)) != first
    assert Study.objects.count() == 2


def test_the_replay_says_how_long_it_waits_and_for_what(dataset: Dataset) -> None:
    user = factories.make_user("annotator", dataset.project)
    shard = Shard.objects.get(run=watch(user).run)
    other = factories.make_run(dataset, state="running")
    held = {"lease_owner": owner_name(), "lease_until": timezone.now() + WATCHED_FOR, "heartbeat_at": timezone.now()}
    registry.tell("gpu@here", ("gpu",), 1)
    Shard.objects.create(run=other, index=0, conversation_ids=[], step_count=1, state="running", **held)
    address = f"/api/trajectories/{shard.run.trajectories.get().pk}/steps/"
    says = client_of(user).get(address).json()["waits"]
    assert says.startswith("waiting for ")
    Shard.objects.filter(pk=shard.pk).update(created_at=timezone.now() - WATCHED_FOR)
    says = client_of(user).get(address).json()["waits"]
    assert says.startswith("waiting for 2 min")
    assert "the only worker is busy with the steps of another run, which makes way after what is at hand; one" in says
    shard.run.trajectories.update(state="running")
    assert client_of(user).get(address).json()["waits"] == ""


@pytest.mark.slow
def test_it_is_not_for_those_who_only_read_or_work_elsewhere(dataset: Dataset) -> None:
    for user in (factories.make_user("reader", dataset.project), factories.make_user("annotator")):
        client = client_of(user)
        assert reverse("study-watch") not in client.get("/").content.decode()
        assert client.post(reverse("study-watch")).status_code == 403
        with pytest.raises(PermissionDenied):
            watch(user)
    assert not Study.objects.exists()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple, dict]]:
    """What workers are told of jobs."""
    told: list[tuple[tuple, dict]] = []
    monkeypatch.setattr(running.waking, "broker_answers", lambda: True)
    monkeypatch.setattr(running, "job_task", SimpleNamespace(apply_async=lambda *a, **more: told.append((a, more))))
    stopping.forget()
    return told


def test_a_training_that_is_under_way_ends_its_slice_once_somebody_watches(dataset: Dataset, messages) -> None:
    assert not stopping.makes_way()
    watch(factories.make_user("annotator", dataset.project))
    assert not stopping.makes_way(), "it is looked at once a second"
    stopping.forget()
    assert stopping.makes_way()
    Shard.objects.update(state="running")
    stopping.forget()
    assert not stopping.makes_way(), "its worker has it"


def test_jobs_that_wait_for_the_same_worker_begin_after_what_is_watched(dataset: Dataset, messages) -> None:
    training = factories.make_job(dataset.project, kind="train", params={"name": "x", "changes": {}})
    importing = factories.make_job(dataset.project, kind="import")
    assert not running.makes_way(training.pk)
    watch(factories.make_user("annotator", dataset.project))
    assert running.makes_way(training.pk)
    assert messages == [(((training.pk,),), {"queue": "gpu", "countdown": running.WAY_SECONDS})]
    assert not running.makes_way(importing.pk), "files are read by another worker"
    Shard.objects.update(created_at=timezone.now() - WATCHED_FOR)
    assert not running.makes_way(training.pk), "nobody waits that long, and no worker could take it"
