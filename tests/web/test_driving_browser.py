"""A live run in two browsers: one takes over, acts in the window of the page and hands back; the other sees who drives
and what was done."""

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals
from agents.models import Drive, Trajectory, TrajectoryStep
from annotations.models import Role
from evaluation.models import Study
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.live.oracle_agent import OraclePipeline, play_oracles

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
def played(goal: Trajectory, monkeypatch) -> Iterator[Callable[[OraclePipeline], None]]:
    """`played(pipeline)`: its worker begins, in a thread."""
    threads: list[threading.Thread] = []

    def work() -> None:
        try:
            run_inline(Study.objects.get())
        finally:
            connection.close()

    def play(pipeline: OraclePipeline) -> None:
        play_oracles(monkeypatch, pipeline)
        threads.append(threading.Thread(target=work))
        threads[0].start()

    yield play
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


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


def test_a_person_takes_over_acts_and_hands_back_while_another_watches(
    app_server, page: Page, sign_in, another: Page, goal: Trajectory, played, sign_in_as
) -> None:
    project = goal.run.dataset.project
    sign_in(factories.make_user(Role.REVIEWER, project, username="ada"))
    sign_in_as(another.context, factories.make_user(Role.READER, project, username="ruth"))
    for tab in (page, another):
        tab.goto(app_server.url(f"/trajectories/{goal.pk}/"))
        expect(tab.locator("#drive")).to_contain_text("Agent drives")
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
    expect(another.locator("#drive")).to_contain_text("human share 1 of 1 steps")
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
