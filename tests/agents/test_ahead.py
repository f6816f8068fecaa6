"""What comes before something else at the worker, and how long it takes as far as it is known."""

import pytest

from agents.models import Run
from agents.training.prepare import preparing
from agents.training.prepare.ahead import NOTHING, Ahead, WorkQueue
from annotations.models import Dataset, Job
from tests import factories
from tests.agents.test_preparing import make_dataset
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


def waiting_run(dataset: Dataset, recipe: str, steps: int, **fields: object) -> Run:
    return factories.make_run(dataset, recipe_name=recipe, state="queued", step_count=steps, **fields)


@pytest.fixture
def paced() -> Dataset:
    """A dataset on which a step of `grounded` took half a second."""
    dataset = make_dataset()
    ran = factories.make_run(dataset, recipe_name="grounded", state="done")
    factories.make_trajectory(ran, dataset.conversations.first())
    ran.steps.update(milliseconds=500)
    return dataset


def test_runs_count_by_the_steps_they_have_left_and_jobs_by_what_they_take(paced: Dataset) -> None:
    assert WorkQueue().before() == NOTHING
    waiting_run(paced, "grounded", 20)
    assert WorkQueue().before() == Ahead(runs=1, seconds=10.0)
    waiting_run(paced, "never-run", 20)
    found = WorkQueue().before()
    assert found == Ahead(runs=2, seconds=10.0, unknown=1)
    assert (found.text, found.ready_in(5)) == ("2 runs", "more than 15 s")
    factories.make_job(paced.project, kind=Job.Kind.EXPORT, state="queued")
    assert WorkQueue().before() == found, "that is done by another worker"
    preparing.make_cheap(paced.project, [].append, most=1)
    assert WorkQueue().before() == Ahead(jobs=1, runs=2, seconds=42.0, unknown=1)
    Job.objects.update(state="running", progress={"done": 3, "total": 4, "unit": "steps"})
    assert WorkQueue().before().seconds == 10 + 8


def test_what_is_nearly_ready_is_told_in_words() -> None:
    assert [NOTHING.ready_in(seconds) for seconds in (0.2, 1, 90)] == ["under 1 s", "about 1 s", "about 1 min 30 s"]
    assert Ahead(unknown=1).ready_in(0.2) == "more than 1 s"


@pytest.mark.slow
def test_a_recipe_that_waits_says_what_comes_first_and_counts_it(paced: Dataset) -> None:
    admin = client_of(factories.make_user("admin", paced.project))
    preparing.make_cheap(paced.project, [].append, most=1)
    assert "waits for its turn, then about 32 s" in source(admin.get("/recipes/mindact/"))
    waiting_run(paced, "grounded", 200)
    assert "waits for its turn, then about 32 s" in source(admin.get("/recipes/")), "that was asked for later"
    first = waiting_run(paced, "grounded", 200)
    Run.objects.filter(pk=first.pk).update(created_at=Job.objects.get(kind=Job.Kind.TRAIN).created_at)
    for address in ("/recipes/", "/recipes/mindact/"):
        assert "waits for its turn, done in about 2 min 12 s: 1 run first" in source(admin.get(address))
    assert admin.get("/api/recipes/mindact/prepare/").json()["running_seconds"] == 132
    waiting = waiting_run(paced, "never-run", 5)
    Run.objects.filter(pk=waiting.pk).update(state="running")
    shown = source(admin.get("/recipes/"))
    assert "waits for its turn, done in more than 2 min 12 s: 2 runs first" in shown
    assert "about 2 min 12 s" not in shown
