"""Hierarchical truncation as published: lengths, texts, pages, candidates, histories and whole prompts."""

import hashlib
import re

import lxml.html
import pytest

from agents.prompts.render import Prompt
from agents.weblinx.actions import action_call
from agents.weblinx.cutting import cut_centre, reduce_lengths
from agents.weblinx.pages import parse_page
from agents.weblinx.prompt import PromptSettings, messages, plain_text, target
from agents.weblinx.pruning import prune, render
from agents.weblinx.query import earlier_utterances, previous_turns, utterance_texts
from agents.weblinx.quirks import CRASHING
from agents.weblinx.truncation import (
    PromptCandidate,
    candidates_text,
    truncate_candidates,
    truncate_history,
    truncate_history_text,
    truncate_page,
    truncate_utterances,
)
from agents.weblinx.wording import WeblinxWording
from tests.conformance.crashes import crash_of, error_of
from tests.conformance.weblinx import ToyTokenizer, demos, params, section

FILE = "weblinx_truncation"
# SHA-256 of the published words, whose text is not ours to keep: system message, line of candidates, request.
PUBLISHED_WORDS = "9926a0a5c0d5f74d7b5caa17a3b179cb3a0bf581158cce64fc975809b1937246"
FIELD = "\ue000"  # stands for an unknown piece of words


@pytest.fixture(scope="module")
def recorded():
    return demos(FILE)


@pytest.fixture(scope="module")
def trees():
    return section(FILE, "tree_repr")


def candidates_of(tree):
    return [PromptCandidate(case["uid"], case["elem_dict"], case["doc"]) for case in tree["candidates"]]


UNKNOWN = WeblinxWording(
    *(
        Prompt("unknown", text)
        for text in (
            FIELD.join(["", "{{last_utterances}}", "{{utterances}}", "{{height}}", "{{width}}", "{{turns}}", ""]),
            f"{FIELD}{{{{candidates}}}}{FIELD}",
            FIELD,
        )
    )
)


def page_of(case, recorded):
    demo = recorded[case["demo"]]
    return parse_page(demo.pages.page_html(demo.turns[case["turn_index"]]))


@pytest.mark.parametrize("case", params(FILE, "reduce_list_of_lengths"))
def test_lengths_are_reduced_as_published(case):
    with crash_of(case["out"]) as crashes:
        reduced = reduce_lengths(case["lengths"], case["max_length"])
    assert crashes or reduced == case["out"]


@pytest.mark.parametrize("case", params(FILE, "truncate_text_at_center"))
def test_texts_are_cut_as_published(case):
    tokenizer = ToyTokenizer(case["tokenizer"])
    with crash_of(case["out"]) as crashes:
        cut = cut_centre(case["text"], case["max_tokens"], tokenizer, case["allow_iterative_reduction"])
    assert crashes or cut == case["out"]["text"]


@pytest.mark.parametrize("case", params(FILE, "tree_repr"))
def test_pages_are_pruned_and_written_as_published(case, recorded):
    page = page_of(case, recorded)
    assert render(page) == case["full_tree_repr"]
    pruned = prune(page, {candidate["uid"] for candidate in case["candidates"]})
    assert lxml.html.tostring(pruned, encoding="unicode") == case["pruned_tree_html"]
    assert render(pruned) == case["pruned_tree_repr"]
    assert render(page) == case["full_tree_repr"]  # the page itself is left alone


@pytest.mark.parametrize("case", params(FILE, "dom_truncation"))
def test_pages_are_truncated_as_published(case, recorded, trees):
    candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
    pruned = prune(page_of(case, recorded), {candidate.uid for candidate in candidates})
    text = truncate_page(pruned, case["max_tokens"], ToyTokenizer(case["tokenizer"]))
    if error_of(case["out"]):  # no token was left for the page: ours is empty
        assert text == ""
        return
    assert text == case["out"]["tree_repr"]


