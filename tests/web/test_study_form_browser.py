"""The study form in a browser: what is chosen last is what stands there."""

import pytest
from playwright.sync_api import Route, expect

from annotations.models import Split
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.slow
def test_an_answer_that_comes_late_does_not_replace_that_of_a_later_choice(app_server, page, sign_in) -> None:
    dataset = factories.make_dataset()
    for _ in range(3):
        factories.make_conversation(turns=1, steps=2, split=Split.TEST_TASK, dataset=dataset)
    sign_in(factories.make_user("admin", dataset.project))
    late: list[Route] = []
    page.route("**/studies/new/?*limit=3*", lambda route: late.append(route))
    page.goto(app_server.url(f"/studies/new/?dataset={dataset.name}&recipe=grounded&splits=test_task"))
    limit, expected = page.locator("[name=limit]"), page.locator("#expected")
    for conversations in ("3", "1"):
        limit.fill(conversations)
        limit.blur()
        page.wait_for_timeout(100)
    expect(expected).to_contain_text("2 steps")
    assert len(late) == 1
    with page.expect_response("**/studies/new/?*limit=3*"):
        late[0].continue_()
    page.wait_for_timeout(300)
    expect(expected).to_contain_text("2 steps")


def test_what_is_changed_or_not_chosen_is_part_of_what_is_foretold(app_server, page, sign_in) -> None:
    dataset = factories.make_dataset()
    factories.make_conversation(turns=1, steps=2, dataset=dataset)
    sign_in(factories.make_user("admin", dataset.project))
    page.goto(app_server.url("/studies/new/"))
    expected = page.locator("#expected")
    expect(expected).to_contain_text("1 run of 2 steps in all.")
    page.get_by_text("Seed, preset, changed settings").click()
    page.locator("[name=overrides]").fill("recall.kk=1")
    page.locator("[name=overrides]").blur()
    expect(expected).to_contain_text("grounded cannot run so")
    page.locator("[name=recipes][value=grounded]").uncheck()
    expect(expected).to_contain_text("Choose a dataset and a recipe")
