"""Train rankers: MindAct's cross encoder and the dual encoder of dense markup ranking. Core."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.training.fit.weights import load_model, load_tokenizer
from agents.training.samples.examples import RankingStep
from agents.training.samples.pairs import Pairs
from agents.training.settings import CrossEncoderSettings, DualEncoderSettings

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

HIT_AT = (1, 5, 10, 50)
SCORED_AT_ONCE = 64


class _RankingTask:
    """What the trainings share: labelled pairs, and ranking measured on dev steps."""

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    dev: Sequence[RankingStep]

    def weight(self, batch: dict[str, "torch.Tensor"]) -> float:
        return float(len(batch["label"]))

    def evaluate(self, model: "PreTrainedModel") -> dict[str, float]:
        return hit_rates(self.dev, lambda step, texts: self._scores(model, step, texts))

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _scores(self, model: "PreTrainedModel", step: RankingStep, texts: list[str]) -> list[float]:
        raise NotImplementedError


class CrossEncoderTask(_RankingTask):
    """MindAct's training: one logit for a pair of texts, binary cross entropy (sources.md M3)."""

    def __init__(
        self, base: str, settings: CrossEncoderSettings, pairs: Pairs, dev: Sequence[RankingStep] = ()
    ) -> None:
        self.settings, self.pairs, self.dev, self.size = settings, pairs, dev, pairs.size
        self.tokenizer = load_tokenizer(base)
        kept = {"num_hidden_layers": settings.layers} if settings.layers else {}
        self.model = load_model("cross_encoder", base, num_labels=1, **kept)

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        import torch

        found = self.pairs.get(epoch, indices)
        pairs = [(text, query) if self.settings.q3_swapped_pairs else (query, text) for query, text, _ in found]
        return self._encode(pairs) | {"label": torch.tensor([float(label) for *_, label in found])}

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        import torch

        logits = model(**{name: tensor for name, tensor in batch.items() if name != "label"}).logits
        return torch.nn.functional.binary_cross_entropy_with_logits(logits.squeeze(-1).float(), batch["label"])

    def _scores(self, model: "PreTrainedModel", step: RankingStep, texts: list[str]) -> list[float]:
        """The model's score of each text. It reads pairs of (query, candidate), the order that evaluation uses."""
        batch = self._encode([(step.query, text) for text in texts])
        scores: list[float] = (
            model(**{name: tensor.to(model.device) for name, tensor in batch.items()}).logits[:, 0].tolist()
        )
        return scores

    def _encode(self, pairs: list[tuple[str, str]]) -> dict[str, "torch.Tensor"]:
        first, second = ([pair[place] for pair in pairs] for place in (0, 1))
        options = {"truncation": "longest_first", "max_length": self.settings.max_length, "padding": True}
        return dict(self.tokenizer(first, second, return_tensors="pt", **options))


class DualEncoderTask(_RankingTask):
    """The training of dense markup ranking: one encoder for queries and elements, mean pooling, the cosine against the
    label in {0, 1} (sources.md A5.1)."""

    def __init__(self, base: str, settings: DualEncoderSettings, pairs: Pairs, dev: Sequence[RankingStep] = ()) -> None:
        self.settings, self.pairs, self.dev, self.size = settings, pairs, dev, pairs.size
        self.tokenizer = load_tokenizer(base)
        self.model = load_model("dual_encoder", base)

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        """The tokens of queries and then of elements as one batch, so that several devices work on one forward pass."""
        import torch

        found = self.pairs.get(epoch, indices)
        texts = [query for query, _, _ in found] + [text for _, text, _ in found]
        return self._encode(texts) | {"label": torch.tensor([float(label) for *_, label in found])}

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        import torch

        queries, elements = self._vectors(model, batch).chunk(2)
        cosine = torch.nn.functional.cosine_similarity(queries, elements)
        return torch.nn.functional.mse_loss(cosine, batch["label"])

    def _scores(self, model: "PreTrainedModel", step: RankingStep, texts: list[str]) -> list[float]:
        import torch

        batch = {name: tensor.to(model.device) for name, tensor in self._encode([step.query, *texts]).items()}
        vectors = self._vectors(model, batch)
        return torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:]).tolist()

    def _vectors(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        """The mean over the tokens of each text, shape (texts, width)."""
        hidden = model(**{name: tensor for name, tensor in batch.items() if name != "label"}).last_hidden_state.float()
        mask = batch["attention_mask"].unsqueeze(-1).float()
        means: torch.Tensor = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return means

    def _encode(self, texts: list[str]) -> dict[str, "torch.Tensor"]:
        options = {"truncation": True, "max_length": self.settings.max_length, "padding": True}
        return dict(self.tokenizer(texts, return_tensors="pt", **options))


def hit_rates(steps: Sequence[RankingStep], score: Callable[[RankingStep, list[str]], list[float]]) -> dict[str, float]:
    """recall@k (share of steps with a gold element among the first k) and MRR@50 over all steps; {} without steps.

    `score(step, texts)` gives one number per text. Steps without a gold element count as misses; equal scores keep
    the gold elements first (Q4).
    """
    import torch

    ranks = []
    with torch.inference_mode():
        for step in steps:
            texts = [*step.positives, *step.negatives]
            scores = []
            for start in range(0, len(texts), SCORED_AT_ONCE):
                scores += score(step, texts[start : start + SCORED_AT_ONCE])
            order = sorted(range(len(texts)), key=lambda index: -scores[index])
            ranks.append(next((rank for rank, index in enumerate(order) if index < len(step.positives)), None))
    if not ranks:
        return {}
    found = [rank for rank in ranks if rank is not None]
    rates = {f"recall@{k}": sum(rank < k for rank in found) / len(ranks) for k in HIT_AT}
    return rates | {"mrr": sum(1 / (rank + 1) for rank in found if rank < 50) / len(ranks)}
