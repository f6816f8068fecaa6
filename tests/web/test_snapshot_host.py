"""Rendered pages: who gets an address, what the two hosts answer, and the headers that keep a page harmless."""

import gzip
import re
import time

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.checks import run_checks
from django.http import Http404
from django.test import Client, RequestFactory

from annotations.dom.marks import Mark
from annotations.models.corpus.pages import compress
from annotations.pages import checks, snapshot_host
from annotations.pages.snapshot_host import BUCKET, LIFETIME, snapshot_url
from tests import factories

pytestmark = pytest.mark.django_db
APP, SNAPSHOTS = "app.example.org", "pages.example.net"
COOKIES = {"HTTP_COOKIE": "sessionid=secret; csrftoken=x"}


@pytest.fixture(autouse=True)
def _two_hosts(settings):
    settings.APP_ORIGIN = f"http://{APP}"
    settings.SNAPSHOT_ORIGIN = f"http://{SNAPSHOTS}"
    settings.ALLOWED_HOSTS = [APP, SNAPSHOTS, "other.example.org"]


def request_of(user, host=APP):
    request = RequestFactory().get("/", headers={"host": host})
    request.user = user
    return request


def member_and_page(role="reader"):
    step = factories.make_step()
    user = factories.make_user(role, step.turn.conversation.dataset.project)
    return user, step.snapshot


def path_of(view):
    return re.sub(r"^https?://[^/]+", "", view.url).partition("#")[0]


def get(path, host=SNAPSHOTS, **extra):
    return Client().get(path, headers={"host": host}, **extra)


def test_a_member_gets_a_scripted_page_on_the_second_origin():
    user, page = member_and_page()
    view = snapshot_url(request_of(user), page)
    assert view.url.startswith(f"http://{SNAPSHOTS}/s/")
    assert (view.sandbox, view.scripted) == ("allow-scripts", True)


def test_the_rendered_page_is_served_there():
    user, page = member_and_page()
    response = get(path_of(snapshot_url(request_of(user), page)))
    assert response.status_code == 200
    assert response["Content-Type"] == "application/xhtml+xml; charset=utf-8"
    assert 'data-node-id="9"' in response.content.decode()


def test_nobody_gets_an_address_of_another_projects_page():
    _, page = member_and_page()
    for user in (factories.make_user("admin"), factories.make_user(), AnonymousUser()):
        with pytest.raises(Http404):
            snapshot_url(request_of(user), page)


def test_an_address_ends_with_the_permission_that_it_was_made_with() -> None:
    step = factories.make_step(factories.make_turn(factories.make_conversation(0, split="test_task"), steps=0))
    project = step.turn.conversation.dataset.project
    for change in ({"sees_test_gold": False}, {"role": "annotator"}):
        user = factories.make_user("reader", project, sees_test_gold=True)
        path = path_of(snapshot_url(request_of(user), step.snapshot))
        assert get(path).status_code == 200
        user.memberships.update(**change)
        assert get(path).status_code == 410
        assert get(path_of(snapshot_url(request_of(user), step.snapshot))).status_code == 200


def test_an_address_ends_with_the_membership_and_with_the_account() -> None:
    user, page = member_and_page()
    root = factories.make_superuser()
    paths = [path_of(snapshot_url(request_of(one), page)) for one in (user, root)]
    assert [get(path).status_code for path in paths] == [200, 200]
    user.memberships.all().delete()
    type(root).objects.filter(pk=root.pk).update(is_active=False)
    assert [get(path).status_code for path in paths] == [410, 410]


def test_pages_after_a_hidden_step_have_no_address() -> None:
    turn = factories.make_turn(factories.make_conversation(0, split="test_task"), steps=2)
    opening, later = turn.steps.order_by("index")
    reader = factories.make_user("reader", turn.conversation.dataset.project)
    assert snapshot_url(request_of(reader), opening.snapshot).url
    with pytest.raises(Http404):
        snapshot_url(request_of(reader), later.snapshot)


