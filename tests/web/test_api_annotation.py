"""Annotation by programs: a session goes from a claim to an accepted verdict over REST, as on the pages."""

from uuid import uuid4

import pytest
from django.test import Client

from annotations.desk import moving_on
from annotations.models import Assignment, Part, Proposal, Verdict
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.test_schema import _as_json_schema, check_answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    campaign = factories.make_campaign(proposer="rules", mode="open")
    made = factories.make_session(campaign, tasks=1, steps=4)
    moving_on.open_work(made)
    return made


def post(client: Client, path: str, body: dict, **headers: str):
    return client.post(f"/api/{path}", body, content_type="application/json", headers=headers)


def edit(kind: str, step: int, **fields) -> dict:
    return {"op_id": str(uuid4()), "kind": kind, "step": step, **fields}


@pytest.mark.slow
def test_a_session_goes_from_claim_to_acceptance(session) -> None:
    schema = _as_json_schema(api_schema())
    project, campaign = session.campaign.project, session.campaign
    writer, verifier = factories.make_user("annotator", project), factories.make_user("reviewer", project)
    client = client_of(writer)
    steps = [step.pk for step in session.bare_steps()]
    claimed = post(client, "assignments/claim/", {"campaign": campaign.pk, "stage": "decompose"})
    check_answer(schema, "assignments/claim/", claimed, 201, "post")
    lease = claimed.json()
    pk, token = lease["assignment"], lease["token"]
    (part,) = client.get(f"/api/assignments/{pk}/").json()["parts"]
    edits = [
        edit("text", steps[0], field="instruction", before=part["instruction"], after="Find a red cap."),
        edit("cut", steps[2], after={"instruction": "Book the cheaper one.", "rewrite": ""}),
    ]
    body = {"token": token, "base": lease["version"], "edits": edits}
    saved = post(client, f"assignments/{pk}/edits/", body)
    check_answer(schema, "assignments/{}/edits/", saved, 200, "post")
    assert [result["status"] for result in saved.json()["results"]] == ["applied", "applied"]
    assert [part["step"] for part in saved.json()["parts"]] == [steps[0], steps[2]]
    again = post(client, f"assignments/{pk}/edits/", body)  # the answer was lost: nothing is made twice
    assert (again.status_code, again.json()["version"]) == (200, saved.json()["version"])
    stale = post(client, f"assignments/{pk}/submit/", {"token": token, "base": 0})
    check_answer(schema, "assignments/{}/submit/", stale, 409, "post")
    body = {"token": token, "base": saved.json()["version"]}
    unsure = post(client, f"assignments/{pk}/submit/", body)
    check_answer(schema, "assignments/{}/submit/", unsure, 422, "post")
    assert "No part with its steps asks for" in unsure.json()["detail"]
    handed = post(client, f"assignments/{pk}/submit/", body | {"sure": True})
    check_answer(schema, "assignments/{}/submit/", handed, 200, "post")
    assert handed.json()["state"] == "submitted"

    lease = post(client, "assignments/claim/", {"campaign": campaign.pk, "stage": "rewrite"}).json()
    pk = lease["assignment"]
    said = {part["first_step"]: part["rewrite"] for part in client.get(f"/api/assignments/{pk}/").json()["parts"]}
    body = {"token": lease["token"], "base": lease["version"]}
    empty = edit("text", steps[0], field="rewrite", before=said[steps[0]], after="")
    saved = post(client, f"assignments/{pk}/edits/", body | {"edits": [empty]})
    body = {"token": lease["token"], "base": saved.json()["version"]}
    unready = post(client, f"assignments/{pk}/submit/", body)
    check_answer(schema, "assignments/{}/submit/", unready, 422, "post")
    said[steps[0]] = ""
    edits = [edit("text", step, field="rewrite", before=said[step], after=text) for step, text in rewritten(steps)]
    saved = post(client, f"assignments/{pk}/edits/", body | {"edits": edits})
    handed = post(client, f"assignments/{pk}/submit/", {"token": lease["token"], "base": saved.json()["version"]})
    assert handed.status_code == 200, handed.content

    judge = client_of(verifier)
    assert post(client, "assignments/claim/", {"campaign": campaign.pk, "stage": "verify"}).status_code == 403
    lease = post(judge, "assignments/claim/", {"campaign": campaign.pk, "stage": "verify"}).json()
    subject = Assignment.objects.get(pk=pk)
    checklist = {row["code"]: True for row in campaign.rubric}
    body = {"token": lease["token"], "version": subject.version, "outcome": "accept", "checklist": checklist}
    verdict = post(judge, f"assignments/{lease['assignment']}/judge/", body | {"version": 0})
    assert verdict.status_code == 409
    unsure = post(judge, f"assignments/{lease['assignment']}/judge/", body)
    check_answer(schema, "assignments/{}/judge/", unsure, 422, "post")
    assert "No part with its steps asks for" in unsure.json()["detail"]
    assert "`sure`" in unsure.json()["detail"]
    body["sure"] = True
    verdict = post(judge, f"assignments/{lease['assignment']}/judge/", body)
    check_answer(schema, "assignments/{}/judge/", verdict, 200, "post")
    assert Verdict.objects.get().outcome == "accept"
    nothing = post(judge, "assignments/claim/", {"campaign": campaign.pk, "stage": "verify"})
    check_answer(schema, "assignments/claim/", nothing, 409, "post")


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("Find a red cap.", "No part with its steps asks for"),
        ("{whole} {whole}", "More than once the parts ask for"),
        ("{whole} Please, , go on.", "is garbled"),
        ("{whole} Also, delete my account.", "asks for “Also, delete my account.”"),
    ],
)
def test_what_the_page_asks_about_is_refused_until_a_program_is_sure(session, said: str, problem: str) -> None:
    whole = "Find a warm winter coat in size nine."
    session.tasks.get().conversation.turns.update(instruction=whole)
    mine = factories.make_assignment(session.items.get())
    mine.parts.update(instruction=said.format(whole=whole))
    client = client_of(mine.user)
    lease = post(client, f"assignments/{mine.pk}/take/", {}).json()
    body = {"token": lease["token"], "base": lease["version"]}
    refused = post(client, f"assignments/{mine.pk}/submit/", body)
    assert refused.status_code == 422, refused.content
    assert problem in refused.json()["detail"]
    assert "`sure`" in refused.json()["detail"]
    assert post(client, f"assignments/{mine.pk}/submit/", body | {"sure": True}).json()["state"] == "submitted"


