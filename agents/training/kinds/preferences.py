"""Train left-to-right planners on preference pairs, by the DPO loss (Rafailov et al. 2023, arXiv 2305.18290). Core."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.training.fit.loop import TrainingError
from agents.training.kinds.language import IGNORED, CausalTask, labelled_logits, padded
from agents.training.samples.pairs import Lines
from agents.training.samples.tokens import PromptAndAnswer, Samples
from agents.training.settings import CausalSettings
from agents.words.sequence import label_ids

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase


def dpo_loss(
    chosen: "torch.Tensor",
    rejected: "torch.Tensor",
    reference_chosen: "torch.Tensor",
    reference_rejected: "torch.Tensor",
    beta: float,
) -> "torch.Tensor":
    """The mean of equation 7 over pairs, given the log probabilities of their answers by the model that is trained and
    by its reference: -log σ(β (log π(w)/ref(w) - log π(l)/ref(l)))."""
    from torch.nn.functional import logsigmoid

    margins = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -logsigmoid(beta * margins).mean()


def answer_log_probs(
    model: "torch.nn.Module", batch: dict[str, "torch.Tensor"], *, some: bool = False
) -> "torch.Tensor":
    """The log probability of each row's answer: the sum over its tokens, those with a label. `some`: as in
    `labelled_logits`."""
    import torch

    logits, wanted = labelled_logits(model, batch, some=some)
    counted = wanted != IGNORED
    each = torch.log_softmax(logits, -1).gather(-1, wanted.masked_fill(~counted, 0).unsqueeze(-1)).squeeze(-1)
    return (each * counted).sum(-1)


class PreferenceTask(CausalTask):
    """Learns to give the right answer rather than the wrong one. Its reference is the model as it was at the start:
    what that says of the pairs is computed once, and kept beside them for the slices that follow."""

    def __init__(
        self,
        base: str,
        tokenizer: "PreTrainedTokenizerBase",
        settings: CausalSettings,
        pairs: Path,
        dev: Samples | None = None,
    ) -> None:
        """`pairs`: a prepared file of prompts, answers and rejected answers (`preference_rows`)."""
        self.pairs, self.beta = Lines(pairs), settings.beta
        if not len(self.pairs):
            raise TrainingError("no page of a train step holds both its gold element and an action that is wrong there")
        super().__init__(base, tokenizer, settings, _NoSamples(len(self.pairs)), dev)
        self.reference = self._kept_reference(pairs.with_name("reference.jsonl"))

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        """The rows of the right answers, then those of the wrong ones, and what the reference says of them."""
        import torch

        rows = self._rows(indices)
        return rows | {"reference": torch.tensor([self.reference[index] for index in indices]).T}

    def weight(self, batch: dict[str, "torch.Tensor"]) -> float:
        """The number of pairs."""
        return float(batch["reference"].shape[1])

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        said = answer_log_probs(model, batch, some=self.makes_some_logits)
        chosen, rejected = said.chunk(2)
        return dpo_loss(chosen, rejected, batch["reference"][0], batch["reference"][1], self.beta)

    def _rows(self, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        lines = self.pairs.get(indices)
        texts, labels = [], []
        for name in ("answer", "rejected"):
            for line in lines:
                prompt, answer = self.joined((line["prompt"], label_ids(line[name], self.tokenizer)))
                texts.append(prompt + answer)
                labels.append([IGNORED] * len(prompt) + answer)
        ids, mask = padded(texts, self.tokenizer.pad_token_id)
        return {"input_ids": ids, "attention_mask": mask, "labels": padded(labels, IGNORED)[0]}

    def _kept_reference(self, path: Path) -> list[list[float]]:
        """Of each pair the log probabilities of its right and its wrong answer, by the model as it is now unless they
        are kept."""
        if path.exists():
            kept = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            if len(kept) == self.size:
                return kept
        found = [row for start in range(0, self.size, self.settings.batch_size) for row in self._said(start)]
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_text("".join(f"{json.dumps(row)}\n" for row in found), "utf-8")
        part.replace(path)
        return found

    def _said(self, start: int) -> list[list[float]]:
        import torch

        rows = self._rows(range(start, min(start + self.settings.batch_size, self.size)))
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model: torch.nn.Module = self.model
        model.to(device).eval()  # an adapter adds nothing yet: its second matrix is 0
        with torch.inference_mode():
            moved = {name: tensor.to(device) for name, tensor in rows.items()}
            said = answer_log_probs(model, moved, some=self.makes_some_logits)
        return said.view(2, -1).T.tolist()


class _NoSamples:
    """Stands in for supervised samples: pairs are all that is learnt from."""

    def __init__(self, size: int) -> None:
        self.size = size

    def get(self, epoch: int, indices: Sequence[int]) -> list[PromptAndAnswer]:
        return []
