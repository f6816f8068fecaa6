"""Turns representations of actions into words for people: "[link]  Returns -> CLICK" becomes "CLICK Returns", and so
does WebLINX's "click [a] Returns". Core.

`static/js/shared/elements.js` does the first for what pages draw themselves.
"""

import re

_ARROW = re.compile(r"->|→")
_TAG = re.compile(r"[a-z][a-z0-9-]*+")
_INTENT = re.compile(
    r"(say|click|hover|textInput|change|load|submit|scroll|copy|paste|tab(?:create|remove|switch))"
    r"(?: (\[[^]]*\].*))?(?:: (.*))?",
    re.DOTALL,
)
_TYPING = "textInput"
_KINDS = {
    **dict.fromkeys(("i", "svg", "path", "use"), "an icon"),
    **dict.fromkeys(("input", "textarea"), "a field"),
    "img": "a picture",
    "a": "a link",
    "button": "a button",
    "select": "a list",
}
_WITH_VALUE = (_TYPING, "change", "paste")


def in_words(representation: str) -> str:
    """An action's representation as people read it: "TYPE “red shoes” in Search". A text in another form stays as it
    is."""
    element, *acted = _ARROW.split(representation, maxsplit=1)
    operation, _, value = "".join(acted).strip().partition(":")
    if not operation or not operation.replace("_", "").isalpha() or not operation.isupper():
        if not (recorded := _INTENT.fullmatch(representation)):
            return representation
        intent, element, value = recorded[1], recorded[2] or "", recorded[3] or ""
        if element and intent in _WITH_VALUE:
            element, _, value = element.rpartition(": ") if ": " in element else (element, "", "")
        operation = "TYPE" if intent == _TYPING else intent.upper()
    name, value = _name(element.strip()), value.strip()
    if operation == "STOP" and not value and not name:
        return "stopped"
    said = [operation, f"“{value}”" if value else "", f"in {name}" if value and name else name]
    return " ".join(filter(None, said))


def _name(element: str) -> str:
    """The element's own text; where it has none what it is, in words if its tag is known: "an icon without a name"."""
    if element.startswith("["):
        tag, _, text = element[1:].partition("]")
        if tag == "page" and not text.strip():  # it acts on none
            return ""
        return text.strip() or f"{_KINDS.get(tag, 'an element')} without a name"
    tag, _, text = element.partition(" ")
    return text.strip() or tag if _TAG.fullmatch(tag) else element
