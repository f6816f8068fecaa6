"""What no column holds, U+0000 in a text and numbers beyond it, is refused at every door with a sentence."""

import pytest
from django.db import DataError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotations.access.middleware import NO_MOMENT, NUL, TOO_LARGE, UnstorableInputMiddleware
from annotations.models import Dataset
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of
from tests.web.world import World, make_world

pytestmark = pytest.mark.django_db
HUGE = 10**20


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def admin() -> Client:
    client = client_of(factories.make_superuser())
    client.raise_request_exception = False
    return client


def texts_in_addresses(resolver: URLResolver, before: str = "") -> list[str]:
    """Routes with a part that takes any text, U+0000 in its place and 1 in the others'."""
    found = []
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += texts_in_addresses(pattern, route)
        elif isinstance(pattern, URLPattern) and "<str:" in route and not route.startswith("admin/"):
            parts = [part.split(">", 1) for part in route.split("<")]
            filled = ("%00" if part[0].startswith("str:") else "1" for part in parts[1:])
            found.append(parts[0][0] + "".join(value + part[1] for value, part in zip(filled, parts[1:], strict=True)))
    return found


def test_no_address_with_u0000_is_found(world: World, admin: Client) -> None:
    paths = texts_in_addresses(get_resolver())
    assert "datasets/1/releases/%00/" in paths
    for path in paths:
        assert admin.get(f"/{path}").status_code in (400, 404, 405), path
    name = Dataset.objects.get(pk=world.keys["datasets"]).name
    assert admin.get(f"/datasets/{name}/releases/%00/export/").status_code == 404


@first_is_quick(
    ("path", "body"),
    [
        ("exports/", {"dataset": "\0", "format": "jsonl"}),
        ("guard-rules/", {"project": "\0", "pattern": "pay"}),
        ("imports/", {"project": "\0", "format": "jsonl", "name": "x", "path": "x"}),
        ("live-goals/", {"project": "\0", "name": "x", "environment": "miniwob"}),
        ("studies/", {"dataset": "\0", "recipes": ["mindact"]}),
        ("studies/forecast/", {"dataset": "\0", "recipes": ["mindact"]}),
    ],
)
def test_the_api_looks_for_no_name_with_u0000(world: World, path: str, body: dict) -> None:
    manager = client_of(factories.make_user("admin", world.project))
    answer = manager.post(f"/api/{path}", body, content_type="application/json")
    assert (answer.status_code, "U+0000" in answer.content.decode()) == (400, True)


def test_nor_does_a_form_of_the_api(world: World) -> None:
    manager = client_of(factories.make_user("admin", world.project))
    answer = manager.post("/api/imports/", {"project": "a\0", "format": "jsonl", "name": "x", "path": "x"})
    assert answer.status_code == 400
    assert "project" in answer.json()


def test_a_page_that_looks_for_u0000_says_so(world: World, admin: Client) -> None:
    for path, form in (
        ("/annotate/next/", {"stage": "\0"}),
        (f"/steps/{world.keys['steps']}/rationale/", {"text": "\0"}),
    ):
        answer = admin.post(path, form)
        assert (answer.status_code, answer.content.decode()) == (400, NUL), path


@pytest.mark.slow
def test_numbers_beyond_a_column_are_named_by_their_field(world: World, admin: Client) -> None:
    budget = world.fill("studies/{}/budget/")
    answer = admin.post(budget, {"tokens": HUGE}, content_type="application/json")
    assert (answer.status_code, list(answer.json())) == (400, ["tokens"])
    answer = admin.post(budget.removeprefix("/api"), {"budget_tokens": HUGE, "budget_seconds": HUGE}, follow=True)
    assert answer.status_code == 200
    assert answer.content.decode().count("less than or equal to") == 2
    answer = admin.post("/studies/new/", {"limit": HUGE})
    assert (answer.status_code, "limit" in answer.context["form"].errors) == (200, True)


@pytest.mark.slow
@first_is_quick("digits", ["9" * 5000, "\u0663" * 20, "9" * 18])
def test_digits_by_the_thousand_are_no_number(world: World, admin: Client, digits: str) -> None:
    """Python reads no whole number of more than 4,300 digits."""
    keys, dataset = world.keys, Dataset.objects.get(pk=world.keys["datasets"]).name
    for path in (
        f"/?tour=researcher-{digits}",
        f"/compare/?runs={digits}",
        f"/steps/{keys['steps']}/tree/?from={digits}&to={digits}",
        f"/annotate/campaigns/{keys['campaigns']}/guidelines/?version={digits}",
        f"/annotate/sessions/{keys['sessions']}/comments/?assignment={digits}",
        f"/studies/new/?dataset={dataset}&recipes=grounded&limit={digits}",
        f"/datasets/?page={digits}",
        f"/api/steps/?page_size={digits}&turn={digits}",
    ):
        assert admin.get(path).status_code in (200, 400, 404), path
    for path, field in (("/annotate/next/", "campaign"), ("/annotate/inbox/seen/", "comment")):
        assert admin.post(path, {field: digits}).status_code in (200, 302, 400, 404), path


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00%2B23:59"])
def test_a_moment_in_an_extreme_zone_is_a_bad_request(admin: Client, moment: str) -> None:
    for path in ("/api/jobs/?updated_after=", "/api/conversations/?updated_after=", "/api/access-events/?after="):
        assert admin.get(path + moment).status_code == 400, path


def asked(query: str, told: list[str]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(query, told)


def test_a_number_that_no_field_knew_of_is_a_bad_request_and_any_other_failure_stays_ours() -> None:
    said = []
    asked_for = [
        ("select (10 ^ 20)::bigint", []),
        ("select %s", ["\0"]),
        ("select %s::timestamptz", ["9999-12-31 23:59:59-23:59"]),
        ("select '{'::json", []),
    ]
    for query, told in asked_for:
        with pytest.raises(DataError) as caught:
            asked(query, told)
        answer = UnstorableInputMiddleware(HttpResponse).process_exception(HttpRequest(), caught.value)
        said.append(answer and answer.content.decode())
    assert said == [TOO_LARGE, NUL, NO_MOMENT, None]
