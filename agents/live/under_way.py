"""An episode under way: its state in memory, the decision that is being carried out, and one that waits for a
person."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import ActionEffect, EpisodeStart, PageView, WindowPicture
from agents.guard.again import what_changed
from agents.live.talk import EpisodeTalk
from agents.live.teaching import ShownAction, TaughtTurn
from agents.models import Drive, HeldStep
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.types import Action, Decision, Observation, PastAction, RecordedStep

TYPED_STEPS = 15  # of an agent in one turn, before the person who types for the user is asked what is next
TAKEN = f"It took {TYPED_STEPS} steps, and does not say that it is done."
NO_ACTION = "ended: the agent had no action"
ATTEMPTS = 3  # of an episode whose browser is lost
LOST = "the browser was lost in each of {} attempts"
LOST_WITH_PEOPLE = "ended: the browser was lost while {}; what was done before is kept"


@dataclass
class LiveEpisode(EpisodeTalk):
    """An episode under way: where it is, and what the agent has done so far."""

    by_hand: bool = False  # a person shows it from the first page on, and there is no agent
    attempts: int = 0
    taken: int = 0  # steps of all turns
    view: PageView | None = None
    seen_at: datetime | None = None
    begun: float = 0.0
    steps: list[RecordedStep] = field(default_factory=list)  # of this turn
    drive: Drive | None = None  # a person has stopped it
    stood_since: float = 0.0
    is_shown: bool = False  # a person has acted in it: it is never begun anew
    done: list[ShownAction] = field(default_factory=list)  # in this turn, for those who learn from it
    reached: list[TaughtTurn] = field(default_factory=list)  # turns that came out as asked
    proposal: Decision | None = None  # what the agent would do where a person drives

    def begin(self, start: EpisodeStart) -> None:
        self.begun, self.steps, self.at, self.taken = time.monotonic(), [], 0, 0
        self.done, self.reached = [], []
        self.answers = []
        self.spoken, self.earlier_spoken = None, []
        if start.instruction and not self.turn.instruction:  # its goal was made without a browser
            self.call(start.instruction)
        self.look(start.view)

    def hear_user(self, drive: Drive) -> None:
        """The user has answered, or said the next instruction."""
        self.is_shown = True  # nobody says it a second time
        if drive.waits == Drive.Waits.ANSWER:
            self.answers.append(drive.said)
            self.trajectory.hear_answer(drive.said)
            return
        index, goal = len(self.turns), self.trajectory.conversation
        self.turns.append(goal.turns.create(index=index, source_id=f"{goal.source_id}-{index}", instruction=drive.said))
        self.at, self.done, self.steps, self.answers = index, [], [], []

    def go_on(self) -> None:
        """Go on to the next turn: the user says the next instruction."""
        self.earlier_spoken += [self.spoken.instruction] if self.spoken else []
        self.spoken = None
        self.at, self.steps = min(self.at + 1, len(self.turns) - 1), []
        self.answers = []

    def came_out(self, effect: ActionEffect) -> None:
        """Note that a turn, or an episode of one turn, is over: where its goal was reached, its actions can be kept as
        a demonstration."""
        if effect.turn.reached if effect.turn else effect.reward >= 1:
            self.reached.append(TaughtTurn(tuple(self.done), effect.view))
        self.done = []

    def look(self, view: PageView) -> None:
        self.view, self.seen_at, self.proposal = view, timezone.now(), None

    @property
    def is_peoples(self) -> bool:
        """Whether a person has stopped the episode or acted in it, so that the agent could not bring its page about
        again."""
        return self.is_shown or self.drive is not None

    @property
    def is_decided_now(self) -> bool:
        """Whether the agent decides in this round. While a person drives it does so once for each page, as a
        proposal."""
        if self.view is None or self.by_hand:
            return False
        return self.drive is None or (self.drive.state == Drive.State.DRIVEN and self.proposal is None)

    def stand(self, drive: Drive | None) -> bool:
        """Take over whether a person has stopped the episode; True where it stops now. While it is stopped, the agent's
        time does not pass."""
        before, self.drive = self.drive, drive
        if before is not None and before != drive:
            self.begun += time.monotonic() - self.stood_since
        if drive is None or before == drive:
            return False
        self.stood_since = time.monotonic()
        return True

    def words_of(self, action: Action) -> str:
        """The action in the words of the stages: "[button]  Search -> CLICK"."""
        assert self.view is not None
        done = f"{action.operation}{f': {action.value}' if action.value else ''}"
        return f"{self.view.names.get(action.node_id or '', '[page]  ')} -> {done}"

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
            instruction=" ".join((self.instruction, *self.answers)),
            html=self.view.html,
            url=self.view.url,
            markup=self.view.markup,
            candidate_ids=tuple(sorted(self.view.names)),  # as those of recorded pages
            turn_actions=tuple(step.action for step in self.steps),
            score_key=f"{self.turn.source_id}_{len(self.steps)}",
            earlier_instructions=self.earlier,
            turn_steps=tuple(self.steps) if with_history else (),
        )

    def in_its_place(self, proposal: Decision, action: Action, person: str) -> Decision:
        """What a person does in the place of what the agent proposed, which its record keeps."""
        proposed = [
            {
                "operation": one.operation,
                "node_id": one.node_id,
                "value": one.value,
                "representation": self.words_of(one),
            }
            for one in proposal.actions
        ]
        told = {"representation": self.words_of(action), "person": person, "proposed": proposed}
        act = {**proposal.trace.get("act", {}), **told}
        return replace(proposal, actions=(action,), trace=proposal.trace | {"act": act})

    def did(
        self, observation: Observation, action: Action, trace: Mapping[str, Any], done_by: int | None = None
    ) -> None:
        """Remember an action that was carried out, as a past step that later decisions of the episode are shown."""
        past = PastAction(self.words_of(action), action.operation, action.node_id, action.value)
        self.taken += done_by is None  # a person's steps are none of the agent's
        shown, program = trace.get("simplify", {}).get("page", ""), trace.get("plan", {}).get("program", "")
        targets = (action.node_id,) if action.node_id else ()
        self.steps.append(RecordedStep(observation, past, targets, shown=shown, program=program))

    def store(
        self,
        observation: Observation,
        decision: Decision,
        outcomes: Sequence[ActionOutcome],
        picture: WindowPicture | None,
        done_by: int | None = None,
    ) -> None:
        """Store the steps of one decision, as many as were carried out. `done_by`: the person who acted in the agent's
        place."""
        assert self.view is not None
        assert self.seen_at is not None
        seen = Seen(observation.html, self.view.url, self.view.elements, self.seen_at, picture)
        Episode(self.trajectory, self.turn).store(seen, decision, outcomes, done_by)


@dataclass
class ActingEpisode:
    """A decision while it is carried out, action by action."""

    environment: EnvironmentProcess
    episode: LiveEpisode
    observation: Observation
    decision: Decision
    outcomes: list[ActionOutcome] = field(default_factory=list)
    is_done: bool = False
    is_lost: bool = False
    ends_turn: bool = False
    waits: str = ""  # what a person who types for the user is to say before the agent goes on
    after: PageView | None = None
    done_by: int | None = None  # a person, in the agent's place
    picture: WindowPicture | None = None  # of the page that it is about

    @property
    def next_action(self) -> Action | None:
        """The action that is carried out next; None when all are done, or the turn or the episode is over."""
        if self.is_done or self.is_lost or self.ends_turn or self.waits:
            return None
        actions = self.decision.actions
        # It has no answer to this turn; the user goes on.
        if not actions and (len(self.episode.turns) > 1 or self.episode.is_typed):
            actions = (Action("STOP"),)
        return actions[len(self.outcomes)] if len(self.outcomes) < len(actions) else None

    def hear_picture(self) -> None:
        self.picture = self.environment.hear_picture()

    def tell(self) -> None:
        assert self.next_action is not None
        self.environment.tell_step(self.next_action)

    def hear(self, effect: ActionEffect) -> None:
        action = self.next_action
        assert action is not None
        drive = self.episode.drive
        if action.operation == "STOP" and self.episode.is_free and drive is not None:
            effect = replace(effect, reward=1.0)
            if action.value.strip():
                self.episode.call(" ".join(action.value.split()))
        self.episode.did(self.observation, action, self.decision.trace, self.done_by)
        before = self.after or self.episode.view
        assert before is not None
        person = self.decision.trace["act"]["person"] if self.done_by else ""
        self.episode.done.append(ShownAction(self.episode.turn, before, action, person))
        if effect.said:
            self.episode.answers.append(effect.said)
        told = self.episode.spoken.take() if self.episode.spoken else None
        self.outcomes.append(ActionOutcome(effect.reward, effect.words, effect.turn, told))
        self.ends_turn = effect.turn is not None
        self.is_done = effect.done or (action.operation == "STOP" and not self.ends_turn)
        self.after = effect.view
        if self.episode.is_typed and drive is None:  # the agent goes on, and its user alone says that it is over
            self.waits, self.is_done = self._awaited(action), False
        elif self.ends_turn or effect.done:
            self.episode.came_out(effect)

    def _awaited(self, action: Action) -> str:
        """What the episode waits for from the person who types for its user: an answer when the agent asks, the next
        turn when the agent stops or has taken TYPED_STEPS steps, else nothing."""
        if action.operation == "SAY":
            return Drive.Waits.ANSWER
        return Drive.Waits.TURN if action.operation == "STOP" or len(self.episode.steps) >= TYPED_STEPS else ""

    @property
    def question(self) -> str:
        """What the agent asks while it waits, or why it goes on no further."""
        *_, last = self.decision.actions or (Action("STOP"),)
        if self.waits == Drive.Waits.ANSWER:
            return last.value
        if last.operation != "STOP":
            return TAKEN
        if self.decision.error:
            return f"It decided nothing: {self.decision.error.rstrip('.')}."
        return str(self.decision.trace.get("act", {}).get("stopped", ""))

    def store(self) -> None:
        """Store the decision's steps, and take over the page that the next decision is about."""
        decision, outcomes = self.decision, self.outcomes
        if not decision.actions and not outcomes:
            outcomes, self.is_done = [ActionOutcome(0.0, NO_ACTION)], True
        elif len(outcomes) < len(decision.actions):  # the turn or the episode has ended before the last of them
            decision = replace(decision, actions=decision.actions[: len(outcomes)])
        self.episode.store(self.observation, decision, outcomes, self.picture, self.done_by)
        if self.after is not None:
            self.episode.look(self.after)
        if self.ends_turn:
            self.episode.go_on()

    def end_episode(self) -> None:
        """End the episode, with the page that its last action led to; a decision that did nothing led to none."""
        if self.after is not None and self.after.html:
            Episode(self.episode.trajectory, self.episode.turn).end_with(self.after.html, self.after.elements)
        self.episode.trajectory.end_episode()


