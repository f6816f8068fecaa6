"""What a prompt pack changes of another one, text by text and word by word."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.prompts.catalogue import TEXTS
from agents.prompts.packs import Pack
from annotations.text.diff import MarkedPiece, changed, runs

COMPARED = 20_000  # characters of both texts together that are compared word by word


@dataclass(frozen=True)
class ComparedText:
    """A text of a pack (`text`) beside the same text of another pack (`before`); None where a pack has no such text."""

    name: str
    what: str
    text: str | None
    before: str | None
    gone: list[MarkedPiece]
    come: list[MarkedPiece]

    @property
    def differs(self) -> bool:
        return self.text != self.before

    @property
    def is_compared(self) -> bool:
        """Whether `gone` and `come` mark word by word what changed."""
        return bool(self.gone or self.come)


def compared(pack: Pack, before: Pack | None) -> Iterator[ComparedText]:
    """Every text of either pack in the order of the catalogue; without `before` nothing differs."""
    for name, kind in TEXTS.items():
        text = pack.texts.get(name)
        other = before.texts.get(name) if before else text
        if text is not None or other is not None:
            yield ComparedText(name, kind.what, text, other, *_pieces(other, text))


def differing(pack: Pack, before: Pack) -> list[str]:
    """Names of the texts that differ."""
    return [name for name in TEXTS if pack.texts.get(name) != before.texts.get(name)]


def _pieces(before: str | None, after: str | None) -> tuple[list[MarkedPiece], list[MarkedPiece]]:
    if before is None or after is None or before == after or len(before) + len(after) > COMPARED:
        return [], []
    gone, come = changed(before, after)
    return runs(before, gone), runs(after, come)
