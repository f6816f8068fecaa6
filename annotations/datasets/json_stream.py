"""Stream the elements of a JSON file of any size, holding one element in memory.

Accepted: a list of elements, one element per line, or one element (or several) written over many lines.
An element is found by its brackets and only then parsed, so an element that is damaged is reported and
the next ones still come. Two passes over the bytes, both in C: escapes are masked, then one regular
expression steps over strings and stops at brackets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotations.datasets.byte_source import CHUNK_BYTES, ByteSource
from annotations.datasets.files import ByteStream
from annotations.datasets.json_value import MAX_DEPTH, Brackets, JSONError, mask, parse

MAX_ELEMENT_BYTES = 256 << 20  # a conversation with raw pages has about 30 MB
GIVE_UP_AFTER = 1000  # damaged elements in a row: what follows is not JSON
GIVE_UP_AT_START = 100  # the same before any good element: the file is something else
NOISE = 3  # damaged elements in a row after which the next look-alike of a good element is sought

_CUT = "the file ends inside this element"
_HEAD = re.compile(rb'\{\s*"[^"\\\n]{1,200}"\s*:')
_SCALAR = re.compile(rb'"[^"\n]*["\n]?|[^\s,\[\]{}"]+')


@dataclass(frozen=True)
class StreamItem:
    """One element, or what is wrong at its place."""

    place: str  # "[3]" in a list, "line 12" elsewhere, "" for the file as a whole
    offset: int  # of its first byte, in the uncompressed file
    value: Any = None
    error: str = ""


def elements(stream: ByteStream, max_bytes: int = MAX_ELEMENT_BYTES) -> Iterator[StreamItem]:
    """Every element of the file in order; errors are elements too, never exceptions.

    Damage of a compressed file (`ArchiveError`) ends the elements with an error that repeats its words.
    """
    source = ByteSource(stream)
    failures, patience = 0, GIVE_UP_AT_START
    for element in _elements(source, max_bytes):
        if element.error:
            failures += 1
        else:
            failures, patience = 0, GIVE_UP_AFTER
        yield element
        del element  # its value may be large, and the next one is being read
        if failures == patience:
            yield StreamItem("", source.start, error=f"gave up after {failures:,} damaged elements in a row")
            return
    if source.damage:
        yield StreamItem("", source.start, error=source.damage)


def _elements(source: ByteSource, max_bytes: int) -> Iterator[StreamItem]:
    while len(source.data) < 3 and source.fill():
        pass
    if bytes(source.data[:2]) in (b"\xff\xfe", b"\xfe\xff"):
        yield StreamItem("", 0, error="expected UTF-8 text, found UTF-16")
        return
    if source.data[:3] == b"\xef\xbb\xbf":
        source.drop(3)
    first = source.next_byte()
    if first is None:
        if not source.damage:
            yield StreamItem("", 0, error="the file is empty; expected a JSON list or one JSON object per line")
    elif first == ord("["):
        source.drop(1)
        yield from _ElementReader(source, max_bytes, in_list=True).all()
    elif _spans_lines(source, max_bytes):
        yield from _ElementReader(source, max_bytes, in_list=False).all()
    else:
        yield from _lines(source, max_bytes)


def _spans_lines(source: ByteSource, max_bytes: int) -> bool:
    """Whether the first object goes on after its first line, as indented JSON does."""
    newline = source.find(b"\n", 0, max_bytes)
    return newline >= 0 and bytes(source.data[:newline].rstrip()[-1:]) in (b"{", b"[", b",", b":")


def _lines(source: ByteSource, max_bytes: int) -> Iterator[StreamItem]:
    """One element per line."""
    while source.next_byte() is not None:
        place, offset = f"line {source.line}", source.start
        newline = source.find(b"\n", 0, max_bytes)
        if newline < 0 and not source.ended:
            yield StreamItem(place, offset, error=f"is longer than {max_bytes:,} bytes, the limit for one element")
            source.skip_to(b"\n")
            continue
        raw = bytes(source.data[: newline if newline >= 0 else len(source.data)])
        try:
            value = parse(raw)
        except JSONError as error:
            cut = "the file ends inside this line: " if newline < 0 else ""
            yield StreamItem(place, offset, error=f"{cut}{error.at(offset)}")
        else:
            yield StreamItem(place, offset, value)
            del value
        source.drop(len(raw))


class _ElementReader:
    """Elements separated by commas in a list, or by space when `in_list` is False."""

    def __init__(self, source: ByteSource, max_bytes: int, in_list: bool) -> None:
        self._source, self._max_bytes, self._in_list = source, max_bytes, in_list
        self._count = 0
        self._failures = 0  # in a row
        self._marker = b""  # how elements begin, `{"task_id":`, once a good one held it exactly once
        self._jumped = False  # whether the last element was left for a look-alike, not for its own end
        self._known = False  # whether a good element was seen
        self._usual = CHUNK_BYTES  # a little more than the bytes of the last good element

    def all(self) -> Iterator[StreamItem]:
        """The elements, with errors between them where the list itself is damaged."""
        return self._listed() if self._in_list else self._spaced()

    def _spaced(self) -> Iterator[StreamItem]:
        while (byte := self._source.next_byte()) is not None:
            if chr(byte) in ",]}":
                yield from self._unexpected(chr(byte))
            else:
                yield self._element(byte)

    def _listed(self) -> Iterator[StreamItem]:
        closed, comma_due = False, False
        while (byte := self._source.next_byte()) is not None:
            sign = chr(byte)
            if sign == "," and comma_due:
                comma_due = False
                self._source.drop(1)
            elif sign == "]" and not closed and (comma_due or self._count == 0):
                closed = True
                self._source.drop(1)
            elif sign in ",]}":
                closed |= sign == "]"
                yield from self._unexpected(sign)
            elif closed:
                yield self._error("more text after the list")
                closed, comma_due = False, sign != "["
                if sign == "[":  # a second list
                    self._source.drop(1)
            else:
                if comma_due:
                    yield self._error("expected ',' before this element")
                yield self._element(byte)
                comma_due = not self._jumped
        if not closed and not self._jumped and not self._source.damage:
            yield self._error("the file ends before the list is closed with ']'")

    def _unexpected(self, sign: str) -> Iterator[StreamItem]:
        yield self._error(f"unexpected '{sign}'")
        self._skip_noise()

    def _error(self, message: str) -> StreamItem:
        """An error of the list, at the place of the element that would come next."""
        self._failures += 1
        return StreamItem(self._place(), self._source.start, error=message)

    def _skip_noise(self) -> None:
        """Drop one byte; after several failures in a row, all before the next place that begins like an element."""
        self._source.drop(1)
        if self._failures >= NOISE and self._marker:
            self._source.skip_to(self._marker)

    def _place(self) -> str:
        return f"[{self._count}]" if self._in_list else f"line {self._source.line}"

    def _element(self, first: int) -> StreamItem:
        source, place, offset = self._source, self._place(), self._source.start
        self._count += 1
        self._jumped = False
        end, problem = self._scan() if first in b"{[" else (_scalar(source), "")
        head = _HEAD.match(source.data[:1000])
        error_at = 1
        if not problem:
            raw = bytes(source.data[:end])
            try:
                value = parse(raw)
            except JSONError as error:
                problem, error_at = error.at(offset), max(1, error.position)
            else:
                self._learn(raw, head)
                source.drop(end)
                return StreamItem(place, offset, value)
        self._failures += 1
        if first in b"{[":  # a missing quote turns strings inside out, at most up to the end of the line
            end, _ = self._scan(by_line=True)
        following = self._look_alike(head, error_at, end)
        if following and problem == _CUT:  # it was not the end of the file that stopped the scan
            problem = _problem(bytes(source.data[:following]), offset)
        self._resume(following, end)
        return StreamItem(place, offset, error=problem)

    def _learn(self, raw: bytes, head: re.Match[bytes] | None) -> None:
        if head and self._marker in (b"", head[0]):
            self._failures = 0
            self._known = True
            self._marker = head[0] if raw.count(head[0]) == 1 else b""
        self._usual = len(raw) * 5 // 4 + 256

    def _look_alike(self, head: re.Match[bytes] | None, error_at: int, end: int) -> int:
        """The offset at which the damaged element at data[0] seems to have swallowed the next one, since its text
        begins like an element there; 0 where none does."""
        if head and not self._known and not self._marker:
            self._marker = head[0]
        if not self._marker:
            return 0
        # Good elements hold the marker once, so its second occurrence already is the next element.
        begin = 1 if self._known or not end else max(1, error_at - len(self._marker))
        limit = end + len(self._marker) - 1 if end else len(self._source.data)
        return max(0, self._source.data.find(self._marker, begin, limit))

    def _resume(self, following: int, end: int) -> None:
        """Go to where the next element probably begins: the offset that `_look_alike` found, or the end of this one's
        brackets."""
        source = self._source
        self._jumped = True
        if following:
            source.drop(following)
        elif end:
            source.drop(end)
            trusted = self._failures < NOISE and source.next_byte() in (None, *b",]{")
            self._jumped = bool(self._marker) and not trusted
            if self._jumped:
                source.skip_to(self._marker)
        elif self._marker:
            source.drop(1)
            source.skip_to(self._marker)
        else:
            source.drain()

    def _scan(self, by_line: bool = False) -> tuple[int, str]:
        """Length of the bracketed value at data[0], or 0 and why it has no end."""
        source, brackets, position = self._source, Brackets(by_line), 0
        window = self._usual  # small elements must not cost a pass over the whole buffer each
        while True:
            chunk = bytes(source.data[position : position + window])
            whole = len(chunk) - (len(chunk) - len(chunk.rstrip(b"\\"))) % 2  # never between \ and what it escapes
            end = brackets.feed(mask(chunk[:whole]))
            if end:
                return position + end, ""
            if len(brackets.open) > MAX_DEPTH:
                return 0, f"is nested more than {MAX_DEPTH} levels deep"
            position += whole
            window = min(4 * window, CHUNK_BYTES)
            if position > self._max_bytes:
                return 0, f"is longer than {self._max_bytes:,} bytes, the limit for one element"
            if position >= len(source.data) - 1 and not source.fill():
                return 0, _CUT


def _scalar(source: ByteSource) -> int:
    """Length of a string, number, constant or stray text; never an error here."""
    source.find(b"\n", 0, CHUNK_BYTES)
    match = _SCALAR.match(source.data)
    return match.end() if match else 1


def _problem(raw: bytes, offset: int) -> str:
    """Why `raw`, which begins at byte `offset` of the file, is not one JSON value."""
    try:
        parse(raw)
    except JSONError as error:
        return error.at(offset)
    return "is not closed"
