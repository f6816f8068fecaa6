"""The limit on wrong tries, at every place where a secret is tried: sign-in, one-time codes, invitations, changing a
password.

Wrong tries are counted per account and per client, wherever they are made, and each one over a few free ones doubles
the wait. A browser that has signed in to an account before is recognised by a cookie and counted by itself, so that
whoever attacks the account from elsewhere does not shut its owner out. A try is counted before it is judged, so that
many tries at the same time count as many.
"""

import hashlib
import math
import secrets
import unicodedata
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import Throttled

from annotations.access.clients import client_address, client_network
from annotations.access.tries import counters
from annotations.access.tries.counters import TryLimits

# Steadily wrong, an account is tried at most once in five minutes and a client gets about one try a minute.
ACCOUNT = TryLimits(free=5, longest=300, forget=900)
CLIENT = TryLimits(free=20, longest=300, forget=60)
DEVICE = TryLimits(free=10, longest=300, forget=300)
COOKIE = "device"
_SALT = "annotations.access.device"
_COOKIE_SECONDS = 180 * 24 * 3600


class TooManyTries(Throttled):
    """This account or client has to wait. Nothing was tried, so the answer says nothing about the secret."""

    def __init__(self, wait: float) -> None:
        self.seconds = max(1, math.ceil(wait))
        super().__init__(detail=f"Too many tries. Try again in {_spoken(self.seconds)}.")
        self.wait = self.seconds  # what REST answers with as Retry-After


class Trial:
    """A try that counts as a wrong one unless it passes."""

    def __init__(self, keys: dict[str, TryLimits]) -> None:
        self._keys = keys

    def passed(self) -> None:
        """The secret was right: this try no longer counts. Earlier wrong ones still do, so that signing in to one's own
        account between guesses resets nothing."""
        counters.give_back(self._keys)


def begin(request: HttpRequest | None, account: str = "") -> Trial:
    """Count a try before its secret is judged; `passed` of the result takes it back. Raises TooManyTries. `account` is
    a name, whether or not it exists."""
    keys = _keys(request, _digest(account) if account else "")
    if keys and (wait := counters.take(keys)):
        raise TooManyTries(wait)
    return Trial(keys)


def remember_device(response: HttpResponseBase, account: str, *, secure: bool) -> None:
    """Sign a cookie for a browser in which this account has just signed in."""
    value = signing.dumps({"account": _digest(account), "device": secrets.token_hex(16)}, salt=_SALT)
    response.set_cookie(COOKIE, value, max_age=_COOKIE_SECONDS, secure=secure, httponly=True, samesite="Lax")


def _keys(request: HttpRequest | None, account: str) -> dict[str, TryLimits]:
    if request is not None and account and (device := _device(request, account)):
        return {f"device:{device}": DEVICE}
    keys = {f"account:{account}": ACCOUNT} if account else {}
    return keys | ({f"client:{client_network(client_address(request))}": CLIENT} if request is not None else {})


def _device(request: HttpRequest, account: str) -> str:
    """The device's own number, "" unless its cookie was signed for this account."""
    try:
        value: dict[str, Any] = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=_COOKIE_SECONDS)
    except signing.BadSignature:
        return ""
    return value["device"] if value["account"] == account else ""


def _digest(account: str) -> str:
    """Names are compared as people read them; what was typed for a name may be a password, so it is not stored."""
    return hashlib.sha256(unicodedata.normalize("NFKC", account).casefold().encode()).hexdigest()


def _spoken(seconds: int) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{seconds} second{'s' * (seconds != 1)}" if seconds < 100 else f"{minutes} minutes"
