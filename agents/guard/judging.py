"""Whether one action on one page is risky, and why. Core.

In this order: the website's policy, what the page says of the element (its words, whether it stands in a form, what is
written beside it), what the world model expects to appear. An element that the page does not show is looked at by its
number alone, and typing, choosing and moving about change nothing that lasts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.guard.policy import (
    ALWAYS,
    FINAL,
    GOES_ON,
    HANDS_ON,
    HAPPENED,
    IN_A_FORM,
    OF_A_PERSON,
    OF_A_PRICE,
    ON_A_BUTTON,
    PRICE,
    PolicyRule,
    Risk,
    first_that_holds,
)
from agents.types import Action
from agents.world_model.predicting import Prediction
from annotations.dom.tree import NODE_ID, Element, tag_of

CAN_COMMIT = ("CLICK", "PRESS", "SUBMIT", "ENTER")
FIELDS = frozenset({"input", "select", "textarea"})
NO_TEXT = frozenset({"hidden", "submit", "button", "image", "reset"})
PRESSED = frozenset({"button", "a", "summary"})
ROLES = frozenset({"button", "link", "menuitem", "tab"})
PLAIN = frozenset({"div", "span", "li", "p", "b", "strong", "em", "i"})  # made into buttons by a page's program
FORMS = frozenset({"form", "dialog", "fieldset"})
PARTS = frozenset({"main", "body", "html", "table", "tbody", "tr", "ul", "ol", "li", "nav"})
NEAR = 3  # levels above a button in which the fields that it hands in are looked for, where there is no form
SURE = 0.5  # a prediction that is less sure than this holds no action
SHORT = 40  # characters of the name of something plain that is pressed: more of them are a text
LONGEST = 120  # characters of a name that is compared


@dataclass(frozen=True)
class GuardVerdict:
    """What the guard says of an action: its risk, or None. `passed_by`: the rule that calls it harmless, if one
    does."""

    risk: Risk | None
    passed_by: str = ""


@dataclass(frozen=True)
class SeenControl:
    """What the page says of an action: the name and role of its control, the risk that the guard finds there.
    `looks_risky`: that, or words, a price or a button by which a person should look, though the guard lets it pass."""

    operation: str
    name: str = ""
    role: str = ""
    risk: Risk | None = None
    looks_risky: bool = False


def judge(
    root: Element | None,
    action: Action,
    *,
    website: str = "",
    url: str = "",
    rules: Sequence[PolicyRule] = (),
    prediction: Prediction | None = None,
) -> GuardVerdict:
    """Whether an action on a page is risky. `root` is the page, None where it cannot be read; `rules` are the website's
    policy, `prediction` what the world model expects the action to change."""
    return decided(look(root, action), rules, website, url, foreseen_risk(action, prediction))


def look(root: Element | None, action: Action) -> SeenControl:
    """What the page says of an action, before any rule and any prediction."""
    element = _acted_on(root, action)
    if element is None:
        return SeenControl(action.operation)
    commits = action.operation in CAN_COMMIT
    risk = _of_page(element, action) if commits else None
    name = name_of(element)
    looks = commits and (risk is not None or _says_more(element, name))
    return SeenControl(action.operation, name, role_of(element), risk, looks)


def decided(
    seen: SeenControl,
    rules: Sequence[PolicyRule] = (),
    website: str = "",
    url: str = "",
    foreseen: Risk | None = None,
) -> GuardVerdict:
    """The verdict: by the website's policy, else by the page, else by what is foreseen."""
    rule = first_that_holds(rules, website, seen.name, seen.role, seen.operation, url)
    if rule is not None and rule.kind:
        return GuardVerdict(Risk(rule.kind, f"rule: {rule}", "policy"))
    if rule is not None:
        return GuardVerdict(None, f"rule: {rule}")
    return GuardVerdict(seen.risk or foreseen)


def _acted_on(root: Element | None, action: Action) -> Element | None:
    """The control that the action uses: the element itself, or the button or link around it."""
    if root is None or action.node_id is None:
        return None
    found = next((one for one in root.iter("*") if one.get(NODE_ID) == action.node_id), None)
    if found is None:
        return None
    around = (one for one in (found, *found.iterancestors()) if tag_of(one) in PRESSED or one.get("role") in ROLES)
    return next(around, found)


def name_of(element: Element) -> str:
    """What an element is called: its label, its text or its title; of an input also its value or alternative text."""
    own = (element.get("aria_label"), " ".join("".join(element.itertext()).split()), element.get("title"))
    given = (element.get("value"), element.get("alt")) if tag_of(element) == "input" else ()
    return next((text for text in (*own, *given) if text), "")[:LONGEST]


def role_of(element: Element) -> str:
    """The role of an element, in the few words that the guard knows: button, link, field, else its role or tag."""
    tag = tag_of(element)
    if tag == "input" and element.get("type") in ("submit", "button", "image"):
        return "button"
    return element.get("role") or {"a": "link", "summary": "button", "input": "field"}.get(tag, tag)


