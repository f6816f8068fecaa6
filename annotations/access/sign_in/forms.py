"""Forms that try a secret, each behind the throttle: nothing is judged before the try is counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.forms import ChangePasswordForm
from allauth.core import context
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.forms import SetPasswordForm, UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from annotations.access.trail import events
from annotations.access.tries import counters, throttle
from annotations.models import Role

CODE_SECONDS = 120  # longer than any code is good for


@contextmanager
def _counted(user: AbstractBaseUser | None) -> Iterator[None]:
    """Count a wrong try for the user (and the client) unless what runs inside ends without an exception."""
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

    user: User

    def clean_code(self) -> str:
        with _counted(self.user):
            code = super().clean_code()  # type: ignore[misc]  # of the form that this is mixed into
            if not counters.first_use(f"code:{self.user.pk}:{normalize_user_code(code)}", CODE_SECONDS):
                raise ValidationError("This code was used already. Wait for the next one.")
        return code


def is_right_code(request: HttpRequest, user: User, code: str) -> bool:
    """Whether a one-time code or recovery code is right, for sign-ins without a page. Raises TooManyTries."""
    with context.request_context(request):
        form = CodeForm(data={"code": code}, user=user)
        return form.is_valid()


class CodeForm(OneTime, AuthenticateForm):
    """Asks for a code at the sign-in."""


class CodeAgainForm(OneTime, ReauthenticateForm):
    """Asks for a code again before something that matters is changed."""


class FirstCodeForm(ActivateTOTPForm):
    """Asks for the first code of a new app, which shows that the app has been set up."""

    def clean_code(self) -> str:
        with _counted(self.user):
            return super().clean_code()


class Passkey:
    """The browser's answer for a passkey; it is JSON that anybody can make up."""

    user: User

    def clean_credential(self) -> Any:
        with _counted(self.user), _told_if_wrong(self.user), _well_formed():
            return super().clean_credential()  # type: ignore[misc]  # likewise


@contextmanager
def _told_if_wrong(user: User | None) -> Iterator[None]:
    """Record a wrong passkey in the trail of access, as the library does so for codes only. Whose passkey it is may be
    made up at the sign-in, so the account is recorded only where the passkey is its second factor."""
    try:
        yield
    except ValidationError:
        action = events.AccessAction.FACTOR if user else events.AccessAction.SIGN_IN
        events.record(action, "wrong passkey", about=user or "", ok=False, request=context.request)
        raise


@contextmanager
def _well_formed() -> Iterator[None]:
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValidationError("That was no answer of a passkey.") from error


class PasskeyForm(Passkey, AuthenticateWebAuthnForm):
    """Asks for a passkey as the second factor at the sign-in."""


class PasskeySignInForm(Passkey, LoginWebAuthnForm):
    """Signs in by a passkey alone. Only the answer says which account it is, so tries are counted for the client
    alone."""


class PasskeyAgainForm(Passkey, ReauthenticateWebAuthnForm):
    """Asks for a passkey again before something that matters is changed."""


class NewPasskeyForm(AddWebAuthnForm):
    """Adds a passkey to an account."""

    def clean(self) -> dict[str, Any]:
        with _well_formed():
            return super().clean()


PASSWORD_RULE = "At least 10 characters; neither a common password nor like the user name."


class AccountForm(UserCreationForm):
    """Makes the account of somebody who was invited: user name and password."""

    class Meta:
        model = get_user_model()
        fields = ["username"]
        help_texts = {"username": "Letters, digits and @ . + - _ only."}

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_RULE


class ResetForm(SetPasswordForm):
    """A new password for an account that exists."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_RULE


class InvitationForm(forms.Form):
    """Invites a new member: role, and what else they may do."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    sees_test_gold = forms.BooleanField(required=False, label="sees the gold actions of test splits")
    email = forms.EmailField(required=False)
