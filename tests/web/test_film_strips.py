"""The strips of steps, below an item and below a replay: no text of a card lies over another or outside of its card.
And columns of counts end at one edge."""

import re
import statistics
import struct
import zlib

import pytest
from playwright.sync_api import Page, Route, expect

from agents.models import Trajectory, TrajectoryStep
from annotations.models import Screenshot, Step
from tests import factories
from tests.app_server import AppServer
from tests.contention import contention_of_all_cores
from tests.web import replay_world
from tests.web.annotating import begun, open_item
from tests.web.replay_world import make_replay

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Texts that overlap by more than a pixel, and texts outside of the card that clips them.
OVERLAP = """(cards) => cards.flatMap((card) => {
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT), shown = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement, box = parent.getBoundingClientRect();
    if (!node.textContent.trim() || !parent.checkVisibility() || parent.closest(".sr")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const seen = {node, text: node.textContent.trim(), left: rect.left, top: rect.top, right: rect.right,
        bottom: rect.bottom};
      for (let at = parent; at !== card.parentElement; at = at.parentElement) {
        if (getComputedStyle(at).overflow === "visible") continue;  // what is clipped is not seen
        const box = at.getBoundingClientRect();
        seen.left = Math.max(seen.left, box.left), seen.right = Math.min(seen.right, box.right);
        seen.top = Math.max(seen.top, box.top), seen.bottom = Math.min(seen.bottom, box.bottom);
      }
      if (seen.right > seen.left && seen.bottom > seen.top) shown.push(seen);
    }
  }
  const own = card.getBoundingClientRect();
  const reaches = (one) => one.node.parentElement.matches(".card-page");  // the page's title, over all of its cards
  const outside = shown.filter((one) => !reaches(one) && (one.right > own.right + 1 || one.bottom > own.bottom + 1));
  const over = shown.filter((one, place) => shown.some((other, next) => next > place && other.node !== one.node
    && Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3));
  return [...outside, ...over].map((one) => one.text);
})"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [640, 1280])
def test_no_text_of_a_steps_card_lies_over_another(app_server: AppServer, page: Page, sign_in, width: int) -> None:
    assignment = begun(tasks=1, steps=4)
    for place, step in enumerate(assignment.item.session.steps()):
        title = f"A page with a title that is far longer than its card {place // 2}"  # two steps on each page
        html = f"<html><title><text>{title}</text></title><p backend_node_id='{step.pk}'/></html>"
        representation = "[button]  Search for everything that there is on this website -> CLICK"
        snapshot = factories.make_snapshot(html)
        Step.objects.filter(pk=step.pk).update(snapshot=snapshot, action_repr=representation)
    sign_in(assignment.user)
    page.set_viewport_size({"width": width, "height": 900})
    open_item(app_server, page, assignment)
    cards = page.locator(".card")
    expect(cards).to_have_count(4)
    expect(page.locator(".card-page").first).to_contain_text("A page with a title")
    assert cards.evaluate_all(OVERLAP) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [640, 1280])
def test_no_text_of_a_replays_cell_lies_over_another(app_server: AppServer, page: Page, sign_in, width: int) -> None:
    trajectory = make_replay().trajectory
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/3/"))
    cells = page.locator("#film .cell")
    expect(cells).to_have_count(8)
    expect(page.locator("#film")).to_contain_text("CLICK DVD")
    assert cells.evaluate_all(OVERLAP) == []


@pytest.mark.slow
def test_times_of_many_long_steps_stay_in_their_cells(app_server: AppServer, page: Page, sign_in, monkeypatch) -> None:
    monkeypatch.setattr(replay_world, "TURNS", replay_world.TURNS * 3)
    trajectory = make_replay().trajectory
    decided_together(trajectory, 1)
    trajectory.steps.update(milliseconds=5500)
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/3/"))
    cells = page.locator("#film .cell")
    expect(cells).to_have_count(24)
    expect(page.locator("#film")).to_contain_text("5.5 s")
    for width in (1000, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert cells.evaluate_all(OVERLAP) == []
        assert cells.evaluate_all("(all) => all.filter((one) => one.scrollHeight > one.clientHeight).length") == 0
        # A wrong step has its cross where there is room for no more.
        shown = page.locator("#film .cell:not(.bad)").evaluate_all(TIMES)
        assert shown == (["5.5 s"] * 22 if width > 1000 else ["5.5 s"]), "the step that is shown, at least"
        assert page.locator("#film .cell[aria-current]").evaluate_all(TIMES) == ["5.5 s"]
        assert not any(one.is_visible() for one in page.locator("#film .did").all()), "no word of two letters"
    expect(cells.nth(3)).to_have_attribute("title", re.compile(r"Step 4: .+ · right · 5\.5 s"))


def decided_together(trajectory: Trajectory, steps: int) -> None:
    """Let the run of a trajectory decide so many steps at once."""
    trajectory.run.recipe["batch_size"] = steps
    trajectory.run.save()


@pytest.mark.slow
def test_the_mean_of_a_batch_is_not_told_as_the_time_of_a_step(app_server: AppServer, page: Page, sign_in) -> None:
    trajectory = make_replay().trajectory
    trajectory.steps.update(milliseconds=5142)
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    for together, said, shown in (
        (1, "5.142 s in all", ["5.1 s"] * 8),
        (8, "5.142 s a step on average, of up to 8 decided together", [""] * 8),
    ):
        decided_together(trajectory, together)
        page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/3/"))
        expect(page.locator("#side")).to_contain_text(said)
        assert page.locator("#film .cell .took").all_text_contents() == shown
        assert [("5.1 s" in text) for text in page.locator("#conversation a").all_text_contents()] == [
            together == 1
        ] * 8


# The times that can be read whole.
TIMES = """(cells) => cells.map((cell) => cell.querySelector(".took")).filter((one) => {
  const box = one.parentElement.getBoundingClientRect(), own = one.getBoundingClientRect();
  return one.checkVisibility() && own.bottom <= box.bottom + 1 && own.right <= box.right + 1;
}).map((one) => one.textContent)"""


THUMBS = """(cells) => cells.map((cell) => {
  const place = cell.querySelector(".thumb"), image = place && place.querySelector("img");
  return place && [Math.round(place.getBoundingClientRect().height), Boolean(image)];
})"""


# Within the strip, which the page above it moves as it comes in narrow windows.
PLACES = """(all) => {
  const strip = document.querySelector("#film").getBoundingClientRect();
  return all.map((one) => {
    const place = one.getBoundingClientRect();
    return [place.x - strip.x, place.y - strip.y, place.width, place.height];
  });
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [640, 1280])
def test_stored_screenshots_are_in_the_cells_in_places_that_are_kept(
    app_server: AppServer, page: Page, sign_in, width: int
) -> None:
    world = make_replay()
    shot = factories.make_screenshot(drawing())
    Step.objects.filter(pk__in=[step.pk for step in world.steps[:5]]).update(screenshot=shot)
    sign_in(factories.make_user("reader", world.trajectory.run.dataset.project))
    page.set_viewport_size({"width": width, "height": 900})
    held: list[Route] = []
    page.route("**/api/screenshots/**", lambda route: held.append(route))  # they are on their way
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/3/"))
    cells = page.locator("#film .cell")
    expect(page.locator("#film .thumb img")).to_have_count(5)
    assert cells.evaluate_all(THUMBS) == [[40, True]] * 5 + [[40, False]] * 3
    before = cells.evaluate_all(PLACES)
    for _ in range(50):
        if held:
            break
        page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    page.unroute("**/api/screenshots/**")
    page.wait_for_function("() => document.querySelector('#film .thumb img').naturalWidth > 0")
    assert cells.evaluate_all(PLACES) == before
    assert cells.evaluate_all(OVERLAP) == []
    assert cells.evaluate_all("(all) => all.filter((one) => one.scrollHeight > one.clientHeight).length") == 0


