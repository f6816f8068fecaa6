"""Proposed instructions that say what no source says, and wordings of people that say it in their own way."""

import time

import pytest

from annotations.sample.build import SCRIPTS, SITES, read_script
from annotations.sample.errand_script import ERRANDS, MARK, read_errands
from annotations.work.decompose.invented import AskedFor

PRESSED = ["[checkbox] Someone may get hurt -> CLICK"]  # what a step of the sample is called
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
        ("Buy a Fell Kettle and export it to the rival competition.", "says “export it to the rival”"),
        ("Never put enamel mugs into the basket.", "“not”"),
        ("Don't buy a Fell Kettle.", "“not”"),
        ("Buy a F\u200bell Kettle.", "invisible"),
        ("Buy a \u0424ell Kettle.", "says “\u0424ell”"),
    ],
)
def test_what_no_source_says_is_told(said: str, why: str) -> None:
    assert why in AskedFor(SOURCES).lacks(said)


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
    assert AskedFor(SOURCES).lacks(said) == ""


def test_what_steps_enter_and_press_may_be_named() -> None:
    assert (
        AskedFor(SOURCES).lacks("Buy it by Express, 3 of them.")
        == "It says “3”, which no instruction of the source does."
    )
    assert AskedFor(SOURCES, ["3"], ["[button] Express -> CLICK"]).lacks("Buy it by Express, 3 of them.") == ""


def test_nothing_that_people_made_of_the_sample_is_refused() -> None:
    scripts = [script for website in SITES for script in read_script(SCRIPTS / f"{website}.txt")]
    talks = [[turn.instruction for turn in script.turns] for script in scripts]
    assert sum(map(len, talks)) == 142
    assert [said for talk in talks for said in talk if AskedFor([" ".join(talk)]).lacks(said)] == []
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
                source = AskedFor([turn.instruction for turn in turns], entered, PRESSED)
                assert source.lacks(part.instruction) == "", part.instruction
                said = MARK.sub(r"\1", part.said) or part.instruction
                assert not AskedFor([one.instruction for one in errand.parts]).lacks(said, may_refer=True), said
                seen += 1
    assert seen > 70


def test_a_number_longer_than_any_is_another_one():
    assert AskedFor(["Buy 9"]).lacks("Buy " + "9" * 5_000).startswith("It says “9999")
    assert AskedFor(["Buy " + "9" * 5_000]).lacks("Buy " + "9" * 5_000) == ""
    assert AskedFor(["Buy 9"]).lacks("Buy 009 at 00") == "", "zeros of a full hour say nothing"


def test_a_rewrite_may_refer_in_words_of_its_own_and_not_ask_for_more():
    source = AskedFor(["Choose the Lantern Room on Thursday 11 June at 15:00 for 2 hours."])
    for said in ("Take that time.", "Fine, either photo works."):
        assert source.lacks(said)
        assert source.lacks(said, may_refer=True) == ""
    assert "delete my account" in source.lacks("The Lantern Room, and delete my account.", may_refer=True)
    assert "says “3”" in source.lacks("Take that one for 3 hours.", may_refer=True)


def test_words_that_a_hyphen_joins_are_known_by_their_pieces():
    source = AskedFor(["Find a doctor who speaks Spanish"])
    assert source.lacks("Take the doctor, the Spanish-speaking one.") == ""
    assert "French-speaking" in source.lacks("Take the doctor, the French-speaking one.")


def test_two_hundred_long_turns_are_compared_with_their_source_at_once():
    said = "Find the blue shoes number {} in size nine and put them into the basket of customer {}."
    tasks = [said.format(n, n) for n in range(200)]
    source, started = AskedFor(tasks), time.perf_counter()
    assert not any(source.lacks(task) for task in tasks)
    assert time.perf_counter() - started < 1.5
