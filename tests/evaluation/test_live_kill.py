"""kill -9 of a worker in the middle of live episodes: another one plays them, and what comes of it is the same."""

import os

import psutil
import pytest

from agents.environments.browser import find
from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals
from agents.models import Run, Trajectory, TrajectoryStep
from annotations.models import Dataset
from evaluation.models import Shard
from tests import factories
from tests.beside import BROWSER, needs
from tests.evaluation.study_rows import make_study, numbers, undisturbed
from tests.evaluation.test_kill import SECONDS, noticed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.environ.get("CI") and find() is None, reason=needs(BROWSER, "none was found")),
]
TASKS = ("click-checkboxes", "click-button-sequence", "login-user")
FACTS = ("trajectory__conversation__source_id", "seq", "operation", "node_id", "value", "reward", "outcome", "error")


def goals() -> Dataset:
    dataset = new_goals(factories.make_project(), "goals", "miniwob", steps=6)
    environment = EnvironmentProcess("miniwob")
    try:
        LiveGoals(dataset, environment).add(TASKS, range(3))
    finally:
        environment.close()
    return dataset


def played(run: Run) -> list[tuple]:
    """What was done and came of it, with the very page that was seen."""
    rows = TrajectoryStep.objects.filter(run=run).order_by(*FACTS[:2])
    return list(rows.values_list(*FACTS, "snapshot__sha256"))


def is_acting(run: Run) -> bool:
    """Steps of an episode are stored that has not ended."""
    return run.steps.filter(trajectory__state=Trajectory.State.RUNNING).exists()


def test_episodes_under_way_begin_anew_and_end_as_if_nothing_had_happened(worker) -> None:
    dataset = goals()
    first = worker("first")
    run = make_study(dataset, publish=True).runs.get()
    first.wait_until(lambda: is_acting(run), SECONDS, "episode under way")
    started = psutil.Process(first.process.pid).children(recursive=True)
    first.kill()
    left = run.shards.filter(state=Shard.State.RUNNING)
    dead = set(left.values_list("lease_owner", flat=True))
    assert dead, "it died holding a shard"

    second = worker("second")
    second.wait_until(lambda: noticed(run, dead), SECONDS, "notice of the death")
    second.wait_until(lambda: Run.objects.get(pk=run.pk).is_over, SECONDS, "end of the run")
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    browsers = [one for one in started if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert browsers == [], "browsers end with the worker that had them"

    reference = undisturbed(dataset)
    assert played(run) == played(reference)
    assert len({row[0] for row in played(run)}) == 9
    assert numbers(run) == numbers(reference)
