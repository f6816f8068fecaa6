"""Pages of trained models: all of them, and one with its card, settings, curve and the progress of its training."""

import csv
import io

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from agents.cookbook import starters
from agents.models import TrainedModel
from agents.training.trained.card import CARD, use_of
from agents.training.trained.plots import PLOT_HEIGHT, PLOT_WIDTH, plots
from agents.training.trained.plots import rows as rows_of
from agents.training.trained.removing import ModelInUse, ModelRemoval
from agents.training.trained.stored import StoredModel
from annotations.access import rules
from annotations.access.downloads import attachment, safe_cell
from annotations.access.people import signed_in
from annotations.paging import page_of

MAX_CARD = 64 * 1024


def models(request: HttpRequest) -> HttpResponse:
    page = page_of(request, _visible(request))
    rows = [(row, row.progress(), row.headline()) for row in page]
    may_train = rules.projects(request.user, "train").exists()
    return render(request, "agents/models.html", {"page": page, "rows": rows, "may_train": may_train})


def model(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(_visible(request), name=name)
    removal = ModelRemoval(found, signed_in(request))
    context = {
        "model": found,
        "live": found.progress(),
        "plots": plots(found.curve),
        "width": PLOT_WIDTH,
        "height": PLOT_HEIGHT,
        "metrics": found.metrics.items(),
        "settings": sorted(found.trained_with().items()),
        "use": use_of(found.kind, found.name, found.config).replace("`", ""),
        "card": StoredModel(found).text(CARD, MAX_CARD) if found.ready else "",
        "may_delete": (may_delete := removal.is_allowed()),
        "uses": removal.uses() if may_delete else [],
        "stands_in": starters.is_starter(found.name),
    }
    return render(request, "agents/model.html", context)


@require_POST
def model_delete(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a model with its files; refused, saying why, while something uses it."""
    found = get_object_or_404(_visible(request), name=name)
    try:
        ModelRemoval(found, signed_in(request)).carry_out()
    except ModelInUse as error:
        messages.error(request, f"{found.name} is in use. {error}")
        return redirect("model", found.name)
    messages.success(request, f"Deleted {found.name} and its files.")
    return redirect("models")


@require_GET
def model_state(request: HttpRequest, name: str) -> JsonResponse:
    return JsonResponse(get_object_or_404(_visible(request), name=name).progress().to_dict())


@require_GET
def model_curve(request: HttpRequest, name: str) -> HttpResponseBase:
    """The data of the curves, as CSV."""
    found = get_object_or_404(_visible(request), name=name)
    columns, lines = rows_of(found.curve)
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: safe_cell(value) for key, value in line.items()} for line in lines)
    answer = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    return attachment(answer, f"{found.name}-curve.csv", found.project)


def _visible(request: HttpRequest) -> QuerySet[TrainedModel]:
    rows = TrainedModel.objects.select_related("project", "dataset", "job", "created_by")
    return rules.visible(request.user, rows)
