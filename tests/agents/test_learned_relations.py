"""What elements and their surroundings say together: in posts, in icons within buttons, in folders that are closed."""

import dataclasses

import numpy as np
import pytest

from agents.encoders.embedding import HashEncoder
from agents.learned import features, spans
from agents.learned.candidates import PageCandidates, read_page
from agents.learned.history import read_history
from agents.learned.instruction import read
from agents.learned.model import load
from agents.learned.prepare import prepare
from agents.learned.relations import relation_columns
from agents.learned.settings import Settings
from agents.types import PastAction
from annotations.dom.tree import parse
from tests.agents.learned_world import learn, make_examples

POSTS = "Share all posts by @mona and then press Submit."


def page_of(body: str) -> PageCandidates:
    return read_page(parse(f'<body backend_node_id="1">{body}</body>'), ())


def post(node_id: int, person: str) -> str:
    icons = "".join(
        f'<span backend_node_id="{node_id + 3 + place}" class="{name}" is_clickable="true"/>'
        for place, name in enumerate(("reply", "share"))
    )
    return (
        f'<div backend_node_id="{node_id}"><span backend_node_id="{node_id + 1}"><text>{person}</text></span>'
        f'<div backend_node_id="{node_id + 2}"><text>Words of the day</text>{icons}</div></div>'
    )


POSTED = page_of(
    post(10, "@ada")
    + post(20, "@mona")
    + post(30, "@mona")
    + '<button backend_node_id="40"><text>Submit</text></button>'
)


def those(page: PageCandidates, instruction: str, name: str, *past: PastAction) -> list[str]:
    """The candidates for which a column is not 0."""
    found = relation_columns(page, read(instruction), read_history(past), frozenset())[name]
    return [element.node_id for element, value in zip(page.candidates, found, strict=True) if value]


def click(node_id: str) -> PastAction:
    return PastAction("[span]  share -> CLICK", "CLICK", node_id)


def most(*past: PastAction) -> set[str]:
    """The candidates that cover most of the instruction with the second block around them."""
    return set(those(POSTED, POSTS, "covers_most_2", *past))


def test_a_button_and_the_person_beside_it_tell_together() -> None:
    assert most() == {"24", "34"}
    assert most(click("24")) == {"34"}


def test_another_of_the_same_person_is_left_until_all_were_pressed() -> None:
    left = [those(POSTED, POSTS, "again_2", *map(click, done)) for done in ([], ["24"], ["24", "34"])]
    assert left == [[], ["34"], []]
    assert those(POSTED, POSTS, "every")
    assert not those(POSTED, "Click Share.", "every")


@pytest.mark.parametrize(
    ("said", "left", "over"), [("2 posts", 0.1, False), ("1 post", 0.0, True), ("all posts", 0, False)]
)
def test_what_is_to_be_done_so_often_is_counted(said: str, left: float, over: bool) -> None:
    columns = relation_columns(POSTED, read(f"Share {said} by @mona"), read_history([click("24")]), frozenset())
    assert (columns["times_left"][0], bool(columns["times_over"][0])) == (pytest.approx(left), over)


def test_an_icon_has_what_its_button_is_called() -> None:
    page = page_of(
        '<button backend_node_id="5"><text>Close</text>'
        '<span backend_node_id="6" class="icon" is_clickable="true"/></button>'
        '<button backend_node_id="7"><text>Open</text></button>'
    )
    assert those(page, "Close the box", "outer_covers") == ["6"]
    assert those(page, "Close the box", "alone_in") == ["6"]
    assert those(page, "Close the box", "holds_one") == ["5"]


def test_function_words_name_what_is_written_like_them() -> None:
    page = page_of(
        "".join(f'<button backend_node_id="{n}"><text>{t}</text></button>' for n, t in ((5, "ONE"), (6, "TWO")))
    )
    assert those(page, "Click button ONE.", "as_written_alone") == ["5"]
    assert those(page, "Click one button.", "as_written") == []
    both, one = "Click ONE, then click TWO.", PastAction("[button]  ONE -> CLICK", "CLICK", "5")
    assert [those(page, both, "as_written_first", *past) for past in ([], [one])] == [["5"], ["6"]]


def test_signs_are_a_part_of_what_is_written() -> None:
    page = page_of("".join(f'<circle backend_node_id="{n}" id="{t}"/>' for n, t in ((5, "(2,-1)"), (6, "(2,1)"))))
    assert those(page, "Click on the grid coordinate (2,-1).", "as_written_alone") == ["5"]


