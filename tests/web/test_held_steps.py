"""Held steps: one person decides, in the replay by a key, and everybody reads it."""

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from agents.guard.policy import PolicyRule
from agents.models import DecidedAlready, GuardRule, HeldStep, Trajectory
from annotations.models import Role
from annotations.pages.store import PageStore
from tests import factories
from tests.signed_in import client_of

PAGE = (
    '<html backend_node_id="1"><body backend_node_id="2"><form backend_node_id="4"><input backend_node_id="5"/>'
    '<button backend_node_id="3"><text backend_node_id="6">Pay 1,240 kr</text></button>'
    '<button backend_node_id="7"><text backend_node_id="8">Change berth</text></button></form></body></html>'
)


def make_episode() -> Trajectory:
    limits = {"environment": "miniwob", "steps": 20, "seconds": 300}
    conversation = factories.make_conversation(
        dataset=factories.make_dataset(live=limits), turns=1, steps=0, split="dev", extra={"task": "t", "seed": 0}
    )
    run = factories.make_run(conversation.dataset, state="running", step_count=1)
    return Trajectory.objects.create(run=run, conversation=conversation, state="running", step_count=0)


def hold(episode: Trajectory, seconds: float = 60) -> HeldStep:
    pages = PageStore().store(episode.conversation.website, [(PAGE, 7)])
    return factories.make_held_step(episode, seconds, url="https://nordline.example/confirm", snapshot=pages[PAGE])


@pytest.fixture
def episode(db: None) -> Trajectory:
    return make_episode()


def decide(row: HeldStep, user, **said):
    return client_of(user).post(reverse("held-step-decide", args=[row.pk]), said, content_type="application/json")


def test_of_several_people_one_decides_and_the_others_are_told_who(episode: Trajectory) -> None:
    row, project = hold(episode), episode.run.dataset.project
    first, second = (factories.make_user(Role.REVIEWER, project, username=name) for name in ("ada", "bo"))
    assert decide(row, first, state="approved", reason="The price is right.").json() == {
        "state": "approved",
        "outcome": "held, approved by ada: The price is right.",
    }
    answer = decide(row, second, state="refused")
    assert (answer.status_code, answer.json()["error"]) == (409, "held, approved by ada: The price is right.")
    row.refresh_from_db()
    assert (row.state, row.decided_by, row.reason) == ("approved", first, "The price is right.")


@pytest.mark.parametrize(
    "said",
    [
        {"state": "changed"},
        {"state": "approved", "instead": {"operation": "CLICK", "node_id": "7", "value": ""}},
        {"state": "changed", "instead": {"operation": "FLY", "node_id": "7", "value": ""}},
        {"state": "changed", "instead": {"operation": 1}},
        {"state": "changed", "instead": {"operation": "CLICK", "node_id": "99", "value": ""}},
        {"state": "expired"},
        {"state": "approved", "reason": "x" * 501},
        {"state": "approved", "more": 1},
        {"state": "refused", "reason": "\ud800"},
        {"state": "refused", "reason": "\0"},
        {"state": "changed", "instead": {"operation": "TYPE", "node_id": "5", "value": "\ud800"}},
        {"state": "changed", "instead": {"operation": "TYPE", "node_id": "5", "value": "\0"}},
        {"state": None},
    ],
)
def test_what_is_no_decision_is_refused(episode: Trajectory, said: dict) -> None:
    row = hold(episode)
    assert decide(row, factories.make_user(Role.REVIEWER, episode.run.dataset.project), **said).status_code == 400
    assert not row.look_again()


def test_nobody_decides_after_its_time(episode: Trajectory) -> None:
    row, reviewer = hold(episode, seconds=-1), factories.make_user(Role.REVIEWER, episode.run.dataset.project)
    with pytest.raises(DecidedAlready, match="time to decide is over"):
        row.decide(reviewer, "approved")
    late = decide(row, reviewer, state="approved")
    assert (late.status_code, late.json()["error"]) == (409, "the time to decide is over")
    assert row.look_again()
    assert (row.state, row.outcome) == ("expired", "held, nobody decided in time")


