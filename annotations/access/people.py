"""Who asks: the person behind a request."""

from django.contrib.auth.models import User
from django.http import HttpRequest
from rest_framework.request import Request


def signed_in(request: HttpRequest | Request) -> User:
    """Whose request it is, where nobody comes without an account (LoginRequiredMiddleware, or a permission of REST)."""
    user = request.user
    assert isinstance(user, User)
    return user
