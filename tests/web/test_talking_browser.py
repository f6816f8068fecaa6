"""A live conversation typed by a person beside the browser: each turn is said when the agent is through with the one
before, what it asks is answered, and the person ends it."""

import re
import time
from collections.abc import Sequence

import pytest
from playwright.sync_api import Page, expect

from agents.live import running
from agents.models import Drive, Trajectory, TrajectoryStep
from agents.types import Action, Decision, Observation
from annotations.models import Project, Role
from annotations.models.accounts.projects import Account
from evaluation.studies.taking_part.talking import talk
from tests import factories

pytestmark = pytest.mark.browser
SCROLLS = """() => {
  const {scrollHeight, clientHeight} = document.querySelector("#conversation");
  return scrollHeight > clientHeight + 40;
}"""


class Obliging:
    """An agent that asks where nothing is named, clicks the link that is, and stops."""

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        pass

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        return [Decision((self._action(seen),)) for seen in observations]

    def _action(self, seen: Observation) -> Action:
        if any(past.operation == "CLICK" for past in seen.turn_actions):
            return Action("STOP")
        name = next((name for name in ("Timetable", "My trip") if name in seen.instruction), "")
        if not name:
            return Action("SAY", value="Which page do you mean?")
        link = seen.html.partition(f">{name}<")[0].rpartition("<a ")[2]
        return Action("CLICK", link.partition('backend_node_id="')[2].partition('"')[0])


@pytest.fixture
def project(app_server) -> Project:
    return factories.make_project(slug="talked")


@pytest.fixture(autouse=True)
def _obliging(monkeypatch) -> None:
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: Obliging())


def say(page: Page, words: str) -> None:
    page.get_by_label("Say as the user").fill(words)
    page.keyboard.press("Enter")


def waiting_talk(user: Account, project: Project) -> Trajectory:
    """A conversation whose agent waits for its user; no worker is there."""
    episode = talk(user, project, "grounded", "nordline", "Show me the Timetable.").trajectory
    Drive.objects.wait_for(episode, "turn", "")
    window = {"url": "https://nordline.example/", "instruction": "Wave.", "width": 40, "height": 30}
    Drive.objects.get().stand(window | {"fields": [], "names": []}, b"\xff\xd8")
    return episode


@pytest.mark.slow
def test_a_person_types_turn_by_turn_answers_and_ends_it(
    app_server, page: Page, sign_in, project: Project, worker
) -> None:
    sign_in(factories.make_user(Role.ADMIN, project, username="ada"))
    page.goto(app_server.url("/studies/"))
    page.get_by_role("link", name="Talk with an agent").click()
    page.get_by_label("Website").select_option("nordline")
    page.get_by_label("What it is to do first").fill("Show me the Timetable.")
    page.get_by_role("button", name="Begin").click()
    box = page.locator(".converse")
    expect(box).to_have_text(re.compile("^Waits for a worker, which opens the browser."))
    expect(page.get_by_role("tabpanel", name="Page")).to_contain_text("Waits for a worker, which opens the browser.")
    expect(page.locator("#drive")).to_contain_text("Nobody drives yet")
    expect(page.get_by_role("button", name="Say", exact=True)).to_be_disabled()
    thread = worker()
    expect(box).to_contain_text("What is next?", timeout=30_000)
    expect(page.locator("#drive")).to_contain_text("The agent waits for you")
    expect(page.locator("#remote img")).to_be_visible()
    until = time.monotonic() + 10
    while not (is_there := Drive.objects.open().get().is_leased) and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert is_there, "the worker sees that its user is there, and keeps the browser for them"
    page.locator("#film").click()
    page.keyboard.press("Space")
    expect(page.locator("#drive")).to_contain_text("The agent waits for you")
    expect(page.locator("#conversation .step:not(.todo)")).to_have_count(2)

    say(page, "And the other page, please.")
    expect(box.locator(".asked")).to_have_text("Which page do you mean?", timeout=30_000)
    expect(page.locator("#conversation .turn").nth(1)).to_contain_text("And the other page, please.")
    say(page, "The one called My trip.")
    expect(box).to_contain_text("What is next?", timeout=30_000)
    page.get_by_role("button", name="All was done").click()
    thread.join(60)
    expect(page.locator("#live")).to_have_text("finished")
    expect(box).to_be_hidden()

    steps = TrajectoryStep.objects.order_by("seq").select_related("turn")
    assert [(step.turn.index, step.operation) for step in steps] == [
        (0, "CLICK"),
        (0, "STOP"),
        (1, "SAY"),
        (1, "CLICK"),
        (1, "STOP"),
        (1, ""),
    ]
    assert steps[2].outcome == "the user says: The one called My trip."
    assert (steps[5].reward, steps[5].outcome) == (1.0, "ended: ada got all that they asked for")
    assert all(step.outcome.startswith("clicked at") for step in steps if step.operation == "CLICK")
    pages = [step.snapshot.html for step in steps]
    assert pages[0] != pages[1] == pages[2] == pages[3] != pages[4], "each click has led to the page that was asked for"
    assert Trajectory.objects.get().run.state == "done"


