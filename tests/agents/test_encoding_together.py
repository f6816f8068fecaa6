"""What `grounded` encodes for many steps together costs less than half of what it does one by one, counted in the
tokens that the encoder reads, filling included: a measure that no busy machine changes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.encoders import packing
from agents.encoders.embedding import CachedEncoder, MeanPoolingEncoder
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
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


def test_steps_together_are_encoded_at_half_the_cost_and_decided_alike(tmp_path: Path, read: list[int]) -> None:
    folder = tiny_encoder(tmp_path / "encoder", TEXTS, width=16, layers=1)
    observations = [example.observation for example in make_examples(24, seed=5)]
    together = decided(folder, observations, 24)
    cost, calls = sum(read), len(read)
    read.clear()
    assert decided(folder, observations, 1) == together
    assert sum(read) >= 2 * cost, (sum(read), cost)
    assert len(read) >= 4 * calls
