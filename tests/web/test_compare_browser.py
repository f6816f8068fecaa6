"""Comparing two runs by keyboard: the next difference, the next verdict, the page with what each chose."""

import pytest
from playwright.sync_api import expect

from agents.models import Run
from annotations.models import Role
from tests import factories
from tests.web.replay_world import make_replay

pytestmark = pytest.mark.browser


@pytest.fixture
def compared():
    """Two runs over one conversation: B is wrong where A is right at step 2, and right where A is wrong at step 5."""
    world = make_replay()
    run = factories.make_run(world.trajectory.run.dataset, split="train", state="done", seed=2)
    other = factories.make_trajectory(run, world.trajectory.conversation, stored=0, state="done")
    for seq, step in enumerate(world.steps):
        factories.make_trajectory_step(
            other,
            step,
            seq,
            operation=step.operation,
            value=step.value,
            node_id="22" if seq in (1, 7) else step.targets.get().node_id,
            success=seq not in (1, 7),
            trace={"compose": {"prompt": "Task\nelements"}, "act": {"representation": "button 4K → CLICK"}},
        )
    return world, f"?runs={world.trajectory.run_id},{run.pk}"


@pytest.mark.slow
def test_runs_are_chosen_from_those_that_fit_and_found_by_name(app_server, page, sign_in, compared) -> None:
    world, query = compared
    run, other = (int(pk) for pk in query.partition("=")[2].split(","))
    dataset = world.trajectory.run.dataset
    foreign = factories.make_run(factories.make_dataset(dataset.project), recipe_name="self-map")
    last = factories.make_run(dataset, recipe_name="synapse", split="train", state="done", seed=9)
    sign_in(factories.make_user(Role.READER, dataset.project))
    page.goto(app_server.url("/compare/"))
    rows = page.locator(".compare-offered tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_role("link", name=f"Choose run {foreign.pk},").wait_for()
    page.get_by_role("link", name=f"Choose run {run},").click()
    expect(rows).to_have_count(2)  # of other datasets there is none any more
    expect(page.get_by_text("Choose a second run")).to_be_visible()
    page.get_by_role("link", name=f"Compare with run {other},").press("Enter")
    expect(page.get_by_role("link", name="redbox-014")).to_be_visible()
    page.get_by_text("Add a run on").click()
    page.get_by_role("searchbox", name="Recipe or dataset").fill("synap")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    page.get_by_role("link", name=f"Compare with run {last.pk},").click()
    page.get_by_role("link", name="make it the first").last.click()
    expect(page).to_have_url(app_server.url(f"/compare/?runs={last.pk},{run},{other}"))
    page.get_by_role("link", name="Leave out B").click()
    expect(page).to_have_url(app_server.url(f"/compare/?runs={last.pk},{other}"))


def test_the_head_of_a_small_window_holds_the_names_whole(app_server, page, sign_in, compared) -> None:
    world, query = compared
    Run.objects.update(recipe_name="grounded-world-model-with-a-long-name")
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(app_server.url(f"/compare/conversations/{world.trajectory.conversation_id}/{query}"))
    expect(page.locator("#places")).to_contain_text("3 differ, 2 in the verdict")
    crumbs = page.locator(".crumbs")
    expect(crumbs).to_contain_text("redbox-014")
    assert crumbs.evaluate("one => [one.scrollHeight - one.clientHeight, one.scrollWidth - one.clientWidth]") == [0, 0]


@pytest.mark.slow
def test_keys_go_from_difference_to_difference(app_server, page, sign_in, compared) -> None:
    world, query = compared
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    page.goto(app_server.url(f"/compare/{query}"))
    page.get_by_role("link", name="redbox-014").click()
    here = page.locator(".compare-work [aria-current=step]")
    expect(here).to_contain_text("2 ·")
    expect(page.locator(".compare-column")).to_have_count(2)
    frame = page.frame_locator(".compare-frame iframe").first
    expect(frame.get_by_text("DVD $1.75")).to_be_visible(timeout=15_000)
    page.keyboard.press("d")
    expect(here).to_contain_text("5 ·")
    page.keyboard.press("d")
    expect(here).to_contain_text("8 ·")
    page.keyboard.press("D")
    expect(here).to_contain_text("5 ·")
    page.keyboard.press("ArrowLeft")
    expect(here).to_contain_text("4 ·")
    page.keyboard.press("v")
    expect(here).to_contain_text("5 ·")