def test_a_reader_sees_what_waits_and_does_not_decide(episode: Trajectory) -> None:
    row, reader = hold(episode), factories.make_user(Role.READER, episode.run.dataset.project)
    assert "Pay" in client_of(reader).get(reverse("held-steps")).content.decode()
    assert decide(row, reader, state="approved").status_code == 403


def test_an_admin_writes_the_policy_of_a_project(db: None) -> None:
    project = factories.make_project()
    address = reverse("guard-rules", args=[project.slug])
    client = client_of(factories.make_user(Role.ADMIN, project))
    client.post(address, {"website": "nordline", "of": "price", "pattern": "any", "kind": "pay"})
    client.post(address, {"website": "", "of": "words", "pattern": "save  list", "kind": ""})
    client.post(address, {"website": "", "of": "words", "pattern": "", "kind": "pay"})
    client.post(address, {"website": "", "of": "smell", "pattern": "x", "kind": "pay"})
    assert GuardRule.objects.policy(project) == [
        PolicyRule("words", "save list", "", ""),
        PolicyRule("price", "", "pay", "nordline"),
    ]
    assert "save list" in client.get(address).content.decode()
    client.post(address, {"remove": GuardRule.objects.first().pk})
    assert GuardRule.objects.count() == 1
    assert client_of(factories.make_user(Role.REVIEWER, project)).post(address, {"remove": "1"}).status_code == 403


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("told_by", ["the page's clock", "the server"])
def test_a_held_step_whose_time_is_over_says_so_and_offers_nothing(app_server, page, sign_in, told_by: str) -> None:
    """Its worker is away, and has not ended the episode yet."""
    episode = make_episode()
    sign_in(factories.make_user(Role.REVIEWER, episode.run.dataset.project, username="ada"))
    row = hold(episode)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    bar = page.locator("#held")
    expect(bar.get_by_role("button", name="Approve")).to_be_visible()
    if told_by == "the server":
        HeldStep.objects.update(until=timezone.now())
        page.keyboard.press("y")
    else:
        page.keyboard.press("e")
        page.evaluate("const now = Date.now; Date.now = () => now() + 120_000")
    expect(bar).to_contain_text("Nobody decided in time: the episode ends")
    expect(bar.locator("button, input, form")).to_have_count(0)
    expect(bar).not_to_contain_text("left")
    expect(page.locator("#side")).to_contain_text("Nobody decided in time")
    page.keyboard.press("y")
    page.keyboard.press("e")
    expect(bar.locator("form")).to_have_count(0)
    row.refresh_from_db()
    assert row.state == "waiting"


@pytest.mark.slow
@pytest.mark.browser
def test_a_held_step_is_approved_changed_and_refused_by_keys(app_server, page, sign_in) -> None:
    episode = make_episode()
    sign_in(factories.make_user(Role.REVIEWER, episode.run.dataset.project, username="ada"))
    row = hold(episode)
    page.goto(app_server.url(f"/trajectories/{episode.pk}/"))
    bar = page.locator("#held")
    expect(bar).to_contain_text("Held: pays")
    expect(bar).to_contain_text("left")
    page.keyboard.press("y")
    expect(page.locator("#said")).to_have_text("held, approved by ada")
    expect(bar).to_be_hidden()
    row.refresh_from_db()
    assert row.state == "approved"

    row = hold(episode)
    page.reload()
    page.keyboard.press("e")
    bar.get_by_label("Element").fill("99999")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("There is no element 99999 on this page.")
    for name in ("Operation", "Element", "Value"):
        assert bar.get_by_label(name).bounding_box()["width"] > 60
    page.frame_locator("#page iframe").get_by_text("Change berth").click()
    expect(bar.get_by_label("Element")).to_have_value("7")
    bar.get_by_label("Element").press("Enter")
    expect(bar).to_be_hidden()
    row.refresh_from_db()
    assert row.state == "changed"
    assert row.action == {"operation": "CLICK", "node_id": "7", "value": ""}

    row = hold(episode)
    page.reload()
    bar.get_by_label("Reason").fill("Too dear.")
    bar.locator("[data-decide=refused]").click()
    expect(bar).to_be_hidden()
    row.refresh_from_db()
    assert (row.state, row.reason, row.decided_by.username) == ("refused", "Too dear.", "ada")
    assert row.decided_at <= timezone.now()
