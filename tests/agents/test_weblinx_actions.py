"""WebLINX action strings: what the cases of the published code do not show."""

import ast
import inspect

import pytest

from agents.weblinx.actions import action_call, clock, default_call, history_call
from agents.weblinx.quirks import CORRECTED
from agents.weblinx.turns import PagesByName, ReplayTurn
from annotations.datasets.weblinx import turns as recorded_turns
from tests.agents.weblinx_demo import browser, chat, make_demo


def only_turn(data):
    return make_demo(data).turns[0]


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (59.99, "00:59"), (3725.2, "62:05"), (-61.5, "-01:01")])
def test_the_clock_cuts_fractions_and_keeps_the_sign(seconds, text):
    assert clock(seconds) == text


def test_line_breaks_are_written_as_two_characters_and_quotes_are_left_alone():
    turn = only_turn(chat("navigator", 'one "two"\nthree\tfour'))
    assert str(action_call(turn)) == r'say(speaker="navigator", utterance="one "two"\nthree\tfour")'


def test_corrected_history_shows_the_six_attributes_cut_to_twenty_characters():
    turn = only_turn(browser("click", "go", timestamp=65))
    published = 'click(x=25, y=30, tag="a", attrs={}, timestamp="01:05")'
    assert str(history_call(turn)) == published
    shown = "{'class': 'search wide', 'href': 'https://example.o...'}"
    assert str(history_call(turn, CORRECTED)) == published.replace("{}", shown)


def test_a_turn_without_an_element_has_no_uid_and_no_tag():
    turn = only_turn(browser("textInput", text=" a "))
    assert str(action_call(turn)) == 'text_input(text="a", uid=None)'
    assert str(history_call(turn)) == 'text_input(text="a", timestamp="00:00")'


def test_values_that_are_no_text_are_written_as_text():
    assert str(action_call(only_turn(browser("change", "go", value=2)))) == 'change(value="2", uid="go")'


def test_an_intent_that_weblinx_does_not_record_is_named():
    with pytest.raises(ValueError, match="turn 0 has the unknown intent 'drag'"):
        default_call(only_turn(browser("drag")))


def test_the_boxes_of_a_page_go_by_its_first_number():
    pages = PagesByName({}, {"bboxes-12.json": {"go": {}}})
    turns = [only_turn(browser("click") | {"state": {"page": page}}) for page in ("page-12-3.html", "page-1-12.html")]
    assert [pages.bboxes(turn) for turn in turns] == [{"go": {}}, None]


def test_turns_are_views_of_the_published_dicts():
    data = browser("load", properties={"url": "https://example.org"}, unknown={"kept": True})
    turn = only_turn(data)
    assert turn.data is data
    assert (turn.url, turn.viewport_height, turn.page, turn.uid) == ("https://example.org", 800, "page-0-0.html", None)
    bare = only_turn(chat("instructor", "Hello"))
    assert (bare.page, bare.element, bare.screenshot, bare.viewport_width) == (None, None, None, None)


@pytest.mark.parametrize("attributes", [["data-webtasks-id"], "go", {"data-webtasks-id": 5}, None])
def test_agents_and_the_import_read_the_same_element(attributes) -> None:
    """One reader knows where in a turn its element stands: what it cannot read is no element for either."""
    data = browser("click", "go")
    data["action"]["arguments"]["element"]["attributes"] = attributes
    assert recorded_turns.uid_of(data) == ""
    assert only_turn(data).uid is None


def test_a_view_reads_nothing_by_itself():
    """Where what stands in a recorded turn is known in one place."""
    reading = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(ReplayTurn)))
        if isinstance(node, ast.Subscript | ast.Call) and ast.unparse(node).startswith("self.")
    ]
    assert [ast.unparse(node) for node in reading] == ["self.recorded_intent.lower()"]
