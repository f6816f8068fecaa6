"""What a page says of a control: what it is called, what it is, and the form or the dialog that it belongs to. Core."""

import re
from collections.abc import Iterator

from lxml import etree

from agents.guard.vocabulary import PICTURES_OF, plain
from annotations.dom.naming import SILENT_TAGS
from annotations.dom.tree import NODE_ID, Element, tag_of

FIELDS = frozenset({"input", "select", "textarea"})
NO_TEXT = frozenset({"hidden", "submit", "button", "image", "reset"})
PRESSED = frozenset({"button", "a", "summary"})
BUTTONS = frozenset({"button", "menuitem"})
ROLES = BUTTONS | {"link", "tab"}
FORMS = frozenset({"form", "dialog", "fieldset"})
DIALOG_CLASS = re.compile(
    r"(?<![a-z])(?:dialog|modal|popup|lightbox|alertdialog)(?:$|[\s_-](?:-|_|box|content|open|card|wrap))|"
    r"(?:^|\s)(?:dialog|modal|popup)(?:\s|$)",
    re.IGNORECASE,
)
DIALOGS = frozenset({"dialog", "alertdialog"})
PARTS = frozenset({"main", "body", "html", "table", "tbody", "tr", "ul", "ol", "li", "nav"})
PICTURES = frozenset({"img", "svg", "input"})
HANDLERS = ("onclick", "onmousedown", "onmouseup", "onpointerdown", "onpointerup", "ontouchstart", "ontouchend")
GATHERED = re.compile(
    r"(?<![a-z])(?:cart|basket|bag|trolley|wish-?list|compare|filters?|facets?|chips?|chosen|selection)(?![a-z])", re.I
)
CHOSEN = frozenset({"selected", "checked", "chosen", "is-selected", "is-checked"})  # classes
NEAR = 3  # levels above a button in which the fields that it hands in are looked for, where there is no form
SHORT = 60  # characters of something plain that is pressed: more of them are a text


def acted_on(root: Element, node_id: str) -> list[Element]:
    """The controls that a click on an element uses, the main one first: the button or link around it, else the element
    itself; whatever else around it reacts to clicks; the button that a label names; the only control inside."""
    found = next((one for one in root.iter("*") if one.get(NODE_ID) == node_id), None)
    if found is None:
        return []
    around = [found, *found.iterancestors()]
    main = next((one for one in around if is_pressed(one)), found)
    more = [one for one in around if one is not main and (is_pressed(one) or reacts(one))]
    if not is_pressed(main):
        inside = [one for one in main.iterdescendants("*") if is_pressed(one)]
        more += inside if len(inside) == 1 else []
    labelled = (_labelled(root, one) for one in around if tag_of(one) == "label")
    return [main, *more, *(one for one in labelled if one is not None)]


def _labelled(root: Element, label: Element) -> Element | None:
    """The control that a click on a label is handed to."""
    if wanted := label.get("for"):
        return with_id(root, wanted)
    return next((one for one in label.iterdescendants("*") if is_pressed(one)), None)


def with_id(root: Element, wanted: str) -> Element | None:
    return next((one for one in root.iter("*") if one.get("id") == wanted), None)


def is_pressed(element: Element) -> bool:
    """Whether it is a button or link by its tag or its role."""
    return tag_of(element) in PRESSED or role_of(element) in ROLES


def reacts(element: Element) -> bool:
    """Whether the page tells that something happens when it is clicked; of fields and labels this says nothing, as all
    of them do."""
    if tag_of(element) in ("body", "html"):
        return False  # which hears of every click in the page
    if any(element.get(one) is not None for one in HANDLERS) or element.get("has_handler") == "true":
        return tag_of(element) not in FIELDS
    return element.get("is_clickable") == "true" and tag_of(element) not in FIELDS | {"label", "option"}


def leads_nowhere(link: Element) -> bool:
    """Whether the page says of a link that it leads to no other address or sends something there, so that it acts as a
    button does."""
    if link.get("sends") == "true":
        return True
    address = link.get("href")
    goes = address is None or not (address.strip() in ("", "#") or address.lower().startswith("javascript:"))
    return link.get("leads") == "false" or not goes


def only_opens(element: Element) -> bool:
    """Whether the page says that a control opens a part of the page: a menu, a dialog, a list."""
    if tag_of(element) == "summary":
        return True
    if element.get("opens") == "true" or element.get("aria_expanded"):
        return True
    return (element.get("aria_haspopup") or "false").lower() != "false"


