"""Settings of django-allauth that are code: no sign-up without an invitation, second factors stored encrypted."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotations.access.clients import client_address
from annotations.access.sealing import seal, unseal

FACTORS = "second factors"


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by invitations (and by the organisation's sign-in, where that is set up)."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        # A local socket has no address, but the list of sessions needs one.
        return client_address(request) or "0.0.0.0"  # nosec B104

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        messages.error(request, "This account is closed. Ask an admin of your project.")
        return redirect("login")

    def add_message(self, request: HttpRequest, level: int, *args: Any, **kwargs: Any) -> None:
        """Show only warnings and errors of django-allauth: that something went well is seen on the next page."""
        if level >= messages.WARNING:
            super().add_message(request, level, *args, **kwargs)

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing: there is no mail server. The trail of access records the same events."""


class FactorAdapter(DefaultMFAAdapter):
    """Second factors (one-time codes and passkeys): their secrets are stored encrypted."""

    def encrypt(self, text: str) -> str:
        return seal(FACTORS, text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(FACTORS, encrypted_text)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """The site's own name, whatever host a request says that it is for."""
        return {"id": urlsplit(settings.APP_ORIGIN).hostname or "", "name": "WebNav"}

    def generate_authenticator_name(self, user: AbstractBaseUser, type: str) -> str:
        return "Passkey"