@pytest.mark.parametrize("case", params(FILE, "cands_truncation"))
def test_candidates_are_truncated_as_published(case, trees):
    candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
    assert candidates_text(candidates) == case["untruncated"]
    arguments = candidates, case["max_tokens"], ToyTokenizer(case["tokenizer"])
    if error := error_of(case["out"]):
        with pytest.raises(error):
            truncate_candidates(*arguments, CRASHING)
        assert [candidate.uid for candidate in truncate_candidates(*arguments)] == [c.uid for c in candidates]
    else:
        assert candidates_text(truncate_candidates(*arguments)) == case["out"]["formatted"]


@pytest.mark.parametrize("case", params(FILE, "prev_turns"))
def test_histories_are_truncated_as_published(case, recorded):
    demo, window, separator = recorded[case["demo"]], case["num_prev_turns"], case["turn_sep"]
    calls = [action_call(turn) for turn in previous_turns(demo, demo.turns[case["turn_index"]], window)]
    texts = [str(call) for call in calls]
    tokenizer = ToyTokenizer(case["tokenizer"])
    if separator is not None:
        assert separator.join(texts) == case["untruncated"]
        assert truncate_history_text(calls, separator, case["max_tokens"], tokenizer) == case["out"]
        return
    assert texts == case["untruncated"]
    if error := error_of(case["out"]):
        with pytest.raises(error):
            truncate_history(calls, window, case["max_tokens"], tokenizer, CRASHING)
        assert len(truncate_history(calls, window, case["max_tokens"], tokenizer)) == len(calls)
    else:
        assert truncate_history(calls, window, case["max_tokens"], tokenizer) == case["out"]
        assert truncate_history(calls, window, case["max_tokens"], tokenizer, CRASHING) == case["out"]


@pytest.mark.parametrize("case", params(FILE, "utterances"))
def test_utterances_are_truncated_as_published(case, recorded):
    demo = recorded[case["demo"]]
    turns = earlier_utterances(demo, demo.turns[case["turn_index"]], case["num_prev_turns"])
    texts = utterance_texts(turns)
    assert [turn.index for turn in turns] == case["selected_turn_indices"]
    arguments = texts, case["max_tokens"], ToyTokenizer(case["tokenizer"])
    if error := error_of(case["out"]):
        with pytest.raises(error):
            truncate_utterances(*arguments, CRASHING)
        assert truncate_utterances(*arguments) == ""
    else:
        assert truncate_utterances(*arguments) == case["out"]


def words_around(prompt, case, demo, turn, candidates):
    """The words that a recorded prompt has around the parts that we compute, with marks where those parts stand."""
    ours = messages(demo, turn, candidates, ToyTokenizer(case["tokenizer"]), PromptSettings(wording=UNKNOWN))
    assert [message["role"] for message in prompt] == [message["role"] for message in ours]
    found = []
    for recorded, made in zip(prompt, ours, strict=True):
        pattern = "(.*?)".join(map(re.escape, made["content"].split(FIELD)))
        match = re.fullmatch(pattern, recorded["content"], re.DOTALL)
        assert match, made["content"]
        found += match.groups()
    return found


@pytest.mark.parametrize("case", params(FILE, "llama_prompt"))
def test_prompts_are_put_together_as_published(case, recorded, trees):
    demo = recorded[case["demo"]]
    turn = demo.turns[case["turn_index"]]
    candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
    arguments = demo, turn, candidates
    if error_of(case["out"]):
        with crash_of(case["out"]):
            messages(*arguments, ToyTokenizer(case["tokenizer"]), PromptSettings(quirks=CRASHING))
        assert messages(*arguments, ToyTokenizer(case["tokenizer"]))
        return
    words = words_around(case["out"], case, *arguments)
    assert hashlib.sha256(FIELD.join(words).encode()).hexdigest() == PUBLISHED_WORDS
    assert plain_text(case["out"]) == case["flan_text"]
    with crash_of(case["output_target"]) as crashes:
        made = target(turn)
    assert crashes or made == case["output_target"]
