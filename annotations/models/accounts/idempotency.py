"""Answers to requests that started work, so that a repeated request does not start it again."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """What one request with an `Idempotency-Key` header was answered; kept for 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64, help_text="Of method, path and body.")
    rights = models.CharField(max_length=16, default="", help_text="Of the user, when it was answered.")
    status = models.PositiveSmallIntegerField(default=0)
    response = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once_per_user")]

    def __str__(self) -> str:
        return self.key
