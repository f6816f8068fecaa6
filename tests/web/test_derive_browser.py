"""The form that derives a recipe is no wall of settings: its stages are folded and a search finds one of them."""

import pytest
from playwright.sync_api import Page, expect

from agents.models import SavedRecipe
from tests import factories
from tests.app_server import AppServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.slow
def test_stages_are_folded_and_a_setting_is_found_by_its_words(app_server: AppServer, page: Page, sign_in) -> None:
    sign_in(factories.make_user("admin"))
    page.goto(app_server.url("/recipes/mindact/derive/"))
    expect(page.get_by_label("Search settings")).to_be_visible()
    stages = page.locator("details.stage-fields")
    assert stages.count() >= 7
    expect(page.locator("details.stage-fields[open]")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollHeight") < 900
    page.locator("summary", has_text="observe").click()
    page.keyboard.press("/")
    page.keyboard.type("top_k kept")
    page.keyboard.press("Enter")  # it does not save
    expect(page.locator(".setting:visible label")).to_have_text(["rank.top_k"])
    expect(page.locator("#found")).to_contain_text("1 of ")
    page.get_by_label("rank.top_k").fill("77")
    page.get_by_label("Search settings").fill("")
    expect(page.locator("details.stage-fields[open] summary")).to_contain_text(["observe"])
    page.get_by_label("Search settings").fill("nothing like it")
    expect(page.locator("#found")).to_contain_text("0 of ")
    expect(page.locator("details.stage-fields:visible")).to_have_count(0)
    page.get_by_label("Name").fill("wide")
    page.get_by_role("button", name="Save recipe").click()
    expect(page).to_have_url(app_server.url("/recipes/wide/"))
    assert SavedRecipe.objects.get().changes == {"rank.top_k": "77"}
