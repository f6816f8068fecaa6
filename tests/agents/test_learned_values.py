"""What a page holds in another form than it is asked for: sums, places, figures, further pages, what others typed."""

from dataclasses import replace

import pytest

from agents.encoders.embedding import HashEncoder
from agents.learned import spans
from agents.learned.candidates import PageCandidates, colour_words, read_page
from agents.learned.examples import Example
from agents.learned.history import read_history
from agents.learned.instruction import read
from agents.learned.model import load
from agents.learned.prepare import prepare, prepare_values
from agents.learned.relations import relation_columns
from agents.learned.settings import Settings
from agents.learned.shown import derived
from agents.learned.shown.habits import Habits, habits_of
from agents.stages.plan.following import SOURCES
from agents.types import PastAction
from annotations.dom.tree import parse
from tests.agents.learned_world import learn, make_examples

FIELD = '<input backend_node_id="2" type="text"/>'


def page_of(body: str) -> PageCandidates:
    return read_page(parse(f'<body backend_node_id="1">{body}{FIELD}</body>'), ())


def text(said: str, node_id: int = 3) -> str:
    return f'<p backend_node_id="{node_id}"><text>{said}</text></p>'


def told(body: str, instruction: str) -> set[tuple[str, str]]:
    """The values that the page has in another form and of which something says that they are the ones."""
    page = page_of(body)
    return {
        (value, source) for value, source, sure in derived.derived(page, read(instruction), page.candidates[-1]) if sure
    }


@pytest.mark.parametrize(
    ("shown", "result"),
    [
        *(("4 + 5 =", "9"), ("4 - 5 =", "-1"), ("4 x 5 =", "20"), ("x + 3 = 10", "7"), ("3 + x = 10", "7")),
        *(("x - 3 = 10", "13"), ("3 - x = 10", "-7"), ("3 x y = 12", "4")),
    ],
)
def test_a_sum_is_worked_out(shown: str, result: str) -> None:
    assert told(text(shown), "Solve it and submit") == {(result, "result")}


@pytest.mark.parametrize("shown", ["a = b", "x + y = 3", "3 x y = 13", "Call 555 - 1234 now"])
def test_what_is_no_sum_has_no_result(shown: str) -> None:
    assert told(text(shown), "Solve it and submit") == set()


def test_the_word_at_the_place_that_is_asked_for_has_no_punctuation() -> None:
    assert told(text("Nunc a. Semper, quam"), "Type the 3rd word") == {("Semper", "nth")}
    assert told(text("Nunc a. Semper, quam"), "Type the second word") == {("a", "nth")}
    assert told(text("Nunc a. Semper, quam"), "Type the 9th word") == set()


def test_letters_that_are_set_apart_are_one_word() -> None:
    letters = "".join(f'<span backend_node_id="{4 + i}"><text>{one}</text></span>' for i, one in enumerate("aX7"))
    assert told(f'<div backend_node_id="3">{letters}</div>', "Type what you see") == {("aX7", "joined")}


def test_what_another_field_holds_can_be_copied() -> None:
    areas = "".join(f'<textarea backend_node_id="{3 + i}" text_value="{one}"/>' for i, one in enumerate(("up", "down")))
    assert told(areas, "Copy the text of the 2nd area") == {("down", "held")}
    assert told(areas, "Copy the text") == set()
    assert told('<textarea backend_node_id="3" text_value="up"/>', "Copy the text") == {("up", "held")}


def test_what_stands_beside_a_name_is_known_by_it() -> None:
    cells = ("City", "Oban", "Country", "Scotland")
    table = "".join(f'<td backend_node_id="{3 + i}"><text>{one}</text></td>' for i, one in enumerate(cells))
    page, instruction = page_of(table), read("Enter the value of Country")
    found = spans.spans("TYPE", page.candidates[-1], page, instruction, ())
    rows = spans.kind_columns(found, page.candidates[-1], page, instruction, frozenset())
    assert [span.text for span, row in zip(found, rows, strict=True) if row[7]] == ["Scotland"]


