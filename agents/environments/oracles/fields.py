"""Fields to fill: with what the goal quotes, the page shows, or can be computed."""

import re

from agents.environments.oracles.solving import (
    OraclePage,
    click,
    fill,
    first,
    ordinal,
    press,
    submit,
    text_of,
    type_into,
    value_of,
)
from agents.types import Action
from annotations.dom.tree import Element


def quoted_text(page: OraclePage) -> Action | None:
    return fill(page, [(page.one("input"), page.quoted()[0])], submit(page))


def text_in_case(page: OraclePage) -> Action | None:
    text = page.quoted()[0]
    return fill(page, [(page.one("input"), text.upper() if "upper" in page.goal else text.lower())], submit(page))


def password_twice(page: OraclePage) -> Action | None:
    return fill(page, [(field, page.quoted()[0]) for field in page.all("input")], submit(page))


def login(page: OraclePage) -> Action | None:
    cancel = page.one(id="popup-cancel")
    if cancel is not None:
        return click(cancel)
    return fill(page, list(zip(page.all("input"), page.quoted(), strict=False)), submit(page))


def date(page: OraclePage) -> Action | None:
    month, day, year = page.between("Enter ", " as the date").split("/")
    return fill(page, [(page.one("input"), f"{year}-{month}-{day}")], submit(page))


def time(page: OraclePage) -> Action | None:
    clock, half = page.between("Enter ", " as the time").split()
    hour, minute = (int(part) for part in clock.split(":"))
    hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    return fill(page, [(page.one("input"), f"{hour:02}:{minute:02}")], submit(page))


def focus(page: OraclePage) -> Action | None:
    return click(page.all("input")[ordinal(page.goal)])


def word(page: OraclePage) -> Action | None:
    paragraph = page.one("p")
    words = text_of(paragraph).split() if paragraph is not None else []
    wanted = re.search(r"the (\d{1,3})(?:st|nd|rd|th) word", page.goal)
    text = words[int(wanted[1]) - 1].strip(".,") if wanted else ""
    return fill(page, [(page.one("input"), text)], submit(page))


def copied(page: OraclePage) -> Action | None:
    area = page.all("textarea")[ordinal(page.goal)]
    return fill(page, [(page.one("input"), value_of(area))], submit(page))


def table_cell(page: OraclePage) -> Action | None:
    wanted = page.between("value of ", " into")
    return fill(page, [(page.one("input"), _cells(page).get(wanted, ""))], submit(page))


def table_form(page: OraclePage) -> Action | None:
    cells = _cells(page)
    labels = [text_of(label).rstrip(":") for label in page.all("label")]
    return fill(
        page,
        [(field, cells.get(name, "")) for field, name in zip(page.all("input"), labels, strict=False)],
        submit(page),
    )


def _cells(page: OraclePage) -> dict[str, str]:
    rows = [[text_of(cell) for cell in row.iter("td")] for row in page.all("tr")]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def captcha(page: OraclePage) -> Action | None:
    shown = page.one(id="captcha")
    text = "".join(text_of(shown).split()) if shown is not None else ""
    return fill(page, [(page.one("input"), text)], submit(page))


def arithmetic(page: OraclePage) -> Action | None:
    shown = page.one(id="math-problem")
    left, sign, right = text_of(shown).split()[:3] if shown is not None else ("0", "+", "0")
    return fill(page, [(page.one("input"), str(_computed(int(left), sign, int(right))))], submit(page))


def algebra(page: OraclePage) -> Action | None:
    """Solve for x and hand in the answer; the equation is one of `x + 3 = 5`, `3 + x = 5`, `x - 3 = 5`, `3 - x = 5`."""
    shown = page.one(id="math-problem")
    left, sign, right, _, total = text_of(shown).split()[:5] if shown is not None else ("x", "+", "0", "=", "0")
    if left == "x":
        answer = int(total) - int(right) if sign == "+" else int(total) + int(right)
    else:
        answer = int(total) - int(left) if sign == "+" else int(left) - int(total)
    return fill(page, [(page.one("input"), str(answer))], submit(page))


def _computed(left: int, sign: str, right: int) -> int:
    return left + right if sign == "+" else left - right if sign in "-−" else left * right


def blocks(page: OraclePage) -> Action | None:
    return fill(page, [(page.one("input"), str(len(page.all(css="addition-block"))))], submit(page))


def spinner(page: OraclePage) -> Action | None:
    wanted, field = int(page.between("Select ", " with")), page.one(id="spinner")
    there = int(value_of(field) or 0) if field is not None else wanted
    if there == wanted:
        return click(submit(page))
    return click(page.one(css="ui-spinner-up" if there < wanted else "ui-spinner-down"))


def slider(page: OraclePage) -> Action | None:
    """Press an arrow on the handle as often as the number that is shown differs from the asked one."""
    wanted, shown = int(page.between("Select ", " with")), page.one(id="val")
    away = wanted - int(text_of(shown)) if shown is not None else 0
    if not away:
        return click(submit(page))
    return press(page.one(css="ui-slider-handle"), f"{'ArrowRight' if away > 0 else 'ArrowLeft'} {abs(away)}")


def completed(page: OraclePage) -> Action | None:
    """Type the beginning that the goal quotes, choose the suggestion that begins and ends as asked, hand it in."""
    begins, *rest = page.quoted()
    ends, field = rest[0] if rest else "", page.one(id="tags")
    if field is not None and page.done and page.done[-1].operation == "CLICK":
        return click(submit(page))
    items = page.all(css="ui-menu-item-wrapper")
    found = next((item for item in items if text_of(item).startswith(begins) and text_of(item).endswith(ends)), None)
    return click(found) if found is not None else type_into(field, begins)


def movies(page: OraclePage) -> Action | None:
    """Fill in the genre, director and year of the goal, whatever the layout of the form and the names of its fields."""
    genre = page.between("for ", " movies")
    director = page.between("directed by ", " from year")
    year = page.between("from year ", ".")
    wanted = {"director": director, "year": year, "date": year, "genre": genre}
    fields = []
    for field in page.all("input"):
        name = _label_of(page, field).lower()
        text = next((value for key, value in wanted.items() if key in name), "")
        fields.append((field, text))
    # Of blocks around each other the innermost comes first.
    ends = [*page.all("button"), *page.all("a"), *reversed(page.all("div"))]
    named = (one for one in ends if text_of(one) in ("Submit", "Search", "Go!", "Go"))
    return fill(page, fields, first(next(named, None), *page.all("button")))


def _label_of(page: OraclePage, field: Element) -> str:
    """The text of the block that holds only this field; else the text nearest before it."""
    for block in field.iterancestors():
        if sum(1 for _ in block.iter("input")) > 1:
            break
        if text_of(block):
            return text_of(block)
    texts = ""
    for element in page.root.iter("*"):
        if element is field:
            break
        if element.tag == "text" and element.text:
            texts = element.text
    return texts
