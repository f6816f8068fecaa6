"""Django's passwords, with a limit on wrong tries: pages, API and admin all sign in through it; and its sessions."""

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.http import HttpRequest

from annotations.access.tries import throttle

LEAST_KEY = 8  # characters of a session's key, as Django asks for


class PasswordBackend(ModelBackend):
    """Django's password backend with a limit on tries. An unknown name takes as long as a wrong password. Raises
    TooManyTries."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        if not username or password is None:
            return None
        trial = throttle.begin(request, username)
        user = super().authenticate(request, username=username, password=password)
        if user is not None:
            trial.passed()
        return user

    aauthenticate = sync_to_async(authenticate)  # Django's would not pass the throttle


class SessionStore(db.SessionStore):
    """Django's sessions in the database, whose keys are letters and digits. A cookie that names another key, as it may
    hold a NUL, is nobody's: the database would refuse to look, which is a failure on every page."""

    def _validate_session_key(self, key: str | None) -> bool:
        return key is not None and len(key) >= LEAST_KEY and key.isascii() and key.isalnum()
