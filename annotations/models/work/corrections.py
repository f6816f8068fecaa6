"""Gold of recorded steps that somebody found wrong: who said so, what is right instead, and who verified that."""

from datetime import datetime
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from annotations.models.accounts.projects import Account, Membership, Project
from annotations.models.choices import MAX_REASON, Operation, as_reason
from annotations.models.corpus.conversations import Conversation, Step, Turn
from annotations.models.work.campaigns import tracked

USER = settings.AUTH_USER_MODEL


C = TypeVar("C", bound="Corrected")


class CorrectionRefused(ValueError):
    """A correction cannot go on in this way; the message says why. `field`: what of the proposal is to be changed, ""
    where it is none of its fields."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.field = field


class CorrectedQuerySet(models.QuerySet[C]):
    def with_people(self) -> Self:
        return self.select_related("asked_by", "corrected_by", "decided_by")

    def unfinished(self) -> Self:
        return self.filter(state__in=Corrected.UNFINISHED)

    def done(self) -> Self:
        return self.filter(state=Corrected.State.DONE)

    def asked_of(self, user: Account, reason: str, place: models.Model, **told: Any) -> C:
        """The correction that is under way for this row, with the reason added; where there is none, a new one. The row
        is locked meanwhile. CorrectionRefused for a reason that is too long."""
        reason = as_reason(reason, CorrectionRefused)
        field = type(place).__name__.lower()
        with transaction.atomic():
            type(place)._base_manager.select_for_update(of=("self",)).get(pk=place.pk)
            found = self.unfinished().filter(**{field: place}).first()
            if found is None:
                return self.create(asked_by=user, reason=reason, **{field: place}, **told)
            if reason and reason not in found.reason:
                found.reason = f"{found.reason}\n{reason}".strip()
                found.save(update_fields=["reason"])
            return found


class Corrected(models.Model):
    """A correction of recorded data: somebody asks for it, somebody proposes what is right, and another person verifies
    that. The data change when it is verified, and the next release has it."""

    class State(models.TextChoices):
        OPEN = "open", "to correct"
        PROPOSED = "proposed", "to verify"
        DONE = "done", "corrected"
        DISMISSED = "dismissed", "stands as recorded"

    UNFINISHED = (State.OPEN, State.PROPOSED)

    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN, db_index=True)
    reason = models.TextField(blank=True, help_text="Why it is wrong; each that says so, a line.")
    asked_by = models.ForeignKey(USER, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    corrected_by = models.ForeignKey(USER, models.PROTECT, null=True, blank=True, related_name="+")
    corrected_at = models.DateTimeField(null=True, blank=True)
    before = models.JSONField(default=dict, blank=True, help_text="What it replaced.")
    decided_by = models.ForeignKey(USER, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, max_length=MAX_REASON, help_text="What its verifier said.")

    class Meta:
        abstract = True

    @property
    def conversation(self) -> Conversation:
        """The conversation whose data are said to be wrong."""
        raise NotImplementedError

    @property
    def proposed(self) -> str:
        """What is proposed, in words."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[str, ...]:
        """What of the data it has changed: "gold", "wording", "cut"."""
        raise NotImplementedError

    @property
    def place(self) -> str:
        """The turn in its conversation, and the step where it is of one, as people count."""
        raise NotImplementedError

    @property
    def account(self) -> str:
        """Who did what with it and why, as a sentence."""
        said = f"{self.get_state_display().capitalize()}: {self.asked_by} asked: {self.reason or 'no reason given'}"
        did = [f"{self.corrected_by} proposed {self.proposed}".strip()] if self.corrected_by else []
        did += [f"{self.decided_by} decided{f': {self.note}' if self.note else ''}"] if self.decided_by else []
        return "; ".join([said, *did])

    def next_people(self, project: Project) -> list[Membership]:
        """Who may take it further: correct it, or, once that is proposed, verify it, who proposed it aside."""
        able = project.memberships.able("annotate" if self.state == self.State.OPEN else "review")
        others = able.filter(user__is_active=True).exclude(user=self.corrected_by_id)
        return list(others.select_related("user").order_by("user__username"))

    def is_kept_from(self, user: Account) -> bool:
        """Whether they may not say that it is right as recorded: who proposed otherwise takes back what they asked
        themselves, and decides nothing of what somebody else asked."""
        return self.corrected_by_id == user.pk != self.asked_by_id

    def released_in(self) -> Any:
        """The first release that has the correction; None before there is one."""
        if self.state != self.State.DONE:
            return None
        releases = self.conversation.dataset.releases
        return releases.filter(created_at__gt=self.decided_at).order_by("pk").first()

    @transaction.atomic
    def refuse(self, user: Account, note: str) -> None:
        """Refuse the proposal, as its verifier: somebody proposes another. CorrectionRefused without a note, for one
        that is too long, and for the proposer."""
        self._lock(self.State.PROPOSED)
        self._check_other(user)
        if not note.strip():
            raise CorrectionRefused("Say what is wrong with it.")
        self.note, self.state = as_reason(note, CorrectionRefused), self.State.OPEN
        self.save()

    @transaction.atomic
    def dismiss(self, user: Account, note: str) -> None:
        """Close the correction without a change, as the data are right. CorrectionRefused without a note."""
        self._lock(*self.UNFINISHED)
        if self.is_kept_from(user):
            raise CorrectionRefused(f"{self.asked_by} says that it is wrong, and you how: a third person decides.")
        if not note.strip():
            raise CorrectionRefused("Say why it is right as recorded.")
        self._decide(user, self.State.DISMISSED, note)

    @transaction.atomic
    def accept(self, user: Account, before: dict[str, Any], note: str = "") -> None:
        """Accept the proposal, as its verifier. `before`: the values that the caller replaces in the data."""
        self._lock(self.State.PROPOSED)
        self._check_other(user)
        self.before = before
        self._decide(user, self.State.DONE, note)

    def _decide(self, user: Account, state: str, note: str) -> None:
        self.note, self.state = as_reason(note, CorrectionRefused), state
        self.decided_by, self.decided_at = user, timezone.now()
        self.save()

    def _check_other(self, user: Account) -> None:
        if self.corrected_by_id == user.pk:
            raise CorrectionRefused("Nobody verifies their own correction.")

    def _lock(self, *states: str) -> None:
        """Read the row again, locked until the transaction ends. CorrectionRefused unless its state is one of these."""
        self.refresh_from_db(from_queryset=type(self)._base_manager.select_for_update(of=("self",)))
        if self.state not in states:
            raise CorrectionRefused(
                f"It is decided already: {self.get_state_display()}." if self.decided_at else "Nothing is proposed yet."
            )


