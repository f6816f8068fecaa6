"""What people taught of a dataset: how much, as files, and what training with it has changed."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from agents.models import TrainedModel
from annotations.access import rules
from annotations.access.downloads import stream_rows
from annotations.access.people import signed_in
from annotations.corpus.browse.views import visible_dataset
from annotations.models import Dataset, Split
from annotations.paging import page_of
from evaluation.teaching.collecting import Teaching
from evaluation.teaching.records import FORMS, LessonLines, count
from evaluation.teaching.results import HeldOut

MODELS = 2  # taught ones on a page: their runs are compared whole
WORDS = {
    "sft": ("Demonstrations", "SFT: corrected and confirmed gold, and actions that are right besides it"),
    "dpo": ("Preference pairs", "DPO: gold before what people called wrong"),
    "process": ("Process labels", "each judged step of an agent, right or wrong"),
}  # form -> what it is called, and what it holds


@require_http_methods(["GET", "POST"])
def lessons(request: HttpRequest, name: str) -> HttpResponse:
    """POST starts a study of a taught model and another on held-out conversations."""
    dataset = visible_dataset(request, name)
    if request.method == "POST":
        rules.require(request.user, "evaluate", dataset.project)
        return _measured(request, dataset)
    models = TrainedModel.objects.taught().filter(dataset=dataset).select_related("project", "dataset", "job")
    page = page_of(request, models.order_by("-pk"), MODELS)
    held_out = [HeldOut(model) for model in page]
    rights = rules.rights_of(request)
    context = {
        "dataset": dataset,
        "counts": count(Teaching(dataset).counted()),
        "forms": [(key, *WORDS[key]) for key in FORMS],
        "page": page,
        "rows": [(one.model, one.results(rights), one.rivals()) for one in held_out],
        "splits": [split for split, _ in dataset.split_counts() if split != Split.TRAIN],
        "may": {what: rules.can(request.user, what, dataset.project) for what in ("evaluate", "export")},
    }
    return render(request, "evaluation/lessons.html", context)


def _measured(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    ready = TrainedModel.objects.filter(project=dataset.project, ready=True)
    model, against = (
        ready.filter(name=request.POST.get(key, "").replace("\0", "")).first() for key in ("model", "against")
    )
    if model is None or against is None or model.dataset_id != dataset.pk:
        messages.error(request, "Choose two models of this project that are ready.")
        return redirect("dataset-lessons", dataset.name)
    try:
        return redirect("study", HeldOut(model).measure(signed_in(request), against, request.POST.get("split", "")).pk)
    except ValueError as error:
        messages.error(request, str(error))
        return redirect("dataset-lessons", dataset.name)


@require_GET
def lessons_file(request: HttpRequest, name: str, form: str) -> HttpResponseBase:
    """Lines to train on elsewhere; of the train split alone."""
    dataset = visible_dataset(request, name)
    rules.require(request.user, "export", dataset.project)
    if form not in FORMS:
        raise Http404
    return stream_rows(
        "jsonl", FORMS[form](LessonLines(dataset)), (), f"{dataset.name}-lessons-{form}", dataset.project
    )
