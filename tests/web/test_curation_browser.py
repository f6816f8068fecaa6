"""Two versions made one by keys alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotations.models import Assignment, Curation
from tests import factories
from tests.annotations.work_world import add_parts, make_rewrite
from tests.app_server import AppServer

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def make_pair() -> tuple[Assignment, Assignment]:
    first = make_rewrite(factories.make_session(tasks=3, steps=2), ())
    second = make_rewrite(first.item.session, ())
    add_parts(first, ("Find shoes.", "Sort them.", "Buy one."), every=2)
    add_parts(second, ("Find shoes.", "Now by price.", "Buy the first."), every=2)
    return first, second


def test_each_difference_is_decided_by_a_key(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    pair = in_thread(make_pair)
    sign_in(in_thread(lambda: factories.make_user("reviewer", pair[0].item.session.campaign.project)))
    page.goto(app_server.url("/annotate/disputes/"))
    page.locator("#versions a").click()
    rows = page.locator("[data-difference]")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_be_focused()
    page.wait_for_timeout(1_500)
    page.keyboard.press("a")
    expect(rows.nth(0)).to_have_attribute("data-decided", "a")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("b")
    expect(rows.nth(1)).to_have_attribute("data-decided", "b")
    page.keyboard.press("u")
    expect(rows.nth(1)).not_to_have_attribute("data-decided", re.compile("."))
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("e")
    rewrite = rows.nth(1).get_by_label("Rewrite")
    expect(rewrite).to_be_focused()
    rewrite.fill("Take the first one.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#left")).to_contain_text("All 2 decided")
    page.keyboard.press("Enter")
    expect(page.locator(".flash")).to_contain_text("Make it one once more to pass it all the same")
    page.keyboard.press("Enter")
    expect(page.locator(".flash")).to_contain_text("is one version now")
    expect(page.locator("#versions")).to_have_count(0)
    taken = in_thread(lambda: Assignment.objects.get(pk=pair[0].pk, review="passed"))
    found = in_thread(lambda: [part.rewrite for part in taken.ordered_parts()])
    assert found == ["Find shoes.", "Sort them.", "Take the first one."]
    spent = in_thread(lambda: Curation.objects.get().active_seconds)
    assert 1 <= spent < 60, "from the page's opening on"
