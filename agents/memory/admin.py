"""Admin of what agents remember."""

from django.contrib import admin

from agents.models import (
    Exemplar,
    ExemplarSet,
    MemorySnippet,
    Transition,
    TransitionVector,
    Workflow,
    WorkflowVector,
    WorldModelFit,
)
from annotations.admin_base import LeanAdmin, MadeElsewhere, ShowsGold


@admin.register(MemorySnippet)
class MemorySnippetAdmin(MadeElsewhere, ShowsGold):
    heavy = ("embedding",)
    list_display = ["text", "conversation", "encoder"]
    list_select_related = ["conversation"]
    list_filter = ["encoder", "conversation__dataset"]
    search_fields = ["text", "conversation__source_id"]
    fields = ["conversation", "step", "encoder", "text"]


@admin.register(Exemplar)
class ExemplarAdmin(MadeElsewhere):
    heavy = ("embedding",)
    list_display = ["key_text", "conversation", "domain", "dataset", "encoder"]
    list_select_related = ["conversation", "dataset"]
    list_filter = ["encoder", "dataset", "domain"]
    search_fields = ["key_text", "conversation__source_id"]
    fields = ["dataset", "conversation", "split", "domain", "encoder", "key_text"]


@admin.register(ExemplarSet)
class ExemplarSetAdmin(MadeElsewhere):
    """Sets of exemplars, read only: `manage.py import_exemplars` makes them from their authors' files."""

    heavy = ("body", "keys")
    list_display = ["name", "project", "source", "read_from", "created_at"]
    list_select_related = ["project"]
    list_filter = ["project", "source"]
    search_fields = ["name"]
    fields = ["project", "source", "name", "position", "body", "keys", "read_from", "created_at"]


@admin.register(Workflow)
class WorkflowAdmin(LeanAdmin, ShowsGold):
    """Workflows, which people may write here too; a workflow is embedded when an agent first needs it."""

    list_display = ["name", "dataset", "website", "description", "model_name"]
    list_select_related = ["dataset", "website"]
    list_filter = ["dataset", "model_name"]
    search_fields = ["name", "description", "body"]
    autocomplete_fields = ["dataset", "website"]
    raw_id_fields = ["sources"]
    fields = ["dataset", "website", "name", "description", "body", "model_name", "sources"]


@admin.register(WorkflowVector)
class WorkflowVectorAdmin(MadeElsewhere):
    heavy = ("embedding",)
    list_display = ["workflow", "encoder"]
    list_select_related = ["workflow"]
    list_filter = ["encoder", "workflow__dataset"]
    search_fields = ["workflow__name"]
    fields = ["workflow", "encoder"]


@admin.register(Transition)
class TransitionAdmin(MadeElsewhere):
    """Transitions, read only. They come from the train split or from agents' own episodes, so that none tells gold of a
    test split."""

    heavy = ("effects",)
    list_display = ["key_text", "conversation", "dataset", "operation", "role", "model_name"]
    list_select_related = ["conversation", "dataset"]
    list_filter = ["dataset", "operation"]
    search_fields = ["key_text", "conversation__source_id"]
    exclude = ["episode_step"]


@admin.register(TransitionVector)
class TransitionVectorAdmin(MadeElsewhere):
    heavy = ("embedding",)
    list_display = ["transition", "encoder"]
    list_select_related = ["transition"]
    list_filter = ["encoder", "transition__dataset"]
    search_fields = ["transition__key_text"]
    fields = ["transition", "encoder"]


@admin.register(WorldModelFit)
class WorldModelFitAdmin(MadeElsewhere):
    list_display = ["dataset", "encoder", "transitions", "made_at"]
    list_select_related = ["dataset"]
    list_filter = ["encoder"]
    search_fields = ["dataset__name"]
