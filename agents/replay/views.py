"""The replay page: the steps of a stored or running trajectory, each under its own address."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from agents.models import StepPicture, Trajectory, TrajectoryStep
from agents.replay import rows as replay_rows
from agents.replay.frames import own_page_view, page_view, pruned_lines
from annotations.access import rules
from annotations.corpus.browse.changes import changes_between, marks_of_changes
from annotations.corpus.browse.step_page import sight_of
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark
from annotations.models import Step
from annotations.sandbox import page_questions
from annotations.text.amounts import whole

UNSAID = "unsaid"  # in the session: conversation -> what its user has typed for another that did not begin
ROW_PARTS = ("instruction", "gold")  # left out of the first payload: the outline or the detail has them


def trajectory(request: HttpRequest, pk: int) -> HttpResponse:
    """Leads to the first step, keeping the query; while no step is stored, the page that waits for it. A live episode
    that goes on is shown here, where it is now: the page follows it."""
    found = _visible(request, pk)
    if found.run.dataset.is_live and found.may_grow:
        return _page(request, found, max(found.steps.count() - 1, 0))
    if found.steps.exists() or found.has_own_steps:
        query = request.META["QUERY_STRING"]
        return redirect(reverse("trajectory-step", args=[pk, 0]) + (f"?{query}" if query else ""))
    return _page(request, found, 0)


def trajectory_step(request: HttpRequest, pk: int, seq: int) -> HttpResponse:
    """The page of one step, whether it is stored already or not."""
    return _page(request, _visible(request, pk), seq)


def step_view(request: HttpRequest, pk: int, seq: int) -> JsonResponse:
    """What a step needs to be shown: {detail: as in the API, null while it is not stored; snapshot: its frames}."""
    found = _visible(request, pk)
    gold = _sees_gold(request, found)
    try:
        detail = replay_rows.detail(found, seq, gold=gold)
    except TrajectoryStep.DoesNotExist:
        detail = None
    marks = [Mark(mark["id"], mark["kind"], mark["label"]) for mark in detail["marks"]] if detail else []
    if found.has_own_steps:
        rows = found.steps.select_related("snapshot", "snapshot_after", "pictured__screenshot")
        unread = ("snapshot__data", "snapshot_after__data", "pictured__screenshot__data", "trace")
        own = rows.defer(*unread).filter(seq=seq).first()
        snapshot = own.snapshot if own else None
        if own is None and (waiting := found.held_steps.waiting().filter(seq=seq).first()):
            snapshot, marks = waiting.snapshot, [Mark(waiting.node_id, "predicted", "held")]
        picture, after = getattr(own, "pictured", None), own.page_after if own else None
        shot = picture.shown if picture else None
        pages = own_page_view(request, snapshot, marks, gold, shot, after)
        return JsonResponse({"detail": detail, "snapshot": pages})
    step = _step(found, seq)
    sight = sight_of(request, step, found.run.dataset.project_id, found.conversation.split)
    return JsonResponse({"detail": detail, "snapshot": page_view(request, step, marks, sight)})


def step_tree(request: HttpRequest, pk: int, seq: int) -> JsonResponse:
    """The pruned page: what stage `simplify` kept, or all ranked elements where it says nothing."""
    found = _visible(request, pk)
    rows = found.steps.select_related("step__snapshot__dictionary", "snapshot__dictionary")
    step = get_object_or_404(rows.prefetch_related("step__targets"), seq=seq)
    if not _sees_gold(request, found):
        return JsonResponse({"lines": [], "cut": False, "missing": 0, "error": "Hidden with the gold."})
    snapshot = step.step.snapshot if step.step else step.snapshot
    empty = {"lines": [], "cut": False, "missing": 0}
    gold = {target.node_id: target.pruned for target in step.step.targets.all()} if step.step else {}
    return JsonResponse(pruned_lines(snapshot.html, step.kept_nodes(), gold) if snapshot else empty)


def step_changes(request: HttpRequest, pk: int, seq: int) -> HttpResponse:
    """What the agent's action changed on the page of its episode; recorded paths have `step-changes`."""
    found = _visible(request, pk)
    if not _sees_gold(request, found):
        raise Http404
    rows = found.steps.select_related("snapshot__dictionary", "turn").defer("trace")
    step = get_object_or_404(rows, seq=seq)
    return render(request, "annotations/_changes.html", {"panel": changes_between(*step.pages_around)})


def step_change_marks(request: HttpRequest, pk: int, seq: int) -> JsonResponse:
    """The elements by which the pages before and after a step differ: marks for either, and an error in words."""
    found = _visible(request, pk)
    if not _sees_gold(request, found):
        raise Http404
    if found.has_own_steps:
        rows = found.steps.select_related("snapshot__dictionary", "turn").defer("trace")
        pages = get_object_or_404(rows, seq=seq).pages_around
    else:
        pages = _step(found, seq, with_pages=True).pages_around
    return JsonResponse(marks_of_changes(*pages))