def test_an_arrow_is_pressed_as_often_as_the_number_that_is_shown_is_away() -> None:
    page = read_page(
        parse(f'<body backend_node_id="1">{text("13")}<span backend_node_id="4" class="handle"/></body>'), ()
    )
    pressed = [
        spans.spans("PRESS", page.candidates[-1], page, read(f"Select {n} and submit"), ())[-1] for n in (12, 33)
    ]
    assert [span.text for span in pressed] == ["ArrowLeft 1", "ArrowRight 20"]
    there = spans.spans("PRESS", page.candidates[-1], page, read("Select 13 and submit"), ())
    assert [span.text for span in there] == list(spans.KEYS)


LETTER = '<svg-text backend_node_id="{}" bg_color="{}" bounding_box_rect="{}"><text>{}</text></svg-text>'
DRAWING = (
    '<svg backend_node_id="10"><circle backend_node_id="11" bg_color="rgb(0, 0, 255)" bounding_box_rect="0,0,20,20"/>'
    '<circle backend_node_id="12" bg_color="rgb(0, 0, 255)" bounding_box_rect="20,0,10,10"/>'
    '<rect backend_node_id="13" bg_color="rgb(255, 0, 0)" bounding_box_rect="40,0,20,20"/>'
    + LETTER.format(14, "rgb(255, 0, 0)", "60,0,11,22", "q")
    + LETTER.format(15, "rgb(0, 0, 0)", "80,0,5,11", "4")
    + "</svg>"
    + "".join(f'<button backend_node_id="{20 + n}"><text>{n}</text></button>' for n in range(6))
)


def drawing() -> PageCandidates:
    """A figure is a candidate though nothing names it, as on live pages."""
    root = parse(f'<body backend_node_id="1">{DRAWING}</body>')
    return read_page(root, [str(n) for n in (*range(11, 16), *range(20, 26))])


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("large blue circle", {"11"}),
        ("circle", {"11", "12"}),
        ("small shape", {"12"}),
        ("red item", {"13", "14"}),
        ("q", {"14"}),
        ("digit", {"15"}),
        ("large black letter", set()),
    ],
)
def test_figures_are_found_and_counted_by_what_is_said_of_them(asked: str, meant: set[str]) -> None:
    page = drawing()
    columns = relation_columns(page, read(f"Click on a {asked}"), read_history(()), frozenset())
    chosen = {e.node_id for e, value in zip(page.candidates, columns["described"], strict=True) if value}
    assert chosen == meant
    columns = relation_columns(page, read(f"How many {asked}s are there?"), read_history(()), frozenset())
    counted = {e.node_id for e, value in zip(page.candidates, columns["is_count"], strict=True) if value}
    assert counted == {str(20 + len(meant))}


def results(shown: int) -> PageCandidates:
    titles = "".join(f'<a backend_node_id="{10 + n}" class="title"><text>T{n}</text></a>' for n in range(3))
    numbers = "".join(
        f'<li backend_node_id="{20 + n}" class="item {"active" if n == shown else ""}">'
        f'<a backend_node_id="{30 + n}" class="link"><text>{n}</text></a></li>'
        for n in (1, 2, 3)
    )
    return page_of(titles + numbers)


@pytest.mark.parametrize(("shown", "leads", "meant"), [(1, ["32"], []), (2, [], ["11"]), (3, ["32"], [])])
def test_the_fifth_of_three_a_page_is_on_the_second_page(shown: int, leads: list[str], meant: list[str]) -> None:
    page = results(shown)
    columns = relation_columns(page, read("Click the 5th search result"), read_history(()), frozenset())
    for name, wanted in (("leads_to_page", leads), ("is_paged", meant)):
        assert [e.node_id for e, value in zip(page.candidates, columns[name], strict=True) if value] == wanted


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("the cheapest flight", "21"), ("the shortest flight", "22"), ("the longest flight", "21"), ("a flight", "")],
)
def test_the_best_of_several_is_known_by_what_stands_around_it(asked: str, meant: str) -> None:
    told = (("5h 3m", "$80"), ("50m", "$1100"), ("3h 9m", "$900"))
    page = page_of(
        "".join(
            f'<div backend_node_id="{10 + n}"><p backend_node_id="{30 + n}"><text>{time}</text></p>'
            f'<button backend_node_id="{21 + n}"><text>Book for {price}</text></button></div>'
            for n, (time, price) in enumerate(told)
        )
    )
    columns = relation_columns(page, read(f"Book {asked}"), read_history(()), frozenset())
    found = [e.node_id for e, value in zip(page.candidates, columns["is_best"], strict=True) if value]
    assert found == ([meant] if meant else [])


