"""A page as an accessibility tree in text, the observation of web agents such as WMA (its specification, B2.1). Core.

One line per node, `[id] role 'name' prop: value`, a tab per level. Ids are backend node ids, so a node keeps its id
from one snapshot of a page to the next, and the difference of two texts is the change of the page.
"""

from collections.abc import Iterator

from lxml import etree

from annotations.dom.elements import Element, elements
from annotations.dom.naming import SILENT_TAGS
from annotations.dom.roles import FIELD_ROLES, TOGGLE_ROLES, is_set
from annotations.dom.tree import NODE_ID, TEXT

# Roles that say nothing without a name: their children take their place.
_PRESENTATIONAL_ROLES = frozenset(
    {"article", "form", "group", "img", "list", "listitem", "paragraph", "region", "rowgroup", "separator"}
)
_ROOT_ROLE = "RootWebArea"


def accessibility_tree(root: etree._Element) -> str:
    """The page's accessibility tree as text; presentational nodes are left out, their children are not.

    A text without an id of its own is shown with the id of the element around it, and a text that is part of the
    name around it is not shown again.
    """
    by_id = {element.node_id: element for element in elements(root)}
    lines: list[str] = []
    # Each node with its level and, from above, the id for texts and the name that may hold them.
    pending: list[tuple[etree._Element, int, str, str]] = [(root, 0, "", "")]
    while pending:
        node, level, around_id, around_name = pending.pop()
        node_id = node.get(NODE_ID, "")
        if node.tag == TEXT:
            text = " ".join("".join(node.itertext()).split())
            if text and f" {text} " not in f" {around_name} ":
                lines.append(_line(level, node_id or around_id, "StaticText", text))
            continue
        element = by_id.get(node_id)
        if element is not None:
            around_id = node_id
            if node is root:
                lines.append(_line(level, node_id, _ROOT_ROLE, _title(root)))
                level += 1
            elif _is_shown(element):
                lines.append(_line(level, node_id, element.role or "generic", element.name, *_properties(element)))
                level, around_name = level + 1, element.name or around_name
        if node.tag not in SILENT_TAGS and node.tag != "textarea":
            inner = [child for child in node.iterchildren("*") if child.tag not in SILENT_TAGS]
            pending.extend((child, level, around_id, around_name) for child in reversed(inner))
    return "\n".join(lines)


def _line(level: int, node_id: str, role: str, name: str, *properties: str) -> str:
    return "\t" * level + " ".join((f"[{node_id}]", role, repr(name), *properties))


def _is_shown(element: Element) -> bool:
    if element.tag == "label":  # it names a field, which is shown
        return False
    if element.interactive:
        return True
    return bool(element.role and (element.name or element.role not in _PRESENTATIONAL_ROLES))


def _properties(element: Element) -> Iterator[str]:
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
