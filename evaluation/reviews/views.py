"""Reviews as JSON beside the replay, and the pages that list them and their reasons."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.models import Trajectory
from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.json_input import BadJson, parse_json
from annotations.access.people import signed_in
from annotations.models import Project
from annotations.paging import page_of
from annotations.text.amounts import whole
from evaluation.models import BadReview, Review, ReviewReason, ReviewTask, ReviewVerdict
from evaluation.reviews import telling
from evaluation.reviews.deciding import (
    SaidOfStep,
    give_review,
    reasons_for,
    require_may_read,
    require_may_review,
)
from evaluation.reviews.filters import ReviewFilter
from evaluation.reviews.questions import TeamQuestion, questions_for
from evaluation.scores.exporting import to_csv

COLUMNS = (
    *("review", "dataset", "run", "recipe", "split", "conversation", "trajectory", "step", "action"),
    *("verdict", "reason", "comment", "region", "reviewer", "changed_at"),
)
LONGEST_CSV = 100_000


@never_cache
@require_http_methods(["GET", "POST"])
def of_trajectory(request: HttpRequest, pk: int) -> JsonResponse:
    """The reviews of a trajectory as JSON, what this person may say of it, and where they may ask for failures like its
    failed steps (`alike`, followed by one of `failed`); POST stores theirs: {seq: null for the whole of it, verdict,
    reason, comment, region}. Errors as {error}."""
    rows = Trajectory.objects.select_related("run__dataset__project", "conversation")
    found = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    project, user = found.run.dataset.project, signed_in(request)
    require_may_read(user, found)
    if request.method == "POST":
        require_may_review(user, found)
        try:
            give_review(user, found, _read_review(parse_json(request.body)))
        except (BadJson, BadReview) as error:
            return JsonResponse({"error": str(error)}, status=400)
    may = rules.can(request.user, "review", project)
    given = Review.objects.filter(trajectory=found)
    unread = telling.unread_in(user, found.pk)
    asks = rules.can(request.user, "manage", project) and found.run.newest_study() is not None
    return JsonResponse(
        {
            "may": may,
            "alike": f"{reverse('review-queues')}?failure=",
            "failed": found.steps.failed().by_place() if asks else {},
            "verdicts": [{"key": key, "label": label} for key, label in ReviewVerdict.choices],
            "reasons": [_reason(one) for one in ReviewReason.objects.ensured_for(project).offered()] if may else [],
            "reviews": [
                _review_row(one, user.pk) | {"unread": one.pk if one.pk in unread else None}
                for one in given.standing().with_people()
            ],
            "read": reverse("annotate-inbox-seen"),
            "questions": [one.asked(user) | _acts(one.pk) for one in ReviewTask.objects.questions(found)],
        }
    )


@require_POST
def ask_about_step(request: HttpRequest, pk: int) -> JsonResponse:
    """Ask the team about a step: {seq, question}. Answers with the queue where that stands; errors as {error}."""
    rows = Trajectory.objects.select_related("run__dataset__project", "conversation")
    found = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    user = signed_in(request)
    require_may_review(user, found)
    try:
        sent = parse_json(request.body)
        if not isinstance(sent, dict) or type(sent.get("seq")) is not int or not isinstance(sent.get("question"), str):
            raise BadReview("Send the number of a step and a question.")
        asked = TeamQuestion(sent["seq"], sent["question"]).ask(user, found)
    except (BadJson, BadReview) as error:
        return JsonResponse({"error": str(error)}, status=400)
    return JsonResponse({"queue": reverse("review-queue", args=[asked.queue_id])})


@require_POST
def change_question(request: HttpRequest, pk: int, act: str) -> JsonResponse:
    """Withdraw a question of one's own, or note that one has read its answers. Errors as {error}."""
    question = get_object_or_404(questions_for(signed_in(request)), pk=pk)
    try:
        (ReviewTask.take_back if act == "withdraw" else ReviewTask.see)(question, signed_in(request))
    except BadReview as error:
        return JsonResponse({"error": str(error)}, status=400)
    return JsonResponse({})


def _read_review(sent: Any) -> SaidOfStep:
    if not isinstance(sent, dict) or sent.keys() - set(SaidOfStep._fields):
        raise BadReview("A review is an object of seq, verdict, reason, comment and region.")
    verdict, comment, seq = sent.get("verdict", ""), sent.get("comment", ""), sent.get("seq")
    if not isinstance(verdict, str) or not isinstance(comment, str):
        raise BadReview("Verdict and comment are texts.")
    if seq is not None and type(seq) is not int:
        raise BadReview("This step is not decided yet.")
    reason = sent.get("reason")
    if reason is not None and type(reason) is not int:
        raise BadReview("There is no such reason.")
    return SaidOfStep(seq, verdict, reason, comment, sent.get("region"))


