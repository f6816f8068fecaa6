"""The pages of a replay as they were recorded: in their window's width, before and after the action with what changed,
the tree at gold, marks and their toggles in every tab, and what lies outside of the window pointed to."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from agents.models import Trajectory
from annotations.models import Role, Step
from tests import factories
from tests.app_server import AppServer
from tests.signed_in import client_of
from tests.web.replay_world import LINK, PAGE, ReplayWorld, make_replay
from tests.web.test_film_strips import drawing
from tests.web.test_replay_browser import CHIPS, OPEN_SHADOWS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# A page that looks otherwise on a phone, with a headline that is in the recorded version alone.
RECORDED = """<html backend_node_id="1" bounding_box_rect="0,0,1280,2400"><head backend_node_id="90">
<style backend_node_id="91">body {{ margin: 0 }} h1 {{ color: rgb(1, 2, 3) }}
@media (max-width: 700px) {{ h1 {{ color: rgb(9, 9, 9) }} }}</style></head>
<body backend_node_id="2"><h1 backend_node_id="3"><text backend_node_id="30">Recorded {0}</text></h1>
<p backend_node_id="8"><button backend_node_id="23"><text backend_node_id="44">Find a box</text></button></p>
<div backend_node_id="60" style="height: 2000px"><text backend_node_id="61">long</text></div>
<p backend_node_id="6"><button backend_node_id="20"><text backend_node_id="40">{1}</text></button></p></body></html>"""


@pytest.fixture
def world(app_server: AppServer) -> ReplayWorld:
    return make_replay()


@pytest.fixture
def opened(app_server: AppServer, browser_context, page: Page, sign_in, world):
    """`opened(seq, query)` opens a step as a member of the project."""
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    browser_context.add_init_script(OPEN_SHADOWS)

    def go(seq: int, query: str = "", trajectory: Trajectory = world.trajectory) -> None:
        page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/{seq}/{query}"))
        expect(page.locator("#side h2").first).to_have_text("Decision")
        expect(page.locator("#page")).not_to_have_attribute("aria-busy", "true")

    return go


def record(world: ReplayWorld, seq: int, price: str = "DVD $1.75") -> None:
    """Give a step the page as it was recorded, beside the cleaned one."""
    page = factories.make_snapshot(RECORDED.format(seq, price))
    Step.objects.filter(pk=world.steps[seq].pk).update(raw_snapshot=page)


def shown(page: Page, name: str) -> Locator:
    return page.locator(f'[data-frame={name}] iframe[style*="opacity: 1"]')


def in_frame(page: Page, name: str, script: str):
    return shown(page, name).content_frame.locator(":root").evaluate(script)


def chips(page: Page, name: str) -> dict[str, str]:
    """Label -> line style of the marks in a frame."""
    return dict(shown(page, name).content_frame.locator(":root > div:last-child").evaluate(CHIPS))


def wait_for_chips(page: Page, name: str, labels: set[str]) -> None:
    for _ in range(50):
        if set(chips(page, name)) == labels:
            return
        page.wait_for_timeout(100)
    assert set(chips(page, name)) == labels


COLOUR = "(root) => getComputedStyle(root.querySelector('h1')).color"


def test_a_page_is_laid_out_as_wide_as_it_was_recorded_and_scaled_to_the_pane(opened, page, world):
    record(world, 4)
    opened(4)
    expect(shown(page, "page").content_frame.locator("h1")).to_have_text("Recorded 4")
    assert in_frame(page, "page", "(root) => root.clientWidth") == 1280
    assert in_frame(page, "page", COLOUR) == "rgb(1, 2, 3)"
    place, box = shown(page, "page").bounding_box(), page.locator("[data-frame=page]").bounding_box()
    assert abs(place["width"] - box["width"]) < 3  # 1280 pixels in some 620
    assert abs(place["height"] - box["height"]) < 3
    layer = shown(page, "page").content_frame.locator(":root > div:last-child")
    size = layer.evaluate("(one) => parseFloat(one.shadowRoot.querySelector('span').style.fontSize)")
    assert abs(size * place["width"] / 1280 - 10) < 0.5  # marks are as large as elsewhere
    page.set_viewport_size({"width": 1920, "height": 900})
    assert in_frame(page, "page", "(root) => root.clientWidth") == 1280
    page.get_by_role("button", name="cleaned").click()  # nobody has kept how wide that one was
    expect(shown(page, "page").content_frame.locator("h1")).to_have_text("Films, page 5")
    width = page.locator("[data-frame=page]").evaluate("(one) => one.clientWidth")
    assert abs(in_frame(page, "page", "(root) => window.innerWidth") - width) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("box", ["0,0,90000,10", "0,0,-1280,10", "0,0,1e9,10", "1280", "0,0,0,0", "a,b,c,d"])
def test_a_width_that_no_window_has_is_none(opened, page, world, box: str):
    html = RECORDED.format(4, "DVD").replace("0,0,1280,2400", box)
    Step.objects.filter(pk=world.steps[4].pk).update(raw_snapshot=factories.make_snapshot(html))
    opened(4)
    expect(shown(page, "page").content_frame.locator("h1")).to_have_text("Recorded 4")
    assert in_frame(page, "page", COLOUR) == "rgb(9, 9, 9)"


def test_before_and_after_are_as_recorded_with_the_action_between_them_and_what_changed_marked(opened, page, world):
    record(world, 4)
    record(world, 3, "sold out")
    Step.objects.filter(pk=world.steps[3].pk).update(snapshot_after=world.steps[4].snapshot)
    opened(3, "?tab=change")
    for name, seq in (("before", 3), ("after", 4)):
        expect(shown(page, name).content_frame.locator("h1")).to_have_text(f"Recorded {seq}")
        assert in_frame(page, name, COLOUR) == "rgb(1, 2, 3)"
    expect(page.locator("#panel-change")).to_contain_text("After the recorded action: CLICK Find a box")
    wait_for_chips(page, "after", {"changed"})  # the headline
    assert chips(page, "after") == {"changed": "double"}
    assert "changed" in chips(page, "before")
    page.get_by_role("button", name="changes").click()
    wait_for_chips(page, "after", set())
    assert "changed" not in chips(page, "before")
    assert any(label.startswith("gold") for label in chips(page, "before"))
    page.keyboard.press("h")  # all of them again
    wait_for_chips(page, "after", {"changed"})
    page.get_by_role("button", name="cleaned").click()
    for name, seq in (("before", 3), ("after", 4)):
        expect(shown(page, name).content_frame.locator("h1")).to_have_text(f"Films, page {seq + 1}")
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="changes")).to_be_hidden()


@pytest.mark.slow
def test_a_page_after_that_only_the_source_kept_is_shown_cleaned(opened, page, world):
    record(world, 4)
    record(world, 3)
    own = factories.make_snapshot(PAGE.format(title="Its own page after", links=""))
    Step.objects.filter(pk=world.steps[3].pk).update(snapshot_after=own, keeps_page_after=True)
    opened(3, "?tab=change")
    expect(shown(page, "before").content_frame.locator("h1")).to_have_text("Recorded 3")
    expect(shown(page, "after").content_frame.locator("h1")).to_have_text("Its own page after")


def test_marks_of_changes_name_elements_also_for_texts_and_say_why_there_are_none(world):
    admin = client_of(factories.make_user(Role.ADMIN, world.trajectory.run.dataset.project))
    told = admin.get(f"/trajectories/{world.trajectory.pk}/steps/3/change-marks/").json()
    assert told["error"] == ""
    mark = {"id": "3", "kind": "changed", "label": "changed"}  # of text 30, which is no element of a rendered page
    assert mark in told["before"]
    assert mark in told["after"]
    last = admin.get(f"/trajectories/{world.trajectory.pk}/steps/7/change-marks/").json()
    assert last == {"before": [], "after": [], "error": "The page after this step was not recorded."}


def test_the_tree_opens_at_gold_and_its_marks_follow_the_toggles(opened, page, world):
    links = "".join(LINK.format(number) for number in range(100, 180))
    long = factories.make_snapshot(PAGE.format(title="Long", links=links).replace("</ul>", "</ul><p>{}</p>"))
    step = world.trajectory.steps.get(seq=7)
    gold = "2179"
    Step.objects.filter(pk=step.step_id).update(snapshot=long)
    step.step.targets.update(node_id=gold)
    nodes = [f"2{number}" for number in range(100, 180)]
    step.trace["simplify"] = {"kept": ["20", *nodes]}
    step.candidate_ids = ["20", *nodes]
    step.save()
    opened(7, "?tab=tree")
    line = page.locator(f".lines [data-node='{gold}']")
    expect(line).to_be_in_viewport()
    expect(line).to_have_class(re.compile("mark-gold"))
    expect(page.locator(".lines .tag.gold")).to_have_count(1)
    predicted = page.locator(".lines [data-node='20']")
    expect(predicted).not_to_be_in_viewport()
    page.locator("#panel-tree").evaluate("(one) => one.scrollTo(0, 0)")
    page.locator(".legend [data-mark=gold]").click()
    expect(page.locator(".lines .mark-gold, .lines .tag.gold")).to_have_count(0)
    expect(predicted).to_have_class(re.compile("mark-predicted"))
    expect(predicted).to_be_in_viewport()  # it does not jump
    page.keyboard.press("H")
    expect(page.locator(".lines .tag:not(.predicted)")).to_have_count(0)
    page.keyboard.press("h")
    expect(page.locator(".lines .mark-gold")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(line).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(line).to_be_in_viewport()


def test_a_prediction_outside_of_the_window_is_pointed_to(opened, page, world):
    record(world, 4)
    step = world.trajectory.steps.get(seq=4)
    step.step.targets.update(node_id="23")  # at the top
    opened(4)
    pointer = page.locator("[data-frame=page] .pointers button")
    expect(pointer).to_have_text("predicted ↓")
    expect(pointer).to_have_attribute("title", "The predicted element is below what you see: show it")
    pointer.focus()
    page.keyboard.press("Enter")
    expect(pointer).to_have_text("gold ↑")
    expect(shown(page, "page").content_frame.locator("[data-node-id='20']")).to_be_in_viewport()
    pointer.click()
    expect(pointer).to_have_text("predicted ↓")
    page.locator(".legend [data-mark=predicted]").click()  # what is not marked is not pointed to
    expect(pointer).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(pointer).to_have_count(0)


def live(world: ReplayWorld) -> Trajectory:
    """An episode of two steps, each with a screenshot of half the window's size."""
    conversation = factories.make_conversation(dataset=world.trajectory.run.dataset, turns=1, steps=0)
    run = factories.make_run(conversation.dataset, state="done")
    trajectory = factories.make_trajectory(run, conversation, stored=0, state="done")
    for seq, title in enumerate(("First", "Second")):
        step = trajectory.steps.create(
            run=run,
            turn=conversation.turns.get(),
            seq=seq,
            call_index=seq,
            operation="CLICK",
            node_id="20",
            candidate_ids=["20", "21"],
            snapshot=factories.make_snapshot(PAGE.format(title=title, links="")),
            trace={"act": {"representation": "button DVD → CLICK"}},
            reward=0.0,
        )
        boxes = {"20": [64, 40, 128, 80], "21": [320, 200, 64, 40]}
        factories.make_step_picture(step, drawing() + bytes([seq]), width=640, height=400, boxes=boxes)
    return trajectory


