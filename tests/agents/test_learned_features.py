"""What the learned planner sees: words, dates and colours; names that are asked for; values that may be typed."""

import numpy as np
import pytest

from agents.learned import similarity, spans
from agents.learned.candidates import colour_words, implied_words, read_page
from agents.learned.examples import without_quotes
from agents.learned.features import columns
from agents.learned.history import read_history
from agents.learned.instruction import dates, month_number, normal, ordinal_words, phrase_at, read, times
from agents.learned.mentions import name_columns
from agents.learned.prepare import NoCandidates, prepare, template_words
from agents.learned.texts import TextTable, encode_all
from agents.types import Observation, PastAction
from annotations.dom.tree import parse
from tests.agents.learned_world import make_examples


def page_of(body: str):
    return read_page(parse(f'<body backend_node_id="1">{body}</body>'), ())


def button(node_id: int, name: str, more: str = "") -> str:
    return f'<button backend_node_id="{node_id}" {more}><text>{name}</text></button>'


def of(page, instruction: str, name: str, *past: PastAction) -> list[float]:
    return list(columns(page, read(instruction), read_history(past), frozenset())[name])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 12/31/2016", [(2016, 12, 31)]),
        ("on 2016-02-03", [(2016, 2, 3)]),
        ("on March 5, 2019", [(2019, 3, 5)]),
        ("the 3rd of May 2020", [(2020, 5, 3)]),
        ("Room 12 of 2016", []),
    ],
)
def test_dates_are_read_in_the_ways_people_write_them(text, expected) -> None:
    assert dates(text) == expected


def test_times_are_on_the_24_hour_clock() -> None:
    assert times("at 7:05 AM, 12:30 am, 12:15 PM, 4:20 pm or 23:10") == [(7, 5), (0, 30), (12, 15), (16, 20), (23, 10)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Bob's", "bob"), ("Links", "link"), ("bus", "bus"), ("glass", "glass"), ("this", "this"), ("@Morbi", "@morbi")],
)
def test_words_have_a_normal_form(word, expected) -> None:
    assert normal(word) == expected


def test_months_and_ordinals_have_their_words() -> None:
    assert [month_number(word) for word in ("March", "dec", "Dec.", "Mars", "")] == [3, 12, 12, 0, 0]
    assert ordinal_words(2) == {"2nd", "second"}
    assert ordinal_words(11) == {"11th"}


def test_a_phrase_is_found_wherever_its_words_stand_together() -> None:
    assert phrase_at(("tab", "2"), ("on", "tab", "2", "of", "tab", "2")) == [1, 4]
    assert phrase_at((), ("a",)) == []


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("rgb(0, 0, 255)", "blue"),
        ("rgb(255, 0, 0)", "red"),
        ("rgb(0, 128, 0)", "green"),
        ("rgb(0, 0, 0)", "black"),
        ("rgb(255, 255, 255)", "white"),
        ("rgb(128, 128, 128)", "grey"),
        ("rgb(255, 165, 0)", "orange"),
        ("rgb(128, 0, 128)", "purple"),
        ("rgb(0, 255, 255)", "cyan"),
        ("rgb(255, 192, 203)", "pink"),
    ],
)
def test_colours_have_the_names_that_people_give_them(css, expected) -> None:
    assert expected in colour_words(css)


@pytest.mark.parametrize("css", ["", "red", "rgba(1, 2, 3, 0)", "rgb(1, 2)"])
def test_what_is_no_visible_colour_has_no_name(css) -> None:
    assert colour_words(css) == set()


def test_elements_are_described_by_kind_colour_and_place() -> None:
    page = page_of('<a backend_node_id="2">A</a><a backend_node_id="3">B</a><rect backend_node_id="4" id="r"/>')
    first, second, box = implied_words(page)
    assert {"link", "first", "1st"} <= first
    assert {"second", "last"} <= second
    assert {"rectangle", "square"} <= box


