"""What an element of a page takes: text, or one of the options of a list. Core."""

from dataclasses import dataclass

from annotations.dom.naming import ElementDraft, option_text, read_drafts
from annotations.dom.roles import is_set, role_of
from annotations.dom.tree import Element

TEXT_ROLES = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})


@dataclass(frozen=True, slots=True)
class Taking:
    """What an element takes of what people do with it."""

    role: str  # "" for a generic element
    text: bool | None  # None: the page does not say
    options: tuple[str, ...]  # of a list, in order; () for anything else, and for a list without its options
    is_option: bool


def taking_of(root: Element, node_id: str) -> Taking | None:
    """What an element takes; None for what is no element of the page."""
    drafts = read_drafts(root)
    found = next((draft for draft in drafts if draft.node_id == node_id), None)
    if found is None:
        return None
    options = tuple(filter(None, map(option_text, found.options)))
    return Taking(found.role, _text(found, drafts), options, found.role == "option")


def _text(found: ElementDraft, drafts: list[ElementDraft]) -> bool | None:
    """Whether text can be typed into the element: it is a field for it, is edited in place, or stands around a field. A
    generic element may be one that is edited in place: cleaned pages do not tell."""
    if _is_text_field(found) or any(_is_text_field(draft) and _is_within(draft, found) for draft in drafts):
        return True
    around: ElementDraft | None = found
    while around is not None:
        if is_set(around.attributes, "contenteditable"):
            return True
        around = around.parent
    return False if found.role else None


def _is_text_field(draft: ElementDraft) -> bool:
    if draft.tag in ("input", "textarea"):  # whatever role it says it has
        return role_of(draft.tag, {"type": draft.attributes.get("type", "")}) in TEXT_ROLES
    return draft.role in TEXT_ROLES and draft.tag != "select"


def _is_within(draft: ElementDraft, outer: ElementDraft) -> bool:
    above = draft.parent
    while above is not None and above is not outer:
        above = above.parent
    return above is outer
