"""Work that is started while Redis is down is stored once, answered as always, and done when Redis is back."""

import time
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import Job
from evaluation.models import Shard, Study
from evaluation.studies import running
from tests import factories
from tests.signed_in import client_of
from webnav_site.celery import app

DEAD = "redis://127.0.0.1:1/0"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_redis(settings, monkeypatch, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    settings.REDIS_URL = settings.CELERY_BROKER_URL = DEAD
    monkeypatch.setitem(app.conf.changes, "broker_url", DEAD)
    for place, name in ((app, "_pool"), (app.amqp, "_producer_pool")):  # of living connections
        monkeypatch.setattr(place, name, None)


@pytest.fixture
def project():
    return factories.make_project()


@pytest.fixture
def dataset(project):
    dataset = factories.make_dataset(project, name="shop")
    factories.make_conversation(dataset=dataset, split="train")
    return dataset


@pytest.fixture
def admin(project) -> Client:
    return client_of(factories.make_user("admin", project))


def post(client: Client, url: str, body: dict):
    return client.post(url, body, content_type="application/json", headers={"Idempotency-Key": "once"})


def doors(client: Client, project, name: str):
    """Every way that starts work: its request, the status of its answer, and what it makes."""
    export = {"dataset": "shop", "format": "jsonl"}
    upload = SimpleUploadedFile("train.json", b"[]")
    study = {"dataset": "shop", "recipes": ["grounded"], "splits": ["train"]}
    return {
        "export": (partial(post, client, "/api/exports/", export), 202, Job),
        "import": (
            partial(
                client.post,
                "/api/imports/",
                {
                    "project": project.slug,
                    "format": "mt-mind2web",
                    "name": "mine",
                    "file": upload,
                },
            ),
            202,
            Job,
        ),
        "study": (partial(post, client, "/api/studies/", study), 202, Study),
        "export page": (partial(client.post, "/datasets/shop/export/", {"format": "jsonl"}), 302, Job),
    }[name]


@pytest.mark.timed
@pytest.mark.parametrize("door", ["export", "import", "study", "export page"])
def test_work_is_accepted_once(door: str, admin: Client, project, dataset, django_capture_on_commit_callbacks) -> None:
    request, status, model = doors(admin, project, door)
    begun = time.monotonic()
    with django_capture_on_commit_callbacks(execute=True):
        response = request()
    assert response.status_code == status, response.content[:500]
    assert time.monotonic() - begun < 5, "nobody waits for the broker's client to give up"
    if door in ("export", "study"):  # the answer was lost on its way, and is asked for again
        with django_capture_on_commit_callbacks(execute=True):
            assert request().status_code == status
    assert model.objects.count() == 1


def test_a_study_that_nobody_was_told_of_is_told_when_redis_is_back(
    dataset, settings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        running.create_study(user=None, dataset=dataset, recipes=["grounded"])
    assert Shard.objects.get().published_at is None
    told: list[int] = []
    monkeypatch.setattr("evaluation.tasks.run_shard.delay", told.append)
    running.reap()
    assert told == [], "not before"
    monkeypatch.setattr("annotations.jobs.waking.broker_answers", lambda: True)
    running.reap()
    assert told == [Shard.objects.get().pk]
