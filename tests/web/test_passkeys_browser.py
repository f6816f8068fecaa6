"""Passkeys with a real browser and its virtual authenticator: added, used alone, used as the second factor."""

from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from tests import factories
from tests.app_server import AppServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a-long-enough-1"


@pytest.fixture
def authenticator(page: Page) -> None:
    """A platform key that answers by itself and verifies its user."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def type_password(page: Page, server: AppServer) -> None:
    page.goto(server.url("/login/"))
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.get_by_label("Account and settings").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.slow
def test_a_passkey_is_added_and_signs_in_alone_and_after_the_password(
    app_server: AppServer, page: Page, authenticator: None, sign_in: Callable
) -> None:
    factories.make_user("reader", username="ada", password=PASSWORD)
    type_password(page, app_server)
    page.wait_for_url(app_server.url("/"))
    page.goto(app_server.url("/account/passkeys/add/"))
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    sign_out(page)

    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(app_server.url("/"))
    expect(page.get_by_label("Account and settings")).to_contain_text("ada")
    sign_out(page)

    type_password(page, app_server)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(app_server.url("/"))
    page.goto(app_server.url("/account/"))
    expect(page.get_by_text("passkey", exact=True)).to_be_visible()
