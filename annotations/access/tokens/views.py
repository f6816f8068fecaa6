"""The page of one's API tokens."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations.access.people import signed_in
from annotations.access.tokens.granting import TooManyTokens, forget_expired, make_token, open_tokens, revoke
from annotations.models import Scope


class TokenForm(forms.Form):
    """What a new API token is for, what it may be used for, and how long it works."""

    name = forms.CharField(max_length=80, required=False, label="For", widget=forms.TextInput({"autocomplete": "off"}))
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, initial=[Scope.READ], label="May", widget=forms.CheckboxSelectMultiple
    )
    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in (7, 30, 90, 365) if days <= settings.TOKEN_LONGEST_DAYS]
        or [(settings.TOKEN_LONGEST_DAYS, f"{settings.TOKEN_LONGEST_DAYS} days")],
        coerce=int,
        initial=30,
        label="Works for",
    )


@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """One's API tokens. A new one is shown in the answer to its form and nowhere else: only its digest is stored."""
    form, secret = TokenForm(request.POST or None), ""
    forget_expired(signed_in(request))
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = make_token(signed_in(request), **form.cleaned_data)
        except TooManyTokens as error:
            form.add_error(None, str(error))
    context = {"form": form, "secret": secret, "tokens": open_tokens(signed_in(request))}
    return render(request, "annotations/tokens.html", context)


@require_POST
def revoke_token(request: HttpRequest, digest: str) -> HttpResponse:
    """Revoke one of the user's tokens. The page names it by its digest, which is no secret: the token cannot be made
    from it."""
    revoke(signed_in(request), digest=digest)
    messages.success(request, "The token is revoked. Programs that used it are refused from now on.")
    return redirect("tokens")
