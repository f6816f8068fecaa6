"""Signing in and out, invitations and password resets, API tokens."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from knox.models import AuthToken
from knox.settings import knox_settings

from annotations.forms import AccountForm, ResetForm, TokenForm
from annotations.models import Invite, Membership
from annotations.permissions import LoginThrottle


class SignIn(LoginView):
    template_name = "annotations/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args, **kwargs) -> HttpResponse:
        if LoginThrottle().allow_request(request, self):
            return super().post(request, *args, **kwargs)
        form = AuthenticationForm(initial={"username": request.POST.get("username", "")[:150]})
        return self.render_to_response(self.get_context_data(form=form, throttled=True), status=429)


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


@login_not_required
@never_cache
@sensitive_post_parameters()
def invite(request: HttpRequest, secret: str) -> HttpResponse:
    """A one-time link: make an account, set a new password, or join a project with the account one has."""
    found = Invite.objects.find(secret)
    if found is None:
        return render(request, "annotations/invite_over.html", status=410)
    joins = found.user is None and not found.makes_superuser and request.user.is_authenticated
    form = _invite_form(found, request.POST or None)
    if request.method == "POST" and (joins or form.is_valid()):
        with transaction.atomic():
            if not found.use():
                return render(request, "annotations/invite_over.html", status=410)
            user = request.user if joins else _account(found, form)
            if found.project and found.user is None:
                fields = {"role": found.role, "sees_test_gold": found.sees_test_gold}
                Membership.objects.update_or_create(project=found.project, user=user, defaults=fields)
        if not joins:
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("home")
    return render(request, "annotations/invite.html", {"invite": found, "form": form, "joins": joins})


def _invite_form(found: Invite, data) -> AccountForm | ResetForm:
    return ResetForm(found.user, data) if found.user else AccountForm(data)


def _account(found: Invite, form):
    """The account that the form describes; a reset also revokes what may have leaked with the old password."""
    user = form.save(commit=False)
    if found.makes_superuser:
        user.is_staff = user.is_superuser = True
    user.save()
    if found.user:
        AuthToken.objects.filter(user=user).delete()
    return user


@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """One's API tokens. A new one is shown in the answer to its form and nowhere else: only its digest is stored."""
    form, secret = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        if _open_tokens(request.user).count() >= knox_settings.TOKEN_LIMIT_PER_USER:
            form.add_error(None, f"You have {knox_settings.TOKEN_LIMIT_PER_USER} tokens; revoke one first.")
        else:
            _, secret = AuthToken.objects.create(request.user, expiry=form.lifetime())
    context = {"form": form, "secret": secret, "tokens": _open_tokens(request.user)}
    return render(request, "annotations/tokens.html", context)


def _open_tokens(user):
    AuthToken.objects.filter(user=user, expiry__lt=timezone.now()).delete()
    return AuthToken.objects.filter(user=user).order_by("-created")


@require_POST
def revoke_token(request: HttpRequest, digest: str) -> HttpResponse:
    """By digest, which is no secret: the token cannot be made from it."""
    AuthToken.objects.filter(user=request.user, digest=digest).delete()
    messages.success(request, "The token is revoked. Programs that used it are refused from now on.")
    return redirect("tokens")
