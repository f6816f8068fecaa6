"""What people say about work, and whom it reaches: comments, mentions, webhooks, keys."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.models.assignments import Assignment
from annotations.models.campaigns import Kept, tracked
from annotations.models.conversations import Step
from annotations.models.projects import Project
from annotations.models.sessions import Session

USER = settings.AUTH_USER_MODEL


@tracked
class Comment(models.Model):
    """A remark about a session, one of its parts or steps, or an element of a page; answers hang below it."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="comments")
    assignment = models.ForeignKey(Assignment, models.CASCADE, null=True, blank=True, related_name="comments")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="answers")
    step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")
    is_about_turn = models.BooleanField(default=False, help_text="About the part that begins with the step.")
    node_id = models.CharField("backend node id", max_length=64, blank=True)
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


class Mention(models.Model):
    """Somebody named in a comment; it waits in their inbox until they have seen it."""

    comment = models.ForeignKey(Comment, models.CASCADE, related_name="mentions")
    user = models.ForeignKey(USER, models.CASCADE, related_name="mentions")
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["comment", "user"], name="mentioned_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.comment_id}"


class Webhook(models.Model):
    """An address outside that is told what happens in a project, signed with a secret."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=100)
    events = models.JSONField(default=list, help_text="Names of events; empty: all.")
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event on its way to one webhook: stored with what caused it, sent later, sent again until it arrives."""

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


class KeyMap(models.Model):
    """The keys that a person has chosen for commands."""

    user = models.OneToOneField(USER, models.CASCADE, related_name="key_map")
    keys = models.JSONField(default=dict, help_text="Command -> key.")

    def __str__(self) -> str:
        return f"keys of {self.user}"
