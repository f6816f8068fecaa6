"""Guidelines as shown: their Markdown as blocks of plain text, and what a version changed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from annotations.text.opcodes import opcodes

HEADING = re.compile(r"(#{1,6})\s+(.*)")
ENTRY = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(.*)")
FENCE = "```"


@dataclass
class Block:
    """A heading, a list, a paragraph, or text kept as it is ("code"). Lines are plain text: markup in them is shown."""

    kind: str
    lines: list[str] = field(default_factory=list)
    level: int = 0


@dataclass(frozen=True)
class DiffLine:
    """A line of a comparison: "same", "removed" or "added"."""

    kind: str
    text: str


def blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text. Headings, lists and fences are understood; the rest is text."""
    found: list[Block] = []
    fenced = False
    for line in text.splitlines():
        if line.strip().startswith(FENCE):
            fenced = not fenced
            found.append(Block("code" if fenced else "gap"))
        elif fenced:
            found[-1].lines.append(line)
        elif heading := HEADING.match(line):
            found.append(Block("heading", [heading[2].strip()], len(heading[1])))
        elif entry := ENTRY.match(line):
            _last(found, "list").lines.append(entry[1])
        elif not line.strip():
            found.append(Block("gap"))
        elif found and found[-1].kind == "list":
            found[-1].lines[-1] += f" {line.strip()}"
        else:
            _last(found, "paragraph").lines.append(line.strip())
    return [block for block in found if block.kind != "gap"]


def changes(before: str, after: str) -> list[DiffLine]:
    """All lines of both versions, those that differ marked."""
    return list(_changes(before.splitlines(), after.splitlines()))


def _changes(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    for code, a, b, c, d in opcodes(before, after):
        if code == "equal":
            yield from (DiffLine("same", line) for line in before[a:b])
        else:
            yield from (DiffLine("removed", line) for line in before[a:b])
            yield from (DiffLine("added", line) for line in after[c:d])


def _last(found: list[Block], kind: str) -> Block:
    """The last block if it is of this kind, else a new one."""
    if not found or found[-1].kind != kind:
        found.append(Block(kind))
    return found[-1]