@pytest.mark.slow
def test_who_acts_while_the_agent_waits_for_words_says_them_when_they_are_done(
    app_server, page: Page, sign_in, project: Project, worker
) -> None:
    sign_in(factories.make_user(Role.ADMIN, project, username="ada"))
    page.goto(app_server.url("/converse/"))
    page.get_by_label("Website").select_option("nordline")
    page.get_by_label("What it is to do first").fill("Show me the Timetable.")
    page.get_by_role("button", name="Begin").click()
    thread = worker()
    box, drive = page.locator(".converse"), page.locator("#drive")
    expect(box).to_contain_text("What is next?", timeout=30_000)
    drive.get_by_role("button", name="Take over").click()
    expect(drive).to_contain_text("You drive")
    expect(drive).to_contain_text("say what is next when you are done")
    expect(drive.get_by_role("button")).to_have_count(0)
    page.locator("#film").click()
    page.keyboard.press("u")
    expect(page.get_by_text("The agent waits for words: say what is next")).to_be_visible()
    picture = page.locator("#remote img")
    picture.click(position={"x": 20, "y": 20})
    expect(page.locator("#conversation .step:not(.todo)")).to_have_count(3, timeout=30_000)
    expect(drive).to_contain_text("You drive")
    expect(page.get_by_label("Say as the user")).to_be_enabled()
    say(page, "Now My trip, please.")
    expect(page.locator("#conversation .turn")).to_have_count(2, timeout=30_000)
    expect(box).to_contain_text("What is next?", timeout=30_000)
    page.get_by_role("button", name="All was done").click()
    thread.join(60)
    shown = TrajectoryStep.objects.get(done_by__isnull=False)
    assert (shown.operation, shown.done_by.get_username()) == ("CLICK", "ada")
    assert shown.node_id, "what a person points at is known"
    assert TrajectoryStep.objects.latest("seq").outcome == "ended: ada got all that they asked for"


def test_who_has_ended_it_is_told_so_at_once_and_offered_nothing_more(
    app_server, page: Page, sign_in, project: Project
) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    sign_in(ada)
    episode = waiting_talk(ada, project)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    page.get_by_role("button", name="All was done").click()
    drive = page.locator("#drive")
    expect(drive).to_contain_text("The conversation is over")
    expect(drive).to_contain_text("ada got all that they asked for")
    expect(drive.get_by_role("button")).to_have_count(0)
    expect(page.locator(".converse")).to_be_hidden()
    expect(page.locator("#live")).to_have_text("ended")
    page.locator("#film").click()
    page.keyboard.press("t")
    expect(page.locator("#said")).to_have_text("The conversation is over: ada got all that they asked for.")


