"""What of a page prompt a local model reads, as texts: the parts that `words.sequence` cuts by tokens, marked. Core."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.words.generator import CUT, PagePrompt
from agents.words.sequence import PagePart, pieces


@dataclass(frozen=True)
class _EncodedPiece:
    """A text that is encoded by itself, with where each of its tokens begins and how far it is read."""

    starts: tuple[int, ...]
    end: int


def as_read(prompt: PagePrompt, tokenizer: Any, max_tokens: int, max_piece: int) -> PagePrompt:
    """The prompt with its parts as the model reads them: of each its first `max_piece` tokens, and of the history as
    many of the last tokens as there is room for."""
    system = [_piece(tokenizer, prompt.system, True, max_piece)] if prompt.system else []
    parts = {"history": prompt.history, "current": prompt.current}
    read = {name: [_pieces(part, tokenizer, max_piece, prompt.spoken) for part in of] for name, of in parts.items()}
    room = max_tokens - _tokens(system) - sum(map(_tokens, read["current"]))
    over = sum(map(_tokens, read["history"])) - max(0, room)
    history = []
    for part, own in zip(prompt.history, read["history"], strict=True):
        if over < _tokens(own) or (not own and over <= 0):
            history.append(_shown(part, own, max(0, over), prompt.spoken))
        over -= _tokens(own)
    current = [_shown(part, own, 0, prompt.spoken) for part, own in zip(prompt.current, read["current"], strict=True)]
    shown = prompt.system if not system else _until(prompt.system, system[0].end)
    return replace(prompt, system=shown, history=tuple(history), current=tuple(current))


def _pieces(part: PagePart, tokenizer: Any, max_piece: int, spoken: bool) -> list[_EncodedPiece]:
    found = [(text, special) for text, special in pieces(part, spoken) if text.strip()]
    return [_piece(tokenizer, text, special, max_piece) for text, special in found]


def _piece(tokenizer: Any, text: str, special: bool, max_piece: int) -> _EncodedPiece:
    read = tokenizer(
        text, add_special_tokens=special, truncation=True, max_length=max_piece, return_offsets_mapping=True
    )
    spans: list[tuple[int, int]] = read["offset_mapping"]
    end = max((end for _, end in spans), default=0)
    starts = (start if end else len(text) for start, end in spans)  # a special token is of no part of the text
    return _EncodedPiece(tuple(starts), end if len(spans) >= max_piece else len(text))


def _tokens(own: Sequence[_EncodedPiece]) -> int:
    return sum(len(piece.starts) for piece in own)


def _shown(part: PagePart, own: Sequence[_EncodedPiece], dropped: int, spoken: bool) -> PagePart:
    """A part as far as it is read, without its first tokens."""
    texts = [text for text, _ in pieces(part, spoken) if text.strip()]
    place = next((n for n, text in enumerate(texts) if part.text and text.startswith(part.text)), None)
    if place is None:
        return part
    begin = dropped - _tokens(own[:place])
    starts = own[place].starts
    start = 0 if begin <= 0 else starts[begin] if begin < len(starts) else len(part.text)
    text = _until(part.text, own[place].end)[start:]
    return replace(part, text=f"{CUT} {text}" if start else text)


def _until(text: str, end: int) -> str:
    return text if end >= len(text.rstrip()) else f"{text[:end]} {CUT}"
