"""Conversations, their turns and steps, and gold targets."""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, Self

import pgtrigger
from django.db import models
from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Prefetch, Q, QuerySet, Subquery

from annotations.datasets.recorder_marks import put_back
from annotations.datasets.records import (
    CandidateRecord,
    ConversationRecord,
    FileRecord,
    ImageRecord,
    StepRecord,
    TurnRecord,
)
from annotations.models.choices import Operation, Split
from annotations.models.corpus.candidates import unpack_candidates
from annotations.models.corpus.datasets import Dataset, Website
from annotations.models.corpus.pages import Screenshot, Snapshot
from annotations.models.corpus.rationales import Rationale
from annotations.models.corpus.tallies import ConversationTally, difference_triggers, statement_triggers

AT_ONCE = 20  # conversations in memory while they are read as records
PEOPLE, UNNAMED = "people", "a model whose name was not kept"  # who wrote a rationale

TURNS_SQL = """
UPDATE annotations_conversation AS counted SET turn_count = counted.turn_count {sign} changed.n
FROM (SELECT conversation_id, count(*) AS n FROM {rows} GROUP BY conversation_id) AS changed
WHERE counted.id = changed.conversation_id
"""
STEPS_SQL = """
UPDATE annotations_conversation AS counted SET step_count = counted.step_count {sign} changed.n
FROM (
    SELECT turn.conversation_id, count(*) AS n FROM {rows} AS step
    JOIN annotations_turn AS turn ON turn.id = step.turn_id GROUP BY turn.conversation_id
) AS changed
WHERE counted.id = changed.conversation_id
"""


def _counted_by_conversation(sql: str) -> list[pgtrigger.Trigger]:
    """Triggers that count turns and steps as they are made and deleted; neither ever moves to another conversation."""
    bodies = {"insert": sql.format(sign="+", rows="new_rows"), "delete": sql.format(sign="-", rows="old_rows")}
    return statement_triggers("counted", bodies)


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def to_decide(self, split: str = "", websites: Collection[str] = (), *, episodes: bool = False) -> Self:
        """Conversations of a dataset that a run decides, in order: with recorded steps, or, for `episodes`, goals
        without any; of one split and on these websites (names) where given."""
        rows = self.in_order().filter(**({"step_count": 0} if episodes else {"step_count__gt": 0}))
        rows = rows.filter(split=split) if split else rows
        return rows.filter(website__name__in=websites) if websites else rows

    def in_order(self) -> Self:
        """Conversations in the order of the source, which lists, exports and runs keep."""
        return self.order_by("position", "id")

    def for_list(self) -> Self:
        """Conversations with what a list row shows."""
        return self.select_related("website", "dataset")

    def with_first_instruction(self) -> QuerySet[Any, Any]:
        said = Turn.objects.filter(conversation=OuterRef("pk"), index=0).values("instruction")
        return self.annotate(first_instruction=Subquery(said[:1]))

    def with_steps(self) -> Self:
        """Conversations with turns, steps and targets, without pages or candidates: four queries whatever the size."""
        steps = Step.objects.defer("candidates").prefetch_related("targets").order_by("index")
        turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
        return self.select_related("website", "dataset").prefetch_related(Prefetch("turns", queryset=turns))

    def for_freezing(self) -> "ConversationQuerySet":
        """Conversations with all that a frozen text holds, in the order of exports; pages without their content."""
        steps = Step.objects.order_by("index").with_pages_unread()
        turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
        ordered = self.in_order().select_related("website")
        return ordered.prefetch_related(Prefetch("turns", queryset=turns), "source_files")

    def written_since(self, moment: datetime) -> dict[str, str]:
        """Source id -> content checksum of conversations that were stored at this moment or later."""
        return dict(self.filter(created_at__gte=moment).values_list("source_id", "content_sha256"))

    def tasks(self) -> QuerySet["Turn"]:
        """Turns that have steps, with them, in order: a turn is a task."""
        steps = Step.objects.defer("candidates", "extra").order_by("index").prefetch_related("targets")
        turns = Turn.objects.filter(conversation__in=self, steps__isnull=False).distinct()
        turns = turns.select_related("conversation").prefetch_related(Prefetch("steps", steps))
        return turns.order_by("conversation__position", "conversation_id", "index")

    def records(self) -> Iterator[ConversationRecord]:
        """Records equal to the imported ones, in source order and constant memory."""
        steps = Step.objects.order_by("index").with_pages().select_related("screenshot")
        turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
        ordered = self.in_order().select_related("website")
        prefetched = ordered.prefetch_related(Prefetch("turns", queryset=turns), "source_files")
        for conversation in prefetched.iterator(chunk_size=AT_ONCE):
            yield conversation.record()