@dataclass
class HeldEpisode:
    """A decision whose action is held until a person decides."""

    acting: ActingEpisode
    row: HeldStep
    since: float = field(default_factory=time.monotonic)

    def go_on(self, ask: Callable[[EnvironmentProcess, Callable[[], PageView]], PageView | None]) -> None:
        """Go on as the person decided. An action that is refused, or that nobody decided on in time, ends the
        episode. `ask`: has the browser answer; None where it is lost."""
        acting, row = self.acting, self.row
        acting.episode.begun += time.monotonic() - self.since  # waiting is no time of the agent's
        acting.decision.trace.setdefault("act", {})["decided"] = row.outcome
        if row.state == HeldStep.State.TAKEN:
            return
        if row.state not in (HeldStep.State.APPROVED, HeldStep.State.CHANGED):
            acting.outcomes, acting.is_done = [ActionOutcome(0.0, row.outcome)], True
            return
        if row.state == HeldStep.State.CHANGED:
            acting.decision = acting.episode.in_its_place(acting.decision, Action(**row.action), str(row.decided_by))
            acting.done_by = row.decided_by_id
        if (view := ask(acting.environment, acting.environment.observe)) is None:
            acting.is_lost = True
            return
        acting.episode.is_shown |= acting.done_by is not None
        self._compare(view)

    def _compare(self, view: PageView) -> None:
        """Leave the action undone where it is another than the person saw: the agent decides anew on the page as it is,
        and what is risky there is held again."""
        acting = self.acting
        action, seen = acting.decision.actions[0], acting.episode.view
        if seen is None or not (changed := what_changed(seen.html, view.html, action)):
            return
        acting.decision = replace(acting.decision, actions=(action,))
        acting.episode.did(acting.observation, action, acting.decision.trace, acting.done_by)
        acting.outcomes = [ActionOutcome(0.0, f"{self.row.outcome}; not done: {changed}")]
        acting.after = view


