"""Raw events become steps: one hand-made episode per rule of `miniwob_events`."""

import pytest

from annotations.datasets import miniwob_events as events
from annotations.datasets.miniwob_dom import key_of
from annotations.datasets.miniwob_events import Unconvertible, collapse
from tests.annotations.miniwob_episode import (
    ARROW_DOWN,
    CTRL,
    ENTER,
    SPACE,
    TAB,
    Recorder,
    body,
    element,
    find,
    set_value,
    words,
)


@pytest.fixture
def login() -> Recorder:
    """Two fields (1, 2) and a button (3)."""
    return Recorder(
        body(
            element("INPUT_text", 1, id="username"),
            element("INPUT_password", 2, id="password"),
            element("BUTTON", 3, text="Login"),
        )
    )


def steps(recorder: Recorder) -> list[tuple[str, int, str]]:
    return [(act.operation, act.target["ref"], act.value) for act in collapse(recorder.states)]


def refused(recorder: Recorder) -> str:
    with pytest.raises(Unconvertible) as caught:
        collapse(recorder.states)
    return str(caught.value)


def test_a_click_is_one_step_on_the_page_of_its_mousedown(login):
    login.click(3, effect=lambda page: page["children"].clear())
    (act,) = collapse(login.states)
    assert (act.operation, key_of(act.target), act.point) == ("CLICK", (3, "BUTTON"), (50, 90))
    assert act.page is login.states[1]["dom"]


def test_typing_is_one_step_with_the_whole_text_and_no_click_before_it(login):
    login.click(1)
    login.type(1, "alan")
    login.click(3)
    assert steps(login) == [("TYPE", 1, "alan"), ("CLICK", 3, "")]


def test_a_type_step_shows_the_page_before_its_first_click(login):
    login.click(1)
    login.type(1, "al")
    (act,) = collapse(login.states)
    assert act.page is login.states[1]["dom"]
    assert act.target["value"] == ""


def test_tab_between_fields_gives_one_step_each_and_is_none_itself(login):
    login.click(1)
    login.type(1, "alan")
    login.key(1, TAB)
    login.type(2, "V8")
    login.click(3)
    acts = collapse(login.states)
    assert [(act.operation, act.target["ref"], act.value) for act in acts] == [
        ("TYPE", 1, "alan"),
        ("TYPE", 2, "V8"),
        ("CLICK", 3, ""),
    ]
    assert find(acts[1].page, 1)["value"] == "alan"


def test_a_field_corrected_after_a_second_click_is_still_one_step(login):
    login.click(1)
    login.type(1, "alna")
    login.click(1)
    login.key(1, 8, set_value(1, "al"))
    login.type(1, "an")
    login.click(3)
    assert steps(login) == [("TYPE", 1, "alan"), ("CLICK", 3, "")]


def test_a_field_typed_into_twice_with_a_click_between_gives_two_steps(login):
    login.type(1, "5")
    login.click(3)
    login.click(1)
    login.key(1, 8, set_value(1, ""))
    login.type(1, "3")
    assert steps(login) == [("TYPE", 1, "5"), ("CLICK", 3, ""), ("TYPE", 1, "3")]


def test_pasting_the_copied_instruction_is_one_type_step(login):
    login.click(None, y=20)
    login.key(900, CTRL)
    login.click(1)
    login.event("keydown", 1, keyCode=CTRL, charCode=0)
    login.key(1, 86, set_value(1, "alan"))
    login.click(3)
    assert steps(login) == [("TYPE", 1, "alan"), ("CLICK", 3, "")]


def test_a_letter_pressed_with_control_is_not_text(login):
    login.click(1)
    login.event("keydown", 1, keyCode=CTRL, charCode=0)
    login.event("keypress", 1, keyCode=97, charCode=97)
    login.event("keyup", 1, keyCode=CTRL, charCode=0)
    assert steps(login) == [("CLICK", 1, "")]


def test_a_click_on_a_field_without_typing_stays_a_click(login):
    login.click(1)
    assert steps(login) == [("CLICK", 1, "")]


def test_pressing_and_dragging_inside_a_field_only_puts_the_cursor_there(login):
    login.event("mousedown", 1, x=10, y=90)
    login.event("mouseup", 1, x=80, y=90)
    login.type(1, "a")
    assert steps(login) == [("TYPE", 1, "a")]


