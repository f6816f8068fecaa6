"""Whether pressing a control is risky: by its words, by what its form or its dialog is about, by what the fields of its
form hold, and by what the page says around it. Core."""

import re
from collections.abc import Mapping, Sequence

from agents.guard import beginnings, page_words, vocabulary
from agents.guard.button_words import ON_A_BUTTON
from agents.guard.consequences import consequence, is_reassuring, told_near
from agents.guard.controls import (
    BUTTONS,
    FIELDS,
    SHORT,
    around,
    block_of,
    buttons_of,
    dialog_of,
    form_of,
    has_fields,
    is_of_a_list,
    is_search,
    is_toggle,
    leads_nowhere,
    names_of,
    native_form,
    only_acts,
    only_opens,
    pictured,
    reacts,
    role_of,
    submits,
    text_of,
)
from agents.guard.fields import has_a_message, is_about_somebody, is_sign_in, who_is_told_of
from agents.guard.page_words import FINAL
from agents.guard.policy import Risk
from agents.guard.vocabulary import ALWAYS, IN_A_FORM, PRICE, plain
from annotations.dom.tree import Element, tag_of

LONGEST = 120  # characters of a name that is shown
SURE_KINDS = ("pay", "delete")
"""By the words of a button these hold also where the page says that nothing is done yet, or where what was learned
takes the control for a harmless one."""
DANGER = re.compile(r"(?<![a-z])(?:danger|destructive)(?![a-z])", re.IGNORECASE)  # in classes of a button
FEW = 3  # buttons of a dialog: more of them are choices
PRESSED = 20  # buttons of a form, from the first on, that Enter may press: a page may have any number
ASKED = 400  # characters of what stands around a yes


def of_buttons(form: Element | None, typed: Element | None = None) -> Risk | None:
    """What the enter key in a form, or in a field of it (`typed`), does: any of the buttons that hand it in may be the
    one that it presses, where a script chooses; without one it is the first."""
    buttons = list(buttons_of(form)) if form is not None else []
    pressed = [one for one in buttons if submits(one)] or buttons
    found = (of_control(one, names_of(one), typed) for one in pressed[:PRESSED])
    return next(filter(None, found), None)


def of_filling(field: Element) -> Risk | None:
    """The risk of what is typed, chosen or ticked where the page says that it is used without another press."""
    near = told_near(field)
    if not page_words.AT_ONCE.search(near):
        return None
    return told_around(field, "") or said_on(field, near, ALWAYS, "stands beside what is used at once and says")


def of_control(element: Element, names: Sequence[str], typed: Element | None = None) -> Risk | None:
    """The risk of pressing a control: that of the first of its names that has one. `typed`: a field that is filled as
    the control is pressed."""
    if tag_of(element) in FIELDS and role_of(element) not in BUTTONS:
        return of_filling(element)
    if tag_of(element) == "label" and not reacts(element):
        return None  # hands the click to its control, which is judged, or ticks a box
    called = names or (pictured(element),)
    return next((risk for name in called if (risk := _of_name(element, name, typed))), None)


def _of_name(element: Element, name: str, typed: Element | None = None) -> Risk | None:
    role = role_of(element)
    if only_opens(element):
        return None
    acts = leads_nowhere(element) if role == "link" else reacts(element)
    is_button = role in BUTTONS or (acts and len(name) <= SHORT)
    if not is_button and ((role != "link" and len(name) > SHORT) or beginnings.HELPS.search(name)):
        return None
    said = vocabulary.HARMLESS.sub(" ", name).strip()
    if decides_nothing(element, said):
        return None
    # however the name begins: "Continue and pay"
    if (risk := said_on(element, said, ALWAYS)) or not is_button:
        is_step = role == "link" and not (risk and risk.kind in SURE_KINDS and leads_nowhere(element))
        return None if is_step and is_reassuring(element) else risk
    if beginnings.REFUSES.match(said) and not any(ON_A_BUTTON[kind].search(said) for kind in ("delete", "send")):
        is_answer = beginnings.TURNS_DOWN.match(said) is not None
        return (_of_reply(element, said) if is_answer else None) or (told_around(element, said) if said else None)
    is_answer = beginnings.ANSWERS_WITH.fullmatch(said) is not None
    return (
        _of_answer(element, said)
        or _of_button(element, said, typed)
        or (_of_reply(element, said) if is_answer else None)
    )


def decides_nothing(element: Element, said: str) -> bool:
    """Whether a control is turned on and off, asks how something is done or whether it is meant, says how it is undone,
    takes out of a list, or calls off what was not done yet."""
    if is_toggle(element) and not any(one.search(said) for one in ALWAYS.values()):
        return True
    if beginnings.ASKED_HOW.match(said) or (beginnings.TAKES_OUT.fullmatch(said) and is_of_a_list(element)):
        return True
    if not submits(element) and (page_words.CAN_UNDO.search(said) or page_words.ASKS_FIRST.search(told_near(element))):
        return True
    return beginnings.CALLS_OFF.match(said) is not None and _is_not_done_yet(element)