def test_the_named_element_is_found_and_a_longer_name_covers_a_shorter_one() -> None:
    page = page_of(button(2, "1") + button(3, "Tab #1") + button(4, "Other"))
    assert of(page, "Open Tab #1 now", "named") == [0, 1, 0]


def test_names_are_in_the_order_of_the_instruction_until_dealt_with() -> None:
    page = page_of(button(2, "Oban") + button(3, "Mull") + button(4, "Skye"))
    past = PastAction("[button]  Skye -> CLICK", "CLICK", "4")
    assert of(page, "Click Skye, Oban, Mull", "pending_order") == pytest.approx([1 / 2, 1 / 3, 1])
    assert of(page, "Click Skye, Oban, Mull", "pending_order", past) == pytest.approx([1, 1 / 2, 0])
    assert of(page, "Click Skye, Oban, Mull", "acted_last", past) == [0, 0, 1]


def test_quoted_function_words_are_names_and_others_are_not() -> None:
    page = page_of(button(2, "to") + button(3, "go"))
    found = name_columns(page, read('Go to "to"'), read_history(()))
    assert list(found["named"]) == [1, 0]
    assert list(found["quoted"]) == [1, 0]


def test_what_stands_beside_an_icon_tells_whose_it_is() -> None:
    posts = "".join(
        f'<div backend_node_id="{n}0"><p backend_node_id="{n}1"><text>{name}</text></p>'
        f'<button backend_node_id="{n}2" class="like"/></div>'
        for n, name in ((2, "Ada"), (3, "Bob"))
    )
    page = page_of(posts)
    near = dict(
        zip([e.node_id for e in page.candidates], of(page, "Like the post of Bob", "around_1_all"), strict=True)
    )
    assert near["32"] > near["22"]


def test_a_calendar_says_which_way_the_month_lies() -> None:
    days = "".join(f'<a backend_node_id="{100 + day}"><text>{day}</text></a>' for day in range(1, 32))
    page = page_of('<span backend_node_id="2"><text>December 2016</text></span>' + button(3, "Prev") + days)
    assert of(page, "Select 11/09/2016", "month_earlier")[0] == 1
    assert of(page, "Select 11/09/2016", "leads_there")[0] == 1
    days_found = of(page, "Select 12/09/2016", "day_of_month")
    assert [page.names[i] for i in np.flatnonzero(days_found)] == ["9"]
    assert not any(of(page, "Select 11/09/2016", "day_of_month"))


def test_a_spinner_says_which_way_the_number_lies() -> None:
    page = page_of('<input backend_node_id="2" type="text" input_value="3"/>' + button(3, "", 'class="spinner-up"'))
    assert of(page, "Set it to 7", "gap_up") == [1, 1]
    assert of(page, "Set it to 3", "gap_closed") == [1, 1]
    assert of(page, "Set it to 7", "leads_there") == [0, 1]
    assert of(page, "Set it to -2", "leads_there") == [0, -1]


def test_every_page_has_the_same_columns_and_only_finite_numbers() -> None:
    small, large = page_of(button(2, "")), page_of(make_examples(1)[0].observation.html)
    found = [
        columns(page, read(text), read_history(()), frozenset()) for page in (small, large) for text in ("", "Go 3")
    ]
    assert len({tuple(one) for one in found}) == 1
    assert all(np.isfinite(values).all() for one in found for values in one.values())


def test_an_id_that_a_page_uses_twice_does_no_harm() -> None:
    page = page_of('<div backend_node_id="1"><div backend_node_id="1">' + button(2, "Oban") + "</div></div>")
    assert of(page, "Click Oban", "named") == [1]


def spans_of(instruction: str, operation: str = "TYPE", body: str = '<input backend_node_id="2" type="text"/>'):
    page = page_of(body)
    return spans.spans(operation, page.candidates[0], page, read(instruction), ())


