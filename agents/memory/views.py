"""Pages of workflows, and of the memory jobs of a dataset."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from agents.memory import workflow_rows as rows
from agents.memory.counts import encoder_counts
from agents.memory.forms import EmbedForm, InduceForm, RefineForm, TransitionForm, WorkflowFilterForm, WorkflowForm
from agents.models import TrajectoryStep, Workflow
from agents.models.memory import WorkflowQuerySet
from agents.world_model.calibration import ReliabilityBin
from agents.world_model.plotting import marks
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.corpus.browse.views import visible_dataset
from annotations.models import Dataset, Job, Split, Step
from annotations.paging import page_of
from annotations.text.amounts import whole

SHOWN_USES = 50
SHOWN_JOBS = 8
KINDS = (Job.Kind.EMBED, Job.Kind.INDUCE, Job.Kind.REFINE, Job.Kind.TRANSITION)


def workflows(request: HttpRequest, name: str) -> HttpResponse:
    """The workflows of a dataset by site; with `?run=` those that a run induced."""
    found = visible_dataset(request, name)
    run = whole(request.GET.get("run", ""))
    known = rows.visible(request.user).filter(dataset=found).select_related("website", "run")
    known = known.filter(run=run) if run is not None else known.standing()
    sites = known.exclude(website=None).order_by("website__name").values_list("website__name", flat=True).distinct()
    filters = WorkflowFilterForm(request.GET, sites)
    page = page_of(request, _filtered(known, filters.active()))
    rights = rules.rights_of(request)
    tests = rights.sees_gold(found.project_id, Split.TEST_TASK)
    used = TrajectoryStep.objects.count_by_workflow([row.pk for row in page], tests=tests)
    for row in page:
        row.used = used.get(row.pk, 0)
    context = {
        "dataset": found,
        "run": run,
        "filters": filters,
        "page": page,
        "groups": rows.by_website(page),
        "may_write": rights.can("annotate", found.project_id),
        "may_induce": rights.can("induce", found.project_id),
    }
    return render(request, "agents/workflows.html", context)


def _filtered(known: WorkflowQuerySet, chosen: dict[str, str]) -> WorkflowQuerySet:
    if "website" in chosen:
        known = known.filter(website__name=chosen["website"])
    if "origin" in chosen:
        known = known.filter(origin=chosen["origin"])
    if text := chosen.get("q"):
        known = known.containing(text)
    return known.by_website()


def workflow(request: HttpRequest, pk: int) -> HttpResponse:
    """One workflow: what it says, where it came from, which steps of agents were shown it; a POST corrects it."""
    found = _visible(request, pk)
    may_edit = found.may_be_edited_by(request.user)
    if request.method == "POST" and not may_edit:
        raise PermissionDenied("Workflows are edited by annotators and admins; those of a run stay as they are.")
    form = WorkflowForm(request.POST or None, instance=found, dataset=found.dataset)
    if request.method == "POST" and form.is_valid():
        # The form has changed the instance already; `edit` compares with what is stored.
        rows.edit(_visible(request, pk), signed_in(request), form.cleaned_data)
        messages.success(request, "Saved. The steps that were shown it keep the text that they saw.")
        return redirect("dataset-workflow", pk)
    return _workflow_page(request, _visible(request, pk), form if may_edit else None)


def _workflow_page(request: HttpRequest, found: Workflow, form: WorkflowForm | None) -> HttpResponse:
    from agents.memory.workflows.induce import prompt_of

    told = (
        TrajectoryStep.objects.shown_workflow(found.pk).select_related("run", "trajectory__conversation").defer("trace")
    )
    used = rules.gold_filter(request.user, told, "trajectory__conversation__split", "run__dataset__project")
    context = {
        "workflow": found,
        "dataset": found.dataset,
        "form": form,
        "sources": found.sources.order_by("position", "pk"),
        "prompt": prompt_of(found),
        "uses": used[:SHOWN_USES],
        "use_count": used.count(),
        "run_count": used.order_by().values("run").distinct().count(),
    }
    return render(request, "agents/workflow.html", context)


def workflow_new(request: HttpRequest, name: str) -> HttpResponse:
    """A workflow written by a person."""
    found = visible_dataset(request, name)
    rules.require(request.user, "annotate", found.project)
    blank = Workflow(dataset=found, origin=Workflow.Origin.PERSON)
    form = WorkflowForm(request.POST or None, instance=blank, dataset=found)
    if request.method == "POST" and form.is_valid():
        made = Workflow(dataset=found, origin=Workflow.Origin.PERSON)
        made.website = form.cleaned_data["website"]
        made.place_last()
        return redirect("dataset-workflow", rows.edit(made, signed_in(request), form.cleaned_data).pk)
    return render(request, "agents/workflow_new.html", {"dataset": found, "form": form})


@require_POST
def workflow_delete(request: HttpRequest, pk: int) -> HttpResponse:
    found = _visible(request, pk)
    if not found.may_be_edited_by(request.user):
        raise PermissionDenied("Workflows are deleted by annotators and admins; those of a run stay as they are.")
    found.remove()
    messages.success(request, f"Deleted {found.name}.")
    return redirect("dataset-workflows", found.dataset.name)


def _visible(request: HttpRequest, pk: int) -> Workflow:
    known = rows.visible(request.user).select_related("dataset__project", "website", "run", "edited_by")
    return get_object_or_404(known, pk=pk)


def memory(request: HttpRequest, name: str, **invalid) -> HttpResponse:
    """What agents remember of a dataset, and the jobs that make it; `invalid`: forms that were sent with mistakes."""
    found = visible_dataset(request, name)
    jobs = Job.objects.filter(dataset=found, kind__in=KINDS).select_related("created_by")
    context = {
        "dataset": found,
        "encoders": encoder_counts(found),
        "workflow_count": found.workflows.standing().count(),
        "site_count": found.workflows.standing().values("website").distinct().count(),
        "fits": [
            (fit, marks([ReliabilityBin(*one) for one in fit.measured.get("bins", ())]), fit.held_out())
            for fit in found.world_model_fits.order_by("encoder")
        ],
        "transition_count": found.transitions.count(),
        "rationales": Step.objects.of_dataset(found).explained_by_split(),
        "jobs": [(job, job.live()) for job in jobs.order_by("-pk")[:SHOWN_JOBS]],
        "may": {kind: rules.can(request.user, kind, found.project) for kind in KINDS},
        "forms": {kind: invalid.get(kind) or _form(kind, found) for kind in KINDS},
    }
    return render(request, "agents/memory.html", context)


@require_POST
def memory_start(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """Start one of the jobs that fill memory."""
    from agents.memory import jobs

    found = visible_dataset(request, name)
    if kind not in KINDS:
        raise Http404
    rules.require(request.user, kind, found.project)
    form = _form(kind, found, request.POST)
    starts: dict[str, Callable[..., Job]] = {
        Job.Kind.EMBED: lambda encoder: jobs.start_embedding(user=signed_in(request), dataset=found, encoder=encoder),
        Job.Kind.INDUCE: lambda encoder, website, style: jobs.start_induction(
            user=signed_in(request), dataset=found, encoder=encoder, style=style, websites=[website] if website else []
        ),
        Job.Kind.REFINE: lambda split: jobs.start_rationales(user=signed_in(request), dataset=found, split=split),
        Job.Kind.TRANSITION: lambda encoder, describe: jobs.start_transitions(
            user=signed_in(request), dataset=found, encoder=encoder, describe=describe
        ),
    }
    if form.is_valid():
        try:
            return redirect("job", starts[kind](**form.cleaned_data).pk)
        except ValidationError as error:
            form.add_error(None, " ".join(error.messages))
    return memory(request, name, **{kind: form})


def _form(kind: str, dataset: Dataset, data: QueryDict | None = None) -> forms.Form:
    if kind == Job.Kind.EMBED:
        return EmbedForm(data, prefix=None, auto_id="embed_%s")
    if kind == Job.Kind.REFINE:
        return RefineForm(data, auto_id="refine_%s")
    if kind == Job.Kind.TRANSITION:
        return TransitionForm(data, auto_id="transition_%s")
    train = dataset.conversations.filter(split=Split.TRAIN).values("website")
    names = dataset.websites.filter(pk__in=train).order_by("name").values_list("name", flat=True).distinct()
    return InduceForm(data, websites=names, auto_id="induce_%s")
