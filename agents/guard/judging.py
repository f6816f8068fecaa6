"""Whether one action on one page is risky, and why. Core.

In this order: the website's policy, what the page says of the controls that the action uses (their words, whether they
stand in a form or a dialog, what is written beside them), what the world model expects to change. An element that the
page does not show is looked at by its number alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.guard import vocabulary
from agents.guard.controls import (
    BUTTONS,
    FIELDS,
    NO_TEXT,
    SHORT,
    acted_on,
    around,
    block_of,
    buttons_of,
    dialog_of,
    form_around,
    form_of,
    names_of,
    own_names,
    reacts,
    role_of,
    text_of,
)
from agents.guard.policy import PolicyRule, Risk, first_that_holds
from agents.guard.vocabulary import ALWAYS, FINAL, IN_A_FORM, ON_A_BUTTON, PRICE, plain
from agents.types import Action
from agents.world_model.predicting import Prediction
from annotations.dom.tree import Element, tag_of

USING = ("CLICK", "PRESS", "SUBMIT", "ENTER")
CAN_COMMIT = (*USING, "TYPE", "SELECT", "DRAG")
PRESSING = frozenset({"", "enter", "numpadenter", "return", "space"})  # keys that use a control
ENTERING = frozenset({"", "enter", "numpadenter", "return"})  # keys that hand in what a field belongs to
KEYS_IN_TEXT = re.compile(r"[\n\r\t]")  # typed key by key they leave the field or hand it in
SURE = 0.5  # a prediction that is less sure than this holds no action
LONGEST = 120  # characters of a name that is shown
ASKED = 400  # characters of what stands around a yes
ROWS = ("row", "listitem", "article")
TELLING = ("status", "alert", "log")


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
    if root is None or action.operation not in CAN_COMMIT:
        found = acted_on(root, action.node_id)[:1] if root is not None and action.node_id else []
        return SeenControl(action.operation, *(_called(found[0]) if found else ()))
    controls = acted_on(root, action.node_id) if action.node_id else []
    if not controls:
        return SeenControl(action.operation, risk=_of_no_element(root, action))
    risk = _of_page(controls, action)
    looks = risk is not None or (_presses(controls[0], action) and _says_more(controls[0]))
    return SeenControl(action.operation, *_called(controls[0]), risk, looks)


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


def name_of(element: Element) -> str:
    """What an element is called, as it is shown."""
    return next(iter(names_of(element)), "")[:LONGEST]


def _called(element: Element) -> tuple[str, str]:
    return name_of(element), role_of(element)


def _of_no_element(root: Element, action: Action) -> Risk | None:
    """The risk of a key without an element: the focus may be in any form."""
    is_key = action.operation == "PRESS" and _key(action) in PRESSING
    if action.node_id is None and (is_key or (action.operation == "TYPE" and KEYS_IN_TEXT.search(action.value))):
        return next((risk for form in root.iter("form") if (risk := _of_buttons(form))), None)
    return None


def _key(action: Action) -> str:
    return {" ": "space", "\n": "enter", "\r": "enter"}.get(action.value, action.value.strip().lower())


def _presses(element: Element, action: Action) -> bool:
    """Whether the action uses the control as a click does, rather than writing or choosing in it."""
    if action.operation == "PRESS":
        return _key(action) in PRESSING
    return action.operation in USING


def _of_page(controls: Sequence[Element], action: Action) -> Risk | None:
    main, operation = controls[0], action.operation
    if operation == "SELECT" or (operation == "CLICK" and tag_of(main) == "option"):
        return _of_choice(main, action.value or text_of(main))
    if operation == "DRAG":
        return _of_drag(main, action)
    if operation == "TYPE" or (operation != "CLICK" and role_of(main) not in BUTTONS and tag_of(main) in FIELDS):
        return _of_buttons(form_around(main)) if _hands_in(main, action) else None
    if not _presses(main, action):
        return None
    return next((risk for one in controls if (risk := _of_control(one, _names_in(one, main)))), None)


def _names_in(control: Element, main: Element) -> list[str]:
    """The names by which a control is judged: of what lies around the main one, what is written beside it alone, as
    other controls in there are not pressed."""
    return own_names(control) if control in main.iterancestors() else names_of(control)


def _hands_in(field: Element, action: Action) -> bool:
    """Whether what is typed or pressed in a field hands it in. A line break within a text of several lines does not."""
    if action.operation != "TYPE":
        return _key(action) in ENTERING
    text = action.value if tag_of(field) == "input" else action.value[-1:]
    return KEYS_IN_TEXT.search(text) is not None


def _of_buttons(form: Element | None) -> Risk | None:
    """What the enter key does in a form: any of its buttons may be the one that it presses."""
    found = (_of_control(one, names_of(one)) for one in buttons_of(form)) if form is not None else iter(())
    return next(filter(None, found), None)


def _of_choice(element: Element, chosen: str) -> Risk | None:
    """The risk of choosing from a list: by the words of what is chosen; where the page tells that the list hands in its
    form, also by the form's buttons."""
    if risk := _said(element, vocabulary.HARMLESS.sub(" ", plain(chosen)), ALWAYS, "chooses"):
        return risk
    submits = "submit" in (element.get("onchange") or "")
    return _of_buttons(form_around(element)) if submits else None


