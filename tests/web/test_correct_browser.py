"""The page of a correction: the recorded page beside the form, an element chosen by a click on it or by keys alone."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotations.corpus.correct.correcting import GoldDesk
from annotations.corpus.correct.pickable import meaning_of_clicks, names_of
from annotations.datasets.records import CandidateRecord
from annotations.models import Correction, Role, Step
from annotations.models.corpus.candidates import pack_candidates
from tests import factories
from tests.app_server import AppServer
from tests.signed_in import client_of
from tests.web.annotating import press
from tests.web.replay_world import NAMES, make_replay

expect.set_options(timeout=15_000)  # a loaded machine answers late
ROWS = [
    [0, "1", "html", "", False, False],
    [1, "2", "a", "", False, True],
    [2, "3", "svg", "", False, True],
    [2, "4", "span", "Cart", True, False],
    [1, "5", "p", "Welcome", False, False],
    [1, "", "p", "No id", False, False],
]


def test_elements_are_called_by_what_stands_in_them_and_a_click_means_the_nearest_choice() -> None:
    assert names_of(ROWS) == {"1": "Cart Welcome No id", "2": "Cart", "3": "", "4": "Cart", "5": "Welcome"}
    assert meaning_of_clicks(ROWS, {"2", "3"}) == ({"2": "2", "3": "3", "4": "2"}, {"3": "2"})
    assert meaning_of_clicks(ROWS, set()) == ({}, {})


def is_other(named: tuple[str, str]) -> bool:
    return named[0] != "22"


def asked(split: str = "train") -> tuple[Correction, dict[str, Any]]:
    """A correction of the step whose gold is the button 22, of a page with other controls and links, and people who
    take it further."""
    world = make_replay(0, split=split)
    step, project = world.steps[4], world.trajectory.run.dataset.project
    gold, *others = (CandidateRecord(node, name.split()[0]) for node, name in sorted(NAMES.items(), key=is_other))
    Step.objects.filter(pk=step.pk).update(candidates=pack_candidates([gold], others))
    people = {role: factories.make_user(role, project) for role in (Role.ANNOTATOR, Role.REVIEWER, Role.ADMIN)}
    found = Correction.objects.ask(step, people[Role.ADMIN], "It is not this one.")
    return found, people


def test_the_page_is_shown_beside_with_its_gold_and_what_is_proposed(db) -> None:
    found, people = asked()
    page = client_of(people[Role.ANNOTATOR]).get(f"/corrections/{found.pk}/")
    beside = page.context["beside"]
    assert [(mark["id"], mark["kind"]) for mark in beside["view"]["marks"]] == [("22", "gold")]
    assert ["21", "button", "Blu-ray $2.00", False] in beside["elements"]
    assert beside["elements"][0] == ["22", "button", "4K UHD $2.50", True]
    Correction.objects.filter(pk=found.pk).update(
        state="proposed", operation="CLICK", node_id="20", corrected_by=people[Role.ANNOTATOR]
    )
    page = client_of(people[Role.REVIEWER]).get(f"/corrections/{found.pk}/")
    marks = page.context["beside"]["view"]["marks"]
    assert [(mark["id"], mark["label"]) for mark in marks] == [("22", "gold"), ("20", "proposed")]


def test_neither_page_nor_gold_of_a_test_split_is_shown_to_those_who_may_not_see_it(db) -> None:
    found, people = asked("test_task")
    assert client_of(people[Role.ANNOTATOR]).get(f"/corrections/{found.pk}/").status_code == 404
    page = client_of(people[Role.ADMIN]).get(f"/corrections/{found.pk}/")
    assert [mark["kind"] for mark in page.context["beside"]["view"]["marks"]] == ["gold"]


def test_a_step_without_a_page_is_corrected_from_the_list(db) -> None:
    found, people = asked()
    Step.objects.filter(pk=found.step_id).update(snapshot=None)
    page = client_of(people[Role.ANNOTATOR]).get(f"/corrections/{found.pk}/")
    assert page.context["beside"] is None
    assert "This step has no page" in page.content.decode()


def test_controls_without_words_may_be_chosen_where_the_source_lists_no_candidates(db) -> None:
    found, _ = asked()
    Step.objects.filter(pk=found.step_id).update(candidates=b"")
    step = Step.objects.get(pk=found.step_id)
    chosen = {one.node_id for one in GoldDesk(step).choices()}
    assert {"10", "11", "3", "22"} < chosen
    assert not {"9", "5"} & chosen


def opened(app_server: AppServer, page: Page, found: Correction) -> None:
    page.goto(app_server.url(f"/corrections/{found.pk}/"))
    expect(page.locator("#snapshot iframe:not([aria-hidden])")).to_be_visible()
    expect(page.locator("[name=node_id]")).to_have_attribute("size", "10")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_an_element_is_chosen_by_a_click_on_the_recorded_page(app_server: AppServer, page: Page, sign_in) -> None:
    found, people = asked()
    sign_in(people[Role.ANNOTATOR])
    opened(app_server, page, found)
    expect(page.locator("[name=node_id]")).to_have_value("22")
    recorded = page.frame_locator("#snapshot iframe:not([aria-hidden])")
    recorded.get_by_text("Blu-ray $2.00").click()
    expect(page.locator("[name=node_id]")).to_have_value("21")
    expect(page.locator("[name=node_id] option:checked")).to_have_text("Blu-ray $2.00 [button] 21")
    recorded.get_by_text("Films, page 5").click()
    expect(page.locator("#said")).to_have_text("Nothing here can be gold: choose another element")
    expect(page.locator("[name=node_id]")).to_have_value("21")
    page.get_by_role("button", name="Propose").click()
    expect(page.locator("dl.facts")).to_contain_text("Blu-ray $2.00")
    found.refresh_from_db()
    assert (found.state, found.operation, found.node_id) == ("proposed", "CLICK", "21")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_an_element_is_chosen_by_its_words_with_keys_alone(app_server: AppServer, page: Page, sign_in) -> None:
    found, people = asked()
    sign_in(people[Role.ANNOTATOR])
    opened(app_server, page, found)
    press(page, "/")
    page.keyboard.type("title 12")
    expect(page.locator("#found")).to_have_text("11 elements of 36")
    expect(page.locator("[name=node_id]")).to_have_value("22")  # nothing is chosen by typing
    press(page, "Enter ArrowDown ArrowDown")
    expect(page.locator("[name=node_id]")).to_be_focused()
    expect(page.locator("[name=node_id]")).to_have_value("2121")
    press(page, "Escape p")
    expect(page.locator("dl.facts")).to_contain_text("Title 121")
    found.refresh_from_db()
    assert (found.state, found.node_id) == ("proposed", "2121")
    told = json.loads(page.locator("#correction-data").text_content() or "")
    assert [mark["label"] for mark in told["view"]["marks"]] == ["gold", "proposed"]
