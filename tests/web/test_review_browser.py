"""Reviewing in the replay, by keys alone, in a real browser."""

import pytest
from playwright.sync_api import expect

from annotations.models import Role, Step
from evaluation.models import Review
from evaluation.reviews.deciding import SaidOfStep, give_review
from tests import factories
from tests.web.replay_world import PAGE, make_replay
from tests.web.test_replay_browser import OPEN_SHADOWS, shown_frame

pytestmark = pytest.mark.browser


@pytest.fixture
def world(app_server):
    return make_replay()


@pytest.fixture
def opened(app_server, page, sign_in, world):
    """`opened(role, seq)`: a step, as a member with this role."""

    def open_step(role: str, seq: int) -> None:
        sign_in(factories.make_user(role, world.trajectory.run.dataset.project, username=f"the-{role}"))
        page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/{seq}/"))
        expect(page.locator("#side h2").first).to_have_text("Decision")
        if role == Role.REVIEWER:  # the keys are there with what was said
            expect(page.locator("#review")).to_be_visible()

    return open_step


def pressed(page):
    return page.locator("#review [aria-pressed=true]")


def said(trajectory) -> list[tuple]:
    rows = Review.objects.standing().filter(trajectory=trajectory).order_by("step__seq")
    return list(rows.values_list("step__seq", "verdict", "reason__text", "comment"))


@pytest.mark.slow
def test_a_verdict_a_reason_and_a_comment_by_keys(opened, page, world):
    opened(Role.REVIEWER, 4)
    page.keyboard.press("d")
    expect(pressed(page)).to_have_text("Gold wrong d")
    page.keyboard.press("r")
    page.keyboard.press("w")  # the first reason with this letter
    page.keyboard.press("Escape")
    page.locator("#review select").blur()
    page.keyboard.press("v")
    page.keyboard.type("The other button.")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Step 5: gold wrong")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("step 6 of 8")
    expect(pressed(page)).to_have_count(0)
    page.keyboard.press("b")
    expect(pressed(page)).to_have_text("Both acceptable b")
    assert said(world.trajectory) == [
        (4, "gold_wrong", "wrong element recorded", "The other button."),
        (5, "both_acceptable", None, ""),
    ]
    expect(page.locator('#film .cell[data-review="gold_wrong"]')).to_contain_text("5")
    page.reload()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#review input")).to_have_value("The other button.")


@pytest.mark.slow
def test_a_comment_before_a_verdict_is_asked_for_one_and_goes_with_it(opened, page, world):
    """What was typed ran as commands: one asked the team about another step."""
    opened(Role.REVIEWER, 4)
    page.keyboard.press("v")
    expect(page.locator("#said")).to_contain_text("Choose a verdict first: a agent wrong, d gold wrong")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_contain_text("Not sent, as it has no verdict; a comment goes with it")
    expect(page.get_by_role("group", name="Verdict")).to_be_focused()
    told, bar = (page.locator(one).bounding_box() for one in ("#said", "#review"))
    assert told["y"] + told["height"] <= bar["y"], "the verdicts are in sight"
    page.keyboard.press("v")
    page.keyboard.type("no verdict but a remark")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("group", name="Verdict")).to_be_focused()
    page.keyboard.press("Control+Enter")  # chooses none
    page.wait_for_timeout(3_000)  # other words are gone by then
    expect(page.locator("#said")).to_contain_text("Not sent, as it has no verdict; your comment waits")
    expect(page.locator("#place")).to_have_text("step 5 of 8")
    assert said(world.trajectory) == []
    page.keyboard.press("ArrowRight")
    expect(page.locator("#review input")).to_have_value("")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#review input")).to_have_value("no verdict but a remark")
    page.keyboard.press("a")
    expect(page.locator("#said")).to_have_text("Step 5: agent wrong")
    assert said(world.trajectory) == [(4, "agent_wrong", None, "no verdict but a remark")]


