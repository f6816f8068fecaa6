"""Who drives an episode: the agent, unless a person has stopped it, to look or to act in its place."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self, TypedDict
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from agents.models.guarding import CannotDecide, HeldStep
from agents.models.talking import ENDED, CannotDrive, Talked
from agents.models.trajectories import Trajectory
from annotations.environment import env_number
from annotations.models import Operation
from annotations.models.accounts.projects import User
from annotations.models.lease import LeaseQuerySet, PersonsLease

HOLD_SECONDS = env_number("LIVE_HOLD_SECONDS", 600, least=10)  # after the last thing that its holder did
WAITING = timedelta(hours=1)  # for a worker, by whoever shows an episode from its first page on
MAX_VALUE = 10_000  # characters that a person types at once
FARTHEST = 100_000  # pixels of a window


class AskedAction(TypedDict):
    """What a person wants to be done; `point`: of the window, where they clicked."""

    operation: str
    node_id: str | None
    value: str
    point: list[float] | None


class DriveQuerySet(LeaseQuerySet["Drive"]):
    def open(self) -> Self:
        """Drives that are not over: the agent stands still, or will once it has finished its action."""
        return self.filter(state__in=Drive.OPEN)

    def of(self, trajectories: Iterable[int]) -> dict[int, "Drive"]:
        """The open ones, by trajectory; without the pictures."""
        rows = self.open().filter(trajectory__in=list(trajectories)).defer("picture")
        rows = rows.select_related("person", "trajectory__run__created_by")
        return {row.trajectory_id: row for row in rows}

    def thinking(self) -> Self:
        """Drives in which the agent stands still, and nothing was asked for: what comes next is for a person to say."""
        return self.open().filter(stands_at__isnull=False, asked__isnull=True, until__gt=Now())

    def in_time(self) -> Self:
        """Drives whose holder's time is not over, or does not run (`waits_for_worker`)."""
        return self.filter(Q(until__gt=Now()) | Q(asked__isnull=False) | Q(stands_at=None, shows=False))

    def wanting(self, since: datetime) -> Self:
        """Drives whose person waits for the browser: for its window, for an action to be done, or, handed back since
        then, for the agent to go on."""
        open_ones = Q(state__in=Drive.OPEN) & (Q(stands_at=None) | Q(asked__isnull=False))
        return self.filter(open_ones | Q(state=Drive.State.BACK, ended_at__gt=since))

    def just_done(self, since: datetime) -> Self:
        """Drives that people have ended lately, and those in which they wait for an action to be done, or for the agent
        to stand still since they have paused it or taken it over."""
        begun = Q(began_at__gt=since, stands_at=None, person__isnull=False, state__in=Drive.OPEN)
        return self.filter(Q(ended_at__gt=since) | Q(asked__isnull=False, state__in=Drive.OPEN) | begun)

    def said(self) -> Self:
        """Drives in which the user said something, or ended the conversation; the last one first."""
        return self.exclude(said="", is_content=None).select_related("person").defer("picture").order_by("-pk")

    def last_words(self) -> Self:
        """Drives in which the user has ended the conversation: the worker that has its browser may not know it yet."""
        return self.filter(is_content__isnull=False).select_related("person").defer("picture")

    def wait_for(self, trajectory: Trajectory, waits: str, question: str) -> None:
        """The agent waits for its user, who began the conversation; where somebody has stopped it, they go first."""
        if not self.open().filter(trajectory=trajectory).exists():
            person = trajectory.run.created_by
            self.create(trajectory=trajectory, person=person, waits=waits, question=question, until=Drive.later())

    @transaction.atomic
    def take(self, trajectory: Trajectory, user: User, state: str, shows: bool = False) -> "Drive":
        """Let a person stop the agent ("paused") or act in its place ("driven"); `shows`: from the first page to the
        last. Driving settles a held action that waits. Raises CannotDrive where somebody else is doing so, or the
        episode is over."""
        if not trajectory.run.dataset.is_live:
            raise CannotDrive("Its steps were recorded: there is no browser to drive.")
        trajectory.refresh_from_db(from_queryset=Trajectory.objects.select_for_update(of=("self",)))
        if trajectory.state not in (Trajectory.State.WAITING, Trajectory.State.RUNNING) or trajectory.run.is_over:
            raise CannotDrive("The episode is over.")
        row = self.open().filter(trajectory=trajectory).select_for_update(of=("self",)).first()
        if row is None:
            if said := trajectory.last_words():
                raise CannotDrive(ENDED.format(said))
            row = self.model(trajectory=trajectory, shows=shows)
        row.check_free(user)
        is_own = row.person_id == user.pk and row.is_leased
        fields = row.longer() if is_own else row.anew()
        fields |= {"person": user} | ({} if row.asked else {"until": row.later()})
        if row.shows and row.stands_at is None:
            fields["until"] = row.clock() + WAITING
        if state == Drive.State.DRIVEN or not row.pk:
            fields["state"] = state
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()
        if state == Drive.State.DRIVEN and (held := trajectory.held_steps.waiting().first()) is not None:
            try:
                held.decide(user, HeldStep.State.TAKEN)
            except CannotDecide as error:
                raise CannotDrive(str(error)) from error
        return row


