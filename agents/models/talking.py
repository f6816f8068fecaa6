"""A live conversation whose user is a person: what the agent waits for them to say, and what they say."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from agents.models.trajectories import Trajectory
from annotations.models.accounts.projects import Account

MOST_SAID = 2_000  # characters of one instruction or answer


ENDED = "The conversation is over: {}."


class CannotDrive(ValueError):
    """A person cannot do this with the episode; the message says why."""


class Talked(models.Model):
    """Fields of a row whose agent waits for a person: what for, and what they said (`Drive`)."""

    class Waits(models.TextChoices):
        TURN = "turn", "the next instruction"
        ANSWER = "answer", "an answer"

    waits = models.CharField(
        max_length=6, choices=Waits.choices, blank=True, help_text="What the user is to say. Empty: nothing."
    )
    question = models.TextField(blank=True, help_text="What the agent asks.")
    said = models.TextField(blank=True, help_text="What the user has said.")
    is_content = models.BooleanField(
        null=True, blank=True, help_text="The user has nothing more to ask, and got what they asked for, or not."
    )

    person: Account | None
    trajectory: Trajectory
    asked: object
    stands_at: datetime | None
    shows: bool

    class Meta:
        abstract = True

    @property
    def waits_for_worker(self) -> bool:
        """Whether it is for a worker to go on, so that the time of its holder does not run."""
        return self.asked is not None or (self.stands_at is None and not self.shows)

    @property
    def typed(self) -> dict[str, Any]:
        user = self.speaker
        return {"waits": self.waits, "question": self.question, "user": user.get_username() if user else ""}

    @property
    def speaker(self) -> Account | None:
        """Who began the conversation: whoever else acts in it speaks for nobody."""
        return self.trajectory.run.created_by

    @property
    def verdict(self) -> str:
        """How the user ended the conversation, as the outcome of its last step."""
        return f"ended: {self.person} got {'all' if self.is_content else 'not all'} that they asked for"

    @property
    def awaits_user(self) -> bool:
        """Whether the agent waits for its user, and nobody else acts in the conversation meanwhile."""
        return bool(self.waits) and self.person == self.speaker

    def check_speaker(self, person: Account) -> None:
        """Raise CannotDrive for whoever would speak in somebody else's conversation."""
        if person != self.speaker:
            raise CannotDrive(f"{self.speaker or 'Somebody else'} talks with the agent: nobody else says what is next.")

    def check_nothing_awaited(self) -> None:
        """Raise CannotDrive where the agent could not go on without words of whoever holds it."""
        if self.awaits_user:
            raise CannotDrive("The agent waits for words: say what is next, or end the conversation.")

    def say(self, token: str, words: str) -> None:
        """The user's next instruction, or the answer to a question: the agent goes on. Raises CannotDrive."""
        self._go_on(token, {"said": " ".join(words.split())}, Q(asked__isnull=True))

    def end_talk(self, token: str, is_content: bool) -> None:
        """The user has nothing more to ask, not even what they wait for to be done. Raises CannotDrive."""
        self._go_on(token, {"is_content": is_content}, Q())

    @property
    def handed_back(self) -> dict[str, Any]:
        """The fields of a drive that is handed back: it is over, or waits again for its user, whom somebody else kept
        from speaking."""
        if not self.waits:
            return self._ended("back")
        return {"state": "paused", "person": self.speaker, "lease_token": None, "lease_until": None}

    def _go_on(self, token: str, fields: dict[str, Any], when: Q) -> None:
        self._write(token, when & Q(stands_at__isnull=False), self._ended("back") | fields)

    def _write(self, token: str, when: Q, fields: dict[str, Any]) -> None:
        raise NotImplementedError

    def _ended(self, state: str) -> dict[str, Any]:
        raise NotImplementedError
