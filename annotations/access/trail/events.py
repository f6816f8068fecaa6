"""Writes the trail of access: the code that does something records it; who did it and from where is taken from the
request."""

from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from annotations.access.clients import client_address
from annotations.models import AccessAction, AccessDoor, AccessEvent, Project

# The request that this thread answers; None in commands and workers. Rows that change tell who changed them by it.
present: ContextVar[HttpRequest | None] = ContextVar("present", default=None)


def record(
    action: AccessAction,
    what: str,
    *,
    about: Any = "",
    project: Project | None = None,
    actor: User | None = None,
    ok: bool = True,
    request: HttpRequest | None = None,
) -> AccessEvent:
    """One row of the trail. The actor is whoever makes the request, where none is given."""
    request = request or present.get()
    actor = actor or _user_of(request)
    return AccessEvent.objects.create(
        action=action,
        ok=ok,
        what=what[:300],
        subject=str(about)[:200],
        actor_id=actor.pk if actor else None,
        actor_name=actor.get_username() if actor else "",
        project_id=project.pk if project else None,
        project_name=project.name if project else "",
        **_place(request),
    )


def _user_of(request: HttpRequest | None) -> User | None:
    user = getattr(request, "user", None)
    return user if user is not None and user.is_authenticated else None


def _place(request: HttpRequest | None) -> dict[str, str]:
    """How the request came in (page, API, admin, command) and from which address."""
    if request is None:
        return {"door": AccessDoor.COMMAND}
    return {
        "door": next((door for start, door in _DOORS if request.path.startswith(start)), AccessDoor.PAGE),
        "address": client_address(request)[:45],
        "client": request.headers.get("User-Agent", "")[:200],
    }


_DOORS = (("/api/", AccessDoor.API), ("/admin/", AccessDoor.ADMIN))
