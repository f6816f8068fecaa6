"""What the app asks about foreign pages: each question is answered by a process that may be killed (`processes.py`).

Everything here raises PageError for a page that cannot be read, takes too long or too much. Core.
"""

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from hashlib import blake2b
from typing import Any

from annotations.dom.limits import PageError
from annotations.dom.marks import Mark, MarkedRegion
from annotations.dom.taking import Taking
from annotations.dom.tree_rows import TreeRow
from annotations.sandbox import processes

SMALL = 64 * 1024  # characters of a page that is asked about together with others
KEPT_BYTES = 16 << 20  # of outlines: an import asks for the same ones when it reads a record and when it stores it


def outline(html: str) -> list[str]:
    """The backend node ids of a page in document order; elements without one are left out."""
    page = _bytes(html)
    key = _key(page)
    answer = _outlines.get(key)
    if answer is None:
        answer = _outlines.keep(key, processes.pool.call("outline", page))
    ids: list[str] = json.loads(answer)
    return ids


def prepare(pages: Iterable[str]) -> None:
    """Ask for the outlines of small pages in one question, as a question costs more than reading one of them. A page
    that cannot be read is asked about again alone, by `outline`."""
    missing = {_key(page): page for html in pages if len(html) <= SMALL and _key(page := _bytes(html)) not in _outlines}
    if len(missing) < 2:
        return
    try:
        told = processes.pool.call("outlines", b"".join(missing.values()), lengths=[len(p) for p in missing.values()])
    except PageError:
        return
    for key, answer in zip(missing, told.split(b"\n"), strict=True):
        if answer:
            _outlines.keep(key, answer)


def check(html: str) -> None:
    """Raise PageError unless the page can be read."""
    outline(html)


def tags(html: str) -> dict[str, str]:
    """The tag of each backend node id."""
    found: dict[str, str] = json.loads(processes.pool.call("tags", _bytes(html)))
    return found


def rendered(
    html: str,
    *,
    marks: Sequence[Mark] = (),
    regions: Sequence[MarkedRegion] = (),
    script: str = "",
    nonce: str = "",
) -> bytes:
    """The page as a gzipped XHTML document (`annotations.dom.render`)."""
    told = [[mark.node_id, mark.kind, mark.label] for mark in marks]
    drawn = [astuple(one) for one in regions]
    return processes.pool.call("render", _bytes(html), marks=told, regions=drawn, script=script, nonce=nonce)


def step_view(html: str, tab: str, gold: Collection[str], candidates: Collection[str]) -> dict[str, Any]:
    """What one tab of the step page shows: `places` in the page and `said` (texts) of the candidates; and `rows`, or
    `text` and `characters`."""
    page = _bytes(html)
    told = processes.pool.call("step_view", page, tab=tab, gold=list(gold), candidates=list(candidates))
    answer: dict[str, Any] = json.loads(told)
    if "rows" in answer:
        answer["rows"] = [TreeRow(**row) for row in answer["rows"]]
    return answer


def differences(before: str, after: str, most: int, shown: int) -> dict[str, Any]:
    """`counts` of what was added, removed and changed, and the first of each (`reading.differences`)."""
    pages = _bytes(before), _bytes(after)
    told = processes.pool.call("differences", b"".join(pages), lengths=[len(pages[0])], most=most, shown=shown)
    answer: dict[str, Any] = json.loads(told)
    return answer


def children(html: str, node_id: str, gold: Collection[str], first: int, last: int | None) -> list[TreeRow]:
    """The rows below one element."""
    page = _bytes(html)
    answer = processes.pool.call("children", page, node_id=node_id, gold=list(gold), first=first, last=last)
    return [TreeRow(**row) for row in json.loads(answer)]


def rows(html: str, gold: Collection[str], candidates: Collection[str]) -> bytes:
    """The whole tree as flat rows in JSON (`annotations.dom.tree_rows`)."""
    return processes.pool.call("rows", _bytes(html), gold=list(gold), candidates=list(candidates))


def pruned(html: str, kept: Collection[str]) -> dict[str, Any]:
    """The page around the kept elements: {lines: [[depth, tag, text, node id]], cut, missing: not on the page}."""
    answer: dict[str, Any] = json.loads(processes.pool.call("pruned", _bytes(html), kept=list(kept)))
    return answer


def taking(html: str, node_id: str) -> Taking | None:
    """What an element takes (`annotations.dom.taking`); None for what is no element of the page."""
    told = json.loads(processes.pool.call("taking", _bytes(html), node_id=node_id))
    return None if told is None else Taking(**told | {"options": tuple(told["options"])})


def places(html: str, nodes: Collection[str]) -> dict[str, Any]:
    """How wide the window was in which the page was recorded, and where these elements were in it: {width, boxes}."""
    answer: dict[str, Any] = json.loads(processes.pool.call("places", _bytes(html), nodes=list(nodes)))
    return answer


def recording(html: str, boxes: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """A recording of WebLINX as XML, and the tag of every uid (`annotations.dom.weblinx_page.page_xml`)."""
    return _tags_and_xml(processes.pool.call("recording", _bytes(html), boxes=dict(boxes)))


def chat_page(text: str) -> tuple[str, dict[str, str]]:
    """A page of WebLINX's chat rows as XML, and the tag of every uid (`annotations.dom.weblinx_clean_html`)."""
    return _tags_and_xml(processes.pool.call("chat_page", _bytes(text)))


def _tags_and_xml(answer: bytes) -> tuple[str, dict[str, str]]:
    found, _, xml = answer.partition(b"\n")
    return xml.decode("utf-8", "surrogatepass"), json.loads(found)


def _bytes(html: str) -> bytes:
    return html.encode("utf-8", "surrogatepass")


def _key(page: bytes) -> bytes:
    return blake2b(page, digest_size=16).digest()


class _AnswerCache:
    """A cache of the newest answers, kept as bytes: they take a tenth of the memory of the parsed answers."""

    def __init__(self) -> None:
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0

    def __contains__(self, key: bytes) -> bool:
        return key in self._answers

    def get(self, key: bytes) -> bytes | None:
        return self._answers.get(key)

    def keep(self, key: bytes, answer: bytes) -> bytes:
        if key not in self._answers:
            self._answers[key] = answer
            self._size += len(answer)
        while self._size > KEPT_BYTES and self._answers:
            self._size -= len(self._answers.popitem(last=False)[1])
        return answer


_outlines = _AnswerCache()