class CorrectionQuerySet(CorrectedQuerySet["Correction"]):
    def uncounted(self) -> Self:
        """Corrections that are done and that scores do not take into account yet."""
        return self.done().filter(is_counted=False)

    def note_counted(self) -> None:
        """Note that scores take these corrections into account."""
        self.update(is_counted=True)

    def gold_at(self, step: int, time: datetime) -> dict[str, Any]:
        """The gold of a step as it was then, where corrections since have changed it: `operation`, `value`, `node_ids`
        and `action`, what it says in words. {} where it is what it was."""
        since = self.done().filter(step=step, decided_at__gt=time).order_by("decided_at", "pk").first()
        return dict(since.before) if since else {}

    def ask(self, step: Step, user: Account, reason: str, suggested: dict[str, Any] | None = None) -> "Correction":
        """Say that the gold of a step is wrong. `suggested`: {"operation", "value", "node_id"} of an action that was
        done instead."""
        return self.asked_of(user, reason, step, suggested=suggested or {})


@tracked
class Correction(Corrected):
    """A step whose gold is said to be wrong. At most one of a step is under way."""

    step = models.ForeignKey(Step, models.CASCADE, related_name="corrections")
    suggested = models.JSONField(default=dict, blank=True, help_text="An action that was done instead of it.")
    operation = models.CharField(max_length=12, choices=Operation.choices, blank=True)
    value = models.TextField(blank=True)
    node_id = models.CharField(max_length=64, blank=True)
    is_counted = models.BooleanField(default=False, help_text="Whether scores follow it.")

    objects = CorrectionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["step"], condition=Q(state__in=["open", "proposed"]), name="one_correction_of_a_step_under_way"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "dismissed"]) | (Q(corrected_by__isnull=False) & ~Q(operation="")),
                name="a_proposed_correction_says_what_is_right",
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | Q(decided_by__isnull=False), name="a_done_correction_was_verified"
            ),
        ]

    def __str__(self) -> str:
        return f"step {self.step_id}: {self.get_state_display()}"

    @property
    def conversation(self) -> Conversation:
        return self.step.turn.conversation

    @property
    def proposed(self) -> str:
        return f"{self.operation} {self.value}".strip()

    @property
    def parts(self) -> tuple[str, ...]:
        return ("gold",)

    @property
    def place(self) -> str:
        return f"turn {self.step.turn.index + 1}, step {self.step.index + 1}"

    @transaction.atomic
    def propose(self, user: Account, operation: str, value: str, node_id: str) -> None:
        """Say what is right; somebody else verifies it. CorrectionRefused once it is decided."""
        self._lock(*self.UNFINISHED)
        self.operation, self.value, self.node_id = operation, value, node_id
        self.corrected_by, self.corrected_at, self.state = user, timezone.now(), self.State.PROPOSED
        self.save()


class TurnCorrectionQuerySet(CorrectedQuerySet["TurnCorrection"]):
    def ask(self, turn: Turn, user: Account, reason: str) -> "TurnCorrection":
        """Say that a turn is worded wrongly or begins at a wrong step."""
        return self.asked_of(user, reason, turn)


@tracked
class TurnCorrection(Corrected):
    """A turn whose wording or cut is said to be wrong. At most one of a turn is under way."""

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="corrections")
    instruction = models.TextField(blank=True)
    first_step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = TurnCorrectionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn"], condition=Q(state__in=["open", "proposed"]), name="one_correction_of_a_turn_under_way"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "dismissed"]) | (Q(corrected_by__isnull=False) & ~Q(instruction="")),
                name="a_proposed_wording_is_one",
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | Q(decided_by__isnull=False), name="a_done_wording_was_verified"
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.turn_id}: {self.get_state_display()}"

    @property
    def conversation(self) -> Conversation:
        return self.turn.conversation

    @property
    def proposed(self) -> str:
        moved = f", from step {self.first_step.source_id}" if self.first_step else ""
        return f"“{self.instruction}”{moved}"

    @property
    def parts(self) -> tuple[str, ...]:
        reworded = self.before.get("instruction", "") != self.instruction
        return ("wording",) * reworded + ("cut",) * (self.first_step_id is not None)

    @property
    def place(self) -> str:
        return f"turn {self.turn.index + 1}"

    @transaction.atomic
    def propose(self, user: Account, instruction: str, first_step: Step | None) -> None:
        """Say what is right; somebody else verifies it. CorrectionRefused once it is decided."""
        self._lock(*self.UNFINISHED)
        self.instruction, self.first_step = instruction, first_step
        self.corrected_by, self.corrected_at, self.state = user, timezone.now(), self.State.PROPOSED
        self.save()
