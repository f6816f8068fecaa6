"""Reviewing in the replay, by keys alone, in a real browser."""

import pytest
from playwright.sync_api import expect

from annotations.models import Role
from evaluation.models import Review
from tests import factories
from tests.web.replay_world import make_replay

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

    return open_step


def pressed(page):
    return page.locator("#review [aria-pressed=true]")


def said(trajectory) -> list[tuple]:
    rows = Review.objects.standing().filter(trajectory=trajectory).order_by("step__seq")
    return list(rows.values_list("step__seq", "verdict", "reason__text", "comment"))


@pytest.mark.slow
def test_a_verdict_a_reason_and_a_comment_by_keys(opened, page, world):
    opened(Role.REVIEWER, 4)
    expect(page.locator("#review")).to_be_visible()
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
def test_the_same_key_again_takes_it_back(opened, page, world):
    opened(Role.REVIEWER, 0)
    page.keyboard.press("x")
    expect(pressed(page)).to_have_text("Page broken x")
    page.keyboard.press("x")
    expect(pressed(page)).to_have_count(0)
    assert said(world.trajectory) == []


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
    expect(page.locator("#review")).to_be_visible()
    page.route("**/reviews/", lambda route: route.abort())
    page.keyboard.press("d")
    expect(page.locator("#said")).to_contain_text("Not kept")
    page.wait_for_timeout(3_000)
    expect(page.locator("#said"), "longer than good news").to_contain_text("Not kept")
    expect(pressed(page)).to_have_count(0)
    page.unroute("**/reviews/")
    page.keyboard.press("d")
    expect(pressed(page)).to_have_text("Gold wrong d")
