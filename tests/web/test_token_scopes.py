"""What API tokens may be used for: one question at every route and method, and no token that lives for ever."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from annotations.access.tokens.granting import make_token
from annotations.models import Scope, TokenGrant
from tests import factories
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.reading import source
from tests.web.world import ACTS, make_world

pytestmark = pytest.mark.django_db
NO_TOKEN = {("POST", "auth/login/")}
ANY = {("POST", "auth/logout/")}
EXPORT = {
    ("GET", "jobs/{}/file/"),
    ("GET", "runs/{}/metrics.csv"),
    ("GET", "runs/{}/trajectories.jsonl"),
    ("GET", "studies/{}/metrics.csv"),
    ("GET", "datasets/{}/lessons.jsonl"),
    ("POST", "exports/"),
}
ANNOTATE = {
    ("POST", "rationales/"),
    ("POST", "corrections/"),
    ("POST", "turn-corrections/"),
    ("POST", "comments/"),
    ("POST", "proposals/"),
    ("POST", "assignments/claim/"),
    ("POST", "bulk-accepts/"),
    ("POST", "curations/"),
    ("POST", "reviews/"),
    ("POST", "questions/"),
    ("POST", "datasets/{}/guard-labels/"),
    *(("POST", route) for route in ACTS),
}
MANAGE = {("GET", "access-events/"), ("GET", "access-events/{}/")}


def needed(method: str, route: str) -> str | None:
    """Written here once more: what reads needs `read`, all else `manage`, with the exceptions above."""
    if (method, route) in NO_TOKEN | ANY:
        return None
    for scope, routes in ((Scope.EXPORT, EXPORT), (Scope.ANNOTATE, ANNOTATE), (Scope.MANAGE, MANAGE)):
        if (method, route) in routes:
            return scope
    return Scope.READ if method == "GET" else Scope.MANAGE


def routes() -> list[tuple[str, str]]:
    """(method, route) of everything that the API answers."""
    paths = api_schema()["paths"]
    return [
        (method.upper(), re.sub(r"{\w+}", "{}", path).removeprefix("/api/"))
        for path, methods in paths.items()
        for method in methods
    ]


def headers_of(user, *scopes: str) -> dict[str, str]:
    return {"Authorization": f"Token {make_token(user, list(scopes), 1)[1]}"}


@pytest.mark.slow
def test_every_route_and_method_asks_for_its_scope() -> None:
    """A token that lacks the one scope is refused, a token of that scope gets past the question."""
    world = make_world()
    user = factories.make_user("admin", world.project)
    lacking = {scope: headers_of(user, *set(Scope.values) - {scope}) for scope in Scope.values}
    AuthToken.objects.filter(grant__scopes__contains=["annotate", "export", "manage"]).update(user=user)
    TokenGrant.objects.filter(token__user=user, scopes=["read", "annotate", "export", "manage"]).update(
        scopes=["annotate", "export", "manage"]  # `read` belongs to each token that is made: here one is bent
    )
    having = {scope: headers_of(user, scope) for scope in Scope.values}
    wrong = []
    for method, route in routes():
        scope = needed(method, route)
        if scope is None:
            continue
        noun = route.split("/")[0]
        named = "0" * 64 if "screenshots/" in route else "0"
        url = "/api/" + route.replace("{}", str(world.keys.get(noun, 0)), 1).replace("{}", named)
        for headers, refused in ((lacking[scope], True), (having[scope], False)):
            answer = Client().generic(method, url, "{}", content_type="application/json", headers=headers)
            said = answer.status_code == 403 and b"This token may not" in answer.content
            if said != refused:
                wrong.append((method, route, scope, refused, answer.status_code, answer.content[:80]))
    assert wrong == []


def test_the_exceptions_of_this_file_are_routes() -> None:
    assert set(routes()) >= NO_TOKEN | ANY | EXPORT | ANNOTATE | MANAGE


def test_a_token_without_a_grant_may_do_nothing_and_says_why() -> None:
    _, secret = AuthToken.objects.create(factories.make_user("admin"))
    answer = Client().get("/api/datasets/", headers={"Authorization": f"Token {secret}"})
    assert answer.status_code == 403
    assert "may not be used to read" in answer.json()["detail"]


def test_any_token_may_end_itself() -> None:
    user = factories.make_user("reader")
    assert Client().post("/api/auth/logout/", headers=headers_of(user, "read")).status_code == 204
    assert not AuthToken.objects.filter(user=user).exists()


def test_tokens_from_before_scopes_may_do_everything() -> None:
    from django.apps import apps

    _, secret = AuthToken.objects.create(factories.make_user("admin"))
    give_all = __import__("annotations.migrations.0010_token_grants", fromlist=["give_all"]).give_all
    give_all(apps, None)
    headers = {"Authorization": f"Token {secret}"}
    assert Client().get("/api/datasets/", headers=headers).status_code == 200
    assert Client().post("/api/imports/", {}, content_type="application/json", headers=headers).status_code == 400


def test_a_token_expires_at_the_latest_when_the_site_says_so(settings) -> None:
    settings.TOKEN_LONGEST_DAYS = 30
    row, _ = make_token(factories.make_user(), ["read"], 365)
    assert row.expiry < timezone.now() + timedelta(days=31)
    plain, _ = AuthToken.objects.create(factories.make_user())
    assert plain.expiry < timezone.now() + timedelta(days=91)


def test_the_page_makes_a_token_of_the_chosen_scopes_and_lists_its_use() -> None:
    user = factories.make_user("admin")
    client = client_of(user)
    page = client.post("/tokens/", {"name": "nightly", "scopes": ["export"], "days": "30"})
    headers = {"Authorization": f"Token {page.context['secret']}"}
    assert Client().post("/api/imports/", {}, content_type="application/json", headers=headers).status_code == 403
    assert Client().get("/api/me/", headers=headers).status_code == 200
    listed = source(client.get("/tokens/"))
    assert "nightly" in listed
    assert "read, export" in listed
    assert "from 127.0.0.1" in listed
    assert page.context["secret"] not in listed


def test_a_token_needs_at_least_one_scope() -> None:
    page = client_of(factories.make_user()).post("/tokens/", {"days": "30"})
    assert page.context["secret"] == ""
    assert "required" in page.content.decode()


def test_the_api_makes_no_token_without_a_scope() -> None:
    """It could do nothing, where left out means everything."""
    factories.make_user("admin", username="ada", password="a-long-enough-1")
    body = {"username": "ada", "password": "a-long-enough-1", "scopes": []}
    answer = Client().post("/api/auth/login/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json() == {"scopes": ["This list may not be empty."]}
    assert not TokenGrant.objects.exists()


def test_the_api_makes_a_token_of_the_wanted_scopes() -> None:
    factories.make_user("admin", username="ada", password="a-long-enough-1")
    body = {"username": "ada", "password": "a-long-enough-1", "scopes": ["read"], "name": "notebook"}
    token = Client().post("/api/auth/login/", body, content_type="application/json").json()["token"]
    headers = {"Authorization": f"Token {token}"}
    assert Client().post("/api/imports/", {}, content_type="application/json", headers=headers).status_code == 403
    assert TokenGrant.objects.get().name == "notebook"
