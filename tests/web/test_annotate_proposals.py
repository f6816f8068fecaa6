"""Proposals and submitting on the item page, in a real Chromium: what is asked first, and how all of it is undone."""

import pytest
from playwright.sync_api import Page, Route, expect

from annotations.models import Assignment, Job, Turn, Worker
from tests.web.annotating import begun, expect_saved, open_item, press, texts

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.slow]

expect.set_options(timeout=15_000)  # a loaded machine answers late
SOURCE = "Find red shoes. Sort them by price. Buy the cheapest."
CLAUSES = ("Find red shoes.", "Sort them by price.", "Buy the cheapest.")


def work(*said: str, **fields: str) -> Assignment:
    """An item whose source asks for three things, with a proposal of as many parts as texts are given."""
    assignment = begun(tasks=1, steps=4, **fields)
    Turn.objects.filter(conversation__sessiontask__session=assignment.item.session).update(instruction=SOURCE)
    assignment.parts.update(instruction=SOURCE)
    steps = [step.pk for step in assignment.item.session.steps()]
    if said:
        parts = [{"step": step, "why": [], "instruction": text} for step, text in zip(steps, said, strict=False)]
        left_out = [clause for clause in CLAUSES if clause not in said]
        assignment.keep_proposal("cuts", "m", parts, left_out)
    return assignment


def write(page: Page, row: int, text: str) -> None:
    page.locator(".part-row textarea").nth(row).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Escape")


def test_what_was_accepted_is_taken_back_by_one_key_and_nothing_is_asked(app_server, page, sign_in) -> None:
    """It leaves out nothing and replaces what nobody has written."""
    assignment = work(*CLAUSES)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("y")
    expect_saved(page)
    assert texts(assignment) == list(CLAUSES)
    page.keyboard.press("Control+z")
    expect(page.locator(".part-row")).to_have_count(1)
    expect_saved(page)
    assert texts(assignment) == [SOURCE]
    page.keyboard.press("Control+Shift+z")
    expect(page.locator(".part-row")).to_have_count(3)
    expect_saved(page)
    assert texts(assignment) == list(CLAUSES)


def test_what_was_accepted_without_the_network_is_taken_back_by_one_key(
    app_server, page, browser_context, sign_in
) -> None:
    assignment = work(*CLAUSES)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    browser_context.set_offline(True)
    write(page, 0, "Mine, sent or not.")
    expect(page.locator("#saved")).to_have_text("Offline: 1 change kept here")
    page.keyboard.press("y")
    press(page, "Enter")  # a text of one's own would be replaced
    expect(page.locator(".part-row")).to_have_count(3)
    page.keyboard.press("Control+z")
    expect(page.locator(".part-row")).to_have_count(1)
    expect(page.locator(".part-row textarea").first).to_have_value("Mine, sent or not.")
    browser_context.set_offline(False)
    expect_saved(page)
    assert texts(assignment) == ["Mine, sent or not."]


def test_the_footer_counts_what_differs_in_the_whole_document_and_without_a_button_the_key_does_nothing(
    app_server, page, sign_in
) -> None:
    assignment = work(*CLAUSES)
    steps = [step.pk for step in assignment.item.session.steps()]
    assignment.parts.update(instruction=CLAUSES[0])
    for step, said in zip(steps[1:], (*CLAUSES[1:], ""), strict=True):
        assignment.parts.create(first_step_id=step, instruction=said)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    proposed, accept = page.locator("#proposed"), page.locator("#accept")
    expect(proposed).to_have_text("Proposed by m · 1 part differs: 1 to join")
    expect(accept).to_be_visible()
    page.keyboard.press("y")
    expect(page.locator(".part-row")).to_have_count(3)
    expect(proposed).to_have_text("Proposed by m · all parts as proposed")
    expect(accept).to_be_hidden()
    expect_saved(page)
    edits = assignment.edits.count()
    press(page, "ArrowRight ArrowRight ArrowRight x")
    expect(page.locator(".part-row")).to_have_count(4)
    expect(proposed).to_have_text("Proposed by m · 1 part differs: 1 to join")
    press(page, "x y")
    expect(page.locator(".part-row")).to_have_count(3)
    expect_saved(page)
    assert assignment.edits.count() == edits + 2, "the cut and the join, and nothing of the key"
    write(page, 0, "Look for red shoes.")
    expect(proposed).to_have_text("Proposed by m · 1 part differs: 1 to change")


