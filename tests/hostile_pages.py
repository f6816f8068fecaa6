"""Hostile stored pages: payloads that reach an attacker when a browser shows them unprotected, and random trees."""

import random
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from annotations.dom.css import allowed_names

_FILE = Path(__file__).parent / "data" / "hostile_payloads.txt"


@dataclass(frozen=True)
class Payload:
    """A fragment of well-formed XML; `number` names it in the requests that it makes."""

    number: int
    name: str
    fragment: str
    clicked: bool  # acts when it is clicked

    def page(self, *, evil: str, app: str) -> str:
        """The stored page with this payload; `evil` and `app` are the origins of the attacker and of the app."""
        body = self.fragment.replace("BEACON", "fetch('EVIL/NUMBER')").replace("WORDS", "words " * 300)
        body = body.replace("EVIL", evil).replace("APP", app).replace("NUMBER", str(self.number))
        return f'<html backend_node_id="1"><body backend_node_id="2"><p><text>x</text></p>{body}</body></html>'


def payloads() -> list[Payload]:
    """Every payload of the data file."""
    found: list[Payload] = []
    clicked = False
    for line in _FILE.read_text("utf-8").splitlines():
        if line == "[clicked]":
            clicked = True
        elif line and not line.startswith("#"):
            name, _, fragment = line.partition(": ")
            found.append(Payload(len(found), name, fragment, clicked))
    return found


_TAGS = sorted(
    allowed_names(
        """html head body div span a script style iframe object embed svg math text title meta base link form input
        textarea select option table tr td template noscript img image use animate set foreignObject desc mtext
        annotation-xml my-element xmp plaintext listing frameset frame video source audio canvas marquee SCRIPT"""
    )
)
_NAMES = sorted(
    allowed_names(
        """href src srcdoc srcset style onclick onload on_error formaction action xlink_href class id name value data
        data_node_id backend_node_id is slot nonce http_equiv content type ping target poster background usemap
        autofocus popovertarget contenteditable input_value text_value title fill transform d viewBox media onFocus"""
    )
)
_VALUES = (
    "javascript:alert(1)",
    "data:text/html,x",
    "url(//evil)",
    "background:url(//evil)",
    "</style><script>x</script>",
    "]]>",
    '"><script>',
    "&lt;img/&gt;",
    "image",
    "text/css",
    "a{b:url(//evil)}",
    "data:image/png;base64,AA",
    "\n\t",
    "é\u2028",
)


def random_pages(count: int) -> list[str]:
    """Random trees of dangerous tags, attributes and values; the same ones in every run."""
    return [etree.tostring(_element(random.Random(seed), 4), encoding="unicode") for seed in range(count)]


def _element(rng: random.Random, depth: int) -> etree._Element:
    names = rng.sample(_NAMES, rng.randint(0, 5))
    element = etree.Element(rng.choice(_TAGS), {name: rng.choice(_VALUES) for name in names})
    element.text = rng.choice(_VALUES)
    for _ in range(rng.randint(0, 4) if depth else 0):
        child = _element(rng, depth - 1)
        child.tail = rng.choice(_VALUES)
        element.append(child)
    return element