class Conversation(models.Model):
    """Ordered turns of one user."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="conversations")
    source_id = models.CharField(max_length=200, help_text="Id in the source files, unique in the dataset.")
    website = models.ForeignKey(Website, models.PROTECT, related_name="conversations")
    split = models.CharField(max_length=20, choices=Split.choices)
    position = models.PositiveIntegerField(help_text="Order in the source; exports keep it.")
    content_sha256 = models.CharField(max_length=64, help_text="Of the imported record: unchanged input is skipped.")
    extra = models.JSONField(default=dict, blank=True)
    turn_count = models.PositiveIntegerField(default=0, editable=False, help_text="Kept by triggers.")
    step_count = models.PositiveIntegerField(default=0, editable=False, help_text="Kept by triggers.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["position", "id"]
        indexes = [
            models.Index(fields=["dataset", "split", "position"]),
            models.Index(fields=["dataset", "position", "id"]),
        ]
        triggers = difference_triggers(
            ConversationTally,
            "counted.dataset_id, counted.website_id, counted.split",
            "1, counted.turn_count, counted.step_count",
        )
        constraints = [
            models.UniqueConstraint(fields=["dataset", "source_id"], name="conversation_once_per_dataset"),
            models.CheckConstraint(condition=Q(split__in=Split.values), name="conversation_split_known"),
        ]

    def __str__(self) -> str:
        return self.source_id

    def record(self) -> ConversationRecord:
        """The conversation as it was imported; its website, turns, steps and source files are best prefetched, as
        `records` does."""
        return ConversationRecord(
            source_id=self.source_id,
            website=self.website.name,
            domain=self.website.domain,
            subdomain=self.website.subdomain,
            split=self.split,
            extra=self.extra,
            turns=tuple(turn.record() for turn in self.turns.all()),
            files=tuple(FileRecord(kept.path, kept.content) for kept in self.source_files.all()),
        )


class SourceTask(models.Model):
    """A single-turn task that conversations are organised from (Mind2Web)."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="source_tasks")
    source_id = models.CharField(max_length=200)
    website = models.ForeignKey(Website, models.PROTECT, related_name="source_tasks")
    split = models.CharField(max_length=20, choices=Split.choices)
    instruction = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "source_id"], name="source_task_once_per_dataset")]

    def __str__(self) -> str:
        return self.source_id


