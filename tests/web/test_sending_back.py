"""A cut that was returned, mended over HTTP by who made it, and passed in the second round with its rewrites kept."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from annotations.models import Assignment, SentBack
from tests.annotations.test_work_sending_back import Chain
from tests.signed_in import client_of
from tests.web.annotating import begun, open_item

pytestmark = pytest.mark.django_db


def post(client: Client, name: str, assignment: Assignment, **body: Any) -> Any:
    answer = client.post(reverse(name, args=[assignment.pk]), body, content_type="application/json")
    return answer.status_code, answer.json()


def take(client: Client, assignment: Assignment) -> dict[str, Any]:
    status, lease = post(client, "annotate-take", assignment)
    assert status == 200
    return {"token": lease["token"], "base": Assignment.objects.get(pk=assignment.pk).version}


def judge(client: Client, verification: Assignment, outcome: str, *defects: dict[str, Any]) -> None:
    held = take(client, verification)
    version = Assignment.objects.get(pk=verification.pk).judged.version
    asked = {"token": held["token"], "version": version, "outcome": outcome, "defects": defects}
    assert post(client, "annotate-verify-judge", verification, **asked)[0] == 200


@pytest.mark.slow
def test_a_returned_cut_is_mended_and_passes_in_round_two() -> None:
    chain = Chain()
    cutter, writer, reviewer = map(client_of, (chain.cutter, chain.writer, chain.reviewer))
    judge(reviewer, chain.verification, "return", {"code": "cut-misplaced", "step": chain.steps[3].pk, "note": "Late."})
    page = cutter.get(reverse("annotate-item", args=[chain.decomposition.pk])).content.decode()
    assert f"by {chain.reviewer}" in page
    assert "Late." in page
    waiting = writer.get(reverse("annotate-document", args=[chain.rewrite.pk])).json()
    assert (waiting["writable"], waiting["why_not"]) == (False, "It waits: its cuts were sent back to who made them.")
    held = take(cutter, chain.decomposition)
    status, told = post(cutter, "annotate-submit", chain.decomposition, **held)
    assert (status, told["steps"]) == (422, [chain.steps[3].pk])
    assert told["problems"][0].startswith("Part 2 is as it was when it was returned for “cut-misplaced” (Late.)")
    edits = [
        {"op_id": str(uuid4()), "kind": "cut", "step": chain.steps[2].pk, "after": {"instruction": "Buy them now."}},
        {
            "op_id": str(uuid4()),
            "kind": "join",
            "step": chain.steps[3].pk,
            "before": {"instruction": "Buy them.", "rewrite": ""},
        },
    ]
    status, saved = post(cutter, "annotate-edits", chain.decomposition, **held, edits=edits)
    assert [one["status"] for one in saved["results"]] == ["applied", "applied"]
    held |= {"base": saved["version"]}
    assert post(cutter, "annotate-submit", chain.decomposition, **held)[0] == 200
    shown = writer.get(reverse("annotate-document", args=[chain.rewrite.pk])).json()
    assert [(part["step"], part["rewrite"]) for part in shown["parts"]] == [
        (chain.steps[0].pk, "Shoes, please."),
        (chain.steps[2].pk, "And buy those."),
    ]
    assert post(writer, "annotate-submit", chain.rewrite, **take(writer, chain.rewrite))[0] == 200
    judge(reviewer, chain.verification, "accept")
    assert [(row.review, row.round) for row in Assignment.objects.filter(pk=chain.rewrite.pk)] == [("passed", 2)]


@pytest.mark.slow
def test_a_rewriter_sends_cuts_back_and_must_say_why() -> None:
    chain = Chain()
    judge(client_of(chain.reviewer), chain.verification, "return", {"code": "unnatural", "step": None})
    writer = client_of(chain.writer)
    held = take(writer, chain.rewrite)
    assert post(writer, "annotate-send-back", chain.rewrite, **held, reason=" ")[0] == 422
    assert post(writer, "annotate-send-back", chain.rewrite, **held, reason="x" * 5_001)[0] == 400
    assert post(writer, "annotate-send-back", chain.rewrite, token=str(uuid4()), reason="No.")[0] == 409
    assert post(writer, "annotate-send-back", chain.rewrite, **held, reason="Step 3 is the second's.") == (
        200,
        {"next": None},
    )
    page = client_of(chain.cutter).get(reverse("annotate-item", args=[chain.decomposition.pk])).content.decode()
    assert "Step 3 is the second&#x27;s." in page
    assert f"by {chain.writer}" in page


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_dialog_takes_the_key_of_all_others_and_no_empty_reason(app_server, page, sign_in) -> None:
    rewrite = begun("rewrite")
    sign_in(rewrite.user)
    open_item(app_server, page, rewrite)
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog", name="Send the cuts back")
    dialog.get_by_role("textbox").press("Control+Enter")
    expect(dialog).to_be_visible()
    assert not SentBack.objects.exists()
    dialog.get_by_role("textbox").fill("The second part begins a step too late.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/annotate/")
    assert SentBack.objects.get().reason == "The second part begins a step too late."


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_what_was_returned_is_named_by_its_part_and_answered_by_keys(app_server, page, sign_in) -> None:
    chain = Chain()
    judge(client_of(chain.reviewer), chain.verification, "return", {"code": "unnatural", "step": chain.steps[3].pk})
    sign_in(chain.writer)
    page.set_viewport_size({"width": 1280, "height": 400})
    open_item(app_server, page, chain.rewrite)
    page.keyboard.press("Control+Enter")
    problems = page.get_by_role("alert").filter(has_text="Not submitted yet")
    expect(problems).to_contain_text("Turn 2 is as it was when it was returned for “unnatural”")
    assert page.evaluate("document.activeElement.closest('[data-step]').dataset.step") == str(chain.steps[3].pk)
    page.evaluate("document.activeElement.closest('[data-step]').scrollIntoView({block: 'start'})")
    assert page.evaluate("document.querySelector('#middle').scrollTop") > 0
    expect(problems).to_be_in_viewport(ratio=1)
    page.keyboard.press("a")
    said = page.get_by_role("textbox", name="Comment")
    expect(said).to_be_focused()
    is_cut_off = "(form) => form.closest('.pane').scrollWidth > form.closest('.pane').clientWidth"
    assert not page.locator("#comments form").evaluate(is_cut_off)
    page.keyboard.type("She says it so on the phone.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("region", name="Why it was returned")).to_contain_text("She says it so on the phone.")
    expect(problems).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/annotate/")
    sign_in(chain.reviewer)
    page.goto(app_server.app_origin + reverse("annotate-verify", args=[chain.verification.pk]))
    told = page.get_by_role("article").filter(has_text="round 1")
    expect(told).to_contain_text(f"{chain.writer.username} answers: She says it so on the phone.")
