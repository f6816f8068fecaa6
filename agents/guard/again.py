"""Whether an action that a person approved still is what they approved, as pages change while they think. Core."""

from agents.guard.controls import acted_on, around, dialog_of, names_of, role_of, text_of
from agents.guard.judging import look
from agents.guard.policy import CAN_COMMIT
from agents.guard.pressing import LONGEST
from agents.guard.vocabulary import PRICE
from agents.types import Action
from annotations.dom.limits import PageError
from annotations.dom.tree import Element, parse, tag_of


def what_changed(before: str, now: str, action: Action) -> str:
    """What of the control of an action is another on a page now than on the page that was judged, in words, "" for
    nothing: what it is called, its role, the elements around it, why it is risky, the prices near it."""
    if action.node_id is None or action.operation not in CAN_COMMIT:
        return ""
    try:
        was, told = parse(before), parse(now)
    except PageError:
        return "the page cannot be read any more"
    old, new = acted_on(was, action.node_id), acted_on(told, action.node_id)
    if not old:
        return ""  # nothing was shown of it that could be another
    if not new:
        return "its element is not on the page any more"
    first, then = _called(old[0]), _called(new[0])
    if first != then:
        return f"what was {first!r} is {then!r} now"
    if _place(old[0]) != _place(new[0]) or [*map(_called, old)] != [*map(_called, new)]:
        return f"{then!r} is at another place of the page now"
    if look(was, action).risk != look(told, action).risk:
        return f"the page says something else of {then!r} now"
    if _prices(old[0]) != _prices(new[0]):
        return f"the prices beside {then!r} are others now: {', '.join(_prices(new[0])) or 'none'}"
    return ""


def _called(element: Element) -> str:
    return f"{role_of(element)} {' / '.join(names_of(element))[:LONGEST]}".strip()


def _place(element: Element) -> list[str]:
    """The elements around it by their tags: their numbers among others change with every notice that comes and goes."""
    return [tag_of(one) for one in element.iterancestors()]


def _prices(element: Element) -> list[str]:
    """The prices in its dialog, or near it."""
    dialog = dialog_of(element)
    return sorted(PRICE.findall(text_of(dialog) if dialog is not None else around(element)))
