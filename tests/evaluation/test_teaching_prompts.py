"""The prompt of a lesson is the one that a planner is asked at that step, with the earlier turns."""

from typing import Any

import pytest

from agents.memory.encoding import memory_encoder, snippet_form
from agents.memory.retrieve import DatasetMemory
from agents.models import Trajectory
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.stages.kind import Parts
from agents.stages.registry import told
from annotations.models import Role
from evaluation.models import Review
from evaluation.teaching.composing import RECIPE
from evaluation.teaching.records import FORMS, LessonLines
from tests import factories
from tests.evaluation.test_training_of_recipes import _Everything, _Keeps

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hash_encoder")]


@pytest.fixture
def trajectory() -> Trajectory:
    """Of a train conversation of three turns, on pages with five elements, so that every draw of five is the same."""
    conversation = factories.make_conversation(turns=3, steps=2)
    return factories.make_trajectory(conversation=conversation)


def taught(trajectory: Trajectory, seq: int, form: str) -> dict[str, Any]:
    """The line of a step at which somebody called the agent wrong."""
    step, dataset = trajectory.steps.get(seq=seq), trajectory.run.dataset
    Review.objects.give(trajectory, step, factories.make_user(Role.REVIEWER, dataset.project), "agent_wrong")
    (line,) = FORMS[form](LessonLines(dataset))
    return line


def asked(trajectory: Trajectory, seq: int) -> list[dict[str, str]]:
    """What a planner of the same recipe is asked there first."""
    recorded, keeps, encoder = RecordedConversation(trajectory.conversation_id), _Keeps(), memory_encoder(RECIPE)
    step = next(one for one in recorded.steps if one.pk == trajectory.steps.get(seq=seq).step_id)
    memory = DatasetMemory(trajectory.run.dataset, encoder, snippet_form(RECIPE))
    parts = Parts(RECIPE, 0, None, memory, encoder, ranker=_Everything(), generator=keeps)
    Pipeline.of(parts).decide([recorded.observation(step, told=told(RECIPE))])
    return [{"role": said.role, "content": said.content} for said in keeps.prompts[0].chat()]


@pytest.mark.parametrize(("seq", "earlier"), [(1, 0), (5, 4)])
def test_the_prompt_of_a_lesson_is_what_the_planner_is_asked_at_that_step(trajectory, seq, earlier) -> None:
    """With each step of the earlier turns, its question and its answer."""
    line = taught(trajectory, seq, "dpo")
    assert line["prompt"] == asked(trajectory, seq)
    assert [said["role"] for said in line["prompt"]] == ["system", *["user", "assistant"] * earlier, "user"]
    assert line["prompt_recipe"] == "mindact"


def test_an_earlier_turn_is_taught_with_its_right_answers(trajectory) -> None:
    answers = [said["content"] for said in taught(trajectory, 2, "sft")["messages"] if said["role"] == "assistant"]
    assert ["Action: TYPE\nValue: red shoes" in said for said in answers[:-1]] == [True, False]
    assert "Action: SELECT\nValue: price" in answers[1]


@pytest.mark.parametrize("best", ["6", "12", "14"])
def test_what_the_judged_agent_ranked_highest_is_offered_besides(trajectory, monkeypatch, best: str) -> None:
    """As an agent is offered the best of its ranker: what it held for likely, too, is what is hard to tell apart."""
    monkeypatch.setattr("evaluation.teaching.composing.OTHERS", 1)
    trajectory.steps.filter(seq=0).update(node_id="9", operation="CLICK", candidate_ids=["2", "9", best, "5"])
    line = taught(trajectory, 0, "dpo")
    assert (line["action"]["node_id"], line["rejected_action"]["node_id"]) == ("5", "9")
    question = line["prompt"][-1]["content"]
    shown = {"6": "(select", "12": "First", "14": "Second"}
    assert [node for node, words in shown.items() if words in question.partition("Previous")[2]] == [best]
