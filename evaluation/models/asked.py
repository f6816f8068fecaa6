"""What rows share that keep an answer of a language model, or of a rule in its place: who was asked in which words, and
what that took."""

from typing import Any, ClassVar, Self, TypeVar

from django.db import models

from agents.llm.usage import Usage

AnswerRow = TypeVar("AnswerRow", bound="AskedRow")


class AskedRowQuerySet(models.QuerySet[AnswerRow]):
    def by(self, name: str, asked_with: dict[str, str]) -> Self:
        """The answers of one asker, by its name, that asks one model by one pack's texts."""
        asker = {self.model.ASKER: name}
        return self.filter(model=asked_with["model"], pack_sha256=asked_with["pack_sha256"], **asker)

    def keep_answer(
        self, of: dict[str, Any], asked_with: dict[str, str], told: dict[str, Any], usage: Usage, seconds: float
    ) -> AnswerRow:
        """Store an answer in place of the one that the same asker gave of the same (`of`) by the same texts; what that
        one cost stays counted. Packs with the same texts are one: their names tell nothing apart."""
        key = of | {"model": asked_with["model"], "pack_sha256": asked_with["pack_sha256"]}
        before = self.filter(**key).first()
        spent: dict[str, Any] = {name: getattr(usage, name) for name in ("prompt_tokens", "completion_tokens", "cost")}
        spent["seconds"] = seconds
        if usage.cached:
            spent = dict.fromkeys(spent, 0)
        if before is not None:
            spent = {name: value + getattr(before, name) for name, value in spent.items()}
        return self.update_or_create(**key, defaults=told | {"pack": asked_with["pack"]} | spent)[0]


class AskedRow(models.Model):
    """An answer; of the same asker, model and texts there is one."""

    ASKER: ClassVar[str]  # the field that names who asks

    model = models.CharField(max_length=200, blank=True, help_text="That it asked; empty: none.")
    pack = models.CharField(max_length=120, blank=True, help_text="The prompt pack by which it asked.")
    pack_sha256 = models.CharField(max_length=64, blank=True)
    said = models.TextField(blank=True, help_text="Why, in its own words.")
    error = models.TextField(blank=True, help_text="Why there is no answer; it is asked again.")
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.FloatField(default=0.0, help_text="In the currency of the connection's prices.")
    seconds = models.FloatField(default=0.0, help_text="That it took; none where the answers were known.")

    class Meta:
        abstract = True

    @property
    def word(self) -> str:
        """The answer in a word or two, by which a job counts."""
        raise NotImplementedError

    @property
    def record(self) -> str:
        """The conversation that it is of, as its dataset names it."""
        raise NotImplementedError
