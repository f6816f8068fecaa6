"""Admin of trained models, and what must go with one."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.models import (
    TrainedModel,
)
from agents.training.trained.removing import ModelRemoval
from annotations.admin_base import MadeElsewhere


@admin.register(TrainedModel)
class TrainedModelAdmin(MadeElsewhere):
    heavy = ("curve",)
    list_display = ["name", "kind", "base", "dataset_name", "split", "ready", "created_at"]
    list_filter = ["kind", "ready", "dataset_name"]
    search_fields = ["name", "base", "dataset_name"]
    date_hierarchy = "created_at"
    exclude = ["curve"]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What deleting these models would remove, as Django tells it. Whatever uses a model is named as protected, so
        that the model is not deleted."""
        gone, counts, perms, held = super().get_deleted_objects(objs, request)
        uses = [f"{row.name}: {use}" for row in objs for use in ModelRemoval(row, request.user).uses()]
        return gone, counts, perms, [*held, *uses]

    def delete_model(self, request: HttpRequest, obj: TrainedModel) -> None:
        ModelRemoval(obj, request.user).carry_out()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet) -> None:
        for row in queryset:
            self.delete_model(request, row)
