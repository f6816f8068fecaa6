"""Where texts and pages of conversations stand beside the conversations themselves: in what people wrote of them, and
in what higher apps keep, which hand over theirs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import Field, ForeignKey, Min, Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotations.models import (
    Campaign,
    Comment,
    Conversation,
    Correction,
    CurationChoice,
    Dataset,
    Defect,
    Delivery,
    Dispute,
    Edit,
    Guideline,
    IdempotencyKey,
    Job,
    Part,
    Proposal,
    Rationale,
    SentBack,
    Session,
    Snapshot,
    SourceTask,
    TurnCorrection,
    Verdict,
)
from annotations.tell.audit import tracked_models


@dataclass(frozen=True)
class KeptTexts:
    """Columns of a model that may hold texts of conversations, or (foreign keys) pages of them. `path`: from a row to
    its conversation; "" where rows belong to none, so that all that hold a text count. `searched`: those of the columns
    that are searched before a release, `where` given only in rows that meet it; `growing`: which rows tell of work that
    may still write down what it has read before."""

    model: type[Model]
    path: str
    columns: tuple[str, ...]
    searched: tuple[str, ...] = ()
    where: Q = field(default_factory=Q)
    growing: Q | None = None

    @property
    def is_shared(self) -> bool:
        """Whether its rows belong to no conversation, or to many at once."""
        return not self.path or self.path.endswith("conversations")

    def texts(self) -> list[str]:
        return [name for name in self.columns if not self._is_page(name)]

    def pages(self) -> list[str]:
        return [name for name in self.columns if self._is_page(name)]

    def rows(self, conversation: Conversation) -> Iterator[QuerySet[Any]]:
        """The rows of a conversation, and what the audit trail holds of them."""
        for model, path in self._ways():
            rows = model._base_manager.all()
            yield rows.filter(pk__in=rows.filter(**{path: conversation}).values("pk")) if path else rows

    def keepers(self, text: str, conversations: set[int]) -> set[int]:
        """Those of the conversations (keys) of which a row holds the text, or shows any page: a few queries for all."""
        found: set[int] = set()
        for model, path in self._ways():
            rows = model._base_manager.filter(**{f"{path}__in": conversations}).order_by()
            found.update(self.holding(text, self.texts(), rows).values_list(path, flat=True))
            for name in self.pages():
                found.update(rows.exclude(**{name: None}).values_list(path, flat=True))
        return found & conversations

    def _ways(self) -> Iterator[tuple[type[Model], str]]:
        """The model and its path, and those of what the audit trail holds of its rows."""
        yield self.model, self.path
        if event := tracked_models().get(self.model.__name__):
            own = {one.name for one in event._meta.concrete_fields}
            yield event, self.path if self.path.split("__")[0] in own else f"pgh_obj__{self.path}"

    def grows_of(self, conversations: set[int]) -> set[int]:
        """Those of the conversations of which something is being written down."""
        if self.growing is None:
            return set()
        rows = self.model._base_manager.filter(self.growing, **{f"{self.path}__in": conversations}).order_by()
        return set(rows.values_list(self.path, flat=True)) & conversations

    def holding(self, text: str, names: list[str], rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the rows in which the text stands in one of these columns."""
        holds = Q(pk__in=[])
        for place, name in enumerate(names):
            is_json = self._field(name).get_internal_type() == "JSONField"
            said = json.dumps(text, ensure_ascii=False)[1:-1] if is_json else text
            rows = rows.alias(**{f"said_{place}": Cast(name, TextField())})
            holds |= Q(**{f"said_{place}__contains": said})
        return rows.filter(holds)

    def searched_in(self, dataset: Dataset) -> Iterator[tuple[int, list[Any]]]:
        """(one of its conversations, the texts) of each row of a dataset that is searched before a release."""
        if self.searched:
            rows = self.model._base_manager.filter(self.where, **{f"{self.path}__dataset": dataset}).order_by("pk")
            for _, *texts, conversation in rows.values_list("pk", *self.searched).annotate(Min(self.path)).iterator():
                yield conversation, texts

    def pages_in(self, dataset: Dataset) -> Iterator[tuple[int, int]]:
        """(conversation, page) of what rows of a dataset show, each once."""
        for name in self.pages():
            rows = self.model._base_manager.filter(**{f"{self.path}__dataset": dataset, f"{name}__isnull": False})
            yield from rows.order_by(name).values_list(self.path, name).distinct().iterator()

    def _field(self, name: str) -> Field:
        found = self.model._meta.get_field(name)
        assert isinstance(found, Field)
        return found

    def _is_page(self, name: str) -> bool:
        column = self._field(name)
        return isinstance(column, ForeignKey) and column.related_model is Snapshot


def _of_sessions() -> Iterator[KeptTexts]:
    """What annotators write, by the tasks of their sessions and by the conversation that came of it."""
    judged = "assignment__item__session"
    texts: tuple[tuple[type[Model], str, tuple[str, ...], tuple[str, ...]], ...] = (
        (Session, "", ("name", "batch", "why", "gold"), ("why",)),
        (Part, judged, ("instruction", "rewrite", "mentions"), ("instruction", "rewrite")),
        (Edit, judged, ("before", "after"), ()),
        (Proposal, "session", ("content", "provenance"), ()),
        (Verdict, judged, ("reason", "checklist"), ("reason",)),
        (Defect, f"verdict__{judged}", ("note",), ("note",)),
        (Dispute, judged, ("reason",), ("reason",)),
        (SentBack, "rewrite__item__session", ("reason",), ("reason",)),
        (CurationChoice, "curation__first__item__session", ("parts",), ()),
        (Comment, "session", ("text",), ("text",)),
    )
    for model, path, columns, searched in texts:
        for way in ("tasks__conversation", "released"):
            yield KeptTexts(model, f"{path}__{way}".removeprefix("__"), columns, searched)


OWN = (
    KeptTexts(Rationale, "step__turn__conversation", ("text",), ("text",)),
    KeptTexts(
        Correction,
        "step__turn__conversation",
        ("reason", "before", "note", "suggested", "value"),
        ("reason", "note", "value"),
    ),
    KeptTexts(
        TurnCorrection,
        "turn__conversation",
        ("reason", "before", "note", "instruction"),
        ("reason", "note", "instruction"),
    ),
    *_of_sessions(),
    KeptTexts(Proposal, "campaign__source__conversations", ("content", "provenance")),  # those of no session, too
    KeptTexts(Campaign, "source__conversations", ("name", "rubric")),
    KeptTexts(Guideline, "campaign__source__conversations", ("text",)),
    KeptTexts(Dataset, "conversations", ("description", "licence", "live")),
    KeptTexts(SourceTask, "dataset__conversations", ("instruction",)),
    KeptTexts(Job, "dataset__conversations", ("params", "report", "progress", "furthest", "last_error", "last_log")),
    KeptTexts(Delivery, "webhook__project__datasets__conversations", ("payload", "last_error")),
    KeptTexts(IdempotencyKey, "", ("response",)),
    KeptTexts(LogEntry, "", ("object_repr", "change_message")),
)
KEPT: list[KeptTexts] = [*OWN]
"""All of them; higher apps add theirs."""


def under_way(conversations: set[int]) -> int:
    """Of how many of these conversations something is being written down, which may hold again what was taken out."""
    return len(set().union(*(one.grows_of(conversations) for one in KEPT)))
