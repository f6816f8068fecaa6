"""What the fields of a form hold about people, by what they are called and whether something stands in them. Core."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from agents.guard.controls import FIELDS, NO_TEXT, written_in
from agents.guard.page_words import ABOUT_SOMEBODY, OF_NOBODY, REACHES_SOMEBODY, TELLS_WHO, WHO_SIGNS_IN
from agents.guard.vocabulary import plain
from annotations.dom.naming import ElementDraft, Labels, labels_of, name_of, read_drafts, value_of
from annotations.dom.tree import NODE_ID, Element

CALLED = ("name", "id", "autocomplete", "placeholder", "aria_label")
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-\d\[\].:]+")  # in the names of fields: firstName, first_name, name[1]
_KINDS = {"email": "e-mail", "tel": "phone"}  # types of fields that say what is in them


def who_is_told_of(form: Element, typed: Element | None = None) -> str:
    """What the filled fields of a form tell of somebody, in the words of one of them: how to reach a person, who they
    are, what they own or suffer from; "" for nothing. `typed`: a field in which something is being typed."""
    return next((said for words in _filled(form, typed) if (said := _found(TELLS_WHO, words))), "")


def is_about_somebody(form: Element, typed: Element | None = None) -> bool:
    """Whether a filled field of a form is about a person, be it no more than where they live."""
    return any(_found(ABOUT_SOMEBODY, words) or _found(TELLS_WHO, words) for words in _filled(form, typed))


def has_a_message(form: Element, typed: Element | None = None) -> bool:
    """Whether somebody has written more than a line in a form."""
    return bool(written_in(form)) or any(one is typed for one in form.iter("textarea"))


def is_sign_in(form: Element) -> bool:
    """Whether a form asks for a password and for nothing but who has it, so that it lets in whom the website knows."""
    drafts, labels = _read(form)
    written = [
        one for one in drafts if one.is_field and one.tag in FIELDS and one.attributes.get("type") not in NO_TEXT
    ]
    passwords = [one for one in written if one.attributes.get("type") == "password"]
    is_new = any("new" in one.attributes.get("autocomplete", "") for one in passwords)
    others = [" / ".join(_names(one, labels)) for one in written if one not in passwords]
    return len(passwords) == 1 and not is_new and len(others) <= 1 and all(map(WHO_SIGNS_IN.search, others))


def called_fields(form: Element) -> Iterator[str]:
    """What each field of a form in which something can be written or chosen is called, as people see it."""
    drafts, labels = _read(form)
    for draft in drafts:
        if draft.is_field and draft.tag in FIELDS and draft.attributes.get("type") not in NO_TEXT:
            yield plain(name_of(draft, labels))


def field_name(field: Element) -> str:
    """What a field is called, as people see it."""
    parent = field.getparent()
    drafts, labels = _read(parent if parent is not None else field)
    own = next(one for one in drafts if one.tag == field.tag and one.attributes == dict(field.attrib))
    return plain(name_of(own, labels))


@lru_cache(maxsize=2)
def _read(form: Element) -> tuple[list[ElementDraft], Labels]:
    """The elements of a form, and its labels: read once, as every button of it asks for them. Pages do not change."""
    drafts = read_drafts(form)
    return drafts, labels_of(drafts)


def _filled(form: Element, typed: Element | None) -> Iterator[str]:
    """What each field that holds something is called, all of its names together."""
    drafts, labels = _read(form)
    being_typed = typed.get(NODE_ID) if typed is not None else None
    for draft in drafts:
        if draft.tag not in FIELDS or draft.attributes.get("type") in NO_TEXT or draft.role == "searchbox":
            continue
        held = _held(draft)
        if draft.is_field and (draft.node_id == being_typed or held):
            yield " / ".join((*_names(draft, labels), *_as_it_looks(held)))


def _held(draft: ElementDraft) -> str:
    return value_of(draft) or draft.attributes.get("input_value", "")


def _as_it_looks(held: str) -> Iterator[str]:
    """What stands in a field, by its look, where the field is not called so."""
    yield from (words for words, pattern in REACHES_SOMEBODY.items() if pattern.fullmatch(held.strip()))


def _names(draft: ElementDraft, labels: Labels) -> Iterator[str]:
    attributes = draft.attributes
    yield from chain([_KINDS.get(attributes.get("type", ""), "")], [plain(name_of(draft, labels))])
    yield from (_split(attributes.get(name, "")) for name in CALLED)


def _split(name: str) -> str:
    return plain(_JOINT.sub(" ", name))


def _found(pattern: re.Pattern[str], words: str) -> str:
    found = pattern.search(OF_NOBODY.sub(" ", words))
    return found[0] if found else ""
