"""The item page in a real Chromium: decomposing and rewriting without the mouse, the page beside, how quick it is."""

from uuid import uuid4

import pytest
from django.test import Client
from playwright.sync_api import Page, Route, expect

from annotations.desk import moving_on
from annotations.dom.generated import list_page
from annotations.models import Assignment, Edit, Step, Target, Turn
from tests import factories
from tests.contention import contention
from tests.web.annotating import QUIET, begun, expect_saved, open_item, pasted, press, texts

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late
LARGE = 18_000  # elements; with their attributes and texts some 400,000 tokens
TREE_MS, PAGE_MS, STEP_MS = 300, 1500, 100


@pytest.fixture
def said(page: Page) -> list[str]:
    """What the console got, the content policy's complaints among it."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if QUIET not in message.text else None)
    return found


def measured(page: Page, name: str) -> list[float]:
    """The durations in milliseconds that the page has measured under a name."""
    return page.evaluate("name => performance.getEntriesByName(name).map(({duration}) => duration)", name)


def test_a_session_is_decomposed_and_submitted_without_the_mouse(app_server, page, sign_in, said) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    expect(page.locator("#counts")).to_have_text("6 steps · 2 parts (target 2) · all covered")
    press(page, "ArrowRight x")
    expect(page.locator("#counts")).to_have_text("6 steps · 3 parts (target 2) · all covered · 1 without text")
    expect(page.locator(".film-part .part-head")).to_have_text(["1 step 1", "2 steps 2–3", "3 steps 4–6"])
    press(page, "j Enter")
    page.keyboard.type("Sort the shoes by price.")
    press(page, "Escape j k k Enter Control+a")
    page.keyboard.type("Search for red shoes.")
    expect_saved(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask")).to_contain_text("No part with its steps asks for")
    page.keyboard.press("Enter")
    page.wait_for_url(app_server.url("/annotate/"))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    assert texts(assignment) == ["Search for red shoes.", "Sort the shoes by price.", "Please do part 1 of the task."]
    assert said == []


@pytest.mark.slow
def test_the_strip_names_each_page_once_above_the_steps_on_it(app_server, page, sign_in, said) -> None:
    assignment = begun(tasks=1, steps=4)
    for step, title in zip(assignment.item.session.steps(), ("Shop", "Shop", "Basket", "Shop"), strict=True):
        html = f"<html><title><text>{title}</text></title><p backend_node_id='{step.pk}'/></html>"
        Step.objects.filter(pk=step.pk).update(snapshot=factories.make_snapshot(html))
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    expect(page.locator(".card-page")).to_have_text(["Shop", "", "Basket", "Shop"])
    shop, card = page.locator(".card-page").first.bounding_box(), page.locator(".card").nth(1).bounding_box()
    assert shop["x"] + shop["width"] > card["x"] + card["width"] / 2
    press(page, "ArrowRight x")
    expect(page.locator(".card-page")).to_have_text(["Shop", "Shop", "Basket", "Shop"])
    assert said == []


@pytest.mark.slow
def test_what_is_missing_is_said_and_shown_when_it_is_submitted(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "ArrowRight x k Control+Enter")
    expect(page.locator("#problems")).to_contain_text("Not submitted yet")
    expect(page.locator(".part-row:focus")).to_have_attribute("aria-label", "Part 2, steps 2–3")
    press(page, "Enter")
    page.keyboard.type("Sort them.")
    expect(page.locator("#problems")).to_be_hidden()  # it was said of what was there before


@pytest.mark.slow
def test_that_a_proposal_is_asked_for_is_said_until_it_is_there(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    page.clock.install()
    open_item(app_server, page, assignment)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/propose/", hold)
    page.keyboard.press("p")
    expect(page.locator("#said")).to_have_text("Proposing …")
    page.clock.fast_forward(10_000)
    expect(page.locator("#said")).to_have_text("Proposing …")
    held[0].abort()
    expect(page.locator("#no-proposal")).to_be_visible()
    expect(page.locator("#said")).to_have_text("")


@pytest.mark.slow
def test_what_nobody_has_edited_is_submitted_only_if_that_is_meant(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#ask")).to_contain_text("Nothing has been changed here yet")
    page.keyboard.press("Escape")
    expect(page.locator("#ask")).to_be_hidden()
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.IN_PROGRESS
    press(page, "Control+Enter Enter")
    page.wait_for_url(app_server.url("/annotate/"))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED


@pytest.mark.slow
def test_until_an_item_is_read_there_are_lines_in_the_place_of_its_texts(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/document/", hold)
    page.goto(app_server.url(f"/annotate/assignments/{assignment.pk}/"))
    lines = page.locator(".to-come")
    expect(lines).to_have_count(4)
    assert all(box["height"] > 20 for box in (line.bounding_box() for line in lines.all()))
    expect(page.locator("#submit")).to_be_disabled()
    held[0].continue_()
    expect(lines).to_have_count(0)
    expect(page.locator(".card")).to_have_count(6)


@pytest.mark.slow
def test_a_rewrite_with_an_anaphor_is_made_without_the_mouse(app_server, page, sign_in, said) -> None:
    assignment = begun("rewrite")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "Shift+ArrowRight j Enter Control+a")
    page.keyboard.type("Now do it for the second one.")
    press(page, "Control+Home Control+ArrowRight Control+ArrowRight")  # behind the second word
    press(page, "Shift+ArrowRight Shift+ArrowRight Shift+ArrowRight Escape m a")
    expect(page.locator("#mention h1")).to_have_text("“it” anaphora")
    press(page, "ArrowRight ArrowRight Shift+ArrowRight")  # the second and the third word of turn 1
    expect(page.locator("#mention")).to_contain_text("Turn 1: “do part”")
    page.keyboard.press("Enter")
    expect(page.locator(".chip")).to_have_text("“it”anaphora, pronoun → turn 1 “do part”×")
    expect(page.locator(".backdrop mark.anaphora")).to_have_text("it")
    expect(page.locator(".part-row").nth(1).locator(".diff")).to_have_text(
        "PleaseNow do part 1 ofit for the tasksecond one."
    )
    expect_saved(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(app_server.url("/annotate/"))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    marked = [part for part in assignment.parts.all() if part.mentions]
    assert [(part.rewrite, part.mentions[0]["text"]) for part in marked] == [("Now do it for the second one.", "it")]
    assert marked[0].mentions[0]["antecedent"]["text"] == "do part"
    assert said == []


@pytest.mark.slow
def test_a_part_without_words_of_its_own_is_cleared_and_clauses_are_marked(app_server, page, sign_in) -> None:
    """What an accepted proposal gives to the second part does not stay in the first as well."""
    assignment = begun(tasks=1, steps=4)
    source = "Find red shoes. Sort them by price."
    Turn.objects.filter(conversation__sessiontask__session=assignment.item.session).update(instruction=source)
    assignment.parts.update(instruction=source)
    steps = [step.pk for step in assignment.item.session.steps()]
    parts = [{"step": step, "why": [], "instruction": text} for step, text in ((steps[0], ""), (steps[2], source))]
    assignment.keep_proposal("cuts", "m", parts)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    expect(page.locator("#source mark")).to_have_count(0)
    page.keyboard.press("y")
    expect_saved(page)
    assert texts(assignment) == ["", source]
    page.keyboard.press("Enter")
    page.keyboard.type("Find red shoes.")
    page.keyboard.press("Escape")
    expect(page.locator("#source mark.doubled")).to_have_text("Find red shoes.")
    expect(page.locator("#counts")).to_contain_text("1 clause doubled")


@pytest.mark.slow
def test_a_proposal_is_asked_for_and_accepted_by_keys(app_server, page, sign_in, said) -> None:
    assignment = begun(tasks=1, steps=8)
    source = "Find red shoes. Sort them by price."
    Turn.objects.filter(conversation__sessiontask__session=assignment.item.session).update(instruction=source)
    assignment.parts.update(instruction=source)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("p")
    expect(page.locator("#proposed")).to_contain_text("Proposed by pages and forms 3")
    assert page.locator(".cut-place.proposed").count() == 1
    page.keyboard.press("y")
    expect(page.locator(".part-row")).to_have_count(2)
    expect(page.locator("#proposed")).to_contain_text("all parts as proposed")
    expect_saved(page)
    proposal = assignment.proposals.get()
    assert {edit.proposal for edit in Edit.objects.filter(assignment=assignment)} == {proposal}
    assert [part["step"] for part in proposal.content["parts"]] == [
        part.first_step_id for part in assignment.parts.order_by("first_step")
    ]
    assert said == []


@pytest.mark.slow
def test_what_is_too_long_to_paste_is_said_and_not_cut(app_server, page, sign_in) -> None:
    assignment = begun()
    before = texts(assignment)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.keyboard.press("Enter")
    assert pasted(page, 20_000) is False, "the browser must not paste a part of it"
    expect(page.locator("#said")).to_contain_text("Not pasted: it has 20,000 characters, and 9,9")
    expect(page.locator(".told")).to_have_count(0)
    assert texts(assignment) == before
    assert pasted(page, 200) is True, "what fits is left to the browser"


@pytest.mark.slow
def test_a_comment_is_about_the_step_that_is_shown(app_server, page, sign_in, said) -> None:
    assignment = begun("rewrite")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "ArrowRight c")
    page.locator("#comments select").select_option("about step 2")
    page.locator("#comments textarea").focus()
    page.keyboard.type("Is this right?")
    page.keyboard.press("Control+Enter")  # sends the comment, not the item
    expect(page.locator(".thread")).to_contain_text("Is this right?")
    comment = assignment.comments.get()
    assert comment.step == list(assignment.item.session.steps())[1]
    press(page, "Escape ArrowRight ArrowRight")
    page.locator(".thread header").get_by_text("step 2").click()
    expect(page.locator("#action")).to_contain_text("step 2")
    assert said == []


@pytest.mark.slow
def test_what_a_rewrite_loses_is_warned_of_below_it(app_server, page, sign_in) -> None:
    assignment = begun("rewrite")
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.locator(".part-row textarea").first.focus()
    press(page, "Control+a")
    page.keyboard.type("Please take it.")
    expect(page.locator(".part-row").first.locator(".warning").first).to_be_visible()
    expect(page.locator(".part-row").first.locator("mark.doubtful")).to_have_text("it")
    press(page, "Escape j w")
    expect(page.locator(".part-row:focus")).to_have_attribute("aria-label", "Turn 1, steps 1–3")


@pytest.mark.slow
def test_cuts_are_made_and_taken_away_by_clicks_between_the_cards(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    page.get_by_role("button", name="Cut before step 3").click()
    expect(page.locator(".part-row")).to_have_count(3)
    page.get_by_role("button", name="Join the parts before and after step 4").click()
    expect(page.locator(".part-row")).to_have_count(2)
    expect(page.locator(".part-row textarea").nth(1)).to_have_value("Please do part 1 of the task.")
    expect_saved(page)
    assert texts(assignment) == ["Please do part 1 of the task.", "Please do part 1 of the task."]


@pytest.mark.slow
def test_undo_and_redo_survive_a_reload(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "ArrowRight ArrowRight x")
    expect_saved(page)
    page.reload()
    expect(page.locator(".part-row")).to_have_count(3)
    page.keyboard.press("Control+z")
    expect(page.locator(".part-row")).to_have_count(2)
    page.reload()
    expect(page.locator(".part-row")).to_have_count(2)
    page.keyboard.press("Control+Shift+z")
    expect(page.locator(".part-row")).to_have_count(3)
    assert list(Edit.objects.filter(assignment=assignment).values_list("kind", flat=True)) == ["cut", "join", "cut"]


@pytest.mark.slow
def test_the_search_goes_from_place_to_place_in_the_tree(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    press(page, "2 /")
    expect(page.locator("#panel-tree .tree-row.gold")).to_have_count(1)
    page.keyboard.type("li")
    page.keyboard.press("Enter")
    expect(page.locator("#search-count")).to_have_text("2 of 2")
    page.keyboard.press("n")
    expect(page.locator("#search-count")).to_have_text("1 of 2")
    page.keyboard.press("Shift+N")
    expect(page.locator("#search-count")).to_have_text("2 of 2")
    page.keyboard.press("3")
    expect(page.locator("#panel-candidates .tree-row")).to_have_count(5)


@pytest.mark.timed
@pytest.mark.slow
def test_a_page_of_400_000_tokens_is_there_at_once_and_stepping_takes_no_time(app_server, page, sign_in) -> None:
    """The quickest of three pages that nothing has read before; times count as on a machine that does nothing else."""
    assignment = begun(tasks=1, steps=8)
    for seed, step in enumerate(assignment.item.session.steps()):
        html, candidates = list_page(LARGE, seed)
        Step.objects.filter(pk=step.pk).update(snapshot=factories.make_snapshot(html))
        Target.objects.filter(step=step).update(node_id=candidates[2000])
    sign_in(assignment.user)
    slower = [contention()]
    open_item(app_server, page, assignment)
    rests = "number => performance.getEntriesByName('neighbours read').length >= number"
    page.wait_for_function(rests, arg=1, timeout=60_000)
    for number, place in ((2, 3), (3, 6)):
        slower.append(contention())
        page.locator(f"[data-place='{place}']").click()
        page.wait_for_function(rests, arg=number, timeout=60_000)
    cold = [ms / factor for ms, factor in zip(measured(page, "step shown"), slower, strict=True)]
    slower.append(contention())
    for key in ("ArrowRight", "ArrowLeft", "2", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
    stepped = [ms / slower[-1] for ms in measured(page, "step shown")[len(cold) :]]
    trees = [ms / slower[-1] for ms in measured(page, "tree shown")]
    times = f"cold {cold}, stepping {stepped}, trees {trees}, slowed down {slower} times"
    assert page.locator("#page-facts").inner_text().startswith("11,")
    assert 0 < page.locator("#panel-tree .tree-row").count() < 120
    assert min(cold) < PAGE_MS, times
    assert max(trees) < TREE_MS, times
    assert len(stepped) == 4
    assert sorted(stepped)[2] < STEP_MS, times


@pytest.mark.slow
def test_the_page_is_as_wide_as_the_window_and_every_text_is_named(app_server, page, sign_in, said) -> None:
    assignment = begun("rewrite", tasks=3)
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    names = page.locator(".part-row textarea").evaluate_all("areas => areas.map((area) => area.ariaLabel)")
    assert names == ["Rewrite of turn 1, steps 1–3", "Rewrite of turn 2, steps 4–6", "Rewrite of turn 3, steps 7–9"]
    page.keyboard.press("?")
    expect(page.locator("#key-sheet")).to_contain_text("Mark what is selected as anaphora")
    expect(page.locator("#key-sheet")).not_to_contain_text("Cut before the step")
    assert said == []


@pytest.mark.slow
def test_the_sheet_of_keys_lists_what_works_now(app_server, page, sign_in) -> None:
    assignment = begun()
    sign_in(assignment.user)
    open_item(app_server, page, assignment)
    sheet = page.locator("#key-sheet")
    page.keyboard.press("?")
    expect(sheet).to_contain_text("Cut before the step, or join there")
    for label in ("as anaphora", "as ellipsis", "Take over", "changed in two ways"):
        expect(sheet).not_to_contain_text(label)
    page.keyboard.press("Escape")
    other = factories.make_user("annotator", assignment.item.session.campaign.project)
    Assignment.objects.filter(pk=assignment.pk).update(user=other, lease_token=uuid4())
    page.locator(".part-row textarea").first.fill("Search for shoes.")
    expect(page.locator("#notice")).to_contain_text("Take over")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(sheet).to_contain_text("Take over")


@pytest.mark.slow
def test_others_items_do_not_exist_and_reviewers_only_read_them(client: Client) -> None:
    assignment = begun()
    project = assignment.item.session.campaign.project
    address = f"/annotate/assignments/{assignment.pk}/"
    answers = {}
    for role in ("annotator", "reviewer", "reader"):
        client.force_login(factories.make_user(role, project))
        answers[role] = client.get(address).status_code
    client.force_login(factories.make_user("annotator"))
    assert answers == {"annotator": 404, "reviewer": 200, "reader": 404}
    assert client.get(address).status_code == 404


@pytest.mark.slow
def test_a_returned_annotation_says_why(client: Client) -> None:
    assignment = begun("rewrite")
    session, verifier = assignment.item.session, factories.make_user("reviewer")
    assignment.take(assignment.user)
    moving_on.submit(assignment)
    item = session.items.get(stage="verify")
    verification = Assignment.objects.create(item=item, user=verifier, slot=0)
    verdict = assignment.verdicts.create(
        verification=verification, round=1, version=0, outcome="return", reason="Two values are lost."
    )
    verdict.defects.create(code="value-lost", note="Which colour?", step=session.steps().first())
    assignment.refresh_from_db()
    moving_on.returned(assignment)
    client.force_login(assignment.user)
    page = client.get(f"/annotate/assignments/{assignment.pk}/").content.decode()
    assert "Two values are lost." in page
    assert "value-lost" in page
    assert "Which colour?" in page
