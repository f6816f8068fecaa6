"""Dense markup ranking against the obvious way: every document of every step, encoded in float32."""

import dataclasses
import random

import numpy as np
import pytest

from agents.encoders.embedding import MeanPoolingEncoder
from agents.encoders.weights import MINILM, source
from agents.recipes.settings import Quirks, RankSettings
from agents.stages.rank.dmr import DmrEncoder, DmrRanker, dmr_encoder
from agents.stages.rank.inputs import RankingInput
from agents.types import Observation
from agents.weblinx.documents import documents
from agents.weblinx.query import dmr_query
from tests.agents.test_ranker_cross_encoder import PAGE
from tests.agents.weblinx_demo import browser, chat, make_demo
from tests.quick import first_is_quick
from tests.tiny_models import tiny_encoder

WORDS = "search book room hotel price guests date map save menu help login basket total next back home filter".split()
FAITHFUL = Quirks.of("faithful")


def steps_of(count: int, elements: int, moved: bool = True, seed: int = 0) -> list[RankingInput]:
    """A page whose elements stay but for a tenth, and move at every step."""
    rng = random.Random(seed)

    def element() -> str:
        return (
            f"[[tag]] {rng.choice('abip')}\n[[text]] {' '.join(rng.choices(WORDS, k=rng.randint(1, 9)))} {rng.random()}"
        )

    page = [element() for _ in range(elements)]
    steps = []
    for number in range(count):
        for place in rng.sample(range(elements), elements // 10) if number else ():
            page[place] = element()
        boxes = [
            f"\n[[bbox]] x={rng.randint(0, 99) if moved else 1} y={rng.randint(0, 9) if moved else 1}" for _ in page
        ]
        steps.append(
            RankingInput(
                " ".join(rng.choices(WORDS, k=8)),
                tuple(map(str, range(elements))),
                tuple(text + box for text, box in zip(page, boxes, strict=True)),
                tuple(page),
                tuple(page),
            )
        )
    return steps


@pytest.fixture(scope="module")
def exact(tmp_path_factory) -> MeanPoolingEncoder:
    texts = [text for step in steps_of(4, 60) for text in (*step.texts, step.query)]
    return MeanPoolingEncoder("tiny", tiny_encoder(tmp_path_factory.mktemp("tiny"), texts, seed=1), max_tokens=512)


class Rounded:
    """An encoder that is a little off, in a way that depends on the text."""

    def __init__(self, encoder: MeanPoolingEncoder, error: float) -> None:
        self.encoder, self.error, self.name, self.dimensions = encoder, error, "rounded", encoder.dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        noise = np.stack([np.random.default_rng(len(t) + ord(t[-1])).normal(size=self.dimensions) for t in texts])
        return (self.encoder.encode(texts) + self.error * noise / np.sqrt(self.dimensions)).astype(np.float32)


def ranker(encoder: DmrEncoder, **settings) -> DmrRanker:
    return DmrRanker(encoder, RankSettings(kind="dmr", **settings), FAITHFUL)


def obvious(encoder: MeanPoolingEncoder, step: RankingInput) -> np.ndarray:
    return encoder.encode(list(step.texts)) @ encoder.encode([step.query])[0]


def first(scores: np.ndarray, k: int) -> list[int]:
    return np.argsort(-scores, kind="stable")[:k].tolist()


def test_exact_scores_are_those_of_the_obvious_way(exact) -> None:
    steps = steps_of(3, 30)
    for step, scores in zip(steps, ranker(DmrEncoder(exact), exact=True).score(steps), strict=True):
        assert scores == pytest.approx(obvious(exact, step), abs=1e-5)


@pytest.mark.slow
@first_is_quick("together", [True, False], ids=["one batch", "step by step"])
@first_is_quick("error", [None, 0.003, 0.03], ids=["one encoder", "quick encoder", "poor quick encoder"])
def test_the_first_k_are_those_of_the_obvious_way(exact, error, together) -> None:
    steps = steps_of(4, 60)
    ours = ranker(DmrEncoder(exact, Rounded(exact, error) if error else None), top_k=5)
    found = ours.score(steps) if together else [ours.score([step])[0] for step in steps]
    for step, scores in zip(steps, found, strict=True):
        expected = obvious(exact, step)
        assert first(scores, 5) == first(expected, 5)
        assert scores[first(scores, 5)] == pytest.approx(expected[first(expected, 5)], abs=1e-5)


def test_elements_that_moved_are_not_encoded_again_unless_they_are_near_the_first(exact) -> None:
    steps = steps_of(4, 60)
    ours = ranker(DmrEncoder(exact), top_k=2)
    ours.score(steps)
    distinct = len({carried for step in steps for carried in step.carried})
    everything = len({text for step in steps for text in step.texts})
    assert (distinct, everything) == (60 + 3 * 6, 4 * 60)
    assert distinct <= ours.encoded["exact"] < everything


def test_texts_that_stayed_whole_are_encoded_once(exact) -> None:
    ours = ranker(DmrEncoder(exact), exact=True)
    steps = steps_of(4, 60, moved=False)
    ours.score(steps)
    assert ours.encoded["exact"] == 60 + 3 * 6
    ours.score(steps[-1:])
    assert ours.encoded["exact"] == 60 + 3 * 6


def test_fewer_elements_than_k_are_all_exact(exact) -> None:
    steps = steps_of(2, 4)
    found = ranker(DmrEncoder(exact, Rounded(exact, 0.01)), top_k=10).score([*steps, RankingInput("q", (), (), (), ())])
    for step, scores in zip(steps, found, strict=False):
        assert scores == pytest.approx(obvious(exact, step), abs=1e-5)
    assert found[-1].shape == (0,)


def observation(**fields) -> Observation:
    fields = {
        "key": 1,
        "conversation": 1,
        "turn_index": 0,
        "step_index": 0,
        "website": "",
        "domain": "",
        "subdomain": "",
        "instruction": "Reserve a boat.",
        "html": PAGE,
    } | fields
    return Observation(**fields)


def demo_observation() -> Observation:
    turns = [chat("instructor", f"Part {i}", float(i)) for i in range(12)] + [browser("click", "go", 20.0)]
    return observation(demo=make_demo(*turns), demo_turn=12)


def test_weblinx_turns_are_read_as_the_settings_say(exact) -> None:
    seen = demo_observation()
    step = ranker(DmrEncoder(exact), history_turns=10, element_limit=0).input(seen)
    demo = seen.demo
    assert step.query == dmr_query(demo, demo.turns[12], 10)
    docs = documents(demo, demo.turns[12])
    assert step.node_ids == tuple(doc.uid for doc in docs)
    assert step.texts == tuple(doc.text for doc in docs)
    assert all(
        "[[bbox]]" in text and "[[bbox]]" not in kept for text, kept in zip(step.texts, step.carried, strict=True)
    )
    assert step.labels[-1] == "button Search"


def test_a_limit_in_tokens_counts_those_of_the_encoder(exact) -> None:
    from agents.weblinx.tokens import FastTokenizer

    encoder = DmrEncoder(exact, tokenizer=FastTokenizer(exact.tokenizer))
    step = ranker(encoder, element_limit=9, element_limit_unit="tokens").input(demo_observation())
    assert {len(exact.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in step.texts} == {9}


@pytest.mark.slow
def test_pages_without_recorded_turns_are_ranked_by_element_texts() -> None:
    ours = ranker(dataclasses.replace(dmr_encoder(MINILM), quick=None))
    (ranking,) = ours.rank([observation(candidate_ids=("3", "5", "11", "13"), instruction="Read the imprint")])
    assert (ranking[0].node_id, ranking[0].rank) == ("13", 0)
    assert [c.score for c in ranking] == sorted((c.score for c in ranking), reverse=True)


@pytest.mark.slow  # loads another library of models
def test_minilm_scores_are_those_of_sentence_transformers() -> None:
    """512 tokens, mean pooling, cosine, in float32: the published computation with the published library."""
    from sentence_transformers import SentenceTransformer, util

    step = steps_of(1, 12)[0]
    step = dataclasses.replace(step, texts=(*step.texts[:-1], "room " * 600))
    library = SentenceTransformer(str(source(MINILM)), device="cpu")
    library.max_seq_length = 512
    vectors = library.encode([step.query, *step.texts], convert_to_tensor=True)
    expected = util.cos_sim(vectors[0], vectors[1:])[0].numpy()
    (scores,) = ranker(dmr_encoder(MINILM), top_k=12).score([step])
    assert scores == pytest.approx(expected, abs=1e-5)
