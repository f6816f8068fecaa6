"""A live run whose agent would do what a rule of its project calls risky, and the reviewer who decides on it in the
replay: the agent, the guard, the browser it acts in and the page are the product's own."""

import pytest
from playwright.sync_api import Locator, Page, expect

from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals
from agents.models import GuardRule, HeldStep, Trajectory
from annotations.models import Role
from evaluation.studies.running import create_study
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def episode(app_server) -> Trajectory:
    """One whose only button a rule names."""
    goals = new_goals(factories.make_project(), "goals", "miniwob", steps=3)
    process = EnvironmentProcess("miniwob")
    try:
        LiveGoals(goals, process).add(["click-test"], range(1))
    finally:
        process.close()
    GuardRule.objects.add(project=goals.project, website="", of="words", pattern="click me", kind="order")
    guard = {"act.guard": "policy", "act.guard_seconds": "120"}
    create_study(user=None, dataset=goals, recipes=["grounded"], publish=False, overrides=guard)
    return Trajectory.objects.get()


def approve(page: Page, bar: Locator) -> None:
    page.keyboard.press("y")


def change(page: Page, bar: Locator) -> None:
    page.keyboard.press("e")
    bar.get_by_label("Operation").select_option("HOVER")
    page.frame_locator("#page iframe").get_by_text("Click Me!").click()
    bar.get_by_role("button", name="Do this instead").click()
    expect(bar).to_be_hidden()
    expect(bar).to_be_visible(timeout=60_000)  # hovering changes nothing, and the agent would do the same again
    expect(page.locator("#place"), "the page that it is to be done on").to_contain_text("step 2 of")
    page.keyboard.press("y")


def refuse(page: Page, bar: Locator) -> None:
    bar.get_by_label("Reason").fill("Not today.")
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("Delete")


DECISIONS = {
    "approved": (approve, [("CLICK", 1.0)], ["approved"]),
    "changed": (change, [("HOVER", 0.0), ("CLICK", 1.0)], ["changed", "approved"]),
    "refused": (refuse, [("CLICK", 0.0)], ["refused"]),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_what_a_reviewer_decides_in_the_replay_is_what_happens_in_the_agents_browser(
    app_server, page: Page, sign_in, episode: Trajectory, worker, decision: str
) -> None:
    decide, steps, states = DECISIONS[decision]
    sign_in(factories.make_user(Role.REVIEWER, episode.run.dataset.project, username="ada"))
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    worker()
    bar = page.locator("#held")
    expect(bar).to_contain_text("Click Me!", timeout=60_000)
    expect(page.locator("#side")).to_contain_text("waits for a person")
    decide(page, bar)
    expect(page.locator("#live")).to_have_text("finished", timeout=60_000)
    assert [(step.operation, step.reward) for step in episode.steps.order_by("seq")] == steps
    assert [row.state for row in HeldStep.objects.order_by("pk")] == states
