"""The token sequence that the Flan-T5 planners of MindAct and Self-MAP read (sources.md M4.2).

System sentence, memory snippets, current page and question; every message is encoded in pieces, most of which end
in the tokenizer's end-of-sequence token, also in the middle of the sequence. Core: a tokenizer is passed in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.words.shown_page import OURS, PageInput

MAX_PIECE = 512  # tokens of one encoded piece; of a page only the first so many are read
MAX_INPUT = 2048  # tokens of the whole sequence


class EncodingTokenizer(Protocol):
    """The one method needed; the tokenizers of `transformers` have it."""

    def encode(self, text: str, *, add_special_tokens: bool, truncation: bool, max_length: int | None) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of the conversation that a planner reads: a page, what the user asks, or what the planner answered."""

    sender: Literal["webpage", "human", "gpt"]
    text: str


def page_messages(page: PageInput, answer: str = "") -> list[PagePart]:
    """One step as messages. Without an answer it is the current step."""
    return [PagePart("webpage", page.context), PagePart("human", page.input), PagePart("gpt", answer)]


def encode_messages(
    messages: Iterable[PagePart], tokenizer: EncodingTokenizer, max_piece: int = MAX_PIECE, spoken: bool = True
) -> list[int]:
    """The token ids of messages, one after another. Blank pieces are left out. With `spoken` False no speaker is named,
    as MindAct reads single tasks."""
    ids: list[int] = []
    for message in messages:
        for text, special in pieces(message, spoken):
            if text.strip():
                ids += tokenizer.encode(text, add_special_tokens=special, truncation=True, max_length=max_piece)
    return ids


def pieces(message: PagePart, spoken: bool = True) -> list[tuple[str, bool]]:
    """The pieces of a message: (text, whether special tokens are added)."""
    if not spoken:
        return [(message.text, message.sender != "webpage")]
    if message.sender == "webpage":
        if not message.text:
            return [("### Human: ", True)]
        return [("### Human: '''\n", True), (message.text, False), ("\n'''\n\n", True)]
    if message.sender == "human":
        return [(f"{message.text}\n### Assistant: ", True)]
    return [(f"{message.text}\n", True)]


def input_ids(
    snippets: Iterable[Iterable[PagePart]],
    current: Iterable[PagePart],
    tokenizer: EncodingTokenizer,
    system: str = OURS.system,
    max_length: int = MAX_INPUT,
    max_piece: int = MAX_PIECE,
    spoken: bool = True,
) -> list[int]:
    """The token ids that a planner reads. `snippets` of the history come last first; no further ones are asked for once
    the history is full. Without `system` nothing comes before them.

    History is cut from the left, by tokens: its first snippet is the first to go (Q12). The current step is never cut
    beyond `max_piece` per piece, so a long one can exceed `max_length`.
    """
    start: list[int] = []
    if system:
        start = tokenizer.encode(system, add_special_tokens=True, truncation=True, max_length=max_piece)
    end = encode_messages(current, tokenizer, max_piece, spoken)
    history: list[int] = []
    later = iter(snippets)
    while len(history) < max_length - len(start) - len(end) and (snippet := next(later, None)) is not None:
        history = encode_messages(snippet, tokenizer, max_piece, spoken) + history
    return join(start, history, end, max_length)


def join(
    system: Sequence[int], history: Sequence[int], current: Sequence[int], max_length: int = MAX_INPUT
) -> list[int]:
    """The system's tokens, as many of the history's last tokens as fit, and the current ones."""
    room = max_length - len(system) - len(current)
    return [*system, *(history[-room:] if room > 0 else ()), *current]


def label_ids(target: str, tokenizer: EncodingTokenizer) -> list[int]:
    """Token ids of a gold answer, never truncated."""
    return tokenizer.encode(target, add_special_tokens=True, truncation=False, max_length=None)
