"""Who works on what: the people that have items, the lease under which they write, and what they made."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pghistory
from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from annotations.models.accounts.projects import User
from annotations.models.lease import PersonsLease
from annotations.models.work.annotation import Annotation
from annotations.models.work.campaigns import Guideline, Stage
from annotations.models.work.items import Item
from annotations.models.work.parts import Part
from annotations.models.work.queue import AssignmentQuerySet, NotFree, NotYours, StaleWork, VerdictRefused

USER = settings.AUTH_USER_MODEL
WAITS = "It waits: its cuts were sent back to who made them."


# History leaves out heartbeats and versions, which change all the time.
@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(condition=pghistory.AnyChange("state", "review", "round", "user", "slot")),
    pghistory.DeleteEvent(),
)
class Assignment(PersonsLease, Annotation):
    """An item given to a person: their lease on it, and the annotation that they make (its parts and edits).

    State says where the annotator stands, `review` where the verifiers do: two words for two roles.
    """

    class State(models.TextChoices):
        ASSIGNED = "assigned", "to do"
        IN_PROGRESS = "in_progress", "in progress"
        SUBMITTED = "submitted", "submitted"
        RELEASED = "released", "given back"
        WAITING = "waiting", "waits for its cuts"

    LEASE = timedelta(minutes=2)
    WRITABLE = UNFINISHED = (State.ASSIGNED, State.IN_PROGRESS)  # somebody has it and may still write

    class Reviewed(models.TextChoices):
        NONE = "", "not reviewed"
        RETURNED = "returned", "returned"
        PASSED = "passed", "passed"
        NOT_TAKEN = "not_taken", "not taken"

    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField(help_text="0 … overlap - 1: one person each.")
    user = models.ForeignKey(USER, models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=12, choices=State.choices, default=State.ASSIGNED, db_index=True)
    review = models.CharField(max_length=10, choices=Reviewed.choices, default=Reviewed.NONE, blank=True, db_index=True)
    round = models.PositiveSmallIntegerField(default=1, help_text="1, and one more for each time that it was returned.")
    version = models.PositiveIntegerField(default=0, help_text="The number of its last edit.")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, blank=True, related_name="+")
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0, help_text="Time at work, from heartbeats.")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "slot"], condition=~Q(state="released"), name="one_person_per_slot"
            ),
            models.UniqueConstraint(
                fields=["item", "user"], condition=~Q(state="released"), name="nobody_gets_an_item_twice"
            ),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(lease_token__isnull=False), name="a_lease_has_a_token"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} by {self.user}"

    def lock(self) -> Item:
        """Lock the assignment, read it again, then lock its item and return it: always in this order, so that two
        transactions never wait for each other."""
        self.lock_alone()
        items = Item.objects.select_for_update(of=("self",)).select_related("session__campaign__project")
        self.item = items.get(pk=self.item_id)
        return self.item

    def check_unchanged(self, user: User, token: UUID | str | None, seen: Any) -> None:
        """Raise NotYours unless this user may write with this token, and StaleWork unless `seen` is the current
        version; of a verification, that of the annotation it judges."""
        self.check_lease(user, token)
        shown = self.judged if self.item.stage == Stage.VERIFY else self
        if seen != shown.version:
            raise StaleWork("It has changed meanwhile: read it again.")

    def check_lease(self, user: User, token: UUID | str | None) -> None:
        """Raise NotYours unless this user may write with this token. One whose time is up is good until another is
        given: nobody has taken the work over, so nothing can clash."""
        if self.user_id != user.pk:
            raise NotYours("taken_over", "Somebody else has taken this over.", self.user.get_username())
        if self.state == self.State.SUBMITTED:
            raise NotYours("submitted", "It has been submitted.")
        if self.state == self.State.WAITING:
            raise NotYours("waiting", WAITS)
        if self.state not in self.UNFINISHED:
            raise NotYours("lease_lost", "It was given back.")
        if self.lease_token is None or str(self.lease_token) != str(token):
            raise NotYours("lease_lost", "It is open in another window.", user.get_username())

    def why_not_written_by(self, user: User) -> str:
        """Why this user cannot write here; "" when they can, once they hold the lease."""
        if self.user_id != user.pk:
            return f"This is the work of {self.user.get_username()}."
        return "" if self.state in self.UNFINISHED else self.why_not_writable()

    def why_not_writable(self) -> str:
        """Why nobody can write here, where the assignment is not under way."""
        if self.state == self.State.WAITING:
            return WAITS
        return "It has been submitted." if self.state == self.State.SUBMITTED else "It was given back."

    @property
    def judged(self) -> "Assignment":
        """The annotation that a verification judges."""
        subject = self.item.subject
        assert subject is not None  # a constraint of the table
        return subject

    def why_not_judged_by(self, user: User) -> str:
        """Why this user cannot give a verdict by this verification; "" when they can."""
        subject = self.judged
        if self.user_id != user.pk:
            return f"{self.user.get_username()} verifies this."
        if self.state == self.State.SUBMITTED:
            return "You have judged this round."
        if self.state not in self.UNFINISHED:
            return "This verification was given back."
        return "" if subject.state == self.State.SUBMITTED else f"{subject.user.get_username()} is correcting it."

    def check_turn_to_judge(self, subject: "Assignment") -> None:
        """Raise VerdictRefused unless it is this verifier's turn: it is not their own work, it was submitted, and they
        have not judged this round."""
        if self.user_id == subject.user_id:
            raise VerdictRefused("Nobody verifies their own work.")
        if subject.state != self.State.SUBMITTED:
            raise VerdictRefused("Its author has not submitted it: there is nothing to judge yet.")
        if self.state == self.State.RELEASED:
            raise VerdictRefused("This verification was given back.")
        if self.given.filter(round=subject.round).exists():
            raise VerdictRefused("You have already judged this round.")

    def lease_told_to(self, user: User) -> dict[str, Any]:
        """The lease for this user: until when it holds, who holds it, and its token for the holder alone (all their
        windows share it)."""
        if not self.is_leased or self.lease_until is None:
            return {"token": None, "lease_until": None, "holder": None}
        return {
            "token": str(self.lease_token) if self.user_id == user.pk else None,
            "lease_until": self.lease_until.isoformat(timespec="seconds"),
            "holder": self.user.get_username(),
        }

    def lock_alone(self) -> None:
        self.refresh_from_db(from_queryset=Assignment.objects.lock())

    @transaction.atomic
    def take(self, user: User) -> "Assignment":
        """Give the assignment to this person under a lease; they are at work on it from now on.

        The holder of a live lease keeps its token, so that two tabs of one person do not fight. Another person takes
        over where the lease has run out: the assignment with its parts and edits is theirs then. NotFree otherwise.
        """
        self.lock_alone()
        if self.state not in self.UNFINISHED:
            raise NotFree(self.why_not_writable())
        if self.user_id != user.pk:
            self._check_takeover(user)
        return self.lease(user)

    def lease(self, user: User) -> "Assignment":
        """Write the lease of a locked assignment: a new one, or the person's own live one made longer."""
        is_own = self.user_id == user.pk and self.is_leased
        return self.write(user=user, state=self.State.IN_PROGRESS, **(self.longer() if is_own else self.anew()))

    def beat(self) -> None:
        """Make the lease of a locked assignment longer, and count the time at work since the last heartbeat."""
        now = self.clock()
        since = now - (self.heartbeat_at or now)
        worked = round(since.total_seconds()) if since <= self.LEASE else 0
        self.write(active_seconds=self.active_seconds + worked, **self.longer(now))

    @transaction.atomic
    def give_back(self) -> None:
        """Let go of an item: its place is free for others. NotFree once it is submitted or returned for correction."""
        self.lock_alone()
        if self.state == self.State.SUBMITTED:
            raise NotFree("It was submitted.")
        if self.state == self.State.WAITING:
            raise NotFree(WAITS)
        if self.review == self.Reviewed.RETURNED:
            raise NotFree("It was returned to you for correction: nobody else can go on with it.")
        self.free_place()

    def free_place(self) -> None:
        """Give up a locked assignment, so that its place is free for others."""
        self.write(state=self.State.RELEASED, **self.FREE)

    @transaction.atomic
    def begin(self) -> None:
        """Make the first parts of a new annotation: one per instruction of the source tasks, or for a rewrite a copy of
        the chosen decomposition in which every rewrite reads as the instruction does. NotReady without one."""
        session = self.item.session
        if self.item.stage == Stage.DECOMPOSE:
            parts = [Part(first_step=steps[0], instruction=turn.instruction) for turn, steps in session.turns()]
        elif self.item.stage == Stage.REWRITE:
            parts = [
                Part(first_step_id=part.first_step_id, instruction=part.instruction, rewrite=part.instruction)
                for part in Assignment.objects.chosen_decomposition(session).ordered_parts()
            ]
        else:
            return
        for part in parts:
            part.assignment = self
        Part.objects.bulk_create(parts)

    def hand_in(self) -> None:
        """Mark a locked assignment as submitted by its annotator."""
        self.write(state=self.State.SUBMITTED, submitted_at=timezone.now(), **self.FREE)

    def last_returns(self) -> list[Any]:
        """The verdicts by which an annotation was returned last: what is to be corrected."""
        if self.review != self.Reviewed.RETURNED:
            return []
        rows = self.verdicts.filter(outcome="return").select_related("verification__user")
        found = list(rows.prefetch_related("defects"))
        return [one for one in found if one.round == found[-1].round]

    def returns(self) -> list[dict[str, Any]]:
        """Why it was returned and by whom: {"by", "reason", "defects"} each."""
        if self.item.stage == Stage.DECOMPOSE:
            return [row.facts() for row in self.sent_back.unmended().with_reasons()]
        if not (verdicts := self.last_returns()):
            return []
        decided = self.disputes.filter(round=verdicts[0].round).select_related("decided_by")
        return [*(one.facts(one.defects.all()) for one in verdicts), *(one.facts() for one in decided)]

    def pass_(self) -> None:
        """Mark a locked assignment as accepted by its verifiers."""
        self.write(review=self.Reviewed.PASSED)

    def wait(self) -> None:
        """Let a locked rewrite wait until its cuts are mended."""
        self.write(state=self.State.WAITING, **self.FREE)

    def go_on(self) -> None:
        """End the waiting of a rewrite: its author can write again."""
        self.write(state=self.State.ASSIGNED)

    def send_to_author(self) -> None:
        """Return a locked assignment to its author, who goes on with it in a new round, and open its item again unless
        the session is published already."""
        self.write(review=self.Reviewed.RETURNED, round=self.round + 1, state=self.State.IN_PROGRESS)
        if self.item.session.released_id is None:
            self.item.move_to(Item.State.OPEN)

    def write(self, **fields: Any) -> "Assignment":
        """Set these columns and store only them."""
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=list(fields))
        return self

    def _check_takeover(self, user: User) -> None:
        """Raise NotFree unless this person may take over the assignment of another."""
        holder, campaign = self.user.get_username(), self.item.session.campaign
        if self.is_leased:
            raise NotFree(f"{holder} is at work on it.", holder)
        campaign.project.require(user, Stage(self.item.stage).ability)
        if campaign.mode == campaign.Mode.ASSIGNED:
            raise NotFree(f"{campaign} gives work to people by name, and this is {holder}'s.", holder)
        if self.state == self.State.ASSIGNED:
            raise NotFree(f"It is assigned to {holder}, who has not begun.", holder)
        if self.review == self.Reviewed.RETURNED:
            raise NotFree(f"It was returned to {holder}, who corrects it.", holder)
        if not Item.objects.filter(pk=self.item_id).not_of(user).exists():
            raise NotFree("You have a part in this item already.", holder)
        if not campaign.project.shows_gold(user, self.item.session.split):
            raise NotFree("It is of a test split, whose gold actions you may not see.", holder)
