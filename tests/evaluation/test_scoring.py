"""From a decision to a judgement, and from stored rows to scores."""

import pytest

from agents.cookbook import checking, deviations
from agents.models import Run, Trajectory
from agents.recipes import literature
from agents.recipes.settings import Quirks
from agents.stages.known import kinds
from agents.stages.plan.choice import action_of
from agents.stages.plan.kinds import Planning, PublishedJudging
from agents.stages.registry import judging_of
from agents.types import Action, RankedCandidate
from agents.words.parse import parse_multichoice
from evaluation.models import Score
from evaluation.scores.judging import Gold, Judgement, judge, judge_as_published
from evaluation.scores.scoring import RunScores
from tests import factories

RANKING = tuple(RankedCandidate(node_id, 1.0 - rank / 10, rank, "") for rank, node_id in enumerate("abcd"))


@pytest.mark.parametrize(
    ("action", "gold", "expected"),
    [
        (Action("CLICK", "a"), Gold("CLICK", "", ("a",)), Judgement(True, 1.0, True, 0)),
        (Action("CLICK", "a"), Gold("CLICK", "", ("c",)), Judgement(False, 1.0, False, 2)),
        (Action("CLICK", "c"), Gold("CLICK", "", ("c", "b")), Judgement(True, 1.0, True, 1)),
        (Action("TYPE", "a", "red shoes"), Gold("TYPE", "red shoes", ("a",)), Judgement(True, 1.0, True, 0)),
        (Action("TYPE", "a", "red"), Gold("TYPE", "red shoes", ("a",)), Judgement(True, 0.8, False, 0)),
        (Action("CLICK", "a"), Gold("TYPE", "red shoes", ("a",)), Judgement(True, 0.0, False, 0)),
        (Action("CLICK", "a", "ignored"), Gold("CLICK", "other", ("a",)), Judgement(True, 1.0, True, 0)),
        (Action("CLICK", "a"), Gold("CLICK", "", ()), Judgement(False, 1.0, False, None)),
        (Action("CLICK", None), Gold("CLICK", "", ()), Judgement(False, 1.0, False, None)),
        (None, Gold("CLICK", "", ("b",)), Judgement(False, 0.0, False, 1)),
        (Action("", "a"), Gold("TYPE", "red shoes", ("a",)), Judgement(True, 0.0, True, 0)),
        (Action("", "a"), Gold("CLICK", "", ("c",)), Judgement(False, 0.0, False, 2)),
    ],
    ids=[
        "right",
        "wrong element",
        "one of several",
        "typed",
        "half typed",
        "wrong operation",
        "click has no value",
        "gold pruned",
        "no element at all",
        "no action",
        "an element alone, right",
        "an element alone, wrong",
    ],
)
def test_a_decision_is_judged_by_element_and_by_operation(action, gold, expected) -> None:
    found = judge(action, RANKING, gold)
    assert (found.element_correct, found.success, found.gold_rank) == (
        expected.element_correct,
        expected.success,
        expected.gold_rank,
    )
    assert found.operation_f1 == pytest.approx(expected.operation_f1)


@pytest.fixture
def run(db) -> Run:
    """Two conversations, of one turn with three steps and of two turns with three each: only CLICKs are right."""
    recipe = literature.to_dict(literature.override(literature.get("grounded"), {"rank.top_k": "2"}))
    dataset = factories.make_dataset()
    run = factories.make_run(dataset, recipe=recipe)
    for turns in (1, 2):
        factories.make_trajectory(run, factories.make_conversation(turns=turns, steps=3, dataset=dataset))
    return run


def value(run: Run, preset: str, metric: str, grouping: str) -> float:
    return Score.objects.get(run=run, preset=preset, metric=metric, grouping=grouping).value


def test_scores_follow_from_the_rows(run) -> None:
    assert RunScores(run).store() == 9
    for grouping in ("step", "turn", "conversation"):
        assert value(run, "corrected", "element_accuracy", grouping) == pytest.approx(1 / 3)
    assert value(run, "corrected", "turn_success", "conversation") == 0
    assert value(run, "corrected", "recall@1", "step") == pytest.approx(1 / 3)
    assert value(run, "corrected", "recall@5", "step") == 1


