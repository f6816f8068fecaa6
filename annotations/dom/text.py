"""Render a page or an element as the text that models read (sources.md M2.3 and M2.4).

The published rendering is a chain of plain string replacements over the serialised XML. They also hit page text
and, in places, run across element borders; models were trained on the result, so all of it is reproduced.
"""

import copy
import re

from lxml import etree

from annotations.dom.limits import PageError
from annotations.dom.tree import NODE_ID, TEXT, Element, parse, tag_of

# Attributes that are shown to models, in this order (2.3). `class` only survives cleaning on svg.
_SHOWN_ATTRIBUTES = (
    "role",
    "aria_role",
    "type",
    "alt",
    "aria_description",
    "aria_label",
    "label",
    "title",
    "name",
    "text_value",
    "value",
    "placeholder",
    "input_checked",
    "input_value",
    "option_selected",
    "class",
)
# Attributes that survive cleaning (2.1).
SALIENT_ATTRIBUTES = frozenset(_SHOWN_ATTRIBUTES) - {"class"}
_UNSEEN = {"script", "style", "template"}  # elements whose text no browser shows

_SILENT_VALUES = {"hidden", "none", "presentation", "null", "undefined"}
_LONGEST_WORD = 14

# Order matters: `&amp;` comes before `&lt;`, so a page that shows "&lt;" is unescaped twice (published quirk).
UNESCAPED = (
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&nbsp;", " "),
    ("&ndash;", "-"),
    ("&rsquo;", "'"),
    ("&lsquo;", "'"),
    ("&ldquo;", '"'),
    ("&rdquo;", '"'),
    ("&#39;", "'"),
    ("&#40;", "("),
    ("&#41;", ")"),
)
_TEXT_ELEMENT = re.compile(r"<text>(.*?)</text>")
_CLOSING_TAG = re.compile(r"</(.+?)>")
_OPENING_TAG = re.compile(r"<(.+?)>")


def page_text(root: Element) -> str:
    """What a page says to a person: its texts with the names and values of its elements, in document order and with
    single spaces; the text of scripts and styles is left out."""
    found: list[str] = []
    for element in root.iter("*"):
        if tag_of(element) not in _UNSEEN:
            found.append(element.text or "")
            found += (element.get(name, "") for name in _SHOWN_ATTRIBUTES if name in SALIENT_ATTRIBUTES)
        found.append(element.tail or "")
    return " ".join(" ".join(found).split())


class EmptyTextError(AttributeError, PageError):
    """A `<text/>` without text; the published code fails here with AttributeError. Cleaned pages have none."""


def attribute_words(attributes: dict[str, str], max_value_length: int = 5, max_length: int = 20) -> str:
    """The words that describe an element, from its attributes; "" when none of them says anything.

    At most `max_value_length` words per attribute, none longer than 14 characters, `max_length` in all.
    """
    values: list[str] = []
    for name in _SHOWN_ATTRIBUTES:
        value = attributes.get(name, "").lower()
        if not value or value in _SILENT_VALUES or value.startswith("http"):
            continue
        words = [word for word in value.split() if len(word) <= _LONGEST_WORD]
        shown = " ".join(words[:max_value_length])
        if shown and shown not in values:
            values.append(shown)
    return " ".join(" ".join(values).split()[:max_length])


def attribute_repr(node: Element, max_value_length: int = 5, max_length: int = 20) -> None:
    """Replace the attributes of a node by `id` (its backend node id) and `meta` (its words), where not empty."""
    node_id = node.get(NODE_ID, "")
    words = attribute_words(dict(node.attrib), max_value_length, max_length)
    node.attrib.clear()
    if node_id:
        node.set("id", node_id)
    if words:
        node.set("meta", words)


def tree_repr(
    tree: Element | str | bytes,
    id_mapping: dict[str, int] | None = None,
    keep_html_brackets: bool = False,
    max_value_length: int = 5,
    max_length: int = 20,
    renumber: bool = True,
) -> tuple[str, dict[str, int]]:
    """Text of a page or element, and the mapping from backend node id to the small integer printed for it.

    A mapping that is passed in is extended in place; otherwise a fresh one is made (Q2). `renumber=False` prints
    the backend node ids themselves, as Synapse and AWM do. `max_length` bounds the words of one text as well as
    those of one element's attributes. Raises EmptyTextError for a `<text/>` without text.
    """
    if id_mapping is None:
        id_mapping = {}
    tree = copy.deepcopy(tree) if isinstance(tree, Element) else parse(tree)
    for node in tree.iter("*"):
        if node.tag == TEXT:
            if node.text is None:
                raise EmptyTextError("a <text> element has no text; clean the page first")
            node.text = " ".join(node.text.split()[:max_length])
            continue
        node_id = node.get(NODE_ID)
        if node_id is not None:
            number = id_mapping.setdefault(node_id, len(id_mapping))
            if renumber:
                node.set(NODE_ID, str(number))
        attribute_repr(node, max_value_length, max_length)
    return render_markup(etree.tostring(tree, encoding="unicode"), keep_html_brackets), id_mapping


def render_markup(markup: str, keep_html_brackets: bool = False) -> str:
    """The published replacements over serialised XML with `id` and `meta` attributes, whitespace collapsed."""
    return " ".join(replace_markup(markup, keep_html_brackets).split())


def replace_markup(markup: str, keep_html_brackets: bool = False) -> str:
    """`render_markup` before the whitespace is collapsed."""
    markup = markup.replace('"', " ")
    markup = markup.replace("meta= ", "").replace("id= ", "id=").replace(" >", ">")
    markup = _TEXT_ELEMENT.sub(r"\1", markup)
    if not keep_html_brackets:
        markup = markup.replace("/>", "$/$>")
        markup = _CLOSING_TAG.sub(")", markup)
        markup = _OPENING_TAG.sub(r"(\1", markup)
        markup = markup.replace("$/$", ")")
    for escaped, character in UNESCAPED:
        markup = markup.replace(escaped, character)
    return markup
