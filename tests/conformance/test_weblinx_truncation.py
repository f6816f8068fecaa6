"""Hierarchical truncation as published: lengths, texts, pages, candidates, histories and whole prompts."""

import lxml.html
import pytest

from agents.prompts.render import Prompt
from agents.weblinx.actions import action_call
from agents.weblinx.cutting import cut_centre, reduce_lengths
from agents.weblinx.pages import parse_page
from agents.weblinx.prompt import PromptSettings, messages, plain_text, target
from agents.weblinx.pruning import POSTFIX, prune, render
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
from agents.weblinx.wording import Wording
from tests.conformance.weblinx import ToyTokenizer, demos, params, section

FILE = "weblinx_truncation"
ERRORS = {"TypeError": TypeError, "IndexError": IndexError}


@pytest.fixture(scope="module")
def recorded():
    return demos(FILE)


@pytest.fixture(scope="module")
def trees():
    return section(FILE, "tree_repr")


def candidates_of(tree):
    return [PromptCandidate(case["uid"], case["elem_dict"], case["doc"]) for case in tree["candidates"]]


def page_of(case, recorded):
    demo = recorded[case["demo"]]
    return parse_page(demo.pages.page_html(demo.turns[case["turn_index"]]))


def error_of(case):
    """The class that the published code raised; None where it gave a result."""
    return ERRORS[case["out"]["error"].partition(":")[0]] if "error" in case["out"] else None


@pytest.mark.parametrize("case", params(FILE, "reduce_list_of_lengths"))
def test_lengths_are_reduced_as_published(case):
    assert reduce_lengths(case["lengths"], case["max_length"]) == case["out"]


@pytest.mark.parametrize("case", params(FILE, "truncate_text_at_center"))
def test_texts_are_cut_as_published(case):
    tokenizer = ToyTokenizer(case["tokenizer"])
    cut = cut_centre(case["text"], case["max_tokens"], tokenizer, case["allow_iterative_reduction"])
    assert cut == case["out"]["text"]


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
    assert text == case["out"]["tree_repr"]


@pytest.mark.parametrize("case", params(FILE, "cands_truncation"))
def test_candidates_are_truncated_as_published(case, trees):
    candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
    assert candidates_text(candidates) == case["untruncated"]
    arguments = candidates, case["max_tokens"], ToyTokenizer(case["tokenizer"])
    if error := error_of(case):
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
    if error := error_of(case):
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
    if error := error_of(case):
        with pytest.raises(error):
            truncate_utterances(*arguments, CRASHING)
        assert truncate_utterances(*arguments) == ""
    else:
        assert truncate_utterances(*arguments) == case["out"]


def recorded_wording() -> Wording:
    """The words of the recorded prompts, which are not ours: the first of them without its variable parts."""
    case = section(FILE, "llama_prompt")[0]
    candidates = candidates_text(candidates_of(section(FILE, "tree_repr")[0]))
    system = case["out"][0]["content"].rpartition(POSTFIX)[2]
    words, _, behind = system.partition(candidates)
    words, _, before = words.rpartition("\n")
    for value, field in (
        ("last 4", "last {{last_utterances}}"),
        ("N o   i n s t r u c t o r   u t t e r a n c e", "{{utterances}}"),
        ("746h x 1536w", "{{height}}h x {{width}}w"),
        ("last 5", "last {{turns}}"),
    ):
        assert words.count(value) == 1
        words = words.replace(value, field)
    texts = (words, before + "{{candidates}}" + behind, case["out"][-1]["content"])
    return Wording(*(Prompt("recorded", text, sha256="") for text in texts))


@pytest.mark.parametrize("case", params(FILE, "llama_prompt"))
def test_prompts_are_put_together_as_published(case, recorded, trees):
    demo = recorded[case["demo"]]
    turn = demo.turns[case["turn_index"]]
    candidates = candidates_of(trees[case["same_candidates_as_tree_repr_index"]])
    settings = PromptSettings(wording=recorded_wording())
    prompt = messages(demo, turn, candidates, ToyTokenizer(case["tokenizer"]), settings)
    assert prompt == case["out"]
    assert plain_text(prompt) == case["flan_text"]
    assert target(turn) == case["output_target"]
