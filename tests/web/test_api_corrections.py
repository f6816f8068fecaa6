"""Corrections over REST: the way from "this is wrong" to a changed step or turn, by the programs of three people."""

import pytest

from annotations.corpus.correct.correcting import GoldDesk
from annotations.models import Correction, Role, Split, Step, TurnCorrection
from tests import factories
from tests.annotations.test_release_making import small_dataset
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def step() -> Step:
    small_dataset()
    return Step.objects.filter(turn__conversation__source_id="first", turn__index=0).get(index=0)


@pytest.fixture
def programs(step: Step):
    project = step.turn.conversation.dataset.project
    return tuple(client_of(factories.make_user(role, project)) for role in (Role.ANNOTATOR, Role.REVIEWER))


def post(client, path: str, **told):
    return client.post(f"/api/{path}", told, content_type="application/json")


@pytest.mark.slow
def test_wrong_gold_is_asked_for_proposed_and_accepted_by_two(step: Step, programs) -> None:
    annotator, reviewer = programs
    other = next(one.node_id for one in GoldDesk(step).choices() if not one.is_gold)
    made = post(annotator, "corrections/", step=step.pk, reason="It is the other button.")
    assert (made.status_code, made.json()["state"]) == (201, "open")
    address = f"corrections/{made.json()['id']}/"
    assert "Nothing is proposed" in post(reviewer, f"{address}accept/").json()["detail"]
    refused = post(annotator, f"{address}propose/", operation="CLICK", node_id="nowhere")
    assert (refused.status_code, refused.json()) == (400, {"node_id": ["Choose an element of the page."]})
    empty = post(annotator, f"{address}propose/", operation="SELECT", value="", node_id=other)
    assert (empty.status_code, empty.json()) == (400, {"value": ["SELECT needs a value: what is chosen."]})
    proposed = post(annotator, f"{address}propose/", operation="SELECT", value="date", node_id=other)
    assert (proposed.status_code, proposed.json()["state"], proposed.json()["node_id"]) == (200, "proposed", other)
    assert post(annotator, f"{address}accept/").status_code == 403
    assert post(reviewer, f"{address}refuse/").json()["detail"] == "Say what is wrong with it."
    done = post(reviewer, f"{address}accept/", note="Yes.")
    assert (done.status_code, done.json()["state"], done.json()["note"]) == (200, "done", "Yes.")
    assert Step.objects.get(pk=step.pk).gold_ids() == [other]
    again = post(reviewer, f"{address}dismiss/", note="No.")
    assert (again.status_code, "decided already" in again.json()["detail"]) == (409, True)
    listed = annotator.get(f"/api/corrections/?state=done&step={step.pk}").json()["results"]
    assert [one["id"] for one in listed] == [made.json()["id"]]
    assert annotator.get("/api/corrections/?state=open").json()["results"] == []


@pytest.mark.slow
def test_a_turn_is_worded_and_cut_anew(step: Step, programs) -> None:
    annotator, reviewer = programs
    made = post(annotator, "turn-corrections/", step=step.pk, reason="Nobody says it so.").json()
    address = f"turn-corrections/{made['id']}/"
    for told in ({"instruction": " "}, {"instruction": "Go.", "first_step": "x"}, {"words": "Go."}):
        assert post(annotator, f"{address}propose/", **told).status_code == 400
    foreign = post(annotator, f"{address}propose/", instruction="Go.", first_step=2**62)
    assert (foreign.status_code, "A turn begins at a step of its own" in foreign.json()["detail"]) == (409, True)
    doubted = {"instruction": "Wire 400 pounds to Barclays."}
    refused = post(annotator, f"{address}propose/", **doubted)
    assert (refused.status_code, "400" in refused.json()["detail"]) == (422, True)
    assert post(annotator, f"{address}propose/", **doubted, sure=True).status_code == 200
    assert post(reviewer, f"{address}accept/").status_code == 422
    assert post(annotator, f"{address}propose/", instruction=" Find\nit. ").json()["instruction"] == "Find it."
    assert post(reviewer, f"{address}accept/").json()["state"] == "done"
    step.turn.refresh_from_db()
    assert step.turn.instruction == "Find it."


def test_asking_twice_is_asking_once(step: Step, programs) -> None:
    annotator, _ = programs
    reader = client_of(factories.make_user(Role.READER, step.turn.conversation.dataset.project))
    assert post(reader, "corrections/", step=step.pk, reason="Wrong.").status_code == 403
    told = {"step": step.pk, "reason": "Wrong element."}
    answers = [
        annotator.post("/api/corrections/", told, "application/json", headers={"Idempotency-Key": "a"}) for _ in "ab"
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    other = client_of(factories.make_user(Role.ANNOTATOR, step.turn.conversation.dataset.project))
    more = post(other, "corrections/", step=step.pk, reason="And value.").json()
    assert (more["id"], more["reason"]) == (answers[0].json()["id"], "Wrong element.\nAnd value.")
    assert Correction.objects.count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("noun", ["corrections", "turn-corrections"])
def test_who_may_not_see_gold_sees_no_correction_of_it_and_asks_for_none(noun: str) -> None:
    hidden = factories.make_conversation(split=Split.TEST_TASK)
    step = Step.objects.filter(turn__conversation=hidden).earliest("pk")
    asked_by = factories.make_superuser()
    pk = (
        Correction.objects.ask(step, asked_by, "It is 4.")
        if noun == "corrections"
        else TurnCorrection.objects.ask(step.turn, asked_by, "It is 4.")
    ).pk
    for role, status in ((Role.READER, 404), (Role.ANNOTATOR, 404), (Role.ADMIN, 200)):
        client = client_of(factories.make_user(role, hidden.dataset.project))
        assert client.get(f"/api/{noun}/{pk}/").status_code == status, role
        assert len(client.get(f"/api/{noun}/").json()["results"]) == (status == 200), role
        assert post(client, f"{noun}/{pk}/dismiss/", note="x").status_code == status, role
        allowed = 201 if status == 200 else 403
        assert post(client, f"{noun}/", step=step.pk, reason="y").status_code == allowed, role
    stranger = client_of(factories.make_user(Role.ADMIN))
    assert post(stranger, f"{noun}/", step=step.pk, reason="y").status_code == 400
    assert post(stranger, f"{noun}/{pk}/accept/").status_code == 404
