"""Pages of the judges of a study: their single verdicts beside people's, and the start of a judging."""

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.models import Job
from annotations.paging import page_of
from evaluation.judges import JUDGES
from evaluation.judges.filters import PEOPLE, SAID, JudgeVerdictFilter
from evaluation.judges.forms import JudgingForm
from evaluation.models import JudgeVerdict, Study
from evaluation.models.judges import JudgeVerdictQuerySet
from evaluation.reviews.forms import ListedQueueForm
from evaluation.scores.exporting import to_csv

COLUMNS = (
    *("verdict", "dataset", "run", "recipe", "split", "conversation", "trajectory", "judge", "model", "pack"),
    *(
        "says",
        "people",
        "side_effects",
        "directness",
        "repetition",
        "said",
        "error",
        "prompt_tokens",
        "completion_tokens",
        "cost",
        "seconds",
        "judged_at",
    ),
)
LONGEST_CSV = 100_000
DRAWN = "drawn"  # the order of what to review next


def told_verdicts(user: User) -> JudgeVerdictQuerySet:
    """The verdicts on trajectories as they are now whose gold the user may see, with what people say."""
    rows = rules.visible(user, JudgeVerdict.objects.fresh().with_people())
    return rules.gold_filter(user, rows, "trajectory__conversation__split", "trajectory__run__dataset__project")


@require_http_methods(["GET", "POST"])
def study_judges(request: HttpRequest, pk: int) -> HttpResponse:
    """What judges say of each trajectory of a study, and why, beside what people say; POST puts the first trajectories
    of the list, as it is filtered and ordered, into a queue of review."""
    study, rows = _study(request, pk), _rows(request, pk)
    chosen = JudgeVerdictFilter(request.GET, queryset=rows, request=request)
    if not chosen.is_valid():
        raise Http404
    runs = list(study.runs.order_by("pk"))
    form = ListedQueueForm(request.POST or None)
    listed = dict.fromkeys(_ordered(request, chosen).values_list("trajectory", flat=True)) if form.is_bound else {}
    if form.is_bound and (queue := form.ask_of(signed_in(request), study, listed)):
        return redirect("review-queue", queue.pk)
    names = rows.order_by("judge").values_list("judge", flat=True).distinct()
    unfinished = Job.objects.unfinished().filter(kind=Job.Kind.JUDGE, project=study.project)
    context = {
        "study": study,
        "page": page_of(request, _ordered(request, chosen)),
        "filter": chosen,
        "is_filtered": any(request.GET.get(name) for name in chosen.filters),
        "judges": [(name, JUDGES[name].label if name in JUDGES else name) for name in names],
        "says": [(key, words) for key, (words, _) in SAID.items()],
        "people": [(key, words) for key, (words, _) in PEOPLE.items()],
        "is_drawn": request.GET.get("order") == DRAWN,
        "runs": runs,
        "hidden": not all(rules.sees_gold(request.user, study.project, run.split) for run in runs),
        "queue_form": form,
        "may_ask": rules.can(request.user, "manage", study.project),
        "may_judge": rules.can(request.user, Job.Kind.JUDGE, study.project),
        "job": next((one for one in unfinished if {*one.params["runs"]} & {run.pk for run in runs}), None),
    }
    return render(request, "evaluation/judges.html", context)


@require_GET
def study_judges_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The verdicts of the list as a download."""
    study = _study(request, pk)
    chosen = JudgeVerdictFilter(request.GET, queryset=_rows(request, pk), request=request)
    if not chosen.is_valid():
        raise Http404
    text = to_csv(COLUMNS, (one.as_row() for one in _ordered(request, chosen)[:LONGEST_CSV]))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    return attachment(response, f"study-{study.pk}-verdicts.csv", study.project)


@require_http_methods(["GET", "POST"])
def study_judging(request: HttpRequest, pk: int) -> HttpResponse:
    """What a judging would take; POST starts it."""
    study = _study(request, pk)
    rules.require(request.user, Job.Kind.JUDGE, study.project)
    form = JudgingForm(study, request.POST or request.GET)
    if request.method == "POST" and (job := form.start(signed_in(request))):
        return redirect("job", job.pk)
    context = {"study": study, "form": form, "forecast": form.forecast()}
    return render(request, "evaluation/judging.html", context)


def _study(request: HttpRequest, pk: int) -> Study:
    return get_object_or_404(rules.visible(request.user, Study.objects.select_related("project")), pk=pk)


def _rows(request: HttpRequest, pk: int) -> JudgeVerdictQuerySet:
    rows = told_verdicts(signed_in(request)).filter(trajectory__run__studies=pk)
    return rows.select_related("trajectory__run__dataset", "trajectory__conversation")


def _ordered(request: HttpRequest, chosen: JudgeVerdictFilter) -> JudgeVerdictQuerySet:
    rows = chosen.qs
    assert isinstance(rows, JudgeVerdictQuerySet)
    return rows.drawn() if request.GET.get("order") == DRAWN else rows.order_by("trajectory", "judge", "pk")
