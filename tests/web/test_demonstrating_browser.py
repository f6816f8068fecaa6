"""Showing how something is done from the first page on: chosen on a page, acted in the window of the replay, kept as a
demonstration."""

import re

import pytest
from playwright.sync_api import Page, expect

from agents.models import Drive, Trajectory, TrajectoryStep
from agents.training.kinds.grounded import examples
from agents.training.samples.rows import SplitRows
from annotations.models import Conversation, Dataset, Project, Role, Step
from tests import factories

pytestmark = pytest.mark.browser


@pytest.fixture
def project(app_server) -> Project:
    return factories.make_project(slug="shown")


@pytest.fixture
def ada(app_server, project: Project, sign_in):
    found = factories.make_user(Role.REVIEWER, project, username="ada")
    sign_in(found)
    return found


def begin(page: Page, app_server, where: str, what: str, words: str = "") -> None:
    page.goto(app_server.url("/datasets/"))
    page.get_by_role("link", name="Demonstrate").click()
    page.get_by_label("Where", exact=True).select_option(label=where)
    page.locator("#id_task").select_option(what)
    if words:
        page.get_by_label("What is to be done").fill(words)
    expect(page.locator("#show-form")).to_contain_text("It is kept in the train split, which trainings take.")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#drive")).to_contain_text("You show it")
    expect(page.locator("#drive")).to_contain_text("as soon as a worker has opened the page")


def write(page: Page, number: int, text: str) -> None:
    page.locator("#remote .field").nth(number).click()
    page.locator("#remote .editor input").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#remote .field").nth(number)).to_have_attribute("aria-label", f"Write: {text}")


def do(page: Page, operation: str, element: str) -> None:
    """By name, in the form below the window."""
    form = page.locator("#remote .other")
    form.get_by_label("Operation").select_option(operation)
    form.get_by_label("Element").select_option(label=element)
    form.get_by_role("button", name="Do").click()


def kept(page: Page) -> Conversation:
    expect(page.locator("#live")).to_have_text("finished", timeout=30_000)
    link = page.locator("#drive a")
    expect(link).to_contain_text("Kept as a demonstration in ")
    expect(page.locator("#drive")).to_contain_text("in its train split, which trainings take")
    found = Conversation.objects.get(dataset__name=link.inner_text().removeprefix("Kept as a demonstration in "))
    link.click()
    expect(page).to_have_url(re.compile(rf"/conversations/{found.pk}/$"))
    return found


@pytest.mark.slow
def test_a_task_is_shown_from_its_first_page_and_training_takes_it(app_server, page: Page, ada, worker) -> None:
    begin(page, app_server, "a task of MiniWoB++", "enter-text")
    goal = Conversation.objects.get()
    assert goal.turns.get().instruction == "", "its page says what is to be done"
    worker()
    expect(page.locator("#remote img")).to_be_visible(timeout=30_000)
    words = goal.turns.get().instruction
    expect(page.locator("#remote .instruction")).to_contain_text(words)
    write(page, 0, words.split('"')[1])
    assert Drive.objects.get().proposed == "", "no agent was asked"
    page.locator("#remote .other").get_by_label("Element").select_option(label="[button]  Submit")
    page.locator("#remote .other").get_by_role("button", name="Do").click()
    shown = kept(page)
    assert (shown.extra["source"], shown.extra["people"]) == ("human demonstration", ["ada"])
    steps = Step.objects.filter(turn__conversation=shown).order_by("index")
    assert [(step.operation, step.targets.count()) for step in steps] == [("TYPE", 1), ("CLICK", 1)]
    assert shown.turns.get().instruction == words
    learned = examples(SplitRows(shown.dataset, "train"))
    assert [(one.step.action.operation, one.step.action.value) for one in learned] == [
        ("TYPE", words.split('"')[1]),
        ("CLICK", ""),
    ]
    assert not TrajectoryStep.objects.filter(done_by=None).exists()


@pytest.mark.slow
def test_a_goal_of_ones_own_is_named_when_it_is_done(app_server, page: Page, ada, worker) -> None:
    begin(page, app_server, "a sample website, with a goal of your own", "willowclinic")
    worker()
    expect(page.locator("#remote img")).to_be_visible(timeout=30_000)
    element = page.locator("#remote .other").get_by_label("Element")
    link = next(name for name in element.locator("option").all_inner_texts() if name.startswith("[link]"))
    do(page, "CLICK", link)
    expect(page.locator("#conversation .step:not(.todo)")).to_have_count(1)
    expect(page.locator("#remote")).not_to_have_attribute("aria-busy", "true")
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Say first what was done")
    page.get_by_label("What you show").fill("Open the first link.")
    page.keyboard.press("Enter")
    shown = kept(page)
    assert shown.turns.get().instruction == "Open the first link."
    assert [step.operation for step in Step.objects.filter(turn__conversation=shown)] == ["CLICK"]
    assert (shown.website.name, shown.split) == ("willowclinic", "train")


@pytest.mark.slow
def test_who_gives_up_leaves_no_demonstration(app_server, page: Page, ada, worker) -> None:
    begin(page, app_server, "a task of MiniWoB++", "click-test")
    page.get_by_role("button", name="Give up").click()
    expect(page.locator("#drive")).not_to_contain_text("You show it")
    worker().join(60)
    expect(page.locator("#live")).to_have_text("finished")
    assert TrajectoryStep.objects.get().outcome == "ended: whoever showed it gave up"
    assert not Dataset.objects.filter(name__endswith="-shown").exists()
    assert Trajectory.objects.get().run.state == "done"
