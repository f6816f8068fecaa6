"""The study form says what a study would take before it starts, and folds away the recipes that cannot run."""

import pytest
from django.test import Client

from agents.models import Run
from annotations.models import Dataset
from evaluation.studies.expecting import Expected, expected
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """Two conversations of six steps in train, one in a test split."""
    found = factories.make_dataset()
    for split in ("train", "train", "test_task"):
        factories.make_conversation(dataset=found, split=split, turns=2, steps=3)
    return found


@pytest.fixture
def ran(dataset: Dataset) -> Run:
    """A run of `grounded` whose steps took half a second and cost a thousandth each."""
    run = factories.make_run(dataset, recipe_name="grounded", state="done")
    factories.make_trajectory(run, dataset.conversations.first())
    run.steps.update(milliseconds=500, cost=0.001)
    return run


def of(dataset: Dataset, recipes: list[str], *splits: str, limit: int | None = None) -> Expected:
    return expected(factories.make_user("admin", dataset.project), dataset, recipes, list(splits), limit)


def test_steps_time_and_money_follow_from_the_last_run_of_a_recipe(dataset: Dataset, ran: Run) -> None:
    assert of(dataset, ["grounded"], "train") == Expected(1, 12, 6.0, pytest.approx(0.012), [])
    assert of(dataset, ["grounded"]) == Expected(1, 18, 9.0, pytest.approx(0.018), [])
    assert of(dataset, ["grounded"], "train", "test_task").runs == 2


def test_the_first_conversations_count_as_the_others_do(dataset: Dataset, ran: Run) -> None:
    assert of(dataset, ["grounded"], "train", limit=1).steps == 6
    assert of(dataset, ["grounded"], "train", limit=50).steps == 12


def test_the_conversations_on_some_websites_count_alone(dataset: Dataset, ran: Run) -> None:
    site = dataset.conversations.first().website
    steps = 6 * dataset.conversations.filter(website=site).count()
    found = expected(factories.make_user("admin", dataset.project), dataset, ["grounded"], [], None, [site.name])
    assert found.steps == steps
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&websites={site.name}")
    assert f"1 run of {steps} steps in all." in page


def test_a_recipe_that_nobody_has_run_is_named(dataset: Dataset, ran: Run) -> None:
    found = of(dataset, ["grounded", "mindact"], "train")
    assert (found.steps, found.seconds, found.unknown) == (24, 6.0, ["mindact"])
    assert "How long is not known of mindact: nobody has run it here yet." in found.sentences()


def test_a_run_of_another_project_says_nothing(dataset: Dataset) -> None:
    factories.make_run(factories.make_dataset(), recipe_name="grounded", state="done")
    assert of(dataset, ["grounded"]).unknown == ["grounded"]


def form(dataset: Dataset, query: str = "") -> str:
    client: Client = client_of(factories.make_user("admin", dataset.project))
    return source(client.get(f"/studies/new/{query}"))


def test_the_form_says_it_for_what_is_chosen(dataset: Dataset, ran: Run) -> None:
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&splits=train")
    assert "1 run of 12 steps in all." in page
    assert "About 6 s on one worker, as earlier runs took." in page
    assert "12 steps" not in form(dataset, "?dataset=none&recipes=grounded")


def test_recipes_that_lack_something_are_folded_away(dataset: Dataset) -> None:
    ready, _, folded = form(dataset).partition("recipes that lack something here</summary>")
    assert 'value="grounded"' in ready
    assert 'value="mindact"' not in ready
    assert 'value="mindact"' in folded
