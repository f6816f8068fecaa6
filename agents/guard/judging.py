"""Whether one action on one page is risky, and why. Core.

In this order: the website's policy, what the page says of the controls that the action uses (their words, whether they
stand in a form or a dialog, what is written beside them), what the world model expects to change. An element that the
page does not show is looked at by its number alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from agents.guard import page_words, vocabulary
from agents.guard.button_words import ON_A_BUTTON
from agents.guard.controls import (
    BUTTONS,
    SHORT,
    acted_on,
    block_of,
    buttons_of,
    form_around,
    is_field,
    is_search,
    names_of,
    only_opens,
    own_names,
    reacts,
    role_of,
    submits,
    text_of,
)
from agents.guard.evidence import evidence_of
from agents.guard.fields import field_name, is_sign_in, who_is_told_of
from agents.guard.learned import LearnedPart
from agents.guard.policy import CAN_COMMIT, USING, PolicyRule, Risk, first_that_holds
from agents.guard.pressing import (
    LONGEST,
    PRESSED,
    SURE_KINDS,
    decides_nothing,
    finality,
    leads_to_a_page,
    of_buttons,
    of_control,
    of_filling,
    said_on,
    told_around,
)
from agents.guard.vocabulary import ALWAYS, IN_A_FORM, PRICE, plain
from agents.types import Action
from agents.world_model.predicting import Prediction
from annotations.dom.tree import Element, tag_of

PRESSING = frozenset({"", "enter", "numpadenter", "return", "space"})  # keys that use a control
ENTERING = frozenset({"", "enter", "numpadenter", "return"})  # keys that hand in what a field belongs to
KEYS_IN_TEXT = re.compile(r"[\n\r\t]")  # typed key by key they leave the field or hand it in
WEIGHED = BUTTONS | {"link"}
SURE = 0.5  # a prediction that is less sure than this holds no action
ROWS = ("row", "listitem", "article")
TELLING = ("status", "alert", "log")


@dataclass(frozen=True)
class GuardVerdict:
    """What the guard says of an action: its risk, or None. `passed_by`: the rule of a policy that calls it harmless,
    or what was learned, though the guard's own rules see a risk."""

    risk: Risk | None
    passed_by: str = ""


@dataclass(frozen=True)
class SeenControl:
    """What the page says of an action: the name and role of its control, the risk that the guard finds there.
    `looks_risky`: that, or words, a price or a button by which a person should look, though the guard lets it pass.
    `passed_by`: why it passes though a rule of the guard sees a risk."""

    operation: str
    name: str = ""
    role: str = ""
    risk: Risk | None = None
    looks_risky: bool = False
    passed_by: str = ""


def judge(
    root: Element | None,
    action: Action,
    *,
    website: str = "",
    url: str = "",
    rules: Sequence[PolicyRule] = (),
    prediction: Prediction | None = None,
    learned: LearnedPart | None = None,
) -> GuardVerdict:
    """Whether an action on a page is risky. `root` is the page, None where it cannot be read; `rules` are the website's
    policy, `prediction` what the world model expects the action to change; `learned` weighs what the page says
    beside the rules of the guard."""
    return decided(look(root, action, learned), rules, website, url, foreseen_risk(action, prediction))


def look(root: Element | None, action: Action, learned: LearnedPart | None = None) -> SeenControl:
    """What the page says of an action, before any rule of a policy and any prediction."""
    if root is None or action.operation not in CAN_COMMIT:
        found = acted_on(root, action.node_id)[:1] if root is not None and action.node_id else []
        return SeenControl(action.operation, *(_called(found[0]) if found else ()))
    controls = acted_on(root, action.node_id) if action.node_id else []
    if not controls:
        return SeenControl(action.operation, risk=_of_no_element(root, action))
    by_rules = _of_page(controls, action)
    risk, passed_by = _weighed(controls[0], action, by_rules, learned) if learned is not None else (by_rules, "")
    looks = (risk or by_rules) is not None or (_presses(controls[0], action) and _says_more(controls[0]))
    return SeenControl(action.operation, *_called(controls[0]), risk, looks, passed_by)


def _weighed(main: Element, action: Action, by_rules: Risk | None, learned: LearnedPart) -> tuple[Risk | None, str]:
    """The risk of an action once what is learned has weighed it, and why it passes where rules see one."""
    if (used := _used(main, action)) is None:
        return by_rules, ""
    evidence = used.evidence()
    if by_rules is None:
        return learned.risk_of(name_of(used.control) or name_of(main), evidence), ""
    passed_by = learned.passes(evidence) if by_rules.kind not in SURE_KINDS else ""
    return (None if passed_by else by_rules), passed_by


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
    risk = seen.risk or foreseen
    return GuardVerdict(risk, "" if risk else seen.passed_by)


def name_of(element: Element) -> str:
    """What an element is called, as it is shown."""
    return next(iter(names_of(element)), "")[:LONGEST]


def _called(element: Element) -> tuple[str, str]:
    return name_of(element), role_of(element)


def _of_no_element(root: Element, action: Action) -> Risk | None:
    """The risk of a key without an element: the focus may be in any form."""
    is_key = action.operation == "PRESS" and _key(action) in PRESSING
    if action.node_id is None and (is_key or (action.operation == "TYPE" and KEYS_IN_TEXT.search(action.value))):
        return next((risk for form in root.iter("form") if (risk := of_buttons(form))), None)
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
    if operation == "TYPE" or (operation != "CLICK" and role_of(main) not in BUTTONS and is_field(main)):
        return _of_entering(main, action.value) if _hands_in(main, action) else of_filling(main)
    if not _presses(main, action):
        return None
    return next((risk for one in controls if (risk := of_control(one, _names_in(one, main)))), None)


