"""Watching a trajectory while it runs, in a real browser: steps appear one after the other without a reload.

The rows are the truth: nudges are dropped, repeated and put out of order here, and the page ends with the same steps.
"""

import json
import random
from collections.abc import Iterable

import pytest
from playwright.sync_api import expect

from agents.models import Run, Trajectory
from agents.runs.events import publish, trajectory_group
from annotations.models import Membership, Role
from tests import factories
from tests.web.replay_world import ReplayWorld, make_replay

pytestmark = pytest.mark.browser
# Counts loads and lets a test cut the line: sockets fail while `window.cut` is set.
INSTRUMENTS = """
if (window === top) {
  sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;
  window.sockets = [];
  window.WebSocket = class extends WebSocket {
    constructor(url) { super(window.cut ? "/nowhere/" : url); window.sockets.push(this); }
  };
}
"""


@pytest.fixture
def watch(app_server, page, sign_in):
    """`watch(world)` opens a trajectory as a member; gives the member."""

    def open_page(world: ReplayWorld, path: str = ""):
        user = factories.make_user(Role.READER, world.trajectory.run.dataset.project)
        sign_in(user)
        page.add_init_script(INSTRUMENTS)
        page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/{path}"))
        expect(page.locator("#live")).to_contain_text("live")
        return user

    return open_page


@pytest.fixture
def tell(in_thread):
    """`tell(world, [3, 1])` sends nudges with these numbers."""

    def send(world: ReplayWorld, numbers: Iterable[int]) -> None:
        group = trajectory_group(world.trajectory.pk)
        in_thread(lambda: [publish(group, number, "running") for number in numbers])

    return send


def finish(world: ReplayWorld) -> None:
    Trajectory.objects.filter(pk=world.trajectory.pk).update(state="done")
    Run.objects.filter(pk=world.trajectory.run_id).update(state="done")


def decided(page) -> int:
    return page.locator("#conversation .step:not(.todo)").count()


def signs(page) -> list[str]:
    return page.locator("#conversation .sign").evaluate_all("signs => signs.map((sign) => sign.classList[1])")


def expect_decided(page, number: int) -> None:
    expect(page.locator("#conversation .step:not(.todo)")).to_have_count(number, timeout=15_000)


@pytest.mark.slow
def test_steps_appear_one_after_the_other_without_a_reload(watch, page, tell):
    world = make_replay(0)
    watch(world)
    assert signs(page) == ["running", *["pending"] * 7]
    for seq in range(8):
        world.store(seq)
        tell(world, [seq + 1])
        expect_decided(page, seq + 1)
    finish(world)
    tell(world, [8])
    expect(page.locator("#live")).to_have_text("finished")
    assert signs(page) == ["ok", "ok", "ok", "ok", "bad", "ok", "ok", "bad"]
    assert page.evaluate("sessionStorage.loads") == "1"


@pytest.mark.slow
def test_a_waiting_page_follows_and_shows_each_new_step_until_the_reader_steps_back(watch, page, tell):
    world = make_replay(0, state="waiting")
    watch(world)
    expect(page.locator("#live")).to_have_text("live · loading the agent")
    expect(page.locator("#side")).to_contain_text("Not decided yet")
    for seq in range(3):
        world.store(seq)
        tell(world, [seq + 1])
        expect(page.locator("#place")).to_have_text(f"step {seq + 1} of 8")
        expect(page.locator(".actions-shown").first).to_contain_text(world.steps[seq].operation)
    page.keyboard.press("ArrowLeft")
    world.store(3)
    tell(world, [4])
    expect_decided(page, 4)
    expect(page.locator("#place")).to_have_text("step 2 of 8")
    page.keyboard.press("f")
    expect(page.locator("#place")).to_have_text("step 4 of 8")


@pytest.mark.slow
def test_the_step_that_is_open_is_filled_in_when_it_is_decided(watch, page, tell):
    world = make_replay(2)
    watch(world, "steps/2/")
    expect(page.locator("#side")).to_contain_text("The agent is deciding this step")
    world.store(2)
    tell(world, [3])
    expect(page.locator(".verdict")).to_contain_text("right element")


