"""The cross encoder (MindAct's candidate generation): query and candidate are read together. Core.

Source: sources.md M3. Pairs are (query, candidate text) as in the published evaluation (training swaps them),
cut longest first, and the score is the sigmoid of the only logit. Equal pairs are scored once, every query and text is
tokenized once, in length-sorted batches.

A step's scores do not depend on what else is scored, so that they may be kept: in a packed batch a pair has the same
score in any company. In a padded one the last digits differ, so there no step is scored together with another.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.encoders import packing, weights
from agents.encoders.batches import packed_batches, token_batches, token_budget
from agents.encoders.devices import chosen_device
from agents.encoders.kept import VectorStore, key_of, known_or_computed
from agents.encoders.memory_limits import within_memory
from agents.stages.rank.inputs import (
    PUBLISHED,
    InputRanker,
    RankingInput,
    WeblinxText,
    candidate_input,
    in_order,
    weblinx_input,
)
from agents.types import Observation, RankedCandidate
from agents.weblinx.tokens import FastTokenizer

if TYPE_CHECKING:
    import torch

MAX_LENGTH = 512
QueryAndText = tuple[str, str]


class CrossEncoderRanker(InputRanker):
    """Any sequence classification model with one label, by its name or folder (`agents/encoders/weights.py`).

    ValueError for a model with another number of labels.
    """

    def __init__(
        self,
        name: str | Path,
        max_length: int = MAX_LENGTH,
        batch_tokens: int | None = None,
        device: str | None = None,
        weblinx: WeblinxText = PUBLISHED,
        store: VectorStore | None = None,
    ) -> None:
        """`store`: of scores that were computed before, a vector for each step."""
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        folder = weights.source(str(name))
        self.name, self.max_length, self.weblinx, self.store = str(name), max_length, weblinx, store
        self.device = chosen_device(device)
        self.batch_tokens = batch_tokens or token_budget(self.device)
        self._torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, trust_remote_code=False, use_safetensors=True
        )
        if model.config.num_labels != 1:
            raise ValueError(f"{name} has {model.config.num_labels} labels; a ranker has one")
        self._model = model.float().eval().to(self.device)
        self._packs = packing.attend_within_texts(self._model)
        self._folder = folder

    @cached_property
    def identity(self) -> str:
        """What decides over the scores of a step: the weights, and how they are computed with."""
        told = f"{self.device} {self._model.dtype} {self.max_length} {self.batch_tokens}"
        return f"cross {weights.digest(self._folder)} {told}"

    def compute_in_bfloat16(self) -> None:
        """Compute in bfloat16 from now on: nearly twice as fast where the processor multiplies it; scores then differ
        in the third digit."""
        self._model = self._model.bfloat16()

    def input(self, observation: Observation) -> RankingInput:
        """The query and the texts of one observation. Raises PageError for a page that cannot be read."""
        if observation.demo is None:
            return candidate_input(observation)
        return weblinx_input(observation, self.weblinx, FastTokenizer(self.tokenizer))

    def rank_inputs(self, steps: Sequence[RankingInput]) -> list[tuple[RankedCandidate, ...]]:
        scores = self.score([(step.query, step.texts) for step in steps])
        return [in_order(step, row) for step, row in zip(steps, scores, strict=True)]

    def score(self, steps: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        """(query, texts) per step -> one float32 array per step, a score in 0..1 per text."""
        distinct = [(query, *dict.fromkeys(texts)) for query, texts in steps]
        told = self.identity if self.store is not None else ""
        keys = [key_of(told, *step) for step in distinct]
        scored = known_or_computed(self.store, self.name, dict(zip(keys, distinct, strict=True)), self._score_steps)
        of_text = [dict(zip(step[1:], scored[key], strict=True)) for key, step in zip(keys, distinct, strict=True)]
        return [
            np.array([found[text] for text in texts], dtype=np.float32)
            for found, (_, texts) in zip(of_text, steps, strict=True)
        ]

    def _score_steps(self, steps: Sequence[tuple[str, ...]]) -> list[np.ndarray]:
        """(query, *texts) per step -> the score of each text."""
        pairs = [[(query, text) for text in texts] for query, *texts in steps]
        if not self._packs:
            return [self._score_pairs(step) for step in pairs]
        distinct = list(dict.fromkeys(pair for step in pairs for pair in step))
        found = dict(zip(distinct, self._score_pairs(distinct), strict=True))
        return [np.array([found[pair] for pair in step], dtype=np.float32) for step in pairs]

    def tokenize(self, pairs: Sequence[QueryAndText]) -> list[dict[str, list[int]]]:
        """The tokens of each pair, as the tokenizer would give them, but with each query and text tokenized once."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None or not pairs:  # a tokenizer in Python has no parts to join
            return [self._tokenize_pair(pair) for pair in pairs]
        backend.no_padding()
        backend.no_truncation()
        parts = list(dict.fromkeys(part for pair in pairs for part in pair))
        encoded = dict(zip(parts, backend.encode_batch(parts, add_special_tokens=False), strict=True))
        direction = self.tokenizer.truncation_side
        backend.enable_truncation(self.max_length, strategy="longest_first", direction=direction)
        try:
            joined = [backend.post_process(encoded[query], encoded[text]) for query, text in pairs]
        finally:
            backend.no_truncation()
        with_types = "token_type_ids" in self.tokenizer.model_input_names
        return [
            {"input_ids": pair.ids, "attention_mask": pair.attention_mask}
            | ({"token_type_ids": pair.type_ids} if with_types else {})
            for pair in joined
        ]

    def _tokenize_pair(self, pair: QueryAndText) -> dict[str, list[int]]:
        # lists, as a lone empty text would not be taken for the second of a pair
        rows = self.tokenizer([pair[0]], [pair[1]], truncation="longest_first", max_length=self.max_length)
        return {name: values[0] for name, values in rows.items()}

    def _score_pairs(self, pairs: Sequence[QueryAndText]) -> np.ndarray:
        torch = self._torch
        rows: list[dict[str, Any]] = self.tokenize(pairs)
        result = np.zeros(len(rows), dtype=np.float32)
        batches = packed_batches if self._packs else token_batches
        with torch.inference_mode():
            for chosen in batches([len(row["input_ids"]) for row in rows], self.batch_tokens):
                result[chosen] = within_memory(self._score_rows, [rows[i] for i in chosen])
        return result

    def _score_rows(self, rows: Sequence[dict[str, Any]]) -> list[float]:
        logits = self._packed_logits(rows) if self._packs else self._padded_logits(rows)
        return logits.float().sigmoid()[: len(rows)].cpu().tolist()

    def _packed_logits(self, rows: Sequence[dict[str, Any]]) -> "torch.Tensor":
        """Of the rows, and of zeros that fill the last block: the head is given blocks of one size, as its last digits,
        and those of the sigmoid, depend on how many pairs there are."""
        types = [row["token_type_ids"] for row in rows] if "token_type_ids" in rows[0] else None
        hidden = packing.hidden_states(self._model.base_model, [row["input_ids"] for row in rows], types)
        first = self._torch.stack([text[:1] for text in hidden])
        filled = self._torch.nn.functional.pad(first, (0, 0, 0, 0, 0, -len(rows) % packing.FILLED))
        head = [self._model.classifier(self._model.base_model.pooler(block)) for block in filled.split(packing.FILLED)]
        return self._torch.cat(head).squeeze(-1)

    def _padded_logits(self, rows: Sequence[dict[str, Any]]) -> "torch.Tensor":
        batch = self.tokenizer.pad(list(rows), return_tensors="pt").to(self.device)
        logits: torch.Tensor = self._model(**batch).logits.squeeze(-1)
        return logits
