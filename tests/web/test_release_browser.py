"""A release made, looked at and compared in a real browser, with the keyboard alone."""

import pytest
from playwright.sync_api import Page, expect

from annotations.models import Turn
from tests import factories
from tests.annotations.test_release_making import released, small_dataset

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_a_release_is_made_and_compared_with_keys_only(app_server, page: Page, sign_in) -> None:
    dataset = small_dataset(licence="CC0")
    released(dataset, "1.0")
    Turn.objects.filter(conversation__source_id="first", index=0).update(instruction="Write to ann@mail.example now.")
    sign_in(factories.make_user("admin", dataset.project))
    page.goto(f"{app_server.app_origin}/datasets/{dataset.name}/releases/")
    page.keyboard.press("n")
    expect(page.get_by_text("ann@mail.example")).to_be_visible()
    expect(page.get_by_label("Version")).to_be_focused()
    page.keyboard.type("1.1")
    for _ in range(3):  # licence and consent are those of the release before
        page.keyboard.press("Tab")
    page.keyboard.type("One instruction is new.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"{dataset.name} 1.1")).to_be_visible()
    release = dataset.releases.get(version="1.1")
    expect(page.get_by_text(release.sha256).first).to_be_visible()
    assert (release.notes, release.licence) == ("One instruction is new.", "CC0")
    page.keyboard.press("c")
    expect(page.locator(".change ins").first).to_contain_text("Write")
    expect(page.locator(".change")).to_have_count(1)
