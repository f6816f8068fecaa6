"""Render a stored page as a document that looks like it and cannot do anything.

Stored pages are hostile input, whoever imported them. A new tree is built from allow-lists (`allowed.py`, `css.py`):
no scripts, handlers, links, addresses or embedded documents. It is written as XHTML, not HTML: a browser's XML
parser builds exactly the tree that was checked, so there is no second, more lenient parser to disagree with this
one (mutation XSS), and elements stay where they were recorded even where HTML's parser would move or drop them.
Serve it as `CONTENT_TYPE`, with a Content-Security-Policy, in a sandboxed frame.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

from annotations.dom.allowed import (
    DROPPED_TAGS,
    HTML_TAGS,
    LAYOUT_ATTRIBUTE,
    NODE_ID_ATTRIBUTE,
    PLACEHOLDER_TAGS,
    SVG,
    SVG_TAGS,
    TAG_ATTRIBUTE,
    XHTML,
    html_attribute,
    svg_attribute,
)
from annotations.dom.css import MAX_SHEET_CHARS, filter_sheet
from annotations.dom.marks import Mark, MarkedRegion, write_marks, write_regions
from annotations.dom.tree import NODE_ID, TEXT, Element, parse, tag_of

CONTENT_TYPE = "application/xhtml+xml; charset=utf-8"
_BASE_STYLE = Path(__file__).with_name("page_base.css").read_text("utf-8")
_NEUTRAL_STYLE = Path(__file__).with_name("page_neutral.css").read_text("utf-8")
_HTML_NAMES = {tag: f"{{{XHTML}}}{tag}" for tag in HTML_TAGS | {"html", "head", "body", "title", "style", "script"}}
_SVG_NAMES = {tag: f"{{{SVG}}}{tag}" for tag in SVG_TAGS}
_SVG_ROOT = {None: SVG}
NUMBER = re.compile(r"-?\d{1,8}(?:\.\d{1,8})?", re.ASCII)
LEAST_WIDTH, MOST_WIDTH = 200, 8000  # pixels of a window
# What the recorder wrote about the state of a control at the time of the step.
_HAS_STATE = "boolean(//@input_value | //@input_checked | //@text_value | //@option_selected)"

# What is still to be written: where, and a stored element or a piece of text.
_Pending = list[tuple[Element, Element | str]]


def render_page(
    html: str | bytes,
    *,
    marks: Sequence[Mark] = (),
    regions: Sequence[MarkedRegion] = (),
    script: str = "",
    nonce: str = "",
) -> str:
    """The page as an XHTML document. Raises PageError when it is not well-formed XML.

    `html` is a stored page: cleaned or raw, visible text in `<text>` elements. Every element carries its backend
    node id as `data-node-id`. `marks` and `regions` are drawn into the document, for viewers without scripts; `script`
    is our own code, run before anything else under the nonce that the response's policy names.
    """
    source = parse(html)
    root = etree.Element(_HTML_NAMES["html"], nsmap={None: XHTML})
    head = etree.SubElement(root, _HTML_NAMES["head"])
    if script:
        etree.SubElement(head, _HTML_NAMES["script"], {"nonce": nonce}).text = script
    etree.SubElement(head, _HTML_NAMES["title"]).text = _title(source)
    _write_styles(source, head)
    body = etree.SubElement(root, _HTML_NAMES["body"])
    _Renderer(source).write(source, root, body)
    if width := layout_width(source):
        root.set(LAYOUT_ATTRIBUTE, f"{width:g}")
    write_marks(root, marks)
    write_regions(root, regions)
    return etree.tostring(root, encoding="unicode")


def layout_width(source: Element) -> float | None:
    """How wide the window was in which a page was recorded, in pixels, as the box of its root tells; None where its
    recorder has kept no boxes."""
    box = box_of(source) if _local_name(source) == "html" else None
    return box[2] if box and LEAST_WIDTH <= box[2] <= MOST_WIDTH else None


def box_of(element: Element) -> tuple[float, float, float, float] | None:
    """Left, top, width and height of an element as they were recorded, in pixels; None where they were not."""
    numbers = element.get("bounding_box_rect", "").split(",")
    if len(numbers) != 4 or not all(NUMBER.fullmatch(one) for one in numbers):
        return None
    left, top, width, height = map(float, numbers)
    return left, top, width, height


def _local_name(element: Element) -> str:
    """Lower-case tag without namespace; "" for comments and processing instructions."""
    return tag_of(element).rpartition("}")[2].lower()


def _title(source: Element) -> str:
    """The title of the page itself; an icon or an embedded document may have one as well."""
    title = source.find("head/title")
    return " ".join("".join(title.itertext()).split()) if title is not None else "Recorded page"


def _write_styles(source: Element, head: Element) -> None:
    """Our base style, then the page's own style sheets in order, or the neutral one where it has none."""
    etree.SubElement(head, _HTML_NAMES["style"]).text = _BASE_STYLE
    room = MAX_SHEET_CHARS  # for all of a page's sheets together
    styled = False
    for element in source.iter("style"):
        text = "".join(element.itertext())
        room -= len(text)
        if room < 0 or element.get("type", "text/css").lower() not in {"", "text/css"}:
            continue
        if any(_local_name(ancestor) in PLACEHOLDER_TAGS for ancestor in element.iterancestors()):
            continue  # an embedded document's style must not reach the page around it
        if kept := filter_sheet(text):
            media = {"media": element.get("media", "")} if element.get("media") else {}
            etree.SubElement(head, _HTML_NAMES["style"], media).text = kept
            styled = True
    if not styled:
        etree.SubElement(head, _HTML_NAMES["style"]).text = _NEUTRAL_STYLE


