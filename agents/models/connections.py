"""Endpoints that admins of the installation have set up: of language models and of embeddings."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.encoders.embedding import FROM_ENDPOINT
from agents.encoders.weights import is_named_in
from agents.models.recipes import SavedRecipe
from agents.models.runs import Run
from annotations.access.sealing import CannotOpen, seal, unseal
from annotations.models import Campaign

PURPOSE = "keys of connections"


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def answering(self, kind: str, name: str) -> "Connection | None":
        """The connection of that name; for "" the default one. None where there is none."""
        rows = self.filter(kind=kind)
        return (rows.filter(name=name) if name else rows.filter(is_default=True)).first()


class Connection(models.Model):
    """An endpoint of a model, as a superuser set it up: address, model, key, prices and limits. The key is encrypted,
    and shown to nobody."""

    class Kind(models.TextChoices):
        LLM = "llm", "language model"
        EMBEDDING = "embedding", "embeddings"

    name = models.SlugField(max_length=60, unique=True, help_text="Recipes name it in plan.model.")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.LLM)
    base_url = models.CharField("base URL", max_length=500, help_text="As far as /v1, such as http://localhost:8000/v1")
    model = models.CharField(max_length=200, help_text="As the endpoint names it; of Azure the deployment.")
    sealed_key = models.TextField(blank=True, editable=False)
    price_prompt = models.FloatField(null=True, blank=True, help_text="Of a million tokens that it reads.")
    price_completion = models.FloatField(null=True, blank=True, help_text="Of a million tokens that it writes.")
    timeout = models.FloatField(default=120, help_text="Seconds for one attempt.")
    concurrency = models.PositiveSmallIntegerField(default=8, help_text="Requests at once.")
    attempts = models.PositiveSmallIntegerField(default=6, help_text="Of a request that fails for a passing reason.")
    private = models.BooleanField(
        "on a private network", default=False, help_text="It may have an address that is not public."
    )
    is_default = models.BooleanField("the default", default=False, help_text="Answers where a recipe names nothing.")
    tested_at = models.DateTimeField(null=True, blank=True, editable=False)
    found = models.JSONField(default=dict, blank=True, editable=False, help_text="What its test has found out.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["kind"], condition=Q(is_default=True), name="one_default_of_each_kind")
        ]

    def __str__(self) -> str:
        return self.name

    def keep_test(self, found: dict[str, Any]) -> None:
        """Keep what its test has found out."""
        self.found, self.tested_at = found, timezone.now()
        self.save(update_fields=["found", "tested_at"])

    def remove(self) -> None:
        """What named it is answered by none, or by the default one (`uses`)."""
        self.delete()

    def uses(self) -> list[str]:
        """What is answered by it, a sentence each: it goes on without an answer, or with another one's, where the
        connection is deleted."""
        return list(self._uses())

    def _uses(self) -> Iterator[str]:
        if self.is_default:
            yield "It is the default: what names no connection is answered by another, or not at all."
        for recipe in SavedRecipe.objects.order_by("name"):
            if is_named_in(recipe.changes, self._named):
                yield f"The recipe {recipe.name} names it."
        for run in Run.objects.filter(state__in=Run.OPEN).order_by("pk"):
            if is_named_in(run.recipe, self._named):
                yield f"Run {run.pk} ({run.recipe_name}) names it and is not over."
        if self.kind == self.Kind.LLM:
            for campaign in Campaign.objects.live().filter(connection=self.name).order_by("name"):
                yield f"The campaign {campaign} proposes by it."

    @property
    def _named(self) -> str:
        """The name by which settings of recipes mean this connection."""
        return self.name if self.kind == self.Kind.LLM else f"{FROM_ENDPOINT}{self.name}"

    @property
    def key(self) -> str:
        """The key, decrypted for a call. Raises ValueError where it cannot be decrypted."""
        try:
            return unseal(PURPOSE, self.sealed_key) if self.sealed_key else ""
        except CannotOpen as error:
            raise ValueError(f"the key of connection {self.name}: {error}; enter it again") from error

    @key.setter
    def key(self, key: str) -> None:
        self.sealed_key = seal(PURPOSE, key) if key else ""
