"""How planners ask the embedded model: with prompts as short as a local planner's, held to the expected form. Core."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.llm.protocol import Llm, Request, Sampling, exactly
from agents.llm.tokens import TokenCounter, counter
from agents.words.generator import CUT, ChatGenerator, PagePrompt, PlannerPrompt
from agents.words.sequence import PagePart


@dataclass(frozen=True)
class Room:
    """The longest page prompt and the longest part of it, in tokens."""

    tokens: int
    piece: int


class EmbeddedGenerator(ChatGenerator):
    """Asks the embedded model. As it reads little, prompts are cut to fit; as it seldom keeps to a form by itself, its
    answers are held to a pattern."""

    def __init__(self, llm: Llm, model: str, max_tokens: int, sampling: Sampling, room: Room) -> None:
        super().__init__(llm, model, max_tokens, sampling)
        self.room = room

    def request(self, prompt: PlannerPrompt, drawn: Sampling) -> Request:
        if not isinstance(prompt, PagePrompt):
            return replace(super().request(prompt, drawn), pattern=prompt.form)
        shown = self._fitted(prompt)
        return replace(super().request(shown, drawn), pattern="|".join(map(_pattern, prompt.openings)))

    def sent(self, prompt: PlannerPrompt) -> PagePrompt | None:
        if not isinstance(prompt, PagePrompt):
            return None
        shown = self._fitted(prompt)
        if shown == prompt:
            return None
        history, current = _marked(shown.history, prompt.history), _marked(shown.current, prompt.current)
        return replace(prompt, history=history, current=current)

    def _fitted(self, prompt: PagePrompt) -> PagePrompt:
        return fitted(prompt, self.room, counter(self.model))


def _marked(shown: Sequence[PagePart], parts: Sequence[PagePart]) -> tuple[PagePart, ...]:
    """The last of the parts, as they are shown, with CUT where something of them or before them is not."""
    last = parts[len(parts) - len(shown) :]
    found = [
        part if part == whole else replace(part, text=f"{part.text} {CUT}")
        for part, whole in zip(shown, last, strict=True)
    ]
    if found and len(last) < len(parts):
        found[0] = replace(found[0], text=f"{CUT} {found[0].text}")
    return tuple(found)


def fitted(prompt: PagePrompt, room: Room, counter: TokenCounter) -> PagePrompt:
    """The prompt with its parts cut, and without the first pages of its history where not all fit; the current page
    always stays."""
    current = _cut(prompt.current, room, counter)
    left = room.tokens - counter.count(prompt.system) - _tokens(current, counter)
    history = list(_cut(prompt.history, room, counter))
    while history and (_tokens(history, counter) > left or history[0].sender == "gpt"):
        history.pop(0)
    return replace(prompt, current=current, history=tuple(history))


def _pattern(opening: str) -> str:
    """A regular expression for an answer that begins with this opening, on one line. An opening that ends in a space is
    followed by any text."""
    exact = exactly(opening.replace("\n", " "))
    return f"{exact}[^\\n]*" if opening.endswith(" ") else exact


def _cut(parts: Sequence[PagePart], room: Room, counter: TokenCounter) -> tuple[PagePart, ...]:
    return tuple(replace(part, text=counter.cut(part.text, room.piece)) for part in parts)


def _tokens(parts: Sequence[PagePart], counter: TokenCounter) -> int:
    return sum(counter.count(part.text) for part in parts)
