"""Things that are looked for: the row, the flight, the result, the number that the goal describes."""

import re

from agents.environments.oracles.solving import (
    OraclePage,
    click,
    first,
    matched,
    press,
    submit,
    text_of,
    type_into,
    value_of,
)
from agents.types import Action
from annotations.dom.tree import Element


def parity(page: OraclePage) -> Action | None:
    for row in page.all(css="row"):
        number = next(int(text_of(one)) for one in row.iter("div") if one.get("class") == "display-number")
        button = next(
            one for one in row.iter("button") if one.get("class", "").split()[0] == ("odd" if number % 2 else "even")
        )
        if not page.acted_on(button):
            return click(button)
    return click(submit(page))


def contact(page: OraclePage) -> Action | None:
    name = page.between("Find ", " in the")
    heading = page.one("h2", "name")
    if heading is not None and text_of(heading) == name:
        return click(page.one("a", page.between("on their ", ".").split()[0]))
    following = page.saying(">", "a")
    return click(following)


def ticket(page: OraclePage) -> Action | None:
    flights = [(measured(page, flight), flight) for flight in page.all(css="flight")]
    if not flights:
        return None
    best = max(flights, key=lambda one: one[0]) if _wants_most(page.goal) else min(flights, key=lambda one: one[0])
    return click(next(best[1].iter("button"), None))


def _wants_most(goal: str) -> bool:
    return any(word in goal for word in ("longest", "most expensive", "latest", "greatest"))


def measured(page: OraclePage, flight: Element) -> float:
    text = text_of(flight)
    if "price" in page.goal or "cheap" in page.goal or "expensive" in page.goal:
        return float(matched(text, r"\$(\d{1,6})") or 0)
    hours, minutes = re.search(r"(\d{1,3})h", text), re.search(r"(\d{1,3})m", text)
    return 60.0 * int(hours[1] if hours else 0) + int(minutes[1] if minutes else 0)


def found_result(page: OraclePage) -> Action | None:
    """Search, go to the page that holds the asked result (there are three a page), and click it."""
    wanted = int(matched(page.goal, r"the (\d{1,3})(?:st|nd|rd|th) search") or 1) - 1
    field = page.one(id="search-text")
    if field is not None and value_of(field) != page.quoted()[0]:
        return type_into(field, page.quoted()[0])
    results = page.all("a", "search-title") or [next(one.iter("a")) for one in page.all(css="search-item")]
    if not results:
        return click(page.one(id="search"))
    active = int(text_of(next(iter(page.all("li", "active")))) or 1) - 1
    if active == wanted // 3:
        return click(results[wanted % 3])
    place = str(wanted // 3 + 1)
    return click(first(page.saying(place, "a", "page-link"), page.saying(">", "a", "page-link")))


def generated(page: OraclePage) -> Action | None:
    shown = page.one(id="display-number")
    text = text_of(shown) if shown is not None else "-"
    if re.fullmatch(r"-?\d{1,6}", text) and _fits(int(text), page.goal):
        return click(page.one(id="submit"))
    return click(page.one(id="generate"))


def _fits(number: int, goal: str) -> bool:
    limit = matched(goal, r"(?:than|to) (-?\d{1,6})")
    if "less than" in goal:
        return number < int(limit)
    if "greater than" in goal:
        return number > int(limit)
    return number % 2 == (1 if "odd" in goal else 0)


def guessed(page: OraclePage) -> Action | None:
    """Guess the number by halving the range that the answers to earlier guesses leave."""
    low, high, last, field = 0, 9, None, page.one("input")
    shown = page.one(id="feedback")
    feedback = text_of(shown) if shown is not None else ""
    typed = [int(action.value) for action in page.done if action.operation == "TYPE"]
    for guess, following in zip(typed, [*typed[1:], None][: len(typed)], strict=True):
        higher = following > guess if following is not None else "higher" in feedback
        if following is None and (not page.done or page.done[-1].operation == "TYPE"):
            last = guess
            break
        low, high = (guess + 1, high) if higher else (low, guess - 1)
    return click(page.one(id="subbtn")) if last is not None else type_into(field, str((low + high) // 2))


def shell(page: OraclePage) -> Action | None:
    """List the files with `ls`, then delete the one with the asked ending by `rm`; the terminal takes single keys."""
    field = page.one(id="terminal-target")
    if not page.done:
        return type_into(field, "ls")
    if len(page.done) == 1 or page.done[-1].operation == "TYPE":
        return press(field, "Enter")
    ending = matched(page.goal, r"extension (\.[\w.]{1,10})")
    outputs = [text_of(one).split() for one in page.all(css="output")]
    files = outputs[-1] if outputs else []
    name = next((one for one in files if (one.endswith(ending) if ending else "." not in one)), "")
    return type_into(field, f"rm {name}")
