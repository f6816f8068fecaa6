"""Serve rendered pages away from the app: on a second origin, or without scripts where there is only one.

Recorded pages are hostile. On the snapshot host (`SNAPSHOT_ORIGIN`) there are no sessions, no cookies and nothing
but `/s/<signed>`; the policy of each response puts the page into an opaque origin, lets it fetch nothing and runs
only our own script. Where there is no second origin, `/snapshots/<signed>` serves the page with scripts off altogether
and the marks written into it. Addresses are signed, made only for users who may see the page, and run out: after ten
minutes, and at once when any permission of theirs changes (`rules.Rights.epoch`).
"""

import gzip
import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner, b62_encode
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, path, resolve, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from annotations.access import rules
from annotations.dom.limits import PageError
from annotations.dom.marks import CHIP, KINDS, LOOKS, REGION_LOOK, Mark, anchor_id
from annotations.dom.render import CONTENT_TYPE, render_page
from annotations.models import Snapshot
from annotations.sandbox import page_questions
from annotations.sandbox.processes import PagesBusy, PageTooHeavy

LIFETIME = 600  # seconds that an address is valid
BUCKET = 300  # seconds during which the same page gets the same address, so that browsers cache it
_HOST_SALT = "annotations.pages.snapshot_host.second_origin"
_FALLBACK_SALT = "annotations.pages.snapshot_host.fallback"  # an address of one kind is never valid as the other

_COMMON_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; "
    "form-action 'none'; base-uri 'none'; frame-src 'none'; object-src 'none'; "
)
_OFF = (
    "accelerometer autoplay camera clipboard-read clipboard-write display-capture encrypted-media fullscreen gamepad "
    "geolocation gyroscope hid idle-detection keyboard-map magnetometer microphone midi payment picture-in-picture "
    "publickey-credentials-get screen-wake-lock serial storage-access sync-xhr usb window-management "
    "xr-spatial-tracking"
)
_PERMISSIONS = ", ".join(f"{feature}=()" for feature in _OFF.split())