def step_place(request: HttpRequest, pk: int, seq: int) -> JsonResponse:
    """Where in the screenshot of a recorded step the marked elements are, as far as its page tells: {width: of the
    window, boxes}."""
    found = _visible(request, pk)
    if not _sees_gold(request, found):
        raise Http404
    rows = found.steps.select_related("step__snapshot__dictionary").prefetch_related("step__targets")
    step = get_object_or_404(rows.defer("trace"), seq=seq)
    nothing: dict[str, Any] = {"width": None, "boxes": {}}
    if step.step is None or step.step.snapshot is None:
        return JsonResponse(nothing)
    marked = {mark.node_id for mark in step.marks(list(step.step.targets.all()))}
    try:
        return JsonResponse(page_questions.places(step.step.snapshot.html, marked))
    except PageError:
        return JsonResponse(nothing)


def _visible(request: HttpRequest, pk: int) -> Trajectory:
    return get_object_or_404(rules.visible(request.user, Trajectory.objects.with_place()), pk=pk)


def _sees_gold(request: HttpRequest, found: Trajectory) -> bool:
    return rules.rights_of(request).sees_gold(found.run.dataset.project_id, found.conversation.split)


def _step(found: Trajectory, seq: int, with_pages: bool = False) -> Step:
    rows = found.recorded_steps()
    rows = rows.with_pages() if with_pages else rows.light()
    step = rows.select_related("turn")[seq : seq + 1].first()
    if step is None:
        raise Http404
    return step


def _page(request: HttpRequest, found: Trajectory, seq: int) -> HttpResponse:
    turns = found.outline()
    if seq >= sum(turn["step_count"] for turn in turns):
        raise Http404
    gold = _sees_gold(request, found)
    study = found.run.newest_study()
    context = {"trajectory": found, "run": found.run, "study": study, "gold": gold}
    queue = whole(request.GET.get("queue", ""))
    asked = reverse("review-queue-next", args=[queue]) if queue is not None else None
    rights, project = rules.rights_of(request), found.run.dataset.project_id
    context["shares"] = gold and rights.can("export", project)
    decides = rights.can("review", project)
    data = _data(found, turns, seq, gold) | {"queue": "" if queue is None else str(queue), "decides": decides}
    context["asks"] = gold and decides and study is not None
    data |= {"me": request.user.get_username(), "live": found.run.dataset.is_live}
    data["whole"] = "whole" in request.GET
    data["typed"] = bool(found.conversation.extra.get("typed"))
    mine = data["typed"] and found.run.created_by == request.user and rights.can("evaluate", project)
    data["again_url"] = reverse("converse-again", args=[found.pk]) if mine else ""
    data["unsaid"] = request.session.get(UNSAID, {}).get(str(found.pk), "") if data["typed"] else ""
    return render(request, "agents/replay.html", context | {"data": data, "next_asked": asked})


def _data(found: Trajectory, turns: list[dict[str, Any]], seq: int, gold: bool) -> dict[str, Any]:
    """The data that the page starts with: all steps in short. Details are read step by step."""
    rows = replay_rows.rows(found, gold=gold)
    own = found.has_own_steps
    shots = StepPicture.objects.of(found) if own else found.recorded_steps().filter(screenshot__isnull=False)
    will_be = settings.LIVE_SCREENSHOTS and found.may_grow and not rows  # their place is kept from the beginning
    newest = max((step.created_at for step in found.steps.only("created_at").order_by("-created_at")[:1]), default=None)
    return {
        "seq": seq,
        "turns": turns,
        "together": found.run.decided_together,
        "gold": gold,
        "progress": replay_rows.progress(found, [_brief(row) for row in rows], gold=gold),
        "url": reverse("trajectory", args=[found.pk]),
        "reviews_url": reverse("trajectory-reviews", args=[found.pk]),
        "ask_url": reverse("trajectory-ask", args=[found.pk]),
        "steps_url": reverse("api:trajectory-steps", args=[found.pk]),
        "screenshots_url": f"{reverse('api:trajectory-detail', args=[found.pk])}screenshots/"
        if own
        else reverse("api:screenshot-list"),
        "pictured": gold and (shots.exists() or will_be),
        "held_url": reverse("held-steps"),
        "drive_url": reverse("trajectory-drive", args=[found.pk]),
        "socket": f"/ws/trajectories/{found.pk}/",
        "age": (timezone.now() - newest).total_seconds() if newest else None,
        "neighbours": {"previous": _address(found.before()), "next": _address(found.after())},
    }


def _brief(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ROW_PARTS}


def _address(other: Trajectory | None) -> str | None:
    return reverse("trajectory", args=[other.pk]) if other else None