def test_without_screenshots_no_place_is_kept(app_server: AppServer, page: Page, sign_in) -> None:
    trajectory = make_replay().trajectory
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/3/"))
    expect(page.locator("#film .cell")).to_have_count(8)
    assert page.locator("#film").bounding_box()["height"] == 60
    expect(page.locator("#film :is(img, .thumb)")).to_have_count(0)


def drawing() -> bytes:
    """A screenshot of some size: 320 by 200 pixels, in stripes."""
    line = b"\x00" + b"\xf0\xf0\xf0" * 40 + b"\x3b\x5b\xdb" * 280
    header = struct.pack(">IIBBBBB", 320, 200, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(line * 200)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.slow
def test_a_strip_of_2000_steps_shows_the_screenshot_under_the_mouse_and_reads_no_other(
    app_server: AppServer, page: Page, sign_in
) -> None:
    trajectory = _long_replay(2_000, factories.make_screenshot(drawing()))
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/screenshots/" in request.url else None)
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/3/"))
    cells = page.locator("#film .cell")
    expect(cells).to_have_count(2_000)
    expect(page.locator("#film :is(img, .thumb)")).to_have_count(0)
    assert page.locator("#film").bounding_box()["height"] == 60
    assert asked == []
    cells.nth(20).hover()
    preview = page.locator(".film-preview")
    expect(preview.locator("img")).to_be_visible()
    box, strip = preview.bounding_box(), page.locator("#film").bounding_box()
    assert (box["width"], box["height"]) == (240, 150)
    assert box["y"] + box["height"] <= strip["y"]
    assert len(asked) == 1
    page.mouse.move(400, 20)
    expect(preview).to_have_count(0)


LONG_TASKS = """window.long = [];
new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration)))
  .observe({type: "longtask"});"""
# The milliseconds from a press of the key to the picture in which the step is shown everywhere.
STEPPED = """(said) => new Promise((done) => {
  const began = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
  const look = () => requestAnimationFrame(() => {
    const here = document.querySelector("#place").textContent === said &&
      !document.querySelector("#side[aria-busy]") && document.querySelector("#film [aria-current]");
    here ? done(performance.now() - began) : look();
  });
  look();
})"""


@pytest.mark.slow
@pytest.mark.timed
def test_a_replay_of_2000_steps_is_stepped_through_fluently(app_server: AppServer, page: Page, sign_in) -> None:
    trajectory = _long_replay(2_000, factories.make_screenshot(drawing()))
    sign_in(factories.make_user("reader", trajectory.run.dataset.project))
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/999/"))
    expect(page.locator("#conversation .step")).to_have_count(2_000)
    expect(page.locator("#side h2").first).to_have_text("Decision")
    page.wait_for_timeout(1_000)
    slower = contention_of_all_cores()
    page.evaluate(LONG_TASKS)
    took = [page.evaluate(STEPPED, f"step {seq + 1} of 2000") for seq in range(1_000, 1_020)]
    assert statistics.median(took) / slower < 100, (took, slower)
    assert max(page.evaluate("window.long"), default=0) / slower < 200, slower


def _long_replay(count: int, shot: Screenshot) -> Trajectory:
    """A trajectory of one long turn, of which each recorded step has the same page and screenshot."""
    conversation = factories.make_conversation(turns=1, steps=1)
    first = Step.objects.get(turn__conversation=conversation)
    Step.objects.filter(pk=first.pk).update(screenshot=shot)
    same = {"turn_id": first.turn_id, "snapshot_id": first.snapshot_id, "screenshot": shot, "operation": "CLICK"}
    Step.objects.bulk_create(Step(index=index, source_id=f"s{index}", **same) for index in range(1, count))
    run = factories.make_run(conversation.dataset, state="done")
    trajectory = factories.make_trajectory(run, conversation, stored=0, state="done")
    steps = Step.objects.filter(turn=first.turn_id).order_by("index")
    decided = {"run": run, "trajectory": trajectory, "operation": "CLICK", "node_id": "9", "success": True}
    TrajectoryStep.objects.bulk_create(TrajectoryStep(step=step, seq=step.index, **decided) for step in steps)
    return trajectory


EDGES = """(rows) => rows.map((row) => [...row.querySelectorAll("td.n")].map((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return Math.round(range.getBoundingClientRect().right);
}))"""


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/datasets/", "/studies/"])
def test_counts_below_each_other_end_at_one_edge(app_server: AppServer, page: Page, sign_in, path: str) -> None:
    project = factories.make_project()
    for conversations in (1, 12):
        dataset = factories.make_dataset(project=project)
        for _ in range(conversations):
            factories.make_conversation(dataset=dataset, turns=1, steps=conversations)
        factories.make_study(project, [factories.make_run(dataset, state="done", step_count=conversations**3)])
    sign_in(factories.make_user("admin", project))
    page.goto(app_server.url(path))
    rows = page.locator("main tbody tr:has(td.n)")
    edges = rows.evaluate_all(EDGES)
    assert len(edges) >= 2
    assert len({tuple(row) for row in edges}) == 1, edges
