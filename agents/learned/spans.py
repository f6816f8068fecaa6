"""Values that an action could take: spans of the instruction or the page, an option's text, a key. Core."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from agents.learned.candidates import PageCandidates, markup_words, name
from agents.learned.history import History
from agents.learned.instruction import Instruction, phrase_at, read, tokens
from agents.learned.shown import derived
from agents.learned.shown.habits import NONE, Habits
from agents.words.values import CODE, DATE, EMAIL, PLACEHOLDER, candidate_values
from annotations.dom.elements import DescribedElement
from annotations.text.stop_words import NO_MENTION

KEYS = ("Enter", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")
MAX_WORDS = 8
MAX_RANGE = 50
MAX_PAGE_SPANS = 60
MAX_PAGE_WORDS = 4
LEAD = 2  # words in front of a span that say what it is
SOURCES = ("quote", "words", "date", "time", "range", "earlier", "page", "option", "key", "habit", *derived.SOURCES)

_RANGE = re.compile(r"(?<!\d)(-?\d{1,15})(?!\d)\s*+(?:-|–|to|and)\s*+(-?\d{1,15})(?!\d)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_HINT = re.compile(r"\b(lower|less|smaller|higher|greater|larger|more|bigger) than\s+(-?\d+)", re.I)
_LOWER = frozenset({"lower", "less", "smaller"})


@dataclass(frozen=True)
class ValueSpan:
    """One possible value. `lead`: the words before it. `place`, `words`: where in the instruction; -1 for elsewhere."""

    text: str
    source: str
    lead: str = ""
    place: int = -1
    words: int = 0
    number: int = 0  # place among the spans of its source
    told: bool = False  # by its place or the form that it has on the page


def spans(
    operation: str,
    element: DescribedElement,
    page: PageCandidates,
    instruction: Instruction,
    earlier: Sequence[str],
    habits: Habits = NONE,
) -> list[ValueSpan]:
    """Possible values for an operation on an element, each text once; none for CLICK and HOVER."""
    if operation == "SELECT":
        found: Iterator[ValueSpan] = (
            ValueSpan(text, "option", number=i) for i, (_, text) in enumerate(element.options)
        )
    elif operation == "PRESS":
        keys = (ValueSpan(key, "key", number=i) for i, key in enumerate(KEYS))
        found = chain(keys, (ValueSpan(text, "presses", told=True) for text in derived.presses(page, instruction)))
    elif operation == "TYPE":
        usual = (ValueSpan(text, "habit", told=told) for text, told in habits.values(page, instruction.text))
        found = chain(_typed(element, page, instruction, earlier), usual)
    else:
        return []
    unique: dict[str, ValueSpan] = {}
    for span in found:
        unique.setdefault(span.text, span)
    return list(unique.values())


def _typed(
    element: DescribedElement, page: PageCandidates, instruction: Instruction, earlier: Sequence[str]
) -> Iterator[ValueSpan]:
    for number, quote in enumerate(instruction.quotes):
        place = next(iter(phrase_at(tokens(quote), instruction.lower)), -1)
        yield ValueSpan(quote, "quote", _lead(instruction, place), place, len(tokens(quote)), number)
    for number, (year, month, day) in enumerate(instruction.dates):
        yield ValueSpan(f"{year:04d}-{month:02d}-{day:02d}", "date", number=number)
    for number, (hour, minute) in enumerate(instruction.times):
        yield ValueSpan(f"{hour:02d}:{minute:02d}", "time", number=number)
    yield from _words(instruction)
    for low, high in _RANGE.findall(instruction.text)[:1]:
        for number in range(int(low), min(int(high), int(low) + MAX_RANGE) + 1):
            yield ValueSpan(str(number), "range", number=number - int(low))
    for text in reversed(earlier):
        past = read(text)
        for number, value in enumerate(candidate_values(text)):
            place = next(iter(phrase_at(tokens(value), past.lower)), -1)
            yield ValueSpan(value, "earlier", _lead(past, place), -1, len(tokens(value)), number)
    for number, (value, source, told) in enumerate(derived.derived(page, instruction, element)):
        yield ValueSpan(value, source, number=number, told=told)
    shown = (e for e in page.everything if not e.interactive and 0 < len(e.text.split()) <= MAX_PAGE_WORDS)
    for number, other in zip(range(MAX_PAGE_SPANS), shown, strict=False):
        yield ValueSpan(other.text, "page", number=number)


def _words(instruction: Instruction) -> Iterator[ValueSpan]:
    ends = [start + len(word) for start, word in zip(instruction.starts, instruction.words, strict=True)]
    for first, start in enumerate(instruction.starts):
        for last in range(first, min(first + MAX_WORDS, len(ends))):
            size = last - first + 1
            yield ValueSpan(
                instruction.text[start : ends[last]], "words", _lead(instruction, first), first, size, first
            )


def _lead(instruction: Instruction, place: int) -> str:
    return " ".join(instruction.lower[max(0, place - LEAD) : max(0, place)])


def label_text(element: DescribedElement) -> str:
    """What the encoder reads as the field's label."""
    return name(element) or " ".join(markup_words(element))


