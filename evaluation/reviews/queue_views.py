"""Pages of review queues: the list, what to judge next, what the verdicts say."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from agents.models import TrajectoryStep
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.paging import page_of
from annotations.text.amounts import whole
from evaluation.models import ReviewChoice, ReviewQueue
from evaluation.reviews.deciding import next_asked, progress_for, queues_for, require_may_open, studies_to_ask_of
from evaluation.reviews.estimating import WIDTH, estimate, run_rates
from evaluation.reviews.forms import ReviewQueueForm


@require_http_methods(["GET", "POST"])
def review_queues(request: HttpRequest) -> HttpResponse:
    """The queues that the user may see; POST makes a new one of a study."""
    user, studies = signed_in(request), studies_to_ask_of(signed_in(request))
    form = ReviewQueueForm(request.POST or None, studies, _asked_of(request))
    if form.is_bound and "study" in form.errors:
        raise Http404("There is no such study.")
    if form.is_bound and (queue := form.ask(user)):
        return redirect("review-queue", queue.pk)
    rows = queues_for(user).with_size().select_related("study").order_by("-pk")
    seen = _seen(request, form)
    context = {"page": page_of(request, rows), "form": form, "may_ask": studies.exists(), "seen": seen}
    return render(request, "evaluation/review_queues.html", context)


def _asked_of(request: HttpRequest) -> dict[str, int | str | None]:
    """What the form begins with: a study that the address names, or a failure and the newest study that it is of."""
    failure = whole(request.GET.get("failure", ""))
    if failure is None:
        return {"study": whole(request.GET.get("study", ""))}
    newest = studies_to_ask_of(signed_in(request)).filter(runs__steps=failure).first()
    if newest is None:
        raise Http404("There is no such step in a study of which you may ask for reviews.")
    return {"study": newest.pk, "failure": failure, "choice": ReviewChoice.NEAREST}


def _seen(request: HttpRequest, form: ReviewQueueForm) -> TrajectoryStep | None:
    """The failure that the form names, where the user may see it."""
    named = whole(str(form["failure"].value() or ""))
    rows = TrajectoryStep.objects.select_related("trajectory__conversation").defer("trace")
    return rules.visible(request.user, rows).filter(pk=named).first() if named else None


@require_GET
def review_queue(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a queue, and what its verdicts say."""
    queue = _found(request, pk)
    found = estimate(queue)
    context = {
        "queue": queue,
        **progress_for(signed_in(request), queue)._asdict(),
        "may": rules.can(request.user, "review", queue.project),
        "found": found,
        "questions": queue.tasks.of_questions().select_related("trajectory__conversation").order_by("place"),
        "known": found.calibration,
        "rates": run_rates(found.calibration, queue),
        "width": round(WIDTH * 100),
    }
    return render(request, "evaluation/review_queue.html", context)


@require_GET
def review_queue_next(request: HttpRequest, pk: int) -> HttpResponse:
    """What this person is asked to judge next, in its replay; the queue's page where nothing is left."""
    queue = _found(request, pk)
    task = next_asked(signed_in(request), queue)
    if task is None:
        messages.success(request, "You have judged all that this queue asks of you.")
        return redirect("review-queue", queue.pk)
    if task.step is None:
        return redirect(f"{reverse('trajectory', args=[task.trajectory_id])}?queue={queue.pk}&whole=1")
    return redirect(f"{reverse('trajectory-step', args=[task.trajectory_id, task.step.seq])}?queue={queue.pk}")


def _found(request: HttpRequest, pk: int) -> ReviewQueue:
    rows = ReviewQueue.objects.select_related("study", "project", "failure__trajectory__conversation")
    queue = get_object_or_404(rules.visible(request.user, rows.defer("failure__trace")), pk=pk)
    require_may_open(signed_in(request), queue)
    return queue
