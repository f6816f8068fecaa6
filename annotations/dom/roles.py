"""Roles of elements: what assistive technology calls them, explicit or implied by HTML. Core."""

from collections.abc import Mapping

# HTML elements that imply a role; inputs are below, everything else is generic ("").
_TAG_ROLES = {
    "a": "link",
    "area": "link",
    "article": "article",
    "aside": "complementary",
    "body": "",
    "button": "button",
    "details": "group",
    "dialog": "dialog",
    "fieldset": "group",
    "footer": "contentinfo",
    "form": "form",
    **{f"h{level}": "heading" for level in range(1, 7)},
    "header": "banner",
    "hr": "separator",
    "html": "RootWebArea",
    "img": "img",
    "li": "listitem",
    "main": "main",
    "menu": "list",
    "meter": "meter",
    "nav": "navigation",
    "ol": "list",
    "optgroup": "group",
    "option": "option",
    "output": "status",
    "p": "paragraph",
    "progress": "progressbar",
    "section": "region",
    "summary": "button",
    "svg": "img",
    "table": "table",
    "tbody": "rowgroup",
    "td": "cell",
    "textarea": "textbox",
    "tfoot": "rowgroup",
    "th": "columnheader",
    "thead": "rowgroup",
    "tr": "row",
    "ul": "list",
}
_INPUT_ROLES = {
    "button": "button",
    "checkbox": "checkbox",
    "file": "button",
    "hidden": "",
    "image": "button",
    "number": "spinbutton",
    "radio": "radio",
    "range": "slider",
    "reset": "button",
    "search": "searchbox",
    "submit": "button",
}
_NO_ROLE = frozenset({"none", "presentation", "generic"})

INTERACTIVE_ROLES = frozenset(
    {
        *("button", "checkbox", "combobox", "gridcell", "link", "listbox", "menuitem", "menuitemcheckbox"),
        *("menuitemradio", "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
        "treeitem",
    }
)
# Roles that take their name from what stands in them.
CONTENT_NAMED_ROLES = frozenset(
    {
        *("button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox"),
        *("menuitemradio", "option", "radio", "rowheader", "switch", "tab", "tooltip", "treeitem"),
    }
)
FIELD_ROLES = frozenset({"combobox", "listbox", "searchbox", "slider", "spinbutton", "textbox"})
TOGGLE_ROLES = frozenset({"checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"})


def role_of(tag: str, attributes: Mapping[str, str]) -> str:
    """The explicit role of an element, else the one its tag implies; "" for a generic element."""
    for explicit in (attributes.get("role", ""), attributes.get("aria_role", "")):
        token = explicit.split()[0].lower() if explicit.strip() else ""
        if token and token not in _NO_ROLE:
            return token
    if tag == "input":
        role = _INPUT_ROLES.get(attributes.get("type", "").lower(), "textbox")
        return "combobox" if role == "textbox" and "list" in attributes else role
    if tag == "select":
        return (
            "listbox"
            if is_set(attributes, "multiple") or attributes.get("size", "1") not in ("", "0", "1")
            else "combobox"
        )
    return _TAG_ROLES.get(tag, "")


def is_set(attributes: Mapping[str, str], *names: str) -> bool:
    """Whether one of the boolean attributes is there and not "false"."""
    return any(name in attributes and attributes[name].lower() != "false" for name in names)


def is_interactive(tag: str, role: str, attributes: Mapping[str, str]) -> bool:
    """Whether a person could act on the element: by its role, or because the page or the recorder says so."""
    if attributes.get("type", "").lower() == "hidden" and tag == "input":
        return False
    if is_set(attributes, "disabled", "aria_disabled"):
        return False
    return (
        role in INTERACTIVE_ROLES
        or is_set(attributes, "is_clickable", "contenteditable")
        or "onclick" in attributes
        or attributes.get("tabindex", "-1").isdigit()
    )
