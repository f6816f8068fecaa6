"""A page as light nodes that hold their rendered pieces, so that the text of a pruned page is put together without
copying the page.

The published rendering (sources.md M2.4) is a chain of replacements over the whole serialised page. Nearly all of them
act within one tag or one run of text, so each piece is rendered once, here; `join_pieces` tells where a replacement
would have run across the border of two pieces.
"""

import re
from collections.abc import Sequence

from lxml import etree

from annotations.dom.text import UNESCAPED, attribute_words, replace_markup
from annotations.dom.tree import NODE_ID, TEXT, Element, tag_of

TEXT_WORDS = 20

# Marks a piece that cannot be rendered on its own; XML cannot contain this character.
UNSURE = "\0"
# Stands for the "&" of an entity that the replacements leave in the text of a single piece ("&amp;amp;" shown by the
# page becomes "&amp;"), so that other entities can only come from two pieces.
_AMPERSAND = "\1"
_NEEDS_REPLACING = re.compile(r'["&<>$=/\r]')
_ENTITY = re.compile("|".join(re.escape(escaped) for escaped, _ in UNESCAPED))


class FragmentNode:
    """An element other than `<text>`. Pieces are rendered, their whitespace is not collapsed yet.

    `gaps[i]` are the texts in front of `elements[i]` and `gaps[-1]` those behind the last one, `gap_sizes` their
    numbers. A *plain* node has neither attributes besides its id nor texts: pruning replaces it by its only child,
    or by nothing. A *hollow* node has nothing but elements between its tags. `size` and `height` measure the
    subtree, texts included; the remaining slots belong to `candidates`.
    """

    __slots__ = (
        "around",
        "content",
        "elements",
        "empty",
        "gap_sizes",
        "gaps",
        "height",
        "hollow",
        "opening",
        "parent",
        "plain",
        "position",
        "shown",
        "size",
        "tag",
        "tail",
        "text",
        "text_sums",
        "whole",
        "words",
    )

    def __init__(self, element: Element, parent: "FragmentNode | None") -> None:
        attributes = element.attrib
        self.tag = tag_of(element)
        self.parent = parent
        self.position = len(parent.elements) if parent else 0  # among the parent's elements
        self.words = attribute_words(dict(attributes)) if len(attributes) > 1 else ""
        self.plain = len(attributes) == 1
        self.hollow = element.text is None
        self.opening, self.empty = render_tag(self.tag, self.words)
        self.text = _render_run(element.text)
        self.tail = _render_run(element.tail)
        self.elements: list[FragmentNode] = []
        self.gaps: tuple[str, ...] = ()
        self.gap_sizes: tuple[int, ...] = ()
        self.size = self.height = 0
        self.around: tuple[str, str, str] | None = None
        self.content: tuple[str, int] | None = None
        self.whole: tuple[str, int] | None = None
        self.shown: str | None = None
        self.text_sums: tuple[Sequence[str], Sequence[str]] | None = None

    def wrap(self, inner: str, is_empty: bool) -> str:
        """The node around its rendered children, with its tail; `is_empty` says that it has no children left."""
        if is_empty and self.hollow:
            return f"{self.empty}{self.tail}"
        return f"{self.opening}{self.text}{inner}){self.tail}"


def read_nodes(root: Element) -> dict[str, FragmentNode] | None:
    """Nodes of a page by backend node id, parents before children; None for a page that this shape cannot hold.

    Such pages have an element without an id, or an id twice (either makes pruning keep nodes far away), namespaces,
    comments, or elements inside a `<text>`.
    """
    nodes: dict[str, FragmentNode] = {}
    text_ids: set[str | None] = set()
    pending: list[tuple[Element, FragmentNode | None]] = [(root, None)]
    while pending:
        element, parent = pending.pop()
        node_id = element.get(NODE_ID)
        if not node_id or node_id in nodes or element.tag == TEXT or element.nsmap:
            return None
        node = nodes[node_id] = FragmentNode(element, parent)
        if parent is not None:
            parent.elements.append(node)
        children = _read_children(element, node, text_ids)
        if children is None:
            return None
        pending.extend((child, node) for child in reversed(children))
    return None if text_ids & nodes.keys() else _measured(nodes)


