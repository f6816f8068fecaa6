"""A reviewer's way through a study by keyboard alone: no mouse, and no element is clicked or filled by the test."""

import pytest
from playwright.sync_api import Page, expect

from annotations.models import Correction, Role
from evaluation.models import Review, ReviewMention, ReviewTask
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.scores.reviewed import store_all_scores
from tests import factories
from tests.web.replay_world import make_replay

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late
MOST_TABS = 60
FOCUSED = """() => {
    const found = document.activeElement;
    const box = found.getBoundingClientRect();
    const style = getComputedStyle(found);
    const shown = style.outlineStyle !== "none" || style.boxShadow !== "none";
    return [found.innerText || found.ariaLabel || "", shown && box.width > 0 && box.height > 0];
}"""


def tab_to(page: Page, words: str) -> None:
    """Press Tab until what has the focus says these words; wherever it is, the focus must be seen."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        text, is_seen = page.evaluate(FOCUSED)
        assert is_seen, f"nobody sees that the focus is on {text!r}"
        if words in text:
            return
    raise AssertionError(f"{words!r} is not reached by {MOST_TABS} presses of Tab")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at_step(page: Page, number: int) -> None:
    expect(page.locator("#place")).to_contain_text(f"step {number} of 8")
    expect(page.locator("#side h2").first).to_have_text("Decision")
    expect(page.locator("#review")).to_be_visible()


def open_study(page: Page) -> None:
    press(page, "g", "s")
    page.wait_for_url("**/studies/")
    tab_to(page, "By keys")
    press(page, "Enter")
    page.wait_for_url("**/studies/*/")


@pytest.mark.slow
def test_a_reviewer_needs_no_mouse(app_server, page, sign_in) -> None:
    world = make_replay()
    trajectory, run = world.trajectory, world.trajectory.run
    project = run.dataset.project
    other = factories.make_run(run.dataset, recipe_name="mindact", split="train", state="done", seed=2)
    second = factories.make_trajectory(other, trajectory.conversation, stored=0, state="done")
    for seq, step in enumerate(world.steps):
        right = seq not in (1, 5, 6)
        action = {"operation": step.operation, "value": step.value}
        action |= {"node_id": step.targets.get().node_id if right else "22"}
        factories.make_trajectory_step(second, step, seq, **action, success=right, element_correct=right)
    study = factories.make_study(project, [run, other], name="By keys")
    for one in (run, other):
        store_all_scores(one)
    admin = factories.make_user(Role.ADMIN, project, username="ada")
    make_queue(admin, study, QueueDemand("failures", 10, 1))
    sign_in(factories.make_user(Role.REVIEWER, project, username="rita"))

    # To a failed step of a study.
    page.goto(app_server.url("/"))
    open_study(page)
    expect(page.get_by_role("link", name="Where grounded fails")).to_be_visible()
    press(page, "f")
    expect(page.locator("select[name=run]")).to_be_visible()
    press(page, "Enter")

    # A verdict with its reason, a comment that names somebody.
    at_step(page, 5)
    press(page, "a")
    expect(page.locator("#review [aria-pressed=true]")).to_have_text("Agent wrong a")
    with page.expect_response("**/reviews/"):
        press(page, "r", "ArrowDown", "Escape")
    press(page, "v")
    page.keyboard.type("A sibling, @ada?")
    with page.expect_response("**/reviews/"):
        press(page, "Enter")
    said = Review.objects.get(step__seq=4, trajectory=trajectory)
    assert (said.verdict, said.comment, said.reason is not None) == ("agent_wrong", "A sibling, @ada?", True)
    assert ReviewMention.objects.get().user == admin

    # Gold wrong, which opens a correction: there, and back.
    press(page, "n")
    at_step(page, 8)
    press(page, "D")
    expect(page.locator("#said")).to_have_text("Nobody asks for a correction of this step")
    press(page, "d")
    expect(page.locator("#side .correction")).to_contain_text("Correction")
    press(page, "D")
    expect(page).to_have_url(app_server.url(f"/corrections/{Correction.objects.get().pk}/"))
    page.go_back()  # the key for it is of the browser, which has no window here
    at_step(page, 8)
    expect(page.locator("#side .correction")).to_have_count(1)

    # The team is asked about the failure before.
    press(page, "p")
    at_step(page, 5)
    press(page, "e")
    page.keyboard.type("Is the other one right, too?")
    press(page, "Control+Enter")
    expect(page.locator("#said")).to_have_text("The team is asked about step 5")
    assert ReviewTask.objects.exclude(question="").get().asked_by.get_username() == "rita"

    # The queue of the study gives what is left, and says when nothing is.
    open_study(page)
    expect(page.get_by_role("link", name="Reviews")).to_be_visible()
    press(page, "r")
    page.wait_for_url("**/reviews/queues/?study=*")
    tab_to(page, "By keys")  # what was just asked, which is for others
    tab_to(page, "By keys")
    press(page, "Enter")
    expect(page.get_by_role("link", name="Judge the next step")).to_be_visible()
    left = {2, 6, 7}
    with page.expect_navigation():
        press(page, "n")
    while left:
        expect(page.locator("#review")).to_be_visible()
        left.remove(int(page.locator("#place").inner_text().split()[1]))
        press(page, "b")
        expect(page.locator("#review [aria-pressed=true]")).to_have_text("Both acceptable b")
        with page.expect_navigation():
            press(page, "q")
    expect(page.get_by_text("judged by 1 person")).to_be_visible()

    # Both runs beside each other, from divergence to divergence.
    open_study(page)
    expect(page.get_by_role("link", name="Compare", exact=False).first).to_be_visible()
    press(page, "c")
    expect(page.locator("#which-gold")).to_be_visible()
    press(page, "Enter")
    here = page.locator(".compare-work [aria-current=step]")
    expect(here).to_contain_text("2 ·")
    press(page, "d")
    expect(here).to_contain_text("5 ·")
    press(page, "v")
    expect(here).to_contain_text("6 ·")
    press(page, "D")
    expect(here).to_contain_text("5 ·")
