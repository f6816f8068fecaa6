"""Pages of risky actions that wait for a person or were decided by one, and of a project's policy for its websites."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.guard.policy import KINDS, OF
from agents.models import CannotDecide, DecidedAlready, GuardRule, HeldStep
from agents.models.guarding import DoneInstead, PassesEveryClick
from agents.runs import events
from annotations.access import rules
from annotations.access.json_input import BadJson, parse_json
from annotations.access.people import signed_in
from annotations.dom.limits import PageError
from annotations.models import Project
from annotations.paging import page_of
from annotations.sandbox import page_questions
from annotations.text.amounts import whole

TOLD = frozenset({"state", "reason", "instead"})


@require_GET
def held_steps(request: HttpRequest) -> HttpResponse:
    """Held steps: those that wait for a person, and those that were decided, newest first."""
    rows = rules.visible(request.user, HeldStep.objects.all())
    rows = rules.gold_filter(request.user, rows, "trajectory__conversation__split", "trajectory__run__dataset__project")
    rows = rows.select_related("trajectory__run", "trajectory__conversation__website", "decided_by")
    context = {
        "waiting": rows.waiting().filter(until__gt=timezone.now()).order_by("until"),
        "page": page_of(request, rows.exclude(state=HeldStep.State.WAITING)),
        "projects": rules.projects(request.user),
    }
    return render(request, "agents/held_steps.html", context)


@require_POST
def held_step_decide(request: HttpRequest, pk: int) -> JsonResponse:
    """A reviewer decides: {state, reason, instead: {operation, node_id, value} where it is changed}. Errors as
    {error}; 409 where somebody was first, or the time is over."""
    rows = HeldStep.objects.select_related("trajectory__run__dataset__project", "trajectory__conversation")
    row = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    project = row.trajectory.run.dataset.project
    rules.require_gold(request.user, project, row.trajectory.conversation.split)
    rules.require(request.user, "review", project)
    try:
        state, reason, instead = _read_decision(parse_json(request.body))
    except (BadJson, CannotDecide) as error:
        return JsonResponse({"error": str(error)}, status=400)
    page = row.snapshot.html if row.snapshot else ""
    if instead is not None and page and not _is_on(page, instead["node_id"]):
        return JsonResponse({"error": f"There is no element {instead['node_id']} on this page."}, status=400)
    try:
        row.decide(signed_in(request), state, reason, instead)
    except CannotDecide as error:
        return JsonResponse({"error": str(error)}, status=409 if isinstance(error, DecidedAlready) else 400)
    events.publish(events.trajectory_group(row.trajectory_id), row.trajectory.step_count, row.trajectory.state)
    return JsonResponse({"state": row.state, "outcome": row.outcome})


def _is_on(page: str, node_id: str | None) -> bool:
    """Whether a page has this element, if any is named; a page that cannot be read tells nothing."""
    try:
        return not node_id or node_id in page_questions.tags(page)
    except PageError:
        return True


def _read_decision(said: Any) -> tuple[str, str, DoneInstead | None]:
    if not isinstance(said, dict) or said.keys() - TOLD:
        raise CannotDecide(f"A decision is an object of {', '.join(sorted(TOLD))}.")
    state, reason, instead = said.get("state"), said.get("reason", ""), said.get("instead")
    if not isinstance(state, str) or not isinstance(reason, str):
        raise CannotDecide("State and reason are texts.")
    if state == HeldStep.State.TAKEN:
        raise CannotDecide("Taking over is done where the browser is: in the replay of the episode.")
    if instead is None:
        return state, reason, None
    texts = isinstance(instead, dict) and all(isinstance(one, str | None) for one in instead.values())
    if not texts or instead.keys() - {"operation", "node_id", "value"} or len(instead.get("node_id") or "") > 64:
        raise CannotDecide("What is done instead is an object of operation, node_id and value.")
    node, value = instead.get("node_id") or None, instead.get("value") or ""
    return state, reason, {"operation": instead.get("operation") or "", "node_id": node, "value": value}


@require_http_methods(["GET", "POST"])
def guard_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """A project's policy; POST adds a rule, or removes one (`remove`). One that calls every click harmless is asked
    about first (`sure`)."""
    project = get_object_or_404(rules.projects(request.user), slug=slug)
    may = rules.can(request.user, "manage", project)
    if request.method == "POST" and not may:
        raise PermissionDenied("The guard's rules are changed by admins of the project.")
    doubt: dict[str, str] = {}
    if request.method == "POST" and not (doubt := _change(request, project)):
        return redirect("guard-rules", project.slug)
    context = {"project": project, "rules": project.guard_rules.select_related("created_by"), "may": may}
    context["doubt"] = doubt
    return render(request, "agents/guard_rules.html", context | {"kinds": KINDS.items(), "of": OF})


def _change(request: HttpRequest, project: Project) -> dict[str, str]:
    """Remove or add a rule; of one that needs a second look what was told of it, with `why`, else nothing."""
    key = request.POST.get("remove", "")
    if key:
        get_object_or_404(project.guard_rules, pk=whole(key)).lift()
        return {}
    told = {name: request.POST.get(name, "").replace("\0", "") for name in ("website", "pattern", "of", "kind")}
    try:
        sure = "sure" in request.POST
        GuardRule.objects.add(sure, project=project, created_by=signed_in(request), **told)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    except PassesEveryClick as error:
        return told | {"why": str(error)}
    return {}
