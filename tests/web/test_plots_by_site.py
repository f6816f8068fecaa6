"""Live conversations site by site: plots of a study's page, with their CSV and over REST."""

import csv
import io

import pytest

from agents.models import Trajectory
from agents.models.steps import TURN
from annotations.models import Dataset
from evaluation.models import Study
from evaluation.scores import breakdowns
from evaluation.scores.scoring import RunScores
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_pages_studies import RECIPE, study_client

pytestmark = pytest.mark.django_db
REACHED = {"reached": True, "steps": 3, "recorded_steps": 2, "problems": 0, "side_effects": []}
MISSED = {"reached": False, "steps": 9, "recorded_steps": 2, "problems": 1, "side_effects": ["cart"]}
ASKED = {"asked": 0, "needed": False, "told_after": None}


@pytest.fixture
def goals() -> Dataset:
    return factories.make_dataset(live={"environment": "sample-sites", "steps": 20, "seconds": 300})


@pytest.fixture
def study(goals: Dataset) -> Study:
    """One conversation on a shop that goes well; two on a cinema, one of which ends with a side effect."""
    run = factories.make_run(goals, state="done", step_count=3, recipe=RECIPE)
    play(run, "shop", "boots", REACHED)
    play(run, "cinema", "evening", REACHED)
    play(run, "cinema", "matinee", MISSED)
    return factories.make_study(goals.project, [run])


def play(run, site: str, task: str, end: dict) -> None:
    website = run.dataset.websites.filter(name=site).first() or factories.make_website(run.dataset, name=site)
    conversation = factories.make_conversation(
        dataset=run.dataset, website=website, turns=1, steps=0, extra={"task": task, "seed": 0}
    )
    trajectory = Trajectory.objects.create(run=run, conversation=conversation, state="done", step_count=1)
    trajectory.steps.create(
        run=run,
        turn=conversation.turns.get(),
        seq=0,
        operation="CLICK",
        reward=float(end["reached"]),
        milliseconds=10,
        trace={TURN: end | ASKED},
    )
    run.count_episode(lost=False)


def by_site(study: Study) -> dict[tuple[str, str], float]:
    text = study_client(study).get(f"/studies/{study.pk}/plots.csv").content.decode()
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["plot"].startswith("site_")]
    return {(row["plot"], row["x"]): float(row["value"]) for row in rows}


def test_each_measure_has_a_value_for_each_site(study: Study) -> None:
    assert by_site(study) == {
        ("site_live_turn_success", "cinema"): 0.5,
        ("site_live_turn_success", "shop"): 1.0,
        ("site_episode_success", "cinema"): 0.5,
        ("site_episode_success", "shop"): 1.0,
        ("site_recovery", "cinema"): 0.0,
        ("site_path_ratio", "cinema"): 1.5,
        ("site_path_ratio", "shop"): 1.5,
        ("site_side_effects", "cinema"): 0.5,
        ("site_side_effects", "shop"): 0.0,
    }


@pytest.mark.slow
def test_measures_are_kept_when_a_run_is_scored_and_computed_where_more_was_played(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = study.runs.all()
    before = by_site(study)
    RunScores(run).store()
    with monkeypatch.context() as nothing_is_computed:
        nothing_is_computed.setattr(breakdowns, "metrics_by_site", None)
        assert by_site(study) == before
    play(run, "shop", "tent", MISSED)
    later = by_site(study)
    assert (before["site_live_turn_success", "shop"], later["site_live_turn_success", "shop"]) == (1.0, 0.5)
    RunScores(run).store()
    assert by_site(study) == later


@pytest.mark.slow
def test_one_conversation_has_no_interval_and_says_how_many_there_were(study: Study) -> None:
    page = source(study_client(study).get(f"/studies/{study.pk}/plots/"))
    for title in ("Turns that succeed", "Changes that nobody asked for, a turn"):
        assert title in page
    assert "1 conversation" in page
    plots = client_of(factories.make_user("reader", study.project)).get(f"/api/studies/{study.pk}/plots/").json()
    (turns,) = [plot for plot in plots if plot["name"] == "site_live_turn_success"]
    found = {point["x"]: (point["low"] is None, point["n"]) for point in turns["points"]}
    assert found == {"cinema": (False, 2), "shop": (True, 1)}


def test_recorded_conversations_and_single_tasks_have_none(study: Study, goals: Dataset) -> None:
    goals.live = {"environment": "miniwob", "steps": 20, "seconds": 300}
    goals.save()
    assert not by_site(study)
