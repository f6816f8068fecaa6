"""Stored runs whose kinds came with a package that is gone: their pages and their data stay readable."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.models import Run
from agents.recipes import literature
from agents.recipes.kinds import KINDS
from agents.training.mismatches import unlike_training
from evaluation.scores.scoring import RunScores
from evaluation.studies.placing import best_of, queue_for
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
CHOOSING = [setting for setting, own in KINDS.items() if [*own] != ["True"]]


def stored(name: str) -> dict[str, Any]:
    return literature.to_dict(literature.get(name))


def without(setting: str, name: str = "wma") -> dict[str, Any]:
    """A recipe as a run stores it, with a kind that nothing brings any more."""
    found = stored(name)
    stage, field = setting.split(".")
    found[stage] |= {field: "gone"}
    return found


def opened(run: Run) -> dict[str, int]:
    """The answers of all pages and addresses that show a run, as an admin sees them."""
    trajectory, study = factories.make_trajectory(run), factories.make_study(run.dataset.project, [run])
    admin = client_of(factories.make_user("admin", run.dataset.project, sees_test_gold=True))
    pages: dict[str, list[Any]] = {
        "run": [run.pk],
        "study": [study.pk],
        "study-plots": [study.pk],
        "study-report": [study.pk, "md"],
        "study-scores": [study.pk, "csv"],
        "trajectory-step": [trajectory.pk, 0],
        "trajectory-file": [trajectory.pk],
        "recipes": [],
        "runs": [],
        "studies": [],
        "home": [],
    }
    paths = {name: reverse(name, args=args) for name, args in pages.items()}
    paths |= {name: f"/api/{name}/{pk}/" for name, pk in (("runs", run.pk), ("studies", study.pk))}
    return {name: admin.get(path).status_code for name, path in paths.items()}


@first_is_quick("setting", CHOOSING)
def test_a_run_stays_readable_without_the_package_that_brought_its_kind(setting: str) -> None:
    found = opened(factories.make_run(recipe=without(setting), state="done"))
    assert set(found.values()) == {200}, found


def test_a_run_stays_readable_without_the_package_that_brought_its_setting() -> None:
    recipe = stored("wma")
    recipe["plan"] |= {"longest_by": "words"}
    found = opened(factories.make_run(recipe=recipe, state="done"))
    assert set(found.values()) == {200}, found


def test_its_scores_can_be_made_again() -> None:
    run = factories.make_run(recipe=without("plan.kind"), state="done")
    factories.make_trajectory(run)
    assert RunScores(run).store() > 0


def test_a_model_whose_training_cannot_be_read_is_named() -> None:
    dataset = factories.make_dataset()
    job = factories.make_job(dataset.project, params={"recipe": without("recall.memory", "self-map")})
    factories.make_trained_model(dataset, name="mine", kind="seq2seq", job=job, config={"paradigm": "generation"})
    recipe = literature.override(literature.get("self-map"), {"plan.model": "mine"})
    run = factories.make_run(dataset, recipe=literature.to_dict(recipe), state="done")
    said = "plan.model=mine was trained by a recipe that cannot be read any more."
    assert unlike_training(run.recipe, dataset.project_id) == [said]
    assert set(opened(run).values()) == {200}


def test_it_keeps_no_other_run_waiting() -> None:
    """A worker that is woken up looks at all runs that wait."""
    gone, other = (factories.make_run(recipe=recipe) for recipe in (without("plan.kind"), stored("grounded")))
    waiting = [factories.make_shard(run, published_at=timezone.now()) for run in (gone, other)]
    assert best_of(waiting[1].pk) == waiting[1].pk
    assert queue_for(waiting[0]) is None
