"""Live runs end to end: goals, episodes in real browsers, outcomes, and what happens to them on the way."""

import io
import json
import os
import random
import re
import signal
from contextlib import nullcontext, suppress

import psutil
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals, told_tasks
from agents.live.running import LiveRun
from agents.live.under_way import LOST, NO_ACTION
from agents.models import Run, RunTally, StepPicture, Trajectory, TrajectoryStep
from annotations.models import Dataset, LeaseLost, Screenshot
from evaluation.models import Study
from evaluation.scores.live import episodes_of
from evaluation.studies.running import create_study, resume_study, run_inline
from tests import factories
from tests.live.conftest import KeptBrowser
from tests.live.oracle_agent import OraclePipeline, play_oracles

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("kept_browsers")]
TASKS = ("click-checkboxes", "login-user", "click-button-sequence")


def run_live(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("run_live", *arguments, "--inline", stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def goals(miniwob) -> Dataset:
    dataset = new_goals(factories.make_project(), "goals", "miniwob", steps=12)
    LiveGoals(dataset, miniwob).add(TASKS, range(3))
    return dataset


def planned(goals: Dataset, **more) -> Run:
    return create_study(user=None, dataset=goals, recipes=["grounded"], publish=False, **more).runs.get()


def played(run: Run) -> Run:
    run_inline(run.studies.get())
    return Run.objects.select_related("dataset").with_progress().get(pk=run.pk)


@pytest.mark.slow
def test_the_command_prints_a_line_a_task_with_its_interval(miniwob, hash_encoder) -> None:
    arguments = ("grounded", "miniwob", "--tasks", "click-test", "login-user", "--episodes", "2", "--steps", "3")
    found = json.loads(run_live(*arguments, "--json")[0])
    assert list(found) == [
        *("study", "recipe", "dataset", "environment", "seed", "state", "limits", "episodes", "metrics", "caution"),
        *("tasks", "published"),
    ]
    assert (found["state"], found["episodes"], found["limits"]) == ("done", 4, {"steps": 3, "seconds": 300})
    assert [row["task"] for row in found["tasks"]] == ["click-test", "login-user"]
    assert all(0 <= row["low"] <= row["success"] <= row["high"] <= 1 for row in found["tasks"])
    assert set(found["metrics"]) == {"episode_success", "episode_reward", "episode_steps"}
    beside = found["published"]
    assert beside["tasks"]["login-user"].items() >= {"Synapse": 1.0, "RCI": 1.0, "Human": 0.96, "Pix2Act": None}.items()
    of_system = {mean["name"]: mean for mean in beside["means"]}
    assert (of_system["Synapse"]["tasks"], of_system["Synapse"]["published"]) == (2, 1.0)
    assert of_system["Synapse"]["ours"][0]["value"] == found["metrics"]["episode_success"]["value"]
    assert of_system["Pix2Act"]["tasks"] == 1
    said = run_live(*arguments)[0]
    assert Dataset.objects.filter(source_format="live").count() == 1, "the same goals are made once"
    assert "click-test                              2" in said
    assert re.search(r"^click-test .* 1\.00$", said, re.M), "the column of Synapse"
    assert re.search(r"^Pix2Act +1 +1\.00 ", said, re.M)
    assert "neither is a target for the other" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("grounded", "miniwob", "--tasks", "no-such"), "there is no task 'no-such'"),
        (("no-such", "miniwob", "--tasks", "click-test"), "no-such"),
        (("grounded", "miniwob", "--episodes", "0"), "--episodes must be 1"),
        (("grounded", "miniwob", "--tasks", "click-test", "--steps", "0"), "at least one step"),
        (("grounded", "miniwob", "--tasks", "all", "--episodes", "10000"), "a dataset holds at most"),
        (("grounded", "miniwob", "--tasks", "click-test", "--set", "plan.model=nope"), "nope"),
        (("grounded", "miniwob", "--tasks", "click-test", "--set", "plan.nope=1"), "nope"),
        (("grounded", "miniwob", "--tasks", "click-test", "--seed", "-1"), "seed must lie in"),
    ],
)
def test_what_it_cannot_do_it_says_and_makes_no_goals(miniwob, arguments, words) -> None:
    with pytest.raises(CommandError, match=words):
        run_live(*arguments)
    assert not Run.objects.exists()
    assert not Dataset.objects.filter(source_format="live").exists()


def test_goals_are_made_only_where_the_study_can_run_on_them(goals) -> None:
    arguments = ("miniwob", "--dataset", "goals", "--steps", "12", "--tasks", *TASKS, "use-slider", "--episodes", "3")
    with pytest.raises(CommandError, match="there is no recipe 'groundd'"):
        run_live("groundd", *arguments)
    with pytest.raises(CommandError, match="goals has other goals too"):
        run_live("grounded", *arguments[:5], "--tasks", "use-slider")
    assert goals.conversations.count() == 9