def _acts(question: int) -> dict[str, str]:
    return {act: reverse(f"question-{act}", args=[question]) for act in ("withdraw", "seen")}


def _reason(one: ReviewReason) -> dict[str, Any]:
    return {"id": one.pk, "verdict": one.verdict, "text": one.text}


def _review_row(one: Review, viewer: int) -> dict[str, Any]:
    return {
        "seq": one.step.seq if one.step else None,
        "verdict": one.verdict,
        "reason": one.reason_id,
        "reason_text": one.reason.text if one.reason else "",
        "comment": one.comment,
        "region": one.region,
        "by": one.reviewer.get_username(),
        "own": one.reviewer_id == viewer,
        "changed_at": one.changed_at.isoformat(),
    }


@require_GET
def reviews(request: HttpRequest) -> HttpResponse:
    """The list of reviews, newest first; each leads to its replay."""
    rows = _visible(request)
    chosen = ReviewFilter(request.GET, queryset=rows, request=request)
    if not chosen.is_valid():
        raise Http404
    found: Any = chosen.qs
    counts = found.count_by_verdict()
    managed = rules.projects(request.user, "manage")
    context = {
        "page": page_of(request, found),
        "filter": chosen,
        "counts": [(key, label, counts.get(key, 0)) for key, label in ReviewVerdict.choices],
        "total": sum(counts.values()),
        "is_filtered": any(request.GET.get(name) for name in chosen.filters),
        "managed": managed,
        "managed_ids": {project.pk for project in managed},
        "may": rules.projects(request.user, "review").exists(),
    }
    return render(request, "evaluation/reviews.html", context)


@require_GET
def reviews_csv(request: HttpRequest) -> HttpResponseBase:
    """The reviews of the list as a download."""
    chosen = ReviewFilter(request.GET, queryset=_visible(request), request=request)
    if not chosen.is_valid():
        raise Http404
    text = to_csv(COLUMNS, map(_csv_row, chosen.qs[:LONGEST_CSV]))
    return attachment(HttpResponse(text, content_type="text/csv; charset=utf-8"), "reviews.csv")


def _csv_row(one: Review) -> dict[str, Any]:
    run = one.trajectory.run
    return {
        "review": one.pk,
        "dataset": run.dataset.name,
        "run": run.pk,
        "recipe": run.recipe_name,
        "split": one.trajectory.conversation.split,
        "conversation": one.trajectory.conversation.source_id,
        "trajectory": one.trajectory_id,
        "step": one.step.seq if one.step else "",
        "action": str(one.step) if one.step else "",
        "verdict": one.verdict,
        "reason": one.reason.text if one.reason else "",
        "comment": one.comment,
        "region": str(one.shown_region or ""),
        "reviewer": one.reviewer.get_username(),
        "changed_at": one.changed_at.isoformat(),
    }


def _visible(request: HttpRequest) -> QuerySet[Review]:
    rows = rules.visible(request.user, Review.objects.standing().with_representation().with_alike())
    rows = rules.gold_filter(request.user, rows, "trajectory__conversation__split", "trajectory__run__dataset__project")
    shown = rows.select_related("trajectory__run__dataset", "trajectory__conversation", "step", "reason", "reviewer")
    return shown.defer("step__trace", "step__candidate_ids", "step__candidate_scores", "step__branches")


@require_http_methods(["GET", "POST"])
def review_reasons(request: HttpRequest, slug: str) -> HttpResponse:
    """A project's list of reasons, and how often each was given; POST adds one, retires one or takes it back."""
    project = get_object_or_404(rules.projects(request.user), slug=slug)
    if not rules.can(request.user, "review", project):
        raise PermissionDenied("Reasons of reviews are for reviewers and admins of the project.")
    if request.method == "POST":
        rules.require(request.user, "manage", project)
        _change_reason(request, project)
        return redirect("review-reasons", project.slug)
    rows = reasons_for(signed_in(request), project)
    groups = [(label, [row for row in rows if row.verdict == key], key) for key, label in ReviewVerdict.choices]
    may = rules.can(request.user, "manage", project)
    return render(request, "evaluation/review_reasons.html", {"project": project, "groups": groups, "may": may})


def _change_reason(request: HttpRequest, project: Project) -> None:
    rows = ReviewReason.objects.ensured_for(project)
    key = whole(request.POST.get("reason", ""))
    if key is not None:
        get_object_or_404(rows, pk=key).switch()
        return
    text, verdict = " ".join(request.POST.get("text", "").replace("\0", "").split()), request.POST.get("verdict", "")
    if not text or len(text) > 120 or verdict not in ReviewVerdict.values:
        messages.error(request, "A reason has 1 to 120 characters and a verdict that it explains.")
    elif not rows.add(project, verdict, text):
        messages.error(request, f"“{text}” is there already.")