def _of_drag(element: Element, action: Action) -> Risk | None:
    """The risk of pulling something: by its words, or those around its handle ("Slide to pay"), and by the words of
    what it is dropped on."""
    block = element if text_of(element) else block_of(element)
    name = text_of(block) if block is not None else ""
    by_kind = (ALWAYS, ON_A_BUTTON, IN_A_FORM) if vocabulary.SLIDES.match(name) else (ALWAYS,)
    risks = [_said(element, name, table) for table in by_kind] if len(name) <= SHORT else []
    dropped = acted_on(element.getroottree().getroot(), action.value) if action.value.isdecimal() else []
    onto = [_said(one, text_of(one), ALWAYS) for one in dropped[:1] if len(text_of(one)) <= SHORT]
    return next(filter(None, (*risks, *onto)), None)


def _of_control(element: Element, names: Sequence[str]) -> Risk | None:
    """The risk of pressing a control: that of the first of its names that has one."""
    if tag_of(element) in FIELDS and role_of(element) not in BUTTONS:
        return None
    if tag_of(element) == "label" and not reacts(element):
        return None  # hands the click to its control, which is judged, or ticks a box
    return next((risk for name in names or ("",) if (risk := _of_name(element, name))), None)


def _of_name(element: Element, name: str) -> Risk | None:
    role = role_of(element)
    is_button = role in BUTTONS or (role != "link" and reacts(element) and len(name) <= SHORT)
    if not is_button and ((role != "link" and len(name) > SHORT) or vocabulary.HELPS.search(name)):
        return None
    said = vocabulary.HARMLESS.sub(" ", name).strip()
    if vocabulary.ASKED_HOW.match(said):
        return None
    # however the name begins: "Continue and pay"
    if (risk := _said(element, said, ALWAYS)) or not is_button:
        return risk
    if vocabulary.REFUSES.match(said) and not ON_A_BUTTON["delete"].search(said):
        return None
    return _of_answer(element, said) or _of_button(element, said)


def _of_button(element: Element, name: str) -> Risk | None:
    """The risk of a button by its own words and those of its form."""
    if vocabulary.HANDS_ON.match(name) and (risk := _handed_on(element, name)):
        return risk
    if vocabulary.GOES_ON.match(name):
        return None
    if risk := _said(element, name, ON_A_BUTTON):
        return risk
    if PRICE.search(name) and (found := vocabulary.OF_A_PRICE.search(name)):
        return Risk("pay", f"“{name[:LONGEST]}” says “{found[0]}” and a price" + _finality(element), "page")
    return _said(element, name, IN_A_FORM, "ends a form and says") if form_of(element) is not None else None


def _of_answer(element: Element, name: str) -> Risk | None:
    """The risk of a button that says yes: what the dialog, or the block around it, asks or says that will happen."""
    dialog = dialog_of(element)
    agrees = vocabulary.AGREES.match(name) or not re.search(r"\w\w", name)
    if dialog is None and not agrees:
        return None
    if dialog is not None and not agrees and not vocabulary.HANDS_ON.match(name):
        return None
    block = dialog if dialog is not None else block_of(element)
    if block is None:
        return None
    asked = plain(f"{block.get('aria_label') or ''} {text_of(block, without_controls=True)}")[:ASKED]
    is_final = FINAL.search(asked) is not None
    for sentence in re.findall(r"[^.?!]+[.?!]?", vocabulary.HARMLESS.sub(" ", asked)):
        if risk := _of_sentence(sentence.strip(), is_final):
            why = f"“{name[:LONGEST]}” answers “{sentence.strip()[:LONGEST]}”" + _finality(element)
            return Risk(risk, why, "page")
    return None


