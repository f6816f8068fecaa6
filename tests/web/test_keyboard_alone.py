"""The keyboard alone: an item from its cuts to "passed" with a return between, a released turn corrected, work given to
somebody else, two versions made one. Whether anybody pointed at a page is watched in the page."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Conversation, Role, Session, TurnCorrection
from tests import factories
from tests.annotations.test_release_making import released
from tests.annotations.work_world import add_parts, make_rewrite
from tests.app_server import AppServer
from tests.web.annotating import expect_saved, press
from tests.web.test_annotate_whole_way import arrive, follow, reach

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late; nothing here is about speed
ORIGINAL = "Please do part 1 of the task."
POINTED = """for (const type of ["pointerdown", "mousedown", "touchstart"])
  addEventListener(type, () => pointed(type), {capture: true})"""


@pytest.fixture
def keyboard(app_server: AppServer, page: Page) -> Iterator[Page]:
    """A page that nobody has pointed at when the test is over."""
    pointed: list[str] = []
    page.expose_function("pointed", lambda kind: pointed.append(kind))
    page.add_init_script(POINTED)
    yield page
    assert pointed == []


def make_world() -> SimpleNamespace:
    """A campaign, and the people who work in it."""
    campaign = factories.make_campaign(name="Pilot")
    names = {"anna": Role.ANNOTATOR, "bert": Role.ANNOTATOR, "rita": Role.REVIEWER, "ada": Role.ADMIN}
    people = {name: factories.make_user(role, campaign.project, username=name) for name, role in names.items()}
    return SimpleNamespace(campaign=campaign, **people)


def open_session(campaign: Campaign, name: str) -> Session:
    session = factories.make_session(campaign, tasks=2, steps=3, name=name)
    moving_on.open_work(session)
    return session


def next_item(keyboard: Page, app_server: AppServer) -> None:
    """From the first page to the next item, whatever it is."""
    keyboard.goto(app_server.url("/"))
    keyboard.wait_for_load_state("load")
    press(keyboard, "g q")
    arrive(keyboard, "/annotate/$")
    press(keyboard, "n")
    arrive(keyboard, r"/(assignments|verify)/\d+/")


def hand_in(keyboard: Page) -> None:
    expect_saved(keyboard)
    press(keyboard, "Control+Enter")
    arrive(keyboard, "/annotate/$")


def write(keyboard: Page, text: str) -> None:
    """Replace the text of the row that the keyboard is in."""
    press(keyboard, "Enter Control+a")
    keyboard.keyboard.type(text)
    press(keyboard, "Escape")


def test_everything_is_done_by_keys(app_server: AppServer, keyboard: Page, sign_in) -> None:
    world = make_world()
    session = open_session(world.campaign, "Shoes")
    for who, does in (
        (world.anna, decompose),
        (world.anna, lambda *at: rewrite(*at, "Now the second.")),
        (world.rita, send_back),
        (world.anna, lambda *at: rewrite(*at, "And then the second part, please.")),
        (world.rita, let_pass),
    ):
        sign_in(who)
        does(keyboard, app_server)
    session.refresh_from_db()
    assert session.items.get(stage="rewrite").assignments.get().round == 2
    assert session.released is not None
    assert words(session.released) == [ORIGINAL, "And then the second part, please.", "Do the rest."]
    released(session.released.dataset, "1.0", world.ada)
    sign_in(world.anna)
    ask_for_other_words(keyboard, app_server, session.released)
    sign_in(world.rita)
    accept_other_words(keyboard, app_server)
    assert words(session.released) == [ORIGINAL, "Then do part two.", "Do the rest."]
    held = open_session(world.campaign, "Hats").items.get(stage="decompose").hand(world.anna, 0)
    sign_in(world.ada)
    give_to_bert(keyboard, app_server, held)
    holders = held.item.assignments.filter(state__in=Assignment.WRITABLE).values_list("user__username", flat=True)
    assert list(holders) == ["bert"]
    bags = two_versions(world)
    sign_in(world.rita)
    make_one(keyboard, app_server)
    passed = Assignment.objects.get(item__session=bags, review="passed")
    assert [part.rewrite for part in passed.ordered_parts()] == ["Find bags.", "Sort them.", "Buy the first."]


def words(conversation: Conversation) -> list[str]:
    return list(conversation.turns.order_by("index").values_list("instruction", flat=True))


def decompose(keyboard: Page, app_server: AppServer) -> None:
    """A cut before the last step, with a text of its own."""
    next_item(keyboard, app_server)
    expect(keyboard.locator("#saved")).to_contain_text("Saved")
    press(keyboard, "ArrowRight ArrowRight ArrowRight ArrowRight ArrowRight x j")
    write(keyboard, "Do the rest.")
    expect(keyboard.locator(".part-row")).to_have_count(3)
    hand_in(keyboard)


def rewrite(keyboard: Page, app_server: AppServer, text: str) -> None:
    """Another rewrite of the second turn."""
    next_item(keyboard, app_server)
    expect(keyboard.locator("#saved")).to_contain_text("Saved")
    press(keyboard, "Shift+ArrowRight j")
    write(keyboard, text)
    hand_in(keyboard)


def send_back(keyboard: Page, app_server: AppServer) -> None:
    """As the second part reads as nobody would say it."""
    next_item(keyboard, app_server)
    expect(keyboard.locator("#accept")).to_be_enabled()
    press(keyboard, "?")
    expect(keyboard.locator("#key-sheet")).to_contain_text("Defect: unnatural")
    press(keyboard, "Escape j j 6")
    expect(keyboard.locator("#checklist .wrong")).to_have_count(1)
    press(keyboard, "r")
    keyboard.keyboard.type("Say what it is about.")
    press(keyboard, "Control+Enter")
    expect(keyboard.locator("#status")).to_contain_text("You have judged this round")


def let_pass(keyboard: Page, app_server: AppServer) -> None:
    next_item(keyboard, app_server)
    expect(keyboard.locator("#accept")).to_be_enabled()
    press(keyboard, "a")
    if keyboard.locator("#problems").is_visible():  # open warnings ask once
        press(keyboard, "a")
    expect(keyboard.locator("#status")).to_contain_text("You have judged this round")


def ask_for_other_words(keyboard: Page, app_server: AppServer, conversation: Conversation) -> None:
    """From the list of datasets to the conversation's second turn, and what it should say instead."""
    keyboard.goto(app_server.url("/"))
    keyboard.wait_for_load_state("load")
    press(keyboard, "g d")
    arrive(keyboard, "/datasets/$")
    follow(keyboard, f"a[href='/datasets/{conversation.dataset.name}/']", f"/datasets/{conversation.dataset.name}/$")
    follow(keyboard, f"a[href^='/conversations/{conversation.pk}/']", f"/conversations/{conversation.pk}/")
    press(keyboard, "Shift+ArrowRight")
    arrive(keyboard, r"/steps/\d+/")
    reach(keyboard, "details:has(#wording) > summary")
    press(keyboard, "Enter")
    reach(keyboard, "#wording [name=reason]")
    keyboard.keyboard.type("It is wordy.")
    press(keyboard, "Enter")
    arrive(keyboard, r"/turn-corrections/\d+/$")
    reach(keyboard, "[name=instruction]")
    press(keyboard, "Control+a")
    keyboard.keyboard.type("Then do part two.")
    press(keyboard, "Escape p")
    expect(keyboard.locator(".flash")).to_contain_text("Propose it once more")
    press(keyboard, "p")
    expect(keyboard.locator("dl.facts")).to_contain_text("to verify")


