"""Comparing two runs by keyboard: the next difference, the next verdict, the page with what each chose."""

import pytest
from playwright.sync_api import expect

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