@dataclass(frozen=True)
class _Used:
    """The control that an action uses in the end, with all that it is called."""

    control: Element
    names: list[str]
    by_enter: bool = False

    def evidence(self) -> dict[str, float]:
        return evidence_of(self.control, self.names, self.by_enter)


def weighed(root: Element, action: Action) -> dict[str, float]:
    """What speaks for or against the risk of an action, for the learned part to weigh; nothing where the action uses
    no control, or one of which the rules are sure that it decides nothing."""
    controls = acted_on(root, action.node_id) if action.node_id else []
    used = _used(controls[0], action) if controls and action.operation in CAN_COMMIT else None
    return used.evidence() if used is not None else {}


def _used(main: Element, action: Action) -> _Used | None:
    """The control that an action presses, by Enter in a field the first that hands it in; None where it presses none
    that could decide something."""
    if action.operation in ("SELECT", "DRAG") or tag_of(main) == "option":
        return None
    if is_field(main) and role_of(main) not in BUTTONS:
        return _used_by_enter(main) if action.operation != "CLICK" and _hands_in(main, action) else None
    if not _presses(main, action) or only_opens(main) or not (role_of(main) in WEIGHED or reacts(main)):
        return None
    names = names_of(main)
    said = vocabulary.HARMLESS.sub(" ", next(iter(names), "")).strip()
    return None if decides_nothing(main, said) or leads_to_a_page(main) else _Used(main, names)


def _used_by_enter(field: Element) -> _Used | None:
    form = form_around(field)
    buttons = list(islice(buttons_of(form), PRESSED)) if form is not None else []
    pressed = next(filter(submits, buttons), next(iter(buttons), None))
    if pressed is not None:
        return None if leads_to_a_page(pressed) else _Used(pressed, names_of(pressed), by_enter=True)
    return None if _seeks(field) else _Used(field, [field_name(field)], by_enter=True)


def _seeks(field: Element) -> bool:
    return field.get("type") == "search" or page_words.SEEKS.search(field_name(field)) is not None


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


def _of_entering(field: Element, typed: str) -> Risk | None:
    """What the enter key in a field does: what the buttons around it do, else what is said of the field itself, as a
    chat needs no button."""
    form = form_around(field)
    if risk := of_buttons(form, typed=field):
        return risk
    name = field_name(field)
    if _seeks(field):
        return None
    risk = said_on(field, name, page_words.WRITTEN_IN, "hands in what is typed and says")
    risk = risk or said_on(field, name, ALWAYS, "is entered and says")
    risk = risk or said_on(field, plain(typed), page_words.COMMANDS, "is a command that says")
    if risk or (form is not None and next(buttons_of(form), None) is not None):
        return risk
    return _of_form_without_buttons(field, form) or told_around(field, "")


def _of_form_without_buttons(field: Element, form: Element | None) -> Risk | None:
    if form is None or tag_of(form) != "form" or is_search(form) or is_sign_in(form):
        return None
    said = who_is_told_of(form, field)
    return Risk("personal", f"Enter hands in “{said}” of a person", "page") if said else None


def _of_choice(element: Element, chosen: str) -> Risk | None:
    """The risk of choosing from a list: by the words of what is chosen; where the page tells that the list hands in its
    form, also by the form's buttons."""
    risk = said_on(element, vocabulary.HARMLESS.sub(" ", plain(chosen)), ALWAYS, "chooses")
    if risk and not _waits_for_a_button(element):
        return risk
    if "submit" not in (element.get("onchange") or ""):
        return of_filling(element)
    return of_buttons(form_around(element)) or told_around(element, "")


def _waits_for_a_button(element: Element) -> bool:
    """Whether what is chosen is used by the button beside its list ("Apply"), and the list does nothing itself."""
    beside = form_around(element)
    buttons = islice(buttons_of(beside), PRESSED) if beside is not None else ()
    applies = any(page_words.APPLIES.match(name) for one in buttons for name in names_of(one))
    return applies and not element.get("onchange") and element.get("has_handler") != "true"


def _of_drag(element: Element, action: Action) -> Risk | None:
    """The risk of pulling something: by its words, or those around its handle ("Slide to pay"), and by the words of
    what it is dropped on."""
    block = element if text_of(element) else block_of(element)
    name = text_of(block) if block is not None else ""
    by_kind = (ALWAYS, ON_A_BUTTON, IN_A_FORM) if vocabulary.SLIDES.match(name) else (ALWAYS,)
    risks = [said_on(element, name, table) for table in by_kind] if len(name) <= SHORT else []
    dropped = acted_on(element.getroottree().getroot(), action.value) if action.value.isdecimal() else []
    onto = [said_on(one, text_of(one), ALWAYS) for one in dropped[:1] if len(text_of(one)) <= SHORT]
    return next(filter(None, (*risks, *onto)), None)


def _says_more(element: Element) -> bool:
    """Whether a control that the guard lets pass has a word of risk, a price or a word of finality, or hands in a
    form."""
    name = name_of(element)
    if PRICE.search(name) or finality(element):
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
        for kind, pattern in page_words.HAPPENED.items():
            if pattern.search(fact):
                return Risk(kind, f"the world model expects “{fact}” to appear", "prediction", sure)
    gone = [fact.removeprefix("removed ") for fact in facts if fact.startswith("removed ")]
    rows = [fact for fact in gone if fact.startswith(ROWS)]
    if len(rows) == 1 and all(fact.startswith(TELLING) for fact in added):
        return Risk("delete", f"the world model expects “{rows[0]}” to vanish", "prediction", sure)
    return None
