"""A live run in two browsers: one takes over, acts in the window of the page and hands back; the other sees who drives
and what was done."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals
from agents.models import Drive, Trajectory, TrajectoryStep
from agents.training.kinds.grounded import examples
from agents.training.samples.rows import SplitRows
from annotations.models import Dataset, Role, Step
from evaluation.models import Study
from evaluation.studies.running import create_study
from tests import factories
from tests.live.oracle_agent import OraclePipeline, play_oracles
from tests.signed_in import client_of
from tests.tiny_models import tiny_encoder

pytestmark = pytest.mark.browser


@pytest.fixture
def goal(app_server) -> Trajectory:
    """The episode of a live study that waits for its worker."""
    goals = new_goals(factories.make_project(), "goals", "miniwob", steps=8)
    process = EnvironmentProcess("miniwob")
    try:
        LiveGoals(goals, process).add(["login-user"], range(1))
    finally:
        process.close()
    create_study(user=None, dataset=goals, recipes=["grounded"], publish=False)
    return Trajectory.objects.get()


@pytest.fixture
def played(goal: Trajectory, monkeypatch, worker) -> Callable[[OraclePipeline], None]:
    """`played(pipeline)`: its worker begins."""

    def play(pipeline: OraclePipeline) -> None:
        play_oracles(monkeypatch, pipeline)
        worker()

    return play


@pytest.fixture
def another(chromium: Browser, browser_context: BrowserContext) -> Iterator[Page]:
    """A tab of somebody else's browser."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def write(page: Page, number: int, text: str) -> None:
    """Into the field of that number of the window, as a person does."""
    page.locator("#remote .field").nth(number).click()
    page.locator("#remote .editor input").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#remote .field").nth(number)).to_have_attribute("aria-label", f"Write: {text}")


@pytest.mark.slow
def test_a_person_takes_over_acts_and_hands_back_while_another_watches(
    app_server, page: Page, sign_in, another: Page, goal: Trajectory, played, sign_in_as
) -> None:
    project = goal.run.dataset.project
    sign_in(factories.make_user(Role.REVIEWER, project, username="ada"))
    sign_in_as(another.context, factories.make_user(Role.READER, project, username="ruth"))
    for tab in (page, another):
        tab.goto(app_server.url(f"/trajectories/{goal.pk}/"))
        expect(tab.locator("#drive")).to_contain_text("Nobody drives yet")
    expect(another.locator("#drive button")).to_have_count(0)  # a reader watches
    page.keyboard.press("t")
    expect(page.locator("#drive")).to_contain_text("You drive")
    expect(another.locator("#drive")).to_contain_text("Ada drives", ignore_case=True)
    played(OraclePipeline())
    said = goal.conversation.turns.get().instruction.split('"')
    expect(page.locator("#remote img")).to_be_visible(timeout=30_000)
    expect(page.locator("#remote")).to_contain_text(said[1])
    write(page, 0, said[1])
    expect(page.locator("#drive")).to_contain_text("the agent would: ")
    expect(another.locator("#conversation .step:not(.todo)")).to_have_count(1)
    expect(another.locator("#conversation .step .person")).to_have_text("ada")
    expect(another.locator("#drive")).to_contain_text("human share 1 of 1 step")
    page.keyboard.press("u")
    expect(page.locator("#live")).to_have_text("finished", timeout=30_000)
    expect(page.locator("#drive")).to_contain_text("human share 1 of 3 steps")
    expect(page.locator("#remote")).to_be_hidden()
    steps = TrajectoryStep.objects.order_by("seq")
    assert [(step.operation, step.done_by and step.done_by.username) for step in steps] == [
        ("TYPE", "ada"),
        ("TYPE", None),
        ("CLICK", None),
    ]
    assert steps[2].reward == 1.0
    assert Drive.objects.get().state == "back"


def told_by(command: str, *options: str) -> dict:
    out = io.StringIO()
    call_command(command, "goals-shown", *options, "--inline", "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue().splitlines()[-1])


@pytest.mark.slow
def test_what_is_shown_in_a_take_over_is_trained_on(
    app_server, page: Page, sign_in, goal: Trajectory, played, tmp_path: Path, settings, monkeypatch
) -> None:
    settings.MODEL_ROOT = tmp_path / "models"
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path / "models"))
    ada = factories.make_user(Role.ADMIN, goal.run.dataset.project, username="ada")
    sign_in(ada)
    page.goto(app_server.url(f"/trajectories/{goal.pk}/"))
    page.keyboard.press("t")
    expect(page.locator("#drive")).to_contain_text("You drive")
    played(OraclePipeline())
    expect(page.locator("#remote img")).to_be_visible(timeout=30_000)
    said = goal.conversation.turns.get().instruction.split('"')
    write(page, 0, said[1])
    page.keyboard.press("u")
    expect(page.locator("#live")).to_have_text("finished", timeout=30_000)
    page.get_by_role("link", name="Kept as a demonstration in goals-shown").click()
    expect(page.locator("main")).to_contain_text(said[1])

    learned = list(examples(SplitRows(Dataset.objects.get(name="goals-shown"), "train")))
    assert [(one.step.action.operation, one.step.action.value) for one in learned] == [("TYPE", said[1])], (
        "the agent's two steps are left out"
    )
    base = str(tiny_encoder(tmp_path / "base", [goal.conversation.turns.get().instruction], layers=1, width=32))
    person, *agents = Step.objects.filter(turn__conversation__dataset__name="goals-shown").order_by("index")
    assert person.candidate_count > 1 == person.targets.count()
    assert [(one.candidate_count, one.targets.count()) for one in agents] == [(0, 0), (0, 0)]
    ranker = told_by("train_ranker", "--kind", "dual_encoder", "--base", base, "--name", "r", "--epochs", "1")
    assert (ranker["dataset"], ranker["split"]) == ("goals-shown", "train")
    assert ranker["metrics"]["examples"] > 0, "pairs of the one step that has an element to find"

    page.goto(app_server.url(f"/studies/{Study.objects.get().pk}/"))
    scores = page.locator("section.scores").first
    expect(scores).to_contain_text("Human share")
    expect(scores).to_contain_text("33.3")
    rows = client_of(ada).get(f"/api/runs/{goal.run_id}/metrics/").json()
    (share,) = {row["value"] for row in rows if row["metric"] == "human_share"}
    assert share == pytest.approx(1 / 3)
