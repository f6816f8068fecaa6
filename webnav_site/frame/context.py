"""Template context of every page's frame. Asks neither database nor Redis, except where a page shows `worker_banner` or
a tour, and for the roles of who reads, which pages ask for anyway."""

from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import reverse

from annotations.access.rules import rights_of
from annotations.desk.keys.keymaps import SESSION_KEY
from webnav_site.frame import tours
from webnav_site.frame.sections import LESSER, MANAGED, OPERATIONS, SECTIONS
from webnav_site.health import worker_banner

THEMES = ("auto", "light", "dark")


class Section(NamedTuple):
    """An entry of the top bar; `key` follows `g` on the keyboard. `lesser`: in narrow windows it is in the menu."""

    label: str
    url: str
    key: str
    current: bool
    lesser: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    """The sections of the top bar with the current one marked, and the theme and keys that the reader chose."""
    match = getattr(request, "resolver_match", None)
    word = (match.url_name or "").split("-")[0] if match and not match.namespaces else ""
    theme = request.COOKIES.get("theme", "auto")
    manages = _manages(request)
    return {
        "sections": [
            Section(label, reverse(route), key, word in words, route in LESSER)
            for label, route, key, words in _sections(request)
            if manages or route not in MANAGED
        ],
        "manages": manages,
        "worker_banner": worker_banner,  # called by the templates that show it
        "key_map": _key_map(request),
        "themes": THEMES,
        "theme": theme if theme in THEMES else "auto",
        "tours": tours.TOURS,
        "tour": tours.stop(request) if "tour" in request.GET else None,
    }


def _manages(request: HttpRequest) -> bool:
    """Whether who reads administers a project, or all of them."""
    user = getattr(request, "user", None)
    return user is not None and user.is_authenticated and rights_of(request).can_somewhere("manage")


def _sections(request: HttpRequest) -> tuple:
    user = getattr(request, "user", None)
    return (*SECTIONS, OPERATIONS) if user is not None and user.is_superuser else SECTIONS


def _key_map(request: HttpRequest) -> dict[str, str] | None:
    """The keys that the reader has chosen; None where nobody is signed in, as on error pages before the user is
    known."""
    user = getattr(request, "user", None)
    return request.session.get(SESSION_KEY) if user is not None and user.is_authenticated else None
