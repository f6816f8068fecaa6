"""Refusals of work: one table says what the workbench and the API answer, and one check what may be judged or handed
in."""

import json
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory
from rest_framework.views import exception_handler

from annotations.access.json_input import BadJson
from annotations.campaigns.propose.proposing import NoProposals, UnusableProposal
from annotations.desk.write.document_views import for_the_workbench
from annotations.desk.write.refusals import ANSWERS, Declined, declined
from annotations.edits.edit_ops import BadEdit
from annotations.models import BadComment, NotFree, NotReady, NotYours, StaleWork, Unsure, VerdictRefused
from tests.annotations.work_world import make_verification

REFUSALS = [
    (NotYours("taken_over", "It is Ada's.", "ada"), 409, {"code": "taken_over", "holder": "ada"}),
    (NotFree("Ada is at work.", "ada"), 409, {"code": "refused", "holder": "ada"}),
    (StaleWork("It has changed."), 409, {"code": "stale"}),
    (NotReady(["No text.", "No cut."]), 422, {"code": "not_ready", "problems": ["No text.", "No cut."], "steps": []}),
    (Unsure(["It is doubled."]), 422, {"code": "unsure", "problems": ["It is doubled."]}),
    (VerdictRefused("Say why."), 422, {"code": "verdict_refused"}),
    (NoProposals("Off."), 422, {"code": "no_proposal"}),
    (UnusableProposal("It says nothing.", lambda: None), 422, {"code": "no_proposal"}),
    (BadEdit("No kind."), 400, {"code": "bad_request"}),
    (BadComment("No text."), 400, {"code": "bad_request"}),
    (BadJson("No JSON."), 400, {"code": "bad_request"}),
]


@pytest.mark.parametrize(("error", "status", "told"), REFUSALS, ids=lambda one: type(one).__name__)
def test_the_workbench_and_the_api_answer_a_refusal_alike(error, status, told) -> None:
    @for_the_workbench
    def refuses(request):
        raise error

    request = RequestFactory().post("/")
    request.user = User(username="ada")
    page = refuses(request)
    with pytest.raises(Declined) as refused, declined():
        raise error
    program = exception_handler(refused.value, {})
    assert program is not None
    assert page.status_code == program.status_code == status
    assert json.loads(page.content) == told | {"error": str(error)}
    assert program.data == {"detail": [str(error)] if status == 400 else str(error)}


def test_every_refusal_of_the_table_is_tried() -> None:
    assert {type(error) for error, _, _ in REFUSALS} == set(ANSWERS)


@pytest.mark.django_db
def test_who_judges_has_the_lease_and_has_read_the_annotation_as_it_is() -> None:
    verification = make_verification()
    found = verification.take(verification.user)
    seen = found.judged.version
    found.check_unchanged(found.user, found.lease_token, seen)
    with pytest.raises(StaleWork):
        found.check_unchanged(found.user, found.lease_token, seen + 1)
    with pytest.raises(StaleWork):
        found.check_unchanged(found.user, found.lease_token, None)
    with pytest.raises(NotYours):
        found.check_unchanged(found.user, uuid4(), seen)
