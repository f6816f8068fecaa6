"""The soak in small (`make soak`): a worker plays episodes in a row while its browsers are killed."""

import os
import random
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from agents.environments.browser import find
from agents.environments.miniwob import KEPT_PAGES
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


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not os.environ.get("CI") and find() is None, reason=needs(BROWSER, "none was found"))
def test_a_browser_grows_until_it_has_its_pages_open_and_no_further() -> None:
    """What looked as if browsers grew in a soak: new ones, of which every shard and every kill brings some, were
    compared with older ones."""
    environment = EnvironmentProcess("miniwob")
    root = psutil.Process(environment.pid)

    def held(episodes: int, tasks: Sequence[str]) -> float:
        for seed in range(episodes // len(tasks)):
            for task in tasks:
                environment.reset(task, seed)
        return soak._held([root, *root.children(recursive=True)])

    def pages() -> int:
        return sum("--type=renderer" in soak._words(one) for one in root.children(recursive=True))

    try:
        young = held(4, soak.TASKS[:2])
        assert (pages(), soak.is_full(root.children(recursive=True))) == (2, False)
        full = held(32, soak.TASKS)
        assert (pages(), soak.is_full(root.children(recursive=True))) == (KEPT_PAGES, True)
        later = held(160, soak.TASKS)
        assert pages() == KEPT_PAGES, "the page that was used the longest ago is closed, and its process ends"
    finally:
        environment.close()
    assert full > 1.3 * young, "so only full ones are compared"
    assert later < (1 + soak.MOST_GROWTH) * full


def weights(*held: tuple[int, float]) -> list[soak.Weight]:
    return [soak.Weight(done, worker, 100.0, 50.0) for done, worker in held]


def test_growth_is_told_from_after_the_first_episodes_to_the_last() -> None:
    told = soak.growth(
        weights((10, 50), (250, 100), (300, 104), (1_000, 500), (1_850, 112), (1_990, 116)), "worker", 2_000
    )
    assert (told.first, told.last) == (102, 114)
    assert round(told.share, 3) == 0.118
    assert soak.growth(weights((10, 50), (59, 80)), "worker", 60) is None, "too short to tell"
    closed = [soak.Weight(250, 900.0, 0.0, 0.0), *weights((260, 100), (1_990, 100))]
    assert soak.growth(closed, "worker", 2_000).share == 0, "while no browser is open the worker does something else"


def test_browsers_that_have_not_opened_all_their_pages_yet_do_not_count() -> None:
    young, full = soak.Weight(250, 90.0, 400.0, 0.0), soak.Weight(350, 90.0, 900.0, 450.0)
    assert soak.growth([young, full, soak.Weight(1_900, 90.0, 1_000.0, 500.0)], "browser", 2_000).share > 0.1
    assert soak.growth([young, full, soak.Weight(1_900, 90.0, 1_000.0, 460.0)], "browser", 2_000).share < 0.1
    assert soak.growth([young, soak.Weight(1_900, 90.0, 1_000.0, 500.0)], "browser", 2_000) is None


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