@pytest.mark.parametrize(
    ("css", "names"),
    [("rgb(0, 255, 0)", {"lime"}), ("rgb(0, 128, 0)", {"green"}), ("rgba(0, 0, 0, 0)", set())],
)
def test_a_colour_is_called_as_css_calls_it(css: str, names: set[str]) -> None:
    assert colour_words(css) == names


LISTED = PastAction("[textbox]  Harbour -> TYPE: list", "TYPE", "5", "list")


def commands(count: int) -> list[Example]:
    """Steps at which a command is typed that nothing says, and then with a word of the page behind it."""
    found = []
    for example in make_examples(4 * count)[1::4]:
        word = example.step.action.value
        shown = example.observation.html.replace("</body>", f"{text(f'{word}.png Other.txt', 90)}</body>")
        said = f"Delete the file ending with .png of {example.observation.key}"
        for done, value in (((), "list"), ((LISTED,), f"del {word}.png")):
            html = shown if done else example.observation.html
            seen = replace(example.observation, instruction=said, html=html, turn_actions=done)
            typed = PastAction(f"TYPE {value}", "TYPE", "5", value)
            found.append(replace(example, step=replace(example.step, observation=seen, action=typed)))
    return found


def test_commands_that_nothing_says_are_learned_with_what_stands_behind_them(tmp_path) -> None:
    examples = commands(12)
    assert habits_of(examples) == Habits(("list",), ("del",))
    assert habits_of(examples[:4]) == Habits()  # too few to be a habit
    learn(examples, HashEncoder(64), Settings(epochs=12, epoch_steps=200, networks=1, hidden=32), tmp_path)
    model = load(tmp_path)
    assert model.habits == Habits(("list",), ("del",))
    steps = [prepare(one.step.observation, model.common, model.related, model.habits) for one in examples[:6]]
    chosen = model.predict(steps, [one.step.observation for one in examples[:6]], HashEncoder(64))
    assert [best.value for (best,) in chosen] == [one.step.action.value for one in examples[:6]]


def test_what_others_typed_is_offered_where_it_was_learned_alone() -> None:
    (example,) = make_examples(4)[1:2]
    step = prepare(example.step.observation, frozenset(), True)
    values = prepare_values(step, step.page.by_id["5"], "TYPE", (), frozenset())
    assert "list" not in {span.text for span in values.spans}


def test_where_each_value_comes_from_is_told_in_words() -> None:
    assert set(SOURCES) == set(spans.SOURCES)


def test_pointing_at_what_opens_is_learned_apart_from_pressing_it(tmp_path) -> None:
    """What was pointed at is pressed then."""
    examples = []
    for example in make_examples(96)[::4]:
        step, (node_id,) = example.step, example.step.positive_ids
        pointed = PastAction("[button]  It -> HOVER", "HOVER", node_id)
        after = replace(step.observation, turn_actions=(pointed,))
        examples.append(replace(example, step=replace(step, action=pointed)))
        examples.append(replace(example, step=replace(step, observation=after)))
    learn(examples, HashEncoder(64), Settings(epochs=12, epoch_steps=200, networks=1, hidden=32), tmp_path)
    model = load(tmp_path)
    steps = [prepare(one.observation, model.common, model.related) for one in examples[:8]]
    found = model.predict(steps, [one.observation for one in examples[:8]], HashEncoder(64))
    assert [best.operation for (best,) in found] == ["HOVER", "CLICK"] * 4
    assert {best.value for (best,) in found} == {""}
