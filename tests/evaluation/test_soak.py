"""The soak in small (`make soak`): a worker plays episodes in a row while its browsers are killed."""

import os
import random
from pathlib import Path

import psutil
import pytest

from agents.environments.browser import find
from agents.environments.process import EnvironmentProcess
from agents.live.goals import LiveGoals, new_goals
from tests import factories
from tests.beside import BROWSER, needs
from tests.evaluation.study_rows import make_study
from tests.load import soak


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not os.environ.get("CI") and find() is None, reason=needs(BROWSER, "none was found"))
def test_browsers_that_are_killed_cost_the_episode_they_were_in_and_leave_nothing(worker, tmp_path, monkeypatch):
    folder = tmp_path / "browsers"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    dataset = new_goals(factories.make_project(), "goals", "miniwob", steps=3)
    environment = EnvironmentProcess("miniwob")
    try:
        LiveGoals(dataset, environment).add(soak.TASKS[:12], range(5))
    finally:
        environment.close()
    run = make_study(dataset, publish=True).runs.get()
    started = worker("soaked", "tests.load.quick_worker")
    seen = soak.watch(run, psutil.Process(started.process.pid), 3, random.Random(1))
    assert run.trajectories.count() == 60
    assert seen.kills == 3
    assert any(weight.browsers for weight in seen.weights)
    assert soak.problems(run, seen, started.tail(), folder) == []
    assert 1 <= seen.again <= 3, "what was in a killed browser was run again"


def weights(*held: tuple[int, float]) -> list[soak.Weight]:
    return [soak.Weight(done, worker, 100.0) for done, worker in held]


def test_growth_is_told_from_after_the_first_episodes_to_the_last() -> None:
    told = soak.growth(
        weights((10, 50), (250, 100), (300, 104), (1_000, 500), (1_850, 112), (1_990, 116)), "worker", 2_000
    )
    assert (told.first, told.last) == (102, 114)
    assert round(told.share, 3) == 0.118
    assert soak.growth(weights((10, 50), (59, 80)), "worker", 60) is None, "too short to tell"
    closed = [soak.Weight(250, 900.0, 0.0), *weights((260, 100), (1_990, 100))]
    assert soak.growth(closed, "worker", 2_000).share == 0, "while no browser is open the worker does something else"


def test_what_is_left_of_a_browser_is_named(tmp_path: Path) -> None:
    left = tmp_path / "webnav-browser-x"
    left.mkdir()
    assert list(soak._left(tmp_path)) == [str(left)]
    command = ["python3", "-c", "import time; time.sleep(60)", "agents.environments.worker", str(left)]
    process = psutil.Popen(command)
    try:
        assert any(str(process.pid) in one for one in soak._left(tmp_path))
    finally:
        process.kill()
        process.wait()
