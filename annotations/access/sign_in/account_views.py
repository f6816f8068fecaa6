"""The page on which people manage their own account: password, second factors, sessions."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter as get_social_adapter
from allauth.socialaccount.internal.flows import connect
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from knox.models import AuthToken

from annotations.access import factors
from annotations.access.leaving import look_again
from annotations.access.people import signed_in
from annotations.access.tokens.granting import revoke
from annotations.access.trail.events import record
from annotations.models import AccessAction
from annotations.text.amounts import whole


@never_cache
def account(request: HttpRequest) -> HttpResponse:
    kinds: dict[str, list[Any]] = {kind.value: [] for kind in Authenticator.Type}
    for row in Authenticator.objects.filter(user=signed_in(request)).order_by("pk"):
        kinds[row.type].append(row.wrap())
    sessions = sorted(
        UserSession.objects.purge_and_list(signed_in(request)), key=lambda row: row.last_seen_at, reverse=True
    )
    context = {
        "codes": kinds["totp"],
        "passkeys": kinds["webauthn"],
        "recovery": kinds["recovery_codes"],
        "sessions": sessions,
        "identities": SocialAccount.objects.filter(user=signed_in(request)),
        "providers": get_social_adapter().list_providers(request),
        "must_have_factor": factors.is_missing(request.user),
        "token_count": AuthToken.objects.filter(user=signed_in(request)).count(),
    }
    return render(request, "account/index.html", context)


@require_POST
@reauthentication_required
def unlink(request: HttpRequest, pk: int) -> HttpResponse:
    """Detach the organisation's sign-in from this account; refused where it is the only way to sign in."""
    linked = get_object_or_404(SocialAccount, user=request.user, pk=pk)
    try:
        connect.validate_disconnect(request, linked)
    except ValidationError:
        messages.error(request, "Set a password first: nothing else would sign you in.")
    else:
        connect.disconnect(request, linked)
        record(AccessAction.IDENTITY, f"unlinked {linked.provider}", about=request.user)
    return redirect("account")


@require_POST
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign the user out of one other session, or of all others; with `tokens`, their API tokens are revoked too."""
    others = UserSession.objects.filter(user=signed_in(request)).exclude(session_key=request.session.session_key)
    named = request.POST.get("session", "")
    chosen = others.filter(pk=whole(named) or 0) if named else others
    ended = list(chosen)
    for session in ended:
        session.end()
    look_again(signed_in(request).pk)
    revoked = revoke(signed_in(request)) if "tokens" in request.POST else 0
    programs = " Every API token is revoked." if revoked else ""
    record(AccessAction.SIGN_OUT, f"ended {len(ended)} other sessions.{programs}", about=request.user)
    messages.success(request, f"Ended {len(ended)} other session{'s' * (len(ended) != 1)}.{programs}")
    return redirect("account")
