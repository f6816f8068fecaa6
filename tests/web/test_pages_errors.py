"""Error pages, and the frame of every page."""

import pytest
from django.test import Client, RequestFactory
from django.views import defaults
from django.views.csrf import csrf_failure

from tests import factories
from tests.web.reading import source


def test_the_500_page_needs_neither_database_nor_context() -> None:
    """No `db` mark: a query would fail this test."""
    response = defaults.server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert "on our side" in response.content.decode()


def test_the_csrf_page_says_what_to_do() -> None:
    page = csrf_failure(RequestFactory().get("/")).content.decode()
    assert "Nothing was changed" in page


@pytest.mark.django_db
def test_a_missing_page_and_a_refusal_are_explained() -> None:
    client = Client()
    client.force_login(factories.make_user("reader"))
    missing = client.get("/datasets/nothing-here/")
    assert missing.status_code == 404
    assert "nothing at this address" in missing.content.decode()
    refused = client.get("/studies/new/")
    assert refused.status_code == 403
    assert "role of an admin" in refused.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "section"),
    [("/", ""), ("/datasets/import/", "Datasets"), ("/jobs/", "Jobs"), ("/recipes/", "Agents"), ("/runs/", "Runs")],
)
def test_the_section_of_a_page_is_marked_in_the_top_bar(path: str, section: str) -> None:
    client = Client()
    client.force_login(factories.make_user("admin"))
    sections = client.get(path).context["sections"]
    assert "".join(entry.label for entry in sections if entry.current) == section


@pytest.mark.django_db
@pytest.mark.parametrize(("cookie", "shown"), [("dark", 'data-theme="dark"'), ('"><script>', '<html lang="en">')])
def test_the_theme_is_in_the_first_byte_and_cannot_be_abused(cookie: str, shown: str) -> None:
    client = Client()
    client.cookies["theme"] = cookie
    assert shown in source(client.get("/login/"))


@pytest.mark.django_db
def test_every_page_forbids_inline_scripts_and_styles() -> None:
    client = Client()
    client.force_login(factories.make_user("admin"))
    directives = client.get("/")["Content-Security-Policy"].split("; ")
    assert {"script-src 'self'", "style-src 'self'"} <= set(directives)