class Turn(models.Model):
    """One user instruction and the steps that answer it."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="turns")
    index = models.PositiveIntegerField()
    source_id = models.CharField(max_length=200)
    source_index = models.PositiveIntegerField(null=True, blank=True)
    source_task = models.ForeignKey(SourceTask, models.SET_NULL, null=True, blank=True, related_name="turns")
    instruction = models.TextField()
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "index"], name="turn_index_once"),
            models.UniqueConstraint(fields=["conversation", "source_id"], name="turn_source_id_once"),
        ]
        triggers = _counted_by_conversation(TURNS_SQL)

    def __str__(self) -> str:
        return f"turn {self.index + 1}: {self.instruction[:60]}"

    def record(self) -> TurnRecord:
        return TurnRecord(
            source_id=self.source_id,
            instruction=self.instruction,
            source_index=self.source_index,
            extra=self.extra,
            steps=tuple(step.record() for step in self.steps.all()),
        )


RECORDED_AS = {"snapshot": "html", "raw_snapshot": "raw_html", "snapshot_after": "html_after"}
"""Columns of a step that hold a page, each with the field of a record (`PAGES`) that it is imported from."""
IMAGES_AND_PAGES = (*RECORDED_AS, "screenshot")


class StepQuerySet(models.QuerySet["Step"]):
    def with_pages(self) -> Self:
        """Steps with their pages, which can be read without further queries."""
        return self.select_related(*(f"{page}__dictionary" for page in RECORDED_AS))

    def with_pages_unread(self) -> Self:
        """Steps with their pages, whose content is left where it is: what shows a page asks for it by its address."""
        return self.select_related(*IMAGES_AND_PAGES).defer(*(f"{page}__data" for page in IMAGES_AND_PAGES))

    def light(self) -> Self:
        """Steps with their pages, unread, and without candidates and what their source says beside them."""
        return self.with_pages_unread().defer("candidates", "extra")

    def with_checksums(self, opening: Q) -> QuerySet[Any, Any]:
        """Steps with their targets, and with their pages by their SHA-256, without their bytes; with whose gold they
        are, by split and project, and whether they meet the condition `opening`."""
        named = {f"{page}_sha256": F(f"{page}__sha256") for page in IMAGES_AND_PAGES}
        gold = {"split": F("turn__conversation__split"), "project_id": F("turn__conversation__dataset__project_id")}
        is_open = ExpressionWrapper(opening, output_field=models.BooleanField())
        return self.defer("candidates").annotate(**named, **gold, opening=is_open).prefetch_related("targets")

    def of_dataset(self, dataset: Dataset, split: str = "") -> Self:
        """Steps of a dataset's conversations, or of those of one split."""
        rows = self.filter(turn__conversation__dataset=dataset)
        return rows.filter(turn__conversation__split=split) if split else rows

    def unexplained(self) -> Self:
        """Those without a rationale that have an element to explain."""
        return self.filter(rationales=None, targets__pruned=False).distinct()

    def writers(self) -> Counter[str]:
        """Who wrote the rationales that these steps are shown with, and how many: models by name, or people."""
        rows = Rationale.objects.filter(step__in=self).order_by("created_at", "pk")
        shown: dict[int, str] = {}
        for step, source, model in rows.values_list("step_id", "source", "model_name"):
            if source == Rationale.Source.HUMAN:
                shown[step] = PEOPLE
            elif shown.get(step) != PEOPLE:  # a person's comes first, else the newest
                shown[step] = model or UNNAMED
        return Counter(shown.values())

    def explained_by_split(self) -> list[dict]:
        """Per split, the number of `steps` and how many of them `people` or `models` have explained."""
        written = Rationale.objects.filter(step=OuterRef("pk"))
        by = {source: Exists(written.filter(source=source)) for source in Rationale.Source.values}
        split = "turn__conversation__split"
        counts = {
            "steps": Count("pk"),
            "people": Count("pk", filter=Q(human=True)),
            "models": Count("pk", filter=Q(model=True)),
        }
        rows = self.annotate(**by).order_by(split).values(split).annotate(**counts)
        return [row | {"split": row[split]} for row in rows]


