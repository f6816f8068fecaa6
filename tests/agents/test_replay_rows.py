"""What the replay page and the API say about a trajectory, with and without the permission to see gold."""

import json

import pytest

from agents.models import TrajectoryStep
from agents.models.steps import MARKED_CANDIDATES
from agents.replay import rows
from annotations.models import Step, Target
from tests.factories import make_conversation, make_run, make_screenshot, make_trajectory, make_trajectory_step

pytestmark = pytest.mark.django_db


def gold_steps(trajectory):
    return list(Step.objects.filter(turn__conversation=trajectory.conversation).order_by("turn__index", "index"))


def one_step(**fields):
    """A trajectory whose first step (gold: TYPE "red shoes" into 5) has these fields."""
    trajectory = make_trajectory(stored=0)
    make_trajectory_step(trajectory, gold_steps(trajectory)[0], 0, **fields)
    return trajectory


def test_rows_after_a_number_are_the_later_ones_in_order():
    trajectory = make_trajectory(conversation=make_conversation(turns=2, steps=2))
    assert [row["seq"] for row in rows.rows(trajectory, gold=True)] == [0, 1, 2, 3]
    assert [row["seq"] for row in rows.rows(trajectory, gold=True, after=1)] == [2, 3]
    assert rows.rows(trajectory, gold=True, after=3) == []


def test_rows_take_two_queries_whatever_their_number(django_assert_num_queries):
    trajectory = make_trajectory(conversation=make_conversation(turns=3, steps=3))
    with django_assert_num_queries(2):
        assert len(rows.rows(trajectory, gold=True)) == 9


def test_a_row_says_what_was_decided_and_what_was_right():
    row = rows.rows(make_trajectory(), gold=True)[0]
    assert row["operation"] == "CLICK"
    assert row["action_repr"] == "[button]  Search -> CLICK"
    assert row["success"] is False
    assert row["gold"]["operation"] == "TYPE"
    assert row["gold"]["node_ids"] == ["5"]
    assert (row["turn_index"], row["step_index"], row["instruction"]) == (0, 0, "Please do part 1 of the task.")


def test_a_row_names_the_screenshot_of_its_recorded_step_without_reading_it(django_assert_num_queries):
    trajectory = make_trajectory(conversation=make_conversation(turns=1, steps=2))
    shot = make_screenshot()
    Step.objects.filter(pk=gold_steps(trajectory)[0].pk).update(screenshot=shot)
    with django_assert_num_queries(2) as asked:
        pictured = [row.get("screenshot") for row in rows.rows(trajectory, gold=True)]
    assert pictured == [shot.sha256, None]
    assert "media_type" not in asked.captured_queries[0]["sql"]
    assert rows.detail(trajectory, 0, gold=True)["screenshot"] == shot.sha256
    hidden = [row.get("screenshot") for row in rows.rows(trajectory, gold=False)]
    assert hidden == [None, None], "hidden with the gold"


def test_progress_counts_what_is_stored():
    trajectory = make_trajectory(conversation=make_conversation(turns=2, steps=2), stored=3)
    progress = rows.progress(trajectory, [], gold=True)
    assert (progress["state"], progress["stored"], progress["step_count"]) == ("running", 3, 4)


def test_the_outline_names_every_turn_with_its_steps():
    trajectory = make_trajectory(conversation=make_conversation(turns=2, steps=3), stored=0)
    assert trajectory.outline() == [
        {"index": 0, "instruction": "Please do part 1 of the task.", "step_count": 3},
        {"index": 1, "instruction": "Please do part 2 of the task.", "step_count": 3},
    ]


def test_the_detail_of_a_step_that_is_not_stored_does_not_exist():
    with pytest.raises(TrajectoryStep.DoesNotExist):
        rows.detail(make_trajectory(stored=0), 0, gold=True)


def test_candidates_come_best_first_with_the_texts_that_were_recorded():
    trajectory = one_step(
        candidate_ids=["9", "5"],
        candidate_scores=[0.9, 0.5],
        trace={"rank": {"top": [{"node_id": "9", "text": "button Search", "score": 0.9}]}},
    )
    assert rows.detail(trajectory, 0, gold=True)["candidates"] == [
        {"node_id": "9", "score": 0.9, "text": "button Search"},
        {"node_id": "5", "score": 0.5, "text": ""},
    ]


def test_marks_are_gold_then_predicted_then_the_first_candidates_with_their_ranks():
    ids = [str(number) for number in range(20, 50)]
    trajectory = one_step(node_id="20", candidate_ids=[*ids[:2], "5", *ids[2:]], candidate_scores=[0.5] * 31)
    marks = rows.detail(trajectory, 0, gold=True)["marks"]
    assert marks[0] == {"id": "5", "kind": "gold", "label": "gold · rank 3"}
    assert marks[1] == {"id": "20", "kind": "predicted", "label": "predicted · rank 1"}
    assert marks[2] == {"id": "21", "kind": "candidate", "label": "2"}
    assert len(marks) == MARKED_CANDIDATES


