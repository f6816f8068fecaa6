"""Controls that the invented websites share: fields, choices, calendars, dialogs."""

import calendar as months
import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from annotations.sample.nodes import NodeContent, NodeEffect, SampleNode, VisitState, el

TODAY = date(2026, 6, 1)  # a Monday; every sample page is seen on this day

ICONS = {
    "search": "M10 4a6 6 0 1 0 0 12a6 6 0 1 0 0-12M15 15l5 5",
    "user": "M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4 21c0-5 4-7 8-7s8 2 8 7",
    "bag": "M5 8h14l1 13H4zM8 8a4 4 0 0 1 8 0",
    "heart": "M12 20C5 15 3 11 4 8c1-4 6-4 8 0c2-4 7-4 8 0c1 3-1 7-8 12",
    "close": "M5 5l14 14M19 5L5 19",
    "calendar": "M4 6h16v15H4zM4 11h16M8 3v5M16 3v5",
    "pin": "M12 21c-5-6-7-9-7-12a7 7 0 0 1 14 0c0 3-2 6-7 12M12 7a2 2 0 1 0 0 4a2 2 0 1 0 0-4",
    "star": "M12 3l3 6 6 1-5 4 2 7-6-4-6 4 2-7-5-4 6-1z",
    "phone": "M5 4h4l2 5-3 2a11 11 0 0 0 5 5l2-3 5 2v4c-9 1-16-6-15-15",
    "train": "M7 4h10v13H7zM7 11h10M9 17l-2 4M15 17l2 4M10 7h4",
    "moon": "M18 15A8 8 0 0 1 9 5a8 8 0 1 0 9 10",
    "leaf": "M5 20C4 9 10 4 20 4c0 10-5 15-13 13M5 20c2-6 5-9 9-11",
    "check": "M4 12l6 6L20 6",
    "clock": "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 7v5l4 2",
    "mail": "M3 6h18v13H3zM3 6l9 7 9-7",
    "house": "M3 11l9-8 9 8v10H3zM9 21v-6h6v6",
    "file": "M6 3h8l5 5v13H6zM14 3v5h5",
    "menu": "M4 7h16M4 12h16M4 17h16",
}


