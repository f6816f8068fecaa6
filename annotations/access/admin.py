"""Admin of people: accounts, tokens, projects, memberships and one-time links."""

from typing import Any

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from knox.models import AuthToken

from annotations.access.people import signed_in
from annotations.access.sign_in.views import invite_url
from annotations.admin_base import LeanAdmin, MadeElsewhere, SuperuserOnly, count_of
from annotations.models import (
    AccessEvent,
    Dataset,
    IdempotencyKey,
    Invite,
    Membership,
    Project,
    SharedSecret,
    TokenGrant,
    TryCount,
)

RESET_DAYS = 2


def show_links(request: HttpRequest, title: str, links: list[tuple[str, str]]) -> HttpResponse:
    """Show new one-time links in this answer and nowhere else. `links`: (what the link is for, its secret)."""
    rows = [(purpose, invite_url(secret)) for purpose, secret in links]
    context = admin.site.each_context(request) | {"title": title, "links": rows, "opts": Invite._meta}
    return TemplateResponse(
        request, "admin/annotations/invite/links.html", context, headers={"Cache-Control": "no-store"}
    )


admin.site.unregister([User, Group, AuthToken])
# Of django-allauth's tables people look up second factors alone; a provider comes from the settings, never from a row.
admin.site.unregister([model for model in admin.site._registry if model.__module__.startswith("allauth.")])


@admin.register(User)
class AccountAdmin(SuperuserOnly, UserAdmin):
    """Django's admin of accounts, with an action that makes links to set a new password: there is no mail server."""

    actions = ["make_reset_links"]
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "last_login"]
    date_hierarchy = "date_joined"

    @admin.action(description="Make a password reset link")
    def make_reset_links(self, request: HttpRequest, users: QuerySet[User]) -> HttpResponse:
        made = [Invite.objects.issue(created_by=signed_in(request), user=user, days=RESET_DAYS) for user in users]
        for invite, _ in made:
            self.log_change(request, invite.user, "Made a password reset link.")
        return show_links(request, "Password reset links", [(str(invite), secret) for invite, secret in made])


@admin.register(Group)
class SuperuserGroupAdmin(SuperuserOnly, GroupAdmin):
    """Groups in the admin, for superusers only: they carry permissions."""


class LookedUp(SuperuserOnly):
    """Admin of rows that are made elsewhere and may at most be deleted here; for superusers only."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AuthToken)
class TokenAdmin(LookedUp):
    """API tokens: made by their owners, looked up and revoked here."""

    list_display = ["user", "token_key", "created", "expiry"]
    list_select_related = ["user"]
    list_filter = ["created", "expiry"]
    search_fields = ["user__username", "token_key"]
    date_hierarchy = "created"
    fields = ["user", "token_key", "created", "expiry"]


@admin.register(Authenticator)
class FactorAdmin(LookedUp):
    """Second factors, without their secrets: deleting one lets its owner in who has lost it."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_select_related = ["user"]
    list_filter = ["type"]
    search_fields = ["user__username"]
    date_hierarchy = "created_at"
    fields = ["user", "type", "created_at", "last_used_at"]


@admin.register(TokenGrant)
class TokenGrantAdmin(LookedUp):
    list_display = ["__str__", "scopes", "last_used_at", "last_used_from"]
    list_select_related = ["token"]
    search_fields = ["name", "token__user__username", "token__token_key"]
    fields = ["name", "scopes", "last_used_at", "last_used_from"]


@admin.register(AccessEvent)
class AccessEventAdmin(LookedUp):
    """The trail of access: looked up, never changed."""

    list_display = ["at", "actor_name", "action", "what", "subject", "project_name", "address", "ok"]
    list_filter = ["action", "ok", "door"]
    search_fields = ["actor_name", "subject", "what", "address"]
    date_hierarchy = "at"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(TryCount)
class TryCountAdmin(LookedUp):
    """Wrong tries counted while Redis was away; deleting a row ends the wait that it causes."""

    list_display = ["key", "tries"]
    search_fields = ["key"]


class MembershipInline(admin.TabularInline):
    model = Membership
    autocomplete_fields = ["user"]
    extra = 0


@admin.register(Project)
class ProjectAdmin(LeanAdmin):
    list_display = ["name", "slug", "members", "datasets", "created_at"]
    search_fields = ["name", "slug"]
    date_hierarchy = "created_at"
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                member_count=count_of(Membership.objects.all(), "project"),
                dataset_count=count_of(Dataset.objects.all(), "project"),
            )
        )

    @admin.display(ordering="member_count")
    def members(self, project: Project) -> int:
        return project.member_count

    @admin.display(ordering="dataset_count")
    def datasets(self, project: Project) -> int:
        return project.dataset_count


@admin.register(Membership)
class MembershipAdmin(LeanAdmin, SuperuserOnly):
    list_display = ["user", "project", "role", "sees_test_gold"]
    list_select_related = ["user", "project"]
    list_filter = ["role", "sees_test_gold", "project"]
    search_fields = ["user__username", "project__name"]
    autocomplete_fields = ["user", "project"]


class InviteForm(forms.ModelForm):
    days = forms.IntegerField(min_value=1, max_value=90, initial=7, label="Valid for days")

    class Meta:
        model = Invite
        fields = ["user", "project", "role", "sees_test_gold", "email"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        invites = bool(values.get("project")) and bool(values.get("role"))
        if bool(values.get("user")) == invites:
            raise forms.ValidationError("Give a user for a password reset, or a project and a role for an invitation.")
        return values


@admin.register(Invite)
class InviteAdmin(SuperuserOnly):
    """Invitations: adding one makes a one-time link and shows it once; deleting one withdraws it."""

    form = InviteForm
    list_display = ["__str__", "project", "created_by", "created_at", "expires_at", "used_at"]
    list_select_related = ["user", "project", "created_by"]
    list_filter = ["role", "project", ("used_at", admin.EmptyFieldListFilter)]
    search_fields = ["user__username", "project__name", "created_by__username"]
    autocomplete_fields = ["user", "project"]
    date_hierarchy = "created_at"

    def has_change_permission(self, request: HttpRequest, obj: Invite | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Invite | None = None) -> list[Any]:
        shown = ["user", "project", "role", "sees_test_gold", "email"]
        return [*shown, "created_by", "created_at", "expires_at", "used_at"] if obj else [*shown, "days"]

    def save_model(self, request: HttpRequest, obj: Invite, form: InviteForm, change: bool) -> None:
        made, secret = Invite.objects.issue(created_by=signed_in(request), **form.cleaned_data)
        obj.pk = made.pk
        obj.refresh_from_db()
        vars(request)["invite_secret"] = secret

    def response_add(self, request: HttpRequest, obj: Invite, post_url_continue: str | None = None) -> HttpResponse:
        return show_links(request, "One-time link", [(str(obj), vars(request)["invite_secret"])])


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(LookedUp):
    """Answers kept for repeated requests; deleting one lets the same key start work again."""

    list_display = ["key", "user", "status", "created_at"]
    list_select_related = ["user"]
    list_filter = ["status"]
    search_fields = ["key", "user__username"]
    date_hierarchy = "created_at"


@admin.register(SharedSecret)
class SharedSecretAdmin(MadeElsewhere):
    list_display = ["hostname", "told_at"]
    exclude = ["fingerprint"]
    search_fields = ["hostname"]
