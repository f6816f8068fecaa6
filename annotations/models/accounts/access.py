"""Rows about accounts and rights: the trail of access, what tokens may do, counts of wrong tries.

The trail of edits is another one (`annotations.tell.audit`).
"""

from datetime import datetime
from typing import Any

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from knox.models import AuthToken


class AccessAction(models.TextChoices):
    SIGN_IN = "sign-in", "sign-in"
    SIGN_OUT = "sign-out", "sign-out"
    PASSWORD = "password", "password"
    FACTOR = "second-factor", "second factor"
    IDENTITY = "identity", "linked identity"
    TOKEN = "token", "API token"
    INVITE = "invitation", "invitation"
    MEMBER = "membership", "membership"
    GOLD = "gold", "test gold"
    ACCOUNT = "account", "account"
    EXPORT = "export", "export"
    DOWNLOAD = "download", "download"


class AccessDoor(models.TextChoices):
    PAGE = "page", "page"
    API = "api", "API"
    ADMIN = "admin", "administration"
    COMMAND = "command", "command"


class AccessEventQuerySet(models.QuerySet["AccessEvent"]):
    def forget_before(self, moment: datetime) -> int:
        """Delete the rows older than `moment`, which a trigger refuses otherwise, and return how many there were."""
        with pgtrigger.ignore("annotations.AccessEvent:append_only"):
            return self.filter(at__lt=moment).delete()[0]


class AccessEvent(models.Model):
    """One act on accounts or rights: who, what, when, from where. The database refuses to change or delete it.

    People and projects are named by number and name, without foreign keys: the trail outlives them.
    """

    at = models.DateTimeField(default=timezone.now, db_index=True)
    action = models.CharField(max_length=16, choices=AccessAction.choices)
    ok = models.BooleanField("went through", default=True)
    what = models.CharField(max_length=300)
    actor_id = models.BigIntegerField(null=True, db_index=True)
    actor_name = models.CharField("who", max_length=150, blank=True)
    subject = models.CharField("about", max_length=200, blank=True)
    project_id = models.BigIntegerField(null=True, db_index=True)
    project_name = models.CharField("project", max_length=200, blank=True)
    door = models.CharField(max_length=8, choices=AccessDoor.choices)
    address = models.CharField("from", max_length=45, blank=True)
    client = models.CharField("program", max_length=200, blank=True)

    objects = AccessEventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.actor_name or 'nobody'}: {self.what}"


class Scope(models.TextChoices):
    """What a token may be used for, of all that its owner may do."""

    READ = "read", "read"
    ANNOTATE = "annotate", "annotate and review"
    EXPORT = "export", "export and download"
    MANAGE = "manage", "import, run and manage"


class TokenGrant(models.Model):
    """What an API token may do, and when it was last used. A token without one may do nothing."""

    token = models.OneToOneField(AuthToken, models.CASCADE, related_name="grant")
    name = models.CharField(max_length=80, blank=True)
    scopes = ArrayField(models.CharField(max_length=8, choices=Scope.choices))
    last_used_at = models.DateTimeField(null=True, editable=False)
    last_used_from = models.CharField(max_length=45, blank=True, editable=False)

    def __str__(self) -> str:
        return self.name or f"{self.token.token_key}…"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the grant. `read` is always in it, as the answer to a write tells as much as reading."""
        self.scopes = [scope for scope in Scope.values if scope in {*self.scopes, Scope.READ}]
        super().save(*args, **kwargs)


class TryCount(models.Model):
    """Tries at a secret by one account, client or device, counted here while Redis does not answer."""

    key = models.CharField(max_length=100, primary_key=True)
    tries = models.PositiveIntegerField(default=0)
    since = models.FloatField(default=0.0)
    opens_at = models.FloatField(default=0.0)

    def __str__(self) -> str:
        return self.key
