"""Which SECRET_KEY the hosts of this database share: its fingerprint, never the key."""

from django.db import models
from django.db.models import Q

THE_ONE = 1


class SharedSecret(models.Model):
    """The fingerprint of the SECRET_KEY that the first host brought: one row. A host with another key is refused."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=THE_ONE, editable=False)
    fingerprint = models.CharField(max_length=64)
    hostname = models.CharField(max_length=100, help_text="Of the host that told it.")
    told_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=THE_ONE), name="one_shared_secret")]

    def __str__(self) -> str:
        return f"the secret of {self.told_at:%Y-%m-%d}"
