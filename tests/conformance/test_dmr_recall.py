"""Dense markup ranking: candidates, documents, queries, training samples and ranking metrics as published."""

from itertools import groupby

import pytest

from agents.training.samples.examples import RankingStep
from agents.training.samples.pairs import dual_encoder_lines
from agents.training.settings import DualEncoderSettings
from agents.weblinx.actions import history_call
from agents.weblinx.documents import documents, ranked_turns, shorten, training_documents, visible_boxes
from agents.weblinx.query import dmr_query
from agents.weblinx.ranking import element_ranks
from evaluation.metrics.weblinx.ranking import evaluate_elements
from tests.conformance.crashes import crash_of
from tests.conformance.weblinx import demos, params

FILE = "dmr_recall"


@pytest.fixture(scope="module")
def recorded():
    return demos(FILE)


@pytest.mark.parametrize("case", params(FILE, "shorten"))
def test_texts_are_shortened_as_published(case):
    assert shorten(case["s"], case["max_length"], case["side"]) == case["out"]


@pytest.mark.parametrize("case", params(FILE, "filter_bboxes"))
def test_boxes_are_filtered_as_published(case, recorded):
    boxes = recorded[case["demo"]].pages.boxes[case["file"]]
    kept = visible_boxes(boxes, case["viewport_height"], case["viewport_width"])
    assert list(kept) == case["kept_uids"]


@pytest.mark.parametrize("case", params(FILE, "target_strings"))
def test_turns_are_written_as_in_the_history(case, recorded):
    turn = recorded[case["demo"]].turns[case["turn_index"]]
    assert str(history_call(turn)) == case["dmr_history_format"]


@pytest.mark.parametrize("case", params(FILE, "records"))
def test_queries_and_documents_agree(case, recorded):
    demo = recorded[case["demo"]]
    turn = demo.turns[case["turn_index"]]
    assert turn in ranked_turns(demo)
    assert dmr_query(demo, turn, case["history_w"]) == case["query"]
    if "docs" in case:
        docs = sorted(documents(demo, turn), key=lambda doc: not doc.positive)
        made = [{"uid": doc.uid, "label": int(doc.positive), "doc": doc.text, "elem_dict": doc.fields} for doc in docs]
        assert made == case["docs"]
        trained = [turn.index for turn, _ in training_documents(demo)]
        assert (turn.index in trained) is case["included_in_training"]


@pytest.mark.parametrize("case", params(FILE, "train_sampling"))
def test_negatives_are_sampled_as_published(case, recorded):
    """By what a training draws of the same turns; elements with the same text are one to it."""
    turns = list(training_documents(recorded[case["demo"]]))
    settings = DualEncoderSettings(seed=case["seed"], max_negatives=case["max_neg_per_turn"])
    steps = [
        RankingStep(
            0,
            str(turn.index),
            tuple(doc.text for doc in docs if doc.positive),
            tuple(doc.text for doc in docs if not doc.positive),
        )
        for turn, docs in turns
    ]
    drawn = [
        [int(line["query"]), line["texts"][place], label]
        for line in dual_encoder_lines(settings)(steps)
        for place, label in line["draws"]
    ]
    text_of = {(turn.index, doc.uid): doc.text for turn, docs in turns for doc in docs}
    assert drawn == [[index, text_of[index, uid], label] for index, uid, label in case["uids_in_order"]]


@pytest.mark.parametrize("case", params(FILE, "ranking"))
def test_ranks_and_metrics_agree(case):
    positive_ranks, sizes = [], []
    for _, turn in groupby(case["records"], key=lambda record: (record["demo_name"], record["turn_index"])):
        records = list(turn)
        ranks = element_ranks((record["uid"], record["score"]) for record in records)
        assert [ranks[record["uid"]] for record in records] == [record["rank"] for record in records]
        positive_ranks += [record["rank"] for record in records if record["label"] == 1]
        sizes.append(len(records))
    with crash_of(case) as crashed:
        result = evaluate_elements(positive_ranks, sizes)
    if crashed:  # no positive element at all: zeros, when corrected
        result = evaluate_elements(positive_ranks, sizes, faithful=False)
        assert {result[key] for key in result if key.startswith(("recall", "mrr"))} == {0.0}
        return
    published = {key: value for key, value in case.items() if key not in ("records", "error")}
    assert {key: result[key] for key in published} == pytest.approx(published, abs=1e-9)
