"""Cuts that are sent back to who made them, and what becomes of the rewrite that waits."""

from typing import Any
from uuid import uuid4

import pytest

from annotations.desk import moving_on
from annotations.edits import saving
from annotations.edits.edit_ops import Content
from annotations.models import DEFAULT_RUBRIC, Assignment, NotFree, NotReady, Part, SentBack, Session
from annotations.work.rewrite.carrying import carried
from annotations.work.verify import verdicts
from tests import factories

STEPS = [10, 11, 12, 13, 14, 15]


def said(steps: dict[int, tuple[str, str]]) -> dict[int, Content]:
    return {step: Content(instruction, rewrite) for step, (instruction, rewrite) in steps.items()}


def texts(found: dict[int, Content]) -> dict[int, str]:
    return {step: part.rewrite for step, part in found.items()}


def test_a_moved_cut_leaves_each_rewrite_with_most_of_its_steps() -> None:
    old = said({10: ("Find shoes.", "Shoes, please."), 13: ("Buy them.", "And buy those.")})
    found = carried(STEPS, old, {10: "Find shoes.", 12: "Buy the shoes."})
    assert texts(found) == {10: "Shoes, please.", 12: "And buy those."}
    assert found[12].instruction == "Buy the shoes."


def test_a_new_part_is_said_as_it_is_asked_for() -> None:
    old = said({10: ("Find and buy shoes.", "Shoes, please.")})
    assert texts(carried(STEPS, old, {10: "Find shoes.", 14: "Buy them."})) == {10: "Shoes, please.", 14: "Buy them."}


def test_joined_parts_keep_both_rewrites_with_their_marks() -> None:
    mention = {"id": "m", "phenomenon": "pronoun", "start": 4, "end": 8, "text": "them"}
    mention |= {"antecedent": {"step": 10, "start": 0, "end": 5, "text": "Shoes"}}
    old = said({10: ("a", "Shoes."), 13: ("b", "Buy them.")})
    old[13] = Content("b", "Buy them.", [mention])
    (part,) = carried(STEPS, old, {10: "Find and buy shoes."}).values()
    assert part.rewrite == "Shoes. Buy them."
    assert part.rewrite[part.mentions[0]["start"] : part.mentions[0]["end"]] == "them"
    assert part.mentions[0]["antecedent"]["step"] == 10


def test_what_nobody_rewrote_follows_its_instruction() -> None:
    old = said({10: ("Find shoes.", "Find shoes."), 13: ("Buy them.", "Buy them.")})
    assert texts(carried(STEPS, old, {10: "Find red shoes.", 13: "Buy them."})) == {
        10: "Find red shoes.",
        13: "Buy them.",
    }


class Chain:
    """A session decomposed and rewritten by two people, with its verification in a reviewer's hands."""

    def __init__(self) -> None:
        campaign = factories.make_campaign()
        self.session: Session = factories.make_session(campaign, tasks=1, steps=6)
        self.steps = list(self.session.steps())
        self.cutter, self.writer = (factories.make_user("annotator", campaign.project) for _ in range(2))
        self.decomposition = moving_on.open_work(self.session).hand(self.cutter, 0)
        self.decomposition.parts.all().delete()
        for place, text in {0: "Find shoes.", 3: "Buy them."}.items():
            Part.objects.create(assignment=self.decomposition, first_step=self.steps[place], instruction=text)
        moving_on.submit(self.decomposition)
        self.rewrite = self.session.items.get(stage="rewrite").hand(self.writer, 0)
        self.write(self.rewrite, self.writer, 0, "rewrite", "Shoes, please.")
        self.write(self.rewrite, self.writer, 3, "rewrite", "And buy those.")
        moving_on.submit(self.rewrite)
        self.reviewer = factories.make_user("reviewer", campaign.project)
        self.verification = self.session.items.get(stage="verify").hand(self.reviewer, 0)

    def edit(self, assignment: Assignment, user: Any, *edits: dict[str, Any]) -> saving.Saved:
        taken = Assignment.objects.get(pk=assignment.pk).take(user)
        rows = [{"op_id": str(uuid4()), "field": "", "before": None, "after": None} | edit for edit in edits]
        return saving.save(taken, user, str(taken.lease_token), taken.version, rows)

    def write(self, assignment: Assignment, user: Any, place: int, field: str, text: str) -> None:
        step = self.steps[place]
        before = getattr(assignment.parts.get(first_step=step), field)
        edit = {"kind": "text", "step": step.pk, "field": field, "before": before, "after": text}
        self.edit(assignment, user, edit)

    def move_cut(self) -> None:
        """The second part begins a step earlier."""
        before = {"instruction": "Buy them.", "rewrite": "", "mentions": []}
        cut = {"kind": "cut", "step": self.steps[2].pk, "after": {"instruction": "Buy the shoes.", "rewrite": ""}}
        self.edit(self.decomposition, self.cutter, cut, {"kind": "join", "step": self.steps[3].pk, "before": before})

    def judge(self, outcome: str, code: str = "") -> None:
        defects = [{"code": code, "step": self.steps[3].pk, "note": "A step too late."}] if code else []
        self.verification.refresh_from_db()
        verdicts.give(self.verification, outcome, {}, "", defects)

    def fresh(self, assignment: Assignment) -> Assignment:
        return Assignment.objects.get(pk=assignment.pk)


