"""Admin of studies, and "evaluate with …" for datasets."""

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from agents.cookbook.starters import missing, missing_of
from agents.recipes.literature import RECIPES
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.corpus.admin import DatasetAdmin
from annotations.forms import choice_field
from annotations.models import Dataset, Split
from evaluation.models import (
    Shard,
    Study,
)
from evaluation.scores.reviewed import store_all_scores


class EvaluateForm(forms.Form):
    """Asks with which recipe, split, limit and preset to evaluate the chosen datasets."""

    recipe = forms.ChoiceField()
    split = forms.ChoiceField(choices=[("", "every split"), *Split.choices], required=False)
    limit = forms.IntegerField(min_value=1, required=False, help_text="The first conversations only; empty: all.")
    preset = forms.ChoiceField(
        choices=[("", "the recipe's own"), *Study.Preset.choices],
        required=False,
        help_text="Quirks of the recipe, and which metrics are shown first; both sets are stored.",
    )

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "recipe").choices = _recipe_choices()

    def clean_recipe(self) -> str:
        name = self.cleaned_data["recipe"]
        if lacking := missing(RECIPES[name]):
            raise forms.ValidationError(f"{name} cannot run here: it needs {'; '.join(lacking)}.")
        return name


def _recipe_choices() -> list[tuple[str, str]]:
    lacking = zip(RECIPES, missing_of(RECIPES.values()), strict=True)
    return [(name, f"{name} (cannot run here)" if what else name) for name, what in lacking]


admin.site.unregister(Dataset)


@admin.register(Dataset)
class EvaluableDatasetAdmin(DatasetAdmin):
    """The admin of datasets, with an action that evaluates them. It stands here because `annotations` knows nothing of
    studies."""

    actions = ["evaluate"]

    def has_evaluate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evaluation.add_study")

    @admin.action(description="Evaluate with …", permissions=["evaluate"])
    def evaluate(self, request: HttpRequest, datasets: QuerySet[Dataset]) -> HttpResponse:
        """A page that asks for recipe, split, limit and preset; then one study per dataset."""
        form = EvaluateForm(request.POST if "evaluate" in request.POST else None)
        if form.is_valid():
            for dataset in datasets.select_related("project"):
                self._start(request, dataset, form.cleaned_data)
            return redirect(request.get_full_path())
        context = self.admin_site.each_context(request) | {
            "title": "Evaluate with …",
            "form": form,
            "datasets": datasets,
            "opts": self.model._meta,
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/annotations/dataset/evaluate.html", context)

    def _start(self, request: HttpRequest, dataset: Dataset, wanted: dict) -> None:
        from evaluation.studies.running import create_study

        try:
            rules.require(request.user, "evaluate", dataset.project)
            study = create_study(
                user=signed_in(request),
                dataset=dataset,
                recipes=[wanted["recipe"]],
                splits=[wanted["split"]],
                seeds=[0],
                limit=wanted["limit"],
                overrides={},
                preset=wanted["preset"] or None,
                name="",
            )
        except (ValueError, PermissionDenied) as error:
            self.message_user(request, f"{dataset}: {error}", messages.ERROR)
            return
        self.log_change(request, dataset, f"Started the study {study}.")
        link = format_html('{}: started <a href="{}">{}</a>.', dataset, reverse("study", args=[study.pk]), study)
        self.message_user(request, link, messages.SUCCESS)


@admin.register(Study)
class StudyAdmin(MadeElsewhere):
    list_display = ["name", "project", "preset", "cancel_requested", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    list_filter = ["preset", "project", "cancel_requested"]
    search_fields = ["name", "project__name", "created_by__username"]
    date_hierarchy = "created_at"
    actions = ["cancel", "resume"]

    def has_work_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evaluation.change_study")

    @admin.action(description="Cancel", permissions=["work"])
    def cancel(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        for study in studies:
            study.cancel(store_all_scores)
        self.message_user(request, "The studies stop after the batch of steps at work; what is stored stays.")

    @admin.action(description="Resume", permissions=["work"])
    def resume(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        from evaluation.studies.running import resume_study

        for study in studies:
            try:
                resume_study(study)
                self.message_user(request, f"{study} goes on.", messages.SUCCESS)
            except ValueError as error:
                self.message_user(request, f"{study}: {error}", messages.ERROR)


@admin.register(Shard)
class ShardAdmin(MadeElsewhere, ShowsGold):
    heavy = ("conversation_ids",)
    list_display = ["__str__", "state", "attempt", "lease_owner", "heartbeat_at", "step_count", "finished_at"]
    list_filter = ["state", "attempt"]
    search_fields = ["=run__id", "lease_owner", "last_error"]
    search_help_text = "A run's number, a worker, or words of the error."
    date_hierarchy = "created_at"
