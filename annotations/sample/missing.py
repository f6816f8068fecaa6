"""Turns whose instruction leaves something out on purpose, and their user, who knows it and answers only what is asked.

`underspecified.txt` says what is hidden where; its first lines explain the format.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotations.sample.script import ScriptError

LINES = Path(__file__).parent / "underspecified.txt"
KINDS = ("value", "reference", "constraint", "goal")
LINE = re.compile(r"(\S+) (\d+) (\w+) \{([^{}>]+)->([^{}>]*)\} (.+)")
# Words that tell nothing by themselves.
SMALL = frozenset("a an and are at by for from i in is it me my of on one or please that the then to we with".split())
NOTHING_MORE = "I have told you all that I know about that."


@dataclass(frozen=True)
class HiddenPart:
    """Words of an instruction that the user knows and does not say at first."""

    kind: str
    words: str  # as they stand in the whole instruction
    said: str  # instead of them
    asked: tuple[str, ...]  # a question with one of these words asks for it


@cache
def hidden_parts() -> dict[tuple[str, int], tuple[HiddenPart, ...]]:
    """(conversation, turn from 0) -> what it leaves out. Raises ScriptError for a line that cannot be read."""
    found: dict[tuple[str, int], tuple[HiddenPart, ...]] = {}
    for number, line in enumerate(LINES.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if match is None or match[3] not in KINDS:
            raise ScriptError(f"{LINES.name}, line {number}: not such a line: {line!r}")
        key = (match[1], int(match[2]) - 1)
        part = HiddenPart(match[3], match[4], match[5], tuple(match[6].split()))
        found[key] = (*found.get(key, ()), part)
    return found


def shortened(instruction: str, parts: Sequence[HiddenPart]) -> str:
    """The instruction without its hidden parts. Raises ScriptError where the hidden words do not stand in it exactly
    once."""
    for part in parts:
        if instruction.count(part.words) != 1:
            raise ScriptError(f"{part.words!r} stands {instruction.count(part.words)} times in {instruction!r}")
        instruction = instruction.replace(part.words, part.said)
    return re.sub(r" ([.,?!])", r"\1", " ".join(instruction.split()))


def asked_for(question: str, parts: Iterable[HiddenPart]) -> list[HiddenPart]:
    """The hidden parts that a question asks for by its words."""
    words = set(_words(question))
    return [part for part in parts if words & set(part.asked)]


def told_by(said: str, parts: Iterable[HiddenPart]) -> list[HiddenPart]:
    """The hidden parts that a user tells in words of their own: more than half of a part's words that mean something
    are said, in whatever order. Words that stand in its place anyhow tell nothing."""
    heard = set(_words(said))
    return [part for part in parts if 2 * len((meant := _telling(part)) & heard) > len(meant)]


def _telling(part: HiddenPart) -> set[str]:
    """The words of a part that tell it: without those that any sentence has, where it has others."""
    words = set(_words(part.words)) - set(_words(part.said))
    return words - SMALL or words


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


class AskedUser:
    """The user of one turn, who can be asked for what the instruction leaves out."""

    def __init__(self, parts: Sequence[HiddenPart]) -> None:
        self.parts = parts
        self.asked = 0
        self.told: list[HiddenPart] = []

    def answer(self, question: str) -> str:
        """The hidden parts that the question asks for, in the words of the whole instruction, and nothing else."""
        self.asked += 1
        wanted = asked_for(question, self.parts)
        self.told += [part for part in wanted if part not in self.told]
        return " ".join(part.words.strip(" ,:.") + "." for part in wanted) or NOTHING_MORE