def is_toggle(element: Element) -> bool:
    """Whether the page says that a button is turned on and off."""
    return element.get("toggles") == "true" or element.get("aria_pressed") is not None


def role_of(element: Element) -> str:
    """The role of an element, in the few words that the guard knows: button, link, field, else its role or tag. What is
    a button by its tag is one whatever role it is given."""
    tag, role = tag_of(element), next(iter((element.get("role") or "").lower().split()), "")
    is_button = tag in ("button", "summary") or (
        tag == "input" and element.get("type") in ("submit", "button", "image")
    )
    if is_button or role in BUTTONS or ("-" in tag and ("button" in tag or "btn" in tag)):
        return "button" if role != "menuitem" or is_button else role
    if tag == "a":
        return "link"
    return role or {"input": "field"}.get(tag, tag)


def names_of(element: Element) -> list[str]:
    """All that an element is called: its label, its text as it is read and as its pieces stand beside each other, its
    title; of a button also its value or alternative text. Beside a label the text counts too, as people see the one and
    programs the other, but where the label only says more ("Book" with the label "Book the blue room")."""
    root = element.getroottree().getroot()
    by_id = (with_id(root, one) for one in (element.get("aria_labelledby") or "").split())
    label = plain(" ".join(text_of(one) for one in by_id if one is not None) or element.get("aria_label") or "")
    pieces = [plain(one) for one in pieces_of(element)]
    given = (element.get("value"), element.get("alt")) if tag_of(element) in ("input", "button") else ()
    shown = (element.get("read_as"), " ".join(pieces), "".join(pieces), element.get("title"), *given)
    said = [plain(text) for text in shown if text]
    more = [name for name in dict.fromkeys(said) if name and name.lower() not in label.lower()]
    return [label, *more] if label else more


def own_names(element: Element) -> list[str]:
    """What is written on an element beside the controls in it, as far as that is short."""
    label, said = plain(element.get("aria_label") or ""), text_of(element, without_controls=True)
    return [name for name in (label, said) if name and len(name) <= SHORT]


def text_of(element: Element, without_controls: bool = False) -> str:
    return plain(" ".join(pieces_of(element, without_controls)))


def pieces_of(element: Element, without_controls: bool = False) -> Iterator[str]:
    """The texts below an element in order, with what pictures and labelled parts are called."""
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, one in walk:
        if event == "end":
            if one is not element and one.tail:
                yield one.tail
            continue
        is_left_out = tag_of(one) in SILENT_TAGS or (without_controls and (is_pressed(one) or is_field(one)))
        if one is not element and (is_left_out or not tag_of(one) or tag_of(one) == "select"):
            walk.skip_subtree()
            continue
        if one is not element:
            yield from (one.get(name) or "" for name in ("aria_label", "alt"))
            yield (one.get("title") or "") if tag_of(one) in PICTURES else ""
        yield one.text or ""


def is_of_a_list(element: Element) -> bool:
    """Whether the classes around a control say that it stands in what somebody gathers: a basket, filters, a list of
    wishes."""
    around = list(element.iterancestors())[: NEAR + 2]
    return any(GATHERED.search(f"{one.get('class') or ''} {one.get('id') or ''}") for one in around)


def form_of(element: Element) -> Element | None:
    """The form or dialog that the element belongs to, or the nearest block around it, if it has fields that could be
    handed in; else None."""
    if (attached := element.get("form")) and (named := with_id(element.getroottree().getroot(), attached)) is not None:
        return named
    native = native_form(element)
    if (
        native is not None
        and not only_acts(element)
        and (has_fields(native) or (submits(element) and not is_search(native)))
    ):
        return native
    for level, one in enumerate(element.iterancestors()):
        if tag_of(one) in PARTS:
            return one if level < NEAR and _is_for_writing(one) else None
        if has_fields(one):
            return one
        if is_form(one) or level >= NEAR:
            return None
    return None


def native_form(element: Element) -> Element | None:
    return next((one for one in element.iterancestors() if tag_of(one) == "form"), None)


def _is_for_writing(part: Element) -> bool:
    """Whether a page, or its main part, is there for one text that somebody has written, in no form."""
    texts = written_in(part) if tag_of(part) in ("main", "body") else []
    return len(texts) == 1 and not any(tag_of(one) == "form" for one in texts[0].iterancestors())


def only_acts(button: Element) -> bool:
    """Whether the page says that a button does not hand in its form by itself."""
    return button.get("type") in ("button", "reset") or button.get("submits") == "false"