def _of_sentence(sentence: str, is_final: bool) -> str | None:
    """The kind of risk of a yes to a sentence: a question may have any word of risk, another sentence only those that
    leave no doubt, as a heading or where the page says that it is for good."""
    tables = [vocabulary.WILL_BE]
    if sentence.endswith("?") or vocabulary.ABOUT_TO.search(sentence):
        tables += [ALWAYS, IN_A_FORM]
    elif is_final or len(sentence) <= SHORT:
        tables += [ALWAYS]
    return next((kind for table in tables for kind, pattern in table.items() if pattern.search(sentence)), None)


def _said(element: Element, name: str, by_kind: Mapping[str, re.Pattern[str]], how: str = "says") -> Risk | None:
    """The risk of the first kind of which a name has words."""
    for kind, pattern in by_kind.items():
        if found := pattern.search(name):
            begin = max(0, found.end() - LONGEST)  # of a long name the part that says it is shown
            shown = f"…{name[begin : found.end()]}" if begin else name[:LONGEST]
            return Risk(kind, f"“{shown}” {how} “{found[0]}”" + _finality(element), "page")
    return None


def _handed_on(element: Element, name: str) -> Risk | None:
    """The risk of a button that leads on: its form holds what somebody has typed about a person."""
    form = form_of(element)
    fields = (one for one in form.iter("*") if tag_of(one) in FIELDS) if form is not None else iter(())
    if any(_tells_of_a_person(one) for one in fields):
        why = f"“{name[:LONGEST]}” hands in what the form says of a person"
        return Risk("personal", why + _finality(element), "page")
    return None


def _tells_of_a_person(field: Element) -> bool:
    """Whether a field about a person is filled."""
    if field.get("type") in NO_TEXT or not (field.get("value") or field.get("input_value")):
        return False
    called = " ".join(field.get(one) or "" for one in ("name", "id", "aria_label", "placeholder"))
    return field.get("type") in ("email", "tel") or vocabulary.OF_A_PERSON.search(called.replace("_", " ")) is not None


def _finality(element: Element) -> str:
    """What the page says near the element of the action being for good ("cannot be undone"), as the end of a sentence;
    "" for nothing."""
    found = FINAL.search(around(element))
    return f"; the page says “{found[0]}”" if found else ""


def _says_more(element: Element) -> bool:
    """Whether a control that the guard lets pass has a word of risk, a price or a word of finality, or hands in a
    form."""
    name = name_of(element)
    if PRICE.search(name) or _finality(element):
        return True
    if any(pattern.search(name) for pattern in (*ALWAYS.values(), *ON_A_BUTTON.values(), *IN_A_FORM.values())):
        return True
    return role_of(element) == "button" and element.get("type") == "submit"


def foreseen_risk(action: Action, prediction: Prediction | None) -> Risk | None:
    """The risk of what the world model expects the action to change: what appears says that something has happened, or
    a row vanishes and nothing takes its place but a message."""
    if action.operation not in USING or prediction is None or prediction.confidence < SURE:
        return None
    facts, sure = list(prediction.facts.elements()), round(prediction.confidence, 3)
    added = [fact.removeprefix("added ") for fact in facts if fact.startswith("added ")]
    for fact in added:
        for kind, pattern in vocabulary.HAPPENED.items():
            if pattern.search(fact):
                return Risk(kind, f"the world model expects “{fact}” to appear", "prediction", sure)
    gone = [fact.removeprefix("removed ") for fact in facts if fact.startswith("removed ")]
    rows = [fact for fact in gone if fact.startswith(ROWS)]
    if len(rows) == 1 and all(fact.startswith(TELLING) for fact in added):
        return Risk("delete", f"the world model expects “{rows[0]}” to vanish", "prediction", sure)
    return None