def test_a_turn_succeeds_when_all_of_its_steps_do(run) -> None:
    conversation = run.trajectories.order_by("id").last().conversation
    run.steps.filter(step__turn=conversation.turns.get(index=1)).update(success=True)
    RunScores(run).store()
    assert value(run, "corrected", "turn_success", "turn") == pytest.approx(1 / 3)
    assert value(run, "corrected", "turn_success", "conversation") == pytest.approx(1 / 4)
    assert value(run, "corrected", "conversation_success", "conversation") == 0


def test_faithful_fails_steps_whose_gold_element_is_not_among_the_first_k(run) -> None:
    run.steps.filter(success=True).update(gold_rank=2)
    assert [outcome.skipped for outcome in RunScores(run).outcomes("faithful")] == [False, False, True] * 3
    assert not any(outcome.success or outcome.element_correct for outcome in RunScores(run).outcomes("faithful"))
    assert sum(outcome.success for outcome in RunScores(run).outcomes("corrected")) == 3
    run.steps.update(gold_rank=None)
    assert all(outcome.skipped for outcome in RunScores(run).outcomes("faithful"))
    assert not any(outcome.skipped for outcome in RunScores(run).outcomes("corrected"))


Q6 = "quirks.q6_overlooks_last_skipped"


@pytest.mark.parametrize(
    ("recipe", "changes", "turns"),
    [
        ("grounded", {}, 3),
        ("deberta", {}, 3),
        ("synapse", {}, 3),
        ("mindact", {}, 2),
        ("mindact", {Q6: "false"}, 3),
        ("self-map", {}, 2),
        ("self-map", {Q6: "false"}, 3),
        ("self-map", {"preset": "corrected"}, 3),
        ("self-map", {"preset": "corrected", Q6: "true"}, 2),
    ],
)
def test_only_published_loops_overlook_what_is_skipped_at_the_end(run, recipe, changes, turns) -> None:
    """Q6: agents without a published evaluation are compared over the same steps, and so are those where it is off."""
    varied = checking.vary(literature.get(recipe), changes)
    assert ("quirks-off" in [one.key for one in deviations.of_recipe(varied)]) == bool(changes)
    run.recipe = literature.to_dict(literature.override(varied, {"rank.top_k": "2"}))
    run.save()
    last = run.trajectories.order_by("id").last().conversation.turns.get(index=1)
    run.steps.filter(step__turn=last).update(gold_rank=5)
    RunScores(run).store()
    assert Score.objects.get(run=run, preset="faithful", metric="element_accuracy", grouping="turn").n == turns


def test_runs_that_were_stored_before_it_had_a_name_overlook_it_as_they_did(run) -> None:
    stored = literature.to_dict(literature.override(literature.get("mindact"), {"preset": "corrected"}))
    stored["quirks"].pop(Q6.partition(".")[2])
    found = judging_of(literature.from_dict(stored))
    assert found is not None
    assert found.overlooks_tail
    mindact = literature.get("mindact")
    before = literature.to_dict(mindact)
    before["quirks"].pop(Q6.partition(".")[2], None)
    assert literature.sha256(literature.from_dict(before)) == literature.sha256(mindact)


def test_outcomes_come_in_the_order_of_the_split(run) -> None:
    found = RunScores(run).outcomes("corrected")
    order = [
        (t.conversation_id, step.seq)
        for t in run.trajectories.order_by("conversation__position")
        for step in t.steps.order_by("seq")
    ]
    assert [outcome.conversation for outcome in found] == [str(conversation) for conversation, _ in order]
    assert [outcome.operation for outcome in found] == ["TYPE", "SELECT", "CLICK"] * 3
    assert [outcome.position for outcome in found] == list(range(9))


def test_scoring_again_replaces_the_scores(run) -> None:
    RunScores(run).store()
    first = list(Score.objects.values_list("preset", "metric", "grouping", "value", "low", "high"))
    RunScores(run).store()
    assert list(Score.objects.values_list("preset", "metric", "grouping", "value", "low", "high")) == first


def test_every_metric_has_one_headline_per_preset(run) -> None:
    RunScores(run).store()
    for preset in ("faithful", "corrected"):
        shown = list(Score.objects.headline(preset).filter(run=run).values_list("metric", flat=True))
        assert len(shown) == len(set(shown))
        assert set(shown) == set(run.scores.filter(preset=preset).values_list("metric", flat=True))


def test_a_run_without_rows_has_no_scores(db) -> None:
    run = factories.make_run(recipe=literature.to_dict(literature.get("grounded")))
    assert RunScores(run).store() == 0
    assert not run.scores.exists()


TYPED = Gold("TYPE", "red - shoes", ("a", "b"))


