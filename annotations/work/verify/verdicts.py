"""Verdicts: a verifier accepts an annotation or returns it with reasons, and later sees what its author changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count

from annotations.models import Assignment, Campaign, Defect, Edit, Item, Verdict
from annotations.work import stages

REPEATED = 3  # verdicts with the same defect before it is called a habit
TEXTS = ("instruction", "rewrite")


class Refused(ValueError):
    """A verdict that cannot be given; the message says why, to the verifier."""


@dataclass(frozen=True)
class Change:
    """What happened to one part between two versions. `before` and `after` are its contents
    {"instruction", "rewrite", "mentions"}; None where the part did not exist."""

    step: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def kind(self) -> str:
        return "cut" if self.before is None else "joined" if self.after is None else "changed"

    @property
    def fields(self) -> list[str]:
        """What differs: of instruction, rewrite, mentions."""
        if self.before is None or self.after is None:
            return []
        return [name for name in (*TEXTS, "mentions") if self.before[name] != self.after[name]]


@transaction.atomic
def give(
    verification: Assignment,
    outcome: str,
    checklist: Mapping[str, bool],
    reason: str,
    defects: Iterable[Mapping[str, Any]],
) -> Verdict:
    """Store a verdict on the version that is submitted, and act on it once all verifiers of the item have judged.

    checklist: code of the rubric -> True (in order) or False; codes that are left out are in order unless a defect
    names them. defects: [{"code", "step": primary key of a part's first step or None, "note"}]. All verifiers must
    accept for the annotation to pass; with one return among them it goes back to its author, with everybody's
    reasons. Raises `Refused`.
    """
    subject = Assignment.objects.select_for_update().get(pk=verification.item.subject_id)
    verification = Assignment.objects.select_for_update().select_related("item").get(pk=verification.pk)
    _check_turn(verification, subject)
    campaign = verification.item.session.campaign
    found = _defects(campaign, verification.item, checklist, defects)
    reason = reason.strip()
    if outcome == Verdict.Outcome.ACCEPT and found:
        raise Refused("An annotation with defects is not accepted: take them back, or return it.")
    if outcome == Verdict.Outcome.RETURN and not (reason or found):
        raise Refused("Say why it is returned: mark a defect or write a reason.")
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
    )
    Defect.objects.bulk_create(Defect(verdict=verdict, **defect) for defect in found)
    verification.hand_in()
    _act(verification.item, subject)
    return verdict


def repeated_defects(campaign: Campaign, author: Any) -> dict[str, int]:
    """Codes of defects that at least three verdicts on this person's work name, with how many do, most first."""
    of_author = Defect.objects.filter(
        verdict__assignment__user=author, verdict__assignment__item__session__campaign=campaign
    )
    rows = of_author.values("code").annotate(n=Count("verdict", distinct=True)).order_by("-n", "code")
    return {row["code"]: row["n"] for row in rows if row["n"] >= REPEATED}


def parts_now(assignment: Assignment) -> dict[int, dict[str, Any]]:
    """First step -> contents of the parts, in any order."""
    return {part.first_step_id: contents(part) for part in assignment.parts.all()}


def contents(part: Any) -> dict[str, Any]:
    return {"instruction": part.instruction, "rewrite": part.rewrite, "mentions": part.mentions}


def parts_at(assignment: Assignment, version: int) -> dict[int, dict[str, Any]]:
    """The parts as they were at an earlier version: later edits are taken back, newest first."""
    parts = {step: dict(content) for step, content in parts_now(assignment).items()}
    for edit in assignment.edits.filter(version__gt=version).order_by("-version"):
        _take_back(parts, edit)
    return parts


def changes_since(assignment: Assignment, version: int) -> list[Change]:
    """What differs between the parts at a version and now, in the order of the session's steps."""
    before, after = parts_at(assignment, version), parts_now(assignment)
    order = [pk for pk in assignment.item.session.steps().values_list("pk", flat=True) if pk in before or pk in after]
    pairs = [Change(step, before.get(step), after.get(step)) for step in order]
    return [change for change in pairs if change.before != change.after]


def _take_back(parts: dict[int, dict[str, Any]], edit: Edit) -> None:
    if edit.kind == Edit.Kind.CUT:
        parts.pop(edit.step_id, None)
    elif edit.kind == Edit.Kind.JOIN:
        parts[edit.step_id] = {"instruction": "", "rewrite": "", "mentions": []} | (edit.before or {})
    elif edit.step_id in parts:
        field = "mentions" if edit.kind == Edit.Kind.MENTIONS else edit.field
        parts[edit.step_id][field] = edit.before if edit.before is not None else ([] if field == "mentions" else "")


def _check_turn(verification: Assignment, subject: Assignment) -> None:
    """That this verifier is the one to judge, and that there is something to judge."""
    if verification.user_id == subject.user_id:
        raise Refused("Nobody verifies their own work.")
    if subject.state != Assignment.State.SUBMITTED:
        raise Refused("Its author has not submitted it: there is nothing to judge yet.")
    if verification.state == Assignment.State.RELEASED:
        raise Refused("This verification was given back.")
    if verification.given.filter(round=subject.round).exists():
        raise Refused("You have already judged this round.")


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
            raise Refused(f"The rubric of {campaign} has no entry {defect['code']!r}.")
        if defect["step_id"] is not None and defect["step_id"] not in steps:
            raise Refused("A defect is pinned to a step of another session.")
    return found


def _act(item: Item, subject: Assignment) -> None:
    """Pass the annotation on or back once everybody has judged this round."""
    outcomes = list(
        Verdict.objects.filter(verification__item=item, round=subject.round).values_list("outcome", flat=True)
    )
    if len(outcomes) < item.overlap:
        return
    passed = all(outcome == Verdict.Outcome.ACCEPT for outcome in outcomes)
    item.move_to(Item.State.DONE if passed else Item.State.SUBMITTED)  # a new round opens it again
    if passed:
        stages.passed(subject)
    else:
        stages.returned(subject)
