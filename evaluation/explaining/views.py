"""The page that has a language model explain the failures of a study."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.models import Job
from evaluation.explaining.forms import ExplainingForm
from evaluation.models import Study


@require_http_methods(["GET", "POST"])
def study_explaining(request: HttpRequest, pk: int) -> HttpResponse:
    """What explanations would take; POST starts them."""
    study = get_object_or_404(rules.visible(request.user, Study.objects.select_related("project")), pk=pk)
    rules.require(request.user, Job.Kind.EXPLAIN, study.project)
    form = ExplainingForm(study, request.POST or request.GET)
    if request.method == "POST" and (job := form.start(signed_in(request))):
        return redirect("job", job.pk)
    context = {"study": study, "form": form, "forecast": form.forecast()}
    return render(request, "evaluation/explaining.html", context)
