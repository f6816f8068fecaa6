"""Watching an episode: nobody knows how many steps it will have, so the page grows with it, and begins anew with it."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from agents.models import Trajectory
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.runs.events import publish, trajectory_group
from agents.types import Action, Decision
from annotations.models import Role
from tests import factories

pytestmark = pytest.mark.browser
PAGE = '<html backend_node_id="1"><body backend_node_id="2"><button backend_node_id="3">Go</button></body></html>'
GO = Decision((Action("CLICK", "3"),), trace={"act": {"representation": "[button]  Go -> CLICK"}})


@pytest.fixture
def episode() -> Trajectory:
    """One that waits for a browser."""
    limits = {"environment": "miniwob", "steps": 20, "seconds": 300}
    conversation = factories.make_conversation(
        dataset=factories.make_dataset(live=limits), turns=1, steps=0, split="dev", extra={"task": "t", "seed": 0}
    )
    run = factories.make_run(conversation.dataset, state="running", step_count=1)
    return Trajectory.objects.create(run=run, conversation=conversation, state="waiting", step_count=1)


@pytest.fixture
def act(in_thread):
    """`act(episode, reward)` does one more step and tells viewers."""

    def store(episode: Trajectory, reward: float = 0.0) -> None:
        turn = episode.conversation.turns.get()
        seen = Seen(PAGE, "file:///task.html", 3, datetime.now(UTC))
        Episode(episode, turn).store(seen, GO, [ActionOutcome(reward, "clicked at 5,5")])
        if reward:
            Episode(episode, turn).end_with(PAGE.replace("Go", "Gone"), 3)
            episode.end_episode()
        in_thread(lambda: publish(trajectory_group(episode.pk), episode.step_count, episode.state))

    return store


def expect_steps(page, decided: int, waiting: int) -> None:
    expect(page.locator("#conversation .step:not(.todo)")).to_have_count(decided, timeout=15_000)
    expect(page.locator("#conversation .step.todo")).to_have_count(waiting)
    expect(page.locator("#film .cell")).to_have_count(decided + waiting)


@pytest.mark.slow
def test_the_page_grows_with_the_episode_and_ends_with_it(app_server, page, sign_in, episode, act) -> None:
    sign_in(factories.make_user(Role.READER, episode.run.dataset.project))
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    expect(page.locator("#live")).to_have_text("live · loading the agent")
    expect_steps(page, 0, 1)
    episode.begin_episode()
    for done in (1, 2, 3):
        act(episode)
        expect_steps(page, done, 1)
        expect(page.locator("#place")).to_contain_text(f"of {done + 1}")
    episode.begin_episode()  # its browser was lost
    act(episode)
    expect_steps(page, 1, 1)
    act(episode, reward=1.0)
    expect(page.locator("#live")).to_have_text("finished")
    expect_steps(page, 2, 0)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("step 2 of 2")
    expect(page.locator("#side")).to_contain_text("clicked at 5,5")
    page.get_by_text("last page").click()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Before / after")
    expect(page.frame_locator("[data-frame=before] iframe").get_by_text("Go", exact=True)).to_be_visible()
    expect(page.frame_locator("[data-frame=after] iframe").get_by_text("Gone")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".film-end")).to_be_visible()
    page.reload()
    expect(page.locator(".film-end")).to_have_attribute("href", f"/trajectories/{episode.pk}/steps/1/?tab=change")
