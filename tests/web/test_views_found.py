"""What Django answers with is what the gate of views (`tests/test_verbs.py`) has found by reading the code."""

from collections.abc import Callable, Iterator
from inspect import unwrap
from typing import Any

import pytest
from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

from tests.test_imports import APPS
from tests.test_verbs import views


def callbacks(patterns: list[URLPattern | URLResolver]) -> Iterator[Callable[..., Any]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from callbacks(pattern.url_patterns)
        else:
            yield pattern.callback


def homes(callback: Callable[..., Any]) -> set[str]:
    """Our modules in which a view is written, with those of the classes that it is made of."""
    made_of = getattr(callback, "view_class", None) or getattr(callback, "cls", None)
    found = [one.__module__ for one in made_of.__mro__] if made_of else [unwrap(callback).__module__]
    return {name for name in found if name.partition(".")[0] in APPS}


@pytest.mark.slow
def test_every_view_is_looked_at() -> None:
    answering = list(callbacks(get_resolver().url_patterns))
    assert len(answering) > 200
    assert set().union(*map(homes, answering)) - views().keys() == set()


def test_every_table_of_the_admin_is_looked_at() -> None:
    ours = {type(table).__module__ for table in admin.site._registry.values()}
    assert {name for name in ours if name.partition(".")[0] in APPS} - views().keys() == set()


def test_every_socket_is_looked_at() -> None:
    from agents.runs.routing import websocket_urlpatterns

    found = {one.callback.consumer_class.__module__ for one in websocket_urlpatterns}
    assert found
    assert found <= views().keys()