def test_a_page_is_visible_through_every_field_that_refers_to_it():
    for field in ("raw_snapshot", "snapshot_after"):
        page = factories.make_snapshot(f"<html><text>{field}</text></html>")
        step = factories.make_step(**{field: page})
        user = factories.make_user("reader", step.turn.conversation.dataset.project)
        assert snapshot_host.can_see(user, page)


def test_superusers_see_every_page():
    assert snapshot_host.can_see(factories.make_superuser(), factories.make_snapshot())


def test_the_address_stays_the_same_for_some_minutes(monkeypatch):
    user, page = member_and_page()
    start = 1_700_000_000 // BUCKET * BUCKET
    urls = set()
    for now in (start, start + BUCKET - 1, start + BUCKET):
        monkeypatch.setattr(time, "time", lambda now=now: float(now))
        urls.add(snapshot_url(request_of(user), page).url)
    assert len(urls) == 2


@pytest.mark.parametrize("host", [APP, "other.example.org"])
def test_addresses_run_out(monkeypatch, host):
    user, page = member_and_page()
    client = Client()
    client.force_login(user)
    path = path_of(snapshot_url(request_of(user, host), page))
    served_by = SNAPSHOTS if host == APP else host
    assert client.get(path, headers={"host": served_by}).status_code == 200
    later = time.time() + LIFETIME + 1
    monkeypatch.setattr(time, "time", lambda: later)
    response = client.get(path, headers={"host": served_by})
    assert response.status_code == 410
    assert "run out" in response.content.decode()
    assert "data-node-id" not in response.content.decode().partition("<body")[2]


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_changed_address_is_not_found(place):
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user), page))
    prefix, signed = path[:3], list(path[3:])
    signed[place] = "A" if signed[place] != "A" else "B"
    assert get(prefix + "".join(signed)).status_code == 404


def test_an_address_of_one_host_is_worthless_on_the_other():
    user, page = member_and_page()
    client = Client()
    client.force_login(user)
    scripted, fallback = (path_of(snapshot_url(request_of(user, host), page)) for host in (APP, "other.example.org"))
    assert get("/s/" + fallback.rpartition("/")[2]).status_code == 404
    assert client.get("/snapshots/" + scripted.rpartition("/")[2], headers={"host": APP}).status_code == 404


def test_the_snapshot_host_serves_nothing_else():
    for path in (
        "/",
        "/api/",
        "/admin/",
        "/login/",
        "/datasets/",
        "/snapshots/x",
        "/static/js/shared/base.js",
        "/s/",
        "/s/x",
    ):
        assert get(path).status_code == 404, path


def test_the_app_host_does_not_serve_scripted_pages():
    user, page = member_and_page()
    client = Client()
    client.force_login(user)
    path = path_of(snapshot_url(request_of(user), page))
    assert client.get(path, headers={"host": APP}).status_code == 404


def test_the_snapshot_host_sets_no_cookies_and_reads_none(django_assert_num_queries):
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user), page))
    with django_assert_num_queries(2):  # the permissions of whom the address was made for, and the page
        response = get(path, **COOKIES)
    assert not response.cookies
    assert not get("/admin/", **COOKIES).cookies


def test_only_reading_is_allowed():
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user), page))
    assert Client().post(path, headers={"host": SNAPSHOTS}).status_code == 405
    assert Client().head(path, headers={"host": SNAPSHOTS}).status_code == 200


def test_headers_of_a_scripted_page():
    user, page = member_and_page()
    response = get(path_of(snapshot_url(request_of(user), page)))
    nonce = re.search(r'<script nonce="([^"]+)"', response.content.decode())[1]
    assert response["Content-Security-Policy"] == (
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-src 'none'; object-src 'none'; "
        f"script-src 'nonce-{nonce}'; frame-ancestors http://{APP}"
    )
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Origin-Agent-Cluster"] == "?1"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response["Cache-Control"] == f"private, max-age={LIFETIME}, immutable"
    permissions = response["Permissions-Policy"].split(", ")
    assert {"camera=()", "geolocation=()", "clipboard-read=()"} <= set(permissions)
    assert all(permission.endswith("=()") for permission in permissions)
    assert "Set-Cookie" not in response


