"""Whether an action that somebody proposes as gold makes sense on its recorded page: what is typed or chosen needs a
value, and an element that takes it; what is not, takes none."""

from typing import NamedTuple

from annotations.dom.limits import PageError
from annotations.dom.taking import Taking
from annotations.models import Operation
from annotations.sandbox import page_questions

FILLED = frozenset({"searchbox", "spinbutton", "textbox"})
NAMED = 12  # options that a refusal lists


class GoldFault(NamedTuple):
    """Why an action cannot be gold, and the field of the form or request that is to be changed."""

    field: str
    why: str


def fault_on_page(html: str, operation: str, value: str, node_id: str) -> GoldFault | None:
    """What makes no sense of this action on this page; None for what does. A page that cannot be read, and an
    element of which it says nothing, refuse nothing but a missing value."""
    if operation in (Operation.CLICK, Operation.HOVER) and value.strip():
        return GoldFault("value", f"{operation} takes no value: leave it empty.")
    if operation not in (Operation.TYPE, Operation.SELECT):
        return None
    if not value.strip():
        what = "is typed" if operation == Operation.TYPE else "is chosen"
        return GoldFault("value", f"{operation} needs a value: what {what}.")
    taking = _taking(html, node_id)
    if taking is None:
        return None
    return _typed(taking) if operation == Operation.TYPE else _chosen(taking, value)


def _taking(html: str, node_id: str) -> Taking | None:
    try:
        return page_questions.taking(html, node_id) if html else None
    except PageError:
        return None


def _typed(taking: Taking) -> GoldFault | None:
    if taking.text is not False:
        return None
    instead = "choose its list, and SELECT" if taking.is_option else "choose a field"
    if taking.options:
        instead = "SELECT is what chooses from a list"
    return GoldFault("node_id", f"Nothing can be typed into this element ({taking.role}): {instead}.")


def _chosen(taking: Taking, value: str) -> GoldFault | None:
    if taking.is_option:
        return GoldFault("node_id", "SELECT names the list, not its option: choose the list that the option is in.")
    if taking.role in FILLED:
        return GoldFault("node_id", f"Nothing can be chosen in this element ({taking.role}): TYPE is what fills it.")
    if not taking.options or _plain(value) in map(_plain, taking.options):
        return None
    named = ", ".join(f"“{one}”" for one in taking.options[:NAMED])
    more = f" and {len(taking.options) - NAMED:,} more" if len(taking.options) > NAMED else ""
    return GoldFault("value", f"The list has no such option. It has: {named}{more}.")


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()
