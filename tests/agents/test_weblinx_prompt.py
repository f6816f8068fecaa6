"""Prompts of action models: which turns, where candidates come from, and the corrected truncation."""

import re
from dataclasses import replace

import pytest

from agents.weblinx.actions import Call, action_call
from agents.weblinx.cutting import cut_centre, reduce_lengths
from agents.weblinx.documents import documents
from agents.weblinx.pages import parse_page
from agents.weblinx.prompt import (
    Budgets,
    PromptSettings,
    best_candidates,
    messages,
    plain_text,
    prompt_turns,
    turn_candidates,
    user_first,
)
from agents.weblinx.pruning import prune, render
from agents.weblinx.quirks import CORRECTED, FAITHFUL
from agents.weblinx.tokens import FastTokenizer, count
from agents.weblinx.truncation import (
    PromptCandidate,
    candidates_text,
    truncate_candidates,
    truncate_history,
    truncate_page,
    truncate_utterances,
)
from tests.agents.weblinx_demo import browser, chat, make_demo


class Letters:
    """One token per character."""

    def spans(self, text):
        return [(place, place + 1) for place in range(len(text))]


class Words:
    def spans(self, text):
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def indices(turns):
    return [turn.index for turn in turns]


def test_turns_need_a_good_screenshot_an_evaluated_intent_and_their_element():
    broken = browser("click", "go")
    broken["state"]["screenshot_status"] = "broken"
    unseen = browser("load", properties={"url": "https://example.org"})
    unseen["state"] = {"screenshot": None, "page": None}
    demo = make_demo(
        chat("navigator", "before any page"),
        browser("click", "go"),
        broken,
        unseen,
        browser("click"),
        browser("hover", "go"),
        browser("textInput", text="a"),
        browser("scroll", scrollX=0, scrollY=1),
        chat("navigator", "after a good page"),
        chat("instructor", "never predicted"),
    )
    assert indices(prompt_turns(demo)) == [1, 6, 7, 8]
    assert indices(prompt_turns(demo, CORRECTED)) == [1, 7, 8]


def test_a_chat_turn_is_dropped_when_the_last_screenshot_was_broken():
    broken = browser("click", "go")
    broken["state"]["screenshot_status"] = "broken"
    assert prompt_turns(make_demo(browser("click", "go"), broken, chat("navigator", "a")))[-1].index == 0


def candidate(uid, **fields):
    return PromptCandidate(uid, fields, " ".join(f"[[{name}]] {value}" for name, value in fields.items()))


def test_turns_without_candidates_take_those_of_the_closest_earlier_turn():
    demo = make_demo(*[browser("click", "go") for _ in range(4)])
    ranked = {1: [candidate("a")], 3: [candidate("b")]}
    found = turn_candidates(demo.turns, ranked)
    assert {index: found[index][0].uid for index in found} == {1: "a", 2: "a", 3: "b"}


def test_the_best_candidates_are_distinct():
    ranked = [candidate("a", rank="1"), candidate("b"), candidate("a", rank="3"), candidate("c")]
    assert best_candidates(ranked, 2) == ranked[:2]


def test_a_prompt_shows_page_words_candidates_and_history_and_ends_with_the_request():
    demo = make_demo(
        chat("instructor", "Find {{a}} train"), browser("textInput", "field", text="x"), browser("click", "go")
    )
    docs = [PromptCandidate.from_doc(doc) for doc in documents(demo, demo.turns[2]) if doc.positive]
    prompt = messages(demo, demo.turns[2], docs, Words())
    assert [message["role"] for message in prompt] == ["system", "user", "assistant", "user"]
    system = prompt[0]["content"]
    page = '(html(form class="search"(input title="Where to?"(button data-webtasks-id="go"Search)))'
    assert system.startswith(page)
    assert "(uid = go) [[tag]] button [[xpath]] /html/body/form/button" in system
    assert "800h x 1000w" in system
    assert prompt[1]["content"] == 'say(speaker="instructor", utterance="Find {{a}} train")'
    assert prompt[2]["content"] == 'text_input(text="x", uid="field")'
    assert plain_text(prompt).endswith(f"User: {prompt[3]['content']}\n\nAssistant:")
    assert user_first(prompt) == prompt


def test_chat_templates_get_an_empty_user_message_before_an_assistant_one():
    demo = make_demo(browser("click", "go"), browser("click", "go"))
    prompt = messages(demo, demo.turns[1], None, Words())
    assert "(uid = " not in prompt[0]["content"]
    assert [message["content"] for message in user_first(prompt)[1:3]] == ["", 'click(uid="go")']


def test_a_chat_turn_has_no_page_in_its_prompt():
    demo = make_demo(browser("click", "go"), chat("navigator", "Hi"))
    system = messages(demo, demo.turns[1], [], Words())[0]["content"]
    assert "(html" not in system
    assert "Noneh x Nonew" in system