def test_a_talk_shows_where_it_is_now_unless_a_step_was_chosen(
    app_server, page: Page, sign_in, project: Project
) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    sign_in(ada)
    episode = waiting_talk(ada, project)
    turn = episode.conversation.turns.get()
    for seq, operation in enumerate(("CLICK", "STOP")):
        episode.steps.create(run=episode.run, turn=turn, seq=seq, operation=operation, milliseconds=10)
    Trajectory.objects.filter(pk=episode.pk).update(state="running", step_count=2)
    address = app_server.url(f"/trajectories/{episode.pk}/")
    page.goto(address)

    def shows_now() -> None:
        expect(page.locator("#follow")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#remote")).to_contain_text("Asked for: Wave.")
        expect(page.locator("#conversation .step[aria-current]")).to_have_attribute("data-seq", "1")
        expect(page).to_have_url(address)

    shows_now()
    page.reload()
    shows_now()
    page.locator("#conversation .step").first.click()
    expect(page).to_have_url(f"{address}steps/0/")
    expect(page.locator("#remote")).to_be_hidden()
    page.go_back()
    shows_now()
    page.goto(f"{address}steps/0/")
    expect(page.locator("#remote")).to_be_hidden()
    page.goto(address)
    later = episode.conversation.turns.create(index=1, source_id="later", instruction="Stop waving.")
    episode.steps.create(
        run=episode.run, turn=later, seq=2, milliseconds=0, error="the browser was lost", outcome="ended: lost"
    )
    Drive.objects.get().end("lost")
    Trajectory.objects.get().end_episode(lost=True)
    expect(page.locator("#conversation .turn")).to_have_count(2, timeout=15_000)
    expect(page.get_by_role("tabpanel", name="Page")).to_contain_text(
        "This step has no page. What happened: ended: lost."
    )
    expect(page).to_have_url(f"{address}steps/2/")


def test_whoever_else_takes_over_can_neither_speak_nor_end_it_and_hands_it_back_to_its_user(
    app_server, page: Page, sign_in, project: Project
) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    episode = waiting_talk(ada, project)
    sign_in(factories.make_user(Role.REVIEWER, project, username="bo"))
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    drive = page.locator("#drive")
    drive.get_by_role("button", name="Take over").click()
    expect(drive).to_contain_text("You drive")
    for name in ("Say", "All was done", "Not all"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    expect(page.get_by_label("Say as the user")).to_be_disabled()
    drive.get_by_role("button", name="Hand back").click()
    expect(drive).to_contain_text("Waits for ada to say the next instruction")


@pytest.mark.slow
def test_what_is_said_while_the_agent_acts_needs_a_pause_and_ends_its_turn(
    app_server, page: Page, sign_in, project: Project, worker, monkeypatch
) -> None:
    monkeypatch.setattr(Obliging, "_action", lambda self, seen: Action("HOVER", None))
    sign_in(factories.make_user(Role.ADMIN, project, username="ada"))
    page.goto(app_server.url("/converse/"))
    page.get_by_label("What it is to do first").fill("Wave.")
    page.get_by_role("button", name="Begin").click()
    thread = worker()
    told = "It would do “[page]   -> HOVER” again. What is next?"
    expect(page.locator(".converse")).to_contain_text(told, timeout=30_000)
    assert TrajectoryStep.objects.count() == 2, "it does not do the same for ever"
    expect(page.locator("#conversation .step").first).to_contain_text("not done: HOVER")
    say(page, "Wave again.")
    expect(page.locator("#conversation .turn")).to_have_count(2)
    page.locator("#film").click()
    page.keyboard.press("Space")
    expect(page.locator(".converse")).to_contain_text("What is next?", timeout=30_000)
    say(page, "Enough, stop waving.")
    expect(page.locator("#conversation .turn")).to_have_count(3)
    expect(page.locator(".converse")).to_contain_text("What is next?", timeout=30_000)
    page.get_by_role("button", name="Not all").click()
    thread.join(60)
    assert TrajectoryStep.objects.latest("seq").outcome == "ended: ada got not all that they asked for"


def test_where_one_types_is_in_sight_however_far_the_list_of_steps_is_scrolled(
    app_server, page: Page, sign_in, project: Project
) -> None:
    """It stood above the steps and scrolled away with them."""
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    episode = waiting_talk(ada, project)
    sign_in(ada)
    page.set_viewport_size({"width": 1280, "height": 360})
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    box, pane = page.locator(".converse"), page.locator("#conversation")
    expect(box).to_contain_text("What is next?")
    page.wait_for_function(SCROLLS)
    for top in (0, 1_000):
        pane.evaluate("(one, top) => one.scrollTo(0, top)", top)
        expect(page.get_by_role("button", name="Not all")).to_be_in_viewport(ratio=1)
        assert box.bounding_box()["y"] >= pane.locator("header").bounding_box()["y"] + 30


def test_what_is_next_may_be_typed_while_the_agent_is_at_it(app_server, page: Page, sign_in, project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    episode = waiting_talk(ada, project)
    Drive.objects.update(waits="", state=Drive.State.BACK)
    sign_in(ada)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    expect(page.get_by_role("button", name="Say", exact=True)).to_be_disabled()
    page.get_by_label("Say as the user").fill("And the way back?")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Say as the user")).to_have_value("And the way back?")
