"""Reads errands from text files: single tasks joined, cut and rewritten, as the people of the sample's campaigns did
it. The first of the files, `errands/finished.txt`, says what its lines mean."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.sample.script import ScriptError

ERRANDS = Path(__file__).parent / "errands"
UNTIL = ("passed", "returned", "verify", "gold", "rewrite", "decompose")
BY = ("sample-sam", "sample-noor", "sample-lena")
PART = re.compile(r"(\d+) > (.+)")
MARK = re.compile(r"\{([^{}>]*)->([^{}]+)\}")
DEMONSTRATIVES = ("that", "this", "those", "these")
PRONOUNS = frozenset("it them there he she him her they one".split())


@dataclass
class ErrandPart:
    """A sub-instruction from a step (from 1) of the task `task` (from 0) on. `flaw`: what was said at first, and the
    code of the rubric for which it came back."""

    task: int
    step: int
    instruction: str
    said: str = ""
    flaw: tuple[str, str] | None = None
    is_joined: bool = False  # by the second annotator, who does not cut here
    is_odd: bool = False  # as the model proposes it, so that it comes back to whoever took that over


@dataclass
class Errand:
    """Tasks that one user would have asked for one after the other, and how far the work on them is. `by`: who cuts,
    rewrites and verifies them in a campaign that asks one person each."""

    tasks: list[str] = field(default_factory=list)
    parts: list[ErrandPart] = field(default_factory=list)
    until: str = "passed"
    by: tuple[str, ...] = BY


def read_errands(path: Path) -> list[Errand]:
    """The errands of a file in order. Raises ScriptError naming file and line."""
    found: list[Errand] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text == "errand":
            found.append(Errand())
        elif not found or not _read_line(text, found[-1]):
            raise ScriptError(f"{path.name}, line {number}: no line of an errand here: {text!r}")
    return found


def _read_line(text: str, errand: Errand) -> bool:
    """Add one line to the errand; False when it does not fit."""
    word, _, rest = text.partition(" ")
    if word == "until" and rest in UNTIL:
        errand.until = rest
    elif word == "by" and len(people := rest.split()) == len(BY):
        errand.by = tuple(people)
    elif word == "task":
        errand.tasks.append(rest)
    elif errand.tasks and (match := PART.fullmatch(text)):
        errand.parts.append(ErrandPart(len(errand.tasks) - 1, int(match[1]), match[2]))
    elif not errand.parts:
        return False
    elif word == "~":
        errand.parts[-1].said = rest
    elif word == "!":
        code, _, said = rest.partition(" ")
        errand.parts[-1].flaw = (said, code)
    elif text in ("joined", "odd"):
        setattr(errand.parts[-1], f"is_{text}", True)
    else:
        return False
    return True


def marked(said: str, before: list[tuple[int, str]], part: int) -> tuple[str, list[dict[str, Any]]]:
    """The words of a rewrite without its marks, and the mentions that they mean. `before`: (first step, rewrite) of the
    parts before the one that begins at step `part`. Raises ScriptError for an antecedent that nobody has said."""
    text, mentions, reached = "", [], 0
    for number, mark in enumerate(MARK.finditer(said), 1):
        text += said[reached : mark.start()]
        mention = {"id": f"s{part}-{number}", "phenomenon": _phenomenon(mark[1]), "start": len(text)}
        text, reached = text + mark[1], mark.end()
        mentions.append(mention | {"end": len(text), "antecedent": _antecedent(mark[2], before)})
    return text + said[reached:], mentions


def _phenomenon(words: str) -> str:
    first, _, rest = words.lower().partition(" ")
    if not words:
        return "ellipsis"
    if first in DEMONSTRATIVES:
        return "demonstrative"
    return "pronoun" if first in PRONOUNS and not rest else "definite"


def _antecedent(words: str, before: list[tuple[int, str]]) -> dict[str, Any]:
    for step, text in reversed(before):
        if (start := text.find(words)) >= 0:
            return {"step": step, "start": start, "end": start + len(words)}
    raise ScriptError(f"nobody has said {words!r} before")
