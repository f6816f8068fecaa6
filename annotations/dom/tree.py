"""Parse a page and look nodes up by backend node id (sources.md M1.4 and M2).

A page is well-formed XML. Every element carries `backend_node_id`, the browser's id of the DOM node; visible
text sits in `<text>` pseudo elements.
"""

import re

from lxml import etree

from annotations.dom.limits import PageError, check_size

Element = etree._Element

NODE_ID = "backend_node_id"
TEXT = "text"  # tag of the pseudo element that holds visible text

DECLARED_WITHIN = 256  # characters in which an XML declaration is looked for
_DECLARATION = re.compile(r"<\?xml\s")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean_text(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return text if text.isprintable() else _NO_XML.sub("", text)


def parse(html: str | bytes) -> Element:
    """Root element of a page given as well-formed XML (`bytes` must be UTF-8); raises PageError.

    Strict like the published `lxml.etree.fromstring`, whitespace kept; entities are never expanded and
    nothing is fetched. Entity declarations are refused outright, because libxml2 expands them inside
    attribute values whatever the parser is told. `huge_tree` lifts its limits of depth and length; ours hold instead.
    """
    if isinstance(html, bytes):
        try:
            html = html.decode("utf-8")
        except UnicodeDecodeError as error:
            raise PageError(f"the page is not UTF-8: {error}") from error
    check_size(html)
    if "<!ENTITY" in html:
        raise PageError("the page declares XML entities, which are not read")
    if "<?xml" in html[:DECLARED_WITHIN]:  # lxml refuses one that names an encoding in front of decoded text
        html = _without_declaration(html)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(html, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise PageError(f"the page is not well-formed XML: {error}") from error


def _without_declaration(html: str) -> str:
    """The page without its first XML declaration and the space before it; PageError where that does not end. One look
    at each character, whatever the page: a pattern that begins with space tries every space of a page anew."""
    begins = _DECLARATION.search(html)
    ends = html.find("?>", begins.end()) if begins else -1
    if begins is None:
        return html
    if ends < 0 or ">" in html[begins.end() : ends]:
        raise PageError(
            "the page is not well-formed XML: its declaration does not end"
        )  # libxml2 looks for it for long
    return html[: begins.start()].rstrip() + html[ends + 2 :]


def tag_of(element: Element) -> str:
    """The element's tag; "" for a comment or a processing instruction, for which lxml gives a function."""
    tag = element.tag
    return tag if isinstance(tag, str) else ""


def find(root: Element, node_id: str) -> Element:
    """First element of the page with this backend node id; IndexError when there is none."""
    for element in root.iter("*"):
        if element.get(NODE_ID) == node_id:
            return element
    raise IndexError(f"no element with {NODE_ID} {node_id!r} on the page")


def node_ids(root: Element) -> list[str]:
    """Backend node ids of the page's elements in document order; elements without one are left out."""
    return [node_id for element in root.iter("*") if (node_id := element.get(NODE_ID)) is not None]


def descendants(node: Element, max_depth: int, limit: int | None = None) -> list[Element]:
    """Descendants of a node in document order, at most `limit` of them.

    Depth counts as in the published code: the children have depth 0, so `max_depth=5` reaches six levels.
    """
    found: list[Element] = []
    pending = [iter(node)]
    while pending and (limit is None or len(found) < limit):
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
            continue
        found.append(child)
        if len(pending) <= max_depth:
            pending.append(iter(child))
    return found