@pytest.mark.slow
def test_episodes_reach_their_goals_and_are_counted_once(goals, monkeypatch) -> None:
    pipeline = OraclePipeline()
    play_oracles(monkeypatch, pipeline)
    run = played(planned(goals))
    assert (run.state, run.step_count, run.done, run.failed) == (Run.State.DONE, 9, 9, 0)
    assert run.progress().fields["headline"].startswith("9 of 9 episodes")
    assert [(one.task, one.seed, one.reward) for one in episodes_of(run.trajectories.all())] == [
        (task, seed, 1.0) for task in TASKS for seed in range(3)
    ]
    assert max(pipeline.rounds) == 2, "episodes are decided together"
    headline = {score.metric: score.value for score in run.scores.headline("corrected")}
    assert headline["episode_success"] == headline["episode_reward"] == 1.0
    for row in run.trajectories.all():
        steps = list(row.steps.all())
        assert row.state == Trajectory.State.DONE
        assert len(steps) == row.step_count
        assert [step.seq for step in steps] == list(range(len(steps)))
        assert all(step.snapshot and step.url and step.outcome for step in steps)
        assert [step.reward for step in steps] == [0.0] * (len(steps) - 1) + [1.0]
        assert [bool(step.snapshot_after) for step in steps] == [False] * (len(steps) - 1) + [True]
        assert all(None not in step.pages_around for step in steps), "the last one's page, too, is known"


def test_an_agent_that_does_nothing_and_one_that_never_ends_are_stopped(goals, monkeypatch) -> None:
    play_oracles(monkeypatch, OraclePipeline())
    monkeypatch.setattr("tests.live.oracle_agent.ORACLES", dict.fromkeys(TASKS, lambda page: None))
    run = played(planned(goals, limit=2))
    assert [row.steps.get().outcome for row in run.trajectories.all()] == [NO_ACTION] * 2
    assert [row.steps.get().snapshot_after for row in run.trajectories.all()] == [None] * 2
    assert [one.reward for one in episodes_of(run.trajectories.all())] == [0.0, 0.0]


def test_limits_end_an_episode_without_a_reward(miniwob, monkeypatch) -> None:
    goals = new_goals(factories.make_project(), "short", "miniwob", steps=1)
    LiveGoals(goals, miniwob).add(["login-user"], range(2))
    play_oracles(monkeypatch, OraclePipeline())
    run = played(planned(goals))
    assert [(one.steps, one.reward) for one in episodes_of(run.trajectories.all())] == [(1, 0.0)] * 2
    for row in run.trajectories.all():
        before, after = row.steps.get().pages_around
        assert before != after, "what the last action did is kept where a limit ends the episode, too"


def kill_browsers(spared: EnvironmentProcess, most: int) -> None:
    """Of at most so many of this process's environments that are at work, but for one."""
    at_rest = {spared.pid, *(kept.pid for kept in KeptBrowser.idle)}
    workers = [child for child in psutil.Process(os.getpid()).children() if child.pid not in at_rest]
    own = [worker for worker in workers if "agents.environments.worker" in worker.cmdline()]
    for worker in own[:most]:
        for child in worker.children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # some end by themselves once the first of them is killed
                if "chrom" in child.name():
                    child.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_browsers_that_are_killed_cost_no_episode(goals, miniwob, monkeypatch) -> None:
    chance = random.Random(3)
    kills: list[int] = []

    def sometimes(seen: object) -> None:
        if len(kills) < 3 and chance.random() < 0.3:
            kills.append(1)
            kill_browsers(miniwob, 1)

    play_oracles(monkeypatch, OraclePipeline(sometimes))
    run = played(planned(goals))
    assert len(kills) == 3
    assert (run.state, run.done, run.failed) == (Run.State.DONE, 9, 0)
    assert [one.reward for one in episodes_of(run.trajectories.all())] == [1.0] * 9
    assert all(row.steps.count() == row.step_count for row in run.trajectories.all())


@pytest.mark.slow
def test_an_episode_that_is_lost_again_and_again_says_so(miniwob, monkeypatch) -> None:
    goals = new_goals(factories.make_project(), "lost", "miniwob")
    LiveGoals(goals, miniwob).add(["login-user"], [0])
    play_oracles(monkeypatch, OraclePipeline(lambda seen: kill_browsers(miniwob, 9)))
    run = played(planned(goals))
    assert (run.state, run.done, run.failed) == (Run.State.DONE, 1, 1)
    (step,) = run.steps.all()
    assert step.error == step.outcome == LOST.format(3)
    assert step.snapshot is None
    client = Client()
    client.force_login(factories.make_superuser())
    assert client.get(f"/trajectories/{step.trajectory_id}/steps/0/").status_code == 200


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_where_it_was_and_episodes_under_way_begin_anew(goals, monkeypatch) -> None:
    rounds = 0

    def lose_lease(seen: object) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 4:
            raise LeaseLost("somebody else has it")

    play_oracles(monkeypatch, OraclePipeline(lose_lease))
    run = planned(goals)
    shard = run.shards.get()
    with pytest.raises(LeaseLost):
        LiveRun(run, nullcontext, lambda: None, None, lambda phase, loaded=False: None).play(shard.conversation_ids)
    before = set(run.trajectories.filter(state=Trajectory.State.DONE).values_list("pk", flat=True))
    assert run.trajectories.filter(state=Trajectory.State.RUNNING).exists()
    run = played(run)
    assert (run.state, run.done) == (Run.State.DONE, 9)
    assert before <= set(run.trajectories.filter(state=Trajectory.State.DONE).values_list("pk", flat=True))
    assert [one.reward for one in episodes_of(run.trajectories.all())] == [1.0] * 9


