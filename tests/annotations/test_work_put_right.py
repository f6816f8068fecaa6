"""What was returned is changed at its place, or answered, before it is handed in again."""

import pytest

from annotations.desk import moving_on
from annotations.desk.discuss import comments
from annotations.desk.put_right import ReturnedWork
from annotations.models import Assignment, BadComment, Comment, Mention, NotReady, Verdict
from annotations.work.verify import verdicts
from tests import factories
from tests.annotations.test_work_sending_back import Chain


@pytest.fixture
def chain(db) -> Chain:
    return Chain()


def returned_for(chain: Chain, *found: tuple[str, int | None], reason: str = "") -> Verdict:
    """Return the rewrite for defects at the parts that begin at these places."""
    defects = [
        {"code": code, "step": None if place is None else chain.steps[place].pk, "note": "See."}
        for code, place in found
    ]
    chain.verification.refresh_from_db()
    return verdicts.give(chain.verification, "return", {}, reason, defects)


def hand_in(chain: Chain) -> None:
    moving_on.submit(chain.fresh(chain.rewrite))


def codes_of(assignment: Assignment) -> list[str]:
    return [fault.defect.code for fault in ReturnedWork(assignment).faults() if fault.defect]


def answer(chain: Chain, verdict: Verdict, text: str = "He says it like that.") -> Comment:
    session = chain.session
    return comments.say(
        session, chain.writer, text, assignment=chain.fresh(chain.rewrite), defect=verdict.defects.get()
    )


def test_a_change_elsewhere_does_not_put_a_defect_right(chain: Chain) -> None:
    returned_for(chain, ("unresolvable", 3))
    chain.write(chain.rewrite, chain.writer, 0, "rewrite", "Red shoes, please.")
    with pytest.raises(
        NotReady, match=r"Turn 2 is as it was when it was returned for “unresolvable” \(See\.\)"
    ) as left:
        hand_in(chain)
    assert left.value.steps == [chain.steps[3].pk]
    chain.write(chain.rewrite, chain.writer, 3, "rewrite", "  And buy   those. ")
    with pytest.raises(NotReady, match="Turn 2"):
        hand_in(chain)
    chain.write(chain.rewrite, chain.writer, 3, "rewrite", "And buy the shoes.")
    hand_in(chain)


@pytest.mark.parametrize("said", ["And buy those", "AND BUY THOSE!", "And, buy “those”.", "And buy those\u200b."])
def test_a_full_stop_or_capital_letters_mend_nothing(chain: Chain, said: str) -> None:
    returned_for(chain, ("unresolvable", 3))
    chain.write(chain.rewrite, chain.writer, 3, "rewrite", said)
    with pytest.raises(NotReady, match="Turn 2"):
        hand_in(chain)


def test_each_defect_counts_for_itself_and_all_that_are_left_are_named(chain: Chain) -> None:
    returned_for(chain, ("unresolvable", 3), ("unnatural", 0))
    with pytest.raises(NotReady) as left:
        hand_in(chain)
    assert [problem[:6] for problem in left.value.problems] == ["Turn 2", "Turn 1"]
    chain.write(chain.rewrite, chain.writer, 3, "rewrite", "And buy the shoes.")
    with pytest.raises(NotReady) as left:
        hand_in(chain)
    assert [problem[:6] for problem in left.value.problems] == ["Turn 1"]


def test_an_answer_in_words_stands_for_a_change_and_its_verifier_is_told(chain: Chain) -> None:
    verdict = returned_for(chain, ("unnatural", 3))
    said = answer(chain, verdict)
    assert (said.step, said.is_about_turn) == (chain.steps[3], True)
    assert list(Mention.objects.values_list("user", "comment")) == [(chain.reviewer.pk, said.pk)]
    hand_in(chain)


def test_an_answer_that_was_deleted_is_none(chain: Chain) -> None:
    answer(chain, returned_for(chain, ("unnatural", 3))).put_into_bin()
    with pytest.raises(NotReady, match="Turn 2"):
        hand_in(chain)


def test_an_answer_of_an_earlier_round_does_not_answer_a_later_one(chain: Chain) -> None:
    answer(chain, returned_for(chain, ("unnatural", 3)))
    hand_in(chain)
    returned_for(chain, ("unnatural", 3))
    with pytest.raises(NotReady, match="Turn 2"):
        hand_in(chain)