def slug(text: str) -> str:
    """Lower-case words joined by hyphens, as scripts name elements."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


def icon(name: str) -> SampleNode:
    """A line drawing."""
    return el(f"svg.icon.icon-{name}", el("path", d=ICONS[name]), viewBox="0 0 24 24")


def link(
    content: NodeContent, key: str = "", on: NodeEffect | None = None, *, cls: str = "", **attributes: Any
) -> SampleNode:
    """A hyperlink; without an effect it only furnishes the page."""
    address = on.get("page", "") if on else slug(content) if isinstance(content, str) else ""
    return el("a" + cls, content, key=key, on=on, href=f"/{address}", **attributes)


def button(
    content: NodeContent, key: str = "", on: NodeEffect | None = None, *, cls: str = "", **attributes: Any
) -> SampleNode:
    """A push button."""
    return el("button" + cls, content, key=key, on=on, type="button", **attributes)


def links(names: Sequence[str], cls: str = "") -> SampleNode:
    """A list of plain links."""
    return el("ul" + cls, [el("li", link(name)) for name in names])


def entry(
    s: VisitState,
    key: str,
    label: str,
    *,
    kind: str = "text",
    placeholder: str = "",
    hint: str = "",
    then: NodeEffect | None = None,
    on: NodeEffect | None = None,
) -> SampleNode:
    """A labelled text field for variable `key`; `then` follows typing, `on` a click or the enter key."""
    tag = "textarea" if kind == "area" else "input"
    value: dict[str, Any] = (
        {"input_value": s[key]} if tag == "textarea" else {"value": s[key], "input_value": s[key], "type": kind}
    )
    control = el(tag, key=key, field=key, then=then, on=on, id=f"f-{key}", name=key, placeholder=placeholder, **value)
    return el("div.field", el("label", label, for_=f"f-{key}"), el("small.hint", hint) if hint else None, control)


def suggest(s: VisitState, key: str, label: str, options: Sequence[str], *, placeholder: str = "") -> SampleNode:
    """A text field that offers matching `options` once something is typed."""
    field = entry(s, key, label, placeholder=placeholder, then={"picker": key})
    if s["picker"] == key:
        found = [name for name in options if s[key].lower() in name.lower()] or list(options)
        items = [
            el("li", name, key=f"{key}-{slug(name)}", on={key: name, "picker": ""}, role="option") for name in found[:6]
        ]
        field.children.append(el("ul.popover.options", items, role="listbox", aria_label=f"{label} suggestions"))
    return field


def choose(
    s: VisitState, key: str, label: str, options: Sequence[str], *, then: NodeEffect | None = None
) -> SampleNode:
    """A labelled drop-down for variable `key`; the first option stands until another is selected."""
    current = s[key] or options[0]
    items = [el("option", name, value=slug(name) or "any", option_selected=name == current) for name in options]
    control = el("select", items, key=key, field=key, then=then, id=f"f-{key}", name=key)
    return el("div.field", el("label", label, for_=f"f-{key}"), control)


def check(s: VisitState, key: str, *label: NodeContent) -> SampleNode:
    """A checkbox inside its label: a click on either toggles variable `key`."""
    on = {key: "" if s[key] else "yes"}
    box = el("input", key=key, on=on, type="checkbox", name=key, input_checked=bool(s[key]))
    return el("label.check", box, el("span", *label), on=on)


def radio(s: VisitState, key: str, value: str, *label: NodeContent, default: bool = False) -> SampleNode:
    """One choice of variable `key`, named `key-value` in scripts."""
    on = {key: value}
    picked = s[key] == value or (default and not s[key])
    dot = el(
        "input", key=f"{key}-{slug(value)}", on=on, type="radio", name=key, value=slug(value), input_checked=picked
    )
    return el("label.check", dot, el("span", *(label or (value,))), on=on)


def stepper(s: VisitState, key: str, label: str, start: int = 0) -> SampleNode:
    """A count with one button to lower and one to raise it (`key-fewer`, `key-more`)."""
    count = int(s[key] or start)
    fewer = button("−", f"{key}-fewer", {key: str(max(count - 1, 0))}, aria_label=f"Fewer {label.lower()}")
    more = button("+", f"{key}-more", {key: str(count + 1)}, aria_label=f"More {label.lower()}")
    return el("div.stepper.row", el("span", label), el("div.count.row", fewer, el("output", str(count)), more))


def day_name(day: date) -> str:
    """`Fri 12 June`."""
    return f"{day:%a} {day.day} {day:%B}"


def date_field(s: VisitState, key: str, label: str, *, shown: int = 1, past: bool = False) -> SampleNode:
    """A date button that opens a calendar of `shown` months; days are named `key-12-june`.

    `past`: the month before today instead of the days from today on. What is open above a dialog is kept in
    `picker`, apart from the dialog in `popup`.
    """
    face = button([icon("calendar"), s[key] or "Choose a date"], key, {"picker": key}, cls=".date", id=f"f-{key}")
    field = el("div.field", el("label", label, for_=f"f-{key}"), face)
    if s["picker"] == key:
        first = TODAY.month - 1 if past else TODAY.month
        pages = [_month(s, key, first + offset) for offset in range(shown)]
        field.children.append(
            el(f"div.popover.calendar.cols-{shown}", pages, role="dialog", aria_label=f"{label}: choose a date")
        )
    return field


def _month(s: VisitState, key: str, month: int) -> SampleNode:
    title = f"{months.month_name[month]} {TODAY.year}"
    week = el("tr", [el("th", name, scope="col") for name in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")])
    rows = []
    for days in months.Calendar().monthdatescalendar(TODAY.year, month):
        rows.append(el("tr", [_day(s, key, day) if day.month == month else el("td") for day in days]))
    return el("div.month", el("strong", title), el("table", el("thead", week), el("tbody", rows)), key=f"{key}-{month}")


def _day(s: VisitState, key: str, day: date) -> SampleNode:
    name = day_name(day)
    face = button(
        str(day.day),
        f"{key}-{day.day}-{day:%B}".lower(),
        {key: name, "picker": ""},
        cls=".picked" if s[key] == name else "",
        aria_label=f"{day:%A} {day.day} {day:%B} {day.year}",
    )
    return el("td", face)


def dialog(title: str, *content: NodeContent, key: str) -> SampleNode:
    """A modal window over the page, with a close button named `key-close`."""
    close = button(icon("close"), f"{key}-close", {"popup": ""}, cls=".close", aria_label="Close")
    window = el(
        "div.dialog", el("div.dialog-head.row", el("h2", title), close), *content, role="dialog", aria_label=title
    )
    return el("div.overlay", window, key=key)


def facts(pairs: Sequence[tuple[str, str]], cls: str = "") -> SampleNode:
    """A definition list of names and values."""
    return el("dl.facts" + cls, [el("div.row", el("dt", name), el("dd", value)) for name, value in pairs])


def table(head: Sequence[str], rows: Sequence[SampleNode | Sequence[NodeContent]], caption: str = "") -> SampleNode:
    """A data table; each row is a `tr` node or a sequence of cells."""
    body = [row if isinstance(row, SampleNode) else el("tr", [el("td", cell) for cell in row]) for row in rows]
    return el(
        "table.data",
        el("caption", caption) if caption else None,
        el("thead", el("tr", [el("th", name, scope="col") for name in head])),
        el("tbody", body),
    )
