"""Verdicts: a verifier accepts an annotation or returns it with reasons, and later sees what its author changed."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from annotations.desk import moving_on
from annotations.models import Assignment, BulkAccept, Campaign, Defect, Dispute, Item, Stage, Verdict, VerdictRefused
from annotations.models.accounts.projects import Account
from annotations.models.choices import as_reason


@transaction.atomic
def give(
    verification: Assignment,
    outcome: str,
    checklist: Mapping[str, bool],
    reason: str,
    defects: Iterable[Mapping[str, Any]],
    bulk: BulkAccept | None = None,
) -> Verdict:
    """Store a verdict on the version that is submitted, and act on it once all verifiers of the item have judged.

    checklist: code of the rubric -> True (in order) or False; codes that are left out are in order unless a defect
    names them. defects: [{"code", "step": primary key of a part's first step or None, "note"}]. What all verifiers
    accept passes, what all return goes back to its author with everybody's reasons; where they differ, a further
    person decides. Raises `VerdictRefused`.
    """
    subject = Assignment.objects.select_for_update().get(pk=verification.judged.pk)
    verification = Assignment.objects.select_for_update().select_related("item").get(pk=verification.pk)
    verification.check_turn_to_judge(subject)
    campaign = verification.item.session.campaign
    found = _defects(campaign, verification.item, checklist, defects)
    reason = as_reason(reason, VerdictRefused)
    if outcome == Verdict.Outcome.ACCEPT and found:
        raise VerdictRefused("An annotation with defects is not accepted: take them back, or return it.")
    if outcome == Verdict.Outcome.RETURN and not (reason or found):
        raise VerdictRefused("Say why it is returned: mark a defect or write a reason.")
    wrong = {defect["code"] for defect in found}
    verdict = Verdict.objects.create(
        assignment=subject,
        verification=verification,
        round=subject.round,
        version=subject.version,
        outcome=Verdict.Outcome(outcome),
        reason=reason,
        checklist={entry["code"]: entry["code"] not in wrong for entry in campaign.rubric},
        guideline_id=verification.guideline_id,
        bulk=bulk,
    )
    Defect.objects.bulk_create(Defect(verdict=verdict, **defect) for defect in found)
    verification.hand_in()
    moving_on.RoundEnd(verification.item, subject).look()
    return verdict


@transaction.atomic
def decide(dispute: Dispute, user: Account, outcome: str, reason: str) -> None:
    """Settle a dispute between verifiers, and act on it. Raises `VerdictRefused`."""
    subject = Assignment.objects.select_for_update().get(pk=dispute.assignment_id)
    subject.item.session.campaign.project.require(user, Stage.VERIFY.ability)
    dispute.refresh_from_db(from_queryset=Dispute.objects.select_for_update(of=("self",)))
    dispute.decide(user, outcome, reason)
    moving_on.RoundEnd(subject.verified_as.get(), subject).settle(outcome)


def _defects(campaign: Campaign, item: Item, checklist: Mapping[str, bool], defects: Iterable[Mapping]) -> list[dict]:
    """The defects to store: those that are named, and one without a place for each other entry not in order."""
    known = {entry["code"] for entry in campaign.rubric}
    steps = set(item.session.steps().values_list("pk", flat=True))
    found = [
        {"code": defect["code"], "step_id": defect.get("step"), "note": str(defect.get("note") or "").strip()}
        for defect in defects
    ]
    named = {defect["code"] for defect in found}
    found += [
        {"code": code, "step_id": None, "note": ""} for code, ok in checklist.items() if not ok and code not in named
    ]
    for defect in found:
        if defect["code"] not in known:
            raise VerdictRefused(f"The rubric of {campaign} has no entry {defect['code']!r}.")
        if defect["step_id"] is not None and defect["step_id"] not in steps:
            raise VerdictRefused("A defect is pinned to a step of another session.")
    return found
