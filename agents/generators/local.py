"""Planners whose weights are here: Flan-T5 and any other seq2seq or causal model of transformers. Core."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents.encoders import adapters
from agents.encoders.devices import chosen_device
from agents.generators.as_read import as_read
from agents.generators.drawing import drawing
from agents.generators.positions import weigh_by_distance
from agents.generators.reading import Remembering, encoded
from agents.generators.room import batch_tokens
from agents.llm.deadline import go_on
from agents.llm.protocol import GREEDY, Sampling, cut
from agents.types import DecisionUsage
from agents.words.generator import CUT, ChatPrompt, Generated, PagePrompt, PlannerPrompt, transcript
from agents.words.sequence import MAX_INPUT, MAX_PIECE, input_ids


def prompt_ids(
    prompt: PlannerPrompt, tokenizer: Any, max_tokens: int = MAX_INPUT, max_piece: int = MAX_PIECE
) -> list[int]:
    """The token ids that a local model reads: the same in training and in use.

    Page prompts have the published layout (sources.md M4.2). Other prompts are one text, cut to `max_tokens`: the
    published flat form where there is one, else the tokenizer's chat template, else "role: content" lines.
    """
    if isinstance(prompt, PagePrompt):
        room = max_tokens, max_piece
        return input_ids([prompt.history], prompt.current, tokenizer, prompt.system, *room, prompt.spoken)
    if not prompt.flat and getattr(tokenizer, "chat_template", None):
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return _ids(tokenizer(text, truncation=True, max_length=max_tokens, add_special_tokens=False))
    return _ids(tokenizer(prompt_text(prompt), truncation=True, max_length=max_tokens))


def _ids(encoded: Any) -> list[int]:
    ids: list[int] = encoded["input_ids"]
    return ids


def token_count(tokenizer: Any, text: str) -> int:
    """How many tokens a text has, special ones not counted: the same in training and in use."""
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])


def prompt_text(prompt: PlannerPrompt) -> str:
    """A prompt as a person reads it: its published flat form where there is one, else its messages as a transcript."""
    return prompt.flat if isinstance(prompt, ChatPrompt) and prompt.flat else transcript(prompt.chat())


class LocalGenerator:
    """A model of transformers, from a folder or a Hugging Face name. It takes the likeliest token unless a temperature
    is given. What is drawn for a prompt depends on the seed and the prompt alone, not on what else is in its batch.

    `constrained`: the answer to a page prompt must begin with one of the prompt's `openings`.
    """

    def __init__(self, source: Path | str, device: str | None = None) -> None:
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self._torch = torch
        self.device = chosen_device(device)
        self.tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)  # an adapter's is that of its base
        self.seq2seq = bool(config.is_encoder_decoder)
        kind = AutoModelForSeq2SeqLM if self.seq2seq else AutoModelForCausalLM
        self.model: Any = adapters.load(kind, source).eval().to(self.device)
        weigh_by_distance(self.model)
        self.batch_tokens = batch_tokens(self.model)
        self.configure()

    def configure(
        self,
        *,
        max_new_tokens: int = 50,
        max_tokens: int = MAX_INPUT,
        max_piece: int = MAX_PIECE,
        constrained: bool = False,
        sampling: Sampling = GREEDY,
    ) -> None:
        """Take over the settings of a recipe; the weights stay loaded from one recipe to the next."""
        self.max_new_tokens, self.max_tokens, self.max_piece = max_new_tokens, max_tokens, max_piece
        self.constrained, self.sampling = constrained, sampling

    def count_tokens(self, text: str) -> int:
        return token_count(self.tokenizer, text)

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: Sampling | None = None) -> list[Generated]:
        """What the model writes to each prompt, batch by batch. Prompts of about one length are asked together; of a
        model that remembers beginnings, those that begin alike."""
        sampling = sampling or self.sampling
        copies = sampling.n if sampling.temperature else 1  # without chance all samples are the same
        ids = [prompt_ids(prompt, self.tokenizer, self.max_tokens, self.max_piece) for prompt in prompts]
        memory = None if self.seq2seq else Remembering(self.model)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]) if memory is None else ids[i])
        found: list[Generated | None] = [None] * len(ids)
        start = 0
        while start < len(order):
            go_on()
            end = _batch_end([len(ids[i]) for i in order], start, self.batch_tokens // copies)
            chosen = order[start:end]
            rows = [i for i in chosen for _ in range(copies)]
            answers = self._answers([ids[i] for i in rows], [prompts[i] for i in rows], sampling, memory)
            for place, index in enumerate(chosen):
                own = answers[place * copies : (place + 1) * copies]
                found[index] = self._generated(prompts[index], ids[index], own, sampling.n)
            start = end
        return [generated for generated in found if generated is not None]

    def _generated(self, prompt: PlannerPrompt, read: list[int], answers: list[list[int]], n: int) -> Generated:
        texts = [str(self.tokenizer.decode(tokens, skip_special_tokens=True)) for tokens in answers]
        if isinstance(prompt, ChatPrompt):
            texts = [cut(text, prompt.stop) for text in texts]
        usage = DecisionUsage(1, len(read), sum(map(len, answers)))
        texts *= n // len(texts)
        sent, said = self._sent(prompt, read), prompt_text(prompt)
        if isinstance(prompt, ChatPrompt) and len(read) >= self.max_tokens:
            said = f"{self.tokenizer.decode(read, skip_special_tokens=True)} {CUT}"
        return Generated(texts[0], said, usage, others=tuple(texts[1:]), sent=sent)

    def _sent(self, prompt: PlannerPrompt, read: list[int]) -> PagePrompt | None:
        """A page prompt as it was read, None where nothing can have been cut of it."""
        short = len(read) < min(self.max_piece, self.max_tokens)
        if short or not isinstance(prompt, PagePrompt) or not self.tokenizer.is_fast:
            return None
        shown = as_read(prompt, self.tokenizer, self.max_tokens, self.max_piece)
        return None if shown == prompt else shown

    def _answers(
        self, ids: list[list[int]], prompts: list[PlannerPrompt], sampling: Sampling, memory: Remembering | None
    ) -> list[list[int]]:
        """Generated token ids without padding, one list for each prompt; samples of a prompt stand side by side."""
        pad = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.tokenizer.eos_token_id
        skip = 1 if self.seq2seq else max(map(len, ids))  # the decoder's start token; the prompt
        options: dict[str, Any] = {"max_new_tokens": self.max_new_tokens, "num_beams": 1, "pad_token_id": pad}
        options |= {"do_sample": False}  # `drawing` draws, row by row
        if sampling.temperature:
            options["logits_processor"] = drawing(sampling, ids, self.device)
        if self.constrained:
            options["prefix_allowed_tokens_fn"] = self._allowed(prompts, skip)
        with self._torch.inference_mode():
            read = encoded(self.model, ids) if memory is None else memory.remembered(ids, pad)
            out = self.model.generate(**read, **options)
        end = self.tokenizer.eos_token_id
        return [_until(row[skip:], end) for row in out.tolist()]

    def _allowed(self, prompts: list[PlannerPrompt], skip: int) -> Callable[[int, Any], list[int]]:
        """A function that says, for a row and the tokens written in it so far, which tokens may follow."""
        every = list(range(len(self.tokenizer)))
        end = [self.tokenizer.eos_token_id]
        options = [
            [(self._option_ids(text), text.endswith(" ")) for text in prompt.openings]
            if isinstance(prompt, PagePrompt)
            else []
            for prompt in prompts
        ]

        def allowed(row: int, written: Any) -> list[int]:
            tokens = written.tolist()[skip:]
            follow = [next_tokens(tokens, option, free, every, end) for option, free in options[row]]
            return next((f for f in follow if f is every), None) or sorted({t for f in follow for t in f}) or every

        return allowed

    def _option_ids(self, text: str) -> list[int]:
        return _ids(self.tokenizer(text.rstrip(), add_special_tokens=False))


def next_tokens(written: list[int], option: list[int], free: bool, every: list[int], end: list[int]) -> list[int]:
    """The tokens that may follow `written` where the answer must begin with `option`: the next token of `option`, none
    where `written` differs from it, and after it `every` token if the option is `free`, else `end`."""
    if len(written) < len(option):
        return [option[len(written)]] if option[: len(written)] == written else []
    if written[: len(option)] != option:
        return []
    return every if free else end


def _batch_end(lengths: Sequence[int], start: int, room: int) -> int:
    """Where the batch that begins at `start` ends, so that it holds `room` tokens at most, padding counted."""
    end, width = start + 1, lengths[start]
    while end < len(lengths):
        width = max(width, lengths[end])
        if width * (end + 1 - start) > room:
            break
        end += 1
    return end


def _until(tokens: list[int], end: int | None) -> list[int]:
    return tokens[: tokens.index(end)] if end in tokens else tokens
