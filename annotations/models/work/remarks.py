"""Comments on work and mentions of people in them, webhooks with their deliveries, and keys that people chose."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.utils import timezone

from annotations.models.accounts.projects import Account, Project, User
from annotations.models.corpus.conversations import Step
from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import KEPT, Kept, tracked
from annotations.models.work.sessions import Session
from annotations.models.work.verdicts import Defect

USER = settings.AUTH_USER_MODEL


class BadComment(ValueError):
    """A comment that cannot be made or changed so; the message is for its author."""


@tracked
class Comment(models.Model):
    """A remark about a session, one of its parts or steps, or an element of a page; answers hang below it."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="comments")
    assignment = models.ForeignKey(Assignment, models.CASCADE, null=True, blank=True, related_name="comments")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="answers")
    step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")
    is_about_turn = models.BooleanField(default=False, help_text="About the part that begins with the step.")
    node_id = models.CharField("backend node id", max_length=64, blank=True)
    defect = models.ForeignKey(
        Defect,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="answers",
        help_text="A defect for which the annotation was returned, and that its writer answers by this.",
    )
    author = models.ForeignKey(USER, models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = Kept.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(node_id="") | Q(step__isnull=False), name="an_element_is_of_a_step"),
            models.CheckConstraint(
                condition=Q(is_about_turn=False) | Q(step__isnull=False), name="a_turn_has_a_first_step"
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    def resolve(self, user: User) -> bool:
        """Close a thread; False when it was closed already."""
        done = Comment.objects.filter(pk=self.pk, resolved_at=None)
        if not done.update(resolved_at=timezone.now(), resolved_by=user):
            return False
        self.refresh_from_db()
        return True

    def reopen(self) -> None:
        Comment.objects.filter(pk=self.pk).update(resolved_at=None, resolved_by=None)

    def put_into_bin(self) -> None:
        """Delete it; its answers stay where they are, under a gap."""
        Comment.objects.filter(pk=self.pk, deleted_at=None).update(deleted_at=timezone.now())

    def take_out_of_bin(self) -> None:
        """Show it again, within 30 days of its deletion; BadComment after that."""
        if self.deleted_at and self.deleted_at < timezone.now() - KEPT:
            raise BadComment(f"It was deleted more than {KEPT.days} days ago.")
        Comment.objects.filter(pk=self.pk).update(deleted_at=None)

    def may_be_deleted_by(self, user: User) -> bool:
        return self.author_id == user.pk or self.session.campaign.project.lets(user, "manage")

    def annotation_for(self, user: Account) -> Assignment | None:
        """The assignment on whose page this user reads the comment: their own verification of the annotation, else the
        annotation itself, else their own work on the session; None where they have none of these."""
        own = Assignment.objects.active().filter(item__session=self.session_id, user=user)
        found = own.filter(item__subject=self.assignment_id).last() if self.assignment_id else None
        return found or self.assignment or own.last()

    def answers_person(self) -> User | None:
        """The author of the comment that it answers, or the verifier whose defect; else of the annotation that it is
        about."""
        if self.parent is not None:
            return self.parent.author
        if self.defect is not None:
            return self.defect.verdict.verification.user
        return self.assignment.user if self.assignment is not None else None

    def place_name(self, places: dict[int, int]) -> str:
        """The place that the comment is about, in words; "" for the whole session."""
        if self.step_id is None:
            return ""
        step = f"step {places.get(self.step_id, '?')}"
        if self.node_id:
            return f"element {self.node_id}, {step}"
        return f"part from {step}" if self.is_about_turn else step

    def facts(self) -> dict[str, Any]:
        """What webhooks are told of the comment; not its text, which is for the members of the project."""
        return {
            "comment": self.pk,
            "author": self.author.get_username(),
            "session": self.session.name,
            "campaign": {"id": self.session.campaign_id, "name": self.session.campaign.name},
            "step": self.step_id,
            "answers": self.parent_id,
        }


N = TypeVar("N", bound="Named")


class MentionQuerySet(models.QuerySet[N]):
    def tell(self, people: Iterable[Account], **about: models.Model) -> None:
        """Put what this is about into the inboxes of these people; who was told already is not told again."""
        self.bulk_create((self.model(user=user, **about) for user in people), ignore_conflicts=True)

    def unread_by(self, user: User) -> Self:
        return self.filter(user=user, seen_at=None)

    def see(self) -> int:
        """Mark these mentions as read; returns how many there are."""
        return self.update(seen_at=timezone.now())


class Named(models.Model):
    """Somebody (`user`) named in a remark; it waits in their inbox until they have seen it."""

    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Mention(Named):
    """Somebody named in a comment."""

    comment = models.ForeignKey(Comment, models.CASCADE, related_name="mentions")
    user = models.ForeignKey(USER, models.CASCADE, related_name="mentions")

    objects = MentionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["comment", "user"], name="mentioned_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.comment_id}"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def with_counts(self) -> Self:
        """Annotate how many deliveries of each webhook wait, were sent and failed, by the name of the state."""
        states = Delivery.State.values
        counts = {state: Count("deliveries", filter=Q(deliveries__state=state)) for state in states}
        return self.annotate(**counts)

    def add(self, project: Project, url: str, events: list[str], *, secret: str, by: User) -> "Webhook":
        """Add a webhook to a project."""
        return self.create(project=project, url=url, events=events, secret=secret, created_by=by)


class Webhook(models.Model):
    """An address outside that is told what happens in a project, signed with a secret."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=100)
    events = models.JSONField(default=list, help_text="Names of events; empty: all.")
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.url

    def renew_secret(self, secret: str) -> None:
        """Sign deliveries with another secret from now on."""
        self.secret = secret
        self.save(update_fields=["secret"])

    def switch(self) -> None:
        """Stop telling the webhook of events, or begin again; deliveries that wait are kept."""
        self.is_active = not self.is_active
        self.save(update_fields=["is_active"])

    def remove(self) -> None:
        """Tell the webhook nothing any more, and forget its deliveries."""
        self.delete()


class Delivery(models.Model):
    """One event on its way to one webhook: stored together with the change that caused it, and sent until it
    arrives."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        FAILED = "failed", "failed"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=60)
    payload = models.JSONField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(auto_now_add=True)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"

    def count_attempt(self, wait: timedelta) -> None:
        """Note that it is being sent, and when to send it again if that fails."""
        self.attempts += 1
        self.next_at = timezone.now() + wait
        self.save(update_fields=["attempts", "next_at"])

    def arrive(self, sent_at: datetime) -> None:
        self.state, self.sent_at, self.last_error = Delivery.State.SENT, sent_at, ""
        self.save(update_fields=["state", "sent_at", "last_error"])

    def fail(self, error: str, *, for_good: bool) -> None:
        """Note that it did not arrive; it is sent again later, unless `for_good`."""
        self.last_error = error
        if for_good:
            self.state = Delivery.State.FAILED
        self.save(update_fields=["state", "last_error"])

    def send_again(self) -> None:
        """Send it soon, as if for the first time; the event keeps its id."""
        anew = {"state": Delivery.State.WAITING, "attempts": 0, "next_at": timezone.now(), "last_error": ""}
        Delivery.objects.filter(pk=self.pk).update(**anew)


class KeyMap(models.Model):
    """The keys that a person has chosen for commands."""

    user = models.OneToOneField(USER, models.CASCADE, related_name="key_map")
    keys = models.JSONField(default=dict, help_text="Command -> key.")

    def __str__(self) -> str:
        return f"keys of {self.user}"