BOXES = """(all) => all.map((one) => {
  const box = one.getBoundingClientRect(), around = one.closest(".picture").getBoundingClientRect();
  const share = (part, whole) => Math.round((100 * part) / whole);
  return [one.dataset.kind, share(box.left - around.left, around.width), share(box.top - around.top, around.height),
    share(box.width, around.width), share(box.height, around.height)];
})"""


def test_a_live_steps_screenshot_is_in_the_strip_and_in_its_tab_with_marks_that_follow_the_toggles(opened, page, world):
    trajectory = live(world)
    opened(0, "?tab=screenshot", trajectory)
    expect(page.locator("#film .thumb img")).to_have_count(2)
    page.wait_for_function("() => document.querySelector('#film .thumb img').naturalWidth === 320")
    marks = page.locator(".picture-marks > div")
    expect(marks).to_have_count(2)
    assert sorted(marks.evaluate_all(BOXES)) == [["candidate", 50, 50, 10, 10], ["predicted", 10, 10, 20, 20]]
    page.locator(".legend [data-mark=candidate]").click()
    expect(marks).to_have_count(1)
    page.keyboard.press("h")
    expect(marks).to_have_count(2)
    page.locator("#side .tag.predicted").hover()
    expect(page.locator(".picture-marks .pointed")).to_have_attribute("data-node", "20")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("step 2 of 2")
    expect(page.locator("#panel-screenshot img")).to_have_attribute(
        "src", re.compile(r"/trajectories/\d+/screenshots/")
    )


