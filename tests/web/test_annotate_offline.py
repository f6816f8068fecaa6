"""Nothing that was written is ever lost: without network, without session, with a closed tab, with two people."""

import re
import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotations.edits import saving
from annotations.models import Assignment, Edit
from tests import factories
from tests.web.annotating import begun, expect_saved, expect_texts, open_item, press, texts

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late; nothing here is about speed
SENT_ALONE = 1_500  # milliseconds after which an edit does not wait for the next one
TYPED_ON = """keys => keys.forEach(key =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""  # without a pause
PAUSE = 700  # milliseconds without a key before a question takes one as its answer
ORIGINAL = "Please do part 1 of the task."


def write(page: Page, row: int, text: str) -> None:
    """Replace the text of a row, by the keyboard."""
    page.locator(".part-row textarea").nth(row).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_what_is_written_without_network_is_saved_when_it_is_back(
    app_server, page, browser_context, sign_in, seconds
) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    browser_context.set_offline(True)
    until = time.monotonic() + seconds
    written = ["", ""]
    press(page, "ArrowRight x")
    while time.monotonic() < until:
        for row in (0, 2):
            written[row // 2] = f"Row {row} at {time.monotonic():.1f}."
            write(page, row, written[row // 2])
            page.wait_for_timeout(600)
    expect(page.locator("#saved")).to_have_text(re.compile(r"Offline: \d+ changes kept here"))
    browser_context.set_offline(False)
    expect_saved(page)
    assert texts(assignment) == [written[0], "", written[1]]
    assert page.locator(".part-row textarea").evaluate_all("areas => areas.map(({value}) => value)") == [
        written[0],
        "",
        written[1],
    ]


@pytest.mark.slow
def test_a_tab_that_is_closed_without_network_is_replayed_by_the_next_one(
    app_server, page, browser_context, sign_in
) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    browser_context.set_offline(True)
    write(page, 0, "Kept in the browser.")
    press(page, "Escape ArrowRight ArrowRight x")
    expect(page.locator("#saved")).to_contain_text("changes kept here")
    page.close()
    browser_context.set_offline(False)
    assert texts(assignment) == [ORIGINAL, ORIGINAL]
    again = browser_context.new_page()
    again.goto(app_server.url(f"/annotate/assignments/{assignment.pk}/"))
    expect_saved(again)
    assert texts(assignment) == ["Kept in the browser.", "", ORIGINAL]
    again.reload()
    expect(again.locator("#saved")).to_contain_text("Saved")
    assert Edit.objects.filter(assignment=assignment).count() == 2


@pytest.mark.slow
def test_what_is_written_after_the_session_has_ended_is_sent_after_signing_in(
    app_server, page, browser_context, sign_in
) -> None:
    project = factories.make_project()
    user = factories.make_user("annotator", project, password="a-long-enough-word")
    source = factories.make_dataset(project)
    assignment = begun(user=user, source=source)
    sign_in(user)
    open_item(app_server, page, assignment)
    kept = [cookie for cookie in browser_context.cookies() if cookie["name"] != "sessionid"]
    browser_context.clear_cookies()
    browser_context.add_cookies(kept)
    write(page, 1, "Written while signed out.")
    expect(page.locator("#saved")).to_have_text("Signed out: 1 change kept here")
    with browser_context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    door = opened.value
    door.get_by_label("Username").fill(user.get_username())
    door.get_by_label("Password").fill("a-long-enough-word")
    door.keyboard.press("Enter")
    door.wait_for_url(app_server.url(f"/annotate/assignments/{assignment.pk}/"))
    door.close()
    expect_saved(page)
    assert texts(assignment) == [ORIGINAL, "Written while signed out."]


@pytest.mark.slow
def test_two_tabs_of_one_person_merge_what_does_not_clash(app_server, page, browser_context, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    other = browser_context.new_page()
    open_item(app_server, other, assignment)
    write(other, 0, "Kindly do part 1 of the task.")
    expect_saved(other)
    page.locator(".part-row textarea").nth(0).focus()
    press(page, "End Backspace")
    page.keyboard.type(" today.")
    expect_saved(page)
    expect(page.locator(".part-row textarea").nth(0)).to_have_value("Kindly do part 1 of the task today.")
    expect(page.locator("#said")).to_have_text("Changed in another window: part 1")
    assert texts(assignment)[0] == "Kindly do part 1 of the task today."


@pytest.mark.slow
def test_a_clash_of_two_tabs_is_decided_by_the_person(app_server, page, browser_context, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    other = browser_context.new_page()
    open_item(app_server, other, assignment)
    write(other, 0, "Theirs.")
    expect_saved(other)
    write(page, 0, "Mine.")
    expect(page.locator("#conflict")).to_be_visible()
    versions = page.locator("#conflict .version-head button")
    expect(versions).to_have_text(["Before 1", "Your other window 2", "Mine 3"])
    expect(page.locator("#conflict .version p")).to_have_text(
        [ORIGINAL, f"{ORIGINAL}"[:-1] + "Theirs.", f"{ORIGINAL}"[:-1] + "Mine."]
    )
    assert texts(assignment)[0] == "Theirs."
    page.keyboard.press("Escape")
    expect(page.locator("#saved")).to_contain_text("Not saved: 1 place to decide")
    expect(page.locator("#rows")).to_contain_text("You changed this in another window too.")
    page.reload()  # nothing is decided by going away
    expect(page.locator("#conflict")).to_be_visible()
    page.wait_for_timeout(PAUSE)
    press(page, "e Control+a")
    page.keyboard.type("Theirs and mine.")
    page.keyboard.press("Control+Enter")
    expect_saved(page)
    assert texts(assignment)[0] == "Theirs and mine."
    said = list(Edit.objects.filter(assignment=assignment).order_by("version").values_list("before", "after"))
    assert said == [(ORIGINAL, "Theirs."), ("Theirs.", "Theirs and mine.")]


TYPED_BEFORE_THE_ANSWER = """() => {
  const ask = window.fetch;
  window.fetch = async (url, options) => {
    const answer = await ask(url, options);
    if (String(url).endsWith("/edits/")) document.execCommand("insertText", false, "!");
    return answer;
  };
}"""


@pytest.mark.slow
def test_what_was_typed_while_the_answer_was_on_its_way_is_part_of_mine(
    app_server, page, browser_context, sign_in
) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    other = browser_context.new_page()
    open_item(app_server, other, assignment)
    write(other, 0, "Theirs.")
    expect_saved(other)
    page.evaluate(TYPED_BEFORE_THE_ANSWER)
    write(page, 0, "Mine.")
    expect(page.locator("#conflict")).to_be_visible()
    expect(page.locator("#conflict textarea")).to_have_value("Mine.!")
    expect(page.locator("#conflict .version p").nth(2)).to_have_text(f"{ORIGINAL[:-1]}Mine.!")
    expect(page.locator(".part-row textarea").nth(0)).to_have_value("Mine.!")
    page.wait_for_timeout(PAUSE)
    page.keyboard.press("3")
    expect_saved(page)
    assert texts(assignment)[0] == "Mine.!"


SEEN_FROM_NOW_ON = """() => {
  const line = document.querySelector("#saved");
  window.headers = [line.textContent];
  new MutationObserver(() => window.headers.push(line.textContent))
    .observe(line, { childList: true, characterData: true, subtree: true });
}"""


@pytest.mark.slow
def test_while_a_conflict_is_open_the_header_does_not_say_saved(app_server, page, browser_context, sign_in) -> None:
    """Not while the question is there, not once it is put off, and not when another place is written meanwhile."""
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    other = browser_context.new_page()
    open_item(app_server, other, assignment)
    write(other, 0, "Theirs.")
    expect_saved(other)
    write(page, 0, "Mine.")
    expect(page.locator("#conflict")).to_be_visible()
    page.evaluate(SEEN_FROM_NOW_ON)
    page.keyboard.press("Escape")
    write(page, 1, "Another place.")
    expect_texts(page, assignment, ["Theirs.", "Another place."])
    expect(page.locator("#saved")).to_contain_text("Not saved: 1 place to decide")
    expect(page.locator("#conflict")).to_be_hidden()  # whoever decides later is not asked again at each save
    assert not [said for said in page.evaluate("window.headers") if said.startswith("Saved")]
    page.locator("#rows").get_by_role("button", name="Decide").click()
    expect(page.locator("#conflict")).to_be_visible()
    page.wait_for_timeout(PAUSE)
    page.keyboard.press("3")
    expect_saved(page)
    assert texts(assignment) == ["Mine.", "Another place."]


@pytest.mark.slow
@pytest.mark.parametrize("is_own", [True, False], ids=["own second tab", "another person"])
def test_somebody_else_is_said_of_another_person_and_not_of_ones_own_second_tab(
    app_server, page, browser_context, sign_in, is_own
) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    browser_context.set_offline(True)
    write(page, 0, "Mine.")
    expect(page.locator("#saved")).to_contain_text("1 change kept here")
    mine = Assignment.objects.get(pk=assignment.pk)
    if is_own:
        taken = mine.take(assignment.user)
    else:
        Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        taken = mine.take(factories.make_user("annotator", assignment.item.session.campaign.project))
    part = taken.parts.order_by("pk").first()
    theirs = {"op_id": str(uuid4()), "kind": "text", "step": part.first_step_id, "field": "instruction"}
    theirs |= {"before": ORIGINAL, "after": "Theirs."}
    saving.save(taken, taken.user, str(taken.lease_token), taken.version, [theirs])
    if not is_own:
        Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    browser_context.set_offline(False)
    if not is_own:
        page.locator("#notice").get_by_role("button", name="Take over").click()
    expect(page.locator("#conflict")).to_be_visible()
    page.keyboard.press("Escape")
    own, others = "You changed this in another window too.", "Somebody else changed this too."
    expect(page.locator("#rows")).to_contain_text(own if is_own else others)
    expect(page.locator("#rows")).not_to_contain_text(others if is_own else own)


@pytest.mark.slow
def test_two_people_on_one_item_lose_nothing(app_server, page, browser_context, chromium, sign_in) -> None:
    """One is cut off, another takes the item over and changes the same part; back again, the first decides."""
    first = begun()
    project = first.item.session.campaign.project
    second = factories.make_user("annotator", project)
    sign_in(first.user)
    open_item(app_server, page, first)
    browser_context.set_offline(True)
    write(page, 0, "By the first.")
    page.wait_for_timeout(SENT_ALONE)
    write(page, 1, "Only the first wrote here.")
    expect(page.locator("#saved")).to_contain_text("2 changes kept here")
    Assignment.objects.filter(pk=first.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    taken = Assignment.objects.get(pk=first.pk).take(second)
    version = taken.version
    elsewhere: BrowserContext = chromium.new_context(viewport={"width": 1280, "height": 800})
    sign_in_to(elsewhere, app_server, second)
    theirs = elsewhere.new_page()
    open_item(app_server, theirs, first)
    write(theirs, 0, "By the second.")
    expect_saved(theirs)
    browser_context.set_offline(False)
    expect(page.locator("#saved")).to_have_text(f"Held by {second}: 2 changes kept here")
    page.locator("#notice").get_by_role("button", name="Take over").click()
    expect(page.locator("#notice")).to_contain_text(f"{second} is at work on it")
    elsewhere.close()
    Assignment.objects.filter(pk=first.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator("#conflict")).to_be_visible()
    expect(page.locator("#saved")).to_contain_text("Not saved: 1 place to decide")
    expect(page.locator("#rows")).to_contain_text("Somebody else changed this too.")
    expect_texts(page, first, ["By the second.", "Only the first wrote here."])
    page.evaluate(TYPED_ON, ["x", "3"])  # so soon it may have been meant for the text
    expect(page.locator("#conflict")).to_be_visible()
    page.wait_for_timeout(PAUSE)
    page.keyboard.press("3")
    expect_saved(page)
    assert texts(first) == ["By the first.", "Only the first wrote here."]
    edits = Edit.objects.filter(assignment=first, version__gt=version).order_by("version")
    assert sorted((edit.user.pk, edit.after) for edit in edits) == sorted(
        [(second.pk, "By the second."), (first.user.pk, "Only the first wrote here."), (first.user.pk, "By the first.")]
    )


def sign_in_to(context: BrowserContext, app_server, user) -> None:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": app_server.app_origin}])


@pytest.mark.slow
def test_leaving_is_warned_of_only_while_something_is_unsent(app_server, page, browser_context, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    press(page, "ArrowRight x")
    expect_saved(page)
    page.reload()
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert asked == []
    browser_context.set_offline(True)
    write(page, 0, "Unsent.")
    expect(page.locator("#saved")).to_contain_text("kept here")
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
