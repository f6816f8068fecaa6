"""How a text holds several messages, images and tools: marks, each a line of its own. Core.

A text without marks is one message, whose role its use knows. `@@ user` begins a message of that role (system, user,
assistant, tool), `@@ image NAME` shows an image with it, `@@ tools` begins a JSON list of what a model may call. A line
of words that begins with `@@` is written with one `@` more.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

ROLES = ("system", "user", "assistant", "tool")
_MARK = re.compile(rf"@@ (?:(?P<role>{'|'.join(ROLES)})|(?P<tools>tools)|image (?P<image>[a-z][a-z0-9_]*))")


class BadText(ValueError):
    """A text that is no prompt; the message says where and why."""


@dataclass(frozen=True)
class Said:
    """One message; `images` are the names of the images shown with it. `role` is "" for a text without marks."""

    role: str
    words: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class Marked:
    """A text as its marks divide it: messages, and tools. A tool has a name, a description and a JSON schema of its
    parameters."""

    messages: tuple[Said, ...]
    tools: tuple[dict[str, Any], ...] = ()


@dataclass
class _MarkedPart:
    mark: str  # a role, "tools", or "" before the first mark
    lines: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)


def marked(text: str) -> Marked:
    """Divide a text by its marks. Raises BadText where they cannot be read."""
    first, *rest = _sections(text)
    if not rest:
        return Marked((Said("", "\n".join(first.lines)),))
    if first.lines:
        raise BadText("there are words before the first mark")
    said = tuple(Said(one.mark, "\n".join(one.lines), tuple(one.images)) for one in rest if one.mark != "tools")
    tools = [tool for one in rest if one.mark == "tools" for tool in _tools("\n".join(one.lines))]
    return Marked(said, tuple(tools))


def written(messages: Iterable[Said], tools: Sequence[dict[str, Any]] = ()) -> str:
    """The inverse of `marked`."""
    found = []
    for said in messages:
        found += [f"@@ {said.role}"] if said.role else []
        found += [f"@@ image {name}" for name in said.images]
        found += [f"@{line}" if line.startswith("@@") else line for line in said.words.split("\n")]
    return "\n".join(found + (["@@ tools", json.dumps(tools, indent=1, ensure_ascii=False)] if tools else []))


def _sections(text: str) -> list[_MarkedPart]:
    found = [_MarkedPart("")]
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("@@") or line.startswith("@@@"):
            found[-1].lines.append(line.removeprefix("@") if line.startswith("@@") else line)
            continue
        mark = _MARK.fullmatch(line)
        if mark is None:
            raise BadText(f"line {number} is no mark: write @@ and {', '.join(ROLES)}, image NAME or tools")
        if mark["image"] is None:
            found.append(_MarkedPart(mark["role"] or mark["tools"]))
        elif found[-1].mark not in ROLES:
            raise BadText(f"line {number} shows an image outside of a message")
        else:
            found[-1].images.append(mark["image"])
    return found


def _tools(text: str) -> list[dict[str, Any]]:
    try:
        tools = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadText(f"the tools are no JSON: {error}") from error
    if not isinstance(tools, list) or not all(map(_is_tool, tools)):
        raise BadText("the tools are no list of objects with name, description and parameters")
    return tools


def _is_tool(tool: object) -> bool:
    kinds = {"name": str, "description": str, "parameters": dict}
    if not isinstance(tool, dict) or set(tool) != set(kinds):
        return False
    return all(isinstance(tool[key], kind) for key, kind in kinds.items())
