"""Pages that compare runs: over all conversations, and step by step in one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from agents.models import Trajectory
from annotations.access import rules
from annotations.models import Conversation
from evaluation.comparing.choosing import chosen, left_out, lettered, offered, problem, query_of
from evaluation.comparing.page import differences, step_context


def compare(request: HttpRequest) -> HttpResponse:
    """The page on which runs are chosen and compared: where they differ, and by how much."""
    asked = request.GET.getlist("runs")
    runs = chosen(request.user, asked)
    rows = lettered(runs)
    for row in rows:  # addresses without this run, and with it as the first
        others = [run.pk for run in runs if run != row["run"]]
        row |= {"without": query_of(others), "first": query_of([row["run"].pk, *others])}
    context: dict[str, Any] = {"runs": rows, "problem": problem(runs)}
    context["left_out"] = left_out(request.user, asked, [run.pk for run in runs])
    context |= offered(request.user, request.GET, runs)
    if len(runs) > 1 and not context["problem"]:
        context |= differences(request, runs)
    return render(request, "evaluation/compare.html", context)


def compare_conversation(request: HttpRequest, pk: int) -> HttpResponse:
    """One conversation step by step, `?step=` from 0. Without `?runs=` the newest two that decided it."""
    visible = rules.visible(request.user, Conversation.objects.select_related("dataset", "website"))
    conversation = get_object_or_404(visible, pk=pk)
    rows = rules.visible(request.user, Trajectory.objects.select_related("run__dataset", "conversation"))
    rows = rows.filter(conversation=conversation)
    asked = request.GET.getlist("runs")
    runs = chosen(request.user, asked) or [row.run for row in rows.order_by("-run_id")[:2]][::-1]
    of_run = {row.run_id: row for row in rows.filter(run__in=runs)}
    trajectories = [of_run.get(run.pk) for run in runs]
    gold = rules.rights_of(request).sees_gold(conversation.dataset.project_id, conversation.split)
    context: dict[str, Any] = {
        "conversation": conversation,
        "runs": lettered(runs),
        "gold": gold,
        "query": query_of([run.pk for run in runs]),
        "left_out": left_out(request.user, asked, [run.pk for run in runs]),
    }
    if gold and any(trajectories):
        context |= step_context(request, conversation, trajectories)
    return render(request, "evaluation/compare_conversation.html", context)
