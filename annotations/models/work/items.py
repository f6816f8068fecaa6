"""Items: pieces of work, with a place for each person who does them."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotations.models.accounts.projects import Account
from annotations.models.work.campaigns import Stage
from annotations.models.work.queue import ItemQuerySet
from annotations.models.work.sessions import Session

if TYPE_CHECKING:
    from annotations.models.work.assignments import Assignment

UNTOUCHED = ("assigned", 1, 0)  # state, round and version of a place that nobody has begun


class Item(models.Model):
    """A piece of work: one stage of one session; verification has one for every rewrite that was submitted."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        DONE = "done", "done"

    session = models.ForeignKey(Session, models.CASCADE, related_name="items")
    stage = models.CharField(max_length=10, choices=Stage.choices)
    subject = models.ForeignKey(
        "Assignment",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="verified_as",
        help_text="Verification only: the annotation that is judged.",
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN, db_index=True)
    overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people do it.")
    opened_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["session__position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "stage", "subject"], name="one_item_per_stage", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(stage="verify", subject__isnull=False) | (~Q(stage="verify") & Q(subject__isnull=True)),
                name="verification_has_a_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.session}"

    def free_slot(self) -> int | None:
        """The first free place of a locked item; None where none is left. Read again, as others may have come between
        the query and the lock."""
        used = set(self.assignments.active().values_list("slot", flat=True))
        return next((slot for slot in range(self.overlap) if slot not in used), None)

    def taken(self) -> "list[Assignment]":
        """The item's assignments that nobody has given back; `assignments` are best prefetched."""
        return [one for one in self.assignments.all() if one.state != one.State.RELEASED]

    def versions(self) -> "list[Assignment]":
        """What people have handed in of it, the oldest place first; `assignments` are best prefetched."""
        return [one for one in self.assignments.all() if one.state == one.State.SUBMITTED]

    def hand(self, user: Account, slot: int) -> "Assignment":
        """Give a place of it to a person, with the first parts of their annotation."""
        made = self.assignments.create(user=user, slot=slot, guideline=self.session.campaign.guidelines.first())
        made.begin()
        return made

    def to_hand_on(self) -> "Assignment | None":
        """The place of it that may be given to somebody else and lose nothing: one that nobody has begun, else one that
        was returned, else one that waits or was left. None that is open right now, whose last words are on their way.
        """
        places = self.assignments.filter(state__in=("assigned", "in_progress", "waiting")).order_by("-slot")
        free = [one for one in places if not one.is_leased]
        begun = {one: (one.state, one.round, one.version) != UNTOUCHED for one in free}
        return min(free, key=lambda one: (begun[one], one.review != one.Reviewed.RETURNED), default=None)

    def hand_on(self, held: "Assignment", user: Account) -> None:
        """Give a locked place of it that nobody has open to another person, with the parts, the edits, which stay
        theirs who made them, and what was said of them. What holds no words of its author is given anew, as nobody has
        begun it, or as it is a verification, whose verdicts stay theirs who gave them."""
        if (held.state, held.round, held.version) == UNTOUCHED or self.stage == Stage.VERIFY:
            held.free_place()
            self.hand(user, held.slot)
        else:
            waits = held.state == held.State.WAITING
            held.write(user=user, state=held.state if waits else held.State.ASSIGNED, **held.FREE)

    def move_to(self, state: str) -> None:
        self.state = state
        self.finished_at = timezone.now() if state == Item.State.DONE else None
        self.save(update_fields=["state", "finished_at"])

    def open_again(self, round: int) -> None:
        """Open a verification again: the same verifiers judge the next round."""
        self.move_to(Item.State.OPEN)
        self.assignments.judge_again(round)

    def why_not_made_one(self) -> str:
        """Why nobody can make one version of two people's any more; "" when somebody can."""
        if self.session.released_id is not None:
            return "A version has passed already: nothing is left to merge."
        if self.session.is_gold or self.stage == Stage.VERIFY:
            return "It is compared with what is known, so nothing is merged."
        begun = self.session.items.filter(stage=Stage.REWRITE, assignments__in=self.assignments.model.objects.active())
        if self.stage == Stage.DECOMPOSE and begun.exists():
            return "Somebody rewrites with the cuts that agree best by now: what differs is decided with the rewrites."
        return ""

    def call_off(self) -> None:
        """Close a verification that is not needed any more: whoever has it is free of it."""
        for one in self.assignments.unfinished().lock():
            one.free_place()
        self.move_to(Item.State.DONE)

    def outcomes(self, round: int) -> set[str]:
        """The different outcomes of a round's verdicts on a verification; empty until all verifiers have judged."""
        judged = self.assignments.filter(given__round=round)
        said = list(judged.values_list("given__outcome", flat=True))
        return set(said) if len(said) >= self.overlap else set()

    def facts(self) -> dict[str, Any]:
        """What webhooks are told of the item."""
        session = self.session
        return {
            "item": self.pk,
            "stage": self.stage,
            "session": session.name,
            "split": session.split,
            "batch": session.batch,
            "campaign": {"id": session.campaign_id, "name": session.campaign.name},
        }
