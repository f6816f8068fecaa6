"""Reduce a page to what matters: clean a recorded page, keep the surroundings of candidates (sources.md M2.1, M2.2)."""

import copy
import re
from collections.abc import Collection, Iterable

from annotations.dom.limits import PageError
from annotations.dom.text import SALIENT_ATTRIBUTES
from annotations.dom.tree import NODE_ID, TEXT, Element, descendants

_ICON = re.compile("icon", re.IGNORECASE)
_MEANINGLESS_VALUES = {"role": {"presentation", "none", "link"}, "type": {"hidden"}}


def clean_tree(root: Element, candidate_ids: Collection[str]) -> Element:
    """A cleaned copy of a recorded page: salient attributes, normalised text, no empty wrappers.

    Raises AttributeError when the root itself is a `<text>` without words (there is nothing to remove it from).
    """
    cleaned = copy.deepcopy(root)
    keep = set(candidate_ids)
    # Children before parents, so that a wrapper that became empty is seen as such.
    for node in list(cleaned.iter("*"))[::-1]:
        _clean_attributes(node)
        if node.tag == TEXT:
            node.text = _normalise(node.text)
            if not node.text:
                _remove(node)
        elif len(node.attrib) == 1 and node.get(NODE_ID, "") not in keep and _is_bare_wrapper(node):
            _unwrap(node)
    return cleaned


def prune_tree(
    root: Element, candidate_ids: Iterable[str], max_depth: int = 5, max_children: int = 50, max_sibling: int = 3
) -> Element:
    """A copy of the page with the candidates, their ancestors, near descendants and near siblings.

    Only candidates keep `backend_node_id`; wrappers that say nothing are removed. The order of the candidates
    does not matter. Raises IndexError for a candidate that is not on the page and PageError for a `<text>`.
    """
    candidates = set(candidate_ids)
    kept_ids = _ids_to_keep(root, candidates, max_depth, max_children, max_sibling)
    pruned = copy.deepcopy(root)
    for node in _remove_others(pruned, kept_ids)[::-1]:
        if node.tag == TEXT:
            node.attrib.pop(NODE_ID, None)
            continue
        if node.get(NODE_ID, "") not in candidates:
            node.attrib.pop(NODE_ID, None)
        if not node.attrib and _is_bare_wrapper(node):
            _unwrap(node)
    return pruned


def _ids_to_keep(root: Element, candidates: set[str], max_depth: int, max_children: int, max_sibling: int) -> set[str]:
    """Ids of the nodes around the candidates; nodes without an id all count as the id "" (published quirk)."""
    first: dict[str | None, Element] = {}
    for element in root.iter("*"):
        first.setdefault(element.get(NODE_ID), element)
    kept: set[str] = set()
    for candidate_id in candidates:
        candidate = first.get(candidate_id)
        if candidate is None:
            raise IndexError(f"no element with {NODE_ID} {candidate_id!r} on the page")
        kept.add(candidate_id)
        kept.update(node.get(NODE_ID, "") for node in candidate.iterancestors())
        kept.update(node.get(NODE_ID, "") for node in descendants(candidate, max_depth, max_children))
        parent = candidate.getparent()
        if parent is not None:
            if candidate.tag == TEXT:  # a ValueError in the published code too
                raise PageError(f"the candidate {candidate_id!r} is a <{TEXT}>, not an element that can be acted on")
            siblings = [child for child in parent if child.tag != TEXT]
            index = siblings.index(candidate)
            near = siblings[max(0, index - max_sibling) : index + max_sibling + 1]
            kept.update(node.get(NODE_ID, "") for node in near)
    return kept


def _remove_others(root: Element, kept_ids: set[str]) -> list[Element]:
    """Remove the subtrees that are not kept; the elements that stay, in document order.

    A `<text>` stays when its parent's id is kept. Whole subtrees go at once: their nodes are never visited.
    """
    stay: list[Element] = []
    pending = [root]
    while pending:
        node = pending.pop()
        stay.append(node)
        text_stays = node.get(NODE_ID, "") in kept_ids
        children = []
        for child in list(node.iterchildren("*")):
            if text_stays if child.tag == TEXT else child.get(NODE_ID, "") in kept_ids:
                children.append(child)
            else:
                node.remove(child)
        pending.extend(reversed(children))
    return stay


def _clean_attributes(node: Element) -> None:
    for name, value in node.attrib.items():
        if name == NODE_ID:
            continue
        if name == "class" and node.tag == "svg":
            cleaned = " ".join(word for word in value.split() if _ICON.search(word))
        elif name in SALIENT_ATTRIBUTES and value not in _MEANINGLESS_VALUES.get(name, ()):
            cleaned = _normalise(value)
        else:
            cleaned = ""
        if cleaned:
            node.set(name, cleaned)
        else:
            del node.attrib[name]


def _normalise(text: str | None) -> str:
    return " ".join((text or "").split())


def _is_bare_wrapper(node: Element) -> bool:
    """Whether a node can be replaced by its only child (or by nothing): it has a parent and no text of its own."""
    return node.getparent() is not None and len(node) <= 1 and not any(child.tag == TEXT for child in node)


def _unwrap(node: Element) -> None:
    """Put the children in the node's place; the node's own whitespace goes with it."""
    for child in list(node):
        node.addprevious(child)
    _remove(node)


def _remove(node: Element) -> None:
    parent = node.getparent()
    if parent is None:  # an AttributeError in the published code too
        raise AttributeError("the page's root cannot be removed")
    parent.remove(node)