def _of_page(element: Element | None, action: Action) -> Risk | None:
    if element is None:
        return None
    if action.operation == "CLICK":
        return _of_control(element)
    if tag_of(element) in FIELDS and action.value not in ("", "Enter", "\n"):
        return None  # this key hands nothing in
    form = next((one for one in element.iterancestors() if _is_form(one)), None)
    found = (risk for one in _buttons(form) if (risk := _of_control(one)))  # what Enter in a field would press
    return next(found, None) if form is not None else _of_control(element)


def _buttons(form: Element | None) -> Iterator[Element]:
    return (one for one in form.iter("*") if role_of(one) == "button") if form is not None else iter(())


def _of_control(element: Element) -> Risk | None:
    name, role = name_of(element), role_of(element)
    is_plain = role in PLAIN and len(name) <= SHORT
    if role not in ("button", "link", "menuitem") and not is_plain:
        return None
    # however the name begins: "Continue and pay"
    if (risk := _said(element, name, ALWAYS)) or is_plain:
        return risk
    if role == "button" and HANDS_ON.match(name):
        return _handed_on(element, name)
    if role == "link" or GOES_ON.match(name):
        return None
    if risk := _said(element, name, ON_A_BUTTON):
        return risk
    if PRICE.search(name) and (found := OF_A_PRICE.search(name)):
        return Risk("pay", f"“{name}” says “{found[0]}” and a price" + _finality(element), "page")
    return _said(element, name, IN_A_FORM, "ends a form and says") if _form_of(element) is not None else None


def _said(element: Element, name: str, by_kind: Mapping[str, re.Pattern[str]], how: str = "says") -> Risk | None:
    """The risk of the first kind of which a name has words."""
    for kind, words in by_kind.items():
        if found := words.search(name):
            return Risk(kind, f"“{name}” {how} “{found[0]}”" + _finality(element), "page")
    return None


def _handed_on(element: Element, name: str) -> Risk | None:
    """The risk of a button that leads on: its form holds what somebody has typed about a person."""
    form = _form_of(element)
    fields = (one for one in form.iter("*") if tag_of(one) in FIELDS) if form is not None else iter(())
    if any(_tells_of_a_person(one) for one in fields):
        return Risk("personal", f"“{name}” hands in what the form says of a person" + _finality(element), "page")
    return None


def _tells_of_a_person(field: Element) -> bool:
    """Whether a field about a person is filled."""
    if field.get("type") in NO_TEXT or not (field.get("value") or field.get("input_value")):
        return False
    called = " ".join(field.get(one) or "" for one in ("name", "id", "aria_label", "placeholder"))
    return field.get("type") in ("email", "tel") or OF_A_PERSON.search(called.replace("_", " ")) is not None


def _form_of(element: Element) -> Element | None:
    """The form or dialog that the element belongs to, or the nearest block around it, if it has fields that could be
    handed in; else None."""
    for level, one in enumerate(element.iterancestors()):
        if tag_of(one) in PARTS:
            return None
        if _has_fields(one):
            return one
        if _is_form(one) or level >= NEAR:
            return None
    return None


def _is_form(element: Element) -> bool:
    return tag_of(element) in FORMS or element.get("role") in ("form", "dialog")


def _has_fields(element: Element) -> bool:
    return any(tag_of(one) in FIELDS and one.get("type") not in NO_TEXT for one in element.iter("*"))


def _finality(element: Element) -> str:
    """What the page says near the element of the action being for good ("cannot be undone"), as the end of a sentence;
    "" for nothing."""
    parts = [one for one in element.iterancestors() if tag_of(one) not in ("body", "html")][: NEAR + 1]
    text = " ".join("".join(parts[-1].itertext()).split()) if parts else ""
    found = FINAL.search(text)
    return f"; the page says “{found[0]}”" if found else ""


def _says_more(element: Element, name: str) -> bool:
    """Whether a control that the guard lets pass has a word of risk, a price or a word of finality, or hands in a
    form."""
    if PRICE.search(name) or _finality(element):
        return True
    if any(words.search(name) for words in (*ALWAYS.values(), *ON_A_BUTTON.values(), *IN_A_FORM.values())):
        return True
    return role_of(element) == "button" and element.get("type") == "submit"


def foreseen_risk(action: Action, prediction: Prediction | None) -> Risk | None:
    """The risk of what the world model expects the action to change."""
    if action.operation not in CAN_COMMIT or prediction is None or prediction.confidence < SURE:
        return None
    for fact in prediction.facts.elements():
        for kind, words in HAPPENED.items():
            if fact.startswith("added") and words.search(fact):
                why = f"the world model expects “{fact.removeprefix('added ')}” to appear"
                return Risk(kind, why, "prediction", round(prediction.confidence, 3))
    return None
