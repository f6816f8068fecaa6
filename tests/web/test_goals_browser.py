"""The form of live goals in a browser: every choice shows at once what it would take."""

import re

import pytest
from playwright.sync_api import expect

from annotations.models import Role
from tests import factories

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_choices_are_answered_with_what_they_take_and_nothing_typed_is_lost(app_server, page, sign_in) -> None:
    sign_in(factories.make_user(Role.ADMIN))
    page.goto(app_server.url("/datasets/"))
    page.get_by_role("link", name="Live goals").click()
    told = page.locator("#expected")
    expect(told).to_contain_text("650 goals of 130 tasks; about 1 min")
    page.get_by_label("Dataset").fill("mine")
    page.get_by_label("Tasks", exact=True).select_option("synapse")
    expect(told).to_contain_text("320 goals of 64 tasks")
    page.get_by_label("Tasks", exact=True).select_option("named")
    expect(told).to_contain_text("Choose tasks")
    page.get_by_label("Tasks by name").fill("click-test login-user")
    page.get_by_label("Episodes").fill("50")
    page.get_by_label("Episodes").press("Tab")
    expect(told).to_contain_text("100 goals of 2 tasks")
    expect(page.get_by_label("Dataset")).to_have_value("mine")
    page.get_by_role("button", name="Make goals").click()
    expect(page).to_have_title(re.compile("Live goals mine"))
    expect(page.locator("main")).to_contain_text("Waiting to start")
