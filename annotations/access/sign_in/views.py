"""Signing in and out, and one-time links: invitations and password resets."""

from typing import Any

from allauth.account.internal.flows.login import perform_login, perform_password_login
from allauth.account.models import Login
from allauth.socialaccount.adapter import get_adapter as get_social_adapter
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from annotations.access.people import signed_in
from annotations.access.sign_in.forms import AccountForm, ResetForm
from annotations.access.sign_in.identities import INVITE_KEY
from annotations.access.tokens.granting import revoke
from annotations.access.tries import throttle
from annotations.models import Invite


class SignIn(LoginView):
    """Signs in by name and password, by a passkey, or by the organisation's own sign-in; a second factor is asked for
    after it."""

    template_name = "annotations/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except throttle.TooManyTries as error:
            form = AuthenticationForm(initial={"username": request.POST.get("username", "")[:150]})
            response = self.render_to_response(self.get_context_data(form=form, wait=error.detail), status=429)
            response["Retry-After"] = str(error.seconds)
            return response

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        login = Login(user=user, redirect_url=self.get_success_url())
        return perform_password_login(self.request, {"username": user.get_username()}, login)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"providers": get_social_adapter().list_providers(self.request)}


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


def invite_url(secret: str) -> str:
    """The one-time link, at the site's own address: a request's Host header is what the client says."""
    return settings.APP_ORIGIN + reverse("invite", args=[secret])


@login_not_required
@never_cache
@sensitive_post_parameters()
def invite(request: HttpRequest, secret: str) -> HttpResponse:
    """A one-time link: make an account, set a new password, or join a project with the account one has."""
    trial = throttle.begin(request)
    found = Invite.objects.find(secret)
    if found is None:
        return render(request, "annotations/invite_over.html", status=410)
    trial.passed()
    request.session[INVITE_KEY] = found.digest  # for whoever goes on through the organisation
    joins = found.user is None and not found.makes_superuser and request.user.is_authenticated
    form = _invite_form(found, request.POST or None)
    if request.method == "POST" and (joins or form.is_valid()):
        with transaction.atomic():
            if not found.use():
                return render(request, "annotations/invite_over.html", status=410)
            user = signed_in(request) if joins else _account(found, form)
            found.admit(user)
        return redirect("home") if joins else perform_login(request, Login(user=user, redirect_url=reverse("home")))
    return render(
        request,
        "annotations/invite.html",
        {"invite": found, "form": form, "joins": joins, "providers": _providers(request, found)},
    )


def _providers(request: HttpRequest, found: Invite) -> list:
    """The organisation's sign-ins by which an invitation to a project can be accepted; none for the first
    administrator, nor to set a password."""
    return get_social_adapter().list_providers(request) if found.project and not found.user else []


def _invite_form(found: Invite, data: Any) -> AccountForm | ResetForm:
    return ResetForm(found.user, data) if found.user else AccountForm(data)


def _account(found: Invite, form: AccountForm | ResetForm) -> Any:
    """The account that the form makes or changes, stored; a reset also revokes the account's tokens, which may have
    leaked with the old password."""
    user = form.save(commit=False)
    if found.makes_superuser:
        user.is_staff = user.is_superuser = True
    user.save()
    if found.user:
        revoke(user)
    return user