@pytest.fixture
def chain(db) -> Chain:
    return Chain()


def states(*assignments: Assignment) -> list[tuple[str, str, int]]:
    rows = [Assignment.objects.get(pk=one.pk) for one in assignments]
    return [(row.state, row.review, row.round) for row in rows]


def test_a_defect_of_the_cuts_goes_to_who_made_them(chain: Chain) -> None:
    chain.judge("return", "cut-misplaced")
    assert states(chain.decomposition, chain.rewrite) == [("in_progress", "returned", 2), ("waiting", "returned", 2)]
    (asked,) = SentBack.objects.all()
    assert (asked.sender, asked.rewrite) == (chain.reviewer, chain.rewrite)
    assert [(one["code"], one["step"]) for one in asked.facts()["defects"]] == [("cut-misplaced", chain.steps[3].pk)]
    with pytest.raises(NotFree, match="cuts were sent back"):
        chain.fresh(chain.rewrite).take(chain.writer)
    with pytest.raises(NotFree, match="cuts were sent back"):
        chain.fresh(chain.rewrite).give_back()


def test_a_defect_of_the_wording_goes_to_the_rewriter_alone(chain: Chain) -> None:
    chain.judge("return", "unnatural")
    assert states(chain.decomposition, chain.rewrite) == [("submitted", "", 1), ("in_progress", "returned", 2)]


@pytest.mark.parametrize("entry", DEFAULT_RUBRIC, ids=lambda entry: entry["code"])
def test_whatever_of_the_rubric_is_wrong_goes_where_it_can_be_mended_and_passes(chain: Chain, entry) -> None:
    """Three of the six are about cuts: as rewrites whose cuts were fixed, they could not be mended."""
    chain.judge("return", entry["code"])
    if entry["stage"] == "decompose":
        waits = [("in_progress", "returned", 2), ("waiting", "returned", 2)]
        assert states(chain.decomposition, chain.rewrite) == waits
        chain.move_cut()
        moving_on.submit(chain.fresh(chain.decomposition))
    else:
        assert states(chain.decomposition, chain.rewrite) == [("submitted", "", 1), ("in_progress", "returned", 2)]
        chain.write(chain.rewrite, chain.writer, 3, "rewrite", "And I'd like to buy those.")
    moving_on.submit(chain.fresh(chain.rewrite))
    chain.judge("accept")
    assert states(chain.rewrite) == [("submitted", "passed", 2)]
    kept = chain.fresh(chain.rewrite).ordered_parts()
    assert kept[0].rewrite == "Shoes, please.", "nobody wrote it again"


@pytest.mark.slow
def test_mended_cuts_pass_in_the_second_round_with_their_rewrites(chain: Chain) -> None:
    chain.judge("return", "cut-misplaced")
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    rewrite = chain.fresh(chain.rewrite)
    assert (rewrite.state, rewrite.round) == ("assigned", 2)
    assert [(part.first_step, part.instruction, part.rewrite) for part in rewrite.ordered_parts()] == [
        (chain.steps[0], "Find shoes.", "Shoes, please."),
        (chain.steps[2], "Buy the shoes.", "And buy those."),
    ]
    moving_on.submit(rewrite)
    chain.judge("accept")
    chain.session.refresh_from_db()
    said = list(chain.session.released.turns.values_list("instruction", flat=True))
    assert said == ["Shoes, please.", "And buy those."]