def render_tag(tag: str, words: str, node_id: str = "") -> tuple[str, str]:
    """An element's opening tag and its self-closing form, rendered with parentheses."""
    if not _NEEDS_REPLACING.search(words):
        opening = f"({tag} id={node_id}" if node_id else f"({tag}"
        if words:
            opening += f" {words}"
        return opening, f"{opening} )" if node_id or words else f"{opening})"
    attributes = f' id="{node_id}"' if node_id else ""
    attributes += ' meta="{}"'.format(_escape(words).replace('"', "&quot;"))
    return _replace(f"<{tag}{attributes}>"), _replace(f"<{tag}{attributes}/>")


def join_pieces(rendered: str) -> str | None:
    """The result of the published replacements on pieces put together; None where that cannot be told.

    That is where a replacement may have run across a border of two pieces, and where the published code fails (a
    `<text/>` without text).
    """
    if UNSURE in rendered or ("$" in rendered and "$/$" in rendered):
        return None
    if "&" in rendered and _ENTITY.search(rendered):
        return None
    return rendered.replace(_AMPERSAND, "&")


def _read_children(element: Element, node: FragmentNode, text_ids: set[str | None]) -> list[Element] | None:
    """Fill the gaps of a node; its elements, or None when there is a child that this shape cannot hold."""
    children: list[Element] = []
    gaps: list[str] = []
    gap_sizes: list[int] = []
    texts: list[str] = []
    for child in element:
        tag = child.tag
        if tag == TEXT:
            if len(child):
                return None
            text_ids.add(child.get(NODE_ID))
            texts.append(_render_text(child))
        elif isinstance(tag, str):
            children.append(child)
            gaps.append("".join(texts))
            gap_sizes.append(len(texts))
            texts = []
        else:
            return None
    # Tuples of strings and numbers cost the garbage collector nothing.
    node.gaps = (*gaps, "".join(texts))
    node.gap_sizes = (*gap_sizes, len(texts))
    if any(node.gap_sizes):
        node.plain = node.hollow = False
    return children


def _measured(nodes: dict[str, FragmentNode]) -> dict[str, FragmentNode]:
    for node in reversed(nodes.values()):
        node.size += sum(node.gap_sizes)
        if node.size and not node.height:
            node.height = 1
        if node.parent is not None:
            node.parent.size += node.size + 1
            node.parent.height = max(node.parent.height, node.height + 1)
    return nodes


def _render_text(element: Element) -> str:
    """A `<text>` rendered without its tags, with its tail."""
    if element.text is None:
        return UNSURE
    text = " ".join(element.text.split()[:TEXT_WORDS])
    if len(element.attrib) > (NODE_ID in element.attrib):
        # The published code only recognises `<text>` without attributes: the tags of others stay.
        copy = etree.Element(TEXT, {name: value for name, value in element.attrib.items() if name != NODE_ID})
        copy.text = text
        return _replace(etree.tostring(copy, encoding="unicode")) + _render_run(element.tail)
    return _render_run(text) + _render_run(element.tail)


def _render_run(text: str | None) -> str:
    """A run of text between two tags, rendered."""
    if not text:
        return ""
    if _NEEDS_REPLACING.search(text):
        return _replace(_escape(text))
    return " " if text.isspace() else text


def _replace(markup: str) -> str:
    if "$/$" in markup:
        return UNSURE  # a "$" in front of the piece could pair with it differently
    piece = replace_markup(markup)
    return _ENTITY.sub(lambda entity: _AMPERSAND + entity[0][1:], piece) if "&" in piece else piece


def _escape(text: str) -> str:
    """The text as a serialiser of XML escapes it; a carriage return only survives as a character reference."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
