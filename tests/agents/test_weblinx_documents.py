"""Candidate documents and queries: limits, corrected forms and samples that the published cases do not show."""

import re

import pytest

from agents.weblinx.documents import ElementLimit, documents, training_documents
from agents.weblinx.pages import parse_page
from agents.weblinx.query import dmr_query
from agents.weblinx.quirks import CORRECTED
from agents.weblinx.ranking import element_ranks
from agents.weblinx.turns import Demo, PagesByName
from evaluation.metrics.weblinx.ranking import evaluate_elements, mrr_at, recall_at
from tests.agents.weblinx_demo import box, browser, chat, make_demo


class Words:
    def spans(self, text):
        return [match.span() for match in re.finditer(r"\S+", text)]


def long_page(elements: int, text: str = "word " * 100) -> Demo:
    """One click on the first of many paragraphs."""
    paragraphs = "".join(f'<p data-webtasks-id="p{i}">{text}</p>' for i in range(elements))
    boxes = {f"p{i}": box(0, i, 100, 20) for i in range(elements)}
    turn = browser("click", "go")
    turn["action"]["arguments"]["element"]["attributes"]["data-webtasks-id"] = "p0"
    pages = PagesByName({"page-0-0.html": f"<html><body>{paragraphs}</body></html>"}, {"bboxes-0.json": boxes})
    return Demo.from_replay("bbbbbbb", {"data": [turn]}, pages)


def test_a_limit_in_characters_cuts_the_text_of_an_element():
    demo = long_page(1)
    text = "word " * 100
    lengths = {
        size: len(documents(demo, demo.turns[0], ElementLimit(size))[0].fields["text"]) for size in (100, 400, None)
    }
    assert lengths == {100: 100, 400: 400, None: len(text)}


def test_a_limit_in_tokens_cuts_the_document():
    demo = long_page(1)
    doc = documents(demo, demo.turns[0], ElementLimit(5, "tokens"), Words())[0]
    assert doc.text == "[[tag]] p\n[[xpath]] /html/body/p\n[[text]]"
    assert len(doc.fields["text"]) == 500
    with pytest.raises(ValueError, match="needs a tokenizer"):
        documents(demo, demo.turns[0], ElementLimit(5, "tokens"))


@pytest.mark.parametrize("wrong", [{"size": 0}, {"unit": "words"}])
def test_impossible_limits_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        ElementLimit(**wrong)


def test_a_comment_takes_the_place_of_a_child():
    page = "<html><body data-webtasks-id='b'><i></i><!-- x --><p></p></body></html>"
    pages = PagesByName({"page-0-0.html": page}, {"bboxes-0.json": {"b": box(0, 0, 50, 50)}})
    demo = Demo.from_replay("ccccccc", {"data": [browser("click", "go")]}, pages)
    assert documents(demo, demo.turns[0])[0].fields["children"] == "i"


def test_a_turn_without_a_page_has_no_documents():
    demo = make_demo(chat("instructor", "Hello"))
    assert documents(demo, demo.turns[0]) == []
    assert parse_page("<!-- nothing -->") is None


def test_turns_whose_target_is_not_on_the_page_are_not_trained_on():
    demo = make_demo(browser("scroll", scrollX=0, scrollY=5), browser("click", "go"))
    gone = make_demo(browser("click", "go"))
    gone.turns[0].data["action"]["arguments"]["element"]["attributes"]["data-webtasks-id"] = "gone"
    assert [turn.index for turn, _ in training_documents(demo)] == [1]
    assert list(training_documents(gone)) == []


def test_corrected_queries_show_five_utterances_in_all():
    demo = make_demo(*[chat("instructor", f"u{i}", i) for i in range(9)], browser("click", "go"))
    query = dmr_query(demo, demo.turns[-1], window=1)
    assert re.findall(r"u\d", query.partition("Previous")[0]) == ["u0", "u3", "u4", "u5", "u6", "u7"]
    query = dmr_query(demo, demo.turns[-1], window=1, quirks=CORRECTED)
    assert re.findall(r"u\d", query.partition("Previous")[0]) == ["u0", "u4", "u5", "u6", "u7"]


def test_a_window_wider_than_the_demonstration_shows_all_turns_and_no_utterance():
    demo = make_demo(chat("instructor", "Hello"), browser("click", "go"))
    assert dmr_query(demo, demo.turns[1], window=10) == (
        "Viewport(height=800, width=1000) ---- Instructor Utterances: No instructor utterance ---- "
        'Previous Turns:say(speaker="instructor", utterance="Hello", timestamp="00:00")'
    )


def test_a_repeated_element_keeps_its_place_and_its_last_score():
    assert element_ranks([("a", 0.9), ("b", 0.5), ("a", 0.5)]) == {"a": 1, "b": 2}


def test_metrics_are_micro_averages_over_positives():
    assert (recall_at([1, 4, 60], 5), mrr_at([1, 4, 60])) == (2 / 3, 1.25 / 3)
    assert set(evaluate_elements([], [], faithful=False).values()) == {0.0}
    assert evaluate_elements([2], [10, 20])["std_elements_per_turn"] == 5.0


def test_without_a_positive_element_the_faithful_metrics_fail_as_published():
    with pytest.raises(ZeroDivisionError, match="no recall to compute"):
        evaluate_elements([], [3, 4])
    assert evaluate_elements([], [3, 5], faithful=False)["avg_elements_per_turn"] == 4.0
