"""Lets a person act in the agent's place: their actions become steps of the episode, beside what the agent proposed."""

from dataclasses import asdict
from functools import partial
from typing import Any

from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import WindowView
from agents.live.browsers import EpisodeBrowsers
from agents.live.under_way import ActingEpisode, LiveEpisode
from agents.models import AskedAction, Drive, HeldStep
from agents.runs.episodes import ActionOutcome
from agents.types import Action, Decision

MOST_NAMES = 400  # elements that a list offers


class Drives:
    """Brings what people ask for to the episodes of a worker. Each round it reads the rows (`Drive`) by which pages and
    workers talk."""

    def __init__(self, browsers: EpisodeBrowsers, with_history: bool) -> None:
        self.browsers, self.with_history = browsers, with_history
        self.given_up: list[ActingEpisode] = []

    @property
    def anybody_drives(self) -> bool:
        """Whether somebody acts in an episode whose page was open a short while ago: one action soon follows another,
        while who is to say something reads and thinks first."""
        drives = [episode.drive for episode in self.browsers.active.values() if episode.drive is not None]
        return any(drive.state == Drive.State.DRIVEN and drive.is_leased for drive in drives)

    def look(self) -> None:
        """Stop the episodes that people have stopped since the last round, and let those go on that were handed
        back."""
        drives = Drive.objects.of(episode.trajectory.pk for episode in self.browsers.active.values())
        for environment, episode in [*self.browsers.active.items()]:
            drive = drives.get(episode.trajectory.pk)
            if episode.view is None:
                continue
            before, stands = episode.drive, episode.stand(drive)
            if episode.by_hand and drive is None:  # there is no agent to go on
                self.given_up.append(ended(environment, episode, "ended: whoever showed it gave up"))
            elif before is not None and before != drive and episode.is_typed:  # it may have been stopped again by now
                stands &= self._hear_user(environment, episode, before)
            if stands:
                self.show(environment, episode)

    def _hear_user(self, environment: EnvironmentProcess, episode: LiveEpisode, drive: Drive) -> bool:
        """Take in what the user has said in a drive that is over; whether the conversation goes on."""
        drive.refresh_from_db(fields=["said", "is_content"])
        if drive.is_content is not None:
            episode.by_hand = True  # the agent does nothing more
            self.browsers.held.pop(environment, None)
            with self.browsers.fenced():
                HeldStep.objects.withdraw(episode.trajectory)
            self.given_up.append(ended(environment, episode, drive.verdict, float(drive.is_content)))
        elif drive.said:
            with self.browsers.fenced():
                episode.hear_user(drive)
            self.browsers.tell_of([episode])
        return drive.is_content is None

    def show(self, environment: EnvironmentProcess, episode: LiveEpisode) -> None:
        """Store the window as it is now for the person who has stopped the episode, and tell viewers."""
        window = self.browsers.ask(environment, environment.window)
        if window is not None and episode.drive is not None:
            episode.drive.stand(window_of(window, episode), window.picture)
            self.browsers.tell_of([episode])

    def propose(self, episode: LiveEpisode, decision: Decision) -> bool:
        """Where a person has stopped the episode, show them what the agent would do; whether that is so, in which case
        the decision is not carried out."""
        if episode.drive is None:
            return False
        episode.proposal = decision
        episode.drive.propose(proposed_words(episode, decision))
        self.browsers.tell_of([episode])
        return True

    def asked(self) -> list[ActingEpisode]:
        """The actions that people ask for, and the ends of episodes that they left alone for too long."""
        found, self.given_up = self.given_up, []
        for environment, episode in [*self.browsers.active.items()]:
            drive = episode.drive
            if drive is not None and drive.asked is not None:
                ask = partial(asked_by, environment, episode, drive, self.with_history)
                if (acting := self.browsers.ask(environment, ask)) is not None:
                    episode.is_shown = True
                    found.append(acting)
                    self.browsers.held.pop(environment, None)
            elif drive is not None and drive.is_late:
                found.append(ended(environment, episode, drive.left_alone))
                with self.browsers.fenced():
                    drive.end(Drive.State.EXPIRED)
                    HeldStep.objects.withdraw(episode.trajectory)
                self.browsers.held.pop(environment, None)
        return found


def window_of(view: WindowView, episode: LiveEpisode) -> dict[str, Any]:
    """The window as the row of a drive keeps it: its size, address, fields and the names of elements. The picture is
    kept beside it."""
    assert episode.view is not None
    names = [[node, name] for node, name in episode.view.names.items() if name.strip()]
    fields = [asdict(one) for one in view.fields]
    place = {"url": episode.view.url, "instruction": episode.instruction, "is_free": episode.is_free}
    return place | {"width": view.width, "height": view.height, "fields": fields, "names": names[:MOST_NAMES]}


def proposed_words(episode: LiveEpisode, decision: Decision) -> str:
    """What the agent would do now, in words."""
    if not decision.actions:
        return "no action"
    return str(decision.trace.get("act", {}).get("representation") or episode.words_of(decision.actions[0]))


def asked_by(environment: EnvironmentProcess, episode: LiveEpisode, drive: Drive, with_history: bool) -> ActingEpisode:
    """The action that the person who drives asks for. Of a click only the point is known; the page tells which element
    is there. Raises EnvironmentLost."""
    said: AskedAction | None = drive.asked
    assert said is not None  # the caller has looked
    node, place = said["node_id"], said["point"]
    point = (place[0], place[1]) if place else None
    if node is None and point is not None:
        node = environment.at(*point)
    action = Action(said["operation"], node, said["value"], point)
    decision = episode.in_its_place(episode.proposal or Decision(()), action, str(drive.person))
    if point:
        decision.trace["act"]["point"] = place
    return ActingEpisode(environment, episode, episode.observation(with_history), decision, done_by=drive.person_id)


def ended(environment: EnvironmentProcess, episode: LiveEpisode, words: str, reward: float = 0.0) -> ActingEpisode:
    """Nobody goes on: the last step of the episode says why."""
    acting = ActingEpisode(environment, episode, episode.observation(), Decision(()))
    acting.outcomes, acting.is_done = [ActionOutcome(reward, words)], True
    return acting