@pytest.mark.slow
def test_an_unchanged_resubmission_is_refused(chain: Chain) -> None:
    chain.judge("return", "cut-misplaced")
    with pytest.raises(NotReady, match="is as it was when it was returned"):
        moving_on.submit(chain.fresh(chain.decomposition))
    chain.write(chain.decomposition, chain.cutter, 3, "instruction", "  Buy   them. ")
    with pytest.raises(NotReady, match="is as it was when it was returned"):
        moving_on.submit(chain.fresh(chain.decomposition))
    chain.write(chain.decomposition, chain.cutter, 3, "instruction", "Buy both of them.")
    moving_on.submit(chain.fresh(chain.decomposition))
    moving_on.submit(chain.fresh(chain.rewrite))
    chain.judge("return", "unnatural")
    with pytest.raises(NotReady, match="is as it was when it was returned"):
        moving_on.submit(chain.fresh(chain.rewrite))


def test_a_rewriter_sends_the_cuts_back_with_a_reason(chain: Chain) -> None:
    chain.judge("return", "unnatural")
    with pytest.raises(NotReady, match="Say what is wrong"):
        moving_on.Mending(chain.fresh(chain.rewrite)).ask(chain.writer, "  ")
    moving_on.Mending(chain.fresh(chain.rewrite)).ask(chain.writer, "Step 3 belongs to the second.")
    assert states(chain.decomposition, chain.rewrite) == [("in_progress", "returned", 2), ("waiting", "returned", 2)]
    assert SentBack.objects.get().facts() == {
        "by": chain.writer,
        "reason": "Step 3 belongs to the second.",
        "defects": [],
    }
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    assert not SentBack.objects.unmended().exists()
    assert chain.fresh(chain.rewrite).state == "assigned"


def test_the_carried_edits_are_in_the_log_and_nobody_undoes_them(chain: Chain) -> None:
    chain.judge("return", "cut-misplaced")
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    rewrite = chain.fresh(chain.rewrite)
    kinds = set(rewrite.edits.filter(is_carried=True).values_list("kind", "user"))
    assert kinds == {("cut", chain.cutter.pk), ("join", chain.cutter.pk)}
    assert rewrite.edits.stacks_of(chain.cutter) == ([], [])
    since = {change.step: change.kind for change in rewrite.changes_since(chain.verification.given.last().version)}
    assert since == {chain.steps[2].pk: "cut", chain.steps[3].pk: "joined"}


@pytest.mark.slow
def test_what_has_passed_is_not_touched(chain: Chain) -> None:
    campaign = chain.session.campaign
    item = chain.session.items.get(stage="rewrite")
    item.overlap = 2
    item.save()
    other = item.hand(factories.make_user("annotator", campaign.project), 1)
    moving_on.submit(other)
    chain.judge("accept")
    before = list(chain.fresh(chain.rewrite).parts.order_by("pk").values())
    released = Session.objects.get(pk=chain.session.pk).released
    second = chain.session.items.get(stage="verify", subject=other).hand(chain.reviewer, 0)
    verdicts.give(second, "return", {}, "", [{"code": "extra", "step": None}])
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    assert states(chain.rewrite) == [("submitted", "passed", 1)]
    assert list(chain.fresh(chain.rewrite).parts.order_by("pk").values()) == before
    assert Session.objects.get(pk=chain.session.pk).released == released
    assert [part.first_step for part in chain.fresh(other).ordered_parts()] == [chain.steps[0], chain.steps[2]]


@pytest.mark.slow
def test_what_verification_passed_of_what_was_proposed_is_kept_by_kind(chain: Chain) -> None:
    campaign = chain.session.campaign
    decided: dict[str, Any] = {"campaign": campaign, "session": chain.session, "outcome": "unchanged", "distance": 0.0}
    cuts = [{"step": chain.steps[0].pk, "instruction": "Find shoes."}, {"step": chain.steps[3].pk, "instruction": ""}]
    said = [{"step": chain.steps[0].pk, "rewrite": "Shoes, please."}]
    for kind, of, parts in (("cuts", chain.decomposition, cuts), ("rewrite", chain.rewrite, said)):
        of.proposals.create(kind=kind, model_name="m", content={"parts": parts}, **decided)
    chain.judge("return", "cut-misplaced")
    kept = dict(campaign.proposals.values_list("kind", "has_passed"))
    assert kept == {"cuts": False, "rewrite": None}
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    moving_on.submit(chain.fresh(chain.rewrite))
    chain.judge("accept")
    kept = dict(campaign.proposals.values_list("kind", "has_passed"))
    assert kept == {"cuts": False, "rewrite": True}
    assert {one.kind: one.rate for one in campaign.proposals.pass_rates()} == {"cuts": 0.0, "rewrite": 1.0}