class _Renderer:
    """Writes the elements of one page; iterative, because pages nest deeper than Python's stack."""

    def __init__(self, source: Element) -> None:
        # A recorder that notes the live state of controls makes the attributes of the source (`checked`) stale.
        self.has_state = bool(source.xpath(_HAS_STATE))
        # Cleaning strips the spaces around a text, recording keeps them.
        self.is_cleaned = "bounding_box_rect" not in source.attrib

    def write(self, source: Element, root: Element, body: Element) -> None:
        """Fill `body`; the page's own html and body elements give `root` and `body` their attributes."""
        pending: _Pending = []
        if _local_name(source) == "html":
            _copy_attributes(source, root, "html")
            recorded = next((child for child in source if _local_name(child) == "body"), None)
            for child in source:
                if child is recorded:
                    _copy_attributes(child, body, "body")
                    self._queue_children(child, body, pending)
                else:
                    pending += [(body, child), (body, child.tail or "")]
            pending.reverse()
        else:
            pending.append((body, source))
        while pending:
            parent, item = pending.pop()
            if isinstance(item, str):
                _add_text(parent, item)
            else:
                self._write_element(item, parent, pending)

    def _queue_children(self, source: Element, parent: Element, pending: _Pending) -> None:
        """Append the content of an element in document order."""
        pending.append((parent, source.text or ""))
        for child in source:
            pending += [(parent, child), (parent, child.tail or "")]

    def _push_children(self, source: Element, parent: Element, pending: _Pending) -> None:
        content: _Pending = []
        self._queue_children(source, parent, content)
        pending.extend(reversed(content))

    def _write_element(self, source: Element, parent: Element, pending: _Pending) -> None:
        tag = _local_name(source)
        if not tag or tag in DROPPED_TAGS:
            return
        in_svg = tag_of(parent).startswith(f"{{{SVG}}}")
        if tag == TEXT and (len(source) == 0 or not in_svg):
            text = "".join(source.itertext())
            _add_text(parent, f" {text} " if self.is_cleaned and not in_svg else text)
        elif in_svg or tag == "svg":
            self._write_svg(source, tag, parent, pending)
        else:
            self._write_html(source, tag, parent, pending)

    def _write_svg(self, source: Element, tag: str, parent: Element, pending: _Pending) -> None:
        tag = "g" if tag == "a" else tag
        if tag not in SVG_TAGS:
            return
        written = etree.SubElement(parent, _SVG_NAMES[tag], nsmap=_SVG_ROOT)
        for name, value in source.attrib.items():
            if name == NODE_ID:
                written.set(NODE_ID_ATTRIBUTE, value)
            elif kept := svg_attribute(name, value):
                written.set(*kept)
        self._push_children(source, written, pending)

    def _write_html(self, source: Element, tag: str, parent: Element, pending: _Pending) -> None:
        if tag in PLACEHOLDER_TAGS or tag in {"html", "body", "frameset"}:
            written_tag = "div"
        else:
            written_tag = tag if tag in HTML_TAGS else "span"
        written = etree.SubElement(parent, _HTML_NAMES[written_tag])
        _copy_attributes(source, written, written_tag)
        if written_tag != tag:
            written.set(TAG_ATTRIBUTE, tag)
        if tag in {"input", "option", "textarea", "button"}:
            self._write_state(source, tag, written)
        if tag != "textarea":
            self._push_children(source, written, pending)

    def _write_state(self, source: Element, tag: str, written: Element) -> None:
        """Write what a control held when the page was recorded: text, choice, ticked or not."""
        if tag == "button":
            written.set("type", "button")  # the default would submit a form
        elif tag == "textarea":
            written.text = source.get("text_value") or source.get("input_value") or "".join(source.itertext())
        elif tag == "option":
            if self._is_set(source, "option_selected", "selected"):
                written.set("selected", "selected")
            if not "".join(source.itertext()).strip():
                written.text = source.get("label") or source.get("value")
        else:
            if self._is_set(source, "input_checked", "checked"):
                written.set("checked", "checked")
            if "input_value" in source.attrib and written.get("type") not in {"checkbox", "radio", "file"}:
                written.set("value", source.get("input_value", ""))

    def _is_set(self, source: Element, live: str, stale: str) -> bool:
        if self.has_state:
            return source.get(live, "false").lower() not in {"", "false"}
        return stale in source.attrib


def _copy_attributes(source: Element, written: Element, tag: str) -> None:
    for name, value in source.attrib.items():
        if name == NODE_ID:
            written.set(NODE_ID_ATTRIBUTE, value)
        elif kept := html_attribute(tag, name, value):
            written.set(*kept)


def _add_text(parent: Element, text: str) -> None:
    if not text or (parent.tag == _HTML_NAMES["pre"] and text.isspace()):
        return  # the line breaks between stored elements are no part of preformatted text
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