def test_an_element_that_was_not_ranked_says_so_in_its_mark():
    trajectory = one_step(node_id="9", candidate_ids=["12"], candidate_scores=[0.5])
    labels = [mark["label"] for mark in rows.detail(trajectory, 0, gold=True)["marks"]]
    assert labels == ["gold · not ranked", "predicted · not ranked", "1"]


def test_records_of_unknown_stages_pass_through():
    trajectory = one_step(trace={"dream": {"of": "sheep"}, "plan": "just text", "seconds": {"plan": 0.5}})
    trace = rows.detail(trajectory, 0, gold=True)["trace"]
    assert trace == {"dream": {"of": "sheep"}, "plan": "just text", "seconds": {"plan": 0.5}}


SECRET = "[input]  the gold action -> TYPE: secret value"


def secretive():
    """A trajectory of a test split; everything that tells its gold action holds the word "secret"."""
    conversation = make_conversation(turns=1, steps=1, split="test_task")
    Step.objects.filter(turn__conversation=conversation).update(value="secret value", action_repr=SECRET)
    trajectory = make_trajectory(make_run(conversation.dataset, split="test_task"), conversation, stored=0)
    trace = {
        "observe": {"elements": 18, "candidates": 5},
        "rank": {"query": SECRET, "top": [{"node_id": "9", "text": "button Search", "score": 0.9}]},
        "recall": {
            "query": SECRET,
            "of": 4,
            "snippets": [
                {
                    "step": 1,
                    "turn_index": 0,
                    "step_index": 0,
                    "instruction": "Earlier",
                    "action": SECRET,
                    "similarity": 0.5,
                }
            ],
        },
        "compose": {"prompt": SECRET},
        "plan": {"reply": "CLICK 9", "why": {"value": SECRET}},
        "act": {"representation": "button Search → CLICK"},
        "dream": {"of": SECRET},
        "note": SECRET,
        "seconds": {"rank": 0.1},
    }
    make_trajectory_step(trajectory, gold_steps(trajectory)[0], 0, gold_rank=1, trace=trace)
    return trajectory


def test_without_gold_nothing_that_tells_it_leaves():
    trajectory = secretive()
    shown = [*rows.rows(trajectory, gold=False), rows.detail(trajectory, 0, gold=False)]
    assert "secret" not in json.dumps(shown)
    for row in shown:
        judged = ("success", "element_correct", "operation_f1", "gold_rank", "gold")
        assert [row[name] for name in judged] == [None] * 5
    assert "secret" in json.dumps(rows.detail(trajectory, 0, gold=True))


def test_without_gold_what_the_agent_did_is_not_shown_either():
    """A ranking, a prompt or a decision was made on a page that tells what the steps before did."""
    trajectory = secretive()
    hidden, shown = (rows.detail(trajectory, 0, gold=gold) for gold in (False, True))
    told = ("marks", "memory", "trace", "candidates", "operation", "node_id", "action_repr")
    assert not any(hidden[name] for name in told)
    assert all(shown[name] for name in ("marks", "memory", "trace", "operation", "action_repr"))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"element_correct": True, "operation": "TYPE", "value": "red shoes", "gold_rank": 0},
            ["right element", "operation right"],
        ),
        (
            {"operation": "TYPE", "value": "red shoes", "gold_rank": 1},
            ["wrong element", "gold was rank 2 of 50", "operation right"],
        ),
        (
            {"operation": "CLICK", "gold_rank": None},
            ["wrong element", "gold was not among the 50 ranked", "operation wrong: CLICK instead of TYPE"],
        ),
        (
            {"element_correct": True, "operation": "TYPE", "value": "shoes", "operation_f1": 0.8, "gold_rank": 0},
            ["right element", "operation right", "value differs (F1 0.80)"],
        ),
        (
            {"element_correct": True, "operation": "TYPE", "value": "shoes red", "operation_f1": 1.0, "gold_rank": 3},
            ["right element", "gold was rank 4 of 50", "operation right", "value right but for case, spaces or order"],
        ),
        ({"operation": "", "node_id": "", "error": "the page is empty"}, ["no decision", "the page is empty"]),
        (
            {"operation": "", "node_id": "9", "gold_rank": 1},
            ["wrong element", "gold was rank 2 of 50", "an element only, no operation"],
        ),
    ],
)
def test_the_verdict_is_in_plain_words(fields, words):
    step = one_step(**fields).steps.get()
    assert step.verdict(list(step.step.targets.all()), 50) == words


def test_an_utterance_has_no_element_that_a_ranking_could_miss():
    step = one_step(operation="", node_id="9", gold_rank=None).steps.get()
    assert step.verdict([], 50) == ["the gold action has no element to rank"]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"reply": "Well."}, ["the reply names no action"]),
        ({"left_out": "not among the turns"}, ["no model was asked: not among the turns"]),
    ],
)
def test_where_nothing_was_done_it_is_said_why(plan, words):
    step = one_step(operation="", node_id="", gold_rank=None, trace={"plan": plan}).steps.get()
    assert step.verdict([], 50) == words


def test_the_verdict_says_that_the_gold_element_is_not_in_the_page():
    step = one_step(gold_rank=None).steps.get()
    Target.objects.update(pruned=True, node_order=None)
    assert step.verdict(list(step.step.targets.all()), 50)[1] == "the gold element is not in the page"
