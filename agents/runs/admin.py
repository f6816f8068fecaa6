"""Admin of runs, trajectories and their steps, which workers alone make."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.models import (
    Run,
    StepPicture,
    Trajectory,
    TrajectoryStep,
    UserLedger,
)
from annotations.admin_base import MadeElsewhere, ShowsGold, as_json, count_of
from annotations.models import Operation


@admin.register(Run)
class RunAdmin(MadeElsewhere, ShowsGold):
    heavy = ("recipe",)
    list_display = ["recipe_name", "dataset", "split", "seed", "state", "step_count", "created_by", "created_at"]
    list_select_related = ["dataset", "created_by"]
    list_filter = ["state", "recipe_name", "split", "dataset"]
    search_fields = ["recipe_name", "dataset__name", "recipe_sha256__startswith"]
    date_hierarchy = "created_at"
    readonly_fields = ["recipe_text"]
    exclude = ["recipe"]

    @admin.display(description="recipe")
    def recipe_text(self, run: Run) -> str:
        return as_json(run.recipe)


@admin.register(Trajectory)
class TrajectoryAdmin(MadeElsewhere):
    list_display = ["conversation", "run", "state", "stored", "step_count", "updated_at"]
    list_select_related = ["conversation", "run__dataset"]
    list_filter = ["state", "run__recipe_name", "conversation__split"]
    search_fields = ["conversation__source_id", "run__recipe_name"]
    ordering = ["-id"]
    heavy = ("run__recipe",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trajectory]:
        steps = TrajectoryStep.objects.all()
        return super().get_queryset(request).annotate(stored_count=count_of(steps, "trajectory"))

    @admin.display(ordering="stored_count")
    def stored(self, trajectory: Trajectory) -> int:
        return trajectory.stored_count


@admin.register(UserLedger)
class UserLedgerAdmin(MadeElsewhere):
    list_display = ["run", "spent_tokens", "spent_cost", "spent_seconds", "budget_cost"]
    list_select_related = ["run__dataset"]
    search_fields = ["run__recipe_name", "run__dataset__name"]
    ordering = ["-id"]
    heavy = ("run__recipe",)


class DecidedOperation(admin.SimpleListFilter):
    """Filters steps by operation. It offers all operations that exist: looking up those that occur would read every
    row."""

    title = parameter_name = "operation"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return Operation.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[TrajectoryStep]) -> QuerySet[TrajectoryStep]:
        return queryset.filter(operation=self.value()) if self.value() else queryset


@admin.register(TrajectoryStep)
class TrajectoryStepAdmin(MadeElsewhere, ShowsGold):
    heavy = ("trace", "branches", "candidate_ids", "candidate_scores")
    list_display = ["trajectory_id", "seq", "operation", "node_id", "value", "element_correct", "success", "gold_rank"]
    list_filter = ["success", "element_correct", DecidedOperation, ("error", admin.EmptyFieldListFilter)]
    search_fields = ["=trajectory__id", "value", "error"]
    search_help_text = "A trajectory's number, or words of the value or the error."
    readonly_fields = ["trace_text"]
    exclude = ["trace"]
    ordering = ["-id"]

    @admin.display(description="trace")
    def trace_text(self, step: TrajectoryStep) -> str:
        return as_json(step.trace)


@admin.register(StepPicture)
class StepPictureAdmin(MadeElsewhere, ShowsGold):
    list_display = ["step_id", "screenshot_id", "width", "height", "created_at"]
    search_fields = ["=step__trajectory__id"]
    search_help_text = "A trajectory's number."
    date_hierarchy = "created_at"
    raw_id_fields = ["step", "screenshot"]
    ordering = ["-id"]
