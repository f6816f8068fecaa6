"""Every API route against every role: anonymous 401, foreign rows 404, missing abilities 403, hidden gold."""

import re

import pytest
from django.conf import settings
from django.test import Client

from annotations.models import Membership
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.world import ACTS, LISTS, READS, STARTS, WRITES, World, make_world

pytestmark = pytest.mark.django_db
UNSCOPED = ("recipes", "access-events", "connections")  # rows of no project; the last two for superusers
ROLES = ("admin", "annotator", "reviewer", "reader")


@pytest.fixture(scope="module")
def world(rows_of_the_file: None) -> World:
    return make_world()


def test_every_route_of_the_api_is_in_these_tests() -> None:
    """A new route must be added to tests/web/world.py, and with it to the tests of this file."""
    paths = api_schema()["paths"]
    found = {re.sub(r"{\w+}", "{}", path.replace("{seq}", "0")).removeprefix("/api/") for path in paths}
    known = {f"{noun}/" for noun in (*LISTS, *STARTS, *UNSCOPED, "me", "home", "auth/login", "auth/logout")}
    assert found == known | {f"{noun}/{{}}/" for noun in (*LISTS, *UNSCOPED)} | {
        *READS,
        *WRITES,
        *ACTS,
        "assignments/claim/",
        "connections/{}/test/",
        "recipes/{}/prepare/",
        "runs/compare/",
        "reviews/reasons/",
        "review-queues/{}/next/",
        "trajectories/{}/screenshots/{}/image/",  # tests/agents/test_episodes.py
        "assignments/{}/returns/",  # tests/web/test_api_put_right.py
        "campaigns/{}/quality/",
        *(f"campaigns/{{}}/{what}/" for what in ("work", "work/give", "work/priority")),
    }


@pytest.mark.parametrize("noun", [*LISTS, "recipes", "me", "home", "recipes/mindact/prepare", "runs/compare", "schema"])
def test_an_anonymous_list_request_is_answered_401(noun: str) -> None:
    response = Client().get(f"/api/{noun}/")
    assert response.status_code == 401
    assert "json" in response["Content-Type"]
    assert response["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("noun", STARTS)
def test_an_anonymous_request_to_start_work_is_answered_401(noun: str) -> None:
    assert Client().post(f"/api/{noun}/", {}, content_type="application/json").status_code == 401


@pytest.mark.slow
def test_anonymous_requests_for_rows_are_answered_401(world: World) -> None:
    for url in (*world.details(), *world.reads()):
        assert Client().get(url).status_code == 401, url
    for route in (*WRITES, *ACTS):
        assert Client().post(world.fill(route)).status_code == 401, route
    assert Client().post("/api/assignments/claim/").status_code == 401


@pytest.mark.slow
@first_is_quick("role", ROLES)
def test_rows_of_another_project_do_not_exist(role: str, world: World) -> None:
    client = client_of(factories.make_user(role))
    for url in (*world.details(), *world.reads()):
        assert client.get(url).status_code == 404, url
    for route in (*WRITES, *ACTS):
        assert client.post(world.fill(route)).status_code == 404, route


@pytest.mark.slow
@first_is_quick("role", ROLES)
def test_lists_leave_out_rows_of_other_projects(role: str, world: World) -> None:
    user = factories.make_user(role)
    client = client_of(user)
    for noun in LISTS:
        rows = client.get(f"/api/{noun}/").json()["results"]
        own = {"projects", "memberships"}  # the user's own membership is the only row
        assert len(rows) == (noun in own), noun
        assert world.keys[noun] not in {row.get("id", row.get("sha256")) for row in rows}, noun


@pytest.mark.slow
@first_is_quick("role", ROLES)
def test_members_of_every_role_read_all_rows_of_their_project(role: str, world: World) -> None:
    client = client_of(factories.make_user(role, world.project))
    for noun in LISTS:
        rows = client.get(f"/api/{noun}/").json()["results"]
        assert world.keys[noun] in {row.get("id", row.get("sha256")) for row in rows}, noun
    for url in (*world.details(), *world.reads()):
        expected = 404 if url.endswith("/file/") else 200  # the job has not made a file
        if url.endswith("/lessons.jsonl") and role not in STARTED_BY["exports"]:
            expected = 403  # a bulk download of gold
        assert client.get(url).status_code == expected, url


def test_a_user_whose_membership_ends_loses_the_rows(world: World) -> None:
    user = factories.make_user("admin", world.project)
    Membership.objects.filter(user=user).delete()
    assert client_of(user).get(f"/api/datasets/{world.keys['datasets']}/").status_code == 404


def test_a_closed_account_is_refused(world: World) -> None:
    user = factories.make_user("admin", world.project)
    client = client_of(user)
    user.is_active = False
    user.save()
    assert client.get("/api/datasets/").status_code == 401


STARTED_BY = {"imports": {"admin"}, "exports": {"admin", "reviewer"}, "studies": {"admin"}, "live-goals": {"admin"}}
STARTED_BY["studies/forecast"] = {"admin"}
STARTED_BY["demonstrations"] = {"admin", "reviewer"}
STARTED_BY["typed-conversations"] = {"admin"}
STARTED_BY["judgings"] = STARTED_BY["judgings/forecast"] = {"admin"}
STARTED_BY["explanations"] = STARTED_BY["explanations/forecast"] = {"admin"}
STARTED_BY["transitions"] = STARTED_BY["redactions"] = {"admin"}
STARTED_BY["guard-forecasts"] = {"admin", "reviewer"}


def start(client: Client, noun: str, world: World):
    name = world.project.datasets.get(live={}).name
    live = factories.make_dataset(world.project, live={"environment": "miniwob", "steps": 5, "seconds": 9}).name
    bodies = {
        "imports": {"project": world.project.slug, "format": "jsonl", "name": "new", "path": "no-such-file.jsonl"},
        "exports": {"dataset": name, "format": "no-such-format"},
        "studies": {"dataset": name, "recipes": ["no-such-recipe"]},
        "studies/forecast": {"dataset": name, "recipes": ["no-such-recipe"]},
        "live-goals": {"project": world.project.slug, "name": "new", "environment": "no-such-environment"},
        "typed-conversations": {"project": world.project.slug, "website": "no-such-website", "words": "Go."},
        "guard-forecasts": {"dataset": live},
        "transitions": {"dataset": live},
        "redactions": {"dataset": live, "text": "nobody@mail.example"},
        "judgings": {"runs": [world.keys["runs"]], "judge": "gold", "connection": "none"},
        "judgings/forecast": {"runs": [world.keys["runs"]], "judge": "gold", "connection": "none"},
        "explanations": {"runs": [world.keys["runs"]], "scanner": "reason", "connection": "none"},
        "explanations/forecast": {"runs": [world.keys["runs"]], "scanner": "reason", "connection": "none"},
        "demonstrations": {"project": world.project.slug, "environment": "miniwob", "task": "no-such-task"},
    }
    return client.post(f"/api/{noun}/", bodies[noun], content_type="application/json")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("noun", STARTS)
def test_work_is_started_only_by_roles_that_may(noun: str, role: str, world: World) -> None:
    """Those who may get past the permission and meet the mistake in the request."""
    response = start(client_of(factories.make_user(role, world.project)), noun, world)
    assert response.status_code == (400 if role in STARTED_BY[noun] else 403), response.content


@pytest.mark.parametrize("noun", STARTS)
def test_a_project_of_others_reads_like_one_that_does_not_exist(noun: str, world: World) -> None:
    response = start(client_of(factories.make_user("admin")), noun, world)
    assert response.status_code == 400
    assert "does not exist" in response.content.decode()


@pytest.mark.parametrize("role", ["annotator", "reader"])
def test_running_work_is_stopped_and_repeated_only_by_roles_that_may(role: str, world: World) -> None:
    client = client_of(factories.make_user(role, world.project))
    for route in WRITES:
        assert client.post(world.fill(route)).status_code == 403, route


def test_a_session_request_that_writes_needs_its_csrf_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.make_user("admin", world.project))
    assert client.post(world.fill("jobs/{}/cancel/")).status_code == 403