def accept_other_words(keyboard: Page, app_server: AppServer) -> None:
    keyboard.goto(app_server.url("/annotate/"))
    follow(keyboard, "a[href='/corrections/']", "/corrections/$")
    follow(keyboard, f"a[href='/turn-corrections/{TurnCorrection.objects.get().pk}/']", r"/turn-corrections/\d+/$")
    press(keyboard, "a")
    expect(keyboard.locator(".flash")).to_contain_text("Accept it once more")
    press(keyboard, "a")
    expect(keyboard.locator("dl.facts")).to_contain_text("the next release has it")


def give_to_bert(keyboard: Page, app_server: AppServer, held: Assignment) -> None:
    """In the table of a campaign's work, found from the queue."""
    keyboard.goto(app_server.url("/annotate/"))
    keyboard.wait_for_load_state("load")
    press(keyboard, "c")
    arrive(keyboard, "/annotate/campaigns/$")
    follow(keyboard, f"a[href='/annotate/campaigns/{held.item.session.campaign_id}/']", r"/annotate/campaigns/\d+/$")
    press(keyboard, "t")
    arrive(keyboard, r"/annotate/campaigns/\d+/table/")
    reach(keyboard, f"[name=item][value='{held.item_id}']")
    press(keyboard, "Space")
    reach(keyboard, "#work [name=person]")
    keyboard.keyboard.type("bert")
    press(keyboard, "Tab")
    reach(keyboard, "#work button:not([name])")
    press(keyboard, "Enter")
    expect(keyboard.locator(".flash")).to_contain_text("bert")


def two_versions(world: SimpleNamespace) -> Session:
    """A session that two have rewritten, differing in two parts."""
    session = factories.make_session(world.campaign, tasks=3, steps=2, name="Bags")
    first, second = (make_rewrite(session, (), user=user) for user in (world.anna, world.bert))
    add_parts(first, ("Find bags.", "Sort them.", "Buy one."), every=2)
    add_parts(second, ("Find bags.", "Now by price.", "Buy the first."), every=2)
    return session


def make_one(keyboard: Page, app_server: AppServer) -> None:
    """One difference as the first says it, the other as the second does."""
    keyboard.goto(app_server.url("/annotate/"))
    keyboard.wait_for_load_state("load")
    press(keyboard, "m")
    arrive(keyboard, "/annotate/disputes/")
    reach(keyboard, "#versions a")
    press(keyboard, "Enter")
    rows: Any = keyboard.locator("[data-difference]")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_be_focused()
    press(keyboard, "a")
    expect(rows.nth(0)).to_have_attribute("data-decided", "a")
    expect(rows.nth(1)).to_be_focused()
    press(keyboard, "b")
    expect(keyboard.locator("#left")).to_contain_text(re.compile("All 2 decided"))
    press(keyboard, "Enter")
    expect(keyboard.locator(".flash")).to_contain_text("Make it one once more to pass it all the same")
    press(keyboard, "Enter")
    expect(keyboard.locator("#versions")).to_have_count(0)
