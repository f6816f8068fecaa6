"""Intervals of mean rewards, as they are stored of a run of two episodes, and those that were stored before."""

import pytest

from agents.models import Run, TrajectoryStep
from evaluation.models import Score
from evaluation.scores.exporting import metric_rows
from evaluation.scores.scoring import RunScores
from tests import factories
from tests.template_database import migrate_back_and_forth


def two_episodes(environment: str, reward: float) -> Run:
    """A run whose two episodes end with the same reward."""
    dataset = factories.make_dataset(live={"environment": environment, "steps": 20, "seconds": 300})
    run = factories.make_run(dataset, state="done")
    for seed in range(2):
        place = {"task": "t", "seed": seed}
        goal = factories.make_conversation(dataset=dataset, turns=1, steps=0, extra=place)
        row = factories.make_trajectory(run, goal, stored=0, state="done")
        TrajectoryStep.objects.create(run=run, trajectory=row, turn=goal.turns.get(), seq=0, reward=reward)
    return run


@pytest.mark.django_db
def test_what_is_stored_and_exported_of_two_episodes_lies_where_rewards_do() -> None:
    found = {}
    for environment in ("sample-sites-free", "miniwob"):
        RunScores(two_episodes(environment, 0.0)).store()
        score = Score.objects.get(
            run__dataset__live__environment=environment, metric="episode_reward", preset="faithful"
        )
        found[environment] = (score.low, score.high)
    assert found["sample-sites-free"] == (0.0, pytest.approx(0.842, abs=1e-3))
    assert found["miniwob"][0] == pytest.approx(-0.842, abs=1e-3)
    rewards = [row for row in metric_rows(Score.objects.all()) if row["metric"] == "episode_reward"]
    assert {row["caution"] for row in rewards} == {"2 conversations only: too few for an interval to trust"}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_intervals_that_are_there_are_brought_into_range() -> None:
    free, miniwob = two_episodes("sample-sites-free", 1.0), two_episodes("miniwob", 1.0)
    for run in (free, miniwob):
        RunScores(run).store()
    wanted = Score.objects.get(run=free, metric="episode_reward", preset="faithful").low
    Score.objects.filter(metric="episode_reward").update(low=-0.684)
    migrate_back_and_forth("evaluation", "0030")
    lows = dict(Score.objects.filter(metric="episode_reward", preset="faithful").values_list("run", "low"))
    assert lows == {free.pk: pytest.approx(wanted), miniwob.pk: -0.684}
