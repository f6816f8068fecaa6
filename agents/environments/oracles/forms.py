"""Controls that open: forms of several kinds, menus, calendars."""

import re

from agents.environments.oracles.finding import measured
from agents.environments.oracles.solving import (
    OraclePage,
    click,
    fill,
    first,
    matched,
    ordinal,
    submit,
    text_of,
    type_into,
    value_of,
)
from agents.types import Action
from annotations.dom.tree import NODE_ID


def form_of_radio(page: OraclePage) -> Action | None:
    """Choose the radio button and fill in the field that the goal names by their places: 'Check the 1st radio button
    and enter the number "27" into the 2nd textbox.'"""
    first, _, second = page.goal.partition(" and enter")
    radio = page.all("input", kind="radio")[ordinal(first)]
    field = page.all("input", kind="text")[ordinal(second)]
    if not radio.get("input_checked"):
        return click(radio)
    return fill(page, [(field, page.quoted()[0])], submit(page))


def menu(page: OraclePage) -> Action | None:
    """Open the menu level by level, by pointing at each item of the path, and click the last one."""
    names = page.between("Select ", "").split(">")
    opened = [action for action in page.done if action.operation == "HOVER"]
    wanted = names[len(opened)] if len(opened) < len(names) else names[-1]
    item = page.saying(wanted, css="ui-menu-item-wrapper")
    if item is None:
        return None
    return click(item) if len(opened) == len(names) - 1 else Action("HOVER", item.get(NODE_ID))


def picked_date(page: OraclePage) -> Action | None:
    """Open the calendar, go to the month, click the day."""
    month, day, year = (int(part) for part in matched(page.goal, r"(\d{2}/\d{2}/\d{4})").split("/"))
    field = page.one(id="datepicker")
    if field is not None and value_of(field) == f"{month:02}/{day:02}/{year}":
        return click(first(submit(page), page.one(id="search")))
    shown_month, shown_year = page.one(css="ui-datepicker-month"), page.one(css="ui-datepicker-year")
    if shown_month is None or shown_year is None:
        return click(field)
    there = int(text_of(shown_year)) * 12 + MONTHS.index(text_of(shown_month))
    wanted = year * 12 + month - 1
    if there != wanted:
        return click(page.one(css="ui-datepicker-prev" if there > wanted else "ui-datepicker-next"))
    return click(page.saying(str(day), "a", "ui-state-default"))


def flight(page: OraclePage) -> Action | None:
    """Fill in where the flight goes from and to, by what is suggested, and the date; then book the best one."""
    flights = page.all(css="flight")
    if flights:
        best = min(flights, key=lambda one: measured(page, one))
        return click(next(best.iter("button"), None))
    ends = (page.between("from: ", " to: "), page.between(" to: ", " on "))
    for name, field in zip(ends, (page.one(id="flight-from"), page.one(id="flight-to")), strict=True):
        if field is None or value_of(field).endswith(")"):
            continue
        said = [item for item in page.all(css="ui-menu-item-wrapper") if name in re.split(r" \(|\)", text_of(item))]
        return click(said[0]) if said else type_into(field, name)
    return picked_date(page)


MONTHS = """
    January February March April May June July August September October November December
""".split()
