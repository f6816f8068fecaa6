"""Many environments on one model: what it decides together, they do together."""

import time
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from agents.live.goals import LiveGoals, new_goals
from agents.live.running import LiveRun
from agents.models import Run
from evaluation.studies.running import create_study
from tests import factories
from tests.live.oracle_agent import OraclePipeline, play_oracles

MODEL_SECONDS = 2.0  # for a batch, of whatever size, as an endpoint or a model on an accelerator takes it
TASK, STEPS = "login-user", 3


@pytest.fixture
def rate(miniwob, monkeypatch) -> Callable[[int, int], float]:
    """`rate(environments, episodes)`: steps a second, from the first decision to the end."""
    begun: list[float] = []
    ended: list[float] = []  # each round; closing the browsers is no part of it

    def quiet(phase: str, loaded: bool = False) -> None:
        pass

    def model(seen: object) -> None:
        begun.append(time.monotonic())
        time.sleep(MODEL_SECONDS)

    def measured(environments: int, episodes: int) -> float:
        goals = new_goals(factories.make_project(), f"goals-{environments}", "miniwob", steps=6)
        LiveGoals(goals, miniwob).add([TASK], range(episodes))
        begun.clear()
        pipeline = OraclePipeline(model)
        play_oracles(monkeypatch, pipeline)
        run: Run = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False).runs.get()
        ids = run.shards.get().conversation_ids
        live = LiveRun(run, nullcontext, lambda: ended.append(time.monotonic()), None, quiet, environments)
        steps = live.play(ids)
        assert steps == STEPS * episodes
        assert max(pipeline.rounds) == environments
        return steps / (ended[-1] - begun[0])

    return measured


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_sixteen_take_five_times_the_steps_of_one(rate) -> None:
    alone, together = rate(1, 2), rate(16, 16)
    assert together / alone >= 5, f"{alone:.2f} steps/s alone, {together:.2f} of sixteen"
