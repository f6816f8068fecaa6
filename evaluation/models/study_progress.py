"""How far a study is, as its page shows it: counts, pace, time left, and what it waits for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from agents.cookbook.paces import work_of
from agents.models import Run, Trajectory, TrajectoryStep
from agents.models.runs import RunQuerySet
from agents.training.prepare.ahead import WorkQueue
from annotations.shown_progress import ShownProgress, ago_text, between_text, counts_text, pace_text
from annotations.text.amounts import amount
from evaluation.models.shards import Shard, ShardQuerySet

RATE_WINDOW = timedelta(minutes=3)  # results come in batches: a shorter one would jump between nothing and too much
NAMED = 3  # recipes that are still to come


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study's runs, read `with_progress`. `coming`: recipes that have no run yet."""

    runs: RunQuerySet
    coming: Sequence[str] = ()
    is_cancelling: bool = False

    @property
    def state(self) -> str:
        """The state of its runs; waiting, too, while recipes are to come and no run is open."""
        state = self.runs.state()
        return Run.State.QUEUED if self.coming and state not in Run.OPEN else state

    def shown(self) -> ShownProgress:
        runs, state, (done, failed, total) = self.runs, self.state, self.runs.how_far()
        left, total = total - done, total + self._steps_of_each(total) * len(self.coming)
        is_open = state in Run.OPEN
        label = "waiting" if state == Run.State.QUEUED or self._is_held_up(state) else Run.State(state).label
        label = "cancelling" if self.is_cancelling and is_open else label
        version = " ".join(f"{run.pk}:{run.state}" for run in runs) + f" {self.is_cancelling} {len(self.coming)}"
        fields = {
            "headline": counts_text(done, total, runs.unit()),
            "detail": " · ".join(part for part in self._details(state, left) if part),
            "state": state,
            "state_label": label,
        }
        of_each = {f"run-{run.pk}": counts_text(run.done, run.step_count, run.unit) for run in runs}
        held = self._shards().under_way() if is_open else 0
        whole = total or 1
        bar = ((done - failed) / whole, failed / whole, min(whole - done, held) / whole)
        return ShownProgress(is_open, version, fields | of_each, bar)

    def _is_held_up(self, state: str) -> bool:
        """Whether it has begun, and no worker has been at it for a while, as between two shards there is none for a
        moment."""
        return state == Run.State.RUNNING and self._shards().are_left()

    def _steps_of_each(self, total: int) -> int:
        """The steps of a recipe without a run yet: as many as of one that has its runs."""
        return total // max(1, len({run.recipe_name for run in self.runs}))

    def _details(self, state: str, left: int) -> list[str]:
        """Texts on the pace, the time left and the workers; of a study that waits, on what it waits for."""
        if state == Run.State.QUEUED:
            return self._awaited()
        if state not in Run.OPEN:
            ended = self.runs.ended_at()
            return [f"finished {ago_text(ended)}" if ended else ""]
        if self._is_held_up(state):
            return [self._shards().workers_text(), self._coming_text()]
        return [*self._pace(left), self._coming_text()]

    def _awaited(self) -> list[str]:
        """What comes before its turn, and which recipes are not ready yet."""
        first = next((run for run in self.runs if run.state == Run.State.QUEUED), None)
        if first is None:
            return [f"waits for {self._coming_text()}" if self.coming else ""]
        ahead = WorkQueue().before(first)
        turn = f"its turn comes in {ahead.ready_in(0)}: " if ahead.seconds else ""
        waits = self._shards().workers_text(turn_is_told=bool(ahead))
        return [waits, f"{turn}{ahead.text} first" if ahead else "", self._coming_text()]

    def _coming_text(self) -> str:
        """ "5 more agents, one after the other, about 10 to 40 min of work: awm, mims, synapse and 2 more" is; "" where
        none is to come."""
        if not self.coming:
            return ""
        more = len(self.coming) - NAMED
        named = ", ".join(self.coming[:NAMED]) + (f" and {more} more" if more > 0 else "")
        work = work_of(self.coming, self._steps_of_each(self.runs.how_far()[2]))
        taking = f", {between_text(*work)} of work" if work else ""
        return f"{amount(len(self.coming), 'more agent')}, one after the other{taking}: {named}"

    def _pace(self, left: int) -> list[str]:
        """Texts on the pace and time left of runs under way, and on their workers."""
        shards = self._shards()
        workers, rate = shards.workers_text(), self._per_second()
        if not rate:
            return [shards.phase_text() or "results come in batches", workers]
        seconds = left / rate + self._seconds_ahead()
        told = pace_text(rate, seconds, self.runs.unit())
        if self.coming:  # what is left is of the agent that is at work
            told[-1] += f" of {', '.join(sorted({run.recipe_name for run in self.runs if not run.is_over}))}"
        return [shards.phase_text(is_loaded=False), *told, workers]

    def _seconds_ahead(self) -> float:
        """The seconds before it goes on, as far as they are known, where no worker is at it now."""
        if self._shards().filter(state=Shard.State.RUNNING).exists():
            return 0.0
        begun = next((run for run in self.runs if run.state == Run.State.RUNNING), None)
        return WorkQueue().before(begun).seconds if begun else 0.0

    def _per_second(self) -> float | None:
        """Steps per second (of live runs: episodes) over the last minutes; None when none was stored in them."""
        since, elapsed = self.runs.lately(RATE_WINDOW)
        these = list(self.runs)
        if self.runs.unit() == "episodes":
            count = Trajectory.objects.filter(run__in=these).done_since(since)
        else:
            count = TrajectoryStep.objects.filter(run__in=these).stored_since(since)
        return count / elapsed if count else None

    def _shards(self) -> ShardQuerySet:
        return Shard.objects.filter(run__in=list(self.runs))
