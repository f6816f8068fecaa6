"""Non-interference by what goes along with an answer: what lists are filtered and ordered by, where their pages begin
and end, entity tags, lengths and dates, parts of files, what OPTIONS describes, and the words of refusals.

`tests/web/test_gold_boundary.py` compares the answers themselves, with their headers.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django_filters import CharFilter, ChoiceFilter, Filter

from annotations.corpus import filters
from tests.web.gold_worlds import GOLD, ROLES, GoldWorld, differing
from tests.web.test_gold_boundary import Answer, answer, client_of, routes, urls

pytestmark = pytest.mark.django_db
# Asked with every filter and as the order: words, operations, targets and numbers of either world.
GUESSES = (f"{GOLD[0]} 1", "TYPE", "4", "700001")
ORDERS = ("value", "-operation", "success", "error")
OTHER_VERBS = ("options", "put", "patch", "delete")
SAID_OF_ITSELF = ("ETag", "Last-Modified", "Accept-Ranges")


def lists() -> Iterator[tuple[str, Any]]:
    """The address and the view of every list of the API."""
    for name, pattern in routes(get_resolver()):
        if name.startswith("api:") and name.endswith("-list") and not pattern.pattern.converters:
            yield reverse(name), pattern.callback.cls


def filters_of(view: Any) -> dict[str, Filter]:
    found = getattr(view, "filterset_class", None)
    return dict(found.base_filters) if found else dict.fromkeys(getattr(view, "filterset_fields", ()), Filter())


def guesses(one: Filter) -> list[str]:
    choices = dict(one.extra.get("choices", ())) if isinstance(one, ChoiceFilter) else {}
    return [*map(str, choices), *GUESSES]


def narrowed_lists() -> list[str]:
    """Every list of the API, by every filter that it has and by some that it should not have."""
    found = []
    for address, view in lists():
        given = filters_of(view)
        found += [f"{address}?{name}={value}" for name, one in given.items() for value in guesses(one)]
        found += [f"{address}?ordering={name}" for name in ORDERS]
        found += [f"{address}?{name}={GOLD[0]} 1" for name in ("value", "operation", "search", "text", "error")]
    return found


def turned(client: Client, address: str) -> Iterator[tuple[str, Answer]]:
    """The pages of a list of one row each, as the cursor of each leads to the next."""
    following: str | None = f"{address}?page_size=1"
    while following:
        response = client.get(following)
        yield following, answer(response)
        told = response.json() if response.status_code == 200 else None
        following = told["next"] if isinstance(told, dict) else None  # a short list comes whole


def asked_again(client: Client, address: str) -> Iterator[tuple[str, Answer]]:
    """With what the first answer said of itself: as a cache asks, and for a part of it."""
    first = client.head(address)
    yield f"head {address}", answer(first)
    if not any(name in first.headers for name in SAID_OF_ITSELF):
        return
    wanted = {
        "If-None-Match": first.headers.get("ETag", '"none"'),
        "If-Modified-Since": first.headers.get("Last-Modified", ""),
    }
    yield f"again {address}", answer(client.get(address, headers=wanted))
    yield f"part {address}", answer(client.get(address, headers={"Range": "bytes=0-0"}))


def side_channels(world: GoldWorld, role: str) -> dict[str, Answer]:
    client, found = client_of(world, role), {}
    for address in narrowed_lists():
        found[address] = answer(client.get(address))
    for address, _ in lists():
        found |= dict(turned(client, address))
    for address in dict.fromkeys(url for url in urls(world) if "?" not in url):
        found |= dict(asked_again(client, address))
        for verb in OTHER_VERBS if address.startswith("/api/") else ():
            found[f"{verb} {address}"] = answer(getattr(client, verb)(address))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_no_side_channel_tells_the_worlds_apart(in_both_worlds: Callable[..., list[Any]], role: str) -> None:
    one, other = in_both_worlds(lambda world: side_channels(world, role))
    found = differing(one, other)
    assert not found, "\n".join([f"{len(found)} answers differ", *found[:10]])
    assert [name for name, told in one.items() if told[0] >= 500] == []
    assert any("cursor=" in name for name in one)


@pytest.mark.slow
def test_the_cursor_of_pages_does_not_tell_their_place_among_hidden_ones(
    in_both_worlds: Callable[..., list[Any]],
) -> None:
    one, other = in_both_worlds(lambda world: dict(turned(client_of(world, "reader"), "/api/snapshots/")))
    assert len(one) > 2
    assert differing(one, other) == []


def lists_of_steps(world: GoldWorld) -> dict[str, Answer]:
    client = client_of(world, "reader")
    return {url: answer(client.get(url)) for url in narrowed_lists() if url.startswith("/api/steps/?")}


@pytest.mark.slow
def test_a_filter_by_gold_would_tell_them_apart(
    in_both_worlds: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opposite: how many rows a filter leaves is seen."""
    view = next(view for address, view in lists() if address == "/api/steps/")
    assert differing(*in_both_worlds(lists_of_steps)) == []
    leaking = type("Leaking", (filters.StepFilter,), {"value": CharFilter()})
    monkeypatch.setattr(view, "filterset_class", leaking)
    assert any("?value=" in line for line in differing(*in_both_worlds(lists_of_steps)))