def columns(
    found: Sequence[ValueSpan],
    operation: str,
    element: DescribedElement,
    page: PageCandidates,
    instruction: Instruction,
    history: History,
    common: Collection[str],
) -> np.ndarray:
    """Shape (len(found), WIDTH); what needs the encoder is not among them."""
    used = {past.value.lower() for past in history.actions if past.value}
    label = set(tokens(name(element))) | set(markup_words(element))
    hints = [
        (word.lower() in _LOWER, int(n))
        for e in page.everything
        if not e.parent_id
        for word, n in _HINT.findall(e.text)
    ]
    count = max(1, len(found))
    fresh = [i for i, span in enumerate(found) if span.source == "quote" and span.text.lower() not in used]
    rows = []
    for index, span in enumerate(found):
        values = [float(span.source == source) for source in SOURCES]
        values += _place(span, instruction, common)
        values += _look(span, element)
        values += _fit(span, label, used, instruction)
        values += _range(span, hints, history)
        values += [
            fresh[:1] == [index],
            1 / (1 + span.number),
            np.log1p(count) / 5,
            index / count,
            operation == "TYPE",
            operation == "SELECT",
            bool(element.value),
            span.text == element.value,
        ]
        values += [span.source == "key" and span.number == k for k in range(len(KEYS))]
        rows.append(values)
    return np.array(rows, dtype=np.float32).reshape(len(found), WIDTH)


def _place(span: ValueSpan, instruction: Instruction, common: Collection[str]) -> list[float]:
    size = max(1, len(instruction.lower))
    inside = span.place >= 0
    before = instruction.lower[span.place - 1] if span.place > 0 else ""
    end = span.place + span.words
    after = instruction.lower[end] if inside and end < size else ""
    own = tokens(span.text)
    told = sum(word not in common and word not in NO_MENTION for word in own)
    gap = (
        instruction.text[instruction.starts[end - 1] + len(instruction.words[end - 1]) :][:2] if inside and end else ""
    )
    return [
        span.place / size if inside else 0,
        inside and not after,
        inside and before in NO_MENTION,
        after in NO_MENTION,
        before in common,
        after in common,
        min(len(own), 8) / 8,
        told / max(1, len(own)),
        bool(own) and own[0] in common,
        bool(own) and own[-1] in common,
        bool(own) and own[0] in NO_MENTION,
        bool(own) and own[-1] in NO_MENTION,
        gap[:1] in (",", ".", ";", "!", "?"),
        before in ("to", "with", "as", "for", "by", "from", "is"),
    ]


def _look(span: ValueSpan, element: DescribedElement) -> list[float]:
    text, kind = span.text, element.attributes.get("type", "")
    is_date, is_number = span.source == "date", bool(_NUMBER.fullmatch(text))
    return [
        np.log1p(len(text)) / 5,
        text[:1].isupper(),
        any(c.isdigit() for c in text),
        is_number,
        is_date and kind == "date",
        span.source == "time" and kind == "time",
        kind in ("date", "time"),
        is_number and kind == "number",
        kind == "number",
        kind == "password",
        bool(EMAIL.fullmatch(text)),
        bool(DATE.fullmatch(text)),
        bool(CODE.fullmatch(text)),
        bool(PLACEHOLDER.search(text)),
        "@" in text,
        element.role == "combobox",
    ]


def _fit(span: ValueSpan, label: set[str], used: set[str], instruction: Instruction) -> list[float]:
    lead, own = set(span.lead.split()), set(tokens(span.text))
    named = phrase_at(tokens(span.text), instruction.lower) if own else []
    told = own - NO_MENTION
    return [
        bool(lead & label),
        bool(span.lead) and span.lead.split()[-1] in label,
        len(own & label) / max(1, len(own)),
        span.text.lower() in used,
        bool(named),
        span.text in instruction.text,
        len(told & set(instruction.lower)) / max(1, len(told)),
        span.text in instruction.quotes,
    ]


def _range(span: ValueSpan, hints: Sequence[tuple[bool, int]], history: History) -> list[float]:
    """For a number offered from a range: whether it keeps to the page's hints ("higher"), was tried, whether there are
    hints, and how far it is from 5. Zeros for other values."""
    if span.source != "range":
        return [0.0] * 4
    value = int(span.text)
    tried = [int(past.value) for past in history.actions if re.fullmatch(r"-?\d+", past.value)]
    low = max([n for lower, n in hints if not lower], default=-1)
    high = min([n for lower, n in hints if lower], default=10**6)
    return [low < value < high, value in tried, bool(hints), min(abs(value - 5), 10) / 10]


def kind_columns(
    found: Sequence[ValueSpan],
    element: DescribedElement,
    page: PageCandidates,
    instruction: Instruction,
    common: Collection[str],
) -> np.ndarray:
    """Shape (len(found), OF_KIND): whether a value is of the kind that its field takes, whatever kind that is, as what
    dates teach holds for times; how much of it the page says already, which need not be typed; and whether what stands
    before it on the page is what the instruction or the field's own label names."""
    kind, rows = element.attributes.get("type", ""), []
    takes = kind in ("date", "time", "number")
    said = f" {' '.join(instruction.words)} "
    before, label = derived.beside(page), tokens(name(element))
    for span in found:
        fits = span.source == kind or (kind == "number" and bool(_NUMBER.fullmatch(span.text)))
        own = [word for word in tokens(span.text) if word not in NO_MENTION]
        placed = sum(word in page.words for word in own) / max(1, len(own))
        stands = f" {' '.join(span.text.split())} " in said
        lead = before.get(span.text, "")
        is_named = bool(lead) and derived.is_named(lead, instruction, common)
        rows.append([fits, takes, takes and not fits, stands, placed, bool(own) and not placed])
        rows[-1] += [span.told, is_named, bool(lead) and tokens(lead) == label]
    return np.array(rows, dtype=np.float32).reshape(len(found), OF_KIND)


def width(related: bool) -> int:
    """Columns of a value; `related`: with those that came later."""
    return WIDTH + (OF_KIND if related else 0)


WIDTH = len(SOURCES) + 14 + 16 + 8 + 4 + 8 + len(KEYS)
OF_KIND = 9
