"""API tokens: made with what they may do and until when; and the permission that checks at every REST route what a
token may do."""

from datetime import timedelta
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication
from knox.models import AuthToken
from knox.settings import knox_settings
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotations.access import factors
from annotations.access.clients import client_address
from annotations.models import Scope, TokenGrant

SEEN_EVERY = timedelta(minutes=1)  # so that reading does not write each time
KnoxTokenScheme.match_subclasses = True  # the schema of the API tells ours as it would tell Knox's


class TokenHeader(TokenAuthentication):
    """Knox's tokens in the header Authorization, which are letters and digits: other bytes are a wrong token, where
    Knox fails as they are no text. Raises AuthenticationFailed."""

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        if not token.isalnum():
            raise AuthenticationFailed("Invalid token.")
        found: tuple[Any, Any] = super().authenticate_credentials(token)
        return found


class TooManyTokens(ValueError):
    """The user has as many as one may have."""


def open_tokens(user: User) -> QuerySet[AuthToken]:
    alive = AuthToken.objects.filter(Q(expiry=None) | Q(expiry__gt=timezone.now()), user=user)
    return alive.select_related("grant").order_by("-created")


def revoke(user: User, **which: Any) -> bool:
    """Revoke the user's tokens: all, or those that the filter `which` names; whether there were any."""
    return bool(AuthToken.objects.filter(user=user, **which).delete()[0])


def forget_expired(user: User) -> None:
    AuthToken.objects.filter(user=user, expiry__lt=timezone.now()).delete()


@transaction.atomic
def make_token(user: User, scopes: list[str], days: int, name: str = "") -> tuple[AuthToken, str]:
    """A token that expires, and its secret, which is shown once and stored only as a digest."""
    limit = knox_settings.TOKEN_LIMIT_PER_USER
    if open_tokens(user).count() >= limit:
        raise TooManyTokens(f"You have {limit} tokens already: revoke one first.")
    row, secret = AuthToken.objects.create(user, expiry=timedelta(days=min(days, settings.TOKEN_LONGEST_DAYS)))
    TokenGrant.objects.create(token=row, name=name, scopes=scopes)
    return row, secret


class MayUse(BasePermission):
    """The permission of every REST route: the user is signed in, and their token may be used for this.

    Reading needs `read` and all else `manage`, unless the view says otherwise in `scopes`: {action or method: scope};
    None there is open to every token. A session may do what its user may.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if factors.is_missing(request.user):
            self.message = factors.WHY
            return False
        return not isinstance(request.auth, AuthToken) or self._token_may(request, view)

    def _token_may(self, request: Request, view: Any) -> bool:
        grant = TokenGrant.objects.filter(token=cast(AuthToken, request.auth)).first()
        needed = scope_of(request.method or "", view)
        if grant is None or (needed is not None and needed not in grant.scopes):
            self.message = f"This token may not be used to {Scope(needed or Scope.READ).label}; make one that may."
            return False
        _seen(grant, request)
        return True


def scope_of(method: str, view: Any) -> str | None:
    named = getattr(view, "scopes", {})
    action = getattr(view, "action", None) or method.lower()
    if action in named:
        return named[action]
    return Scope.READ if method in SAFE_METHODS else Scope.MANAGE


def _seen(grant: TokenGrant, request: Request) -> None:
    now = timezone.now()
    if grant.last_used_at is None or grant.last_used_at < now - SEEN_EVERY:
        TokenGrant.objects.filter(pk=grant.pk).update(last_used_at=now, last_used_from=client_address(request._request))
