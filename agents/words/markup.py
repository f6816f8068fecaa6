"""The HTML of a page without what recorders added to it, and elements found in it by XPath. Core."""

from copy import deepcopy
from html import escape

from lxml import etree

from agents.types import Observation
from annotations.dom.tree import NODE_ID, TEXT, Element

ADDED = (
    NODE_ID,
    "bounding_box_rect",
    "is_clickable",
    "has_handler",
    "read_as",
    "submits",
    "leads",
    "sends",
    "opens",
    "editable",
    "toggles",
    "data_pw_testid_buckeye",
    "data_pw_testid_buckeye_candidate",
)
MOST_FOUND = 100  # elements of one XPath


def markup_of(observation: Observation) -> str:
    """The HTML of a page. A live page gives its own; a recorded one is put below its instruction, which MiniWoB++ pages
    show as well. Raises PageError."""
    if observation.markup:
        return observation.markup
    page = _without_recording(observation.root)
    for element in page.iter():
        for name in ADDED:
            element.attrib.pop(name, None)
    text = etree.tostring(page, encoding="unicode", with_tail=False)
    return f'<div id="wrap"><div id="query">{escape(observation.instruction)}</div>{text}</div>'


def named_by(path: str, root: Element) -> list[Element]:
    """The elements of a recorded page that an XPath names, in order; none where it is not an XPath."""
    try:
        found = _without_recording(root).xpath(path)
    except (etree.XPathError, ValueError):
        return []
    return [one for one in found if isinstance(one, Element)][:MOST_FOUND] if isinstance(found, list) else []


def _without_recording(root: Element) -> Element:
    """A copy of the page in which texts are no elements of their own, as recorders make them."""
    page = deepcopy(root)
    etree.strip_tags(page, TEXT)
    return page
