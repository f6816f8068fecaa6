"""Held steps over REST: programs list them and decide in the name of a reviewer, by the rules of the page."""

from typing import Any

import pytest
from django.test import Client

from agents.models import HeldStep, Trajectory
from annotations.models import Conversation, Role
from tests import factories
from tests.signed_in import client_of
from tests.web.test_held_steps import PAGE, hold, make_episode

HELD = "/api/held-steps/"
CHANGED = {"operation": "CLICK", "node_id": "7", "value": ""}


@pytest.fixture
def episode(db: None) -> Trajectory:
    return make_episode()


@pytest.fixture
def reviewer(episode: Trajectory) -> Client:
    return client_of(factories.make_user(Role.REVIEWER, episode.run.dataset.project, username="ada"))


def decide(client: Client, row: HeldStep, said: dict[str, Any], key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"{HELD}{row.pk}/decide/", said, content_type="application/json", headers=headers)


def listed(client: Client, **by: Any) -> list[int]:
    return [row["id"] for row in client.get(HELD, by).json()["results"]]


def test_a_program_finds_what_waits_and_what_was_decided(episode: Trajectory, reviewer: Client) -> None:
    project = episode.run.dataset.project
    decided = hold(episode)
    decided.decide(factories.make_user(Role.REVIEWER, project, username="bo"), "refused", "Too dear.")
    waits, other = hold(episode), make_episode()
    factories.make_held_step(other)
    assert listed(reviewer) == [decided.pk, waits.pk], "and none of another project"
    assert listed(reviewer, state="waiting") == listed(reviewer, state="waiting", run=episode.run_id) == [waits.pk]
    assert listed(reviewer, trajectory=episode.pk, dataset=episode.run.dataset_id, kind="pay") == [decided.pk, waits.pk]
    assert listed(reviewer, run=other.run_id) == listed(reviewer, state="approved") == []
    row = reviewer.get(f"{HELD}{decided.pk}/").json()
    told = ("run", "trajectory", "operation", "node_id", "kind", "state", "decided_by", "reason", "changed_to")
    expected = (episode.run_id, episode.pk, "CLICK", "3", "pay", "refused", "bo", "Too dear.", None)
    assert tuple(row[name] for name in told) == expected
    assert row["outcome"] == "held, refused by bo: Too dear."
    assert reviewer.get(HELD, {"runs": episode.run_id}).status_code == 400


def test_a_list_asks_as_often_for_many_rows_as_for_one(
    episode: Trajectory, reviewer: Client, django_assert_max_num_queries: Any
) -> None:
    for name in "abc":
        hold(episode).decide(factories.make_user(username=name), "approved")
    with django_assert_max_num_queries(7):
        assert len(listed(reviewer)) == 3


def test_a_reviewer_changes_what_is_done(
    episode: Trajectory, reviewer: Client, django_capture_on_commit_callbacks: Any
) -> None:
    row = hold(episode)
    with django_capture_on_commit_callbacks() as told:
        answer = decide(reviewer, row, {"state": "changed", "reason": "The other one.", "instead": CHANGED})
    assert answer.status_code == 200, answer.content
    said = answer.json()
    assert (said["state"], said["decided_by"], said["changed_to"]) == ("changed", "ada", CHANGED)
    assert said["outcome"] == "held, changed by ada: The other one."
    row.refresh_from_db()
    assert (row.state, row.action) == ("changed", CHANGED)
    assert len(told) == 1, "viewers are woken when it is stored, and not before"


def test_of_several_programs_one_decides(episode: Trajectory, reviewer: Client) -> None:
    row = hold(episode)
    second = client_of(factories.make_user(Role.REVIEWER, episode.run.dataset.project, username="bo"))
    assert decide(reviewer, row, {"state": "approved"}).status_code == 200
    answer = decide(second, row, {"state": "refused"})
    assert (answer.status_code, answer.json()) == (409, {"detail": "held, approved by ada"})
    late = decide(reviewer, hold(episode, seconds=-1), {"state": "approved"})
    assert (late.status_code, late.json()) == (409, {"detail": "the time to decide is over"})


