"""Give a replay to others: as one HTML file, or by a signed link that runs out."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents.models import Trajectory
from agents.replay.file import POLICY, ReplayFile
from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.trail.events import record
from annotations.models import AccessAction

DAYS = (1, 7, 30)  # that a link may hold
TEST_GOLD = "The gold of a test split is shown to nobody without an account: give people an account, or the file."
_DAY = 86_400
_SALT = "agents.replay.file_views.link"
# Seconds for which a file that a link shows is kept, where it has at most so many bytes: long enough against those who
# ask again and again, short enough for a verdict, a correction and a redaction to be seen.
_KEPT = 10
_SMALL = 4_000_000


@require_safe
def trajectory_file(request: HttpRequest, pk: int) -> HttpResponse:
    """The replay as a download: one HTML file that opens offline."""
    found = _exportable(request, pk)
    response = HttpResponse(ReplayFile(found).made(), content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = f"sandbox allow-scripts; {POLICY}"
    name = f"replay-{found.pk}-{found.conversation.source_id}.html"
    return attachment(response, name, found.run.dataset.project)


@never_cache
def trajectory_share(request: HttpRequest, pk: int) -> HttpResponse:
    """The page that offers the file and, by POST, makes a link for whoever has no account."""
    found = _exportable(request, pk)
    open_to_all = rules.sees_gold(AnonymousUser(), found.run.dataset.project, found.conversation.split)
    context = {"trajectory": found, "run": found.run, "days": DAYS, "refusal": "" if open_to_all else TEST_GOLD}
    if request.method == "POST":
        days = next((one for one in DAYS if str(one) == request.POST.get("days")), None)
        if days is None or not open_to_all:
            context["error"] = TEST_GOLD if days else "Choose for how long: 1, 7 or 30 days."
            return render(request, "agents/replay_share.html", context, status=400)
        signed = _sign(request, found, days)
        what = f"made a link to a replay for {days} {'day' if days == 1 else 'days'}"
        record(
            AccessAction.EXPORT, what, about=reverse("trajectory", args=[found.pk]), project=found.run.dataset.project
        )
        context["link"] = settings.APP_ORIGIN + reverse("shared-replay", args=[signed])
        context["until"] = timezone.now() + timedelta(days=days)
    return render(request, "agents/replay_share.html", context)


@login_not_required
@never_cache
@require_safe
def shared_replay(request: HttpRequest, signed: str) -> HttpResponse:
    """What a link shows. It ends after its days, and at once when any permission of who made it changes, or the
    conversation comes to a test split."""
    try:
        content = TimestampSigner(salt=_SALT).unsign_object(signed, max_age=max(DAYS) * _DAY)
        TimestampSigner(salt=_SALT).unsign_object(signed, max_age=content["days"] * _DAY)
        if not rules.holds(*content["for"]):
            raise SignatureExpired("the permissions have changed")
    except SignatureExpired:
        return render(request, "agents/replay_link_over.html", status=410)
    except BadSignature as error:
        raise Http404 from error
    found = get_object_or_404(Trajectory.objects.with_place(), pk=content["trajectory"])
    if not rules.sees_gold(AnonymousUser(), found.run.dataset.project, found.conversation.split):
        return render(request, "agents/replay_link_over.html", status=410)
    key = f"shared-replay-{found.pk}-{found.steps.count()}"
    file = cache.get(key)
    if file is None:
        file = ReplayFile(found).made()
        if len(file) <= _SMALL:
            cache.set(key, file, _KEPT)
    response = HttpResponse(file, content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = f"sandbox allow-scripts; {POLICY}; frame-ancestors 'none'"
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response


def _exportable(request: HttpRequest, pk: int) -> Trajectory:
    found = get_object_or_404(rules.visible(request.user, Trajectory.objects.with_place()), pk=pk)
    project = found.run.dataset.project
    rules.require(request.user, "export", project)
    rules.require_gold(request.user, project, found.conversation.split)
    return found


def _sign(request: HttpRequest, found: Trajectory, days: int) -> str:
    content = {"trajectory": found.pk, "days": days, "for": [request.user.pk, rules.rights_of(request).epoch]}
    return TimestampSigner(salt=_SALT).sign_object(content, compress=True)
