"""The form of live goals in a browser: what another environment offers stands there at once."""

import pytest
from playwright.sync_api import Page, expect

from agents.models import Connection
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_who_the_user_is_is_asked_of_conversations_alone(app_server, page: Page, sign_in, monkeypatch) -> None:
    sign_in(factories.make_user("admin", factories.make_project()))
    Connection.objects.create(base_url="http://127.0.0.1:9/v1", name="ada", model="m-1", private=True)
    page.goto(app_server.url("/live-goals/"), wait_until="load")
    user, note = page.get_by_label("Their user"), page.get_by_text("The open web is off")
    expect(user).to_have_count(0)
    page.get_by_label("Environment").select_option("sample-sites-asking")
    expect(user).to_have_count(1)
    user.select_option("ada")
    page.get_by_text("How a language model speaks for them").press("Enter")
    page.get_by_label("Its temperature").fill("0.2")
    expect(page.get_by_label("Prompt pack that it is asked by")).to_have_value("webnav")
    expect(note).to_have_count(0)
    page.get_by_label("Environment").select_option("open-web")
    expect(user).to_have_count(0)
    expect(note).to_have_count(1)
