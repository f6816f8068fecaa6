"""What a dual encoder reads of an element: short, so that pages share texts and each is encoded once. Core."""

from collections import Counter
from collections.abc import Iterable

from annotations.dom.elements import DescribedElement

NAME_WORDS = 12
CONTEXT_WORDS = 10


def element_texts(elements: Iterable[DescribedElement]) -> dict[str, str]:
    """Node id -> "button Search"; an element that is not the only one of its text gets the words around it:
    "button Book · Nordic Express 07:05 Single 42.00"."""
    elements = list(elements)
    by_id = {element.node_id: element for element in elements}
    plain = {element.node_id: _plain(element) for element in elements}
    shared = {text for text, count in Counter(plain.values()).items() if count > 1}
    return {
        node_id: f"{text} · {context}" if text in shared and (context := _context(by_id[node_id], by_id)) else text
        for node_id, text in plain.items()
    }


def _plain(element: DescribedElement) -> str:
    name = " ".join((element.name or element.text or "").split()[:NAME_WORDS])
    return f"{element.role or element.tag} {name}".strip()


def _context(element: DescribedElement, by_id: dict[str, DescribedElement]) -> str:
    """First words of the nearest ancestor that has words besides the element's own; "" without one."""
    own = set((element.name or element.text or "").split())
    parent = by_id.get(element.parent_id or "")
    while parent is not None:
        words = [word for word in (parent.text or parent.name or "").split() if word not in own]
        if words:
            return " ".join(words[:CONTEXT_WORDS])
        parent = by_id.get(parent.parent_id or "")
    return ""
