"""Why a recorded action fits, in words."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Rationale(models.Model):
    """One or two sentences why an action fits, by a person or a model."""

    class Source(models.TextChoices):
        HUMAN = "human", "human"
        MODEL = "model", "model"

    step = models.ForeignKey("Step", models.CASCADE, related_name="rationales")
    text = models.TextField()
    source = models.CharField(max_length=8, choices=Source.choices)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    model_name = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(source="human") | ~Q(model_name=""), name="model_rationale_names_its_model"
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]