@dataclass(frozen=True)
class Losses:
    """Ends episodes whose browsers are lost. `tell_of`: tells viewers of them."""

    fenced: Callable[[], AbstractContextManager[Any]]
    tell_of: Callable[[Sequence[LiveEpisode]], None]

    def lose(self, episode: LiveEpisode) -> None:
        """End an episode whose page a person had brought about and whose browser is lost; its outcome says so."""
        drive = episode.drive
        with self.fenced():
            HeldStep.objects.withdraw(episode.trajectory)
            said = drive.doing if drive else "the agent went on after a person"
            self._end(episode, LOST_WITH_PEOPLE.format(said))
            if drive is not None:
                drive.end(Drive.State.LOST)
        self.tell_of([episode])

    def give_up(self, episode: LiveEpisode) -> None:
        """End an episode whose browser was lost too often."""
        with self.fenced():
            episode.trajectory.begin_episode()
            self._end(episode, LOST.format(ATTEMPTS))
        self.tell_of([episode])

    def _end(self, episode: LiveEpisode, said: str) -> None:
        lost = Decision((), error=said)
        seen = Seen("", "", 0, timezone.now())
        Episode(episode.trajectory, episode.turn).store(seen, lost, [ActionOutcome(0.0, said)])
        episode.trajectory.end_episode(lost=True)
