"""Verdicts of people on agents' steps, and the scores that follow them."""

import pytest
from django.db import IntegrityError, transaction

from agents.models import Run, TrajectoryStep
from annotations.access import rules
from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.models import Correction, Role
from evaluation.models import BadReview, Review, ReviewedRun, ReviewReason, Score
from evaluation.models.scores import REVIEWED
from evaluation.reviews.counting import count_reviews
from evaluation.scores.reviewed import ReviewedGold, ReviewedScores, ReviewRow, reviewed_gold, store_all_scores
from evaluation.scores.scoring import RunScores
from evaluation.studies.page import corrected_steps
from tests import factories

ANN, BEN, CEM = 1, 2, 3
BUTTON, LINK = ("CLICK", "9", ""), ("CLICK", "5", "")


def gold_after(*said: tuple[int, str, tuple[str, str, str]]) -> ReviewedGold | None:
    """What (reviewer, verdict, action), in this order, make of step 7."""
    return reviewed_gold(ReviewRow(7, person, verdict, action) for person, verdict, action in said).get(7)


def test_an_action_that_more_people_accept_than_refuse_is_gold_too() -> None:
    assert gold_after((ANN, "both_acceptable", BUTTON)) == ReviewedGold(False, frozenset({BUTTON}))
    assert gold_after((ANN, "both_acceptable", BUTTON), (BEN, "agent_wrong", BUTTON)) is None
    of_three = ((ANN, "both_acceptable", BUTTON), (BEN, "agent_wrong", BUTTON), (CEM, "both_acceptable", BUTTON))
    assert gold_after(*of_three) == ReviewedGold(False, frozenset({BUTTON}))


def test_what_is_said_of_one_action_says_nothing_of_another() -> None:
    said = gold_after((ANN, "both_acceptable", BUTTON), (BEN, "agent_wrong", LINK))
    assert said == ReviewedGold(False, frozenset({BUTTON}))


def test_a_step_whose_gold_more_people_call_wrong_than_right_is_left_out() -> None:
    assert gold_after((ANN, "gold_wrong", BUTTON)) == ReviewedGold(True, frozenset())
    assert gold_after((ANN, "page_broken", BUTTON), (BEN, "gold_wrong", LINK)) == ReviewedGold(True, frozenset())
    assert gold_after((ANN, "gold_wrong", BUTTON), (BEN, "agent_wrong", LINK)) is None


def test_each_person_counts_once_with_what_they_said_last() -> None:
    assert gold_after((ANN, "gold_wrong", BUTTON), (ANN, "gold_wrong", LINK), (BEN, "agent_wrong", LINK)) is None
    assert gold_after((ANN, "gold_wrong", BUTTON), (ANN, "agent_wrong", BUTTON)) is None
    assert gold_after((ANN, "agent_wrong", BUTTON)) is None


@pytest.fixture
def steps(db) -> list[TrajectoryStep]:
    """Of a scored run; the agent clicks node 9 everywhere, which is right at the first step only."""
    run = factories.make_trajectory().run
    run.steps.filter(seq=0).update(element_correct=True, operation_f1=1.0, success=True, gold_rank=0)
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE)
    store_all_scores(run)
    return list(run.steps.order_by("seq"))


@pytest.fixture
def ann(steps):
    return factories.make_user(Role.REVIEWER, steps[0].run.dataset.project)


def say(step: TrajectoryStep, person, verdict: str, **more) -> Review:
    return Review.objects.give(step.trajectory, step, person, verdict, **more)


def shown(run: Run, preset: str) -> dict[str, float]:
    return {score.metric: score.value for score in Score.objects.headline(preset).filter(run=run)}


def test_scores_follow_what_is_accepted_and_both_values_stay(steps, ann) -> None:
    run = steps[0].run
    before = shown(run, "corrected")
    wrong = [step for step in steps if not step.success]
    for step in wrong:
        say(step, ann, "both_acceptable")
    assert count_reviews() == 1
    assert shown(run, "corrected") == before
    assert before["step_success"] < 1.0
    after = shown(run, REVIEWED)
    assert after["step_success"] == after["turn_success"] == after["recall@1"] == 1.0
    assert (run.reviewed.accepted, run.reviewed.left_out) == (len(wrong), 0)


