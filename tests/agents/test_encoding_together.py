"""What `grounded` encodes for many steps together costs less than half of what it does one by one, counted in the
tokens that the encoder reads, filling included: a measure that no busy machine changes. The same of the encoder and of
the ranking alone, in processor time on one core, with the packaged MiniLM."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.encoders import packing
from agents.encoders.embedding import CachedEncoder, MeanPoolingEncoder
from agents.encoders.weights import packaged_minilm
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts, StageKind
from agents.stages.state import StepState
from agents.types import Action, Observation
from tests.agents.learned_world import make_examples
from tests.agents.test_policy import ListMemory
from tests.tiny_models import tiny_encoder

TEXTS = [example.observation.instruction for example in make_examples(8)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tokens of each call of the model."""
    counted: list[int] = []
    hidden_states: Callable[..., Any] = packing.hidden_states

    def count(model: Any, texts: Sequence[Sequence[int]]) -> Any:
        tokens = sum(map(len, texts))
        counted.append(tokens + -tokens % packing.FILLED)
        return hidden_states(model, texts)

    monkeypatch.setattr(packing, "hidden_states", count)
    return counted


def decided(folder: Path, observations: Sequence[Observation], size: int) -> list[Action]:
    encoder = CachedEncoder(MeanPoolingEncoder("tiny", folder, "cpu"))
    pipeline = Pipeline.of(Parts(literature.get("grounded"), memory=ListMemory(), encoder=encoder))
    batches = [observations[start : start + size] for start in range(0, len(observations), size)]
    return [decision.actions[0] for batch in batches for decision in pipeline.decide(batch)]


@pytest.mark.slow
def test_steps_together_are_encoded_at_half_the_cost_and_decided_alike(tmp_path: Path, read: list[int]) -> None:
    folder = tiny_encoder(tmp_path / "encoder", TEXTS, width=16, layers=1)
    observations = [example.observation for example in make_examples(24, seed=5)]
    together = decided(folder, observations, 24)
    cost, calls = sum(read), len(read)
    read.clear()
    assert decided(folder, observations, 1) == together
    assert sum(read) >= 2 * cost, (sum(read), cost)
    assert len(read) >= 4 * calls


@pytest.fixture(scope="module")
def minilm() -> Iterator[MeanPoolingEncoder]:
    import torch

    cores = torch.get_num_threads()
    torch.set_num_threads(1)
    yield MeanPoolingEncoder("minilm", packaged_minilm(), "cpu")
    torch.set_num_threads(cores)


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, the better of two times."""
    taken = []
    for _ in range(2):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


def one_by_one_against_together(encoder: MeanPoolingEncoder, texts: list[str]) -> float:
    alone = seconds(lambda: [encoder.encode([text]) for text in texts])
    return alone / seconds(lambda: encoder.encode(texts))


@pytest.mark.slow
@pytest.mark.timed
def test_short_texts_are_encoded_together_in_half_the_time(minilm: MeanPoolingEncoder) -> None:
    """Elements have a few words. Of long texts each fills the processor by itself: there is nothing to gain."""
    words = " ".join(TEXTS).split()
    short = [" ".join(words[place : place + 6]) for place in range(48)]
    long = [" ".join(words[place:] * 20) for place in range(6)]
    assert one_by_one_against_together(minilm, short) > 2
    assert one_by_one_against_together(minilm, long) < 2


class TimedRanking:
    """Takes the place of the stage `rank` and keeps the processor's time."""

    def __init__(self, stage: StageKind) -> None:
        self.stage, self.seconds = stage, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stage, name)

    def run(self, states: Sequence[StepState]) -> None:
        begun = time.process_time()
        self.stage.run(states)
        self.seconds += time.process_time() - begun


def ranking_seconds(encoder: MeanPoolingEncoder, observations: Sequence[Observation], size: int) -> float:
    cached = CachedEncoder(encoder)
    pipeline = Pipeline.of(Parts(literature.get("grounded"), memory=ListMemory(), encoder=cached))
    (stage,) = pipeline.stages["rank"]
    timed = TimedRanking(stage)
    pipeline.stages["rank"] = [timed]
    for start in range(0, len(observations), size):
        pipeline.decide(observations[start : start + size])
    return timed.seconds


@pytest.mark.slow
@pytest.mark.timed
def test_pages_are_ranked_together_in_half_the_time(minilm: MeanPoolingEncoder) -> None:
    observations = [example.observation for example in make_examples(24, seed=5)]
    together, alone = (min(ranking_seconds(minilm, observations, size) for _ in range(2)) for size in (24, 1))
    assert alone > 2 * together
