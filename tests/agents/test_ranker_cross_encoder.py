"""The cross encoder against the straightforward loop: one tokenizer call and one forward pass per pair."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from agents.encoders.batches import token_batches
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.stages.rank.inputs import WeblinxText
from agents.types import Observation, PastAction
from agents.weblinx.documents import documents
from agents.weblinx.query import dmr_query
from annotations.dom.candidates import format_candidate
from annotations.dom.limits import PageError
from annotations.dom.tree import parse
from tests.agents.weblinx_demo import browser, chat, make_demo
from tests.tiny_models import tiny_cross_encoder

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
<h1 backend_node_id="3"><text backend_node_id="4">Boat hire</text></h1>
<input backend_node_id="5" type="text" placeholder="Harbour"/>
<button backend_node_id="11"><text backend_node_id="12">Reserve</text></button>
<a backend_node_id="13"><text backend_node_id="14">Imprint</text></a></body></html>"""
TEXTS = [
    "(button id=0 Reserve )",
    "word " * 40,
    "",
    "Größe 27 – naïve café",
    "(a id=0 Imprint )",
    "(button id=0 Reserve )",
]
QUERIES = ["task is: Reserve it.\nPrevious actions: ", "long query " * 20, "x"]


def observation(**fields) -> Observation:
    fields = {
        "key": 1,
        "conversation": 1,
        "turn_index": 0,
        "step_index": 0,
        "website": "boats",
        "domain": "",
        "subdomain": "",
        "instruction": "Reserve it.",
        "html": PAGE,
    } | fields
    return Observation(**fields)


@pytest.fixture(scope="module", params=["bert", "deberta"])
def folder(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / request.param
    return tiny_cross_encoder(path, [*TEXTS, *QUERIES, PAGE], deberta=request.param == "deberta", seed=3)


@pytest.fixture(scope="module")
def ranker(folder) -> CrossEncoderRanker:
    return CrossEncoderRanker(folder, max_length=32)


@pytest.mark.parametrize("max_length", [8, 32, 512])
def test_joined_parts_are_what_the_tokenizer_gives_for_the_pair(folder, max_length) -> None:
    pairs = [(query, text) for query in QUERIES for text in TEXTS]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    together = tokenizer(*map(list, zip(*pairs, strict=True)), truncation="longest_first", max_length=max_length)
    plain = [{name: rows[i] for name, rows in together.items()} for i in range(len(pairs))]
    assert max(len(row["input_ids"]) for row in plain) == max_length or max_length == 512
    assert CrossEncoderRanker(folder, max_length=max_length).tokenize(pairs) == plain


def test_scores_equal_one_pass_per_pair(folder, ranker) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    steps = [(query, TEXTS) for query in QUERIES] + [("nothing to score", [])]
    scores = ranker.score(steps)
    assert [row.dtype for row in scores] == [np.float32] * 4
    for (query, texts), row in zip(steps, scores, strict=True):
        assert row.shape == (len(texts),)
        for text, score in zip(texts, row, strict=True):
            inputs = tokenizer([query], [text], truncation="longest_first", max_length=32, return_tensors="pt")
            with torch.inference_mode():
                assert score == pytest.approx(torch.sigmoid(model(**inputs).logits[0, 0]).item(), abs=1e-6)


def test_equal_pairs_are_scored_once(ranker, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(ranker, "tokenize", lambda pairs: seen.extend(pairs) or type(ranker).tokenize(ranker, pairs))
    ranker.score([("q", ["a", "b", "a"]), ("q", ["b"]), ("r", ["b"]), ("q", ["a", "b"])])
    again = [] if ranker._model.config.model_type == "bert" else [("q", "b")]  # a padded step stands alone
    assert seen == [("q", "a"), ("q", "b"), *again, ("r", "b")]


def test_candidates_are_ranked_by_the_published_texts(ranker) -> None:
    past = tuple(PastAction(f"[a]  {i} -> CLICK", "CLICK", None) for i in range(5))
    ids = ("13", "5", "11", "3")
    (ranking,) = ranker.rank([observation(candidate_ids=ids, turn_actions=past)])
    query = "task is: Reserve it.\nPrevious actions: [a]  2 -> CLICK; [a]  3 -> CLICK; [a]  4 -> CLICK"
    (scores,) = ranker.score([(query, [format_candidate(parse(PAGE), node_id) for node_id in ids])])
    expected = sorted(zip(ids, scores.tolist(), strict=True), key=lambda pair: -pair[1])
    assert [(c.node_id, c.score) for c in ranking] == [(i, pytest.approx(s, abs=1e-6)) for i, s in expected]
    assert [c.rank for c in ranking] == [0, 1, 2, 3]
    assert {c.node_id: c.text for c in ranking}["11"] == "button Reserve"


def test_ties_keep_the_given_order(ranker) -> None:
    page = '<html backend_node_id="1">' + "".join(f'<p backend_node_id="{i}"/>' for i in range(2, 20)) + "</html>"
    ids = ("9", "12", "10", "11")  # four siblings that look the same from where they stand
    (ranking,) = ranker.rank([observation(html=page, candidate_ids=ids)])
    assert [c.node_id for c in ranking] == list(ids)


def test_without_named_candidates_every_element_that_says_something_is_ranked(ranker) -> None:
    (ranking,) = ranker.rank([observation()])
    assert {c.node_id for c in ranking} >= {"3", "5", "11", "13"}


def test_weblinx_turns_are_ranked_by_their_documents(ranker) -> None:
    demo = make_demo(chat("instructor", "Find it."), browser("click", "go", 3.0))
    ranker.weblinx = WeblinxText(history_turns=1)
    (ranking,) = ranker.rank([observation(demo=demo, demo_turn=1)])
    docs = documents(demo, demo.turns[1])
    (scores,) = ranker.score([(dmr_query(demo, demo.turns[1], 1), [doc.text for doc in docs])])
    best = docs[int(np.argmax(scores))]
    assert (ranking[0].node_id, ranking[0].score) == (best.uid, pytest.approx(float(scores.max()), abs=1e-6))
    assert len(ranking) == len(docs) == 4


def test_a_page_that_cannot_be_read_is_an_error_of_its_own_input(ranker) -> None:
    with pytest.raises(PageError):
        ranker.input(observation(html="<html"))


def test_a_model_with_several_labels_is_refused(folder, tmp_path) -> None:
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, ignore_mismatched_sizes=True)
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="has 2 labels"):
        CrossEncoderRanker(tmp_path)


def test_batches_hold_every_row_once_within_the_budget() -> None:
    lengths = [3, 50, 7, 7, 120, 1, 0, 50, 49]
    batches = list(token_batches(lengths, 100))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[i] for i in batch) <= 100 for batch in batches[1:])
    assert batches[0] == [4]  # longer than the budget: alone
    assert batches[1] == [1, 7]
    with pytest.raises(ValueError, match="holds no row"):
        list(token_batches([1], 0))
