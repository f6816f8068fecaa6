"""Comments as JSON beside the work, and the inbox of those who were mentioned."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotations.access import rules
from annotations.access.json_input import BadJson, read_object
from annotations.access.people import signed_in
from annotations.desk.discuss import comments, mail
from annotations.desk.write.document import readable
from annotations.desk.write.document_views import for_the_workbench
from annotations.models import Comment, Defect, Mention, Session
from annotations.paging import page_of
from annotations.text.amounts import whole

MAX_LISTED = 500
RELATED = ("author", "resolved_by", "step", "session__campaign__project", "assignment__item", "parent", "defect")
CHANGES = ("resolve", "reopen", "delete", "restore", "seen")


@for_the_workbench
@require_http_methods(["GET", "POST"])
def of_session(request: HttpRequest, pk: int) -> JsonResponse:
    """The comments of a session that this user may read; POST adds one. `assignment` narrows to one annotation."""
    session = _session(request, pk)
    if request.method == "POST":
        made = _say(request, session)
        return JsonResponse({"comment": made.pk} | _listed(request, session))
    return JsonResponse(_listed(request, session))


@for_the_workbench
@require_POST
def change(request: HttpRequest, pk: int, what: str) -> JsonResponse:
    """Resolve or reopen a thread, delete a comment or take it out of the bin, or note that it was seen."""
    if what not in CHANGES:
        raise Http404
    found = get_object_or_404(comments.visible(signed_in(request)).select_related(*RELATED), pk=pk)
    if what == "seen":
        Mention.objects.unread_by(signed_in(request)).filter(comment=found).see()
        return JsonResponse(_listed(request, found.session))
    _require_speech(request, found.session)
    if what in ("delete", "restore") and not found.may_be_deleted_by(signed_in(request)):
        raise PermissionDenied("Comments are deleted and restored by their author or an admin.")
    if what == "resolve":
        comments.resolve(found, signed_in(request))
    else:
        {"reopen": found.reopen, "delete": found.put_into_bin, "restore": found.take_out_of_bin}[what]()
    return JsonResponse(_listed(request, found.session))


@never_cache
def inbox(request: HttpRequest) -> HttpResponse:
    """What names the user, unread first."""
    page = page_of(request, mail.rows_for(signed_in(request)))
    mails = mail.opened(signed_in(request), list(page))
    context = {"page": page, "mails": mails, "unread": mail.count_unread(signed_in(request))}
    return render(request, "annotate/inbox.html", context)


@require_POST
def seen(request: HttpRequest) -> HttpResponse:
    """Mark one remark, named by its kind ({comment: key} or {review: key}), or all as read. Pages that show a remark
    send it as JSON."""
    is_json = request.content_type == "application/json"
    try:
        sent = read_object(request) if is_json else request.POST
    except BadJson as error:
        return JsonResponse({"error": str(error)}, status=400)
    chosen = {kind: whole(str(named)) or 0 for kind in mail.SOURCES if (named := sent.get(kind, ""))}
    mail.mark_read(signed_in(request), chosen)
    return JsonResponse({}) if is_json else redirect("annotate-inbox")


def _session(request: HttpRequest, pk: int) -> Session:
    rows = Session.objects.live().filter(campaign__deleted_at=None).select_related("campaign__project")
    session = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    if not rules.sees_gold(request.user, session.campaign.project, session.split):
        raise PermissionDenied("It is of a test split, whose gold actions you may not see.")
    return session


def _require_speech(request: HttpRequest, session: Session) -> None:
    if not session.campaign.project.lets_speak(signed_in(request)):
        raise PermissionDenied(f"Readers of {session.campaign.project} do not comment in it.")


def _say(request: HttpRequest, session: Session) -> Comment:
    _require_speech(request, session)
    body = read_object(request)
    assignment = _one(readable(request.user).filter(item__session=session), body.get("assignment"))
    parent = _one(comments.visible(signed_in(request)).filter(session=session), body.get("parent"))
    step = _one(session.steps(), body.get("step"))
    node_id = str(body.get("node") or "")
    if len(node_id) > 64:
        raise BadJson("This is no element's id.")
    return comments.say(
        session,
        signed_in(request),
        str(body.get("text") or ""),
        assignment=assignment,
        parent=parent,
        step=step,
        is_about_turn=body.get("turn") is True,
        node_id=node_id,
        defect=_one(Defect.objects.filter(verdict__assignment__item__session=session), body.get("defect")),
    )


def _one(rows: QuerySet, pk: Any) -> Any:
    """The row that a request names; None when it names none."""
    if pk is None:
        return None
    if isinstance(pk, bool) or not isinstance(pk, int) or not 0 < pk < 2**63:
        raise BadJson("A row is named by its number.")
    return get_object_or_404(rows, pk=pk)


def _listed(request: HttpRequest, session: Session) -> dict[str, Any]:
    """The comments as JSON, and whom one can mention."""
    user = signed_in(request)
    rows = comments.visible(user).filter(session=session).select_related(*RELATED)
    wanted = whole(request.GET.get("assignment", ""))
    if wanted is not None:
        rows = rows.filter(Q(assignment=None) | Q(assignment=wanted) | Q(defect__verdict__assignment=wanted))
    found = list(rows.order_by("-pk")[:MAX_LISTED])[::-1]
    manages = rules.can(user, "manage", session.campaign.project)
    speaks = session.campaign.project.lets_speak(user)
    places = {pk: place for place, pk in enumerate(session.steps().values_list("pk", flat=True), 1)}
    mine = [row for row in found if not row.deleted_at or manages or row.author_id == user.pk]
    members = session.campaign.project.memberships.filter(user__is_active=True).order_by("user__username")
    pages: dict[tuple, str] = {}
    return {
        "comments": [
            _row(row, places, comments.place_url(row, user, pages))
            | {"may_change": speaks, "may_delete": manages or row.author_id == user.pk}
            for row in mine
        ],
        "people": list(members.values_list("user__username", flat=True)),
        "may_speak": speaks,
    }


def _row(row: Comment, places: dict[int, int], url: str) -> dict[str, Any]:
    return {
        "id": row.pk,
        "parent": row.parent_id,
        "author": row.author.get_username(),
        "text": row.text,
        "at": row.created_at.isoformat(timespec="seconds"),
        "step": row.step_id,
        "turn": row.is_about_turn,
        "node": row.node_id,
        "defect": row.defect_id,
        "code": row.defect.code if row.defect else "",
        "place": row.place_name(places),
        "resolved": row.resolved_by.get_username() if row.resolved_by else bool(row.resolved_at),
        "deleted": row.deleted_at is not None,
        "url": url,
        "change": reverse("annotate-comment-change", args=[row.pk, "seen"]).removesuffix("seen/"),
    }
