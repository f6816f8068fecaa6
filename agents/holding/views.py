"""Pages of risky actions that wait for a person or were decided by one, and of a project's policy for its websites."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from rest_framework.exceptions import ValidationError as Mistakes

from agents.guard.policy import KINDS, OF
from agents.holding import deciding
from agents.models import CannotDecide, DecidedAlready, GuardRule, HeldStep
from agents.models.guarding import PassesEveryClick
from annotations.access import rules
from annotations.access.json_input import BadJson, parse_json
from annotations.access.people import signed_in
from annotations.models import Project
from annotations.paging import page_of
from annotations.text.amounts import whole


@require_GET
def held_steps(request: HttpRequest) -> HttpResponse:
    """Held steps: those that wait for a person, and those that were decided, newest first."""
    rows = rules.gold_filter(request.user, rules.visible(request.user, HeldStep.objects.all()), *deciding.GOLD)
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
    row = deciding.open_held_step(signed_in(request), pk)
    try:
        wanted = deciding.StepDecisionSerializer(data=parse_json(request.body))
        wanted.is_valid(raise_exception=True)
        wanted.decide(row, signed_in(request))
    except Mistakes as error:
        return JsonResponse({"error": " ".join(_told(error.detail))}, status=400)
    except (BadJson, CannotDecide) as error:
        return JsonResponse({"error": str(error)}, status=409 if isinstance(error, DecidedAlready) else 400)
    return JsonResponse({"state": row.state, "outcome": row.outcome})


def _told(mistakes: Any) -> Iterator[str]:
    """What is wrong with a request, field by field, as sentences."""
    if isinstance(mistakes, str):
        yield str(mistakes)
        return
    for one in mistakes.values() if isinstance(mistakes, dict) else mistakes:
        yield from _told(one)


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
    names = GuardRule.objects.website_names(project)
    rows = [(row, row.warning(names)) for row in project.guard_rules.select_related("created_by")]
    context: dict[str, object] = {"project": project, "rules": rows, "may": may}
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
