"""Whoever reads scores is told of a model that was given other inputs than it was trained on."""

import dataclasses

import pytest
from django.test import Client

from agents.models import Run, TrainedModel
from agents.recipes import literature
from agents.stages.registry import training_of
from agents.training.settings import make_settings
from annotations.models import Job
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
SAID = "plan.model=own was trained with rank.top_k=at least 5; mindact asks it with rank.top_k=3."


def scored_run(changes: dict[str, str]) -> Run:
    """A run with a score whose recipe asks a planner that was trained as `mindact` asks."""
    dataset = factories.make_dataset()
    trained_by = literature.get("mindact")
    kind, follows = training_of(trained_by)
    job = Job(kind=Job.Kind.TRAIN, project=dataset.project, params={"recipe": literature.to_dict(trained_by)})
    job.save()
    config = dataclasses.asdict(make_settings(kind, follows))
    TrainedModel.objects.create(name="own", kind=kind, project=dataset.project, job=job, config=config)
    asks = literature.override(trained_by, {"plan.model": "own"} | changes)
    run = factories.make_run(dataset, recipe_name="mindact", recipe=literature.to_dict(asks), state=Run.State.DONE)
    factories.make_score(run)
    factories.make_study(runs=[run])
    return run


def told(run: Run) -> tuple[str, list[str]]:
    """What a reader's page of the study and REST say of the run."""
    client: Client = client_of(factories.make_user("reader", run.dataset.project))
    page = client.get(f"/studies/{run.studies.get().pk}/").content.decode()
    return page, client.get(f"/api/runs/{run.pk}/").json()["unlike_training"]


def test_the_page_of_a_study_and_rest_name_it() -> None:
    page, rest = told(scored_run({"rank.top_k": "3"}))
    assert page.count(SAID) == 1
    assert rest == [SAID]


def test_a_model_that_is_asked_as_it_was_trained_is_no_matter() -> None:
    page, rest = told(scored_run({}))
    assert "was trained with" not in page
    assert rest == []