def test_quotes_come_first_and_every_text_once() -> None:
    texts = [span.text for span in spans_of('Type "Mull" and Mull')]
    assert texts[0] == "Mull"
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("instruction", "value"),
    [
        ("Enter 12/31/2016 as the date", "2016-12-31"),
        ("Enter 7:05 PM as the time", "19:05"),
        ("Guess a number between 0-9", "7"),
        ("My name is Ada Byron.", "Ada Byron"),
    ],
)
def test_dates_times_ranges_and_words_are_possible_values(instruction, value) -> None:
    assert value in {span.text for span in spans_of(instruction)}


def test_keys_options_and_clicks_have_values_of_their_own() -> None:
    assert {span.text for span in spans_of("Go", "PRESS")} == set(spans.KEYS)
    select = '<select backend_node_id="2"><option backend_node_id="3">Kayak</option></select>'
    assert [span.text for span in spans_of("Go", "SELECT", select)] == ["Kayak"]
    assert spans_of("Go", "CLICK") == []


def test_values_of_earlier_turns_and_texts_of_the_page_can_be_copied() -> None:
    page = page_of('<p backend_node_id="3"><text>Oban Bay</text></p><input backend_node_id="2" type="text"/>')
    found = spans.spans("TYPE", page.candidates[-1], page, read("now do it"), ["Sail to “Mull”."])
    assert {"Oban Bay", "Mull"} <= {span.text for span in found}


def test_value_columns_have_the_promised_width() -> None:
    page = page_of('<input backend_node_id="2" type="date"/>')
    instruction = read("Enter 12/31/2016 between 3-5 here")
    found = spans.spans("TYPE", page.candidates[0], page, instruction, ())
    table = spans.columns(found, "TYPE", page.candidates[0], page, instruction, read_history(()), frozenset())
    assert table.shape == (len(found), spans.WIDTH)
    assert np.isfinite(table).all()


def test_each_word_is_claimed_by_the_nearest_candidate_until_it_is_acted_on() -> None:
    words = np.eye(3, dtype=np.float32)[:2]
    vectors = similarity.Vectors(np.eye(3, dtype=np.float32), np.zeros((3, 3)), np.zeros(3), words)
    fresh = similarity.columns(vectors, np.zeros(3))
    after = similarity.columns(vectors, np.array([1.0, 0, 0]))
    place = similarity.NAMES.index("claims_open")
    assert fresh[:, place].round() == pytest.approx([1, 1, 0])
    assert after[:, place].round() == pytest.approx([0, 1, 0])
    assert fresh.shape == (3, len(similarity.NAMES))


def test_words_that_several_tasks_always_say_are_template_words() -> None:
    found = template_words(make_examples(40))
    assert "form" in found
    assert not found & {"oban", "mull", "sail"}


def test_quotes_are_taken_off_where_there_are_any() -> None:
    click, typed = make_examples(2)
    assert without_quotes(click) is None
    plain = without_quotes(typed)
    assert plain is not None
    assert plain.observation.instruction == typed.observation.instruction.replace('"', "")
    assert plain.step.action == typed.step.action


def test_a_page_without_anything_to_act_on_is_refused() -> None:
    observation = Observation(1, 1, 0, 0, "", "", "", "Go", '<body backend_node_id="1"/>')
    with pytest.raises(NoCandidates):
        prepare(observation, frozenset())


def test_texts_are_encoded_once_and_read_back(tmp_path) -> None:
    class Counting:
        name, dimensions = "counting", 2

        def __init__(self) -> None:
            self.seen: list[str] = []

        def encode(self, texts: list[str]) -> np.ndarray:
            self.seen += texts
            return np.ones((len(texts), 2), dtype=np.float32)

    table, encoder = TextTable(), Counting()
    assert list(table.numbers(["a", "", "b", "a"])) == [1, 0, 2, 1]
    first = encode_all(table.texts, encoder, tmp_path)
    again = encode_all(table.texts, encoder, tmp_path)
    assert encoder.seen == ["a", "b"]
    assert (first == again).all()
    assert first[0].tolist() == [0, 0]
