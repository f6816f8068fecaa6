"""What the page of a talk says where something goes wrong: its browser is lost, the agent cannot decide, or the server
cannot be reached."""

import os
import subprocess
from collections.abc import Sequence

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from agents.live import running
from agents.models import Drive, Trajectory
from agents.types import Decision, Observation
from annotations.models import Project, Role
from annotations.models.jobs.worker_leases import owner_name
from evaluation.models import Shard
from tests import factories
from tests.web.test_talking_browser import Obliging, say, waiting_talk

pytestmark = pytest.mark.browser
LOST = "ended: the browser was lost while it waits for ada to say the next instruction; what was done before is kept"


@pytest.fixture
def project(app_server) -> Project:
    return factories.make_project(slug="talked")


@pytest.fixture
def ada(project: Project):
    return factories.make_user(Role.ADMIN, project, username="ada")


@pytest.fixture
def episode(ada, project: Project) -> Trajectory:
    """A talk whose agent waits for ada; its worker keeps the browser, and does other work."""
    made = waiting_talk(ada, project)
    Trajectory.objects.update(state="running")
    Shard.objects.update(heartbeat_at=timezone.now(), lease_owner=owner_name())
    return made


def begin_again(page: Page, episode: Trajectory) -> None:
    """By the keyboard alone: the same agent, website and first words."""
    expect(page.locator("#drive").get_by_role("button")).to_have_text(["Begin again"])
    expect(page.locator(".converse")).to_be_hidden()
    page.locator("#drive button").focus()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(page.url, timeout=15_000)
    expect(page.locator("#drive")).to_contain_text("Nobody drives yet")
    again = Trajectory.objects.latest("pk")
    assert again.pk != episode.pk
    assert page.url.endswith(f"/trajectories/{again.pk}/")
    goal, sha = again.conversation.extra, again.run.recipe_sha256
    assert (goal, sha) == (episode.conversation.extra, episode.run.recipe_sha256)
    first = [one.conversation.turns.earliest("index").instruction for one in (again, episode)]
    assert first == ["Show me the Timetable."] * 2


def test_a_talk_whose_worker_has_died_is_over_and_begins_again(app_server, page: Page, sign_in, ada, episode) -> None:
    sign_in(ada)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    drive = page.locator("#drive")
    expect(drive).to_contain_text("The agent waits for you")
    with subprocess.Popen(["true"]) as ended:
        host, _, rest = owner_name().partition(f":{os.getpid()}")
        gone = f"{host}:{ended.pid}{rest}"
    Shard.objects.update(lease_owner=gone)
    expect(drive).to_contain_text("The conversation is over", timeout=15_000)
    expect(drive).to_contain_text("the browser was lost with its worker")
    expect(page.locator("#live")).to_have_text("browser lost")
    begin_again(page, episode)
    assert Trajectory.objects.get(pk=episode.pk).run.state == "cancelled"


def test_a_talk_whose_browser_has_died_is_over_and_begins_again(
    app_server, page: Page, sign_in, ada, episode: Trajectory
) -> None:
    sign_in(ada)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    drive = page.locator("#drive")
    expect(drive).to_contain_text("The agent waits for you")
    turn = episode.conversation.turns.get()
    episode.steps.create(run=episode.run, turn=turn, seq=0, milliseconds=0, error=LOST, outcome=LOST)
    Drive.objects.get().end("lost")
    Trajectory.objects.get().end_episode(lost=True)
    expect(drive).to_contain_text("The conversation is over", timeout=15_000)
    expect(drive).to_contain_text(LOST.removeprefix("ended: "))
    begin_again(page, episode)


def test_nobody_else_begins_it_again(app_server, page: Page, sign_in, project: Project, episode: Trajectory) -> None:
    turn = episode.conversation.turns.get()
    episode.steps.create(run=episode.run, turn=turn, seq=0, milliseconds=0, error=LOST, outcome=LOST)
    Drive.objects.get().end("lost")
    Trajectory.objects.get().end_episode(lost=True)
    sign_in(factories.make_user(Role.ADMIN, project, username="bo"))
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    expect(page.locator("#drive")).to_contain_text("The conversation is over")
    expect(page.locator("#drive").get_by_role("button")).to_have_count(0)


def test_what_is_said_without_a_network_stays_in_the_box_until_it_can_be_said(
    app_server, page: Page, browser_context: BrowserContext, sign_in, ada, episode
) -> None:
    sign_in(ada)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    expect(page.locator(".converse")).to_contain_text("What is next?")
    expect(page.locator("#live")).to_contain_text("live")
    browser_context.set_offline(True)
    say(page, "Now My trip.")
    expect(page.locator("#said")).to_have_text("the server cannot be reached")
    expect(page.get_by_label("Say as the user")).to_have_value("Now My trip.")
    browser_context.set_offline(False)
    expect(page.locator("#said")).to_have_text("", timeout=15_000)
    page.get_by_role("button", name="Say", exact=True).click()
    expect(page.get_by_label("Say as the user")).to_have_value("")
    assert Drive.objects.get().said == "Now My trip."


@pytest.mark.slow
def test_a_decision_that_failed_is_said_where_one_says_what_is_next(
    app_server, page: Page, sign_in, ada, project: Project, worker, monkeypatch
) -> None:
    def failing(agent: Obliging, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision((), error="the model did not answer.") for _ in observations]

    monkeypatch.setattr(Obliging, "decide", failing)
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: Obliging())
    sign_in(ada)
    page.goto(app_server.url("/converse/"))
    page.get_by_label("What it is to do first").fill("Wave.")
    page.get_by_role("button", name="Begin").click()
    thread = worker()
    box = page.locator(".converse")
    expect(box).to_contain_text("It decided nothing: the model did not answer. What is next?", timeout=30_000)
    page.get_by_role("button", name="Not all").click()
    thread.join(60)
    assert Trajectory.objects.get().state == "done"
