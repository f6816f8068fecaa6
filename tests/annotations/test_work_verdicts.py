"""Verdicts: what they need, what they cause, and what the same verifier sees in the next round."""

import pytest
from django.db import transaction

from annotations.models import Defect, Dispute, Item, VerdictRefused
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.work_world import make_edit, make_rewrite, make_verification

pytestmark = pytest.mark.django_db


def returned(verification, code="unnatural", **fields):
    return verdicts.give(verification, "return", {}, "Please look again.", [{"code": code, "step": None} | fields])


def resubmit(subject) -> None:
    subject.refresh_from_db()
    subject.state = "submitted"
    subject.save()


def test_an_accepted_annotation_passes_and_is_published():
    verification = make_verification()
    verdict = verdicts.give(verification, "accept", {}, "", [])
    subject, item = verification.item.subject, verification.item
    for row in (subject, item, verification, subject.item.session):
        row.refresh_from_db()
    assert subject.review == "passed"
    assert item.state == Item.State.DONE
    assert verification.state == "submitted"
    assert verdict.checklist == {entry["code"]: True for entry in item.session.campaign.rubric}
    said = subject.item.session.released.turns.values_list("instruction", flat=True)
    assert list(said) == ["Find red shoes.", "Sort them by price."]


def test_a_return_goes_back_to_the_same_author_with_its_defects():
    verification = make_verification()
    subject = verification.item.subject
    step = subject.parts.order_by("id").last().first_step_id
    verdict = returned(verification, "value-lost", step=step, note="price")
    author = subject.user
    subject.refresh_from_db()
    assert (subject.user, subject.state, subject.review, subject.round) == (author, "in_progress", "returned", 2)
    assert verdict.checklist["value-lost"] is False
    assert verdict.checklist["unnatural"] is True
    assert list(verdict.defects.values_list("code", "step", "note")) == [("value-lost", step, "price")]
    assert subject.item.session.released is None


def test_an_entry_that_is_not_in_order_is_a_defect_without_a_place():
    verdict = verdicts.give(make_verification(), "return", {"extra": False, "uncovered": True}, "", [])
    assert list(verdict.defects.values_list("code", "step")) == [("extra", None)]


@pytest.mark.parametrize(
    ("outcome", "checklist", "reason", "defects", "why"),
    [
        ("return", {}, "  ", [], "Say why"),
        ("accept", {"extra": False}, "", [], "take them back"),
        ("accept", {}, "", [{"code": "extra"}], "take them back"),
        ("return", {}, "", [{"code": "no-such"}], "no entry 'no-such'"),
        ("return", {}, "", [{"code": "extra", "step": 0}], "another session"),
    ],
)
def test_a_verdict_that_says_nothing_or_too_much_is_refused(outcome, checklist, reason, defects, why):
    verification = make_verification()
    with pytest.raises(VerdictRefused, match=why), transaction.atomic():
        verdicts.give(verification, outcome, checklist, reason, defects)
    assert not verification.given.exists()
    assert not Defect.objects.exists()


def test_a_round_is_judged_once_by_each_and_only_when_submitted():
    verification = make_verification()
    returned(verification)
    with pytest.raises(VerdictRefused, match="has not submitted"):
        verdicts.give(verification, "accept", {}, "", [])
    resubmit(verification.item.subject)
    verdicts.give(verification, "accept", {}, "", [])
    assert list(verification.given.values_list("round", "outcome")) == [(1, "return"), (2, "accept")]
    with pytest.raises(VerdictRefused, match="already judged"):
        verdicts.give(verification, "accept", {}, "", [])


def test_nobody_verifies_their_own_work():
    subject = make_rewrite()
    with pytest.raises(VerdictRefused, match="their own work"):
        verdicts.give(make_verification(subject, user=subject.user), "accept", {}, "", [])


@pytest.mark.slow
def test_of_two_verifiers_both_must_return_or_both_accept():
    subject = make_rewrite()
    first, second = make_verification(subject, overlap=2), make_verification(subject)
    returned(first)
    subject.refresh_from_db()
    assert (subject.state, subject.review, subject.round) == ("submitted", "", 1)  # the other one still judges this
    returned(second)
    subject.refresh_from_db()
    assert (subject.review, subject.round) == ("returned", 2)
    resubmit(subject)
    verdicts.give(first, "accept", {}, "", [])
    subject.refresh_from_db()
    assert subject.review != "passed"
    verdicts.give(second, "accept", {}, "", [])
    subject.refresh_from_db()
    assert subject.review == "passed"
    assert not Dispute.objects.exists()


def test_what_changed_since_a_version_is_read_from_the_edits():
    subject = make_rewrite()
    second = subject.parts.order_by("id").last()
    make_edit(subject, "text", second.first_step_id, "Sort.", "Sort by price.", field="rewrite")
    seen = subject.version
    second.rewrite = "Sort them by price."
    make_edit(subject, "text", second.first_step_id, "Sort by price.", second.rewrite, field="rewrite")
    mention = {"id": "m1", "phenomenon": "anaphora", "start": 5, "end": 9, "antecedent": None}
    second.mentions = [mention]
    make_edit(subject, "mentions", second.first_step_id, [], [mention])
    second.save()
    (change,) = subject.changes_since(seen)
    assert (change.step, change.kind, change.fields) == (second.first_step_id, "changed", ["rewrite", "mentions"])
    assert (change.before["rewrite"], change.after["rewrite"]) == ("Sort by price.", "Sort them by price.")
    assert subject.contents_at(0)[second.first_step_id]["rewrite"] == "Sort."
    assert subject.changes_since(subject.version) == []


def test_cuts_made_and_taken_back_since_a_version_are_told_apart():
    subject = make_rewrite()
    second = subject.parts.order_by("id").last()
    gone = {"instruction": "Open it.", "rewrite": "Open it."}
    step = list(subject.item.session.steps())[1].pk
    make_edit(subject, "cut", second.first_step_id, None, {"instruction": "", "rewrite": ""})
    make_edit(subject, "join", step, gone, None)
    joined, cut = subject.changes_since(0)
    assert (joined.kind, joined.step, joined.before["rewrite"]) == ("joined", step, "Open it.")
    assert (cut.kind, cut.step) == ("cut", second.first_step_id)


def test_an_edit_that_was_undone_again_is_no_change():
    subject = make_rewrite()
    step = subject.parts.order_by("id").first().first_step_id
    make_edit(subject, "text", step, "Find red shoes.", "Find shoes.", field="rewrite")
    make_edit(subject, "text", step, "Find shoes.", "Find red shoes.", field="rewrite")
    assert subject.changes_since(0) == []


@pytest.mark.slow
def test_the_same_defect_three_times_is_a_habit():
    campaign = factories.make_campaign()
    author = factories.make_user("annotator", campaign.project)
    for place in range(3):
        assert Defect.objects.repeated(campaign, author) == {}
        subject = make_rewrite(factories.make_session(campaign), user=author)
        step = subject.parts.order_by("id").first().first_step_id
        pinned = [{"code": "extra", "step": step}, {"code": "extra", "step": None}]
        pinned += [{"code": "unnatural"}] if place else []
        verdicts.give(make_verification(subject), "return", {}, "", pinned)
    assert Defect.objects.repeated(campaign, author) == {"extra": 3}
    assert Defect.objects.repeated(campaign, factories.make_user()) == {}
