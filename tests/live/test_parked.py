"""Episodes go on where they were when the slice of their shard is over."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from agents.live import parked
from agents.live.goals import LiveGoals, new_goals
from agents.models import Run, Trajectory, TrajectoryStep
from evaluation.models import Shard
from evaluation.studies import running
from evaluation.studies.placing import best_of
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.live.oracle_agent import OraclePipeline, play_oracles

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("kept_browsers")]
TASKS = ["login-user", "enter-text"]  # of three steps and of two


@pytest.fixture
def played(miniwob, monkeypatch) -> Callable[[], list[tuple]]:
    """`played()`: what the steps of two episodes were, each time of a run of its own."""
    goals = new_goals(factories.make_project(), "goals", "miniwob", steps=6)
    LiveGoals(goals, miniwob).add(TASKS, range(1))
    play_oracles(monkeypatch, OraclePipeline())

    def play() -> list[tuple]:
        study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False)
        run_inline(study)
        rows = TrajectoryStep.objects.filter(run__studies=study).order_by("trajectory__conversation", "seq")
        return [(row.operation, row.node_id, row.value, row.reward) for row in rows]

    return play


@pytest.fixture
def begun(monkeypatch) -> list[int]:
    """The episodes that were begun, each time."""
    found: list[int] = []
    begin = Trajectory.begin_episode

    def counted(row: Trajectory) -> None:
        found.append(row.pk)
        begin(row)

    monkeypatch.setattr(Trajectory, "begin_episode", counted)
    return found


@pytest.mark.slow
def test_slices_of_one_round_give_the_same_steps_as_one_slice(played, begun, monkeypatch) -> None:
    whole = played()
    assert sum(row[-1] == 1 for row in whole) == 2
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    assert played() == whole
    assert len(begun) == len(set(begun)) == 4, "none began anew"
    assert not parked._parked


@pytest.mark.slow
def test_a_shard_whose_browsers_are_parked_here_goes_before_others_of_its_run(miniwob, monkeypatch) -> None:
    goals = new_goals(factories.make_project(), "goals", "miniwob", steps=6)
    LiveGoals(goals, miniwob).add(TASKS, range(1))
    play_oracles(monkeypatch, OraclePipeline())
    monkeypatch.setattr("evaluation.models.studies.SHARD_STEPS", 1)
    runs = [create_study(user=None, dataset=goals, recipes=["grounded"], publish=False).runs.get() for _ in range(2)]
    Shard.objects.update(published_at=timezone.now())
    (first, second), (other, _) = (run.shards.order_by("index") for run in runs)
    assert best_of(second.pk) == second.pk
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    running.work(Shard.objects.select_related("run").claim(first.pk))
    assert parked.any_of(runs[0].pk, first.conversation_ids)
    assert best_of(second.pk) == first.pk, "else its browsers would stay open beside those of the second"
    assert best_of(other.pk) == other.pk, "other runs have their turn"
    runs[0].shards.update(state="cancelled")
    Run.objects.filter(pk=runs[0].pk).update(state="cancelled")
    parked.sweep()
    assert not parked.any_of(runs[0].pk, first.conversation_ids)


@pytest.mark.slow
def test_what_another_worker_has_begun_anew_is_not_gone_on_with(played, begun, monkeypatch) -> None:
    whole = played()
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    park = parked.park

    def lost(found: parked.ParkedEpisode) -> None:
        """The first time, another worker takes the shard, begins anew and is killed."""
        park(found)
        row = found.episode.trajectory
        if begun.count(row.pk) == 1:
            Trajectory.objects.get(pk=row.pk).begin_episode()

    monkeypatch.setattr(parked, "park", lost)
    assert played() == whole
    assert not parked._parked


@pytest.mark.slow
def test_browsers_of_runs_that_are_over_are_closed(played, monkeypatch) -> None:
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    sweep, counts = parked.sweep, list[int]()

    def cancelled() -> None:
        counts.append(len(parked._parked))
        if parked._parked:
            Run.objects.update(state=Run.State.CANCELLED)
        sweep()
        counts.append(len(parked._parked))

    monkeypatch.setattr(parked, "sweep", cancelled)
    played()
    assert counts[:4] == [0, 0, 2, 0]
