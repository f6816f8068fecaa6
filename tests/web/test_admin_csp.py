"""The admin, the API's documentation and the error pages keep to the content policy, in a real browser."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, Response

from annotations.models import Dataset, Snapshot
from tests import factories
from tests.app_server import AppServer
from tests.web.test_admin import make_staff
from tests.web.world import World, make_world
from webnav_site import health

pytestmark = pytest.mark.browser
LISTEN = """document.addEventListener("securitypolicyviolation",
    (event) => console.error("CSP violation", event.violatedDirective, event.blockedURI, event.sourceFile))"""


@pytest.fixture
def violations(page: Page) -> list[str]:
    """What the browser says about breaches of the policy, on every page that the test visits."""
    found: list[str] = []
    page.add_init_script(LISTEN)
    page.on("console", lambda said: "Content Security Policy" in said.text and found.append(said.text))
    page.on("console", lambda said: "CSP violation" in said.text and found.append(f"{page.url}: {said.text}"))
    return found


@pytest.fixture
def superuser(app_server: AppServer, sign_in: Callable[[object], None]) -> User:
    user = factories.make_superuser()
    sign_in(user)
    return user


def visit(page: Page, server: AppServer, path: str, status: int = 200) -> Response:
    response = page.goto(server.url(path), wait_until="load")
    assert response is not None
    assert response.status == status, path
    policy = response.headers["content-security-policy"].split("; ")
    assert {"default-src 'self'", "script-src 'self'", "style-src 'self'"} <= set(policy)
    return response


def admin_paths(world: World, user: User) -> list[str]:
    keys = world.keys
    snapshot = Snapshot.objects.get(sha256=keys["snapshots"])
    return [
        *("", "annotations/dataset/", f"annotations/dataset/{keys['datasets']}/change/", "annotations/dataset/add/"),
        *(f"annotations/dataset/{keys['datasets']}/delete/", f"annotations/dataset/{keys['datasets']}/history/"),
        *("annotations/conversation/?split=train", f"annotations/conversation/{keys['conversations']}/change/"),
        *("annotations/snapshot/", f"annotations/snapshot/{snapshot.pk}/change/", "annotations/invite/add/"),
        *(f"annotations/step/{keys['steps']}/change/", f"annotations/project/{keys['projects']}/change/"),
        *("annotations/job/?q=sample", f"agents/run/{keys['runs']}/change/", "agents/trajectorystep/"),
        *("agents/workflow/add/", f"evaluation/study/{keys['studies']}/change/", "evaluation/score/"),
        *("auth/user/", f"auth/user/{user.pk}/change/", f"auth/user/{user.pk}/password/", "auth/user/add/"),
        *("password_change/", "knox/authtoken/"),
    ]


@pytest.mark.slow
def test_the_pages_of_the_admin_keep_to_the_policy(
    app_server: AppServer, page: Page, superuser: User, violations: list[str]
) -> None:
    for path in admin_paths(make_world(), superuser):
        visit(page, app_server, f"/admin/{path}")
    assert violations == []


@pytest.mark.slow
def test_the_admin_works_under_the_policy(
    app_server: AppServer, page: Page, superuser: User, violations: list[str]
) -> None:
    """The scripts that people need in it: autocomplete, tabs of permissions, rows added to a form, an action."""
    world = make_world()
    visit(page, app_server, "/admin/annotations/membership/add/")
    page.locator(".field-user .select2-selection").click()
    page.locator(".select2-search__field").fill(superuser.username)
    page.locator(".select2-results__option", has_text=superuser.username).click()
    assert page.locator(".field-user .select2-selection").inner_text().strip().endswith(superuser.username)
    visit(page, app_server, f"/admin/annotations/project/{world.project.pk}/change/")
    page.get_by_text("Add another Membership").click()
    assert page.locator(".dynamic-memberships").count() == world.project.memberships.count() + 1
    visit(page, app_server, "/admin/annotations/dataset/")
    page.locator("#action-toggle").check()
    page.locator("select[name=action]").select_option("evaluate")
    page.locator("button[name=index]").click()
    page.wait_for_selector("select[name=recipe]")
    assert page.locator("input[name=_selected_action]").count() == Dataset.objects.count()
    assert violations == []


@pytest.mark.slow
def test_the_documentation_of_the_api_keeps_to_the_policy_and_tries_requests_out(
    app_server: AppServer, page: Page, superuser: User, violations: list[str]
) -> None:
    make_world()
    visit(page, app_server, "/api/docs/")
    page.locator("#operations-tag-datasets").click()
    page.locator("#operations-datasets-datasets_list").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    assert page.locator(".live-responses-table tbody .response-col_status").inner_text() == "200"
    assert violations == []


def test_the_sign_in_page_of_the_admin_keeps_to_the_policy(
    app_server: AppServer, page: Page, violations: list[str]
) -> None:
    visit(page, app_server, "/admin/login/")
    assert violations == []


def test_error_pages_keep_to_the_policy(
    app_server: AppServer, page: Page, sign_in: Callable[[object], None], violations: list[str], monkeypatch
) -> None:
    sign_in(make_staff())
    visit(page, app_server, "/no-such-page/", 404)
    visit(page, app_server, "/admin/annotations/dataset/", 403)

    def fail() -> None:
        raise RuntimeError("on purpose")

    # No page of the server fails on purpose, so a failure of this process is shown at an address of the server.
    monkeypatch.setattr(health, "check", fail)
    failed = Client(raise_request_exception=False).get("/healthz")
    assert failed.status_code == 500
    headers = {name: failed[name] for name in ("Content-Type", "Content-Security-Policy")}
    page.route("**/failing/", lambda route: route.fulfill(status=500, headers=headers, body=failed.content))
    visit(page, app_server, "/failing/", 500)
    assert violations == []


def test_a_breach_of_the_policy_is_noticed(app_server: AppServer, page: Page, violations: list[str]) -> None:
    """What the tests above rely on."""
    visit(page, app_server, "/admin/login/")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')")
    page.wait_for_timeout(200)
    assert any("style-src" in violation for violation in violations)