@pytest.mark.slow
def test_the_same_key_again_takes_it_back(opened, page, world):
    opened(Role.REVIEWER, 0)
    page.keyboard.press("x")
    expect(pressed(page)).to_have_text("Page broken x")
    page.keyboard.press("x")
    expect(pressed(page)).to_have_count(0)
    assert said(world.trajectory) == []


BOXES = """(layer) => [...layer.shadowRoot.querySelectorAll("div")].filter((one) =>
  one.style.borderStyle === "dotted").map((one) => {
    const {x, y, width, height} = one.getBoundingClientRect();
    return [x, y, width, height, one.textContent].map((part) => typeof part === "number" ? Math.round(part) : part);
  })"""


def regions(page) -> list:
    """The outlined regions of the shown page: place, size and number."""
    return shown_frame(page).locator(":root > div:last-child").evaluate(BOXES)


def box_of(page, node: str) -> list[int]:
    """An element in the shown page, as `regions` tells places."""
    box = (
        shown_frame(page).locator(f'[data-node-id="{node}"]').evaluate("(one) => one.getBoundingClientRect().toJSON()")
    )
    return [round(box[name]) for name in ("x", "y", "width", "height")]


def wait_for_regions(page, expected: list) -> None:
    for _ in range(50):
        if regions(page) == expected:
            return
        page.wait_for_timeout(100)
    assert regions(page) == expected


def around(box: list[int], number: str) -> list:
    x, y, width, height = box
    return [x - 3, y - 3, width + 6, height + 6, number]


@pytest.fixture
def open_shadows(browser_context) -> None:
    browser_context.add_init_script(OPEN_SHADOWS)


def region_of(trajectory) -> dict | None:
    return Review.objects.get(trajectory=trajectory).region


@pytest.mark.slow
def test_a_region_is_named_by_keys_and_lies_there_in_windows_of_other_widths(
    open_shadows, opened, page, world, sign_in
) -> None:
    html = PAGE.format(title="Films, page 5", links="").replace("margin: 28px", "margin: 28px; text-align: center")
    Step.objects.filter(pk=world.steps[4].pk).update(snapshot=factories.make_snapshot(html))
    opened(Role.REVIEWER, 4)
    page.keyboard.press("m")
    expect(page.locator("#said")).to_contain_text("Say who was wrong first")
    page.keyboard.press("a")
    expect(pressed(page)).to_have_text("Agent wrong a")
    page.keyboard.press("m")
    size = page.locator(".region-bar [role=status]")
    expect(size).to_contain_text(" at ")
    predicted = size.text_content()
    page.keyboard.press("g")
    expect(size).not_to_have_text(predicted)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#review [aria-pressed=true]")).to_have_text(["Agent wrong a", "Region m"])
    x, y, width, height = box_of(page, "22")  # gold
    named = [x + 1, y - 3, width + 6, height + 10, "1"]
    wait_for_regions(page, [named])
    kept = region_of(world.trajectory)
    assert [kept[name] for name in ("page", "x", "y", "width", "height")] == ["snapshot", *named[:4]]
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("step 6 of 8")
    wait_for_regions(page, [])

    page.set_viewport_size({"width": 640, "height": 800})  # the page is narrower, and its lines break elsewhere
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    page.reload()
    page.keyboard.press("ArrowLeft")
    chip = page.locator("#review .tag.region")
    expect(chip).to_have_text("▭ 1")
    expect(shown_frame(page).locator("h1")).to_have_text("Films, page 5")
    before = box_of(page, "22")
    assert before != [x, y, width, height]
    chip.hover()
    wait_for_regions(page, [named])
    assert box_of(page, "22") == [x, y, width, height], "laid out as it was measured"
    page.mouse.move(10, 10)
    wait_for_regions(page, [])
    assert box_of(page, "22") == before
    page.keyboard.press("2")
    expect(page.locator("#panel-page")).to_be_hidden()
    chip.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-page")).to_be_visible()
    wait_for_regions(page, [named])
    page.mouse.move(10, 10)
    wait_for_regions(page, [named])