def test_a_decision_that_is_sent_again_is_answered_as_before(episode: Trajectory, reviewer: Client) -> None:
    row = hold(episode)
    first = decide(reviewer, row, {"state": "approved"}, key="one")
    again = decide(reviewer, row, {"state": "approved"}, key="one")
    assert (again.status_code, again.json()) == (200, first.json())
    assert again["Idempotency-Replayed"] == "true"
    assert decide(reviewer, row, {"state": "refused"}, key="one").status_code == 422
    assert decide(reviewer, row, {"state": "approved"}, key="two").status_code == 409


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "state"),
        ({"state": "expired"}, "state"),
        ({"state": "taken"}, "state"),
        ({"state": "approved", "more": 1}, "more"),
        ({"state": "approved", "reason": "x" * 501}, "reason"),
        ({"state": "approved", "reason": ["Why not?"]}, "reason"),
        ({"state": "changed"}, "detail"),
        ({"state": "approved", "instead": CHANGED}, "detail"),
        ({"state": "changed", "instead": CHANGED | {"operation": "FLY"}}, "instead"),
        ({"state": "changed", "instead": CHANGED | {"node_id": "9" * 65}}, "instead"),
        ({"state": "changed", "instead": CHANGED | {"point": [1, 2]}}, "instead"),
        ({"state": "changed", "instead": "click"}, "instead"),
        ({"state": "changed", "instead": CHANGED | {"node_id": "99"}}, "detail"),
    ],
)
def test_what_is_no_decision_is_refused_by_its_field(
    episode: Trajectory, reviewer: Client, said: dict[str, Any], field: str
) -> None:
    row = hold(episode)
    answer = decide(reviewer, row, said)
    assert (answer.status_code, [*answer.json()]) == (400, [field])
    assert not row.look_again()


def test_an_element_that_is_not_on_the_page_is_named(episode: Trajectory, reviewer: Client) -> None:
    answer = decide(reviewer, hold(episode), {"state": "changed", "instead": CHANGED | {"node_id": "99"}})
    assert answer.json() == {"detail": "There is no element 99 on this page."}


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.READER])
def test_who_may_not_review_reads_and_does_not_decide(episode: Trajectory, role: Role) -> None:
    row, client = hold(episode), client_of(factories.make_user(role, episode.run.dataset.project))
    assert listed(client) == [row.pk]
    assert decide(client, row, {"state": "approved"}).status_code == 403
    assert not row.look_again()


def test_held_steps_of_another_project_do_not_exist(episode: Trajectory) -> None:
    row, client = hold(episode), client_of(factories.make_user(Role.REVIEWER))
    assert listed(client) == []
    assert client.get(f"{HELD}{row.pk}/").status_code == 404
    assert decide(client, row, {"state": "approved"}).status_code == 404
    assert not row.look_again()
    for key in ("abc", "-1", "9" * 30):
        assert client.post(f"{HELD}{key}/decide/", {}).status_code == 404, key


def test_nobody_decides_over_gold_that_is_hidden_from_them(episode: Trajectory, reviewer: Client) -> None:
    row = hold(episode)
    Conversation.objects.filter(pk=episode.conversation_id).update(split="test_task")
    assert listed(reviewer) == []
    assert reviewer.get(f"{HELD}{row.pk}/").status_code == 404
    assert decide(reviewer, row, {"state": "approved"}).status_code == 403
    assert not row.look_again()


def test_its_page_is_read_as_text_by_who_reads_it(episode: Trajectory, reviewer: Client) -> None:
    row = hold(episode)
    answer = reviewer.get(f"{HELD}{row.pk}/html/", headers={"accept": "text/html,*/*"})
    assert answer["Content-Type"] == "application/json", "pages of others are never served as pages from here"
    assert answer.json() == {"sha256": row.snapshot.sha256, "html": PAGE}
    stranger = client_of(factories.make_user(Role.REVIEWER))
    assert stranger.get(f"{HELD}{row.pk}/html/").status_code == 404
    Conversation.objects.filter(pk=episode.conversation_id).update(split="test_task")
    assert reviewer.get(f"{HELD}{row.pk}/html/").status_code == 404, "an action over hidden gold"
    Conversation.objects.filter(pk=episode.conversation_id).update(split="dev")
    HeldStep.objects.update(snapshot=None)
    assert reviewer.get(f"{HELD}{row.pk}/html/").status_code == 404
