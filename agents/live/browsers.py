"""Which episode is in which browser: begun, held, lost, given up. One whose browser is lost begins anew elsewhere,
unless people did something in it."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import ActionEffect, EnvironmentLost
from agents.live.under_way import ATTEMPTS, ActingEpisode, HeldEpisode, LiveEpisode, Losses
from agents.models import Drive, HeldStep, Run, Trajectory
from agents.runs import events
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.types import Decision

logger = logging.getLogger(__name__)


class EpisodeBrowsers:
    """The browsers of a worker and the episodes in them. `open_one` opens another browser; rows are written within
    `fenced()`, which raises once the worker has lost its lease."""

    def __init__(
        self, run: Run, fenced: Callable[[], AbstractContextManager[None]], open_one: Callable[[], EnvironmentProcess]
    ) -> None:
        self.run, self.fenced, self.open_one = run, fenced, open_one
        self.waiting: deque[LiveEpisode] = deque()
        self.free: list[EnvironmentProcess] = []
        self.active: dict[EnvironmentProcess, LiveEpisode] = {}
        self.held: dict[EnvironmentProcess, HeldEpisode] = {}
        self.stored = 0
        self.losses = Losses(fenced, self.tell_of)

    def close(self) -> None:
        for environment in (*self.free, *self.active):
            environment.close()

    def begin(self) -> None:
        """Let every browser that is free begin the next episode."""
        told: list[tuple[EnvironmentProcess, LiveEpisode]] = []
        while self.free and self.waiting:
            environment, episode = self.free.pop(), self.waiting.popleft()
            with self.fenced():
                episode.trajectory.begin_episode()
                HeldStep.objects.withdraw(episode.trajectory)
            self.active[environment] = episode
            episode.attempts += 1
            if self.ask(environment, partial(environment.tell_reset, *episode.goal)) is not None:
                told.append((environment, episode))
        for environment, episode in told:
            start = self.ask(environment, environment.hear_reset)
            if start is not None:
                episode.begin(start)
                self._draw(environment)

    def _draw(self, environment: EnvironmentProcess) -> bool:
        return not settings.LIVE_SCREENSHOTS or self.ask(environment, environment.tell_picture) is not None

    def draw_next(self, acted: Iterable[ActingEpisode]) -> None:
        """Have the pages drawn that the next decisions are about, while what was done is stored."""
        for acting in acted:
            if not acting.is_lost and not acting.is_done:
                acting.is_lost = not self._draw(acting.environment)

    def hear_pictures(self, acted: Iterable[ActingEpisode]) -> None:
        """Give each decision the picture of the page that it is about."""
        for acting in [one for one in acted if not one.is_lost]:
            acting.is_lost = self.ask(acting.environment, acting.hear_picture) is None

    def ask(self, environment: EnvironmentProcess, ask: Callable[[], Any]) -> Any:
        """What a call of a browser answers, True where it answers nothing. None where the browser is lost: another one
        is opened, and the episode waits to begin anew, ends because a person acted in it, or is given up after several
        attempts."""
        try:
            answer = ask()
        except EnvironmentLost as error:
            episode = self.active.pop(environment)
            self.held.pop(environment, None)
            logger.warning("%s of run %d is lost: %s", episode.trajectory, self.run.pk, error)
            self.free.append(self.open_one())
            if episode.is_peoples:
                self.losses.lose(episode)
            elif episode.attempts >= ATTEMPTS:
                self.losses.give_up(episode)
            else:
                self.waiting.appendleft(episode)
            return None
        return True if answer is None else answer

    def look(self) -> None:
        """Find out which browsers have ended while nothing was asked of them."""
        for environment in [one for one in self.active if not one.is_alive()]:
            self.ask(environment, environment.observe)  # which tells

    def carry_out(self, asked: Sequence[ActingEpisode]) -> list[tuple[ActingEpisode, ActionEffect]]:
        """Do the next action of each decision, all at once; what came of them. Those whose browser is lost are marked
        so."""
        heard = []
        for acting in asked:
            acting.is_lost = self.ask(acting.environment, acting.tell) is None
        for acting in [one for one in asked if not one.is_lost]:
            effect = self.ask(acting.environment, acting.environment.hear_step)
            acting.is_lost = effect is None
            heard += [] if acting.is_lost else [(acting, effect)]
        return heard

    def keep_what_people_did(self) -> None:
        """End waiting episodes whose browser was lost with a worker after a person had stopped them or acted in them:
        what the person did or said cannot be done again, so it is kept."""
        keys = [episode.trajectory.pk for episode in self.waiting]
        over = set(Trajectory.objects.filter(pk__in=keys, state=Trajectory.State.DONE).values_list("pk", flat=True))
        self.waiting = deque(one for one in self.waiting if one.trajectory.pk not in over)  # lost while parked
        drives = Drive.objects.of(keys)
        for episode in [*self.waiting]:
            drive = drives.get(episode.trajectory.pk)
            last = episode.trajectory.steps.filter(done_by__isnull=False).order_by("seq").last()
            said = [*Drive.objects.said().filter(trajectory=episode.trajectory)] if episode.is_typed else []
            if last is None and not said and (drive is None or drive.stands_at is None):
                continue
            self.waiting.remove(episode)
            episode.drive = drive
            if said:
                self._end_talk(episode, said)
                continue
            if last is not None:
                episode.at = next((at for at, turn in enumerate(episode.turns) if turn.pk == last.turn_id), 0)
            self.losses.lose(episode)

    def _end_talk(self, episode: LiveEpisode, said: Sequence[Drive]) -> None:
        """End a conversation whose browser was lost: as its user has ended it, or as lost. An instruction that the
        worker had not heard becomes the turn that it ends in. `said`: the last one first."""
        episode.at = len(episode.turns) - 1
        instructions = [drive for drive in said if drive.said and drive.waits != Drive.Waits.ANSWER]
        if len(instructions) >= len(episode.turns):
            with self.fenced():
                episode.hear_user(instructions[0])
        if said[0].is_content is None:
            return self.losses.lose(episode)
        with self.fenced():
            HeldStep.objects.withdraw(episode.trajectory)
            seen, outcome = Seen("", "", 0, timezone.now()), ActionOutcome(float(said[0].is_content), said[0].verdict)
            Episode(episode.trajectory, episode.turn).store(seen, Decision(()), [outcome])
            episode.trajectory.end_episode()
            if episode.drive is not None:
                episode.drive.end(Drive.State.OVER)
        self.tell_of([episode])
        return None

    def tell_of(self, episodes: Iterable[LiveEpisode] | Sequence[LiveEpisode]) -> None:
        """Tell viewers of these episodes, and of the run, that something new is stored."""
        for episode in episodes:
            row = episode.trajectory
            events.publish(events.trajectory_group(row.pk), row.step_count, row.state)
        events.publish(events.run_group(self.run.pk), self.stored, self.run.state)