def test_parts_of_a_date_are_one_type_step_with_the_last_value():
    page = Recorder(body(element("INPUT_date", 1)))
    page.click(1)
    page.event("keypress", 1, keyCode=49, charCode=49)
    page.click(1)
    page.event("keypress", 1, keyCode=50, charCode=50)
    page.key(1, 50, set_value(1, "0002-12-11"))
    page.key(1, ARROW_DOWN, set_value(1, "2019-12-11"))
    assert steps(page) == [("TYPE", 1, "2019-12-11")]


def test_a_value_that_the_page_sets_is_no_step():
    page = Recorder(body(element("INPUT_text", 1, id="datepicker"), element("A", 2, text="9")))
    page.click(1)
    page.click(2, effect=set_value(1, "12/09/2016"))
    assert steps(page) == [("CLICK", 1, ""), ("CLICK", 2, "")]


def test_a_spinner_that_moves_the_focus_into_its_field_types_nothing():
    page = Recorder(body(element("INPUT_text", 1, value="0"), element("SPAN", 2)))
    for value in ("-1", "-2"):
        page.event("mousedown", 2, effect=set_value(1, value), x=50, y=90)
        page.focus = 1
        page.event("mouseup", 2, x=50, y=90)
        page.event("click", 2, x=50, y=90)
    assert steps(page) == [("CLICK", 2, ""), ("CLICK", 2, "")]


def test_the_arrows_inside_a_number_field_type_its_value():
    page = Recorder(body(element("INPUT_number", 1, value="1")))
    page.press(1, effect=set_value(1, "2"))
    page.event("click", 1, x=50, y=90)
    assert steps(page) == [("TYPE", 1, "2")]


def test_enter_in_a_field_is_a_press_after_the_typing(login):
    login.type(1, "alan")
    login.key(1, ENTER)
    login.click(3)
    assert steps(login) == [("TYPE", 1, "alan"), ("PRESS", 1, "Enter"), ("CLICK", 3, "")]


def test_enter_in_a_text_area_is_text():
    page = Recorder(body(element("TEXTAREA", 1)))
    page.key(1, ENTER, set_value(1, "\n"))
    assert steps(page) == [("TYPE", 1, "\n")]


def test_an_arrow_on_a_radio_button_is_a_press_and_on_the_page_nothing():
    page = Recorder(body(element("INPUT_radio", 1, value=False)))
    page.key(900, ARROW_DOWN)
    page.key(1, ARROW_DOWN)
    assert steps(page) == [("PRESS", 1, "ArrowDown")]


def test_the_click_that_a_label_passes_on_is_no_step_but_an_acceptable_target():
    label = element("LABEL", 1, element("INPUT_checkbox", 2, value=False), words("danger"))
    page = Recorder(body(label))
    page.click(1)
    page.event("click", 2, x=50, y=90)
    (act,) = collapse(page.states)
    assert (act.operation, act.target["ref"], [node["ref"] for node in act.same]) == ("CLICK", 1, [2])
    assert act.same[0] is find(act.page, 2)


@pytest.mark.parametrize(
    ("clicked", "inside", "same"),
    [
        (2, [element("SPAN", 2), element("SPAN", 3)], [1, 3]),
        (1, [element("SPAN", 2)], [2]),
        (2, [element("SPAN", 2), element("LABEL", 3, element("INPUT_radio", 4, value=False))], []),
        (2, [element("INPUT_radio", 2, value=False), element("INPUT_radio", 3, value=False)], []),
    ],
)
def test_a_click_on_a_part_of_a_button_could_have_been_on_any_other_part(clicked, inside, same):
    """But not where something else inside could have been meant."""
    page = Recorder(body(element("BUTTON", 1, *inside), element("BUTTON", 9)))
    page.click(clicked)
    (act,) = collapse(page.states)
    assert [node["ref"] for node in act.same] == same


def test_the_label_around_a_clicked_control_is_an_acceptable_target():
    page = Recorder(body(element("LABEL", 1, element("INPUT_checkbox", 2, value=False), words("danger"))))
    page.click(2)
    (act,) = collapse(page.states)
    assert [node["ref"] for node in act.same] == [1]


