"""A table that is drawn beside its numbers, saved as CSV from its page."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests import factories
from tests.app_server import AppServer
from tests.web.test_pages_studies import add_scores, make_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_what_a_recipe_has_reached_is_saved_with_its_intervals(
    app_server: AppServer, page: Page, sign_in, tmp_path: Path
) -> None:
    study, own = make_study(recipe_name="grounded")
    other = factories.make_run(
        own.dataset, recipe_name="grounded-world-model", split="train", state="done", recipe=own.recipe
    )
    add_scores(own, turn_success=0.4)
    add_scores(other, turn_success=0.6)
    sign_in(factories.make_user("reader", study.project))
    page.goto(app_server.url("/recipes/grounded/"))

    def saved(section: str) -> list[list[str]]:
        with page.expect_download() as download:
            page.locator(section).get_by_role("button", name="CSV").click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        return list(csv.reader((tmp_path / download.value.suggested_filename).open(newline="")))

    (reached,) = saved("#scores-here")
    assert "40.0, from 30.0 to 50.0" in reached
    assert [row[:2] for row in saved("#variants-here")] == [
        ["Recipe", "Percent"],
        ["grounded-world-model", "60.0"],
        ["grounded", "40.0"],
    ]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"grounded-reached-on-{own.dataset}.csv",
        "grounded-relatives.csv",
    }


@pytest.mark.slow
def test_a_text_that_a_spreadsheet_would_carry_out_is_saved_as_a_text(
    app_server: AppServer, page: Page, sign_in, tmp_path: Path
) -> None:
    study, own = make_study(recipe_name="grounded")
    run = factories.make_run(
        own.dataset, recipe_name="grounded-world-model", split="train", state="done", recipe=own.recipe
    )
    for one in (own, run):
        add_scores(one, turn_success=0.4)
    sign_in(factories.make_user("reader", study.project))
    page.goto(app_server.url("/recipes/grounded/"))
    page.evaluate("document.querySelector('#variants-here td').textContent = '=SUM(1, 2)'")
    page.evaluate("document.querySelector('#variants-here td.n').textContent = '-4.5'")
    with page.expect_download() as download:
        page.locator("#variants-here").get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    row = list(csv.reader((tmp_path / "table.csv").open(newline="")))[1]
    assert row[:2] == ["'=SUM(1, 2)", "-4.5"]