def test_candidates_get_what_the_other_parts_leave():
    demo = make_demo(browser("click", "go"))
    docs = [PromptCandidate.from_doc(doc) for doc in documents(demo, demo.turns[0])]
    wide = PromptSettings(budgets=Budgets(candidates=0))
    narrow = PromptSettings(budgets=Budgets(page=200, utterances=10, history=10, candidates=0))
    sizes = [len(messages(demo, demo.turns[0], docs, Words(), settings)[0]["content"]) for settings in (wide, narrow)]
    assert sizes[0] > sizes[1]


def test_a_negative_window_is_refused():
    with pytest.raises(ValueError, match="window must not be negative"):
        PromptSettings(window=-1)


def test_the_normal_sentence_stands_for_no_utterance_when_corrected():
    assert truncate_utterances([], 100, Words(), FAITHFUL).startswith("N o   i n s t r")
    assert truncate_utterances([], 100, Words(), CORRECTED) == "No instructor utterance"
    assert truncate_utterances([], 0, Words(), CORRECTED) == ""


class Splitting:
    """A token per character, and three more for an ellipsis inside a text: cutting may split tokens."""

    def spans(self, text):
        return Letters().spans(text) + [(len(text), len(text))] * (3 * text.count("...") if text != "..." else 0)


def test_corrected_history_adds_up_what_each_attempt_removes():
    calls = [Call("say", {"utterance": "a" * 40}), Call("say", {"utterance": "b" * 40})]
    corrected = truncate_history(calls, 2, 90, Splitting(), CORRECTED)
    assert len(Splitting().spans(" ; ".join(corrected))) == 90
    assert all(re.fullmatch(r'say\(utterance="(a+\.\.\.a+|b+\.\.\.b+)"\)', text) for text in corrected)
    # the published attempts remove too little every other time; in the end the actions themselves are cut
    published = truncate_history(calls, 2, 90, Splitting(), FAITHFUL)
    assert published != corrected


def test_a_number_that_was_cut_is_a_text():
    demo = make_demo(browser("scroll", scrollX=0, scrollY=123456789))
    assert truncate_history([action_call(demo.turns[0])], 5, 17, Letters()) == ['scroll(x=0, y="")']


def test_nothing_is_left_of_parts_without_budget():
    assert truncate_candidates([], -5, Words()) == []
    cut = truncate_candidates([candidate("a", tag="p", text="some words")], -50, Words())
    assert candidates_text(cut) == "(uid = a) \n"
    assert truncate_history([Call("say", {"utterance": "a b c"})], 1, 0, Words()) == [""]
    assert truncate_utterances(["a b c"], 0, Words()) == ""
    demo = make_demo(browser("click", "go"))
    assert truncate_page(prune(parse_page(demo.pages.page_html(demo.turns[0])), {"go"}), 0, Words()) == ""


def test_iterative_cutting_ends_with_the_ellipsis_alone():
    class Growing:
        def spans(self, text):
            return Letters().spans(text) if text in ("abcdefgh", "...") else Letters().spans(text * 9)

    assert cut_centre("abcdefgh", 5, Growing(), iterative=True) == "..."


def test_shares_differ_by_at_most_one_above_the_cut():
    assert reduce_lengths([1, 5, 9, 9], 15) == [1, 4, 5, 5]
    assert reduce_lengths([], -3) == []


def test_pages_without_candidates_keep_their_root_only():
    demo = make_demo(browser("click", "go"))
    page = parse_page(demo.pages.page_html(demo.turns[0]))
    assert render(prune(page, set())).startswith("(html)")
    assert render(prune(page, {"gone"})).startswith("(html)")


def test_candidates_keep_their_uid_and_lose_attributes_that_mean_nothing_to_a_reader():
    attributes = 'id="x" ng-if="1" data-y="2" jsname="3" _z="4" x-data="5" xmlns="6" title="t"'
    page = f'<html><body data-webtasks-id="b"><p data-webtasks-id="a" {attributes}>A<!-- c --></p></body></html>'
    assert render(prune(parse_page(page), {"a"})) == (
        '(html(p data-webtasks-id="a" title="t"A))\nAbove are the pruned HTML contents of the page.'
    )


def test_tokens_of_a_fast_tokenizer_are_counted_without_special_ones():
    from transformers import BertTokenizerFast  # seconds to import

    vocabulary = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##like": 4, "##ly": 5}
    tokenizer = FastTokenizer(BertTokenizerFast(vocab=vocabulary))
    assert list(tokenizer.spans("Unlikely un")) == [(0, 2), (2, 6), (6, 8), (9, 11)]
    assert count(tokenizer, "") == 0
    assert cut_centre("unlikely unlikely unlikely", 5, tokenizer) == "un...ly"


def test_quirk_presets_differ_in_every_flag_but_the_crashes():
    for name in FAITHFUL.__dataclass_fields__:
        assert getattr(FAITHFUL, name) is not name.endswith("crashes")
        assert getattr(CORRECTED, name) is False
    assert replace(FAITHFUL, wq3_crashes=True) != FAITHFUL
