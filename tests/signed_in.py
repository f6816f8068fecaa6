"""Test clients that are signed in."""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotations.access.backends import SessionStore


def client_of(user: Any) -> Client:
    """With a session and nothing else: signing in, which has tests of its own, asks 17 queries and tells the audit."""
    session = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    key = secrets.token_hex(16)
    expires = timezone.now() + timedelta(days=1)
    Session.objects.create(session_key=key, session_data=SessionStore().encode(session), expire_date=expires)
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = key
    return client