def test_every_response_has_a_nonce_of_its_own():
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user), page))
    assert get(path)["Content-Security-Policy"] != get(path)["Content-Security-Policy"]


def test_headers_of_a_page_without_scripts():
    user, page = member_and_page()
    client = Client()
    client.force_login(user)
    path = path_of(snapshot_url(request_of(user, "other.example.org"), page))
    response = client.get(path, headers={"host": "other.example.org"})
    assert response["Content-Security-Policy"] == (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'; frame-src 'none'; object-src 'none'; "
        "script-src 'none'; frame-ancestors 'self'"
    )
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert b"<script" not in response.content


def test_refusals_of_the_snapshot_host_are_harmless_too():
    response = get("/nothing")
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert response["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("origin", ["", f"http://{APP}:9000"])
def test_without_a_second_host_name_pages_come_without_scripts(settings, origin):
    settings.SNAPSHOT_ORIGIN = origin
    user, page = member_and_page()
    view = snapshot_url(request_of(user), page, [Mark("5", "predicted"), Mark("9", "gold")])
    assert view.url.startswith("/snapshots/")
    assert view.url.endswith("#node-9")
    assert (view.sandbox, view.scripted) == ("", False)


def test_the_fallback_needs_a_signed_in_user():
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user, "other.example.org"), page))
    response = get(path, host="other.example.org")
    assert response.status_code == 302
    assert "/login/" in response["Location"]


def test_the_fallback_carries_its_marks():
    user, page = member_and_page()
    client = Client()
    client.force_login(user)
    view = snapshot_url(request_of(user, "other.example.org"), page, [Mark("9", "candidate", "3")])
    body = client.get(path_of(view), headers={"host": "other.example.org"}).content.decode()
    assert 'id="node-9"' in body


def test_marks_are_told_to_the_browser():
    user, page = member_and_page()
    view = snapshot_url(request_of(user), page, [Mark("9", "gold"), Mark("5", "candidate", "2")])
    assert view.as_dict()["marks"] == (
        {"id": "9", "kind": "gold", "label": "gold"},
        {"id": "5", "kind": "candidate", "label": "2"},
    )


def test_the_same_page_has_the_same_address_whatever_is_marked():
    user, page = member_and_page()
    urls = {snapshot_url(request_of(user), page, [Mark(node, "gold")]).url for node in ("5", "9")}
    assert len(urls) == 1


def test_a_page_that_cannot_be_parsed_is_explained():
    page = factories.make_snapshot()
    type(page).objects.filter(pk=page.pk).update(data=compress(b"<p>"))
    response = get(path_of(snapshot_url(request_of(factories.make_superuser()), page)))
    assert response.status_code == 422
    assert "cannot be rendered" in response.content.decode()


def test_pages_are_compressed_for_those_who_accept_it():
    user, page = member_and_page()
    path = path_of(snapshot_url(request_of(user), page))
    response = Client().get(path, headers={"host": SNAPSHOTS, "accept-encoding": "gzip, br"})
    assert response["Content-Encoding"] == "gzip"
    assert b"data-node-id" in gzip.decompress(response.content)
    assert get(path).get("Content-Encoding") is None


def test_the_check_warns_about_the_fallback(settings):
    settings.DEBUG, settings.SNAPSHOT_ORIGIN = False, ""
    assert "annotations.W001" in {message.id for message in run_checks()}
    assert checks.check_snapshot_origin(None)[0].id == "annotations.W001"


def test_the_check_refuses_an_origin_that_shares_cookies(settings):
    settings.SNAPSHOT_ORIGIN = f"http://{APP}:9000"
    assert checks.check_snapshot_origin(None)[0].id == "annotations.E001"


def test_the_check_is_content_with_two_hosts():
    assert checks.check_snapshot_origin(None) == []