@pytest.mark.slow
def test_the_screenshot_of_a_recorded_step_is_marked_where_its_page_tells_the_boxes(opened, page, world):
    html = PAGE.format(title="Boxes", links="").replace('<html backend_node_id="1"', '<html backend_node_id="1" {}')
    html = html.replace("{}", 'bounding_box_rect="0,0,640,400"')
    html = html.replace('<button backend_node_id="20"', '<button backend_node_id="20" bounding_box_rect="64,40,128,80"')
    for seq, stored in ((4, factories.make_snapshot(html)), (3, world.steps[3].snapshot)):
        shot = factories.make_screenshot(drawing())
        Step.objects.filter(pk=world.steps[seq].pk).update(snapshot=stored, screenshot=shot)
    opened(4, "?tab=screenshot")
    marks = page.locator(".picture-marks > div")
    expect(marks).to_have_count(1)
    assert marks.evaluate_all(BOXES) == [["predicted", 10, 10, 20, 20]]
    page.keyboard.press("ArrowLeft")  # of this page nobody knows where anything was
    expect(page.locator("#place")).to_have_text("step 4 of 8")
    expect(marks).to_have_count(0)
    expect(page.locator("#panel-screenshot img")).to_be_visible()


@pytest.mark.slow
def test_the_page_after_a_live_step_is_the_next_one_that_the_agent_was_shown(opened, page, world):
    trajectory = live(world)
    opened(0, "?tab=change", trajectory)
    expect(shown(page, "before").content_frame.locator("h1")).to_have_text("First")
    expect(shown(page, "after").content_frame.locator("h1")).to_have_text("Second")
    expect(page.locator("#panel-change")).to_contain_text("After the agent did: CLICK DVD")
    wait_for_chips(page, "after", {"changed"})
    page.keyboard.press("ArrowRight")
    note = page.locator("[data-note=after]")
    expect(note).to_contain_text("the same call did more, or the episode ended without doing anything here")
    expect(note).to_contain_text("What came of the action: reward 0.")
