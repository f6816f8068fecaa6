"""Runs Self-MAP's own evaluation, out of a clone of its authors' repository, in a process of its own, and prints what
its model reads: `python -m tests.conformance.authors_self_map CLONE < asked.json`.

What the code imports from elsewhere and what needs a GPU or a key is replaced; the authors' files run as they are.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from agents.encoders.embedding import CachedEncoder, HashEncoder

TOP_K = 3  # past steps that a step recalls


class Rows(list[dict[str, Any]]):
    """The little of Hugging Face's datasets that `get_data_split` uses."""

    @property
    def column_names(self) -> list[str]:
        return list(self[0])

    def map(self, change: Callable[[dict[str, Any]], dict[str, Any]], *, batched: bool = False, **_: object) -> "Rows":
        if not batched:
            return Rows(change(row) for row in self)
        columns = change({name: [row[name] for row in self] for name in self.column_names})
        return Rows(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


class OnNoGpu:
    """A tensor that stays where it is."""

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def unsqueeze(self, _: int) -> "OnNoGpu":
        return self

    def to(self, _: str) -> list[int]:
        return self.values


class Listening:
    """In place of weights: keeps what they read, and always gives the same reply."""

    config = SimpleNamespace(eos_token_id=1)

    def __init__(self, reply: list[int]) -> None:
        self.reply, self.read = [reply], list[list[int]]()

    def generate(self, input_ids: list[int], **_: object) -> list[list[int]]:
        self.read.append(input_ids)
        return self.reply


class Remembered:
    """Their file of rationales, which has one of every step."""

    def __init__(self, folder: str) -> None:
        pass

    def load(self) -> "Remembered":
        return self

    def __contains__(self, name: str) -> bool:
        return True

    def __getitem__(self, name: str) -> str:
        return rationale(name)


class NotYet(Remembered):
    """Their file of neighbours, in which nothing is yet."""

    def __contains__(self, name: str) -> bool:
        return False

    def update(self, name: str, item: object) -> None:
        pass


class Embeddings:
    """In place of ada-002: the very vectors that the recipe compares, of words by their hashes."""

    def __init__(self, **_: object) -> None:
        self.encoder = CachedEncoder(HashEncoder())

    def embeddings(self, texts: str | Sequence[str]) -> np.ndarray:
        given = [texts] if isinstance(texts, str) else list(texts)
        return np.asarray(self.encoder.encode(given), dtype=np.float64)


def rationale(name: str) -> str:
    """What one says of a step, whose name is "TURN_ACTION_ELEMENT"."""
    return f"It is {name} that leads on."


def module(name: str, **content: object) -> None:
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(content)


def loaded(clone: Path, conversations: list[dict[str, Any]]) -> tuple[ModuleType, ModuleType]:
    """The authors' `dataloader` and `metric`."""
    sys.path[:0] = [str(clone / "src"), str(clone / "src" / "action_prediction")]
    module("datasets", load_dataset=lambda *_, **__: Rows(conversations))
    module("omegaconf", DictConfig=dict)
    module("hydra")
    module("hydra.core")
    module("hydra.core.hydra_config", HydraConfig=None)
    module("llms", OpenAIEmbeddingEngine=Embeddings, OpenAIChatEngine=None)
    module("utils", Embeddings=NotYet, Reflexion=Remembered, convert_dict_to_dataclass=None)
    import dataloader  # type: ignore[import-not-found]
    import memory  # type: ignore[import-not-found]
    import metric  # type: ignore[import-not-found]

    told = SimpleNamespace(dir=""), SimpleNamespace(display_cost=False)
    config = SimpleNamespace(
        knn=SimpleNamespace(top_k=TOP_K, sort_by="relevance"), hydra=SimpleNamespace(run=told[0]), openai=told[1]
    )
    memory.read_config = lambda: config
    metric.torch = SimpleNamespace(LongTensor=OnNoGpu, FloatTensor=OnNoGpu)
    return dataloader, metric


def inputs(clone: Path, asked: dict[str, Any]) -> Iterator[list[int]]:
    """Token ids of every prompt of the evaluation, in order."""
    from transformers import AutoTokenizer

    loader, metric = loaded(clone, asked["conversations"])
    tokenizer = AutoTokenizer.from_pretrained(asked["tokenizer"])
    self_map = SimpleNamespace(**asked["self_map"])
    mode = "generation" if self_map.generation else "multichoice"
    rows = loader.get_data_split("", "")
    dataset = loader.MultiChoiceDataset(rows, tokenizer, self_map, mode=mode)
    if self_map.generation:
        evaluator = metric.ActionEvaluatorGeneration(tokenizer, filter_candidate=True, self_map=self_map)
    else:
        evaluator = metric.ActionEvaluatorMultiChoice(tokenizer, self_map=self_map)
    model = Listening(tokenizer(asked["reply"])["input_ids"])
    evaluator.evaluate_dataset(dataset, model)
    yield from model.read


if __name__ == "__main__":
    sys.stdout.write(json.dumps(list(inputs(Path(sys.argv[1]), json.load(sys.stdin)))))