def test_a_text_that_shows_nothing_is_none_even_where_a_program_is_sure(session) -> None:
    mine = factories.make_assignment(session.items.get())
    mine.parts.update(instruction="\u200b\u00a0\u200b\u3164")
    client = client_of(mine.user)
    lease = post(client, f"assignments/{mine.pk}/take/", {}).json()
    body = {"token": lease["token"], "base": lease["version"], "sure": True}
    refused = post(client, f"assignments/{mine.pk}/submit/", body)
    assert refused.status_code == 422
    assert "has no instruction" in refused.json()["detail"]


def rewritten(steps: list[int]) -> list[tuple[int, str]]:
    return [(steps[0], "Find a red cap."), (steps[2], "Book it.")]


@pytest.mark.slow
def test_nobody_writes_in_the_work_of_others_and_strangers_find_nothing(session) -> None:
    project = session.campaign.project
    mine = factories.make_assignment(session.items.get())
    lease = post(client_of(mine.user), f"assignments/{mine.pk}/take/", {}).json()
    step = next(session.bare_steps()).pk
    said = edit("text", step, field="instruction", before="", after="x")
    body = {"token": lease["token"], "base": 0, "edits": [said]}
    for role, status in (("annotator", 404), ("admin", 403), ("reader", 404), ("", 404)):  # a blind campaign
        user = factories.make_user(role, project) if role else factories.make_user("admin")
        assert post(client_of(user), f"assignments/{mine.pk}/edits/", body).status_code == status, role
        answer = post(client_of(user), f"assignments/{mine.pk}/take/", {})
        assert answer.status_code in (403, 404, 409), role
    assert not Part.objects.exclude(instruction="").exists()
    wrong = body | {"token": str(uuid4())}
    assert post(client_of(mine.user), f"assignments/{mine.pk}/edits/", wrong).status_code == 409
    bad = body | {"edits": [{"kind": "text"}]}
    assert post(client_of(mine.user), f"assignments/{mine.pk}/edits/", bad).status_code == 400
    back = post(client_of(mine.user), f"assignments/{mine.pk}/give-back/", {"token": lease["token"]})
    assert back.status_code == 200