class Drive(Talked, PersonsLease):
    """The time in which a person keeps the agent of an episode from going on. It ends when they hand back; if they do
    nothing until `until`, the whole episode ends. The worker that has the browser writes its window here, and the page
    writes here what the person wants to be done."""

    class State(models.TextChoices):
        PAUSED = "paused", "paused"
        DRIVEN = "driven", "driven by a person"
        BACK = "back", "handed back"
        OVER = "over", "the episode has ended"
        EXPIRED = "expired", "nobody went on in time"
        LOST = "lost", "the browser was lost"

    LEASE = timedelta(seconds=60)
    WRITABLE = OPEN = (State.PAUSED, State.DRIVEN)

    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="drives")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="drives",
        help_text="Empty: it waits for one.",
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.PAUSED)
    lease_token = models.UUIDField(null=True, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    shows = models.BooleanField(default=False, help_text="The whole episode is shown by a person; no agent is asked.")
    began_at = models.DateTimeField(auto_now_add=True)
    stands_at = models.DateTimeField(null=True, blank=True, help_text="Since when the agent stands still.")
    ended_at = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField(help_text="When the episode ends unless its holder does something.")
    number = models.PositiveIntegerField(default=0, help_text="Of the window that is shown, from 1 on.")
    window = models.JSONField(default=dict, blank=True, help_text="Its size, address, fields and elements.")
    picture = models.BinaryField(null=True, blank=True, help_text="Of the window, while the agent stands still.")
    proposed = models.TextField(blank=True, help_text="What the agent would do now, in words.")
    asked = models.JSONField(null=True, blank=True, help_text="What the person wants to be done next.")

    objects = DriveQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory"], condition=Q(state__in=["paused", "driven"]), name="one_driver_at_once"
            ),
            models.CheckConstraint(
                condition=~Q(state="driven") | Q(person__isnull=False), name="whoever_drives_has_a_name"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.trajectory_id}: {self.words}"

    @classmethod
    def later(cls) -> datetime:
        return cls.clock() + timedelta(seconds=HOLD_SECONDS)

    @property
    def is_late(self) -> bool:
        return not self.waits_for_worker and self.until <= self.clock()

    @property
    def words(self) -> str:
        """Who drives or has paused, in words."""
        if self.state == self.State.DRIVEN:
            return f"{self.person} {'shows it' if self.shows else 'drives'}"
        if self.state != self.State.PAUSED:
            return self.get_state_display()
        if self.awaits_user:
            return f"waits for {self.speaker} to say {self.Waits(self.waits).label}"
        return f"paused by {self.person}" if self.person else "kept for a person to show it"

    @property
    def doing(self) -> str:
        """The words for who drives or has paused, in the form that follows "while"."""
        return self.words if self.state == self.State.DRIVEN else f"it {'' if self.awaits_user else 'was '}{self.words}"

    @property
    def left_alone(self) -> str:
        """Why the episode ended when nobody did anything until `until`."""
        if self.person is None:
            return "ended: nobody came to show it"
        if self.awaits_user:
            return f"ended: {self.speaker} said nothing for {HOLD_SECONDS:g} seconds"
        done = "drove" if self.state == self.State.DRIVEN else "had paused it"
        return f"ended: {self.person} {done}, and did nothing for {HOLD_SECONDS:g} seconds"

    @property
    def shown(self) -> dict[str, Any]:
        """The drive as the replay page reads it."""
        return {
            "id": self.pk,
            "state": self.state,
            "words": self.words,
            "person": self.person.get_username() if self.person else "",
            "is_leased": self.is_leased,
            "shows": self.shows,
            "stands": self.stands_at is not None,
            "until": self.until.isoformat(),
            "number": self.number,
            "window": self.window,
            "proposed": self.proposed,
            "typed": self.typed,
            "is_acting": self.asked is not None,
        }

    def check_free(self, user: User) -> None:
        """Raise CannotDrive unless this person may take it: nobody has it, or its holder was long not heard of."""
        if self.pk and self.is_late:
            raise CannotDrive("Nobody went on in time: the episode ends.")
        if self.is_leased and self.person_id != user.pk:
            raise CannotDrive(f"{self.words[0].upper()}{self.words[1:]}.")

    def beat(self, token: str) -> None:
        """Keep the lease: the person's page is still open. Raises CannotDrive."""
        self._write(token, Q(), self.longer())

    def ask(self, token: str, seen: int, action: AskedAction) -> None:
        """Ask for an action on the window with the number `seen`, which the person saw. Raises CannotDrive."""
        check_asked(action, self.window.get("instruction", "?"))
        here = Q(state=self.State.DRIVEN, asked__isnull=True, number=seen, stands_at__isnull=False)
        self._write(token, here, self.longer() | {"asked": action, "until": self.later()})

    def hand_back(self, token: str) -> None:
        """Let the agent go on, or wait again for its user where somebody else held it. Raises CannotDrive."""
        self.check_nothing_awaited()
        self._write(token, Q(asked__isnull=True), self.handed_back | {"until": self.later()})

    def _write(self, token: str, when: Q, fields: dict[str, Any]) -> None:
        rows = type(self).objects.under(_as_token(token)).in_time().filter(when, pk=self.pk)
        written = rows.update(**fields)
        self.refresh_from_db()
        if not written:
            raise CannotDrive(self._why_not(token))

    def _why_not(self, token: str) -> str:
        if self.state not in self.OPEN:
            return f"It is over: {self.get_state_display()}."
        if self.is_late:
            return "Nobody went on in time: the episode ends."
        if self.lease_token is None or self.lease_token != _as_token(token):
            here = ", in another window or by somebody else." if self.lease_token else ": take over first."
            return f"{self.words[0].upper()}{self.words[1:]}{here}"
        if self.state == self.State.PAUSED and (not self.waits or self.stands_at is not None):
            return "Take over first: the agent is only paused."
        if self.stands_at is None:
            return "Wait until the agent stands still."
        return "Wait until what you did last is done, and look at the page that comes of it."

    def stand(self, window: dict[str, Any], picture: bytes) -> None:
        """Store the window in which the agent stands still; what was asked for is done; its holder's time begins."""
        fields: dict[str, Any] = {"window": window, "picture": picture, "proposed": "", "asked": None}
        fields |= {"number": self.number + 1, "stands_at": self.stands_at or self.clock()}
        fields |= {"until": self.later()} if self.waits_for_worker or self.stands_at is None else {}
        self._set(fields)

    def propose(self, words: str) -> None:
        """Store what the agent would do now."""
        self._set({"proposed": words})

    def end(self, state: str) -> None:
        self._set(self._ended(state))

    def _set(self, fields: dict[str, Any]) -> None:
        type(self).objects.open().filter(pk=self.pk).update(**fields)
        for name, value in fields.items():
            setattr(self, name, value)

    def _ended(self, state: str) -> dict[str, Any]:
        """The fields of a drive that is over; its window and picture are deleted."""
        return {"state": state, "ended_at": self.clock(), "picture": None, "window": {}, "asked": None} | self.FREE


def _as_token(said: str) -> UUID | None:
    try:
        return UUID(said)
    except ValueError:
        return None


def check_asked(action: AskedAction, instruction: str = "?") -> None:
    """Raise CannotDrive for an action that nobody can do, or an end before anybody has said of what."""
    if action["operation"] == "STOP" and not (action["value"].strip() or instruction):
        raise CannotDrive("Say first what was done: a demonstration needs the words of whoever asks for it.")
    if action["operation"] not in Operation.values:
        raise CannotDrive(f"There is no operation {action['operation']!r}.")
    if len(action["value"]) > MAX_VALUE or "\0" in f"{action['value']}{action['node_id']}":
        raise CannotDrive(f"A text has at most {MAX_VALUE:,} characters, none of them NUL.")
    if len(action["node_id"] or "") > 64:
        raise CannotDrive("An element's number has at most 64 characters.")
    point = action["point"]
    if point is not None and not (len(point) == 2 and all(0 <= one < FARTHEST for one in point)):
        raise CannotDrive("A point of the window is two numbers, right and down.")
