"""Train planners that write their answer: sequence-to-sequence and left-to-right models. Core."""

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.encoders import adapters
from agents.training.fit.weights import load_layers, load_model
from agents.training.samples.tokens import PromptAndAnswer, Samples
from agents.training.settings import CausalSettings, PlannerSettings

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

IGNORED = -100  # label without a loss
MULTIPLE = 8  # labels are padded to a multiple of it (sources.md M4.2)


class _LanguageTask:
    """What the tasks of both kinds of language model share: samples, dev metrics, the folder."""

    def __init__(
        self,
        kind: str,
        base: str,
        tokenizer: "PreTrainedTokenizerBase",
        settings: PlannerSettings,
        train: Samples,
        dev: Samples | None,
    ) -> None:
        self.tokenizer, self.settings, self.train, self.dev, self.size = tokenizer, settings, train, dev, train.size
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        self.model = _trained_model(kind, base, settings)

    def weight(self, batch: dict[str, "torch.Tensor"]) -> float:
        """The number of tokens with a loss: so long answers count by their length, however they are divided into
        batches."""
        return float((batch["labels"] != IGNORED).sum())

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        loss: torch.Tensor = model(**batch).loss
        return loss

    def evaluate(self, model: "PreTrainedModel") -> dict[str, float]:
        """`exact_match`: share of dev samples whose greedy answer is the gold answer, but for space around it."""
        import torch

        if self.dev is None or not self.dev.size:
            return {}
        indices, right = list(range(self.dev.size)), 0
        with torch.inference_mode():
            for start in range(0, len(indices), self.settings.batch_size):
                samples = self.dev.get(0, indices[start : start + self.settings.batch_size])
                answers = self._answers(model, [prompt for prompt, _ in samples])
                gold = self.tokenizer.batch_decode([answer for _, answer in samples], skip_special_tokens=True)
                right += sum(given.strip() == wanted.strip() for given, wanted in zip(answers, gold, strict=True))
        return {"exact_match": right / len(indices)}

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.model.config.save_pretrained(folder)  # beside an adapter too: what it makes of its base
        self.tokenizer.save_pretrained(folder)

    def _answers(self, model: Any, prompts: list[list[int]]) -> list[str]:
        ids, mask = padded(prompts, self.tokenizer.pad_token_id, left=not model.config.is_encoder_decoder)
        output = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            do_sample=False,
            num_beams=1,
            max_new_tokens=self.settings.max_new_tokens,
            pad_token_id=self.tokenizer.pad_token_id,
        )
        fresh = output if model.config.is_encoder_decoder else output[:, ids.shape[1] :]
        return self.tokenizer.batch_decode(fresh, skip_special_tokens=True)


def check_adapter(kind: str, base: str, settings: PlannerSettings) -> None:
    """ValueError where there can be no such adapter beside a base on this machine. Asked before samples are read, which
    takes long."""
    if settings.adapter == "none":
        return
    if settings.adapter == "qlora":
        adapters.four_bits()
    adapters.check_targets(load_layers(kind, base), settings.lora_targets)


def _trained_model(kind: str, base: str, settings: PlannerSettings) -> "PreTrainedModel":
    """The base itself or, with an adapter, the base with matrices beside it that alone are trained."""
    if settings.adapter == "none":
        return load_model(kind, base)
    in_four_bits = settings.adapter == "qlora"
    adapted: Any = adapters.beside(
        load_model(kind, base, **(adapters.four_bits() if in_four_bits else {})),
        base,
        rank=settings.lora_rank,
        alpha=settings.lora_alpha,
        dropout=settings.lora_dropout,
        targets=settings.lora_targets,
        seed=settings.seed,
        in_four_bits=in_four_bits,
        checkpointing=settings.gradient_checkpointing,
    )
    model: PreTrainedModel = adapted
    return model


class Seq2SeqTask(_LanguageTask):
    """The prompt goes into the encoder, the loss is on the answer."""

    def __init__(
        self,
        base: str,
        tokenizer: "PreTrainedTokenizerBase",
        settings: PlannerSettings,
        train: Samples,
        dev: Samples | None = None,
    ) -> None:
        super().__init__("seq2seq", base, tokenizer, settings, train, dev)

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        samples = self.train.get(epoch, indices)
        ids, mask = padded([prompt for prompt, _ in samples], self.tokenizer.pad_token_id)
        labels, _ = padded([answer for _, answer in samples], IGNORED, multiple=MULTIPLE)
        return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class CausalTask(_LanguageTask):
    """Prompt and answer are one text; the loss is on the answer, or on all of it."""

    def __init__(
        self,
        base: str,
        tokenizer: "PreTrainedTokenizerBase",
        settings: CausalSettings,
        train: Samples,
        dev: Samples | None = None,
    ) -> None:
        super().__init__("causal", base, tokenizer, settings, train, dev)
        self.loss_on = settings.loss_on
        self.makes_some_logits = "logits_to_keep" in signature(self.model.forward).parameters

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        texts, labels = [], []
        for sample in self.train.get(epoch, indices):
            prompt, answer = self.joined(sample)
            texts.append(prompt + answer)
            labels.append((prompt if self.loss_on == "text" else [IGNORED] * len(prompt)) + answer)
        ids, mask = padded(texts, self.tokenizer.pad_token_id)
        return {"input_ids": ids, "attention_mask": mask, "labels": padded(labels, IGNORED)[0]}

    def weight(self, batch: dict[str, "torch.Tensor"]) -> float:
        return float((batch["labels"][:, 1:] != IGNORED).sum())  # nothing predicts the first token

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        """The mean over the tokens with a label."""
        import torch

        if not self.makes_some_logits or not self.weight(batch):
            return super().loss(model, batch)
        logits, wanted = labelled_logits(model, batch, some=True)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED)

    def joined(self, sample: PromptAndAnswer) -> PromptAndAnswer:
        """The prompt as it is read in use, and the answer without the tokens that open a text, with the one that ends
        it."""
        prompt, answer = sample
        first, last = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        if answer and first is not None and answer[0] == first:
            answer = answer[1:]
        if last is not None and answer[-1:] != [last]:
            answer = [*answer, last]
        return prompt, answer


def labelled_logits(
    model: "torch.nn.Module", batch: dict[str, "torch.Tensor"], *, some: bool
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Of the places after which a token of any row has a label: the logits (rows, places, vocabulary), and the labels
    that they are to foretell (rows, places). `some`: the model makes no others, when asked; of a prompt of 2,000 tokens
    and a vocabulary of 50,000 they take 400 MB a row, of which nothing is read."""
    wanted = batch["labels"][:, 1:]
    places = (wanted != IGNORED).any(0).nonzero().squeeze(1)
    seen = {name: batch[name] for name in ("input_ids", "attention_mask")}
    made = model(**seen, logits_to_keep=places).logits if some else model(**seen).logits[:, places]
    return made.float(), wanted[:, places]


def padded(
    rows: list[list[int]], value: int, *, left: bool = False, multiple: int = 1
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """The rows as a matrix filled up with `value`, and a mask that is 1 where a row has a token."""
    import torch

    width = -(-max(len(row) for row in rows) // multiple) * multiple
    ids = torch.full((len(rows), width), value, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for place, row in enumerate(rows):
        part = slice(width - len(row), width) if left else slice(0, len(row))
        ids[place, part] = torch.tensor(row, dtype=torch.long)
        mask[place, part] = 1
    return ids, mask
