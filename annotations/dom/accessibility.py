"""A page as an accessibility tree in text, the observation of web agents such as WMA (sources.md B2.1). Core.

One line per node, `[id] role 'name' prop: value`, a tab per level. Ids are backend node ids, so a node keeps its id
from one snapshot of a page to the next, and the difference of two texts is the change of the page.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from annotations.dom.elements import DescribedElement, elements
from annotations.dom.naming import SILENT_TAGS
from annotations.dom.roles import FIELD_ROLES, TOGGLE_ROLES, is_set
from annotations.dom.tree import NODE_ID, TEXT

# Roles that say nothing without a name: their children take their place.
_PRESENTATIONAL_ROLES = frozenset(
    {"article", "form", "group", "img", "list", "listitem", "paragraph", "region", "rowgroup", "separator"}
)
_ROOT_ROLE = "RootWebArea"


class _Around(NamedTuple):
    """What a node needs to know of the nodes above it."""

    level: int = 0
    node_id: str = ""  # shown at texts that have none of their own
    name: str = ""  # may hold their text already


def accessibility_tree(root: etree._Element) -> str:
    """The page's accessibility tree as text; presentational nodes are left out, their children are not.

    A text without an id of its own is shown with the id of the element around it, and a text that is part of the
    name around it is not shown again.
    """
    by_id = {element.node_id: element for element in elements(root)}
    lines: list[str] = []
    pending = [(root, _Around())]
    while pending:
        node, around = pending.pop()
        if node.tag == TEXT:
            lines += _text_line(node, around)
            continue
        element = by_id.get(node.get(NODE_ID, ""))
        if element is not None:
            line, around = _element_line(element, _title(root) if node is root else None, around)
            lines += line
        pending += [(child, around) for child in reversed(_inner(node))]
    return "\n".join(lines)


def _text_line(node: etree._Element, around: _Around) -> list[str]:
    text = " ".join("".join(node.itertext()).split())
    if not text or f" {text} " in f" {around.name} ":
        return []
    return [_line(around.level, node.get(NODE_ID) or around.node_id, "StaticText", text)]


def _element_line(element: DescribedElement, title: str | None, around: _Around) -> tuple[list[str], _Around]:
    """The element's line, if it is shown, and what its children need to know. `title`: the page's, given for the root
    only."""
    inner = around._replace(node_id=element.node_id)
    if title is not None:
        line = _line(around.level, element.node_id, _ROOT_ROLE, title)
    elif _is_shown(element):
        role = element.role or "generic"
        line = _line(around.level, element.node_id, role, element.name, *_properties(element))
        inner = inner._replace(name=element.name or around.name)
    else:
        return [], inner
    return [line], inner._replace(level=around.level + 1)


def _inner(node: etree._Element) -> list[etree._Element]:
    """The children that may be shown; what a text area holds is its value."""
    if node.tag in SILENT_TAGS or node.tag == "textarea":
        return []
    return [child for child in node.iterchildren("*") if child.tag not in SILENT_TAGS]


def _line(level: int, node_id: str, role: str, name: str, *properties: str) -> str:
    return "\t" * level + " ".join((f"[{node_id}]", role, repr(name), *properties))


def _is_shown(element: DescribedElement) -> bool:
    if element.tag == "label":  # it names a field, which is shown
        return False
    if element.interactive:
        return True
    return bool(element.role and (element.name or element.role not in _PRESENTATIONAL_ROLES))


def _properties(element: DescribedElement) -> Iterator[str]:
    """States in the spelling of the published trees: `checked: false` but `selected: False`."""
    attributes, role = element.attributes, element.role
    if is_set(attributes, "disabled", "aria_disabled"):
        yield "disabled: True"
    if role in TOGGLE_ROLES:
        yield f"checked: {element.value}"
    if role in ("option", "tab", "treeitem"):
        yield f"selected: {is_set(attributes, 'option_selected', 'selected', 'aria_selected')}"
    if role == "combobox":
        yield f"hasPopup: {'menu' if element.tag == 'select' else 'listbox'}"
    if "aria_expanded" in attributes or element.tag == "select":
        yield f"expanded: {is_set(attributes, 'aria_expanded')}"
    if role in FIELD_ROLES:
        if element.tag != "select":
            yield f"required: {is_set(attributes, 'required', 'aria_required')}"
        if element.value:
            yield f"value: {element.value!r}"


def _title(root: etree._Element) -> str:
    title = root.find(".//title")
    return "" if title is None else " ".join("".join(title.itertext()).split())