def test_what_holds_a_hidden_name_may_open_it() -> None:
    page = page_of(
        '<ul backend_node_id="2" bounding_box_rect="0,0,90,40">'
        '<li backend_node_id="3" bounding_box_rect="0,0,90,20">'
        '<div backend_node_id="4" class="handle" is_clickable="true" bounding_box_rect="0,0,9,9"/>'
        '<span backend_node_id="5" is_clickable="true" bounding_box_rect="9,0,80,9"><text>Fruit</text></span>'
        '<span backend_node_id="6" is_clickable="true" bounding_box_rect="0,0,0,0"><text>Pear</text></span></li>'
        '<li backend_node_id="7" bounding_box_rect="0,20,90,20">'
        '<div backend_node_id="8" class="handle" is_clickable="true" bounding_box_rect="0,20,9,9"/></li></ul>'
    )
    assert those(page, "Find Pear", "beside_hidden_named") == ["4", "5"]
    assert those(page, "Find Fruit", "beside_hidden_named") == []
    assert those(page, "Find Pear", "hidden") == ["6"]


def test_a_figure_is_called_what_people_see_in_it() -> None:
    page = page_of(
        '<svg backend_node_id="2"><svg-text backend_node_id="3"><text>5</text></svg-text></svg>'
        '<button backend_node_id="4"><text>Number</text></button>'
        '<button backend_node_id="5"><text>Letter</text></button>'
    )
    assert those(page, "Click what describes the figure", "names_figure") == ["4"]


def test_what_the_page_does_not_say_is_to_be_typed_until_it_was() -> None:
    page = page_of('<input backend_node_id="5" type="text" placeholder="Genre"/>')
    asked, typed = "The genre romance", PastAction("[textbox]  Genre -> TYPE: romance", "TYPE", "5", "romance")
    assert [those(page, asked, name) for name in ("any_unplaced", "all_dealt")] == [["5"], []]
    assert [those(page, asked, name, typed) for name in ("any_unplaced", "all_dealt")] == [[], ["5"]]
    assert those(page, "genre", "any_unplaced") == []


@pytest.mark.parametrize(("value", "reached", "away"), [("3", True, 0), ("1", False, 1), ("5", False, -1)])
def test_a_number_that_is_reached_is_like_a_month_that_is(value: str, reached: bool, away: int) -> None:
    page = page_of(f'<input backend_node_id="5" type="text" input_value="{value}"/>')
    found = relation_columns(page, read("Select 3 and submit"), read_history([]), frozenset())
    assert (bool(found["goal_reached"][0]), found["goal_away"][0]) == (reached, away)


@pytest.mark.parametrize(
    ("kind", "text", "right"), [("time", "at 7:29 AM", "07:29"), ("date", "on 12/01/2016", "2016-12-01")]
)
def test_a_field_takes_values_of_its_kind(kind: str, text: str, right: str) -> None:
    page, instruction = page_of(f'<input backend_node_id="5" type="{kind}"/>'), read(f"Enter it {text} and submit")
    (field,) = page.candidates
    found = spans.spans("TYPE", field, page, instruction, ())
    told = spans.kind_columns(found, field, page, instruction, frozenset())
    fits = [span.text for span, row in zip(found, told, strict=True) if row[0]]
    assert fits == [right]


def test_columns_that_were_there_before_stay_where_they_were() -> None:
    for example in make_examples(8):
        old, new = (prepare(example.observation, frozenset(), related) for related in (False, True))
        width = old.columns.shape[1]
        assert new.columns.shape[1] > width
        assert np.array_equal(new.columns[:, :width], old.columns)
        read_before = features.columns(old.page, old.instruction, old.history, frozenset())
        assert not read_before.keys() & relation_columns(new.page, new.instruction, new.history, frozenset()).keys()


def test_a_model_trained_before_them_is_read_as_it_was(tmp_path) -> None:
    settings = Settings(epochs=2, epoch_steps=40, networks=1, hidden=8, relations=False)
    learn(make_examples(12), HashEncoder(64), settings, tmp_path)
    model = load(tmp_path)
    config = {name: value for name, value in model.config["settings"].items() if name != "relations"}
    model = dataclasses.replace(model, config=model.config | {"settings": config})  # as it was stored before
    assert not model.related
    (example,) = make_examples(1)
    step = prepare(example.observation, model.common, model.related)
    assert model.predict([step], [example.observation], HashEncoder(64))[0][0].operation