def judging(planner: str) -> PublishedJudging:
    kind = kinds()["plan.kind"][planner]
    assert issubclass(kind, Planning)
    assert kind.judging
    return kind.judging


@pytest.mark.parametrize(
    ("planner", "action", "text", "expected"),
    [
        ("trajectory", Action("TYPE", "a", "red - shoes"), "TYPE [a] [red - shoes]", (1, 1, True)),
        ("trajectory", Action("TYPE", "a", "red - shoes"), " TYPE [a] [red - shoes]", (1, 1, False)),  # Q20
        ("trajectory", Action("TYPE", "b", "red - shoes"), "TYPE [b] [red - shoes]", (0, 1, False)),  # Q19
        ("trajectory", None, "", (0, 0, False)),
        ("multichoice", Action("TYPE", "b", "red shoes"), "", (1, 2 * 0.75 / 1.75, False)),  # Q25: the dash counts
        ("generation", Action("TYPE", "b", "red shoes"), "", (1, 1, True)),
        ("generation", None, "", (0, 0, False)),
    ],
)
def test_a_decision_is_judged_as_its_planner_was_published(planner, action, text, expected) -> None:
    found = judge_as_published(judging(planner), action, text, TYPED)
    assert tuple(found) == pytest.approx(expected)


CLICKED = Gold("CLICK", "", ("a",))


@pytest.mark.parametrize("planner", ["multichoice", "generation"])
def test_a_value_beside_a_click_fails_the_step_as_published_and_only_there(planner) -> None:
    action = action_of(parse_multichoice("B.\nAction: CLICK\nValue: 2 adults", [("a", "(a id=0 x")]))
    assert judge_as_published(judging(planner), action, "", CLICKED) == (1.0, 0.5, False)
    assert judge(action, RANKING, CLICKED).success
    forgiving = Quirks(click_value_counts=False)
    assert judge_as_published(judging(planner), action, "", CLICKED, forgiving) == (1.0, 1.0, True)


def test_the_quirks_of_judging_can_be_cleared_one_by_one() -> None:
    typed = Action("TYPE", "b", "red shoes")
    assert judge_as_published(judging("multichoice"), typed, "", TYPED, Quirks(q25_punctuation_counts=False)) == (
        1,
        1,
        True,
    )
    act = " TYPE [b] [red - shoes]"
    assert judge_as_published(judging("trajectory"), typed, act, TYPED, Quirks(q19_first_positive_only=False)) == (
        1,
        1,
        False,
    )
    both = Quirks(q19_first_positive_only=False, q20_exact_string_success=False)
    assert judge_as_published(judging("trajectory"), typed, act, TYPED, both) == (1, 1, True)


@pytest.mark.parametrize(("click_value_counts", "f1"), [("true", 0.5), ("false", 1.0)])
def test_a_value_beside_a_click_reaches_the_faithful_scores_of_generation(db, click_value_counts, f1) -> None:
    step = factories.make_step(operation="CLICK")
    recipe = literature.override(literature.get("self-map"), {"quirks.click_value_counts": click_value_counts})
    run = factories.make_run(step.turn.conversation.dataset, recipe=literature.to_dict(recipe))
    trajectory = Trajectory.objects.create(run=run, conversation=step.turn.conversation, step_count=1)
    said = {"operation": "CLICK", "node_id": step.targets.get().node_id, "value": "2 adults"}
    correct = {"element_correct": True, "operation_f1": 1.0, "success": True, "gold_rank": 0}
    factories.make_trajectory_step(trajectory, step, 0, **said, **correct)
    assert [outcome.operation_f1 for outcome in RunScores(run).outcomes("faithful")] == [f1]
    assert [outcome.operation_f1 for outcome in RunScores(run).outcomes("corrected")] == [1.0]


def test_published_quirks_reach_the_faithful_scores_and_only_those(db) -> None:
    step = factories.make_step()
    run = factories.make_run(step.turn.conversation.dataset, recipe=literature.to_dict(literature.get("bare")))
    trajectory = Trajectory.objects.create(run=run, conversation=step.turn.conversation, step_count=1)
    factories.make_trajectory_step(
        trajectory,
        step,
        0,
        element_correct=True,
        operation_f1=1.0,
        success=True,
        gold_rank=0,
        trace={"plan": {"text": "anything else"}},
    )
    assert [step.success for step in RunScores(run).outcomes("faithful")] == [False]
    assert [step.success for step in RunScores(run).outcomes("corrected")] == [True]
