"""Webhooks of the projects that a user administers: addresses, what they are told, and what became of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.models import Delivery, Webhook
from annotations.models.work.remarks import WebhookQuerySet
from annotations.paging import page_of
from annotations.tell import webhooks as sending
from annotations.tell.events import EVENTS

MAX_URL = 500


@never_cache
def webhooks(request: HttpRequest) -> HttpResponse:
    return _page(request)


@never_cache
@require_POST
def add(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a webhook; its secret is shown in this answer and nowhere else."""
    project = get_object_or_404(rules.projects(request.user, "manage"), slug=slug)
    url, events = request.POST.get("url", "").strip(), request.POST.getlist("events")
    try:
        sending.check_url(url)
    except sending.NotAllowed as error:
        return _page(request, wrong=str(error), wrong_project=project, url=url)
    if len(url) > MAX_URL or set(events) - set(EVENTS):
        return _page(request, wrong="This address is too long, or an event is unknown.", wrong_project=project, url=url)
    hook = Webhook.objects.add(project, url, events, secret=sending.new_secret(), by=signed_in(request))
    return _page(request, fresh=hook)


@never_cache
@require_POST
def new_secret(request: HttpRequest, pk: int) -> HttpResponse:
    hook = _hook(request, pk)
    hook.renew_secret(sending.new_secret())
    return _page(request, fresh=hook)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop telling a webhook of events, or begin again; deliveries that wait are kept."""
    hook = _hook(request, pk)
    hook.switch()
    messages.success(request, f"{hook.url} is {'told again' if hook.is_active else 'not told any more'}.")
    return redirect("annotate-webhooks")


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    hook = _hook(request, pk)
    hook.remove()
    messages.success(request, f"{hook.url} is removed, with its log.")
    return redirect("annotate-webhooks")


@never_cache
def log(request: HttpRequest, pk: int) -> HttpResponse:
    """The deliveries of one webhook, newest first."""
    hook = _hook(request, pk)
    page = page_of(request, hook.deliveries.order_by("-id"))
    return render(request, "annotate/webhooks.html", {"hook": hook, "page": page})


@require_POST
def send_again(request: HttpRequest, pk: int) -> HttpResponse:
    rows = Delivery.objects.filter(webhook__project__in=rules.projects(request.user, "manage"))
    delivery = get_object_or_404(rows, pk=pk)
    delivery.send_again()
    messages.success(request, f"{delivery.event} is sent again within seconds.")
    return redirect("annotate-webhook", delivery.webhook_id)


def _hook(request: HttpRequest, pk: int) -> Webhook:
    return get_object_or_404(_hooks(request), pk=pk)


def _hooks(request: HttpRequest) -> WebhookQuerySet:
    rows = Webhook.objects.filter(project__in=rules.projects(request.user, "manage"))
    return rows.select_related("project", "created_by")


def _page(request: HttpRequest, **extra) -> HttpResponse:
    by_project: dict[int, list[Webhook]] = {}
    for hook in _hooks(request).with_counts().order_by("url", "id"):
        by_project.setdefault(hook.project_id, []).append(hook)
    projects = list(rules.projects(request.user, "manage").order_by("name"))
    for project in projects:
        vars(project)["hooks"] = by_project.get(project.pk, [])
    status = 400 if "wrong" in extra else 200
    return render(request, "annotate/webhooks.html", {"projects": projects, "events": EVENTS} | extra, status=status)
