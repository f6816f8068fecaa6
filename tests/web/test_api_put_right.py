"""What was returned, changed or answered over REST, under the rules of the pages."""

import pytest
from django.test import Client

from annotations.models import Assignment, Comment, Verdict
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.test_work_sending_back import Chain
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> Chain:
    made = Chain()
    found = [{"code": "unnatural", "step": made.steps[3].pk, "note": "Nobody does."}]
    verdicts.give(made.verification, "return", {}, "See below.", [*found, {"code": "extra", "step": None}])
    decomposition = made.fresh(made.decomposition)
    made.write(decomposition, made.cutter, 0, "instruction", "Find the shoes.")
    return made


def submit(client: Client, assignment: Assignment):
    url = f"/api/assignments/{assignment.pk}/"
    lease = client.post(f"{url}take/").json()
    return client.post(
        f"{url}submit/",
        {"token": lease["token"], "base": lease["version"], "sure": True},
        content_type="application/json",
    )


def comment(client: Client, key: str = "", **body):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/api/comments/", body, content_type="application/json", headers=headers)


def test_what_it_was_returned_for_is_read_and_answered(chain: Chain) -> None:
    cutter, writer = client_of(chain.cutter), client_of(chain.writer)
    assert submit(cutter, chain.decomposition).status_code == 200
    (told,) = writer.get(f"/api/assignments/{chain.rewrite.pk}/returns/").json()
    assert (told["by"], told["reason"]) == (chain.reviewer.username, "See below.")
    open_to_writer = {one["code"]: one for one in told["defects"] if one["is_open"]}
    assert open_to_writer.keys() == {"unnatural"}
    refused = submit(writer, chain.rewrite)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(
        "Turn 2 is as it was when it was returned for “unnatural” (Nobody does.)"
    )
    defect = open_to_writer["unnatural"]["id"]
    said = [
        comment(writer, "once", assignment=chain.rewrite.pk, text="She does.", defect=defect).json() for _ in range(2)
    ]
    assert said[0]["id"] == said[1]["id"]
    assert Comment.objects.count() == 1
    (told,) = writer.get(f"/api/assignments/{chain.rewrite.pk}/returns/").json()
    assert [one["answers"] for one in told["defects"] if one["id"] == defect] == [["She does."]]
    assert submit(writer, chain.rewrite).status_code == 200


def test_what_cannot_be_said_is_refused_in_words(chain: Chain) -> None:
    writer, defect = client_of(chain.writer), Verdict.objects.get().defects.get(code="extra").pk
    for status, body, told in (
        (400, {"defect": defect, "text": "It is."}, "not theirs to mend"),
        (400, {"defect": 10**6, "text": "It is."}, "does not exist"),
        (400, {"text": " "}, "blank"),
        (400, {"text": "x" * 5_001}, "5,000"),
        (400, {"text": "Here.", "step": 10**6}, "does not exist"),
        (400, {"text": "Here.", "is_about_turn": True}, "needs its step"),
    ):
        answer = comment(writer, assignment=chain.rewrite.pk, **body)
        assert (answer.status_code, told in answer.content.decode()) == (status, True), answer.content
    reader = factories.make_user("reader", chain.session.campaign.project)
    assert comment(client_of(reader), assignment=chain.rewrite.pk, text="Hello.").status_code in (400, 403)
    outsider = factories.make_user("admin", factories.make_project())
    assert comment(client_of(outsider), assignment=chain.rewrite.pk, text="Hello.").status_code == 400
    assert not Comment.objects.exists()