@pytest.mark.slow
def test_a_cancelled_study_keeps_what_has_ended_and_resumes_the_rest(goals, monkeypatch) -> None:
    from evaluation.scores.reviewed import store_all_scores

    study: Study | None = None

    def cancel_soon(seen: object) -> None:
        if study is not None and study.runs.get().trajectories.filter(state="done").count() >= 2:
            study.cancel(store_all_scores)

    play_oracles(monkeypatch, OraclePipeline(cancel_soon))
    run = planned(goals)
    study = run.studies.get()
    run = played(run)
    assert run.state == Run.State.CANCELLED
    ended = len(episodes_of(run.trajectories.all()))
    assert 2 <= ended < 9
    assert run.scores.headline("corrected").get(metric="episode_success").value == 1.0
    study = None
    resume_study(run.studies.get())
    run = played(run)
    assert (run.state, run.done, len(episodes_of(run.trajectories.all()))) == (Run.State.DONE, 9, 9)


@pytest.mark.slow
def test_pages_show_episodes_by_what_came_of_them(goals, monkeypatch) -> None:
    play_oracles(monkeypatch, OraclePipeline())
    run = planned(goals)
    client = Client()
    client.force_login(factories.make_superuser())
    waiting = run.trajectories.first()
    assert client.get(f"/trajectories/{waiting.pk}/", follow=True).status_code == 200, "it is waited for"
    run = played(run)
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "Reward" in page
    assert "Ele. Acc" not in page
    assert "9 of 9 episodes" in page
    study = client.get(f"/studies/{run.studies.get().pk}/").content.decode()
    assert "Success" in study
    for path in (f"/trajectories/{waiting.pk}/steps/0/", f"/trajectories/{waiting.pk}/steps/0/view/"):
        assert client.get(path).status_code == 200
    assert client.get(f"/datasets/{goals.name}/").status_code == 200


def test_goals_are_made_once_and_never_mixed_with_recorded_ones(goals, miniwob) -> None:
    assert (goals.is_live, goals.conversations.count()) == (True, 9)
    assert LiveGoals(goals, miniwob).add(TASKS, range(4)) == 12
    assert goals.conversations.count() == 12
    again = new_goals(goals.project, "goals", "miniwob", steps=12)
    assert again == goals
    with pytest.raises(ValueError, match=r"with .*steps 12"):
        new_goals(goals.project, "goals", "miniwob", steps=13)
    recorded = factories.make_dataset()
    with pytest.raises(ValueError, match="recorded steps"):
        new_goals(recorded.project, recorded.name, "miniwob")
    assert not recorded.is_live


def test_tasks_are_named_one_by_one_by_a_set_or_all() -> None:
    known, sets = ["a", "b", "c"], {"two": ("b", "c")}
    assert told_tasks(known, ["all"], sets) == known
    assert told_tasks(known, ["c", "two", "c"], sets) == ["c", "b"]
    with pytest.raises(ValueError, match="there is no task 'd'; choose all, two"):
        told_tasks(known, ["d"], sets)
    with pytest.raises(ValueError, match="choose all, or tasks by name"):
        told_tasks(known, ["d"], {"": known})


@pytest.mark.parametrize("kept", [True, False])
def test_steps_keep_the_window_that_the_agent_saw_where_that_is_wanted(goals, monkeypatch, settings, kept) -> None:
    settings.LIVE_SCREENSHOTS = kept
    play_oracles(monkeypatch, OraclePipeline())
    run = played(planned(goals, limit=2))
    steps = TrajectoryStep.objects.filter(run=run).select_related("pictured__screenshot")
    assert steps.count() >= 2
    assert all(step.reward is not None for step in steps)
    if not kept:
        assert (StepPicture.objects.count(), Screenshot.objects.count()) == (0, 0)
        return
    for step in steps:
        assert bytes(step.pictured.screenshot.data[:2]) == b"\xff\xd8"
        assert step.pictured.screenshot.size < 30_000
        assert (step.pictured.width, step.pictured.height) == (332, 214)
        assert not step.node_id or step.node_id in step.pictured.boxes
    first, second = steps.filter(trajectory=steps[0].trajectory_id).order_by("seq")[:2]
    assert first.pictured.screenshot != second.pictured.screenshot  # each as the page was then


def test_deleting_a_run_takes_its_counts_along(goals, monkeypatch) -> None:
    play_oracles(monkeypatch, OraclePipeline())
    run = played(planned(goals, limit=1))
    RunTally.fold()
    assert RunTally.objects.filter(run=run.pk, done=1).exists()
