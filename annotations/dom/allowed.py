"""What a rendered page may consist of: tags and attributes, each with its rule. Everything else is left out.

Stored pages write attribute names with `_` (`aria_label`); both spellings are read, the HTML one is written.
"""

import re

from annotations.dom.css import allowed_names, filter_declarations, is_data_image

XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"

# Written by the renderer itself.
LAYOUT_ATTRIBUTE = "data-layout-width"  # of the root: how wide the recorder's window was
NODE_ID_ATTRIBUTE = "data-node-id"  # the stored backend node id, for marks and picking
TAG_ATTRIBUTE = "data-tag"  # the stored tag where another one is written
HREF_ATTRIBUTE = "data-href"

_MAX_ADDRESS = 500

HTML_TAGS = allowed_names(
    """a abbr address article aside b bdi bdo big blockquote br button caption center cite code col colgroup data dd
    del details dfn dialog dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup
    hr i img input ins kbd label legend li main mark menu meter nav nobr ol optgroup option output p pre progress q rp
    rt ruby s samp search section select small span strike strong sub summary sup table tbody td textarea tfoot th thead
    time tr tt u ul var wbr"""
)
# Drawing only: nothing that refers to, embeds, animates or links.
SVG_TAGS = allowed_names("svg g path rect circle ellipse line polyline polygon text tspan")
# Shown as a labelled box; what was recorded inside an iframe is shown in it.
PLACEHOLDER_TAGS = allowed_names("iframe frame object embed applet video audio canvas portal fencedframe")
# Left out with everything below them.
DROPPED_TAGS = allowed_names(
    """head script noscript noembed noframes template style link meta base title param source track xmp plaintext
    hash-comment hash-cdata-section pseudo-before pseudo-after pseudo-marker pseudo-backdrop"""
)
# Rendered by the browser as a whole: what lies inside has no box of its own.
CLOSED_TAGS = frozenset({"input", "img", "textarea", "select", "br", "hr", "wbr", "meter", "progress", "svg"})

INPUT_TYPES = allowed_names(
    """text search tel url email password number checkbox radio submit reset button image file hidden range color date
    time month week datetime-local"""
)

_TEXT = allowed_names(
    """class id title lang role alt placeholder value label for size rows cols colspan rowspan span scope width height
    align valign bgcolor color face border cellpadding cellspacing start min max step low high optimum maxlength
    datetime"""
)
_FLAGS = allowed_names("disabled readonly multiple hidden open reversed nowrap required")
_ARIA = allowed_names(
    """label description expanded selected checked pressed current hidden disabled haspopup level valuenow valuemin
    valuemax valuetext roledescription required invalid modal sort orientation placeholder"""
)
_SVG_TEXT = allowed_names(
    """d x y x1 y1 x2 y2 cx cy r rx ry dx dy points width height fill-rule clip-rule stroke-width stroke-linecap
    stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset opacity fill-opacity stroke-opacity
    preserveaspectratio text-anchor class id role aria-label aria-hidden"""
)
_SVG_CSS = allowed_names("fill stroke color transform")
_NUMBERS = re.compile(r"[\d\s.,+e-]{1,100}", re.IGNORECASE)


def html_attribute(tag: str, name: str, value: str) -> tuple[str, str] | None:
    """The attribute to write on an HTML element for a stored one, or None."""
    name = name.lower().replace("_", "-")
    if name in _TEXT:
        return name, value
    if name == "style":
        return ("style", kept) if (kept := filter_declarations(value)) else None
    if name in _FLAGS:
        return name, name
    if name.startswith("aria-") and name[5:] in _ARIA:
        return name, value
    if name == "href":
        return HREF_ATTRIBUTE, value[:_MAX_ADDRESS]
    if name == "type":
        return _type(tag, value)
    if name == "src" and tag == "img" and is_data_image(value):
        return name, value
    if name == "dir" and value.lower() in {"ltr", "rtl", "auto"}:
        return name, value
    return None


def _type(tag: str, value: str) -> tuple[str, str] | None:
    if tag == "input" and value.lower() in INPUT_TYPES:
        return "type", value.lower()
    if tag in {"ol", "ul", "li"}:
        return "type", value
    return None


def svg_attribute(name: str, value: str) -> tuple[str, str] | None:
    """The attribute to write on an SVG element for a stored one, or None."""
    name = name.lower().replace("_", "-")
    if name == "viewbox":
        return ("viewBox", value) if _NUMBERS.fullmatch(value) else None
    if name == "preserveaspectratio":
        return "preserveAspectRatio", value
    if name in _SVG_TEXT:
        return name, value
    if name in _SVG_CSS:
        return (name, value) if filter_declarations(f"{name}:{value}").rstrip(";") == f"{name}:{value}" else None
    if name == "style":
        return ("style", kept) if (kept := filter_declarations(value)) else None
    return None


# Every name that can appear in a rendered page, for the tests that parse one again.
ALLOWED_TAGS = HTML_TAGS | SVG_TAGS | {"html", "head", "body", "title", "style", "script"}
ALLOWED_ATTRIBUTES = (
    _TEXT
    | _FLAGS
    | _SVG_TEXT
    | _SVG_CSS
    | {f"aria-{name}" for name in _ARIA}
    | {NODE_ID_ATTRIBUTE, TAG_ATTRIBUTE, HREF_ATTRIBUTE}
    | {"style", "type", "src", "dir", "checked", "selected", "media", "nonce", "viewBox", "preserveAspectRatio"}
)
