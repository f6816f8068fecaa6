"""Members of the projects that a user administers: roles, invitations, links to set a new password."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.access import leaving, rules
from annotations.access.people import signed_in
from annotations.access.sign_in.forms import InvitationForm
from annotations.access.sign_in.views import invite_url
from annotations.models import Invite, Membership, Role
from annotations.models.accounts.projects import accounts_of


def people(request: HttpRequest) -> HttpResponse:
    return _page(request)


@never_cache
@require_POST
def invite_person(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a one-time link for a new member, shown in this answer and nowhere else: only its digest is stored."""
    project = get_object_or_404(rules.projects(request.user, "manage"), slug=slug)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form, form_project=project)
    _, secret = Invite.objects.issue(created_by=signed_in(request), project=project, **form.cleaned_data)
    return _page(request, link=invite_url(secret), purpose=f"joins {project} as {form.cleaned_data['role']}")


@never_cache
@require_POST
def reset_link(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(request, pk)
    user = signed_in(request)
    if not (user.is_superuser or accounts_of(user).filter(pk=member.user_id).exists()):
        messages.error(request, f"Only an administrator of the whole site can reset the password of {member.user}.")
        return redirect("people")
    _, secret = Invite.objects.issue(created_by=signed_in(request), days=2, user=member.user)
    return _page(request, link=invite_url(secret), purpose=f"sets a new password for {member.user}")


@require_POST
def change_role(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(request, pk)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles.")
    elif form.cleaned_data["role"] != Role.ADMIN and member.is_last_admin():
        messages.error(request, f"{member.user} is the only admin of {member.project}: make another one first.")
    else:
        member.become(form.cleaned_data["role"], sees_test_gold=form.cleaned_data["sees_test_gold"])
        messages.success(request, f"{member.user} is now {form.cleaned_data['role']} of {member.project}.")
    return redirect("people")


@require_POST
def remove_member(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(request, pk)
    if member.is_last_admin():
        messages.error(request, f"{member.user} is the only admin of {member.project}: make another one first.")
        return redirect("people")
    freed = leaving.remove_member(member)
    work = f" {freed} item{'s' * (freed != 1)} went back to the queue." if freed else ""
    messages.success(request, f"{member.user} is no longer a member of {member.project}.{work} What they made stays.")
    return redirect("people")


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete an open invitation: its link no longer works."""
    invites = Invite.objects.open().filter(project__in=rules.projects(request.user, "manage"))
    get_object_or_404(invites, pk=pk).withdraw()
    messages.success(request, "The invitation is withdrawn: its link no longer works.")
    return redirect("people")


def _member(request: HttpRequest, pk: int) -> Membership:
    mine = Membership.objects.filter(project__in=rules.projects(request.user, "manage"))
    return get_object_or_404(mine.select_related("user", "project"), pk=pk)


def _page(request: HttpRequest, **extra) -> HttpResponse:
    members = Membership.objects.select_related("user").order_by("user__username")
    invites = Invite.objects.open().filter(user=None).select_related("created_by").order_by("-id")
    projects = (
        rules.projects(request.user, "manage")
        .order_by("name")
        .prefetch_related(
            Prefetch("memberships", queryset=members), Prefetch("invite_set", queryset=invites, to_attr="open_invites")
        )
    )
    outside = get_user_model().objects.filter(memberships=None).order_by("username")
    context = {
        "projects": projects,
        "roles": Role.choices,
        "form": InvitationForm(),
        "by_address": bool(settings.OIDC_APPS),
        "outside": outside if request.user.is_superuser else [],
    }
    return render(request, "annotations/people.html", context | extra)
