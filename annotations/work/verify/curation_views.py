"""The page on which a person makes one of two versions of an item: what both say, and each difference to be decided."""

from itertools import zip_longest
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.access.people import signed_in
from annotations.campaigns.queue import waiting
from annotations.desk.write import opening
from annotations.models import Assignment, Curation, NotReady, Unsure, VerdictRefused
from annotations.text.amounts import whole
from annotations.work.verify.curating import Curating
from annotations.work.verify.curation_page import StretchesOfPage


@never_cache
@require_http_methods(["GET", "POST"])
def curate(request: HttpRequest, pk: int, other: int) -> HttpResponse:
    """Both versions of one item; POST does one thing: {do: take, step, take} of a difference ({take: own} with part,
    instruction and rewrite of each part), {do: undo}, {do: finish}."""
    pair = opening.two_versions(request.user, pk, other)
    if request.method == "POST":
        return _act(request, pair)
    curation = Curation.objects.of(signed_in(request), *pair)
    context = StretchesOfPage(curation).context() | {"sure": request.GET.get("sure") == "yes"}
    return render(request, "annotate/curate.html", context)


def _act(request: HttpRequest, pair: tuple[Assignment, Assignment]) -> HttpResponse:
    user, what = signed_in(request), request.POST.get("do", "")
    place = step = whole(request.POST.get("step", "")) or 0
    try:
        curating = Curating(Curation.objects.begin(user, *pair), user)
        if seconds := whole(request.POST.get("seconds", "")):
            curating.spend(seconds)
        if what == "finish":
            taken = curating.finish(sure=request.POST.get("sure") == "yes")
            messages.success(request, f"{taken.item} is one version now, and has passed.")
            return redirect(_following(request))
        if what == "undo":
            place = curating.undo() or 0
        else:
            curating.decide(step, request.POST.get("take", ""), _own_parts(request))
            place = curating.next_after(step)
    except Unsure as error:
        messages.error(
            request, f"{' '.join(dict.fromkeys(error.problems))} Make it one once more to pass it all the same."
        )
        return redirect(f"{reverse('annotate-curate', args=[one.pk for one in pair])}?sure=yes")
    except (VerdictRefused, NotReady) as error:
        messages.error(request, str(error))
    return redirect(reverse("annotate-curate", args=[one.pk for one in pair]) + (f"#at-{place}" if place else ""))


def _own_parts(request: HttpRequest) -> list[dict[str, Any]]:
    names = ("part", "instruction", "rewrite")
    rows = zip_longest(*(request.POST.getlist(name) for name in names), fillvalue="")
    return [
        {"step": whole(step) or 0, "instruction": _lines(instruction), "rewrite": _lines(rewrite)}
        for step, instruction, rewrite in rows
    ]


def _lines(text: str) -> str:
    """A text of a form, whose lines end as browsers send them."""
    return text.replace("\r\n", "\n")


def _following(request: HttpRequest) -> str:
    """The next item of which this person can make one version, else the list."""
    item = waiting.with_versions(signed_in(request)).first()
    pair = item.versions()[:2] if item is not None else []
    return reverse("annotate-curate", args=[one.pk for one in pair]) if pair else reverse("annotate-disputes")
