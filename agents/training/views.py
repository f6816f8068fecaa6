"""Pages of trained models: all of them, and one with its card, settings, curve and the progress of its training."""

from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from agents.models import TrainedModel
from agents.training.card import CARD, use_of
from agents.training.stored import read_card
from annotations.access import rules
from annotations.jobs.live import Live
from annotations.jobs.progress import job_live

ROWS = 50
MAX_CARD = 64 * 1024
# The first that there is.
HEADLINES = ("dev_step_success", "dev_success", "dev_exact_match", "dev_recall@1", "train_loss")
PLOT_WIDTH, PLOT_HEIGHT = 640, 180
NOT_PLOTTED = {"step", "epoch", "learning_rate"}


@dataclass(frozen=True)
class TrainingPlot:
    """One measure over the steps of a training, as a line in a box of PLOT_WIDTH × PLOT_HEIGHT."""

    name: str
    points: str  # of an SVG polyline
    first: float
    last: float
    low: float
    high: float
    steps: int


def models(request: HttpRequest) -> HttpResponse:
    page = Paginator(_visible(request), ROWS).get_page(request.GET.get("page"))
    rows = [(row, _live(row), headline(row)) for row in page]
    may_train = rules.projects(request.user, "train").exists()
    return render(request, "agents/models.html", {"page": page, "rows": rows, "may_train": may_train})


def model(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(_visible(request), name=name)
    context = {
        "model": found,
        "live": _live(found),
        "plots": plots(found.curve),
        "width": PLOT_WIDTH,
        "height": PLOT_HEIGHT,
        "metrics": found.metrics.items(),
        "settings": sorted((found.config or (found.job.params["changes"] if found.job else {})).items()),
        "use": use_of(found.kind, found.name, found.config).replace("`", ""),
        "card": _card(found),
    }
    return render(request, "agents/model.html", context)


@require_GET
def model_state(request: HttpRequest, name: str) -> JsonResponse:
    return JsonResponse(_live(get_object_or_404(_visible(request), name=name)).to_dict())


def headline(found: TrainedModel) -> tuple[str, float] | None:
    """The metric that a list shows: name and value."""
    return next(((name, found.metrics[name]) for name in HEADLINES if name in found.metrics), None)


def plots(curve: list[dict[str, Any]]) -> list[TrainingPlot]:
    """One line for each measure of a curve that has at least two points; the loss first."""
    names = dict.fromkeys(["loss", *(name for point in curve for name in point if name not in NOT_PLOTTED)])
    series = {name: [(point["step"], point[name]) for point in curve if name in point] for name in names}
    return [_plot(name, points) for name, points in series.items() if len(points) > 1]


def _plot(name: str, points: list[tuple[int, float]]) -> TrainingPlot:
    values = [value for _, value in points]
    low, high, steps = min(values), max(values), points[-1][0]
    spread = (high - low) or 1.0
    line = " ".join(
        f"{PLOT_WIDTH * step / steps:.1f},{PLOT_HEIGHT * (1 - (value - low) / spread):.1f}" for step, value in points
    )
    return TrainingPlot(name, line, values[0], values[-1], low, high, steps)


def _live(found: TrainedModel) -> Live:
    """The progress of the training; the page reads its parts again when the curve has a new point."""
    if found.job is None:
        state = "done" if found.ready else "failed"
        return Live(False, state, {"headline": found.name, "detail": "", "state": state, "state_label": state})
    live = job_live(found.job)
    return replace(live, version=f"{live.version} {len(found.curve)}")


def _card(found: TrainedModel) -> str:
    return read_card(found, CARD, MAX_CARD) if found.ready else ""


def _visible(request: HttpRequest) -> QuerySet[TrainedModel]:
    rows = TrainedModel.objects.select_related("project", "dataset", "job", "created_by")
    return rules.visible(request.user, rows)
