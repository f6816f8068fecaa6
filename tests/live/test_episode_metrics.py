"""What episodes come to: tasks count alike, intervals are of tasks, partial rewards are no success."""

import pytest

from agents.environments.task_sets import least_reward
from evaluation.metrics.episodes import EpisodeOutcome, measure, task_table


def episodes(**rewards: list[float]) -> list[EpisodeOutcome]:
    return [EpisodeOutcome(task, seed, reward, 2) for task, all_ in rewards.items() for seed, reward in enumerate(all_)]


def test_each_task_counts_once_however_many_episodes_it_has() -> None:
    found = {metric.name: metric for metric in measure(episodes(a=[1, 1, 1, 1], b=[0, -1]))}
    assert found["episode_success"].value == 0.5
    assert found["episode_reward"].value == (1 + -0.5) / 2
    assert (found["episode_success"].n, found["episode_success"].grouping) == (2, "website")
    for metric in found.values():
        assert metric.low <= metric.value <= metric.high


def test_a_part_of_the_reward_is_no_success() -> None:
    assert [one.success for one in episodes(a=[1.0, 0.9, 0.0, -1.0])] == [True, False, False, False]


def test_of_one_task_its_episodes_are_drawn() -> None:
    success = measure(episodes(a=[1, 0, 1, 0, 1, 0, 1, 0]))[0]
    assert (success.n, success.grouping, success.value) == (8, "conversation", 0.5)
    assert 0 < success.low < 0.5 < success.high < 1


def test_one_episode_says_nothing_of_the_next() -> None:
    success, reward, _ = measure(episodes(a=[1]), least_reward=least_reward("miniwob"))
    assert (success.low, success.high) == (0.0, 1.0)
    assert (reward.low, reward.high) == (-1.0, 1.0)


@pytest.mark.parametrize("rewards", [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.0, 1.0]])
@pytest.mark.parametrize("environment", ["sample-sites", "sample-sites-free", "open-web", "webarena", "browsergym"])
def test_an_interval_of_two_episodes_stays_where_rewards_are(environment: str, rewards: list[float]) -> None:
    for found in ({"a": rewards}, {"a": rewards[:1], "b": rewards[1:]}):
        reward = measure(episodes(**found), least_reward=least_reward(environment))[1]
        assert 0 <= reward.low <= reward.value <= reward.high <= 1
        assert reward.high - reward.low > 0.5, "two say little of others"


def test_a_reward_of_miniwob_goes_below_nothing() -> None:
    reward = measure(episodes(a=[0, 0]), least_reward=least_reward("miniwob"))[1]
    assert -1 < reward.low < -0.8


def test_the_table_has_wilson_intervals() -> None:
    (row,) = task_table(episodes(a=[1.0] * 10))
    assert (row.task, row.episodes, row.success, row.high) == ("a", 10, 1.0, 1.0)
    assert row.low == pytest.approx(0.722, abs=1e-3)  # Wilson's for 10 of 10
    assert [row.task for row in task_table(episodes(b=[1], a=[0]))] == ["a", "b"]
