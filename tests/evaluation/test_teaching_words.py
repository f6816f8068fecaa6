"""What people said of an action teaches nothing once the words that the agent followed were corrected."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from agents.models import Trajectory
from annotations.corpus.correct.rewording import WordingDesk
from annotations.corpus.wordings import EarlierWords
from annotations.models import Conversation, Role, Turn, TurnCorrection
from evaluation.models import Review
from evaluation.teaching.collecting import Teaching
from evaluation.teaching.records import FORMS, LessonLines, count
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    """Of a train conversation of two turns with two steps each."""
    return factories.make_trajectory()


def reword(turn: Turn, instruction: str, first_step: int | None = None) -> TurnCorrection:
    """Two people correct what a turn says, or where it begins."""
    project = turn.conversation.dataset.project
    writer, judge = (factories.make_user(Role.ADMIN, project) for _ in range(2))
    found = TurnCorrection.objects.ask(turn, writer, "Nobody says it so.")
    WordingDesk(found).propose(writer, instruction, str(first_step or ""), sure=True)
    WordingDesk(TurnCorrection.objects.get(pk=found.pk)).accept(judge, sure=True)
    return TurnCorrection.objects.get(pk=found.pk)


def say(trajectory: Trajectory, seq: int, verdict: str) -> None:
    reviewer = factories.make_user(Role.REVIEWER, trajectory.run.dataset.project)
    Review.objects.give(trajectory, trajectory.steps.get(seq=seq), reviewer, verdict)


def lines(trajectory: Trajectory) -> list[dict[str, Any]]:
    return [line for form in FORMS.values() for line in form(LessonLines(trajectory.run.dataset))]


@pytest.mark.parametrize("verdict", ["agent_wrong", "both_acceptable"])
def test_a_verdict_on_what_an_agent_did_by_other_words_teaches_nothing_and_is_counted(trajectory, verdict) -> None:
    dataset = trajectory.run.dataset
    say(trajectory, 0, verdict)
    assert lines(trajectory)
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    assert lines(trajectory) == []
    assert Teaching.lessons_of(dataset) == []
    for found in (Teaching(dataset).steps(), Teaching(dataset).counted()):
        assert (count(found).steps, count(found).reworded) == (0, 1)


def test_a_verdict_on_what_an_agent_did_by_the_new_words_stands(trajectory) -> None:
    dataset = trajectory.run.dataset
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    later = factories.make_trajectory(factories.make_run(dataset), trajectory.conversation)
    say(trajectory, 0, "both_acceptable")
    say(later, 0, "agent_wrong")
    (line,) = FORMS["process"](LessonLines(dataset))
    assert (line["trajectory"], line["label"]) == (later.pk, False)
    assert "Task: Look for blue hats." in line["prompt"][-1]["content"]
    assert count(Teaching(dataset).steps()).reworded == 1


def test_a_verdict_at_a_turn_that_says_what_it_said_stands(trajectory) -> None:
    say(trajectory, 2, "agent_wrong")
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    assert len(lines(trajectory)) == 3
    assert count(Teaching(trajectory.run.dataset).steps()).reworded == 0


def test_gold_that_is_called_wrong_stays_out_whatever_the_words(trajectory) -> None:
    say(trajectory, 0, "gold_wrong")
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    found = count(Teaching(trajectory.run.dataset).steps())
    assert (found.left_out, found.reworded) == (1, 0)


def test_page_rest_and_command_say_how_many_were_left_out(trajectory, tmp_path: Path, capsys) -> None:
    dataset = trajectory.run.dataset
    say(trajectory, 0, "agent_wrong")
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    reader = client_of(factories.make_user(Role.READER, dataset.project))
    page = reader.get(reverse("dataset-lessons", args=[dataset.name])).content.decode()
    row = page.partition("Verdicts left out")[2].partition("</tr>")[0]
    assert '<td class="n">1</td>' in row
    assert reader.get(f"/api/datasets/{dataset.pk}/lessons/").json()["reworded"] == 1
    call_command("export_lessons", dataset.name, "dpo", str(tmp_path / "out.jsonl"), "--json")
    told = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert (told["lines"], told["left_out"], told["reworded"]) == (0, 0, 1)
    call_command("export_lessons", dataset.name, "dpo", str(tmp_path / "out.jsonl"))
    assert "1 verdicts on actions by words that were corrected since" in capsys.readouterr().out


def words(conversation: Conversation, ago: int = 0) -> list[str | None]:
    """What was said at each step so many seconds ago; None where it is said now."""
    found, when = EarlierWords([conversation.pk]), timezone.now() - timedelta(seconds=ago)
    order = [step for turn in conversation.turns.order_by("index") for step in turn.steps.order_by("index")]
    return [found.at(step.pk, when) for step in order]


def test_words_of_a_time_are_known_after_several_corrections_and_moved_cuts() -> None:
    conversation = factories.make_conversation(turns=2, steps=2)
    first, second = conversation.turns.order_by("index")
    was = (first.instruction, second.instruction)
    begins = first.steps.order_by("index").last().pk
    for ago, (turn, said, step) in (
        (30, (first, "Once.", None)),
        (20, (second, was[1], begins)),
        (10, (first, "Twice.", None)),
    ):
        found = reword(Turn.objects.get(pk=turn.pk), said, step)
        TurnCorrection.objects.filter(pk=found.pk).update(decided_at=timezone.now() - timedelta(seconds=ago))
    assert words(conversation) == [None] * 4
    assert words(conversation, 15) == ["Once.", None, None, None]
    assert words(conversation, 25) == ["Once.", "Once.", None, None], "the step has gone over to the second turn"
    assert words(conversation, 35) == [was[0], was[0], None, None]
