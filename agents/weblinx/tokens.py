"""What WebLINX's truncation asks of a tokenizer: where its tokens lie in a text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class SpanTokenizer(Protocol):
    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """(start, end) of each token in characters, without special tokens."""


@dataclass(frozen=True)
class FastTokenizer:
    """A fast tokenizer of the transformers library."""

    tokenizer: Callable[..., Any]

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        # verbose=False: a text over the model's length is counted here, not fed to the model
        read = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        spans: Sequence[tuple[int, int]] = read["offset_mapping"]
        return spans


@dataclass(frozen=True)
class ReadOnce:
    """Another tokenizer, which is asked about each text once."""

    tokenizer: SpanTokenizer
    known: dict[str, Sequence[tuple[int, int]]] = field(default_factory=dict)

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        found = self.known.get(text)
        if found is None:
            found = self.known[text] = self.tokenizer.spans(text)
        return found


def count(tokenizer: SpanTokenizer, text: str) -> int:
    """How many tokens the text has."""
    return len(tokenizer.spans(text))