def test_only_whose_work_was_returned_for_it_answers_a_defect(chain: Chain) -> None:
    verdict = returned_for(chain, ("unnatural", 3), ("cut-misplaced", 3))
    of_cuts, of_words = (verdict.defects.get(code=code) for code in ("cut-misplaced", "unnatural"))
    rewrite, decomposition = chain.fresh(chain.rewrite), chain.fresh(chain.decomposition)
    for author, about, defect in (
        (chain.reviewer, rewrite, of_words),
        (chain.cutter, rewrite, of_words),
        (chain.cutter, decomposition, of_words),
        (chain.writer, rewrite, of_cuts),
        (chain.writer, None, of_words),
    ):
        with pytest.raises(BadComment):
            comments.say(chain.session, author, "It is right.", assignment=about, defect=defect)
    comments.say(chain.session, chain.cutter, "It is right.", assignment=decomposition, defect=of_cuts)


def test_cuts_are_put_right_at_the_cut_that_was_found_or_answered(chain: Chain) -> None:
    verdict = returned_for(chain, ("cut-misplaced", 3))
    chain.write(chain.decomposition, chain.cutter, 0, "instruction", "Find red shoes.")
    with pytest.raises(NotReady, match="Part 2 is as it was"):
        moving_on.submit(chain.fresh(chain.decomposition))
    comments.say(
        chain.session,
        chain.cutter,
        "The second begins there.",
        assignment=chain.fresh(chain.decomposition),
        defect=verdict.defects.get(),
    )
    moving_on.submit(chain.fresh(chain.decomposition))
    hand_in(chain)  # nothing of it was the rewriter's


def test_a_cut_that_moved_puts_right_what_was_found_at_it(chain: Chain) -> None:
    returned_for(chain, ("cut-misplaced", 3), ("uncovered", 0))
    chain.move_cut()  # the first part has a step less, too
    moving_on.submit(chain.fresh(chain.decomposition))


def test_a_rewriter_still_mends_their_own_after_the_cuts_came_back(chain: Chain) -> None:
    returned_for(chain, ("cut-misplaced", 3), ("unnatural", 0))
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    with pytest.raises(NotReady, match="Turn 1 is as it was when it was returned for “unnatural”"):
        hand_in(chain)
    chain.write(chain.rewrite, chain.writer, 0, "rewrite", "I'd like shoes.")
    hand_in(chain)


def test_mentions_count_as_what_a_turn_says(chain: Chain) -> None:
    returned_for(chain, ("unresolvable", 3))
    mention = {"id": "m", "phenomenon": "pronoun", "start": 8, "end": 13, "text": "those"}
    mention |= {"antecedent": {"step": chain.steps[0].pk, "start": 0, "end": 5, "text": "Shoes"}}
    chain.edit(
        chain.rewrite, chain.writer, {"kind": "mentions", "step": chain.steps[3].pk, "before": [], "after": [mention]}
    )
    hand_in(chain)


@pytest.mark.parametrize("code", ["extra", ""], ids=["a defect of the whole", "a reason alone"])
def test_what_has_no_place_is_put_right_by_any_change_or_an_answer(chain: Chain, code: str) -> None:
    stage = chain.rewrite if not code else chain.decomposition
    writer = chain.writer if not code else chain.cutter
    verdict = returned_for(chain, *([(code, None)] if code else []), reason="It is too short.")
    with pytest.raises(NotReady, match="Nothing has changed since"):
        moving_on.submit(chain.fresh(stage))
    defect = verdict.defects.first()
    comments.say(chain.session, writer, "People say it so.", assignment=chain.fresh(stage), defect=defect)
    moving_on.submit(chain.fresh(stage))


def test_what_all_verifiers_found_is_to_be_put_right(chain: Chain) -> None:
    """The last verdict alone was told, and only the first one's cuts went back."""
    item = chain.verification.item
    item.overlap = 2
    item.save()
    second = item.hand(factories.make_user("reviewer", chain.session.campaign.project), 1)
    returned_for(chain, ("cut-misplaced", 3), ("unnatural", 3))
    steps = [chain.steps[0].pk, chain.steps[0].pk]
    found = [{"code": code, "step": step} for code, step in zip(("uncovered", "value-lost"), steps, strict=True)]
    verdicts.give(second, "return", {}, "", found)
    decomposition, rewrite = chain.fresh(chain.decomposition), chain.fresh(chain.rewrite)
    codes = [
        [fault.defect.code for fault in ReturnedWork(one).faults() if fault.defect] for one in (decomposition, rewrite)
    ]
    assert codes == [["cut-misplaced", "uncovered"], ["unnatural", "value-lost"]]
    assert [one["by"] for one in rewrite.returns()] == [chain.reviewer, second.user]