def test_an_earlier_proposal_cannot_be_accepted_while_another_is_asked_for(app_server, page, sign_in) -> None:
    assignment = work(*CLAUSES)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    held: list[Route] = []
    page.route("**/propose/", lambda route: held.append(route))
    expect(page.locator("#accept")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("#accept")).to_be_hidden()
    press(page, "y ArrowRight x")
    expect(page.locator(".part-row")).to_have_count(2)
    held[0].continue_()
    expect(page.locator("#proposed")).to_contain_text("Proposed by pages and forms 3")


def test_a_proposal_that_leaves_out_and_replaces_asks_once(app_server, page, sign_in) -> None:
    assignment = work("Find red shoes.", "Sort them by price.")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    write(page, 0, "My own words.")
    expect_saved(page)
    page.keyboard.press("y")
    ask = page.locator("#ask")
    expect(ask).to_contain_text("It leaves out 1 clause of the source: “Buy the cheapest”.")
    expect(ask).to_contain_text("It takes the place of 1 text that you have: “My own words”.")
    page.keyboard.press("Escape")
    expect(ask).to_be_hidden()
    expect(page.locator(".part-row")).to_have_count(1)
    press(page, "y Enter")
    expect(page.locator(".part-row")).to_have_count(2)
    expect_saved(page)
    assert texts(assignment) == ["Find red shoes.", "Sort them by price."]
    page.keyboard.press("Control+Enter")  # that one is left out was said already
    page.wait_for_url(app_server.url("/annotate/"))


def test_clauses_that_are_asked_for_twice_or_not_at_all_are_named_when_it_is_submitted(
    app_server, page, sign_in
) -> None:
    assignment = work()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "ArrowRight x")
    write(page, 0, "Find red shoes. Sort them by price.")
    write(page, 1, "Sort them by price.")
    expect_saved(page)
    page.keyboard.press("Control+Enter")
    ask = page.locator("#ask")
    expect(ask).to_contain_text("No part with its steps asks for “Buy the cheapest”.")
    expect(ask).to_contain_text("More than once the parts ask for “Sort them by price”.")
    page.keyboard.press("Escape")
    expect(ask).to_be_hidden()
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.IN_PROGRESS
    press(page, "Control+Enter Enter")
    page.wait_for_url(app_server.url("/annotate/"))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED


def test_what_is_untouched_and_leaves_out_a_clause_is_one_question(app_server, page, sign_in) -> None:
    assignment = work()
    assignment.parts.update(instruction="Find red shoes. Sort them by price.")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask p")).to_have_text(
        "Nothing has been changed here yet. No part with its steps asks for “Buy the cheapest”. Submit it as it came?"
    )
    page.keyboard.press("Enter")
    page.wait_for_url(app_server.url("/annotate/"))


def test_where_the_model_cannot_be_asked_rules_propose_by_a_button(app_server, page, sign_in) -> None:
    assignment = work(proposer="endpoint", connection="gone")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("p")
    expect(page.locator("#no-proposal")).to_contain_text("let the campaign propose by rules")
    page.get_by_role("button", name="Propose by rules").click()
    expect(page.locator("#proposed")).to_contain_text("Proposed by pages and forms 3")
    expect(page.locator("#no-proposal")).to_be_hidden()


def test_what_a_proposal_waits_for_is_shown_and_a_button_stops_it(app_server, page, sign_in) -> None:
    assignment = work(proposer="endpoint")
    job = Job.objects.create(
        kind="propose",
        project=assignment.item.session.campaign.project,
        params={"name": "x", "assignment": assignment.pk, "kind": "cuts"},
    )
    Worker.objects.tell("one", name="gpu@one", host="one", hostname="one", queues=["gpu"])
    sign_in(assignment.user)
    open_item(app_server, page, assignment)  # asked for before: the page goes on waiting
    expect(page.locator("#asked-words")).to_contain_text("Waiting for ")
    expect(page.locator("#propose")).to_be_disabled()
    Worker.objects.all().delete()
    expect(page.locator("#asked-words")).to_have_text("There is no worker any more that could ask the model")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#asked")).to_be_hidden()
    expect(page.locator("#said")).to_have_text("Stopped: nothing is proposed")
    expect(page.locator("#propose")).to_be_enabled()
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    press(page, "ArrowRight x")
    expect(page.locator(".part-row")).to_have_count(2)
