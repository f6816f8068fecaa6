"""The grounded planner as a contract: the operation follows from the element, the value is copied."""

import numpy as np
import pytest

from agents.encoders.embedding import HashEncoder
from agents.stages.plan.grounded import plan, plan_all
from agents.types import Action, Observation, PastAction
from annotations.dom.elements import DescribedElement

OPTIONS = (("21", "Kayak"), ("22", "Sailing dinghy"), ("23", "Rowing boat"))
BUTTON = DescribedElement("11", "button", role="button", name="Reserve", interactive=True)
FIELD = DescribedElement("5", "input", role="textbox", name="Harbour", interactive=True)
LIST = DescribedElement("6", "select", role="combobox", name="Boat", interactive=True, options=OPTIONS)


def observation(instruction: str, *past: PastAction) -> Observation:
    return Observation(
        key=1,
        conversation=1,
        turn_index=1,
        step_index=len(past),
        website="",
        domain="",
        subdomain="",
        instruction=instruction,
        html="",
        turn_actions=past,
    )


def act(element: DescribedElement, instruction: str, *past: PastAction, recalled: tuple[str, ...] = ()) -> Action:
    (made,) = plan_all([plan(element, observation(instruction, *past), recalled)], HashEncoder())
    return made.action


def test_why_an_element_is_clicked_or_takes_a_value_is_said_with_its_article() -> None:
    option = DescribedElement("7", "option", role="option", name="Kayak", interactive=True)
    made = plan_all([plan(one, observation("Kayak.")) for one in (option, BUTTON)], HashEncoder())
    assert [one.why["operation"] for one in made] == ["an option is clicked", "a button is clicked"]


def test_plans_side_by_side_are_those_made_alone_and_ask_for_their_texts_at_once() -> None:
    asked = [(LIST, "Something that sails."), (BUTTON, "Go."), (FIELD, "From Arlen Bridge to Tamsin Quay."), (LIST, "")]
    encoder = CountedEncoder()
    together = plan_all([plan(element, observation(text)) for element, text in asked], encoder)
    assert [one.action for one in together] == [act(element, text) for element, text in asked]
    (texts,) = encoder.calls
    assert len(texts) == len(set(texts)) > 4


class CountedEncoder(HashEncoder):
    """Keeps what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = list[list[str]]()

    def encode(self, texts: list[str]) -> np.ndarray:
        self.calls.append(texts)
        return super().encode(texts)


@pytest.mark.parametrize(
    ("element", "operation"),
    [
        (BUTTON, "CLICK"),
        (DescribedElement("1", "a", role="link", name="Imprint"), "CLICK"),
        (DescribedElement("1", "input", role="checkbox", name="Insurance"), "CLICK"),
        (DescribedElement("1", "input", role="radio", name="Half a day"), "CLICK"),
        (DescribedElement("1", "div", name="Map"), "CLICK"),
        (FIELD, "TYPE"),
        (DescribedElement("1", "input", role="searchbox", name="Search"), "TYPE"),
        (DescribedElement("1", "input", role="spinbutton", name="Persons"), "TYPE"),
        (DescribedElement("1", "textarea", role="textbox", name="Message"), "TYPE"),
        (LIST, "SELECT"),
    ],
)
def test_the_operation_follows_from_the_kind_of_element(element, operation) -> None:
    action = act(element, "Please type “Oban” or choose Kayak and go on.")
    assert (action.operation, action.node_id) == (operation, element.node_id)


def test_a_click_has_no_value() -> None:
    assert act(BUTTON, "Reserve the “Kayak” for 3 people.").value == ""


@pytest.mark.parametrize("quotes", ["“”", '""', "''", "‘’"])
def test_a_quoted_value_is_copied_as_it_stands(quotes) -> None:
    instruction = f"Enter {quotes[0]}Isle of Mull{quotes[1]} as the harbour."
    assert act(FIELD, instruction).value == "Isle of Mull"


def test_a_value_that_was_typed_in_this_turn_is_not_typed_again() -> None:
    past = PastAction("[textbox]  Name -> TYPE: Ada", "TYPE", "4", "Ada")
    assert act(FIELD, "Fill in “Ada” and “Oban”.", past).value == "Oban"


@pytest.mark.parametrize("name", ["Kayak", "Sailing dinghy", "Rowing boat"])
def test_the_option_that_the_instruction_names_is_chosen(name) -> None:
    assert act(LIST, f"We take the {name.lower()}, please.").value == name


def test_a_list_without_options_still_gives_an_action() -> None:
    empty = DescribedElement("6", "select", role="combobox", name="Boat")
    assert act(empty, "We take the kayak.") == Action("SELECT", "6", "")


def test_what_this_turn_does_not_name_is_taken_from_earlier_ones() -> None:
    recalled = ("I would like a sailing dinghy in “Oban”.",)
    assert act(LIST, "now do it", recalled=recalled).value == "Sailing dinghy"
    assert act(FIELD, "now do it", recalled=recalled).value == "Oban"


def test_an_instruction_without_any_value_gives_an_empty_one() -> None:
    assert act(FIELD, "go").value == ""


def test_the_reasons_are_words_for_people() -> None:
    why = plan_all([plan(LIST, observation("We take the kayak."))], HashEncoder())[0].why
    assert set(why) == {"operation", "value"}
    assert all(isinstance(text, str) and text for text in why.values())
