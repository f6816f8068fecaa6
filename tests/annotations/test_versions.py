"""Two versions beside each other: stretches between cuts that both have, and what differs in them."""

from typing import Any

from annotations.text.versions import Stretch, reworded, stretches

ORDER = [10, 20, 30, 40, 50]


def says(text: str, *mentions: dict[str, Any]) -> dict[str, Any]:
    return {"instruction": text, "rewrite": text, "mentions": list(mentions)}


def mention(text: str, start: int = 0, to: str = "") -> dict[str, Any]:
    antecedent = {"step": 10, "start": 0, "end": len(to), "text": to} if to else None
    return {"id": str(start), "phenomenon": "pronoun", "start": start, "text": text, "antecedent": antecedent}


def differing(first: dict[int, dict[str, Any]], second: dict[int, dict[str, Any]]) -> list[tuple[list[int], str]]:
    return [(list(one.steps), one.differs_in) for one in stretches(ORDER, first, second)]


def test_a_stretch_goes_from_one_cut_of_both_to_the_next() -> None:
    first = {10: says("a"), 20: says("b"), 40: says("c")}
    second = {10: says("a"), 30: says("b"), 40: says("d")}
    assert differing(first, second) == [([10, 20, 30], "cuts"), ([40, 50], "words")]
    assert differing(first, first) == [([10], ""), ([20, 30], ""), ([40, 50], "")]


def test_spaces_and_places_of_mentions_are_no_difference() -> None:
    assert differing({10: says("Sort  them ")}, {10: says("Sort them")}) == [(ORDER, "")]
    marked = {10: says("Sort them", mention("them", 5, "shoes"))}
    assert differing(marked, {10: says("Sort them", mention("them", 4, "shoes"))}) == [(ORDER, "")]
    assert differing(marked, {10: says("Sort them", mention("them", 5))}) == [(ORDER, "mentions")]
    assert differing({10: says("Sort.")}, {10: says("sort.")}) == [(ORDER, "words")]


def test_other_words_keep_the_mentions_whose_words_they_have() -> None:
    ours = [(10, says("Sort them")), (30, says("Take it", mention("it", 5)))]
    theirs = [(10, says("Sort them", mention("them", 5), mention("Sort")))]
    written = [{"step": step, "instruction": "x", "rewrite": text} for step, text in ((10, "them"), (20, "it"))]
    first, second = reworded(written, Stretch(ORDER, ours, theirs))
    assert first == (10, {"instruction": "x", "rewrite": "them", "mentions": [mention("them", 5)]})
    assert second == (20, {"instruction": "x", "rewrite": "it", "mentions": []})
