"""Pages that show stored judgements say where gold or words were corrected since, with what stood there then."""

import json
import re

import pytest
from django.test import Client

from agents.models import Run, Trajectory
from agents.runs.exporting import trajectory_lines
from annotations.access import rules
from annotations.corpus.correct.correcting import CorrectionDesk
from annotations.models import Correction, Role
from evaluation.models import Study
from tests import factories
from tests.evaluation.test_teaching_words import reword
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    """Of a train conversation of two turns with two steps each, all of which fail."""
    return factories.make_trajectory()


@pytest.fixture
def study(trajectory: Trajectory) -> Study:
    return factories.make_study(runs=[trajectory.run])


@pytest.fixture
def reader(trajectory: Trajectory) -> Client:
    return client_of(factories.make_user(Role.READER, trajectory.run.dataset.project))


def correct(trajectory: Trajectory, seq: int) -> None:
    """Two people correct the gold of a step: it is a click on the first link."""
    step, project = trajectory.steps.get(seq=seq).step, trajectory.run.dataset.project
    writer, judge = (factories.make_user(Role.ADMIN, project) for _ in range(2))
    found = Correction.objects.ask(step, writer, "It is another.")
    CorrectionDesk(found).propose(writer, "CLICK", "", "12")
    CorrectionDesk(Correction.objects.get(pk=found.pk)).accept(judge)


def listed(page: str) -> int:
    return len(re.findall(r">step\s+\d+</a", page))


def test_failures_say_how_many_were_judged_by_gold_that_was_corrected_since(trajectory, study, reader) -> None:
    address = f"/studies/{study.pk}/failures/"
    assert "corrected-since" not in source(reader.get(address))
    correct(trajectory, 0)
    page = source(reader.get(address))
    said = page.partition('id="corrected-since"')[2].partition("</p>")[0]
    assert f'href="?run={trajectory.run_id}&amp;since=gold"' in said
    assert "1 of its failed" in said
    assert "were judged" not in said
    among = source(reader.get(address, {"run": trajectory.run_id, "since": "gold"}))
    assert (listed(page), listed(among)) == (4, 1)
    assert "judged by: TYPE “red shoes”" in among
    assert "CLICK" in among.partition("judged by:")[0].rpartition("<td")[2], "the gold of today stands above it"
    later = factories.make_trajectory(factories.make_run(trajectory.run.dataset), trajectory.conversation)
    study.runs.add(later.run)
    assert "corrected-since" not in source(reader.get(address, {"run": later.run_id})), "judged by the gold of today"


def test_failures_say_how_many_follow_words_that_were_corrected_since(trajectory, study, reader) -> None:
    turn = trajectory.steps.get(seq=2).step.turn
    reword(turn, "Then book the cheaper one.")
    page = source(reader.get(f"/studies/{study.pk}/failures/"))
    assert f'href="?run={trajectory.run_id}&amp;since=words">2 of its failed' in " ".join(page.split())
    among = source(reader.get(f"/studies/{study.pk}/failures/", {"since": "words"}))
    assert listed(among) == 2
    assert among.count(f"the agent was told: {turn.instruction}") == 2


def test_the_replay_says_what_stood_there_when_the_agent_decided(trajectory, reader) -> None:
    row = trajectory.steps.get(seq=0)
    was, said = str(row.step), row.step.turn.instruction
    detail = f"/trajectories/{trajectory.pk}/steps/0/view/"
    assert reader.get(detail).json()["detail"]["before"] == {}
    correct(trajectory, 0)
    assert reader.get(detail).json()["detail"]["before"] == {"gold": was}
    reword(row.step.turn, "Look for blue hats.")
    told = {"gold": was, "instruction": said, "now": "Look for blue hats."}
    assert reader.get(detail).json()["detail"]["before"] == told
    later = factories.make_trajectory(factories.make_run(trajectory.run.dataset), trajectory.conversation)
    assert reader.get(f"/trajectories/{later.pk}/steps/0/view/").json()["detail"]["before"] == {}


def test_what_is_handed_out_says_it_too(trajectory) -> None:
    """The lines of a run and the file of a replay showed today's words alone."""
    reader = client_of(factories.make_user(Role.REVIEWER, trajectory.run.dataset.project))

    def told() -> list[dict]:
        (line,) = trajectory_lines(trajectory.run, rules.Rights(factories.make_superuser()))
        return [step["before"] for step in json.loads(line)["steps"]]

    was, said = (str(trajectory.steps.get(seq=0).step), trajectory.steps.get(seq=0).step.turn.instruction)
    assert told() == [{}, {}, {}, {}]
    assert "corrected since this run" not in source(reader.get(f"/trajectories/{trajectory.pk}/file/"))
    correct(trajectory, 0)
    reword(trajectory.steps.get(seq=0).step.turn, "Look for blue hats.")
    words = {"instruction": said, "now": "Look for blue hats."}
    assert told() == [{"gold": was} | words, words, {}, {}]
    page = source(reader.get(f"/trajectories/{trajectory.pk}/file/"))
    assert page.count(f"the agent was told “{said}”") == 2
    assert page.count("the gold was TYPE “red shoes”") == 1
    hidden = rules.Rights(factories.make_user(Role.READER, trajectory.run.dataset.project))
    trajectory.conversation.__class__.objects.filter(pk=trajectory.conversation_id).update(split="test_task")
    (line,) = trajectory_lines(Run.objects.get(pk=trajectory.run_id), hidden)
    assert [step["before"] for step in json.loads(line)["steps"]] == [None] * 4


def test_who_may_not_see_gold_is_told_nothing_of_it(reader, trajectory) -> None:
    correct(trajectory, 0)
    trajectory.conversation.__class__.objects.filter(pk=trajectory.conversation_id).update(split="test_task")
    assert reader.get(f"/trajectories/{trajectory.pk}/steps/0/view/").json()["detail"]["before"] == {}
