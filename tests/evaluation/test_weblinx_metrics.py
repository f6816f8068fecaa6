"""WebLINX metrics: corrected forms, dropped turns and groups that the published cases do not show."""

import pytest

from agents.weblinx.quirks import CORRECTED
from evaluation.metrics.weblinx.action import WeblinxAction, chrf, exact_match, urlf
from evaluation.metrics.weblinx.groups import Mean, aggregate
from evaluation.metrics.weblinx.turns import TurnReply, TurnScores, compare, rounded, score_turns
from tests.agents.weblinx_demo import browser, chat, make_demo


def load(url):
    return WeblinxAction("load", {"url": url}, None)


def test_only_a_leading_www_is_dropped_from_hosts_when_corrected():
    assert urlf(load("https://wikipedia.org/a"), load("https://ikipedia.org/a")) == 1.0
    assert urlf(load("https://wikipedia.org/a"), load("https://ikipedia.org/a"), CORRECTED) == 0.5
    assert urlf(load("https://www.a.org"), load("https://a.org/"), CORRECTED) == 1.0


def test_addresses_that_cannot_be_read_score_zero():
    assert urlf(load("https://[a/"), load("https://a.org")) == 0.0
    assert urlf(load(""), load("https://a.org")) == 0.0
    assert urlf(load("a"), WeblinxAction("click", {}, None)) is None


def test_quoted_numbers_match_when_corrected():
    demo = make_demo(browser("textInput", "field", text="5"))
    predictions = [TurnReply("aaaaaaa", 0, 'text_input(text="5", uid="field")')]
    for quirks, expected in ((None, (0.0, 0.0)), (CORRECTED, (1.0, 1.0))):
        kept, _ = compare(predictions, {demo.name: demo}, *([quirks] if quirks else []))
        pair = kept[0].predicted, kept[0].gold
        assert (exact_match(*pair), chrf(*pair)) == expected


def kept_turns(*turns):
    demo = make_demo(*turns)
    predictions = [TurnReply("old_aaaaaaa", turn.index, "") for turn in demo.turns]
    return [turn.turn for turn in compare(predictions, {demo.name: demo})[0]]


def test_clicks_that_the_next_turn_repeats_are_dropped():
    assert kept_turns(browser("click", "go"), browser("submit", "go")) == [1]
    assert kept_turns(browser("click", "go"), browser("submit", "form")) == [0, 1]
    assert kept_turns(browser("click", "go"), browser("copy", selected="a")) == [1]
    assert kept_turns(browser("click", "go"), browser("click", "form")) == [0, 1]


def test_turns_without_the_element_they_need_are_dropped_and_others_kept():
    gone = browser("change", "go", value="a")
    gone["action"]["arguments"]["element"]["attributes"] = {"data-webtasks-id": "gone"}
    unnamed = browser("submit", "go")
    unnamed["action"]["arguments"]["element"]["attributes"] = {}
    scroll = browser("scroll", scrollX=0, scrollY=1)
    assert kept_turns(gone, unnamed, browser("click"), scroll, chat("navigator", "a")) == [3, 4]


def test_an_unknown_demonstration_is_an_error():
    with pytest.raises(KeyError):
        compare([TurnReply("zzzzzzz", 0, "")], {})


def test_handled_crashes_reach_the_scores():
    demo = make_demo(chat("navigator", "a"))
    kept, _ = compare([TurnReply("aaaaaaa", 0, 'say(utterance="²")')], {demo.name: demo})
    assert score_turns(kept)[0].handled == ("digit that is no number",)


def turn(gold, match=1.0, **metrics):
    blank = {"exact-match": 0.0, "intent-match": match, "chrf": None, "iou": None, "urlf": None}
    return TurnScores("a", 0, "x", gold, blank | metrics)


def test_the_overall_score_is_computed_from_rounded_metrics_only_in_the_published_form():
    scores = [turn("textinput", chrf=0.333333, iou=0.666666)]
    assert rounded(scores[0]).metrics["chrf"] == 0.33
    assert aggregate(scores)["overall", "overall"].conditional == pytest.approx(0.33 * 0.67)
    assert aggregate(scores, CORRECTED)["overall", "overall"].conditional == pytest.approx(0.333333 * 0.666666)


def test_groups_as_published_count_every_wrong_intent_and_the_clean_ones_only_their_own():
    scores = [turn("click", iou=0.8), turn("say", match=0.0), turn("scroll", iou=0.0), turn("load", urlf=0.5, chrf=0.9)]
    means = aggregate(scores)
    assert means["element-group", "iou"] == Mean(0.4, pytest.approx(0.8 / 3), 3)
    assert means["element-clean", "iou"] == Mean(0.8, 0.8, 1)
    assert means["text-group", "chrf-urlf"] == Mean(0.9, 0.45, 2)
    assert means["text-clean", "chrf-urlf"] == Mean(0.5, 0.25, 2)


def test_turns_of_other_intents_are_left_out_and_no_turns_have_no_means():
    assert aggregate([turn("hover", iou=1.0)]) == aggregate([])
    assert aggregate([])["overall", "overall"] == Mean(None, None, 0)
