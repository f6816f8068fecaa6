"""A run acts: several environments at once, every decision of a round in one batch of the pipeline.

An episode whose browser is lost begins anew, a few times; one that was under way when its worker died does, too. What
an attempt has stored is forgotten then, so an episode counts once. One that was under way when the slice of its shard
was over goes on (`parked`).
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.utils import timezone

from agents.encoders.memory_limits import within_memory
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import EnvironmentLost
from agents.guard.policy import Risk
from agents.live import parked
from agents.live.under_way import ActingEpisode, HeldEpisode, LiveEpisode
from agents.llm.protocol import Llm
from agents.models import HeldStep, Run, Trajectory
from agents.recipes import literature
from agents.runs import events
from agents.runs.building import build_pipeline
from agents.runs.episodes import Episode, Outcome, Seen
from agents.runs.runner import Tell
from agents.stages import registry
from agents.types import Decision
from annotations.environment import env_number
from annotations.jobs import stopping
from annotations.models import Turn
from annotations.monitor import counters
from annotations.monitor.spans import span
from annotations.pages.store import PageStore

logger = logging.getLogger(__name__)

ENVIRONMENTS = env_number("LIVE_ENVIRONMENTS", 2, least=1)  # browsers of one worker; two of them fill two cores
ATTEMPTS = 3  # of an episode whose browser is lost
WAITING_SECONDS = 15.0  # that a worker waits for people before it gives the shard back, if nothing else is to do
HELD_POLL = 0.3  # seconds between two looks at what is held, where nothing else is to do
LOST = "the browser was lost in each of {} attempts"


class LiveRun:
    """The episodes of some conversations of a run, in order, `environments` at a time. As `runner.run_conversations`
    decides recorded steps: every round is stored inside `fenced()`, which raises when this worker may no longer write;
    `tell` hears what comes before the first results."""

    def __init__(
        self,
        run: Run,
        fenced: Callable[[], AbstractContextManager[None]],
        on_batch: Callable[[], Any],
        llm: Llm | None,
        tell: Tell,
        environments: int = ENVIRONMENTS,
    ) -> None:
        self.run, self.fenced, self.on_batch, self.llm, self.tell = run, fenced, on_batch, llm, tell
        self.limits = run.dataset.live
        self.environments = environments
        self.recipe = literature.from_dict(run.recipe)
        self.with_history = "history" in registry.told(self.recipe)
        self.stored = 0

    def play(self, conversation_ids: Sequence[int]) -> int:
        """Act until each of them has its outcome; the number of stored steps. Raises NoBrowser and LlmError."""
        self.tell("loading models")
        self.pipeline = build_pipeline(self.run, self.llm)
        self.pipeline.prepare(conversation_ids)
        waiting = deque(self._waiting(conversation_ids))
        if not waiting:
            return 0
        self.tell("opening browsers", loaded=True)
        self.active: dict[EnvironmentProcess, LiveEpisode] = {}
        self.held: dict[EnvironmentProcess, HeldEpisode] = {}
        self.idle_since: float | None = None
        free: list[EnvironmentProcess] = []
        try:
            self._resume(waiting)
            for _ in range(min(self.environments - len(self.active), len(waiting))):
                free.append(self._open())
            count = len(free) + len(self.active)
            self.tell(f"acting in {count} browser{'s' if count > 1 else ''}", loaded=True)
            while waiting or self.active:
                self._begin(free, waiting)
                if self.active:
                    self._round(free, waiting)
                    self.on_batch()
        except stopping.SliceOver:
            self._park()
            raise
        finally:
            for environment in (*free, *self.active):
                environment.close()
        return self.stored

    def _open(self) -> EnvironmentProcess:
        return EnvironmentProcess(self.limits["environment"])

    def _waiting(self, conversation_ids: Sequence[int]) -> list[LiveEpisode]:
        rows = self.run.trajectories.filter(conversation_id__in=conversation_ids).in_order()
        rows = rows.exclude(state=Trajectory.State.DONE).select_related("conversation__website", "run")
        turns: dict[int, list[Turn]] = {}
        for turn in Turn.objects.filter(conversation_id__in=conversation_ids).order_by("index"):
            turns.setdefault(turn.conversation_id, []).append(turn)
        return [LiveEpisode(row, turns[row.conversation_id]) for row in rows]

    def _resume(self, waiting: deque[LiveEpisode]) -> None:
        """Go on with what the last slice has left under way."""
        parked.sweep()
        for episode in [*waiting]:
            if (found := parked.take(episode)) is None:
                continue
            waiting.remove(episode)
            self.active[found.environment] = found.episode
            if found.held is not None:
                self.held[found.environment] = found.held
            else:
                found.episode.begun += time.monotonic() - found.since

    def _park(self) -> None:
        """Leave what is under way for the next slice; where the worker itself stops, nobody could come back for it."""
        if stopping.asked():
            for episode in self.active.values():
                HeldStep.objects.withdraw(episode.trajectory)
            return
        for environment, episode in self.active.items():
            parked.park(parked.ParkedEpisode(environment, episode, self.held.get(environment)))
        self.active.clear()

    def _begin(self, free: list[EnvironmentProcess], waiting: deque[LiveEpisode]) -> None:
        """Let every browser that is free begin the next episode."""
        told: list[tuple[EnvironmentProcess, LiveEpisode]] = []
        while free and waiting:
            environment, episode = free.pop(), waiting.popleft()
            with self.fenced():
                episode.trajectory.begin_episode()
                HeldStep.objects.withdraw(episode.trajectory)
            self.active[environment] = episode
            episode.attempts += 1
            if self._try(environment, free, waiting, partial(environment.tell_reset, *episode.goal)) is not None:
                told.append((environment, episode))
        for environment, episode in told:
            start = self._try(environment, free, waiting, environment.hear_reset)
            if start is not None:
                episode.begin(start)

    def _try(
        self,
        environment: EnvironmentProcess,
        free: list[EnvironmentProcess],
        waiting: deque[LiveEpisode],
        ask: Callable[[], Any],
    ) -> Any:
        """What the environment says, True where it says nothing; None where it is lost, and another takes its place."""
        try:
            answer = ask()
        except EnvironmentLost as error:
            episode = self.active.pop(environment)
            self.held.pop(environment, None)
            logger.warning("%s of run %d begins anew: %s", episode.trajectory, self.run.pk, error)
            free.append(self._open())
            if episode.attempts >= ATTEMPTS:
                self._give_up(episode)
            else:
                waiting.appendleft(episode)
            return None
        return True if answer is None else answer

    def _give_up(self, episode: LiveEpisode) -> None:
        with self.fenced():
            episode.trajectory.begin_episode()
            said = LOST.format(ATTEMPTS)
            lost = Decision((), trace={"observe": {"error": said}})
            seen = Seen("", "", 0, timezone.now())
            Episode(episode.trajectory, episode.turn).store(seen, lost, [Outcome(0.0, said)])
            episode.trajectory.end_episode(lost=True)
        self._tell_of([episode])

    def _round(self, free: list[EnvironmentProcess], waiting: deque[LiveEpisode]) -> None:
        """Every episode under way takes its next decision, and carries it out; those that are held wait."""
        acted = [*self._decided(), *self._released()]
        if not acted:
            self._wait()
        else:
            self.idle_since = None
            self._act(acted, free, waiting)

    def _wait(self) -> None:
        """For people; not for long, as others wait for this worker."""
        now = time.monotonic()
        self.idle_since = self.idle_since or now
        if now - self.idle_since > WAITING_SECONDS:
            raise stopping.SliceOver
        time.sleep(HELD_POLL)

    def _decided(self) -> list[ActingEpisode]:
        """What is decided now and may be carried out at once."""
        free = {environment: episode for environment, episode in self.active.items() if environment not in self.held}
        ready = [(environment, episode) for environment, episode in free.items() if episode.view is not None]
        if not ready:
            return []
        observations = [episode.observation(self.with_history) for _, episode in ready]
        with span("decide", recipe=self.recipe.name, run=self.run.pk, steps=len(ready)):
            decisions = within_memory(self.pipeline.decide, observations)
        counters.STEPS.add(self.recipe.name, amount=len(ready))
        acted = [
            ActingEpisode(*one, seen, chosen) for one, seen, chosen in zip(ready, observations, decisions, strict=True)
        ]
        return [acting for acting in acted if not self._hold(acting)]

    def _hold(self, acting: ActingEpisode) -> bool:
        """Whether its action is risky, so that it waits for a person from now on."""
        found, action = acting.decision.trace.get("act", {}).get("held"), acting.next_action
        view = acting.episode.view
        if not found or action is None or view is None:
            return False
        trajectory, words = acting.episode.trajectory, acting.decision.trace["act"].get("representation", "")
        with self.fenced():
            pages = PageStore().store(trajectory.conversation.website, [(view.html, view.elements)])
            row = HeldStep.objects.hold(
                trajectory,
                {"operation": action.operation, "node_id": action.node_id, "value": action.value},
                words,
                Risk(**found),
                self.recipe.act.guard_seconds,
                url=view.url,
                snapshot=pages.get(view.html),
            )
        self.held[acting.environment] = HeldEpisode(acting, row)
        self._tell_of([acting.episode])
        return True

    def _released(self) -> list[ActingEpisode]:
        """Those whose held action somebody has decided on, or for which the time is over."""
        found = []
        for environment, held in list(self.held.items()):
            with self.fenced():
                is_decided = held.row.look_again()
            if is_decided:
                del self.held[environment]
                held.release()
                found.append(held.acting)
        return found

    def _act(self, acted: list[ActingEpisode], free: list[EnvironmentProcess], waiting: deque[LiveEpisode]) -> None:
        while asked := [acting for acting in acted if acting.next_action is not None]:
            heard = []
            for acting in asked:
                tell = acting.tell
                if self._try(acting.environment, free, waiting, tell) is None:
                    acting.is_lost = True
                else:
                    heard.append(acting)
            for acting in heard:
                effect = self._try(acting.environment, free, waiting, acting.environment.hear_step)
                if effect is None:
                    acting.is_lost = True
                else:
                    acting.hear(effect)
        self._keep([acting for acting in acted if not acting.is_lost], free)

    def _keep(self, acted: Sequence[ActingEpisode], free: list[EnvironmentProcess]) -> None:
        with self.fenced():
            for acting in acted:
                acting.store()
                self.stored += len(acting.outcomes)
                if self._is_over(acting):
                    acting.episode.trajectory.end_episode()
        for acting in acted:
            if self._is_over(acting):
                del self.active[acting.environment]
                free.append(acting.environment)
        self._tell_of([acting.episode for acting in acted])

    def _is_over(self, acting: ActingEpisode) -> bool:
        episode = acting.episode
        spent = time.monotonic() - episode.begun
        return acting.is_done or episode.taken >= self.limits["steps"] or spent > self.limits["seconds"]

    def _tell_of(self, episodes: Sequence[LiveEpisode]) -> None:
        for episode in episodes:
            row = episode.trajectory
            events.publish(events.trajectory_group(row.pk), row.step_count, row.state)
        events.publish(events.run_group(self.run.pk), self.stored, self.run.state)
