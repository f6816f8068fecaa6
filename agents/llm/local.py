"""Causal language models of transformers on this machine, behind the same protocol as endpoints. Core.

Weights are safetensors, code from model repositories is never run, and the decoding settings are those of the request
alone: what a model's own generation config adds (top-p, repetition penalty) is left out, so that runs are comparable.
"""

import hashlib
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from agents.encoders import weights
from agents.llm.errors import LlmError, RequestRefused
from agents.llm.protocol import LlmInfo, Reply, Request, cut
from agents.llm.usage import Prices, Usage

if TYPE_CHECKING:
    import torch

WEIGHT_FILES = ("*.safetensors", "*.json", "*.jinja", "*.model")
STOP_SLACK = 8  # tokens that may hold no character of a stop string: special ones, parts of a character


@dataclass(frozen=True)
class _Prompt:
    """One request as tokens; `index` is its place in the caller's list."""

    index: int
    request: Request
    tokens: list[int]

    def settings(self) -> tuple:
        """Requests equal in these are generated together; a seeded sample alone, so that it does not depend on
        what else happens to be asked for."""
        r = self.request
        alone = self.index if r.temperature and r.seed is not None else -1
        return r.temperature, r.n if r.temperature else 1, r.max_tokens, r.stop, alone


class LocalLlm:
    """The model `name` (a folder, a model trained here or a hub name), loaded once. `batch_size` rows at a time."""

    def __init__(self, name: str, batch_size: int = 8, device: str | None = None) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
        from transformers.utils import logging

        logging.disable_progress_bar()
        self._torch = torch
        source = weights.source(name)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        self._model = AutoModelForCausalLM.from_pretrained(
            source,
            trust_remote_code=False,
            use_safetensors=True,
            dtype="auto" if self._device.type == "cuda" else torch.float32,
        )
        self._model.eval().to(self._device)
        self._ends = _end_tokens(self._model.generation_config.eos_token_id, self._tokenizer.eos_token_id)
        self._pad = next((i for i in (self._tokenizer.pad_token_id, *self._ends) if i is not None), 0)
        self._model.generation_config = GenerationConfig(eos_token_id=self._ends or None, pad_token_id=self._pad)
        self._context = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._lock = threading.Lock()
        self._batch_size = batch_size
        identity = f"local:{name}:{_digest(weights.find(name))}"
        self.info = LlmInfo(identity, name, Prices(0.0, 0.0), lanes=1, batch=batch_size)

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        """Batches are sorted by length, so that short prompts are not padded to the longest of all."""
        answers: dict[int, Reply | LlmError] = {}
        prompts = []
        for index, request in enumerate(requests):
            try:
                prompts.append(_Prompt(index, request, self._tokens(request)))
            except RequestRefused as error:
                answers[index] = error
        order: dict[tuple, int] = {}  # groups in the order of their first request
        for prompt in prompts:
            order.setdefault(prompt.settings(), len(order))
        prompts.sort(key=lambda prompt: (order[prompt.settings()], len(prompt.tokens)))
        with self._lock:
            for _, group in groupby(prompts, key=_Prompt.settings):
                for batch in _batches(list(group), self._batch_size):
                    answers |= self._generate(batch)
        return [answers[index] for index in range(len(requests))]

    def _tokens(self, request: Request) -> list[int]:
        if request.model != self.info.model:
            raise RequestRefused(f"the request is for the model {request.model!r}, but {self.info.model!r} is loaded")
        if any(message.images for message in request.messages):
            raise RequestRefused(f"the local model {self.info.model!r} reads text only, not images")
        tokens = self._tokenizer(self.prompt(request), add_special_tokens=not self._tokenizer.chat_template)[
            "input_ids"
        ]
        if self._context and len(tokens) + request.max_tokens > self._context:
            raise RequestRefused(
                f"the prompt of {len(tokens)} tokens and an answer of {request.max_tokens} do not fit into the "
                f"{self._context} tokens of {self.info.model!r}"
            )
        return tokens

    def prompt(self, request: Request) -> str:
        """What the model reads: by its chat template, else one "role: content" after the other."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        if not self._tokenizer.chat_template:
            return "".join(f"{message['role']}: {message['content']}\n" for message in messages) + "assistant:"
        try:
            return self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except jinja2.TemplateError as error:
            raise RequestRefused(f"the chat template of {self.info.model!r} refuses the messages: {error}") from None

    def _generate(self, batch: list[_Prompt]) -> dict[int, Reply]:
        torch, started = self._torch, time.monotonic()
        request = batch[0].request  # the settings are the same in all of them
        samples = request.n if request.temperature else 1
        width = max(len(prompt.tokens) for prompt in batch)
        padding = [width - len(prompt.tokens) for prompt in batch]
        ids = [[self._pad] * left + prompt.tokens for left, prompt in zip(padding, batch, strict=True)]
        mask = [[0] * left + [1] * (width - left) for left in padding]
        ends = _Ends(self._tokenizer, width, len(batch) * samples, self._ends, request.stop)
        sampling = {"temperature": request.temperature, "top_k": 0, "top_p": 1.0} if request.temperature else {}
        devices = [self._device] if self._device.type == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices, enabled=request.seed is not None):
            if request.seed is not None:
                torch.manual_seed(request.seed)
            rows = self._model.generate(
                input_ids=torch.tensor(ids, device=self._device),
                attention_mask=torch.tensor(mask, device=self._device),
                max_new_tokens=request.max_tokens,
                do_sample=bool(request.temperature),
                num_return_sequences=samples,
                stopping_criteria=[ends],
                **sampling,
            )
        new = [row[width : width + length].tolist() for row, length in zip(rows, ends.lengths, strict=True)]
        seconds = time.monotonic() - started
        return {
            prompt.index: self._reply(
                prompt,
                new[place * samples : (place + 1) * samples],
                ends.reasons[place * samples : (place + 1) * samples],
                seconds,
            )
            for place, prompt in enumerate(batch)
        }

    def _reply(self, prompt: _Prompt, rows: list[list[int]], reasons: list[str], seconds: float) -> Reply:
        request = prompt.request
        texts = [cut(self._tokenizer.decode(row, skip_special_tokens=True), request.stop) for row in rows]
        copies = request.n // len(rows)  # without temperature every sample is the same
        usage = Usage(len(prompt.tokens), sum(map(len, rows)))
        return Reply(tuple(texts * copies), usage, self.info.model, tuple(reasons * copies), seconds)


class _Ends:
    """A stopping criterion: ends each row at an end token or a stop string, and notes how many tokens it had then."""

    def __init__(self, tokenizer, width: int, rows: int, ends: list[int], stop: tuple[str, ...]) -> None:
        self.lengths = [0] * rows
        self.reasons = ["length"] * rows
        self._tokenizer = tokenizer
        self._width = width
        self._end_tokens = set(ends)
        self._stop = stop
        self._tail = max((len(text.encode()) for text in stop), default=0) + STOP_SLACK

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor", **kwargs: Any) -> "torch.Tensor":
        for row, tokens in enumerate(input_ids[:, self._width :][:, -self._tail :].tolist()):
            if self.reasons[row] == "stop":
                continue
            self.lengths[row] += 1
            if tokens[-1] in self._end_tokens or self._stops(tokens):
                self.reasons[row] = "stop"
        stopped = [reason == "stop" for reason in self.reasons]
        return (input_ids.new_tensor(stopped, dtype=input_ids.dtype)) > 0

    def _stops(self, tokens: list[int]) -> bool:
        if not self._stop:
            return False
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return any(stop in text for stop in self._stop)


def _end_tokens(*ids: int | list[int] | None) -> list[int]:
    flat: set[int] = set()
    for each in ids:
        flat |= set(each) if isinstance(each, list) else {each} - {None}
    return sorted(flat)


def _batches(prompts: list[_Prompt], size: int) -> Iterable[list[_Prompt]]:
    request = prompts[0].request
    step = max(1, size // (request.n if request.temperature else 1))
    return (prompts[start : start + step] for start in range(0, len(prompts), step))


def _digest(folder: Path | None) -> str:
    """SHA-256 over the names and contents of weights, configuration and tokenizer."""
    if folder is None:
        raise ValueError("the model was loaded but its files cannot be found")
    whole = hashlib.sha256()
    for path in sorted({path for pattern in WEIGHT_FILES for path in folder.glob(pattern)}):
        blob = path.resolve().name  # the Hugging Face cache names large files by their hash
        if not re.fullmatch("[0-9a-f]{64}", blob):
            with path.open("rb") as file:
                blob = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.name} {blob}\n".encode())
    return whole.hexdigest()[:16]
