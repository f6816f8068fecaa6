"""Forms that try a secret, each behind the throttle: nothing is judged before the try is counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.forms import ChangePasswordForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm, LoginWebAuthnForm, ReauthenticateWebAuthnForm
from django.core.exceptions import ValidationError

from annotations.access import counters, throttle

CODE_SECONDS = 120  # longer than any code is good for


@contextmanager
def _counted(user: Any) -> Iterator[None]:
    """What raises inside stays counted as a wrong try."""
    trial = throttle.begin(context.request, user.get_username() if user else "")
    yield
    trial.passed()


class PasswordForm(ChangePasswordForm):
    """Changing one's own password, which asks for the old one."""

    def clean_oldpassword(self) -> str:
        with _counted(self.user):
            return super().clean_oldpassword()


class OneTime:
    """A one-time or recovery code."""

    user: Any

    def clean_code(self) -> str:
        with _counted(self.user):
            code = super().clean_code()  # type: ignore[misc]
            if not counters.first_use(f"code:{self.user.pk}:{code}", CODE_SECONDS):
                raise ValidationError("This code was used already. Wait for the next one.")
        return code


class CodeForm(OneTime, AuthenticateForm):
    """At the sign-in."""


class CodeAgainForm(OneTime, ReauthenticateForm):
    """Before something that matters is changed."""


class FirstCodeForm(ActivateTOTPForm):
    """The code that shows that the app has been set up."""

    def clean_code(self) -> str:
        with _counted(self.user):
            return super().clean_code()


class PasskeyForm(AuthenticateWebAuthnForm):
    """A passkey as the second factor."""

    def clean_credential(self) -> Any:
        with _counted(self.user):
            return super().clean_credential()


class PasskeySignInForm(LoginWebAuthnForm):
    """A passkey instead of name and password; the account is what its answer says, so only the client is counted."""

    def clean_credential(self) -> Any:
        with _counted(None):
            return super().clean_credential()


class PasskeyAgainForm(ReauthenticateWebAuthnForm):
    """A passkey before something that matters is changed."""

    def clean_credential(self) -> Any:
        with _counted(self.user):
            return super().clean_credential()
