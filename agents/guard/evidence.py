"""What of a control, of its form and of the text around it speaks for a risk or against one: what the learned part of
the guard weighs (`learned.py`). Core."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from agents.guard import beginnings, page_words, vocabulary
from agents.guard.button_words import ON_A_BUTTON
from agents.guard.consequences import told_near
from agents.guard.controls import (
    SHORT,
    around,
    buttons_of,
    dialog_of,
    form_of,
    has_fields,
    is_search,
    is_toggle,
    leads_nowhere,
    names_of,
    native_form,
    only_acts,
    pictured,
    reacts,
    role_of,
    submits,
    text_of,
)
from agents.guard.fields import called_fields, has_a_message, is_about_somebody, is_sign_in, who_is_told_of
from agents.guard.learned import ALWAYS_THERE
from agents.guard.pressing import DANGER, FEW, hands_over
from agents.guard.vocabulary import ALWAYS, IN_A_FORM, PRICE
from annotations.dom.tree import Element, tag_of

WORD = re.compile(r"[a-z][a-z']*|[£$€¥₹]|\d+|[?!+×✕→›…]")
NAMED = 160  # characters of a name whose words count
BESIDE = 400  # of the text around it
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "legend", "header")
LISTS = frozenset({"li", "tr", "td", "ul"})
BARS = frozenset({"nav", "header", "footer"})
LEVELS = 6  # above a control in which headings and lists are looked for
SOME = 12  # buttons, headings or fields of a form that are read: a page may have any number
DRAWN = {  # how the classes of a control say that it is drawn
    "first": re.compile(r"primary|cta|submit|confirm|main", re.IGNORECASE),
    "second": re.compile(r"secondary|ghost|tertiary|text|outline|cancel|link", re.IGNORECASE),
}
BEGINS = {
    "looks or leaves": beginnings.UNCONCERNED,
    "goes on": beginnings.GOES_ON,
    "stays": beginnings.STAYS,
    "leads away": beginnings.LEADS_AWAY,
    "leads on": beginnings.LEADS_ON,
    "refuses": beginnings.REFUSES,
    "agrees": beginnings.AGREES,
    "hands on": beginnings.HANDS_ON,
    "answers": beginnings.ANSWERS_WITH,
    "asks how": beginnings.ASKED_HOW,
}
SAID = {"anywhere": ALWAYS, "on a button": ON_A_BUTTON, "in a form": IN_A_FORM}
BESIDE_IT = {
    "nothing is done yet": page_words.REASSURES,
    "for good": page_words.FINAL,
    "lasting": page_words.LASTING,
    "paid by": page_words.PAYS_BY,
    "about to": page_words.ABOUT_TO,
    "somebody waits": page_words.ANSWERS,
    "used at once": page_words.AT_ONCE,
    "more steps": page_words.MORE_STEPS,
    "a price": PRICE,
    "a question": re.compile(r"\?"),
}


def evidence_of(element: Element, names: Sequence[str], by_enter: bool = False) -> dict[str, float]:
    """What speaks for or against the risk of pressing a control, with how much of it there is: 1 for what holds, for
    words their share of what is said. `names`: all that the control is called; `by_enter`: it is pressed from a field.
    """
    form, near = form_of(element), told_near(element)
    name = " / ".join(names)[:NAMED] or pictured(element)
    heading = _heading(element)
    found = {*_of_name(name), *_of_control(element, by_enter), *_of_form(element, form), *_of_text(element, near)}
    if heading.endswith("?"):
        found.add("heading: a question")
    if how := hands_over(element, vocabulary.HARMLESS.sub(" ", name).strip()):
        found |= {"form: is handed over", f"form: is handed over by what {how}"}
    evidence = dict.fromkeys([ALWAYS_THERE, *sorted(found)], 1.0)
    told = {"named": name, "beside": near[:BESIDE], "heading": heading, "fields": _fields(form)}
    for where, text in told.items():
        evidence |= _words(where, text)
    return evidence


def _words(where: str, text: str) -> dict[str, float]:
    """The words of a text, of a name in pairs too, each with its share: a word among few says more."""
    said = WORD.findall(text.lower())
    said = [one if not one.isdigit() else "0" for one in said]
    pairs = [f"{one} {other}" for one, other in pairwise(said)] if where != "fields" else []
    each = dict.fromkeys([*said, *pairs])
    return {f"{where} “{one}”": round(len(each) ** -0.5, 4) for one in each}


def _of_name(name: str) -> Iterator[str]:
    said = vocabulary.HARMLESS.sub(" ", name).strip()
    though = ", though it says more" if any(one.search(said) for one in ALWAYS.values()) else ""
    yield from (f"name: {how}{though}" for how, pattern in BEGINS.items() if pattern.match(said))
    consequences = [kind for kind, pattern in page_words.CONSEQUENCES.items() if pattern.search(name)]
    yield from (f"name: will {kind}" for kind in consequences)
    if any(one.search(name) for one in page_words.WRITTEN_IN.values()):
        yield "name: is written in"
    for where, table in SAID.items():
        kinds = [kind for kind, pattern in table.items() if pattern.search(said)]
        yield from (f"name: {kind} {where}" for kind in kinds)
        yield from (f"name: a risk {where}" for _ in kinds[:1])
    if PRICE.search(name):
        yield "name: a price"
    if vocabulary.LEADS_TO.search(said):
        yield "name: leads to"
    if page_words.SEEKS.search(name):
        yield "name: seeks"
    if re.search(r"…|\.\.\.|›|→|»", name):
        yield "name: goes on after it"
    words = len(name.split())
    yield f"name: {min(words, 4)} words"
    if len(name) > SHORT:
        yield "name: long"


def _of_control(element: Element, by_enter: bool) -> Iterator[str]:
    role = role_of(element)
    yield f"is: {role if role in ('button', 'link', 'menuitem', 'tab', 'label', 'field') else 'another'}"
    if role == "link":
        yield f"is: link that {'leads nowhere' if leads_nowhere(element) else 'leads away'}"
    classes = element.get("class") or ""
    told = {
        "pressed by Enter": by_enter,
        "reacts": reacts(element),
        "hands in": submits(element),
        "turned on and off": is_toggle(element) or role in ("checkbox", "switch"),
        "hands in nothing": only_acts(element),
        "drawn as a danger": DANGER.search(classes) is not None,
        **{f"drawn {how}": pattern.search(classes) is not None for how, pattern in DRAWN.items()},
        "in a list": any(tag_of(one) in LISTS for one in _above(element)),
        "in a bar": any(tag_of(one) in BARS for one in _above(element)),
    }
    yield from (f"is: {how}" for how, holds in told.items() if holds)


def _above(element: Element) -> list[Element]:
    return list(islice(element.iterancestors(), LEVELS))


def _of_form(element: Element, form: Element | None) -> Iterator[str]:
    native, dialog = native_form(element), dialog_of(element)
    buttons = list(islice(buttons_of(form if form is not None else _block(element)), SOME))
    others = [next(iter(names_of(one)), "") for one in buttons if one is not element]
    told = {
        "in a form": native is not None,
        "by post": native is not None and (native.get("method") or "").lower() == "post",
        "seeks": native is not None and is_search(native),
        "in a dialog": dialog is not None,
        "in a dialog of few": dialog is not None and len(buttons) <= FEW,
        "the only button": bool(buttons) and not others,
        "the last button": buttons[-1:] == [element],
        "one refuses": any(beginnings.REFUSES.match(one) for one in others),
        "one goes through": any(beginnings.GOES_THROUGH.match(one) for one in others),
        "many buttons": len(buttons) > FEW + 1,
    }
    if form is not None:
        told |= {
            "has fields": has_fields(form),
            "tells who": who_is_told_of(form) != "",
            "is about somebody": is_about_somebody(form),
            "holds a message": has_a_message(form),
            "signs in": is_sign_in(form),
            "a box is ticked": any(one.get("input_checked") == "true" for one in form.iter("input")),
        }
    yield from (f"form: {how}" for how, holds in told.items() if holds)


def _block(element: Element) -> Element:
    """The nearest block around a control that has another button."""
    blocks = _above(element)
    found = (one for one in blocks if any(other is not element for other in islice(buttons_of(one), 2)))
    return next(found, element)


def _of_text(element: Element, near: str) -> Iterator[str]:
    if not near:
        yield "beside: nothing"
    yield from (f"beside: {how}" for how, pattern in BESIDE_IT.items() if pattern.search(near))
    consequences = [kind for kind, pattern in page_words.CONSEQUENCES.items() if pattern.search(near)]
    yield from (f"beside: will {kind}" for kind in consequences)
    if any(pattern.search(near) for pattern in page_words.WILL_BE.values()):
        yield "beside: will be"
    further = around(element)[:BESIDE]
    if page_words.SUMMARY.search(further):
        yield "around: a summary"
    if PRICE.search(further):
        yield "around: a price"


def _heading(element: Element) -> str:
    """The nearest headings above a control, of its dialog or block."""
    for one in _above(element):
        if tag_of(one) in ("body", "html"):
            break
        said = [text_of(found) for found in islice(one.iter(*HEADINGS), 2)]
        if any(said):
            return " / ".join(filter(None, said))[:NAMED]
    return ""


def _fields(form: Element | None) -> str:
    return " / ".join(islice(called_fields(form), SOME))[:BESIDE] if form is not None else ""