def leads_to_a_page(element: Element) -> bool:
    """Whether a button looks something up, or hands in the first of several steps."""
    native = native_form(element)
    if native is not None and is_search(native) and submits(element):
        return True
    return not submits(element) and page_words.MORE_STEPS.search(told_near(element)) is not None


def hands_over(element: Element, name: str) -> str:
    """How a control so called hands in what the fields of its form tell of a person or a message, "" for not at all."""
    if (form := form_of(element)) is None:
        return ""
    if beginnings.HANDS_ON.match(name) and _handed_on(element, name, form, None):
        return "leads on"
    return "ends" if _handed_in(element, name, form, None) else ""


def _of_reply(element: Element, name: str) -> Risk | None:
    """The risk of a yes or no for which somebody waits, as the page says."""
    near = told_near(element)
    if page_words.ANSWERS.search(near) and "cookie" not in near.lower():
        return Risk("send", f"“{name[:LONGEST]}” answers somebody" + finality(element), "page")
    return None


def _of_button(element: Element, name: str, typed: Element | None) -> Risk | None:
    """The risk of a button by its own words and those of its form, else by what the fields of its form hold."""
    form = form_of(element)
    if leads_to_a_page(element):
        return None
    if form is not None and beginnings.HANDS_ON.match(name) and (risk := _handed_on(element, name, form, typed)):
        return risk
    clauses = vocabulary.CLAUSES.split(name)
    if risk := next((risk for one in clauses[1:] if (risk := said_on(element, one, ON_A_BUTTON))), None):
        return risk
    is_early = not submits(element) and is_reassuring(element)
    risk = None if beginnings.GOES_ON.match(name) else _of_words(element, name, form)
    if risk is not None and (not is_early or risk.kind in SURE_KINDS):
        return risk
    if is_early:
        return None
    if form is not None and (risk := _handed_in(element, name, form, typed)):
        return risk
    return None if is_reassuring(element) else told_around(element, name) or _ends_something(element, form)


def _ends_something(element: Element, form: Element | None) -> Risk | None:
    """The risk of a button that ends something, whatever it is called, unless one of its names says that it leaves,
    looks or leads on: it sends something by itself, hands in by post, or it is one of the few that a dialog asks by."""
    names = names_of(element)
    if not names or any(_leaves_all_as_it_is(name) for name in names):
        return None
    native = native_form(element)
    how = ""
    if element.get("sends") == "true":
        how = "sends something by itself"
    elif DANGER.search(element.get("class") or ""):
        how = "is drawn as a danger"
    elif native is not None and submits(element) and not is_search(native) and not _lets_in(native):
        is_post = (native.get("method") or "").lower() == "post"
        how = "hands in a form" if is_post or not has_fields(native) else ""
    elif (dialog := dialog_of(element)) is not None and _asks_by_few(dialog):
        said = text_of(dialog, without_controls=True)
        how = "ends a dialog" if len(said) > SHORT / 3 and "cookie" not in said.lower() else ""
    return Risk("order", f"“{names[0][:LONGEST]}” {how}" + finality(element), "page") if how else None


def _asks_by_few(dialog: Element) -> bool:
    """Whether a dialog has no more than a few buttons, one of which refuses, so that another one agrees."""
    names = [_called(one) for one in buttons_of(dialog)]
    return len(names) <= FEW and any(beginnings.REFUSES.match(one) for one in names)


def _leaves_all_as_it_is(name: str) -> bool:
    said = vocabulary.HARMLESS.sub(" ", name).strip()
    tables = (beginnings.UNCONCERNED, beginnings.GOES_ON, beginnings.STAYS, beginnings.LEADS_AWAY, beginnings.LEADS_ON)
    return any(one.match(said) for one in tables) or vocabulary.LEADS_TO.search(said) is not None


def _is_not_done_yet(element: Element) -> bool:
    """Whether a button beside this one goes on with what this one calls off."""
    block = next((one for one in element.iterancestors() if len([*buttons_of(one)]) > 1), None)
    return block is not None and any(
        beginnings.GOES_THROUGH.match(_called(one)) for one in buttons_of(block) if one is not element
    )


def told_around(element: Element, name: str) -> Risk | None:
    """The risk that the page tells of around a button."""
    if (told := consequence(element, name)) is None:
        return None
    kind, said = told
    return Risk(kind, f"beside “{name[:LONGEST]}” the page says “{said}”", "page")


def _of_words(element: Element, name: str, form: Element | None) -> Risk | None:
    """The risk of a button by its words: those that hold anywhere, those with a price, those that hold where something
    ends: a form, or a page that sums up or asks."""
    if risk := said_on(element, name, ON_A_BUTTON):
        return risk
    if PRICE.search(name) and (found := vocabulary.OF_A_PRICE.search(name)):
        return Risk("pay", f"“{name[:LONGEST]}” says “{found[0]}” and a price" + finality(element), "page")
    if form is not None and (has_fields(form) or not vocabulary.LEADS_TO.search(name)):
        return said_on(element, name, IN_A_FORM, "ends a form and says")
    if _sums_up(element) and not vocabulary.LEADS_TO.search(name):
        return said_on(element, name, IN_A_FORM, "stands below what it is about and says")
    return None


