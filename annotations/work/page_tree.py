"""The whole tree of a page as one flat array, for a list in the browser that draws only the rows in view. Core."""

from collections.abc import Collection
from typing import Any

from annotations.dom.text import attribute_words
from annotations.dom.tree import NODE_ID, TEXT, Element

MAX_LABEL = 80

Row = list[Any]  # depth from 0, backend node id, tag, label, whether it is gold, whether it is a candidate


def page_rows(root: Element, gold: Collection[str], candidates: Collection[str]) -> list[Row]:
    """One row per element in document order; texts are part of the label of the element that they stand in."""
    gold, candidates = set(gold), set(candidates)
    rows: list[Row] = []
    pending: list[tuple[Element, int]] = [(root, 0)]
    while pending:
        element, depth = pending.pop()
        node_id = element.get(NODE_ID, "")
        inner, said = [], [element.text] if element.text else []
        for child in element:
            if child.tag == TEXT:
                said.append(child.text or "")
            elif isinstance(child.tag, str):  # comments have none
                inner.append((child, depth + 1))
        label = _label(element, " ".join(" ".join(said).split()))
        rows.append([depth, node_id, element.tag, label, node_id in gold, node_id in candidates])
        pending.extend(reversed(inner))
    return rows


def _label(element: Element, text: str) -> str:
    """The words of the attributes and the element's own text, as the tree of a step's page shows them."""
    words = ""
    if len(element.attrib) > 1:
        words = attribute_words({name: value for name, value in element.attrib.items() if value != text})
    label = f"{words} · {text}" if words and text else words or text
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"
