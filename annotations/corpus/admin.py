"""Admin of datasets and what is in them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotations.admin_base import LeanAdmin, MadeElsewhere, ShowsGold
from annotations.models import (
    Conversation,
    Correction,
    Dataset,
    Rationale,
    SourceTask,
    Step,
    Target,
    Turn,
    TurnCorrection,
    Website,
)
from annotations.models.corpus.datasets import DatasetQuerySet
from annotations.pages.admin import ratio_text


@admin.register(Dataset)
class DatasetAdmin(LeanAdmin):
    list_display = ["name", "project", "source_format", "conversations", "licence", "created_at"]
    list_select_related = ["project"]
    list_filter = ["project", "source_format"]
    search_fields = ["name", "description", "project__name"]
    autocomplete_fields = ["project"]
    date_hierarchy = "created_at"
    fields = [
        *("project", "name", "source_format", "description", "licence", "created_at", "contents", "raw_bytes"),
        *("stored_bytes", "ratio"),
    ]
    readonly_fields = ["created_at", "contents", "raw_bytes", "stored_bytes", "ratio"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        rows = super().get_queryset(request)
        assert isinstance(rows, DatasetQuerySet)
        return rows.counted()

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Dataset | None:
        """The dataset for its change page, with the bytes of its pages: they are summed over all pages, so lists do
        without."""
        dataset = super().get_object(request, object_id, from_field)
        if dataset is not None:
            dataset.bytes = dataset.page_bytes(tests=request.user.is_superuser)
        return dataset

    @admin.display(ordering="conversation_count")
    def conversations(self, dataset: Dataset) -> int:
        return dataset.conversation_count

    @admin.display()
    def contents(self, dataset: Dataset) -> str:
        if not dataset.pk:
            return "–"
        counts = {"conversations": dataset.conversation_count, "turns": dataset.turn_count, "steps": dataset.step_count}
        return ", ".join(f"{name}: {count:,}" for name, count in counts.items())

    @admin.display(description="raw bytes")
    def raw_bytes(self, dataset: Dataset) -> str:
        return f"{dataset.bytes['raw']:,} in {dataset.bytes['pages']:,} pages" if dataset.pk else "–"

    @admin.display(description="stored bytes")
    def stored_bytes(self, dataset: Dataset) -> str:
        if not dataset.pk:
            return "–"
        return "{stored:,} in {distinct_pages:,} distinct pages, dictionaries included".format(**dataset.bytes)

    @admin.display(description="raw to stored")
    def ratio(self, dataset: Dataset) -> str:
        return ratio_text(dataset.bytes["raw"], dataset.bytes["stored"]) if dataset.pk else "–"


@admin.register(Website)
class WebsiteAdmin(LeanAdmin):
    heavy = ("page_dictionary__data",)
    list_display = ["name", "domain", "subdomain", "dataset", "page_dictionary"]
    list_select_related = ["dataset", "page_dictionary"]
    list_filter = ["dataset", "domain"]
    search_fields = ["name", "domain", "subdomain"]
    autocomplete_fields = ["dataset"]
    raw_id_fields = ["page_dictionary"]


@admin.register(SourceTask)
class SourceTaskAdmin(LeanAdmin):
    list_display = ["source_id", "dataset", "split", "website", "instruction"]
    list_select_related = ["dataset", "website"]
    list_filter = ["split", "dataset"]
    search_fields = ["source_id", "instruction"]
    raw_id_fields = ["dataset", "website"]


class TurnInline(admin.TabularInline):
    model = Turn
    readonly_fields = ["index", "instruction", "source_id"]
    fields = [*readonly_fields]
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(LeanAdmin, ShowsGold):
    list_display = ["source_id", "dataset", "split", "website", "turn_count", "step_count", "created_at"]
    list_select_related = ["dataset", "website"]
    list_filter = ["split", "dataset", "website__domain"]
    search_fields = ["source_id", "turns__instruction"]
    raw_id_fields = ["dataset", "website"]
    readonly_fields = ["content_sha256", "created_at"]
    ordering = ["-id"]
    inlines = [TurnInline]


@admin.register(Turn)
class TurnAdmin(LeanAdmin, ShowsGold):
    list_display = ["conversation", "index", "instruction", "dataset"]
    list_select_related = ["conversation__dataset"]
    list_filter = ["conversation__split", "conversation__dataset"]
    search_fields = ["instruction", "conversation__source_id"]
    raw_id_fields = ["conversation", "source_task"]
    ordering = ["conversation_id", "index"]

    @admin.display(ordering="conversation__dataset__name")
    def dataset(self, turn: Turn) -> Dataset:
        return turn.conversation.dataset


class TargetInline(admin.TabularInline):
    model = Target
    extra = 0


@admin.register(Step)
class StepAdmin(LeanAdmin, ShowsGold):
    heavy = ("candidates",)
    list_display = ["conversation", "turn_number", "index", "operation", "value", "action_repr", "candidate_count"]
    list_select_related = ["turn__conversation"]
    list_filter = ["operation", "turn__conversation__split", "turn__conversation__dataset"]
    search_fields = ["action_repr", "value", "turn__conversation__source_id"]
    raw_id_fields = ["turn", "snapshot", "raw_snapshot", "snapshot_after", "screenshot"]
    readonly_fields = ["candidate_count"]
    ordering = ["turn_id", "index"]
    inlines = [TargetInline]

    @admin.display(ordering="turn__conversation__source_id")
    def conversation(self, step: Step) -> Conversation:
        return step.turn.conversation

    @admin.display(description="turn", ordering="turn__index")
    def turn_number(self, step: Step) -> int:
        return step.turn.index + 1


@admin.register(Target)
class TargetAdmin(LeanAdmin, ShowsGold):
    list_display = ["node_id", "step", "position", "node_order", "pruned", "is_original", "is_top_level"]
    list_select_related = ["step"]
    list_filter = ["pruned", "is_original", "is_top_level"]
    search_fields = ["node_id", "step__action_repr"]
    raw_id_fields = ["step"]
    heavy = ("step__candidates",)


@admin.register(Correction)
class CorrectionAdmin(MadeElsewhere, ShowsGold):
    list_display = ["step_id", "state", "reason", "asked_by", "corrected_by", "decided_by", "decided_at"]
    list_select_related = ["asked_by", "corrected_by", "decided_by"]
    list_filter = ["state"]
    search_fields = ["reason", "step__turn__conversation__source_id"]


@admin.register(TurnCorrection)
class TurnCorrectionAdmin(MadeElsewhere, ShowsGold):
    list_display = ["turn_id", "state", "reason", "asked_by", "corrected_by", "decided_by", "decided_at"]
    list_select_related = ["asked_by", "corrected_by", "decided_by"]
    list_filter = ["state"]
    search_fields = ["reason", "turn__conversation__source_id"]


@admin.register(Rationale)
class RationaleAdmin(LeanAdmin, ShowsGold):
    list_display = ["text", "source", "author", "model_name", "created_at"]
    list_select_related = ["author"]
    list_filter = ["source", "model_name"]
    search_fields = ["text", "author__username", "model_name"]
    raw_id_fields = ["step", "author"]
    date_hierarchy = "created_at"
