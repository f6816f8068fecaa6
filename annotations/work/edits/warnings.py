"""Checks of rewrites while they are written: they warn, with a place and a sentence, and never block. Core.

The heuristics are light: they compare words, told apart by their beginnings ("flight", "flights"), and know a short
list of English words that carry no information of their own. In other languages that list finds nothing, so more
words count as information and the checks warn more often, not less.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from annotations.text.stop_words import NOT_INFORMATIVE
from annotations.work.edits.mentions import Mention

_WORD = re.compile(r"\w+(?:[’'.,:/&-]\w+)*")

REFERRING = frozenset("it its them they their those these this that there one ones same".split())
# Of those, the ones that nearly always refer to something: "that" and "there" often do not.
PRONOUNS = frozenset("it its them they their those these".split())


@dataclass(frozen=True)
class Word:
    """One word of a text and its place there, counted in characters."""

    text: str
    start: int
    end: int
    key: str


@dataclass(frozen=True)
class PartText:
    """A part as the checks see it. `values`: what its steps type and select."""

    step: int
    instruction: str
    rewrite: str = ""
    mentions: list[Mention] = field(default_factory=list)
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Warned:
    """One warning: its part, field and place (None: the whole text), a code and a sentence."""

    step: int
    field: str
    code: str
    text: str
    span: tuple[int, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_rewrites(parts: Sequence[PartText]) -> list[Warned]:
    """Warnings about the rewrites of all parts, in order; parts that have none yet are passed over."""
    found: list[Warned] = []
    for place, part in enumerate(parts):
        earlier = parts[:place]
        if part.rewrite.strip():
            lost = _lost_values(part, earlier)
            found += lost + _unsaid(part, earlier, lost) + _unchanged(part, earlier) + _unmarked(part, earlier)
        found += _mentions(part, place, parts)
    return found


def check_instructions(parts: Sequence[PartText], tasks: Sequence[str]) -> list[Warned]:
    """Warnings about a decomposition: what a part's steps type must have been asked for by then.

    `tasks`: the recorded instructions; what they do not say either is nobody's to ask for.
    """
    found: list[Warned] = []
    for place, part in enumerate(parts):
        said = [other.instruction for other in parts[: place + 1]]
        asked = [value for value in dict.fromkeys(part.values) if any(says(task, value) for task in tasks)]
        for value in asked if part.instruction.strip() else ():
            if not any(says(text, value) for text in said):
                text = f"The steps enter “{value}”, which no instruction up to here asks for."
                found.append(Warned(part.step, "instruction", "value-lost", text))
    return found


@lru_cache(maxsize=256)  # the texts of a conversation are compared with one another again and again
def placed_words(text: str) -> tuple[Word, ...]:
    return tuple(Word(m[0], m.start(), m.end(), _key(m[0])) for m in _WORD.finditer(text))


def informative(text: str) -> list[Word]:
    """The words that carry information: all but the empty ones and single letters. Within a sentence a capital letter
    makes a name of an empty word, as of "May" and "US"."""
    return [
        word
        for word in placed_words(text)
        if (len(word.key) > 1 or word.key.isdigit()) and (word.key not in NOT_INFORMATIVE or _is_name(word, text))
    ]


def alike(a: str, b: str) -> bool:
    """Whether two keys are forms of one word: "shoe" and "shoes", "cheap" and "cheapest"; numbers only the same."""
    if a == b:
        return True
    if not (a.isalpha() and b.isalpha()):
        return False
    shorter, longer = sorted((a, b), key=len)
    common = next((i for i, letter in enumerate(shorter) if letter != longer[i]), len(shorter))
    if common == len(shorter) >= 3 and len(longer) - len(shorter) <= 2:
        return True
    return common >= 4 and len(shorter) - common <= 1 and len(longer) - common <= 3


class SaidWords:
    """Keys of words that were said, found again by words that are alike."""

    def __init__(self, said: Iterable[Word]) -> None:
        self._by_beginning: dict[str, set[str]] = {}
        for word in said:
            self._by_beginning.setdefault(word.key[:3], set()).add(word.key)

    def __contains__(self, key: str) -> bool:
        there = self._by_beginning.get(key[:3], set())
        return key in there or (key.isalpha() and any(alike(key, other) for other in there))


def says(text: str, value: str) -> bool:
    """Whether all words of a value are in the text; never for a value without words."""
    wanted, there = placed_words(value), SaidWords(placed_words(text))
    return bool(wanted) and all(word.key in there for word in wanted)


def place_of(text: str, value: str) -> tuple[int, int] | None:
    """From the first to the last word of a value in the text; None when it is not there in one piece."""
    wanted, there = [word.key for word in placed_words(value)], placed_words(text)
    for start in range(len(there) - len(wanted) + 1) if wanted else ():
        run = there[start : start + len(wanted)]
        if all(alike(word.key, key) for word, key in zip(run, wanted, strict=True)):
            return run[0].start, run[-1].end
    return None


def _is_name(word: Word, text: str) -> bool:
    before = text[: word.start].rstrip(" \"“‘'(")
    return word.text[0].isupper() and bool(before) and before[-1] not in ".!?:;\n"


def _key(word: str) -> str:
    key = re.sub(r"[’']s?$|[’']s$", "", word.casefold())
    if key[:1].isdigit():
        return key.replace(",", "")
    return key[:-3] + "y" if len(key) > 4 and key.endswith("ies") else key


def _lost_values(part: PartText, earlier: Sequence[PartText]) -> list[Warned]:
    """Values of the steps that the instruction said and that nobody can know any more."""
    found = []
    for value in dict.fromkeys(part.values):
        if says(part.instruction, value) and not any(says(p.rewrite, value) for p in (*earlier, part)):
            text = f"“{value}” is entered in these steps, and neither this turn nor an earlier one says it."
            found.append(Warned(part.step, "instruction", "value-lost", text, place_of(part.instruction, value)))
    return found


def _unsaid(part: PartText, earlier: Sequence[PartText], lost: Iterable[Warned]) -> list[Warned]:
    """What the instruction says and the rewrite leaves out although no earlier turn says it, run by run."""
    said = SaidWords(word for p in (*earlier, part) for word in placed_words(p.rewrite))
    told = [warned.span for warned in lost if warned.span]
    runs: list[list[Word]] = [[]]
    for word in informative(part.instruction):  # empty words neither break a run nor begin one
        if word.key in said or any(start <= word.start < end for start, end in told):
            runs.append([])
        else:
            runs[-1].append(word)
    return [
        Warned(
            part.step,
            "instruction",
            "unsaid",
            f"“{part.instruction[run[0].start : run[-1].end]}” is left out, and no earlier turn says it.",
            (run[0].start, run[-1].end),
        )
        for run in runs
        if run
    ]


def _unchanged(part: PartText, earlier: Sequence[PartText]) -> list[Warned]:
    """A rewrite that reads as the instruction although an earlier turn speaks of the same."""
    if [word.key for word in placed_words(part.rewrite)] != [word.key for word in placed_words(part.instruction)]:
        return []
    before = SaidWords(word for p in earlier for word in informative(p.rewrite))
    shared = [word for word in informative(part.rewrite) if word.key in before]
    names = list(dict.fromkeys(f"“{word.text}”" for word in shared))[:3]
    if not shared:
        return []
    text = f"It reads as the instruction does, though an earlier turn already speaks of {', '.join(names)}."
    return [Warned(part.step, "rewrite", "unchanged", text, (shared[0].start, shared[0].end))]


def _unmarked(part: PartText, earlier: Sequence[PartText]) -> list[Warned]:
    """Pronouns that no mention marks; in the first turn, referring words before which nothing is said at all."""
    spans = [(mention["start"], mention["end"]) for mention in part.mentions]
    filled = [word.start for word in informative(part.rewrite)]
    found = []
    for word in placed_words(part.rewrite):
        if any(start <= word.start < end for start, end in spans):
            continue
        alone = not any(p.rewrite.strip() for p in earlier) and not any(start < word.start for start in filled)
        if alone and word.key in REFERRING - {"one"}:
            text, code = f"Nothing is said before “{word.text}” that it could stand for.", "no-antecedent"
        elif word.key in PRONOUNS:
            text, code = f"“{word.text}” is not marked with what it stands for.", "unmarked"
        else:
            continue
        found.append(Warned(part.step, "rewrite", code, text, (word.start, word.end)))
    return found


def _mentions(part: PartText, place: int, parts: Sequence[PartText]) -> list[Warned]:
    """Mentions whose words are gone, and antecedents that do not exist."""
    found = []
    for mention in part.mentions:
        span, said = (mention["start"], mention["end"]), mention["text"]
        if part.rewrite[span[0] : span[1]] != said or span[1] > len(part.rewrite):
            text = f"“{said}” is marked, and the turn does not say it any more."
            found.append(Warned(part.step, "rewrite", "mention-changed", text))
            continue
        name = f"“{said}”" if said else "The ellipsis"
        if (wrong := _wrong_antecedent(mention, name, place, parts)) is not None:
            found.append(Warned(part.step, "rewrite", "no-antecedent", wrong, span))
    return found


def _wrong_antecedent(mention: Mention, name: str, place: int, parts: Sequence[PartText]) -> str | None:
    """What is wrong with a mention's antecedent, as a sentence."""
    antecedent = mention["antecedent"]
    if antecedent is None:
        return f"{name} has no antecedent yet."
    turn = next((index for index, part in enumerate(parts) if part.step == antecedent["step"]), None)
    if turn is None:
        return f"{name} points to a turn that is not there any more."
    if turn > place:
        return f"{name} points to turn {turn + 1}, which comes later."
    if turn == place and antecedent["end"] > mention["start"]:
        return f"{name} points to itself or to what comes after it."
    said = parts[turn].rewrite
    if not antecedent["text"] or said[antecedent["start"] : antecedent["end"]] != antecedent["text"]:
        return f"{name} points to “{antecedent['text']}”, which turn {turn + 1} does not say any more."
    return None
