"""WebLINX's `clean_html`, the pruned page as text in parentheses, parsed back into a page.

The text was made from HTML by writing `(` for `<`, `)` for a closing tag and nothing for `>` (sources.md
A6.4), so some of it cannot be told any more: where a tag without attributes ends and its text begins (the
longest known tag is taken), and parentheses that were text. Elements with a uid always have attributes and are found
as they were.
"""

import re

from lxml import etree

from annotations.dom.limits import check_tags
from annotations.dom.tree import NODE_ID, TEXT, clean_text
from annotations.dom.weblinx_page import UID

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
TAGS = VOID | frozenset(
    """a abbr address article aside audio b bdi bdo blockquote body button canvas caption center cite code colgroup data
    datalist dd del details dfn dialog div dl dt em fieldset figcaption figure font footer form g h1 h2 h3 h4 h5 h6 head
    header hgroup html i iframe ins kbd label legend li main map mark menu meter nav noscript object ol optgroup option
    output p path picture pre progress q rect s samp search section select slot small span strong sub summary sup svg
    table tbody td template textarea tfoot th thead time title tr tt u ul use var video""".split()
)
MAX_DEPTH = 500  # elements deeper than this become siblings
LONGEST = max(map(len, TAGS))

_ATTRIBUTE = re.compile(r'\s+([A-Za-z_:@][\w:.@-]*)="([^"]*)"')
_WORD = re.compile(r"[A-Za-z][\w:.-]*")
_SIGN = re.compile(r"[()]")


def clean_html_xml(text: str) -> tuple[str, dict[str, str]]:
    """The page as XML, and the tag of every uid in order; ("", {}) where no element begins. Raises PageError for a page
    that is too large."""
    check_tags(text.count("("))
    text = text[: text.rfind(")") + 1] or text  # the published text may end with a sentence about itself
    top = etree.Element("html")
    tags: dict[str, str] = {}
    node, place, depth = top, 0, 0
    while (sign := _SIGN.search(text, place)) is not None:
        _add_text(node, text[place : sign.start()])
        place = sign.end()
        if sign[0] == ")":
            if 0 < depth <= MAX_DEPTH and (parent := node.getparent()) is not None:
                node = parent
            depth = max(0, depth - 1)
        elif (tag := _tag(text, place)) is None:
            _add_text(node, "(")
        else:
            made, place = _open(node, tag, text, place, tags)
            if tag not in VOID:
                depth += 1
                node = made if depth <= MAX_DEPTH else node
    return _finished(top, tags)


def _tag(text: str, place: int) -> str | None:
    """The tag that begins here: the whole word where attributes follow it, else the longest known one."""
    word = _WORD.match(text, place)
    if word is None:
        return None
    if _ATTRIBUTE.match(text, word.end()):
        return word[0]
    lengths = range(min(len(word[0]), LONGEST), 0, -1)
    return next((word[0][:length] for length in lengths if word[0][:length].lower() in TAGS), None)


def _open(parent: etree._Element, tag: str, text: str, place: int, tags: dict[str, str]) -> tuple[etree._Element, int]:
    """A new element with its attributes, and the place after them."""
    name = tag if re.fullmatch(r"[A-Za-z][\w.-]*", tag, re.ASCII) else "div"
    made, place = etree.SubElement(parent, name), place + len(tag)
    while (attribute := _ATTRIBUTE.match(text, place)) is not None:
        place = attribute.end()
        key, value = attribute[1], clean_text(attribute[2])
        if key == UID:
            made.set(NODE_ID, value)
            tags.setdefault(value, name)
        elif re.fullmatch(r"[A-Za-z_][\w.-]*", key, re.ASCII) and key.replace("-", "_") != NODE_ID:
            made.set(key.replace("-", "_"), value)
    return made, place


def _add_text(parent: etree._Element, text: str) -> None:
    if text.strip():
        etree.SubElement(parent, TEXT).text = clean_text(text)


def _finished(top: etree._Element, tags: dict[str, str]) -> tuple[str, dict[str, str]]:
    if not len(top):
        return "", {}
    root = top[0] if len(top) == 1 and top[0].tag == "html" else top
    return etree.tostring(root, encoding="unicode"), tags
