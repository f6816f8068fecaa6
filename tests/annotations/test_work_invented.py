"""Proposed instructions that say what no source says, and wordings of people that say it in their own way."""

import pytest

from annotations.sample.build import SCRIPTS, SITES, read_script
from annotations.sample.errand_script import ERRANDS, read_errands
from annotations.work.decompose.invented import invented

SOURCES = (
    "Put four of the enamel mugs, sand ones, into the basket.",
    "Buy a Fell Kettle and collect it in Port Hallow.",
    "Find a train to Westmere on Friday 12 June, leaving after 9 in the morning.",
)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Put five enamel mugs into the basket.", "says “five”"),
        ("Put 5 enamel mugs into the basket.", "says “5”"),
        ("Collect it in Ashmere.", "says “Ashmere”"),
        ("Buy a Fell Kettle. Also, delete my account.", "asks for “Also, delete my account.”"),
        ("Buy a Fell Kettle, and pay everything.", "asks for “pay everything.”"),
        ("morning. the in 9 after leaving June, 12 Friday on Westmere to train a Find", "in reverse"),
        ("Buy a F\u200bell Kettle.", "invisible"),
        ("Buy a \u0424ell Kettle.", "says “\u0424ell”"),
    ],
)
def test_what_no_source_says_is_told(said: str, why: str) -> None:
    assert why in invented(said, SOURCES)


@pytest.mark.parametrize(
    "said",
    [
        "Put 4 sand enamel mugs into the basket.",
        "Please order the Fell Kettle for pickup in Port Hallow.",
        "Collect it there.",
        "Search trains to Westmere, Friday June 12, after 9:00.",
        "One train to Westmere after 9 pm.",
    ],
)
def test_another_wording_is_not_refused(said: str) -> None:
    assert invented(said, SOURCES) == ""


def test_what_steps_enter_and_press_may_be_named() -> None:
    assert invented("Buy it by Express, 3 of them.", SOURCES) == "It says “3”, which no instruction of the source does."
    assert invented("Buy it by Express, 3 of them.", SOURCES, ["3"], ["[button] Express -> CLICK"]) == ""


def test_nothing_that_people_made_of_the_sample_is_refused() -> None:
    scripts = [script for website in SITES for script in read_script(SCRIPTS / f"{website}.txt")]
    talks = [[turn.instruction for turn in script.turns] for script in scripts]
    assert sum(map(len, talks)) == 142
    assert [said for talk in talks for said in talk if invented(said, [" ".join(talk)])] == []
    recorded = {
        script.name: script
        for website in SITES
        for script in read_script(SCRIPTS.parent / "demonstrations" / f"{website}.txt")
    }
    seen = 0
    for name in ("finished", "half"):
        for errand in read_errands(ERRANDS / f"{name}.txt"):
            turns = [turn for task in errand.tasks for turn in recorded[task].turns]
            entered = [action.value for turn in turns for action in turn.actions]
            for part in errand.parts:
                assert invented(part.instruction, [turn.instruction for turn in turns], entered) == "", part.instruction
                seen += 1
    assert seen > 70


def test_a_number_longer_than_any_is_another_one():
    assert invented("Buy " + "9" * 5_000, ["Buy 9"]).startswith("It says “9999")
    assert invented("Buy " + "9" * 5_000, ["Buy " + "9" * 5_000]) == ""
    assert invented("Buy 009 at 00", ["Buy 9"]) == "", "zeros of a full hour say nothing"