def test_a_filter_by_a_foreign_id_reads_like_one_that_matches_nothing(world: World) -> None:
    client = client_of(factories.make_user("reader"))
    foreign = client.get("/api/conversations/", {"dataset": world.keys["datasets"]})
    nothing = client.get("/api/conversations/", {"dataset": 10**12})
    assert foreign.status_code == nothing.status_code == 200
    assert foreign.json() == nothing.json()


def test_a_filter_that_no_column_can_hold_matches_nothing(world: World) -> None:
    client = client_of(factories.make_user("reader", world.project))
    assert client.get("/api/conversations/", {"dataset": 10**30}).status_code in {200, 400}


def test_unknown_query_parameters_do_not_reach_the_database(world: World) -> None:
    client = client_of(factories.make_user("reader", world.project))
    response = client.get("/api/memberships/", {"user__password__startswith": "pbkdf2", "ordering": "user__password"})
    assert response.status_code == 400, "and they are named, as a filter that is overlooked would give every row"
    assert set(response.json()) == {"user__password__startswith", "ordering"}
    assert len(client.get("/api/memberships/").json()["results"]) == world.project.memberships.count()


@pytest.fixture(scope="module")
def session_key(rows_of_the_file: None) -> str:
    """The session of an admin, made once: making it for each key took longer than asking."""
    return client_of(factories.make_user("admin")).cookies[settings.SESSION_COOKIE_NAME].value


@pytest.mark.parametrize("key", ["0", "-1", "abc", "9" * 30, "1;", "%00", "None"])
@pytest.mark.parametrize("noun", LISTS)
def test_a_strange_key_leads_nowhere(noun: str, key: str, session_key: str) -> None:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session_key
    assert client.get(f"/api/{noun}/{key}/").status_code == 404
