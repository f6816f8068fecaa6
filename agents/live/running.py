"""A run acts: several environments at once, every decision of a round in one batch of the pipeline.

An episode whose browser is lost begins anew, a few times; one that was under way when its worker died does, too. What
an attempt has stored is forgotten then, so an episode counts once. One that was under way when the slice of its shard
was over goes on (`parked`). One that a person has stopped or driven is never begun anew: what they showed is kept.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from django.db import transaction

from agents.encoders.memory_limits import within_memory
from agents.environments.process import EnvironmentProcess
from agents.guard.policy import Risk
from agents.live import parked
from agents.live.browsers import EpisodeBrowsers
from agents.live.driving import Drives
from agents.live.patience import Patience
from agents.live.teaching import keep_shown
from agents.live.under_way import ActingEpisode, HeldEpisode, LiveEpisode, Losses
from agents.live.unsure import stopped
from agents.live.users import ModelUsers
from agents.llm.protocol import Llm
from agents.models import Drive, HeldStep, Run, Trajectory
from agents.recipes import literature
from agents.runs.building import build_pipeline
from agents.runs.runner import Tell
from agents.stages import registry
from annotations.environment import env_number
from annotations.jobs import stopping
from annotations.models import Turn
from annotations.monitor import counters
from annotations.monitor.spans import span
from annotations.pages.store import PageStore
from annotations.text.amounts import amount

ENVIRONMENTS = env_number("LIVE_ENVIRONMENTS", 2, least=1)  # browsers of one worker; two of them fill two cores


class LiveRun:
    """Plays the episodes of some conversations of a run, in order, `environments` at a time. Arguments are those of
    `runner.run_conversations`, which decides recorded steps: each round is stored inside `fenced()`, which raises when
    this worker may no longer write; `tell` is told what is done before the first results. `others_wait`: whether other
    work waits for this worker."""

    def __init__(
        self,
        run: Run,
        fenced: Callable[[], AbstractContextManager[None]],
        on_batch: Callable[[], Any],
        llm: Llm | None,
        tell: Tell,
        environments: int = ENVIRONMENTS,
        *,
        others_wait: Callable[[], bool] = lambda: False,
    ) -> None:
        self.run, self.fenced, self.on_batch, self.llm, self.tell = run, fenced, on_batch, llm, tell
        self.patience = Patience(others_wait)
        self.limits = run.dataset.live
        self.environments = environments
        self.recipe = literature.from_dict(run.recipe)
        self.with_history = "history" in registry.told(self.recipe)
        self.browsers = EpisodeBrowsers(run, fenced, self._open)
        self.drives = Drives(self.browsers, self.with_history)
        self.users = ModelUsers(run) if self.limits.get("user") else None

    def play(self, conversation_ids: Sequence[int]) -> int:
        """Act until each of them has its outcome; the number of stored steps. Raises NoBrowser and LlmError."""
        browsers = self.browsers
        browsers.waiting.extend(self._waiting(conversation_ids))
        if not browsers.waiting:
            return 0
        if not all(episode.by_hand for episode in browsers.waiting):
            self.tell("loading models")
            self.pipeline = build_pipeline(self.run, self.llm)
            self.pipeline.prepare(conversation_ids)
        self.tell("opening browsers", loaded=True)
        try:
            self._resume()
            browsers.keep_what_people_did()
            for _ in range(min(self.environments - len(browsers.active), len(browsers.waiting))):
                browsers.free.append(self._open())
            count = len(browsers.free) + len(browsers.active)
            self.tell(f"acting in {amount(count, 'browser')}", loaded=True)
            while browsers.waiting or browsers.active:
                browsers.begin()
                if browsers.active:
                    self._round()
                    self.on_batch()
        except stopping.SliceOver:
            self._park()
            raise
        finally:
            browsers.close()
        return browsers.stored

    def _open(self) -> EnvironmentProcess:
        return EnvironmentProcess(self.limits["environment"])

    def _waiting(self, conversation_ids: Sequence[int]) -> list[LiveEpisode]:
        rows = self.run.trajectories.filter(conversation_id__in=conversation_ids).in_order()
        rows = rows.exclude(state=Trajectory.State.DONE).select_related("conversation__website", "run")
        turns: dict[int, list[Turn]] = {}
        for turn in Turn.objects.filter(conversation_id__in=conversation_ids).order_by("index"):
            turns.setdefault(turn.conversation_id, []).append(turn)
        by_hand = set(Drive.objects.filter(shows=True, trajectory__run=self.run).values_list("trajectory", flat=True))
        return [LiveEpisode(row, turns[row.conversation_id], row.pk in by_hand) for row in rows]

    def _resume(self) -> None:
        """Go on with the episodes that the last slice has parked."""
        parked.sweep()
        for episode in [*self.browsers.waiting]:
            if (found := parked.take(episode)) is None:
                continue
            self.browsers.waiting.remove(episode)
            self.active[found.environment] = found.episode
            if found.held is not None:
                self.held[found.environment] = found.held
            elif found.episode.drive is None:
                found.episode.begun += time.monotonic() - found.since

    def _park(self) -> None:
        """Park the episodes under way for the next slice. Where this process stops, nobody could go on with them, so
        their held actions are withdrawn instead."""
        if stopping.asked():
            for episode in self.active.values():
                HeldStep.objects.withdraw(episode.trajectory)
            return
        lose = Losses(transaction.atomic, self.browsers.tell_of).lose  # no worker has the shard then
        for environment, episode in self.active.items():
            parked.park(parked.ParkedEpisode(environment, episode, lose, self.held.get(environment)))
        self.active.clear()

    @property
    def active(self) -> dict[EnvironmentProcess, LiveEpisode]:
        return self.browsers.active

    @property
    def held(self) -> dict[EnvironmentProcess, HeldEpisode]:
        return self.browsers.held

    def _round(self) -> None:
        """Every episode under way takes its next decision, and carries it out; those that are held wait, and those
        that a person drives do what the person asks for."""
        self.drives.look()
        acted = [*self._decided(), *self._released(), *self.drives.asked()]
        if not acted:
            self.browsers.look()
            return self.patience.wait(self.drives.anybody_drives)
        self.patience.has_work()
        return self._act(acted)

    def _decided(self) -> list[ActingEpisode]:
        """Decide for every episode that is ready; the decisions that may be carried out at once."""
        free = {environment: episode for environment, episode in self.active.items() if environment not in self.held}
        ready = [(environment, episode) for environment, episode in free.items() if episode.is_decided_now]
        if not ready:
            return []
        if self.users is not None:
            self.users.speak([episode for _, episode in ready])
        observations = [episode.observation(self.with_history) for _, episode in ready]
        with span("decide", recipe=self.recipe.name, run=self.run.pk, steps=len(ready)):
            decisions = within_memory(self.pipeline.decide, observations)
        counters.STEPS.add(self.recipe.name, amount=len(ready))
        decided = [
            ActingEpisode(*one, seen, stopped(self.recipe, one[1], chosen))
            for one, seen, chosen in zip(ready, observations, decisions, strict=True)
        ]
        acted = [acting for acting in decided if not self.drives.propose(acting.episode, acting.decision)]
        return [acting for acting in acted if not self._hold(acting)]

    def _hold(self, acting: ActingEpisode) -> bool:
        """Hold the action where the guard finds it risky, so that it waits for a person; whether that was so."""
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
        self.browsers.tell_of([acting.episode])
        return True

    def _released(self) -> list[ActingEpisode]:
        """Held decisions that go on, as a person has decided or the time for that is over."""
        found = []
        for environment, held in list(self.held.items()):
            with self.fenced():
                is_decided = held.row.look_again()
            episode, is_taken = held.acting.episode, held.row.state == HeldStep.State.TAKEN
            if not is_decided or (episode.drive is not None and not is_taken):  # a pause outlasts a decision
                continue
            del self.held[environment]
            held.go_on(self.browsers.ask)
            if not is_taken:
                found.append(held.acting)
            else:
                self.drives.propose(episode, held.acting.decision)
        return found

    def _act(self, acted: list[ActingEpisode]) -> None:
        self.browsers.hear_pictures(acted)
        while asked := [acting for acting in acted if acting.next_action is not None]:
            heard = self.browsers.carry_out(asked)
            for acting, effect in self.users.hear(heard) if self.users else heard:
                acting.hear(effect)
        self.browsers.draw_next(acted)
        kept = [acting for acting in acted if not acting.is_lost]
        self._keep(kept)
        for acting in kept:
            if acting.episode.drive is not None and acting.environment in self.active:
                self.drives.show(acting.environment, acting.episode)

    def _keep(self, acted: Sequence[ActingEpisode]) -> None:
        over = []
        with self.fenced():
            for acting in acted:
                acting.store()
                self.browsers.stored += len(acting.outcomes)
                if self._is_over(acting):
                    over.append(acting)
                    acting.end_episode()
                    keep_shown(acting.episode.reached, acting.episode.trajectory)
                    for drive in Drive.objects.of([acting.episode.trajectory.pk]).values():  # known here or not
                        drive.end(Drive.State.OVER)
                elif acting.waits:
                    Drive.objects.wait_for(acting.episode.trajectory, acting.waits, acting.question)
        for acting in over:
            del self.active[acting.environment]
            self.browsers.free.append(acting.environment)
        self.browsers.tell_of([acting.episode for acting in acted])

    def _is_over(self, acting: ActingEpisode) -> bool:
        episode = acting.episode
        if episode.drive is not None:
            return acting.is_done
        spent = time.monotonic() - episode.begun
        return acting.is_done or episode.taken >= self.limits["steps"] or spent > self.limits["seconds"]