class Step(models.Model):
    """One gold observation with one gold action."""

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="steps")
    index = models.PositiveIntegerField()
    source_id = models.CharField(max_length=200)
    source_index = models.PositiveIntegerField(null=True, blank=True)
    operation = models.CharField(max_length=12, choices=Operation.choices)
    original_operation = models.CharField(max_length=20, blank=True)
    value = models.TextField(blank=True)
    action_repr = models.TextField(blank=True)
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, null=True, blank=True, related_name="+")
    raw_snapshot = models.ForeignKey(Snapshot, models.PROTECT, null=True, blank=True, related_name="+")
    snapshot_after = models.ForeignKey(Snapshot, models.PROTECT, null=True, blank=True, related_name="+")
    keeps_page_after = models.BooleanField(
        default=False, help_text="The source holds the page after this step; otherwise it is the next step's page."
    )
    screenshot = models.ForeignKey(Screenshot, models.PROTECT, null=True, blank=True, related_name="+")
    candidates = models.BinaryField(default=b"", help_text="Compressed candidate list, see `candidate_records`.")
    candidate_count = models.PositiveIntegerField(default=0)
    extra = models.JSONField(default=dict, blank=True)
    marks = models.JSONField(
        default=dict,
        null=True,
        blank=True,
        help_text="What the recorder had written onto the target; exports put it back. Null: not searched yet.",
    )

    objects = StepQuerySet.as_manager()

    class Meta:
        ordering = ["index"]
        indexes = [models.Index(fields=["id"], condition=Q(marks__isnull=True), name="step_not_unmarked")]
        constraints = [
            models.UniqueConstraint(fields=["turn", "index"], name="step_index_once"),
            models.UniqueConstraint(fields=["turn", "source_id"], name="step_source_id_once"),
            models.CheckConstraint(condition=Q(operation__in=Operation.values), name="step_operation_known"),
            models.CheckConstraint(
                condition=Q(keeps_page_after=False) | Q(snapshot_after__isnull=False), name="kept_page_after_exists"
            ),
        ]
        triggers = _counted_by_conversation(STEPS_SQL)

    def __str__(self) -> str:
        return self.action_repr or f"{self.operation} {self.value}".strip()

    def gold_ids(self) -> list[str]:
        """Node ids of the step's gold elements, those that were pruned off its page included."""
        return [target.node_id for target in self.targets.all()]

    def reachable_gold(self) -> tuple[str, ...]:
        """Node ids of the step's gold elements that are still on its page."""
        return tuple(target.node_id for target in self.targets.all() if not target.pruned)

    def shown_snapshot(self, wanted: str = "") -> Snapshot | None:
        """The page to show: as recorded, with its styles, where the source kept it and it can be shown; else the
        cleaned one, as where `wanted` is "cleaned"."""
        recorded = self.raw_snapshot if wanted != "cleaned" else None
        return recorded if recorded is not None and recorded.can_be_shown else self.snapshot

    def raw_after(self) -> Snapshot | None:
        """The page after the step's action as it was recorded: that of the next step, where this one keeps none."""
        is_next = self.raw_snapshot_id and self.snapshot_after_id and not self.keeps_page_after
        after = type(self).objects.filter(turn=self.turn_id, index=self.index + 1).light().first() if is_next else None
        return after.raw_snapshot if after and after.raw_snapshot and after.raw_snapshot.can_be_shown else None

    @property
    def pages_around(self) -> tuple[str | None, str | None]:
        """The pages before and after the step's action; None for one that was not recorded."""
        before, after = (page.html if page else None for page in (self.snapshot, self.snapshot_after))
        return before, after

    def show_before(self, page: Snapshot) -> None:
        """Give the step before this one the page as its page after the action, where its source keeps none."""
        before = type(self).objects.filter(turn=self.turn_id, index=self.index - 1, keeps_page_after=False)
        before.update(snapshot_after=page)

    def beside(self) -> tuple[int | None, int | None]:
        """The keys of the step before and the step after in the conversation; None for none."""
        steps = type(self).objects.filter(turn__conversation=self.turn.conversation_id)
        keys = [None, *steps.order_by("turn__index", "index").values_list("pk", flat=True), None]
        place = keys.index(self.pk)
        return keys[place - 1], keys[place + 1]

    def candidate_records(self) -> tuple[list[CandidateRecord], list[CandidateRecord]]:
        """(positives, negatives) in source order. One decompression, no query."""
        return unpack_candidates(bytes(self.candidates))

    def record(self) -> StepRecord:
        """The step as it was imported, with its recorder's marks, pages and screenshot."""
        positives, negatives = self.candidate_records()
        image = self.screenshot
        unmarked = StepRecord(
            source_id=self.source_id,
            operation=self.operation,
            value=self.value,
            original_operation=self.original_operation,
            action_repr=self.action_repr,
            html=self.snapshot.html if self.snapshot else "",
            raw_html=self.raw_snapshot.html if self.raw_snapshot else "",
            html_after=self.snapshot_after.html if self.snapshot_after and self.keeps_page_after else "",
            positives=tuple(positives),
            negatives=tuple(negatives),
            source_index=self.source_index,
            extra=self.extra,
            screenshot=ImageRecord(image.media_type, bytes(image.data)) if image else None,
        )
        return put_back(unmarked, self.marks or {})


class Target(models.Model):
    """One acceptable gold element of a step."""

    step = models.ForeignKey(Step, models.CASCADE, related_name="targets")
    node_id = models.CharField("backend node id", max_length=64)
    position = models.PositiveIntegerField()
    node_order = models.PositiveIntegerField(
        null=True, blank=True, help_text="Place in the page's document order; empty when the element was pruned away."
    )
    pruned = models.BooleanField(default=False, help_text="The element is not in the step's page.")
    is_original = models.BooleanField(null=True)
    is_top_level = models.BooleanField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["step", "node_id"], name="target_once_per_step"),
            models.UniqueConstraint(fields=["step", "position"], name="target_position_once"),
            # A positive candidate exists in the page (and then has its place there) or is recorded as pruned.
            models.CheckConstraint(
                condition=Q(pruned=True, node_order__isnull=True) | Q(pruned=False, node_order__isnull=False),
                name="target_in_page_or_pruned",
            ),
        ]

    def __str__(self) -> str:
        return self.node_id
