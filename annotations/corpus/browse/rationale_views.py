"""The form on a step's page that explains why its action fits."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.corpus import rationales
from annotations.models import Step


@require_POST
def explain_step(request: HttpRequest, pk: int) -> HttpResponse:
    """A person's rationale, written or corrected; the ones before it are kept."""
    steps = Step.objects.select_related("turn__conversation__dataset__project").defer("candidates", "extra")
    step = get_object_or_404(rules.visible(request.user, steps), pk=pk)
    try:
        rationales.explain(signed_in(request), step, request.POST.get("text", ""))
        messages.success(request, "Saved. Agents get your version from now on.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("step", pk)
