"""Signing in through the organisation (OpenID Connect): which accounts may, and which of its claims are used.

A person is known by the provider's `sub` alone. An e-mail address never finds an account that exists: whoever gets to
write it into the provider would take the account over. Linking is done by somebody who is signed in.
"""

import logging
from typing import Any

import jwt
import requests
from allauth.account.internal.decorators import login_not_required
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotations.access.trail.events import record
from annotations.models import AccessAction, Invite

logger = logging.getLogger(__name__)

# By the kind of the provider's key: none that a public key could be mistaken for the secret of.
SIGNATURES = {
    "RSA": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
    "EC": ["ES256", "ES384", "ES512"],
    "OKP": ["EdDSA"],
}
CLOCKS_DIFFER_SECONDS = 60  # between the provider and us, at most
INVITE_KEY = "invite"  # in the session: the digest of the one-time link by which somebody came


class IdentityAdapter(DefaultSocialAccountAdapter):
    """Who may sign in or sign up through the organisation: those who are invited, by link or by address, and addresses
    of the domains that the settings name."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """The providers of the settings. Rows of the database are not read, so none can open a way to sign in."""
        apps = [SocialApp(provider="openid_connect", **values) for values in settings.OIDC_APPS]
        return [app for app in apps if provider in {None, app.provider, app.provider_id}]

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        claims = sociallogin.account.extra_data
        subs = {part["sub"] for part in (claims.get("id_token"), claims.get("userinfo")) if part}
        if len(subs) != 1:
            raise ImmediateHttpResponse(not_let_in(request, "The provider contradicts itself about who you are."))
        verified = [found.email for found in sociallogin.email_addresses if found.verified is True]
        vars(request)["verified_email"] = verified[0] if verified else ""
        sociallogin.email_addresses = []

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        domain = _verified_email(request).rpartition("@")[2].lower()
        return bool(_invite(request)) or (bool(domain) and domain in settings.OIDC_ALLOWED_DOMAINS)

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> Any:
        invite = _invite(request)
        if invite and not invite.use():
            raise ImmediateHttpResponse(not_let_in(request, "This link has been used."))
        assert isinstance(sociallogin.user, User)
        sociallogin.user.email = _verified_email(request)
        user = super().save_user(request, sociallogin, form)
        if invite:
            invite.admit(user)
            request.session.pop(INVITE_KEY, None)
        record(AccessAction.IDENTITY, f"came in through {sociallogin.account.provider}", about=user, actor=user)
        return user

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing: there is no mail server. The trail of access records the same events."""

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        raise ImmediateHttpResponse(not_let_in(request, "The organisation's sign-in was not completed."))


class VerifyingAdapter(OpenIDConnectOAuth2Adapter):
    """Checks the signature of the ID token, also where it came straight from the provider."""

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            found = session.get(self.openid_config["jwks_uri"])
            found.raise_for_status()
        try:
            key = _signing_key(jwt.PyJWKSet.from_dict(found.json()), jwt.get_unverified_header(id_token))
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key.key,
                algorithms=SIGNATURES[str(key.key_type)],
                issuer=self.openid_config["issuer"],
                audience=app.client_id,
                leeway=CLOCKS_DIFFER_SECONDS,
            )
        except (jwt.PyJWTError, AttributeError, LookupError, TypeError) as error:
            raise OAuth2Error("Invalid id_token") from error
        jwtkit.verify_jti(claims)
        return claims


def _signing_key(keys: jwt.PyJWKSet, header: dict[str, Any]) -> jwt.PyJWK:
    """The key that a token names. A provider with one key need not name it (OpenID Connect Core, 10.1)."""
    signing = [key for key in keys.keys if key.public_key_use in {None, "sig"} and key.key_type in SIGNATURES]
    named = [key for key in signing if key.key_id == header["kid"]] if "kid" in header else signing
    if len(named) != 1:
        raise LookupError(f"{len(named)} keys fit a token that names {header.get('kid')!r}")
    return named[0]


@login_not_required
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send the browser to the provider. POST only, so that a link on another site cannot start a sign-in."""
    return _answer(request, OAuth2LoginView, provider_id)


@login_not_required
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _answer(request, OAuth2CallbackView, provider_id)


def _answer(request: HttpRequest, view: Any, provider_id: str) -> HttpResponse:
    try:
        return view.adapter_view(VerifyingAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    except ImmediateHttpResponse as error:
        return error.response
    except requests.RequestException as error:
        logger.warning("the organisation's sign-in (%s) does not answer: %s", settings.OIDC_ISSUER, error)
        return not_let_in(request, "The organisation's sign-in does not answer. Try again later.", status=502)


@login_not_required
def no_sign_up(request: HttpRequest) -> HttpResponse:
    """Refuse, where django-allauth would show its own sign-up form: who comes here is not invited."""
    return not_let_in(request, "You are not invited yet.")


def not_let_in(request: HttpRequest, why: str, status: int = 403) -> HttpResponse:
    return render(request, "account/not_let_in.html", {"why": why}, status=status)


def _invite(request: HttpRequest) -> Invite | None:
    """The open invitation to a project that this sign-in uses: the one whose link the browser opened, else one for the
    verified address; None where there is none."""
    invites = Invite.objects.open().filter(user=None, makes_superuser=False, project__isnull=False)
    if digest := request.session.get(INVITE_KEY):
        return invites.filter(digest=digest).first()
    address = _verified_email(request)
    return invites.filter(email__iexact=address).order_by("id").first() if address else None


def _verified_email(request: HttpRequest) -> str:
    """The address that the provider vouches for, kept by `pre_social_login`; "" for none."""
    found: str = vars(request)["verified_email"]
    return found