@pytest.mark.slow
def test_a_region_is_drawn_by_mouse_in_a_page_that_was_scrolled(open_shadows, opened, page, world) -> None:
    opened(Role.REVIEWER, 0)
    page.keyboard.press("x")
    expect(pressed(page)).to_have_text("Page broken x")
    page.get_by_role("button", name="Region m").click()
    cover = page.locator(".region-cover")
    place = cover.bounding_box()
    page.mouse.move(place["x"] + 40, place["y"] + 60)
    page.mouse.wheel(0, 300)
    expect(page.locator(".region-bar [role=status]")).to_contain_text(" at ")
    scrolled = 0
    for _ in range(30):
        scrolled = round(shown_frame(page).locator(":root").evaluate("() => window.scrollY"))
        if scrolled:
            break
        page.wait_for_timeout(100)
    assert scrolled > 100
    page.wait_for_timeout(200)
    page.mouse.down()
    page.mouse.move(place["x"] + 190, place["y"] + 130)
    page.mouse.up()
    page.get_by_role("button", name="Keep").click()
    wait_for_regions(page, [[40, 60, 150, 70, "1"]])
    kept = region_of(world.trajectory)
    assert [kept[name] for name in ("x", "y", "width", "height")] == [40, 60 + scrolled, 150, 70]
    page.get_by_role("button", name="Region m").click()
    expect(cover).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Region m")).to_have_attribute("aria-pressed", "false")
    wait_for_regions(page, [])
    assert region_of(world.trajectory) is None
    page.get_by_role("button", name="Region m").click()
    expect(cover).to_be_focused()
    page.keyboard.press("Escape")
    expect(cover).to_have_count(0)
    assert region_of(world.trajectory) is None


@pytest.mark.slow
def test_a_region_of_the_page_as_recorded_opens_that_version(open_shadows, opened, page, world) -> None:
    raw = factories.make_snapshot(PAGE.format(title="As recorded", links=""))
    Step.objects.filter(pk=world.steps[4].pk).update(raw_snapshot=raw)
    opened(Role.REVIEWER, 4)
    page.keyboard.press("a")
    expect(pressed(page)).to_have_text("Agent wrong a")
    page.keyboard.press("m")
    expect(page.locator(".region-bar [role=status]")).to_contain_text(" at ")
    page.keyboard.press("Enter")
    wait_for_regions(page, [around(box_of(page, "20"), "1")])
    assert region_of(world.trajectory)["page"] == "raw_snapshot"
    page.get_by_role("button", name="cleaned").click()
    expect(shown_frame(page).locator("h1")).to_have_text("Films, page 5")
    assert regions(page) == []
    page.keyboard.press("v")  # on another version a hover shows nothing, as the place is another
    page.wait_for_timeout(300)
    assert regions(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    expect(shown_frame(page).locator("h1")).to_have_text("As recorded")
    expect(page.locator(".region-cover")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".region-cover")).to_have_count(0)
    page.keyboard.press("v")
    wait_for_regions(page, [around(box_of(page, "20"), "1")])


def test_who_may_not_judge_sees_what_others_said(opened, page, world):
    reviewer = factories.make_user(Role.REVIEWER, world.trajectory.run.dataset.project, username="rita")
    step = world.trajectory.steps.get(seq=4)
    Review.objects.give(world.trajectory, step, reviewer, "agent_wrong", comment="a sibling")
    opened(Role.READER, 4)
    expect(page.locator("#review")).to_contain_text("rita: agent wrong, “a sibling”")
    expect(page.locator("#review button")).to_have_count(0)
    page.keyboard.press("d")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#review")).to_be_hidden()
    assert said(world.trajectory) == [(4, "agent_wrong", None, "a sibling")]


