"""A page as it is expected to be after an action: a copy of the page, with what is foretold done to it. Core.

What comes has ids that no recorded page has (`imagined-1`), so that it is never taken for an element that is there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy

from lxml import etree

from agents.world_model.effects import GONE, Happening
from agents.world_model.lines import PageLine, unquoted
from annotations.dom.roles import CONTENT_NAMED_ROLES
from annotations.dom.tree import NODE_ID, TEXT, Element, clean_text, tag_of

IMAGINED = "imagined"  # how ids of elements begin that are not there; and the attribute of such elements
STATIC_TEXT, PAGE_ROLE = "StaticText", "RootWebArea"
KEPT_TAGS = frozenset({"html", "body"})  # a page without these is none
LIST_ROLES = ("combobox", "listbox")
# The tags of roles that planners tell apart by them; of others an element says its role.
ROLE_TAGS: Mapping[str, tuple[str, dict[str, str]]] = {
    "button": ("button", {}),
    "checkbox": ("input", {"type": "checkbox"}),
    "combobox": ("select", {}),
    "dialog": ("dialog", {}),
    "heading": ("h2", {}),
    "img": ("img", {}),
    "link": ("a", {}),
    "option": ("option", {}),
    "radio": ("input", {"type": "radio"}),
    "searchbox": ("input", {"type": "search"}),
    "spinbutton": ("input", {"type": "number"}),
    "textbox": ("input", {"type": "text"}),
}
# The attributes in which pages say a state, the one that is written first.
CHECKED = ("input_checked", "checked", "aria_checked")
SELECTED = ("option_selected", "selected", "aria_selected")
VALUES = ("input_value", "text_value", "value")


def imagined_page(root: Element, happened: Sequence[Happening], target_id: str | None) -> Element:
    """A copy of the page on which all that is expected to happen has happened. What comes stands where something went
    or, where nothing did, behind the element that was acted on; else at the end."""
    page = deepcopy(root)
    by_id = {element.get(NODE_ID, ""): element for element in reversed([*page.iter("*")])}
    for one in happened:
        if one.before and one.after and one.before.node_id in by_id:
            _change(by_id[one.before.node_id], one.before, one.after)
    going = [one.before for one in happened if one.before and one.after is None and one.before.node_id in by_id]
    gone = [element for line in going for element in _meant(by_id[line.node_id], line)]
    coming = [one.after for one in happened if one.before is None and one.after]
    if coming:
        _fill(_place(page, gone, by_id.get(target_id or "")), coming, _numbers(by_id))
    for element in gone:
        _remove(element)
    return page


def is_imagined(node_id: str | None) -> bool:
    """Whether an element is expected and not there: it can't be acted on."""
    return (node_id or "").startswith(f"{IMAGINED}-")


def _numbers(known: Iterable[str]) -> Iterator[str]:
    """Ids of elements that come, after those that were imagined before."""
    taken = sum(map(is_imagined, known))
    while True:
        taken += 1
        yield f"{IMAGINED}-{taken}"


# What changes


def _change(element: Element, before: PageLine, after: PageLine) -> None:
    if before.role == STATIC_TEXT:
        for text in _texts(element, before.name)[:1]:
            _write(text, after.name)
        return
    for name in {**before.properties, **after.properties}:
        value = after.properties.get(name, GONE)
        if name in SETTERS and before.properties.get(name, GONE) != value:
            SETTERS[name](element, value)
    if after.name != before.name:
        _rename(element, before.role, after.name)


def _set_first(names: Sequence[str]) -> Callable[[Element, str], None]:
    """A function that writes a state into the first of these attributes, and takes the others away."""

    def write(element: Element, value: str) -> None:
        for name in names:
            element.attrib.pop(name, None)
        if value.lower() not in (GONE, "false"):
            element.set(names[0], "true")

    return write


def _expand(element: Element, value: str) -> None:
    element.set("aria_expanded", value.lower() or "false")


def _hold(element: Element, value: str) -> None:
    """Have a field hold a value: of a list the option that is called so, else its attribute."""
    held = clean_text(unquoted(value)) if value else ""
    options = [*element.iter("option")]
    for option in options:
        is_held = " ".join("".join(option.itertext()).split()) == held
        SETTERS["selected"](option, str(is_held))
    if not options:
        for name in VALUES:
            element.attrib.pop(name, None)
        for text in [*element] if tag_of(element) == "textarea" else []:
            element.remove(text)
        element.set(VALUES[0], held)


