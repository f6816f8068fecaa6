"""A run acts: several environments at once, every decision of a round in one batch of the pipeline.

An episode whose browser is lost begins anew, a few times; one that was under way when its worker died does, too. What
an attempt has stored is forgotten then, so an episode counts once.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone

from agents.encoders.memory_limits import within_memory
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import ActionEffect, EnvironmentLost, EpisodeStart, PageView
from agents.guard.policy import Risk
from agents.llm.protocol import Llm
from agents.models import HeldStep, Run, Trajectory
from agents.recipes import literature
from agents.runs import events
from agents.runs.building import build_pipeline
from agents.runs.episodes import Episode, Outcome, Seen
from agents.stages import registry
from agents.types import Action, Decision, Observation, PastAction, RecordedStep
from annotations.environment import env_number
from annotations.models import Turn
from annotations.monitor import counters
from annotations.monitor.spans import span
from annotations.pages.store import PageStore

logger = logging.getLogger(__name__)

ENVIRONMENTS = env_number("LIVE_ENVIRONMENTS", 2, least=1)  # browsers of one worker; two of them fill two cores
ATTEMPTS = 3  # of an episode whose browser is lost
HELD_POLL = 0.3  # seconds between two looks at what is held, where nothing else is to do
NO_ACTION = "ended: the agent had no action"
LOST = "the browser was lost in each of {} attempts"


@dataclass
class LiveEpisode:
    """An episode under way: where it is, and what the agent has done so far."""

    trajectory: Trajectory
    turns: Sequence[Turn]  # of the conversation, in order
    attempts: int = 0
    at: int = 0  # which turn it is in
    taken: int = 0  # steps of all turns
    view: PageView | None = None
    seen_at: datetime | None = None
    begun: float = 0.0
    steps: list[RecordedStep] = field(default_factory=list)  # of this turn
    answers: list[str] = field(default_factory=list)  # of the user to questions in this turn

    @property
    def turn(self) -> Turn:
        return self.turns[self.at]

    @property
    def goal(self) -> tuple[str, int]:
        """Task and seed."""
        place = self.trajectory.conversation.extra
        return place["task"], place["seed"]

    def begin(self, start: EpisodeStart) -> None:
        self.begun, self.steps, self.at, self.taken = time.monotonic(), [], 0, 0
        self.answers = []
        self.look(start.view)

    def go_on(self) -> None:
        """The user says the next instruction."""
        self.at, self.steps = min(self.at + 1, len(self.turns) - 1), []
        self.answers = []

    def look(self, view: PageView) -> None:
        self.view, self.seen_at = view, timezone.now()

    def observation(self, with_history: bool = False) -> Observation:
        """What the agent is given now."""
        assert self.view is not None  # it has begun
        conversation = self.trajectory.conversation
        website = conversation.website
        return Observation(
            key=self.trajectory.pk,
            conversation=conversation.pk,
            turn_index=self.turn.index,
            step_index=len(self.steps),
            website=website.name,
            domain=website.domain,
            subdomain=website.subdomain,
            instruction=" ".join((self.turn.instruction, *self.answers)),
            html=self.view.html,
            url=self.view.url,
            candidate_ids=tuple(sorted(self.view.names)),  # as those of recorded pages
            turn_actions=tuple(step.action for step in self.steps),
            score_key=f"{self.turn.source_id}_{len(self.steps)}",
            earlier_instructions=tuple(turn.instruction for turn in self.turns[: self.at]),
            turn_steps=tuple(self.steps) if with_history else (),
        )

    def did(self, observation: Observation, action: Action) -> None:
        """It has acted: what later decisions of the episode are told."""
        assert self.view is not None
        done = f"{action.operation}{f': {action.value}' if action.value else ''}"
        past = PastAction(
            f"{self.view.names.get(action.node_id or '', '[page]  ')} -> {done}",
            action.operation,
            action.node_id,
            action.value,
        )
        self.taken += 1
        self.steps.append(RecordedStep(observation, past, (action.node_id,) if action.node_id else ()))

    def store(self, observation: Observation, decision: Decision, outcomes: Sequence[Outcome], elements: int) -> None:
        """Its steps of one decision; those of what was not carried out are left out."""
        assert self.view is not None
        assert self.seen_at is not None
        seen = Seen(observation.html, self.view.url, elements, self.seen_at)
        Episode(self.trajectory, self.turn).store(seen, decision, outcomes)


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
        tell: Callable[[str], Any],
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
        self.tell("opening browsers")
        self.active: dict[EnvironmentProcess, LiveEpisode] = {}
        self.held: dict[EnvironmentProcess, _Held] = {}
        free: list[EnvironmentProcess] = []
        try:
            for _ in range(min(self.environments, len(waiting))):
                free.append(self._open())
            self.tell(f"acting in {len(free)} browser{'s' if len(free) > 1 else ''}")
            while waiting or self.active:
                self._begin(free, waiting)
                if self.active:
                    self._round(free, waiting)
                    self.on_batch()
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
            time.sleep(HELD_POLL)
        else:
            self._act(acted, free, waiting)

    def _decided(self) -> list["_Acting"]:
        """What is decided now and may be carried out at once."""
        free = {environment: episode for environment, episode in self.active.items() if environment not in self.held}
        ready = [(environment, episode) for environment, episode in free.items() if episode.view is not None]
        if not ready:
            return []
        observations = [episode.observation(self.with_history) for _, episode in ready]
        with span("decide", recipe=self.recipe.name, run=self.run.pk, steps=len(ready)):
            decisions = within_memory(self.pipeline.decide, observations)
        counters.STEPS.add(self.recipe.name, amount=len(ready))
        acted = [_Acting(*one, seen, chosen) for one, seen, chosen in zip(ready, observations, decisions, strict=True)]
        return [acting for acting in acted if not self._hold(acting)]

    def _hold(self, acting: "_Acting") -> bool:
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
        self.held[acting.environment] = _Held(acting, row)
        self._tell_of([acting.episode])
        return True

    def _released(self) -> list["_Acting"]:
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

    def _act(self, acted: list["_Acting"], free: list[EnvironmentProcess], waiting: deque[LiveEpisode]) -> None:
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

    def _keep(self, acted: Sequence["_Acting"], free: list[EnvironmentProcess]) -> None:
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

    def _is_over(self, acting: "_Acting") -> bool:
        episode = acting.episode
        spent = time.monotonic() - episode.begun
        return acting.is_done or episode.taken >= self.limits["steps"] or spent > self.limits["seconds"]

    def _tell_of(self, episodes: Sequence[LiveEpisode]) -> None:
        for episode in episodes:
            row = episode.trajectory
            events.publish(events.trajectory_group(row.pk), row.step_count, row.state)
        events.publish(events.run_group(self.run.pk), self.stored, self.run.state)


@dataclass
class _Held:
    """A decision whose action waits."""

    acting: "_Acting"
    row: HeldStep
    since: float = field(default_factory=time.monotonic)

    def release(self) -> None:
        """It goes on as the person said; what is refused, or decided by nobody, ends the episode."""
        acting, row = self.acting, self.row
        acting.episode.begun += time.monotonic() - self.since  # waiting is no time of the agent's
        acting.decision.trace.setdefault("act", {})["decided"] = row.outcome
        if row.state == HeldStep.State.APPROVED:
            return
        if row.state == HeldStep.State.CHANGED:
            acting.decision = replace(acting.decision, actions=(Action(**row.action),))
            return
        acting.outcomes, acting.is_done = [Outcome(0.0, row.outcome)], True


@dataclass
class _Acting:
    """One decision as it is carried out, action by action."""

    environment: EnvironmentProcess
    episode: LiveEpisode
    observation: Observation
    decision: Decision
    outcomes: list[Outcome] = field(default_factory=list)
    is_done: bool = False
    is_lost: bool = False
    ends_turn: bool = False
    after: PageView | None = None

    @property
    def next_action(self) -> Action | None:
        """None where all is done."""
        if self.is_done or self.is_lost or self.ends_turn:
            return None
        actions = self.decision.actions
        if not actions and len(self.episode.turns) > 1:  # it has no answer to this turn; the user goes on
            actions = (Action("STOP"),)
        return actions[len(self.outcomes)] if len(self.outcomes) < len(actions) else None

    def tell(self) -> None:
        assert self.next_action is not None
        self.environment.tell_step(self.next_action)

    def hear(self, effect: ActionEffect) -> None:
        action = self.next_action
        assert action is not None
        self.episode.did(self.observation, action)
        if effect.said:
            self.episode.answers.append(effect.said)
        self.outcomes.append(Outcome(effect.reward, effect.words, effect.turn))
        self.ends_turn = effect.turn is not None
        self.is_done = effect.done or (action.operation == "STOP" and not self.ends_turn)
        self.after = effect.view

    def store(self) -> None:
        """The steps, and the page that the next decision is about."""
        elements = self.episode.view.elements if self.episode.view else 0
        decision, outcomes = self.decision, self.outcomes
        if not decision.actions and not outcomes:
            outcomes, self.is_done = [Outcome(0.0, NO_ACTION)], True
        elif len(outcomes) < len(decision.actions):  # the turn or the episode has ended before the last of them
            decision = replace(decision, actions=decision.actions[: len(outcomes)])
        self.episode.store(self.observation, decision, outcomes, elements)
        if self.after is not None:
            self.episode.look(self.after)
        if self.ends_turn:
            self.episode.go_on()