def submits(button: Element) -> bool:
    """Whether pressing a button hands in its form, as the page tells it: one without a type does."""
    if button.get("sends") == "true":
        return True
    if tag_of(button) == "input":
        return button.get("type") in ("submit", "image")
    in_a_form = button.get("form") or any(tag_of(one) == "form" for one in button.iterancestors())
    return tag_of(button) == "button" and bool(in_a_form) and not only_acts(button)


def is_search(form: Element) -> bool:
    """Whether a form says of itself that it only looks something up."""
    return role_of(form) == "search" or (form.get("method") or "").lower() == "get"


def pictured(element: Element) -> str:
    """What a control without a name shows, where the classes of its picture tell: "trash" of "icon-trash"."""
    classes = (one.get("class") or "" for one in element.iter("*"))
    found = PICTURES_OF.search(" ".join(classes).replace("-", " ").replace("_", " "))
    return found[0].lower() if found else ""


def form_around(field: Element) -> Element | None:
    """What the enter key in a field hands in: its form, or the nearest block around it that has a button."""
    attached = field.get("form")
    if attached and (named := with_id(field.getroottree().getroot(), attached)) is not None:
        return named
    form = next((one for one in field.iterancestors() if is_form(one)), None)
    if form is not None:
        return form
    near = [one for one in field.iterancestors()][:NEAR]
    blocks = (one for one in near if tag_of(one) not in PARTS)
    return next((one for one in blocks if next(buttons_of(one), None) is not None), None)


def buttons_of(form: Element) -> Iterator[Element]:
    """The buttons of a form, with those that are attached to it from elsewhere."""
    name = form.get("id")
    whole = form.getroottree().getroot() if name else form
    for one in whole.iter("*"):
        if role_of(one) in BUTTONS and (one.get("form") == name if one.get("form") else form in one.iterancestors()):
            yield one


def dialog_of(element: Element) -> Element | None:
    def opened(one: Element) -> bool:
        if tag_of(one) in ("html", "body"):
            return False  # told of a page while a dialog is open
        is_one = tag_of(one) == "dialog" or role_of(one) in DIALOGS or one.get("aria_modal") == "true"
        return is_one or DIALOG_CLASS.search(one.get("class") or "") is not None

    found = [one for one in element.iterancestors() if opened(one)]
    # a class may be that of a part of one: what says by its role that it is a dialog is the whole
    said = (one for one in found if tag_of(one) == "dialog" or role_of(one) in DIALOGS)
    return next(said, next(iter(found), None))


def block_of(element: Element) -> Element | None:
    """The nearest block around an element in which something is written beside the controls."""
    for one in list(element.iterancestors())[: NEAR + 1]:
        if tag_of(one) in ("body", "html", "main"):
            return None
        if text_of(one, without_controls=True):
            return one
    return None


def is_form(element: Element) -> bool:
    return tag_of(element) in FORMS or role_of(element) in ("form", "dialog")


def has_fields(element: Element) -> bool:
    return any(is_field(one) and one.get("type") not in NO_TEXT for one in element.iter("*"))


def is_field(element: Element) -> bool:
    return tag_of(element) in FIELDS or is_editable(element)


def is_chosen(element: Element) -> bool:
    """Whether it is the one that is chosen among others, as far as a page tells: a box or what stands beside it."""
    if any(
        element.get(name) == "true" for name in ("aria_checked", "aria_selected", "aria_pressed", "option_selected")
    ):
        return True
    if tag_of(element) == "label":
        return any(one.get("input_checked") == "true" for one in element.iter("input"))
    return not CHOSEN.isdisjoint((element.get("class") or "").lower().split()) and len(text_of(element)) <= SHORT


def is_editable(element: Element) -> bool:
    """Whether people write in an element that is no field by its tag."""
    return element.get("editable") == "true" or element.get("contenteditable") in ("true", "", "plaintext-only")


def written_in(block: Element) -> list[Element]:
    """The fields for more than a line in which somebody has written."""
    return [
        one
        for one in block.iter("*")
        if (tag_of(one) == "textarea" and (one.get("text_value") or one.get("input_value")))
        or (is_editable(one) and text_of(one))
    ]


def around(element: Element) -> str:
    """What is written near an element."""
    parts = [one for one in element.iterancestors() if tag_of(one) not in ("body", "html")][: NEAR + 1]
    return text_of(parts[-1]) if parts else ""