@pytest.mark.slow
def test_what_could_not_be_kept_is_said(opened, page, world):
    opened(Role.REVIEWER, 4)
    page.route("**/reviews/", lambda route: route.abort())
    page.keyboard.press("d")
    expect(page.locator("#said")).to_contain_text("Not kept")
    page.wait_for_timeout(3_000)
    expect(page.locator("#said"), "longer than good news").to_contain_text("Not kept")
    expect(pressed(page)).to_have_count(0)
    page.unroute("**/reviews/")
    page.keyboard.press("d")
    expect(pressed(page)).to_have_text("Gold wrong d")


@pytest.mark.slow
def test_a_region_of_the_screenshot_is_named_there_and_lies_there_in_other_windows(opened, page, world) -> None:
    page.set_viewport_size({"width": 900, "height": 1400})
    page.set_content("<h1>As it looked</h1>")
    shot = factories.make_screenshot(page.screenshot())
    page.set_viewport_size({"width": 1280, "height": 800})
    Step.objects.filter(pk=world.steps[4].pk).update(screenshot=shot)
    opened(Role.REVIEWER, 4)
    page.keyboard.press("a")
    expect(pressed(page)).to_have_text("Agent wrong a")
    page.get_by_role("tab", name="Screenshot").click()
    page.keyboard.press("m")
    cover = page.locator(".region-cover")
    expect(cover).to_be_focused()
    for key in ("ArrowRight", "ArrowDown", "Shift+ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".region-bar [role=status]")).to_have_text("84 × 40 at 4, 4")
    place = cover.bounding_box()
    page.mouse.move(place["x"] + place["width"] / 3, place["y"] + 30)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 2 / 3, place["y"] + 130)
    page.mouse.up()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Region m")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".region-chip")).to_have_text("1")
    kept = region_of(world.trajectory)
    sizes = [kept[name] for name in ("page", "layout_width", "page_width", "page_height")]
    assert sizes == ["screenshot", 900, 900, 1400]
    assert [kept["x"], kept["width"]] == pytest.approx([300, 300], abs=3)
    person = factories.make_user(Role.REVIEWER, world.trajectory.run.dataset.project)
    Review.objects.filter(step__seq=4).update(reviewer=person)
    page.set_viewport_size({"width": 1900, "height": 900})
    page.reload()
    page.locator("#review .tag.region").click()
    expect(page.get_by_role("tab", name="Screenshot")).to_have_attribute("aria-selected", "true")
    outlined = page.locator(".picture > .region-box")
    expect(outlined).to_be_visible()
    box, picture = outlined.bounding_box(), page.locator(".picture img").bounding_box()
    assert (box["x"] - picture["x"]) / picture["width"] == pytest.approx(kept["x"] / 900, abs=0.01)
    assert box["width"] / picture["width"] == pytest.approx(kept["width"] / 900, abs=0.01)
    expect(page.locator(".region-chip")).to_have_text("1")
    page.get_by_role("tab", name="Page", exact=True).click()
    expect(page.locator(".picture > .region-box")).to_be_hidden()


def test_what_names_somebody_is_read_once_they_go_to_it(app_server, opened, page, world) -> None:
    reviewer = factories.make_user(Role.REVIEWER, world.trajectory.run.dataset.project, username="rita")
    opened(Role.REVIEWER, 0)

    for seq in (4, None):
        said = SaidOfStep(seq, "agent_wrong", None, f"@the-reviewer, see {seq}", None)
        give_review(reviewer, world.trajectory, said)
    for seen in ("see None", "see 4"):  # the newest comes first
        page.goto(app_server.url("/annotate/inbox/"))
        page.keyboard.press("Enter")
        with page.expect_response("**/inbox/seen/"):
            expect(page.locator("#review .others")).to_contain_text(seen)
    page.goto(app_server.url("/annotate/inbox/"))
    expect(page.locator(".head")).to_contain_text("0 unread")