@pytest.mark.slow
def test_proposals_of_other_models_wait_for_the_writer_with_their_score(session) -> None:
    project = session.campaign.project
    mine = factories.make_assignment(session.items.get())
    steps = [step.pk for step in session.bare_steps()]
    manager = client_of(factories.make_user("admin", project))
    asked = "Please do part 1 of the task."  # the source, of which a proposal must leave out less than half
    parts = [{"step": steps[0], "instruction": asked}, {"step": steps[2], "why": ["another page"]}]
    body = {"assignment": mine.pk, "kind": "cuts", "model_name": "cutter 2", "score": 0.8, "parts": parts}
    body["provenance"] = {"prompt": "v3"}
    made = post(manager, "proposals/", body, **{"Idempotency-Key": "one"})
    assert made.status_code == 201, made.content
    assert post(manager, "proposals/", body, **{"Idempotency-Key": "one"}).json()["id"] == made.json()["id"]
    row = client_of(mine.user).get(f"/api/proposals/?assignment={mine.pk}").json()["results"][0]
    assert (row["score"], row["provenance"], row["outcome"]) == (0.8, {"prompt": "v3"}, "")
    shown = client_of(mine.user).get(f"/annotate/assignments/{mine.pk}/document/")
    assert [found["model"] for found in shown.json()["proposals"]] == ["cutter 2"]
    for wrong in (
        [{"step": steps[1]}],  # does not begin at the first step
        [{"step": steps[0]}, {"step": steps[0]}],
        [{"step": steps[0], "instruction": "x" * 10_001}],
        [{"step": "first"}],
        [{"step": steps[0], "why": "since"}],
    ):
        assert post(manager, "proposals/", body | {"parts": wrong}).status_code == 400, wrong
    for never in ({"a": "\0"}, {"\0": 1}, {"a": "x" * 20_000}):
        answer = post(manager, "proposals/", body | {"provenance": never})
        assert (answer.status_code, "provenance" in answer.content.decode()) == (400, True)
    halved = [{"step": steps[0], "instruction": "\ud800"}]
    for half in ({"parts": halved}, {"provenance": {"a": [{"b": "\ud800"}]}}):
        answer = post(manager, "proposals/", body | half)
        assert (answer.status_code, "half of a character" in answer.content.decode()) == (400, True)
    assert post(manager, "proposals/", body | {"kind": "rewrite"}).status_code == 422  # it is cut now
    assert post(manager, "proposals/", body | {"score": 2}).status_code == 400
    other = client_of(factories.make_user("annotator", project))
    assert post(other, "proposals/", body).status_code in (400, 403)
    assert post(client_of(factories.make_user("admin")), "proposals/", body).status_code == 400
    assert Proposal.objects.count() == 1
    Assignment.objects.filter(pk=mine.pk).update(state="submitted")
    assert post(manager, "proposals/", body).status_code == 409


@pytest.mark.slow
def test_a_second_verifier_reads_the_first_ones_verdict_only_after_judging() -> None:
    """As on the verify page: over REST too, nobody judges with another's verdict before their eyes."""
    subject = make_rewrite()
    first, second = make_verification(subject, overlap=2), make_verification(subject)
    project = subject.item.session.campaign.project
    readers = [first.user, second.user, subject.user, factories.make_user("admin", project)]

    def told(user) -> list[str]:
        return [row["reason"] for row in client_of(user).get("/api/verdicts/").json()["results"]]

    given = verdicts.give(first, "return", {}, "My secret reason.", [])
    assert [told(user) for user in readers] == [["My secret reason."], [], [], []]
    assert client_of(second.user).get(f"/api/verdicts/{given.pk}/").status_code == 404
    verdicts.give(second, "return", {}, "Mine.", [])
    assert [told(user) for user in readers] == [["My secret reason.", "Mine."]] * 4
    subject.refresh_from_db()
    Assignment.objects.filter(pk=subject.pk).update(state="submitted")
    subject.item.session.items.filter(subject=subject).update(state="open")
    verdicts.give(first, "return", {}, "Still wrong.", [])
    assert told(second.user) == ["My secret reason.", "Mine."]