@dataclass(frozen=True)
class SnapshotView:
    """How to show a page: the address and the sandbox of its frame. Without scripts the marks are in the page
    itself."""

    url: str
    sandbox: str
    scripted: bool
    marks: tuple[dict[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The view as JSON, for `json_script` and for `SnapshotFrame.show(url, view)` in the browser."""
        return asdict(self)


class SnapshotHostMiddleware:
    """Answers requests for the snapshot host by itself; nothing below it (sessions, CSRF, auth) ever sees them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not second_origin() or _host_name(f"//{request.get_host()}") != _host_name(settings.SNAPSHOT_ORIGIN):
            return self.get_response(request)
        return _answer(request)


def second_origin() -> str:
    """The origin of rendered pages; "" when there is none, or when it shares cookies with the app (same host name)."""
    origin = settings.SNAPSHOT_ORIGIN
    return origin if origin and _host_name(origin) != _host_name(settings.APP_ORIGIN) else ""


def snapshot_url(request: HttpRequest, snapshot: Snapshot, marks: Sequence[Mark] | None = None) -> SnapshotView:
    """A signed address of the rendered page for this user. Raises Http404 when they may not see the page.

    Marks of gold elements are the caller's decision (`rules.sees_gold`).
    """
    if not can_see(request.user, snapshot):
        raise Http404("no such page")
    return page_address(request, snapshot, marks)


def page_address(request: HttpRequest, snapshot: Snapshot, marks: Sequence[Mark] | None = None) -> SnapshotView:
    """`snapshot_url` without its check, for callers that have found the page through a row that the user may see."""
    marks = list(marks or ())
    messages = tuple(mark.message() for mark in marks)
    if second_origin() and request.get_host() == urlsplit(settings.APP_ORIGIN).netloc:
        signed = _sign(_HOST_SALT, request, snapshot, [])
        address = reverse("snapshot", args=[signed], urlconf=settings.SNAPSHOT_URLCONF)
        return SnapshotView(f"{second_origin()}{address}", "allow-scripts", True, messages)
    return SnapshotView(still_address(request, snapshot, marks), "", False, messages)


def still_address(request: HttpRequest, snapshot: Snapshot, marks: Sequence[Mark]) -> str:
    """The address of the page without any scripts: marks are written into it, and it opens at the first of them. For
    small pictures, and for all pages where there is no second origin."""
    address = reverse("snapshot-page", args=[_sign(_FALLBACK_SALT, request, snapshot, marks)])
    first = min(marks, key=lambda mark: KINDS.index(mark.kind), default=None)
    return address + (f"#{quote(anchor_id(first.node_id))}" if first else "")


def can_see(user: rules.User, snapshot: Snapshot) -> bool:
    """Whether a step shows the page to the user; pages themselves are shared between projects."""
    return rules.visible(user, Snapshot.objects.filter(pk=snapshot.pk)).exists()


class _BucketSigner(TimestampSigner):
    """Signs with the time rounded down, so that an address stays the same for a while."""

    def timestamp(self) -> str:
        return b62_encode(int(time.time()) // BUCKET * BUCKET)


def _sign(salt: str, request: HttpRequest, snapshot: Snapshot, marks: Sequence[Mark]) -> str:
    content = {
        "snapshot": snapshot.sha256,
        "marks": [[mark.node_id, mark.kind, mark.label] for mark in marks],
        "for": [request.user.pk, rules.rights_of(request).epoch],
    }
    return _BucketSigner(salt=salt).sign_object(content, compress=True)


def _read(salt: str, signed: str) -> tuple[str, list[Mark]]:
    """The page's SHA-256 and the marks of a signed address. Raises BadSignature, or SignatureExpired after LIFETIME
    seconds and when the permissions of its user have changed."""
    content = _BucketSigner(salt=salt).unsign_object(signed, max_age=LIFETIME)
    if not rules.holds(*content["for"]):
        raise SignatureExpired("the permissions have changed")
    return content["snapshot"], [Mark(*values) for values in content["marks"]]


@require_safe
def snapshot_page(request: HttpRequest, signed: str) -> HttpResponse:
    """A rendered page on the second origin, with our script in it."""
    nonce = secrets.token_urlsafe(16)
    csp = f"sandbox allow-scripts; {_COMMON_POLICY}script-src 'nonce-{nonce}'; frame-ancestors {settings.APP_ORIGIN}"
    try:
        sha256, _ = _read(_HOST_SALT, signed)
    except SignatureExpired:
        return _protect(_notice("The address of this page has run out.", _script(expired=True), nonce), csp)
    except BadSignature as error:
        raise Http404("no such page") from error
    return _protect(_page(request, sha256, script=_script(expired=False), nonce=nonce), csp)


@require_safe
def fallback_page(request: HttpRequest, signed: str) -> HttpResponse:
    """A rendered page on the app's own origin: no scripts at all, the marks written into it."""
    csp = f"sandbox; {_COMMON_POLICY}script-src 'none'; frame-ancestors 'self'"
    try:
        sha256, marks = _read(_FALLBACK_SALT, signed)
    except SignatureExpired:
        return _protect(_notice("The address of this page has run out; load the page around it again."), csp)
    except BadSignature as error:
        raise Http404("no such page") from error
    response = _protect(_page(request, sha256, marks=marks), csp)
    response["X-Frame-Options"] = "SAMEORIGIN"  # or the middleware forbids the frame
    return response


def _page(request: HttpRequest, sha256: str, **options: Any) -> HttpResponse:
    snapshot = Snapshot.objects.with_content().filter(sha256=sha256).first()
    if snapshot is None:
        raise Http404("no such page")
    script = {name: options[name] for name in ("script", "nonce") if name in options}
    try:
        document = page_questions.rendered(snapshot.html, **options)
    except (PageTooHeavy, PagesBusy) as error:
        return _notice(f"This page could not be shown: {error}.", **script, status=503)
    except PageError:
        return _notice("This page was not recorded as well-formed XML and cannot be rendered.", status=422)
    response = HttpResponse(document, content_type=CONTENT_TYPE)
    response["Cache-Control"] = f"private, max-age={LIFETIME}, immutable"
    response["Vary"] = "Accept-Encoding"
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response["Content-Encoding"] = "gzip"
    else:
        response.content = gzip.decompress(document)
    return response


def _protect(response: HttpResponse, csp: str) -> HttpResponse:
    """The headers that keep a hostile page harmless, also when it is opened outside its frame."""
    response["Content-Security-Policy"] = csp
    response["X-Content-Type-Options"] = "nosniff"
    response["Referrer-Policy"] = "no-referrer"
    # Frames of another origin may load it only when the embedder demands isolation; the address is the secret.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Origin-Agent-Cluster"] = "?1"
    response["Permissions-Policy"] = _PERMISSIONS
    response["X-Robots-Tag"] = "noindex"
    return response


def _notice(text: str, script: str = "", nonce: str = "", status: int = 410) -> HttpResponse:
    """A page of ours that stands in for a recorded one and says why; its script tells the page around the frame."""
    page = format_html("<html><body><p><text>{}</text></p></body></html>", text)
    document = render_page(page, script=script, nonce=nonce)
    return HttpResponse(document, content_type=CONTENT_TYPE, status=status, headers={"Cache-Control": "no-store"})


def _script(*, expired: bool) -> str:
    values = {
        "app": settings.APP_ORIGIN,
        "looks": {kind: asdict(look) for kind, look in LOOKS.items()},
        "chip": CHIP,
        "region": asdict(REGION_LOOK),
        "expired": expired,
    }
    return f"const settings = {json.dumps(values)};\n{_bootstrap()}"


@cache
def _bootstrap() -> str:
    return Path(__file__).with_name("snapshot_bootstrap.js").read_text("utf-8")


def _answer(request: HttpRequest) -> HttpResponse:
    """Answer any request to the snapshot host: it has no middleware, only its own addresses."""
    request.urlconf = settings.SNAPSHOT_URLCONF
    try:
        match = resolve(request.path_info, settings.SNAPSHOT_URLCONF)
        return match.func(request, *match.args, **match.kwargs)
    except (Http404, Resolver404):
        text = f"Only recorded pages are here. The app is at {settings.APP_ORIGIN}\n"
        response = HttpResponse(text, content_type="text/plain; charset=utf-8", status=404)
        return _protect(response, f"sandbox; default-src 'none'; frame-ancestors {settings.APP_ORIGIN}")


def _host_name(origin: str) -> str:
    return (urlsplit(origin).hostname or "").lower()


# On the app's host: for where there is no second origin.
urlpatterns = [path("snapshots/<str:signed>", fallback_page, name="snapshot-page")]
