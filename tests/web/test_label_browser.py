"""A step that a person calls harmless or risky: its page as it was recorded, beside what is asked."""

import pytest
from playwright.sync_api import Page, expect

from annotations.models import Role, Step
from tests import factories
from tests.app_server import AppServer
from tests.web.test_faithful_page import RECORDED
from tests.web.test_replay_browser import CHIPS, OPEN_SHADOWS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_the_page_is_laid_out_as_recorded_its_element_in_view_and_keys_answer_from_inside(
    app_server: AppServer, browser_context, page: Page, sign_in
) -> None:
    step = factories.make_step()
    step.targets.update(node_id="20")
    Step.objects.filter(pk=step.pk).update(raw_snapshot=factories.make_snapshot(RECORDED.format("as it was", "DVD")))
    dataset = step.turn.conversation.dataset
    person = factories.make_user(Role.REVIEWER, dataset.project, sees_test_gold=True)
    sign_in(person)
    browser_context.add_init_script(OPEN_SHADOWS)
    page.goto(app_server.url(f"/guard/{dataset.project.slug}/label/?dataset={dataset.name}"))
    frame = page.locator("#snapshot iframe").content_frame
    expect(frame.locator("h1")).to_have_text("Recorded as it was")
    assert frame.locator(":root").evaluate("(root) => root.clientWidth") == 1280
    expect(frame.locator("button").last).to_be_in_viewport()
    layer = frame.locator(":root > div:last-child")
    assert [label for label, _ in layer.evaluate(CHIPS)] == ["gold"]
    frame.locator("h1").evaluate("(one) => one.ownerDocument.defaultView.focus()")
    page.keyboard.press("1")
    expect(page.get_by_text("Nothing is left for you to label")).to_be_visible()
    assert [(one.person, one.kind) for one in step.risk_labels.all()] == [(person, "pay")]