def test_a_step_with_wrong_gold_is_in_no_score(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    say(wrong, ann, "gold_wrong")
    count_reviews()
    facts, counts = ReviewedScores(wrong.run).outcomes()
    assert len(facts) == len(steps) - 1
    assert (counts.accepted, counts.left_out) == (0, 1)
    assert shown(wrong.run, REVIEWED)["step_success"] > shown(wrong.run, "corrected")["step_success"]


def test_another_run_over_the_same_steps_follows_too(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    other = factories.make_trajectory(conversation=wrong.trajectory.conversation).run
    Run.objects.filter(pk=other.pk).update(state=Run.State.DONE)
    store_all_scores(other)
    say(wrong, ann, "both_acceptable")
    assert count_reviews() == 2
    assert shown(other, REVIEWED)["step_success"] > shown(other, "corrected")["step_success"]


def test_an_agent_that_does_something_else_gains_nothing(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    other = factories.make_trajectory(conversation=wrong.trajectory.conversation).run
    other.steps.filter(step=wrong.step).update(node_id="77", value="no")
    Run.objects.filter(pk=other.pk).update(state=Run.State.DONE)
    store_all_scores(other)
    say(wrong, ann, "both_acceptable")
    count_reviews()
    assert ReviewedRun.objects.get(run=other).accepted == 0
    assert not Score.objects.filter(run=other, preset=REVIEWED).exists()
    assert shown(other, REVIEWED) == shown(other, "corrected"), "what reviews leave as it is"


def test_what_is_taken_back_changes_nothing_any_more(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    say(wrong, ann, "both_acceptable")
    count_reviews()
    say(wrong, ann, "")
    assert count_reviews() == 1
    assert not Score.objects.filter(run=wrong.run, preset=REVIEWED).exists()
    assert wrong.run.reviewed.accepted == 0
    assert count_reviews() == 0, "nothing waits"


def test_a_verdict_on_the_agent_alone_changes_no_score(steps, ann) -> None:
    say(steps[1], ann, "agent_wrong")
    count_reviews()
    assert not Score.objects.filter(preset=REVIEWED).exists()


def test_a_run_that_ends_after_its_steps_were_reviewed_has_both_scores(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    say(wrong, ann, "both_acceptable")
    count_reviews()
    later = factories.make_trajectory(conversation=wrong.trajectory.conversation).run
    assert later.shards.end_run(later, store_all_scores)
    assert shown(later, REVIEWED)["step_success"] > shown(later, "corrected")["step_success"]
    Score.objects.filter(run=later, preset=REVIEWED).delete()
    RunScores(later).store()
    assert not Score.objects.filter(run=later, preset=REVIEWED).exists(), "the opposite: recorded gold alone"


def test_a_run_under_way_is_left_to_its_end(steps, ann) -> None:
    wrong = next(step for step in steps if not step.success)
    Run.objects.filter(pk=wrong.run_id).update(state=Run.State.RUNNING)
    say(wrong, ann, "both_acceptable")
    assert count_reviews() == 0
    assert not Review.objects.uncounted().exists()


def test_each_person_has_one_review_of_a_step_and_one_of_the_whole(steps, ann) -> None:
    one = say(steps[0], ann, "agent_wrong")
    assert say(steps[0], ann, "gold_wrong").pk == one.pk
    whole = Review.objects.give(steps[0].trajectory, None, ann, "page_broken")
    assert Review.objects.give(steps[0].trajectory, None, ann, "agent_wrong").pk == whole.pk
    assert list(Review.objects.of_whole(steps[0].trajectory)) == [whole]
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.create(trajectory=steps[0].trajectory, reviewer=ann, changed_at=whole.changed_at)


@pytest.mark.parametrize(
    ("verdict", "more", "message"),
    [
        ("lazy", {}, "A verdict is one of"),
        ("gold_wrong", {"comment": "x" * 5_001}, "at most 5,000 characters; this one has 5,001"),
        ("gold_wrong", {"comment": "a\0b"}, "NUL"),
    ],
)
def test_what_makes_no_sense_is_refused(steps, ann, verdict, more, message) -> None:
    with pytest.raises(BadReview, match=message):
        say(steps[0], ann, verdict, **more)
    assert not Review.objects.exists()


def test_a_reason_must_be_of_the_verdict_and_of_the_project(steps, ann) -> None:
    own = ReviewReason.objects.ensured_for(steps[0].run.dataset.project).filter(verdict="gold_wrong").first()
    foreign = ReviewReason.objects.ensured_for(factories.make_project()).filter(verdict="gold_wrong").first()
    assert say(steps[0], ann, "gold_wrong", reason=own).reason == own
    for verdict, reason in (("agent_wrong", own), ("gold_wrong", foreign)):
        with pytest.raises(BadReview, match="none of this verdict"):
            say(steps[0], ann, verdict, reason=reason)


def test_without_a_recorded_action_gold_is_neither_wrong_nor_matched(steps, ann) -> None:
    last = steps[-1]
    turn = last.followed
    TrajectoryStep.objects.filter(pk=last.pk).update(step=None, turn=turn)
    last.refresh_from_db()
    for verdict in ("gold_wrong", "both_acceptable"):
        with pytest.raises(BadReview, match="no recorded action"):
            say(last, ann, verdict)
    assert say(last, ann, "page_broken").verdict == "page_broken"


def test_nothing_that_the_agent_did_not_do_is_acceptable(steps, ann) -> None:
    TrajectoryStep.objects.filter(pk=steps[1].pk).update(operation="", node_id="", error="no reply")
    steps[1].refresh_from_db()
    with pytest.raises(BadReview, match="did nothing"):
        say(steps[1], ann, "both_acceptable")


def test_reasons_start_with_ours_once(db) -> None:
    project = factories.make_project()
    count = ReviewReason.objects.ensured_for(project).count()
    assert count > 10
    ReviewReason.objects.ensured_for(project).first().delete()
    assert ReviewReason.objects.ensured_for(project).count() == count - 1, "what was removed does not come back"


def test_gold_that_is_mended_in_a_part_changes_the_scores_of_that_part(steps, ann) -> None:
    """The element stays wrong, the operation turns out to be right: operation F1 follows, and says by which step."""
    row = next(step for step in steps if not step.success)
    run, element, gold = row.run, row.step.targets.first().node_id, row.step.operation
    other = "CLICK" if gold == "SELECT" else "SELECT"  # what makes sense at the element
    value = "" if other == "CLICK" else "Boston"
    done = {"operation": other, "value": value, "node_id": "99"}
    TrajectoryStep.objects.filter(pk=row.pk).update(**done, element_correct=False, operation_f1=0.0, success=False)
    store_all_scores(run)
    row.refresh_from_db()
    words = row.verdict(list(row.step.targets.all()), 50)
    assert f"operation wrong: {other} instead of {gold}" in words
    correction = Correction.objects.ask(row.step, ann, "It is another operation.")
    CorrectionDesk(correction).propose(ann, other, value, element)
    CorrectionDesk(correction).accept(factories.make_user(Role.REVIEWER, run.dataset.project))
    count_reviews()
    before, after = shown(run, "corrected"), shown(run, REVIEWED)
    assert after["operation_f1"] > before["operation_f1"]
    assert after["step_success"] == before["step_success"]
    assert run.reviewed.corrected == 1
    (told,) = corrected_steps(rules.Rights(factories.make_superuser()), [run])
    assert told.runs == [(run, False, False)]
    row = TrajectoryStep.objects.get(pk=row.pk)
    assert row.verdict(list(row.step.targets.all()), 50) == words, "the agent was judged by the gold before it"
