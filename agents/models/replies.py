"""What models behind endpoints answered, kept so that nothing is paid for twice."""

from django.db import models


class LlmReply(models.Model):
    """A reply of a language model, kept under the hash of the whole request."""

    key = models.CharField(max_length=64, unique=True)
    model = models.CharField(max_length=200)
    request = models.JSONField()
    reply = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "LLM replies"

    def __str__(self) -> str:
        return f"{self.model} {self.key[:12]}"


class TextEmbeddingQuerySet(models.QuerySet["TextEmbedding"]):
    def paid(self) -> "TextEmbeddingQuerySet":
        return self.filter(computed=False)

    def computed(self) -> "TextEmbeddingQuerySet":
        return self.filter(computed=True)

    def forget_all_but(self, most: int) -> None:
        """Delete the oldest of them, so that `most` are left."""
        newest = self.order_by("-pk")
        if (last := newest.values_list("pk", flat=True)[most : most + 1].first()) is not None:
            self.filter(pk__lte=last).delete()


class TextEmbedding(models.Model):
    """A vector, kept under the hash of what gave it and of its text: of an endpoint, or `computed` by weights here. The
    scores of a step's elements are one, too, by the ranker, the query and the elements' texts."""

    key = models.CharField(max_length=64, unique=True)
    model = models.CharField(max_length=200)
    vector = models.BinaryField(help_text="Single precision, of as many dimensions as the model has.")
    computed = models.BooleanField(default=False, db_default=False, help_text="By weights here, not paid for.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TextEmbeddingQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["id"], condition=models.Q(computed=True), name="computed_vectors")]

    def __str__(self) -> str:
        return f"{self.model} {self.key[:12]}"
