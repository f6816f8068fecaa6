"""Keys that people have chosen for commands.

What can be chosen for is read from the pages themselves: `data-key` in their templates, `bind` in their scripts. A
command is known by what it is called, so one that several pages have gets the same key on all of them.
"""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.html import strip_tags

from annotations.models import KeyMap
from annotations.models.accounts.projects import Account

SESSION_KEY = "keys"  # the map travels with the session, so that no page asks the database for it
EVERYWHERE = "everywhere"
SECTION_KEYS: dict[str, str] = {}  # section of the top bar -> its key; the site, which has the bar, adds them
KEY = re.compile(r"(?:[a-zA-Z] )?(?:[a-zA-Z0-9/]|Enter|(?:Shift\+)?Arrow(?:Left|Right|Up|Down))")
_BOUND = re.compile(r'(?:\bbind\(|\[)\s*"([^"]+)",\s*"([^"]+)",')
_ELEMENT = re.compile(r'data-key="([^"]+)"(?:\s+data-key-label="([^"]+)")?[^>]*>([^<{]*)')
_SCRIPT = re.compile(r"{% static 'js/([\w/]+\.js)' %}")
_IMPORT = re.compile(r'from "(\.[\w./]+\.js)"')
_INCLUDE = re.compile(r'{% include "([\w/]+\.html)"')
FIXED = {"This sheet", "Close a menu"}  # without these keys nobody finds or leaves the others


class BadKey(ValueError):
    """A key that cannot be given to a command; the message says why."""


@cache
def commands() -> dict[str, dict[str, str]]:
    """Page (the name of its template, or "everywhere") -> command -> its key when nobody has chosen another."""
    found: dict[str, dict[str, str]] = {
        EVERYWHERE: SECTION_KEYS | _of_template("base.html") | _of_script("shared/base.js")
    }
    root = _templates()
    for path in sorted(root.rglob("*.html")):
        name = path.relative_to(root).as_posix()
        if path.name.startswith("_") or name == "base.html":
            continue
        own = _of_template(name)
        for script in _SCRIPT.findall(path.read_text("utf-8")):
            own |= _of_script(script)
        if own := {label: key for label, key in own.items() if label not in found[EVERYWHERE]}:
            found[name.removesuffix(".html")] = own
    return found


def defaults() -> dict[str, str]:
    """Command -> its key; where pages differ, that of the first one."""
    found: dict[str, str] = {}
    for own in commands().values():
        for label, key in own.items():
            found.setdefault(label, key)
    return found


def chosen(user: Account) -> dict[str, str]:
    """What this user has chosen, without commands that exist no more."""
    row = KeyMap.objects.filter(user=user).first()
    known = defaults()
    return {label: key for label, key in row.keys.items() if label in known} if row else {}


def choose(user: Account, label: str, key: str | None) -> dict[str, str]:
    """Give a command another key, or with None its own again; returns all that was chosen. Raises BadKey."""
    if label not in defaults():
        raise BadKey("There is no such command.")
    keys = chosen(user)
    if key is None:
        keys.pop(label, None)
    elif not KEY.fullmatch(key):
        raise BadKey("Letters, digits, arrows, Enter, / or two letters one after the other: browsers keep the rest.")
    else:
        keys[label] = key
    # Going back to a command's own key is refused only where a chosen key of another command is the same.
    taken = [clash for clash in conflicts(keys, {label}) if key is not None or clash[2] in keys]
    if taken:
        raise BadKey(f"{taken[0][0]} is also the key of “{taken[0][2]}” on {taken[0][3]}.")
    KeyMap.objects.update_or_create(user=user, defaults={"keys": keys})
    return keys


def forget(user: Account) -> None:
    KeyMap.objects.filter(user=user).delete()


def conflicts(keys: dict[str, str], labels: set[str]) -> list[tuple[str, str, str, str]]:
    """(key, command, other command, page) where one of these commands shares a page with another of the same key, or
    with one that begins with it."""
    found = []
    everywhere = commands()[EVERYWHERE]
    for page, own in commands().items():
        here = {label: keys.get(label, key) for label, key in (everywhere | own).items()}
        found += [
            (here[label], label, other, page)
            for label in labels & set(here)
            for other in here
            if other != label and _clash(here[label], here[other])
        ]
    return found


def remember(request: HttpRequest, keys: dict[str, str]) -> None:
    """Keep the keys that a user has chosen in the session, where pages find them; without any, remove them from it."""
    if keys:
        request.session[SESSION_KEY] = keys
    else:
        request.session.pop(SESSION_KEY, None)


@receiver(user_logged_in, dispatch_uid="annotations.keymaps")
def remember_at_sign_in(sender: Any, request: HttpRequest, user: Account, **kwargs: Any) -> None:
    remember(request, chosen(user))


def pages_of(label: str) -> list[str]:
    return [page for page, own in commands().items() if label in own]


def _clash(key: str, other: str) -> bool:
    return key == other or key.startswith(f"{other} ") or other.startswith(f"{key} ")


def _templates() -> Path:
    engines: list[dict[str, Any]] = settings.TEMPLATES
    return Path(engines[0]["DIRS"][0])


def _of_template(name: str) -> dict[str, str]:
    """Commands of the elements of a template and of those that it includes."""
    text = (_templates() / name).read_text("utf-8")
    found: dict[str, str] = {}
    for included in _INCLUDE.findall(text):
        found |= _of_template(included)
    for key, label, content in _ELEMENT.findall(text):
        found[" ".join((label or strip_tags(content)).split())] = key
    return _usable(found)


def _of_script(name: str, seen: frozenset[str] = frozenset()) -> dict[str, str]:
    """Commands of a script and of those that it imports."""
    path = Path(settings.STATICFILES_DIRS[0]) / "js" / name
    text = path.read_text("utf-8")
    found = {label: key for key, label in _BOUND.findall(text)}
    for imported in _IMPORT.findall(text):
        inner = (path.parent / imported).resolve().relative_to(path.parents[name.count("/")].resolve()).as_posix()
        if inner not in seen | {name, "shared/base.js"}:
            found |= _of_script(inner, seen | {name})
    return _usable(found)


def _usable(found: dict[str, str]) -> dict[str, str]:
    return {label: key for label, key in found.items() if label and KEY.fullmatch(key) and label not in FIXED}


def by_page(keys: dict[str, str]) -> list[dict[str, Any]]:
    """The commands in groups for the page of keys: each once, with its keys and where else it is."""
    known, shown = defaults(), set()
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for page, own in commands().items():
        for label in own:
            if label in shown:
                continue
            shown.add(label)
            clashes = conflicts(keys, {label}) if label in keys else []
            groups[page].append(
                {
                    "label": label,
                    "key": keys.get(label, known[label]),
                    "default": known[label],
                    "changed": label in keys,
                    "pages": [other for other in pages_of(label) if other != page],
                    "conflict": clashes[0][2] if clashes else "",
                }
            )
    order = sorted(groups, key=lambda page: (page != EVERYWHERE, not page.startswith("annotate/"), page))
    return [{"page": page.replace("/", " · ").replace("_", " "), "commands": groups[page]} for page in order]
