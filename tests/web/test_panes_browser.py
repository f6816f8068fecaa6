"""Panes of the replay and of the comparison: their widths are set by mouse and keys, and stay so in this browser."""

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from annotations.models import Role
from tests import factories
from tests.app_server import AppServer
from tests.web.replay_world import make_replay

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHIFTS = """new PerformanceObserver((list) => list.getEntries().forEach((one) => (window.shifted += one.value)))
  .observe({type: "layout-shift", buffered: true})"""
# A pane's width each time that the page is painted while it loads.
PAINTED = """window.shifted = 0; window.widths = [];
const look = () => {
  const pane = document.querySelector("#conversation");
  if (pane) window.widths.push(Math.round(pane.getBoundingClientRect().width));
  if (window.widths.length < 200) requestAnimationFrame(look);
};
requestAnimationFrame(look);"""


@pytest.fixture
def address(app_server: AppServer, sign_in) -> str:
    """The replay of a member of the project."""
    trajectory = make_replay().trajectory
    sign_in(factories.make_user(Role.READER, trajectory.run.dataset.project))
    return app_server.url(f"/trajectories/{trajectory.pk}/steps/3/")


def opened(page: Page, address: str, width: int = 1280) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    expect(page.locator("#side h2").first).to_have_text("Decision")


def separator(page: Page, pane: str) -> Locator:
    return page.locator(f"[role=separator][data-pane={pane}]")


def widths(page: Page) -> tuple[int, int]:
    """Of the conversation and of the decision."""
    first, last = (page.locator(name).evaluate("(one) => one.getBoundingClientRect().width") for name in PANES)
    return round(first), round(last)


PANES = ("#conversation", "#side")


def drag(page: Page, pane: str, by: int) -> None:
    box = separator(page, pane).bounding_box()
    page.mouse.move(box["x"] + 0.5, 400)
    page.mouse.down()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.move(box["x"] + by / 2, 400, steps=3)
    page.mouse.move(box["x"] + 0.5 + by, 400, steps=3)
    page.mouse.up()


def test_a_pane_that_was_dragged_is_as_wide_after_a_reload_and_nothing_moves_while_it_loads(address, page):
    opened(page, address)
    assert widths(page) == (280, 350)
    drag(page, "first", 60)
    drag(page, "last", -50)  # over the frame of the recorded page, which would take the mouse
    assert widths(page) == (340, 400)
    assert separator(page, "first").get_attribute("aria-valuenow") == "340"
    page.add_init_script(PAINTED)
    page.reload()
    expect(page.locator("#side h2").first).to_have_text("Decision")
    page.evaluate(SHIFTS)
    page.wait_for_timeout(300)
    assert widths(page) == (340, 400)
    assert set(page.evaluate("window.widths")) == {340}
    assert page.evaluate("window.shifted") < 0.02


@pytest.mark.slow
def test_keys_set_the_width_within_bounds_and_enter_puts_it_back(address, page):
    opened(page, address)
    line = separator(page, "last")
    line.focus()
    place = page.locator("#place").text_content()
    page.keyboard.press("ArrowLeft")
    assert widths(page) == (280, 366)
    page.keyboard.press("Shift+ArrowRight")
    assert widths(page) == (280, 302)
    page.keyboard.press("Home")
    assert widths(page) == (280, 260)
    page.keyboard.press("ArrowRight")
    assert widths(page) == (280, 260)
    page.keyboard.press("End")
    assert widths(page) == (280, 426)
    told = [line.get_attribute(f"aria-value{name}") for name in ("min", "now", "max")]
    assert told == ["260", "426", "426"]
    assert page.locator("#place").text_content() == place  # the arrows did not step
    page.keyboard.press("Enter")
    assert widths(page) == (280, 350)
    drag(page, "first", -300)
    assert widths(page) == (180, 350)
    separator(page, "first").dblclick()
    assert widths(page) == (280, 350)
    page.reload()
    expect(page.locator("#side h2").first).to_have_text("Decision")
    assert widths(page) == (280, 350)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        ("no JSON", (280, 350)),
        ("null", (280, 350)),
        ("[300, 400]", (280, 350)),
        (json.dumps({"first": "300px;color:red", "last": None, "other": 3}), (280, 350)),
        (json.dumps({"first": 1e9, "last": -5}), (427, 260)),
        (json.dumps({"first": 300}), (300, 350)),
    ],
)
def test_nonsense_that_is_remembered_is_as_if_it_were_nothing(address, page, kept: str, shown: tuple[int, int]):
    page.add_init_script(f"if (window === top) localStorage.setItem('panes-replay', {json.dumps(kept)})")
    opened(page, address)
    assert widths(page) == shown


@pytest.mark.slow
def test_what_is_remembered_fits_into_every_window_and_narrow_ones_stack_the_panes(address, page):
    opened(page, address, 2560)
    drag(page, "first", 500)
    assert widths(page) == (780, 350)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert widths(page) == (427, 350)
    expect(separator(page, "first")).to_have_attribute("aria-valuenow", "427")
    middle = page.locator("#page").evaluate("(one) => one.getBoundingClientRect().width")
    assert middle > 400
    page.set_viewport_size({"width": 640, "height": 900})
    expect(separator(page, "first")).to_be_hidden()
    assert widths(page) == (640, 640)
    tops = [page.locator(name).bounding_box()["y"] for name in ("#conversation", "#page", "#side")]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth") == 640
    page.set_viewport_size({"width": 2560, "height": 800})
    assert widths(page) == (780, 350)


@pytest.mark.slow
def test_panes_of_the_comparison_are_set_apart_from_those_of_the_replay(app_server, page, sign_in):
    world = make_replay()
    first = world.trajectory.run
    other = factories.make_run(first.dataset, split="train", state="done", seed=2)
    trajectory = factories.make_trajectory(other, world.trajectory.conversation, stored=0, state="done")
    factories.make_trajectory_step(trajectory, world.steps[0], 0)
    sign_in(factories.make_user(Role.READER, first.dataset.project))
    address = f"/compare/conversations/{world.trajectory.conversation_id}/?runs={first.pk},{other.pk}"
    for _ in range(2):
        page.goto(app_server.url(address))
        expect(page.locator("#columns")).to_contain_text(first.recipe_name)
        if page.evaluate("localStorage.length") == 0:
            drag(page, "first", 40)
        assert page.locator("#places").evaluate("(one) => one.getBoundingClientRect().width") == 320
    assert page.evaluate("Object.keys(localStorage)") == ["panes-compare"]
    opened(page, app_server.url(f"/trajectories/{world.trajectory.pk}/steps/3/"))
    assert widths(page) == (280, 350)
