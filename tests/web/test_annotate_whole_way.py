"""From imported tasks to a release, in a real browser and without the mouse."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotations.corpus.importing import import_files
from annotations.models import Dataset, Release, Session
from tests import factories
from tests.annotations.test_mind2web_formats import save, task
from tests.app_server import AppServer
from tests.web.annotating import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late; nothing here is about speed
WISHES = ("Find a round trip from New York to Boston for two adults.", "Find a hotel in Boston for two adults.")


@pytest.fixture
def tasks(tmp_path: Path) -> Dataset:
    """Two single-turn tasks of one site, as their source publishes them."""
    dataset = factories.make_dataset(name="tasks", source_format="mind2web")
    records = [task(f"a{number}", confirmed_task=wish) for number, wish in enumerate(WISHES)]
    import_files("mind2web", save(tmp_path / "train_0.json", records), dataset)
    assert dataset.conversations.count() == 2
    return dataset


def arrive(page: Page, address: str) -> None:
    """The page at this address, with its keys bound."""
    expect(page).to_have_url(re.compile(address))
    page.wait_for_load_state("load")


def fill(page: Page, name: str, text: str) -> None:
    """Type into a field that the keyboard has reached: Tab goes on until it has."""
    reach(page, f"[name={name}]")
    page.keyboard.type(text)


def submit(page: Page) -> None:
    reach(page, "form.form button.primary")
    page.keyboard.press("Enter")


def reach(page: Page, selector: str) -> None:
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab never reaches {selector}")


def follow(page: Page, selector: str, address: str) -> None:
    """Open a link that the keyboard reaches."""
    reach(page, selector)
    page.keyboard.press("Enter")
    arrive(page, address)


@pytest.mark.slow
def test_tasks_become_a_release_by_keys_alone(app_server: AppServer, page: Page, sign_in, tasks: Dataset) -> None:
    admin, annotator, reviewer = (
        factories.make_user(role, tasks.project) for role in ("admin", "annotator", "reviewer")
    )
    sign_in(admin)
    page.goto(app_server.url("/annotate/campaigns/new/"))
    fill(page, "name", "Pilot")
    reach(page, "[name=source]")
    page.keyboard.type("tasks")
    submit(page)
    arrive(page, "/organise/$")
    organise_and_open(page)
    sign_in(annotator)
    page.goto(app_server.url("/annotate/"))
    for stage in ("decompose", "rewrite"):
        press(page, "n")
        expect(page.locator("#saved")).to_contain_text("Saved")
        if stage == "rewrite":
            press(page, "Shift+ArrowRight j Enter Control+a")
            page.keyboard.type("Find a hotel there for us.")
            press(page, "Escape")
        page.keyboard.press("Control+Enter")
        if stage == "decompose":  # as it came, which is asked about
            expect(page.locator("#ask")).to_be_visible()
            page.keyboard.press("Enter")
        arrive(page, "/annotate/$")
    sign_in(reviewer)
    page.goto(app_server.url("/annotate/"))
    press(page, "n")
    expect(page.locator("#accept")).to_be_enabled()
    press(page, "a")
    expect(page.locator("#status")).to_contain_text("You have judged this round")
    said = Session.objects.get().released.turns.order_by("index").values_list("instruction", flat=True)
    assert list(said) == [WISHES[0], "Find a hotel there for us."]
    sign_in(admin)
    release(page, app_server, Session.objects.get().released.dataset)


def organise_and_open(page: Page) -> None:
    """Propose sessions, accept what is proposed, open the work."""
    press(page, "p")
    expect(page.locator("#accept-all")).to_be_visible()
    press(page, "Shift+A")
    expect(page.locator("#unopened")).to_have_text("1")
    press(page, "o")
    reach(page, "#open-menu button")
    press(page, "Enter")
    arrive(page, r"/campaigns/\d+/$")


def release(page: Page, app_server: AppServer, dataset: Dataset) -> None:
    page.goto(app_server.url(f"/datasets/{dataset.name}/releases/new/"))
    fill(page, "version", "1.0")
    fill(page, "licence", "CC0-1.0")
    fill(page, "consent", "The annotators of this test have agreed.")
    submit(page)
    expect(page).to_have_url(app_server.url(f"/datasets/{dataset.name}/releases/1.0/"))
    made = Release.objects.get()
    assert [row.source_id for row in made.conversations.all()] == [dataset.conversations.get().source_id]