@pytest.mark.slow
def test_lost_repeated_and_reordered_nudges_leave_the_same_steps(watch, page, tell):
    world = make_replay(0)
    watch(world, "steps/0/")
    chance = random.Random(7)
    numbers = [number for number in range(1, 9) if chance.random() > 0.3]
    numbers += chance.sample(numbers, 3)
    chance.shuffle(numbers)
    for seq in chance.sample(range(8), 8):  # rows too become visible out of order
        world.store(seq)
        tell(world, numbers[seq : seq + 1])
    finish(world)
    expect_decided(page, 8)
    expect(page.locator("#live")).to_have_text("finished", timeout=15_000)
    assert signs(page) == ["ok", "ok", "ok", "ok", "bad", "ok", "ok", "bad"]


@pytest.mark.slow
def test_without_any_nudge_the_page_polls(watch, page):
    world = make_replay(1)
    watch(world)
    world.store(1)
    expect_decided(page, 2)


@pytest.mark.slow
def test_a_gap_is_filled_although_later_steps_are_there_already(watch, page, tell):
    world = make_replay(0)
    world.store(3)
    watch(world, "steps/0/")
    expect_decided(page, 1)
    world.store(0)
    tell(world, [2])
    expect_decided(page, 2)
    assert signs(page)[:4] == ["ok", "running", "pending", "ok"]


def test_before_the_first_connection_nothing_is_said_to_be_lost(app_server, page, sign_in):
    world = make_replay(1)
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    hangs = "window.WebSocket = class extends EventTarget { close() {} }"
    page.add_init_script(f"if (window === top) {hangs}")
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/"))
    expect(page.locator("#live")).to_have_text("connecting…")


@pytest.mark.slow
def test_a_lost_connection_is_said_polled_around_and_mended(watch, page, tell):
    world = make_replay(1)
    watch(world)
    page.evaluate("window.cut = true; window.sockets.at(-1).close()")
    expect(page.locator("#live")).to_have_text("reconnecting…, polling")
    world.store(1)
    expect_decided(page, 2)
    world.store(2)
    page.evaluate("window.cut = false")
    expect(page.locator("#live")).to_contain_text("live ·", timeout=15_000)
    expect_decided(page, 3)  # what was stored while nobody listened


def test_losing_the_permission_ends_the_live_view(watch, page, tell, in_thread):
    world = make_replay(1)
    user = watch(world)
    in_thread(Membership.objects.filter(user=user).delete)  # it tells the sockets, which starts a loop
    world.store(1)
    tell(world, [2])
    expect(page.locator("#live")).to_have_text("no longer visible to you")
    assert decided(page) == 1


@pytest.mark.slow
def test_the_socket_carries_only_numbers_and_states(watch, page, tell):
    world = make_replay(1)
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    watch(world)
    page.wait_for_timeout(300)
    tell(world, [1, 1])
    page.wait_for_timeout(500)
    assert [json.loads(frame) for frame in frames] == [{"seq": 1, "state": "running"}] * 2


# Six times as fast, and what was shown: how many steps were decided, as often as that changed.
QUICK_AND_SEEN = """
if (window === top) {
  const [later, now] = [window.setTimeout, performance.now.bind(performance)];
  window.setTimeout = (what, ms) => later(what, ms / 6);
  performance.now = () => now() * 6;
  window.seen = [];
  new MutationObserver(() => {
    const decided = document.querySelectorAll("#conversation .step:not(.todo)").length;
    if (decided && decided !== window.seen.at(-1)) window.seen.push(decided);
  }).observe(document, { childList: true, subtree: true, attributes: true });
}
"""


@pytest.mark.slow
def test_who_watches_sees_every_step_from_the_first_on_however_fast_they_were_decided(app_server, page, sign_in):
    world = make_replay(8)
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    page.add_init_script(QUICK_AND_SEEN)
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/?watch=1"))
    expect(page.locator("#live")).to_have_text("finished", timeout=15_000)
    assert page.evaluate("window.seen") == [1, 2, 3, 4, 5, 6, 7, 8]
    expect(page.locator("#place")).to_have_text("step 8 of 8")