SETTERS: Mapping[str, Callable[[Element, str], None]] = {
    "checked": _set_first(CHECKED),
    "selected": _set_first(SELECTED),
    "disabled": _set_first(("disabled", "aria_disabled")),
    "required": _set_first(("required", "aria_required")),
    "expanded": _expand,
    "value": _hold,
}
"""Property of a line -> how an element is made to have another value of it."""


def _rename(element: Element, role: str, name: str) -> None:
    if role == PAGE_ROLE:
        for title in element.iter("title"):
            _write(title, name)
        return
    for attribute in ("aria_label", "aria_labelledby"):
        element.attrib.pop(attribute, None)
    texts = [text for text in element.iter(TEXT) if "".join(text.itertext()).strip()]
    if role in CONTENT_NAMED_ROLES and texts:
        _write(texts[0], name)
        for text in texts[1:]:
            _write(text, "")
    else:
        element.set("aria_label", clean_text(name))


def _write(element: Element, text: str) -> None:
    for child in [*element]:
        element.remove(child)
    element.text = clean_text(text)


# What goes


def _meant(element: Element, line: PageLine) -> list[Element]:
    """What a line of the page's tree stands for: the element, or the text inside of it."""
    return _texts(element, line.name)[:1] if line.role == STATIC_TEXT else [element]


def _remove(element: Element) -> None:
    parent = element.getparent()
    if parent is not None and tag_of(element) not in KEPT_TAGS:
        _keep_tail(element)
        parent.remove(element)


def _texts(element: Element, text: str) -> list[Element]:
    """The texts that a line of a text stands for: the element itself, or those inside of it that say so."""
    own = [element] if element.tag == TEXT else [one for one in element.iter(TEXT) if not one.get(NODE_ID)]
    return [one for one in own if " ".join("".join(one.itertext()).split()) == text]


def _keep_tail(element: Element) -> None:
    """Hand the text behind an element to what stands before it, as it is no part of it."""
    if not (tail := element.tail):
        return
    before, parent = element.getprevious(), element.getparent()
    if before is not None:
        before.tail = (before.tail or "") + tail
    elif parent is not None:
        parent.text = (parent.text or "") + tail


# What comes


def _place(page: Element, gone: Sequence[Element], target: Element | None) -> Element:
    """An empty element for what comes, put in its place while all that goes is still there."""
    place = etree.Element("div", {f"data_{IMAGINED}": "true"})
    going = {id(element) for element in gone}
    outer = next((element for element in gone if tag_of(element) not in KEPT_TAGS), None)
    for around in outer.iterancestors("*") if outer is not None else ():
        if id(around) not in going or tag_of(around) in KEPT_TAGS:
            break
        outer = around
    if outer is not None and outer.getparent() is not None:
        outer.addprevious(place)
    elif target is not None and target.getparent() is not None and tag_of(target) not in KEPT_TAGS:
        around = next(target.iterancestors("select"), target)
        around.addnext(place)
    else:
        body = page.find("body")
        (page if body is None else body).append(place)
    return place


def _tag(role: str) -> tuple[str, dict[str, str]]:
    return ROLE_TAGS.get(role, ("div", {"role": role}))


def _fill(place: Element, coming: Iterable[PageLine], numbers: Iterator[str]) -> None:
    """Make the elements that come, in their order; options go into the list that came before them."""
    options: Element | None = None
    for line in coming:
        tag, attributes = (TEXT, {}) if line.role == STATIC_TEXT else _tag(line.role)
        marked = {NODE_ID: next(numbers), f"data_{IMAGINED}": "true"}
        around = options if line.role == "option" and options is not None else place
        element = etree.SubElement(around, tag, attributes | marked)
        if line.role in LIST_ROLES:
            options = element
        if line.role == STATIC_TEXT:
            element.text = clean_text(line.name)
        elif line.name and (line.role in CONTENT_NAMED_ROLES and tag != "input"):
            etree.SubElement(element, TEXT).text = clean_text(line.name)
        elif line.name:
            element.set("aria_label", clean_text(line.name))
        for name, value in line.properties.items():
            if name in SETTERS:
                SETTERS[name](element, value)