def options() -> Recorder:
    return Recorder(body(element("SELECT", 1, element("OPTION", 2, text="Ana"), element("OPTION", 3, text="Mei"))))


def test_a_click_on_an_option_selects_its_text():
    page = options()
    page.click(1)
    page.click(3)
    (act,) = collapse(page.states)
    assert (act.operation, act.target["tag"], act.value) == ("SELECT", "SELECT", "Mei")
    assert act.page is page.states[1]["dom"]


def test_two_different_options_are_refused():
    page = options()
    page.click(2)
    page.click(3)
    assert refused(page) == events.SEVERAL_OPTIONS


def test_an_option_that_was_never_recorded_is_refused():
    page = Recorder(body(element("SELECT", 1), element("BUTTON", 2)))
    page.click(1)
    page.click(2)
    assert refused(page) == events.INFERRED_OPTION


def test_an_option_chosen_by_arrow_keys_is_refused():
    page = options()
    page.key(1, ARROW_DOWN)
    assert refused(page) == events.INFERRED_OPTION


def test_an_option_chosen_by_its_first_letter_is_refused():
    page = options()
    page.click(2)
    page.event("keypress", 1, keyCode=109, charCode=109)
    assert refused(page) == events.INFERRED_OPTION


def test_a_press_at_the_end_counts_as_a_click(login):
    login.event("mousedown", 1, x=5, y=90)
    assert steps(login) == [("CLICK", 1, "")]


def test_a_press_on_a_scroll_bar_is_no_step(login):
    login.event("mousedown", 902, x=150, y=80)
    login.states.append({"time": 9, "action": {"type": "scroll", "timing": 1}, "dom": login.states[-1]["dom"]})
    login.event("mouseup", 902, x=150, y=160)
    login.click(3)
    assert steps(login) == [("CLICK", 3, "")]


def test_a_leaf_pressed_and_released_elsewhere_is_a_drag(login):
    login.event("mousedown", 3, x=50, y=90)
    login.event("mouseup", 3, x=90, y=90)
    login.click(3)
    assert refused(login) == events.DRAG


def test_a_click_that_ends_on_another_element_is_a_drag(login):
    login.press(3)
    login.event("click", 902, x=50, y=90)
    assert refused(login) == events.DRAG


def test_a_button_pressed_by_the_space_bar_is_refused(login):
    login.click(1)
    login.key(3, SPACE)
    login.event("click", 3, x=0, y=0)
    assert refused(login) == events.NO_MOUSEDOWN


def test_a_key_held_down_during_a_click_changes_nothing(login):
    login.event("mousedown", 3, x=50, y=90)
    login.event("keydown", 3, keyCode=8, charCode=0)
    login.event("mouseup", 3, x=50, y=90)
    login.event("click", 3, x=50, y=90)
    assert steps(login) == [("CLICK", 3, "")]


def test_a_click_on_something_that_the_page_does_not_show_is_refused(login):
    login.click(None, y=120)
    assert refused(login) == events.TARGET_ABSENT


def test_typed_text_that_no_page_shows_is_refused(login):
    login.event("keypress", 1, keyCode=97, charCode=97)
    login.click(3)
    assert refused(login) == events.TEXT_LOST


def test_typing_that_ends_where_it_began_is_refused(login):
    login.type(1, "a")
    login.key(1, 8, set_value(1, ""))
    login.click(3)
    assert refused(login) == events.NO_CHANGE


def test_a_click_on_a_container_is_refused(login):
    login.click(902)
    login.click(3)
    assert refused(login) == events.CONTAINER


@pytest.mark.parametrize("tag", ["BUTTON", "A"])
def test_a_control_with_children_is_no_container(tag):
    page = Recorder(body(element(tag, 1, element("SPAN", 2), words("x"))))
    page.click(1)
    assert steps(page) == [("CLICK", 1, "")]


def test_an_element_with_text_nodes_only_is_no_container():
    page = Recorder(body(element("H3", 1, words("Section #1"))))
    page.click(1)
    assert steps(page) == [("CLICK", 1, "")]


def test_an_episode_without_any_action_is_refused(login):
    assert refused(login) == events.NO_STEPS
