"""Replies of planners in both forms of answers, with the published quirks on and off."""

import pytest

from agents.words.parse import (
    CORRECTED,
    FAITHFUL,
    ParsedReply,
    option_element,
    parse_generation,
    parse_multichoice,
    read_action,
    read_option,
)

CHOICES = [("12", "(a id=0 home"), ("55", "(button id=1 search now"), ("81", "(input id=2 from")]


def test_the_worked_example_takes_the_first_line_of_the_value():
    assert read_option("C.\nAction: TYPE\nValue: 1 adult\nextra") == ("C", "TYPE 1 adult")


def test_a_letter_names_the_choice_after_none_of_the_above():
    assert parse_multichoice("C.\nAction: CLICK\n", CHOICES) == ParsedReply("55", "CLICK ")


@pytest.mark.parametrize("text", ["A.", "A.\nAction: CLICK", "E.\nAction: CLICK", "b.\nAction: CLICK"])
def test_a_and_letters_beyond_the_choices_choose_nothing(text):
    assert parse_multichoice(text, CHOICES).element is None


def test_q8_an_empty_reply_crashes_as_published_and_means_none_when_corrected():
    with pytest.raises(IndexError):
        parse_multichoice(" \n", CHOICES, FAITHFUL)
    assert parse_multichoice(" \n", CHOICES, CORRECTED) == ParsedReply(None, " ")


@pytest.mark.parametrize(("option", "faithful"), [("@", "55"), ("?", "12"), (">", None)])
def test_q9_characters_before_a_count_from_the_end_unless_corrected(option, faithful):
    # ord("@") - ord("B") is -2: the last choice but one.
    assert option_element(option, CHOICES, FAITHFUL) == faithful
    assert option_element(option, CHOICES, CORRECTED) is None


def test_a_generated_id_names_the_choice_printed_with_it():
    reply = parse_generation("Element: (button id=1 search now\nAction: TYPE\nValue: york", CHOICES)
    assert reply == ParsedReply("55", "TYPE york")


def test_a_reply_that_starts_with_none_chooses_nothing_but_keeps_its_action():
    assert parse_generation("None\nAction: CLICK", CHOICES) == ParsedReply(None, "CLICK ")


def test_q10_worked_examples_match_single_characters_only():
    choices = [("12", "(a id=0 x"), ("5", "(button id=1 foo")]
    assert parse_generation("Element: zzz 5\nAction: CLICK", choices, FAITHFUL).element == "5"
    assert parse_generation("Element: (button foo", choices, FAITHFUL).element == "12"


def test_q10_corrected_picks_the_most_similar_text_and_none_for_an_unreadable_reply():
    assert parse_generation("Element: (button search now", CHOICES, CORRECTED).element == "55"
    assert parse_generation("Element: (input id=9 from", CHOICES, CORRECTED).element == "81"
    assert parse_generation("I would search.", CHOICES, FAITHFUL).element == "12"
    assert parse_generation("I would search.", CHOICES, CORRECTED).element is None


def test_no_choices_crash_as_published_and_mean_none_when_corrected():
    with pytest.raises(ValueError, match="empty"):
        parse_generation("Element: (a id=0", [], FAITHFUL)
    assert parse_generation("Element: (a id=0", [], CORRECTED).element is None


def test_unknown_operations_and_missing_values_leave_their_side_empty():
    assert read_action("Action: HOVER\nValue: a") == " a"
    assert read_action("Action: SELECT") == "SELECT "
    assert read_action("nothing") == " "