def _sums_up(element: Element) -> bool:
    """Whether what stands near a button sums up what comes of it, says that it is for good, or its dialog asks."""
    near, dialog = around(element), dialog_of(element)
    if page_words.SUMMARY.search(near) or FINAL.search(near):
        return True
    asked = text_of(dialog, without_controls=True)[:ASKED] if dialog is not None else ""
    return "?" in asked or page_words.ABOUT_TO.search(asked) is not None


def _of_answer(element: Element, name: str) -> Risk | None:
    """The risk of a button that says yes: what the dialog, or the block around it, asks or says that will happen."""
    dialog = dialog_of(element)
    agrees = beginnings.AGREES.match(name) or not re.search(r"\w\w", name)
    if dialog is None and not agrees:
        return None
    if dialog is not None and not agrees and not beginnings.HANDS_ON.match(name):
        return None
    block = dialog if dialog is not None else block_of(element)
    if block is None:
        return None
    asked = plain(f"{block.get('aria_label') or ''} {text_of(block, without_controls=True)}")[:ASKED]
    is_final = FINAL.search(asked) is not None
    for sentence in re.findall(r"[^.?!]+[.?!]?", vocabulary.HARMLESS.sub(" ", asked)):
        if risk := _of_sentence(sentence.strip(), is_final):
            why = f"“{name[:LONGEST]}” answers “{sentence.strip()[:LONGEST]}”" + finality(element)
            return Risk(risk, why, "page")
    return None


def _of_sentence(sentence: str, is_final: bool) -> str | None:
    """The kind of risk of a yes to a sentence: a question may have any word of risk, another sentence only those that
    leave no doubt, as a heading or where the page says that it is for good."""
    tables = [page_words.WILL_BE]
    if sentence.endswith("?") or page_words.ABOUT_TO.search(sentence):
        tables += [ALWAYS, IN_A_FORM]
    elif is_final or len(sentence) <= SHORT:
        tables += [ALWAYS]
    return next((kind for table in tables for kind, pattern in table.items() if pattern.search(sentence)), None)


def said_on(element: Element, name: str, by_kind: Mapping[str, re.Pattern[str]], how: str = "says") -> Risk | None:
    """The risk of the first kind of which a name has words."""
    for kind, pattern in by_kind.items():
        if found := pattern.search(name):
            begin = max(0, found.end() - LONGEST)  # of a long name the part that says it is shown
            shown = f"…{name[begin : found.end()]}" if begin else name[:LONGEST]
            return Risk(kind, f"“{shown}” {how} “{found[0]}”" + finality(element), "page")
    return None


def _handed_on(element: Element, name: str, form: Element, typed: Element | None) -> Risk | None:
    """The risk of a button that leads on: its form holds what somebody has typed about a person."""
    if beginnings.LEADS_AWAY.match(name) or is_search(form) or _lets_in(form) or not is_about_somebody(form, typed):
        return None
    return Risk("personal", f"“{name[:LONGEST]}” hands in what the form says of a person" + finality(element), "page")


def _handed_in(element: Element, name: str, form: Element, typed: Element | None) -> Risk | None:
    """The risk of a button that hands in its form, whatever it is called, where the form tells who somebody is or how
    to reach them; not where it only looks something up, changes what is shown or lets somebody in."""
    asks = vocabulary.OFFERED.search(name) is not None
    if not asks and (beginnings.STAYS.match(name) or beginnings.LEADS_AWAY.match(name) or is_search(form)):
        return None
    if not _ends(element, form) or _lets_in(form):
        return None
    if said := who_is_told_of(form, typed):
        return Risk("personal", f"“{name[:LONGEST]}” hands in “{said}” of a person" + finality(element), "page")
    if has_a_message(form, typed) and (submits(element) or tag_of(form) == "form"):
        return Risk("send", f"“{name[:LONGEST]}” hands in what somebody has written" + finality(element), "page")
    return None


def _ends(element: Element, form: Element) -> bool:
    """Whether a control hands in its form: a button that does, or, where no button does by itself, a link that leads
    nowhere, or the last button but those that refuse, which a script has do so."""
    if submits(element):
        return True
    if any(map(submits, buttons_of(form))) or only_acts(element):
        return False
    if role_of(element) == "link":
        return leads_nowhere(element)
    leading = [one for one in buttons_of(form) if not only_acts(one) and not beginnings.REFUSES.match(_called(one))]
    return leading[-1:] == [element]


def _called(element: Element) -> str:
    return next(iter(names_of(element)), "")


def _lets_in(form: Element) -> bool:
    """Whether a form signs in whom the website knows already."""
    headings = (one for one in form.iter("h1", "h2", "h3", "h4", "legend"))
    return is_sign_in(form) or any(page_words.SIGNS_IN.match(text_of(one)) for one in headings)


def finality(element: Element) -> str:
    """What the page says near the element of the action being for good ("cannot be undone"), as the end of a sentence;
    "" for nothing."""
    found = FINAL.search(around(element))
    return f"; the page says “{found[0]}”" if found else ""
