"""Scripted solvers of MiniWoB++ tasks: each reads the page and the goal, as an agent does, and knows how it is done.

Core. They make demonstrations without limit (`record_demos`) and show what an environment allows. An oracle is a
function of the page and of what was done before in the episode; None where it does not know what to do.
"""

import re
from collections.abc import Callable, Sequence

from agents.environments.protocol import PageView
from agents.types import Action
from annotations.dom.tree import NODE_ID, Element, parse

WORD_NUMBERS = {"1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4, "6th": 5, "7th": 6, "8th": 7, "9th": 8, "10th": 9}


class OraclePage:
    """A page and the goal, with the questions that solvers ask of them."""

    def __init__(self, instruction: str, view: PageView, done: Sequence[Action] = ()) -> None:
        self.goal, self.done = instruction, tuple(done)
        self.root = parse(view.html)
        self._acted = {action.node_id for action in done}

    def all(self, tag: str = "", css: str = "", id: str = "", kind: str = "") -> list[Element]:
        """The elements of a tag, class, id or input type, in document order."""
        found = []
        for element in self.root.iter("*"):
            wanted = ((tag, element.tag), (id, element.get("id")), (kind, element.get("type")))
            has_class = not css or css in (element.get("class") or "").split()
            if has_class and all(not asked or asked == there for asked, there in wanted):
                found.append(element)
        return found

    def one(self, tag: str = "", css: str = "", id: str = "", kind: str = "") -> Element | None:
        """The first of them."""
        return next(iter(self.all(tag, css, id, kind)), None)

    def saying(self, text: str, tag: str = "", css: str = "") -> Element | None:
        """The first whose text is this."""
        return next((element for element in self.all(tag, css) if text_of(element) == text), None)

    def quoted(self) -> list[str]:
        """What stands between quotation marks in the goal."""
        return re.findall(r'"([^"]{0,500})"', self.goal)

    def between(self, before: str, after: str) -> str:
        """What stands between two texts of the goal; "" where they are not in it."""
        _, found, rest = self.goal.partition(before)
        inside, ends, _ = rest.partition(after) if after else (rest, rest, "")
        return inside if found and ends else ""

    def acted_on(self, element: Element) -> bool:
        """Whether something was done to it before."""
        return element.get(NODE_ID) in self._acted


Oracle = Callable[[OraclePage], Action | None]


def first(*found: Element | None) -> Element | None:
    """The first that is there: an element without children is false."""
    return next((element for element in found if element is not None), None)


def text_of(element: Element) -> str:
    """All text below it, white space collapsed."""
    return " ".join(" ".join(element.itertext()).split())


def value_of(element: Element) -> str:
    """The text that a field holds."""
    return element.get("input_value") or element.get("text_value") or ""


def click(element: Element | None) -> Action | None:
    return None if element is None else Action("CLICK", element.get(NODE_ID))


def type_into(element: Element | None, text: str) -> Action | None:
    return None if element is None else Action("TYPE", element.get(NODE_ID), text)


def choose(element: Element | None, text: str) -> Action | None:
    return None if element is None else Action("SELECT", element.get(NODE_ID), text)


def press(element: Element | None, key: str) -> Action | None:
    return None if element is None else Action("PRESS", element.get(NODE_ID), key)


def _fill(page: OraclePage, texts: Sequence[tuple[Element | None, str]], end: Element | None) -> Action | None:
    """Type what is not there yet, field by field; then click."""
    for field, text in texts:
        if field is not None and value_of(field) != text:
            return type_into(field, text)
    return click(end)


def _submit(page: OraclePage) -> Element | None:
    return first(page.one(id="subbtn"), page.saying("Submit", "button"), page.one(id="submit"))


def _ordinal(text: str) -> int:
    """The place that a goal names, from 0: "2nd" is 1."""
    return next((place for word, place in WORD_NUMBERS.items() if re.search(rf"\b{word}\b", text)), 0)


# Buttons and links -------------------------------------------------------------------------------------------------


def only_button(page: OraclePage) -> Action | None:
    return click(page.one("button"))


def button_one(page: OraclePage) -> Action | None:
    return click(page.saying("ONE", "button"))


def quoted_button(page: OraclePage) -> Action | None:
    return click(page.saying(page.quoted()[0].strip(), "button"))


def buttons_in_turn(page: OraclePage) -> Action | None:
    return click(page.saying("TWO" if page.done else "ONE", "button"))


def dialog(page: OraclePage) -> Action | None:
    wanted = page.quoted()[0]
    button = page.saying(wanted, "button")
    return click(page.one(css="ui-dialog-titlebar-close") if wanted == "x" or button is None else button)


def link(page: OraclePage) -> Action | None:
    return click(page.saying(page.quoted()[0], css="alink"))


def link_behind(page: OraclePage, doors: Sequence[Element]) -> Action | None:
    """The link, or the next tab or section that was not opened."""
    found = page.saying(page.quoted()[0], css="alink")
    return click(found if found is not None else next((door for door in doors if not page.acted_on(door)), None))


def link_in_tabs(page: OraclePage) -> Action | None:
    tabs = page.all(css="ui-tabs-tab")
    closed = [tab for tab in tabs if "ui-tabs-active" not in (tab.get("class") or "")]
    return link_behind(page, [next(iter(tab.iter("a")), tab) for tab in closed])


def tab(page: OraclePage) -> Action | None:
    found = re.search(r"Tab #\d{1,3}", page.goal)
    return click(page.saying(found[0], "a")) if found else None


def link_in_sections(page: OraclePage) -> Action | None:
    return link_behind(page, page.all("h3"))


def section(page: OraclePage) -> Action | None:
    return click(_submit(page) if page.done else page.one("h3"))


def tree(page: OraclePage) -> Action | None:
    wanted = page.quoted()[0]
    names = [*page.all("span", "file"), *page.all("span", "folder")]
    found = next((element for element in names if text_of(element) == wanted), None)
    folders = (folder for folder in page.all("span", "folder") if not page.acted_on(folder))
    return click(found if found is not None else next(folders, None))


def widget(page: OraclePage) -> Action | None:
    wanted = page.quoted()[0]
    if wanted in ("button", "textarea"):
        return click(page.one(wanted))
    return click(page.one("input", kind=wanted))


# Lists and boxes ---------------------------------------------------------------------------------------------------


def boxes(page: OraclePage) -> Action | None:
    names = page.between("Select ", " and click").split(", ")
    for label in page.all("label"):
        box = next(label.iter("input"), None)
        if box is not None and text_of(label) in names and not box.get("input_checked"):
            return click(box)
    return click(_submit(page))


def one_of_list(page: OraclePage) -> Action | None:
    wanted = page.between("Select ", " from the list")
    return click(_submit(page)) if page.done else choose(page.one("select"), wanted)


def some_of_list(page: OraclePage) -> Action | None:
    names = page.between("Select ", " from the scroll list").split(", ")
    done = {action.value for action in page.done}
    left = [name for name in names if name not in done]
    return choose(page.one("select"), left[0]) if left else click(_submit(page))


def colour(page: OraclePage) -> Action | None:
    wanted = COLOURS.get(page.between("Click on the ", " colored box"), "")
    return click(next((box for box in page.all(css="color") if box.get("bg_color") == wanted), None))


COLOURS = {
    "red": "rgb(255, 0, 0)",
    "orange": "rgb(255, 165, 0)",
    "yellow": "rgb(255, 255, 0)",
    "green": "rgb(0, 128, 0)",
    "lime": "rgb(0, 255, 0)",
    "olive": "rgb(128, 128, 0)",
    "cyan": "rgb(0, 255, 255)",
    "aqua": "rgb(0, 255, 255)",
    "blue": "rgb(0, 0, 255)",
    "purple": "rgb(128, 0, 128)",
    "magenta": "rgb(255, 0, 255)",
    "pink": "rgb(255, 192, 203)",
    "grey": "rgb(128, 128, 128)",
    "gray": "rgb(128, 128, 128)",
    "black": "rgb(0, 0, 0)",
    "white": "rgb(255, 255, 255)",
}


def shades(page: OraclePage) -> Action | None:
    """A shade is the strongest of red, green and blue."""
    wanted = ("red", "green", "blue").index(page.between("shades of ", " and press"))
    for box in page.all("span"):
        parts = [int(part) for part in re.findall(r"\d{1,3}", box.get("bg_color") or "")]
        if len(parts) == 3 and parts.index(max(parts)) == wanted and not page.acted_on(box):
            return click(box)
    return click(_submit(page))


# Fields ------------------------------------------------------------------------------------------------------------


def quoted_text(page: OraclePage) -> Action | None:
    return _fill(page, [(page.one("input"), page.quoted()[0])], _submit(page))


def text_in_case(page: OraclePage) -> Action | None:
    text = page.quoted()[0]
    return _fill(page, [(page.one("input"), text.upper() if "upper" in page.goal else text.lower())], _submit(page))


def password_twice(page: OraclePage) -> Action | None:
    return _fill(page, [(field, page.quoted()[0]) for field in page.all("input")], _submit(page))


def login(page: OraclePage) -> Action | None:
    cancel = page.one(id="popup-cancel")
    if cancel is not None:
        return click(cancel)
    return _fill(page, list(zip(page.all("input"), page.quoted(), strict=False)), _submit(page))


def date(page: OraclePage) -> Action | None:
    month, day, year = page.between("Enter ", " as the date").split("/")
    return _fill(page, [(page.one("input"), f"{year}-{month}-{day}")], _submit(page))


def time(page: OraclePage) -> Action | None:
    clock, half = page.between("Enter ", " as the time").split()
    hour, minute = (int(part) for part in clock.split(":"))
    hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    return _fill(page, [(page.one("input"), f"{hour:02}:{minute:02}")], _submit(page))


def focus(page: OraclePage) -> Action | None:
    return click(page.all("input")[_ordinal(page.goal)])


def word(page: OraclePage) -> Action | None:
    paragraph = page.one("p")
    words = text_of(paragraph).split() if paragraph is not None else []
    wanted = re.search(r"the (\d{1,3})(?:st|nd|rd|th) word", page.goal)
    text = words[int(wanted[1]) - 1].strip(".,") if wanted else ""
    return _fill(page, [(page.one("input"), text)], _submit(page))


def copied(page: OraclePage) -> Action | None:
    area = page.all("textarea")[_ordinal(page.goal)]
    return _fill(page, [(page.one("input"), value_of(area))], _submit(page))


def table_cell(page: OraclePage) -> Action | None:
    wanted = page.between("value of ", " into")
    return _fill(page, [(page.one("input"), _cells(page).get(wanted, ""))], _submit(page))


def table_form(page: OraclePage) -> Action | None:
    cells = _cells(page)
    labels = [text_of(label).rstrip(":") for label in page.all("label")]
    return _fill(
        page,
        [(field, cells.get(name, "")) for field, name in zip(page.all("input"), labels, strict=False)],
        _submit(page),
    )


def _cells(page: OraclePage) -> dict[str, str]:
    rows = [[text_of(cell) for cell in row.iter("td")] for row in page.all("tr")]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def captcha(page: OraclePage) -> Action | None:
    shown = page.one(id="captcha")
    text = "".join(text_of(shown).split()) if shown is not None else ""
    return _fill(page, [(page.one("input"), text)], _submit(page))


def arithmetic(page: OraclePage) -> Action | None:
    shown = page.one(id="math-problem")
    left, sign, right = text_of(shown).split()[:3] if shown is not None else ("0", "+", "0")
    return _fill(page, [(page.one("input"), str(_computed(int(left), sign, int(right))))], _submit(page))


def algebra(page: OraclePage) -> Action | None:
    """One of `x + 3 = 5`, `3 + x = 5`, `x - 3 = 5`, `3 - x = 5`."""
    shown = page.one(id="math-problem")
    left, sign, right, _, total = text_of(shown).split()[:5] if shown is not None else ("x", "+", "0", "=", "0")
    if left == "x":
        answer = int(total) - int(right) if sign == "+" else int(total) + int(right)
    else:
        answer = int(total) - int(left) if sign == "+" else int(left) - int(total)
    return _fill(page, [(page.one("input"), str(answer))], _submit(page))


def _computed(left: int, sign: str, right: int) -> int:
    return left + right if sign == "+" else left - right if sign in "-−" else left * right


def blocks(page: OraclePage) -> Action | None:
    return _fill(page, [(page.one("input"), str(len(page.all(css="addition-block"))))], _submit(page))


def spinner(page: OraclePage) -> Action | None:
    wanted, field = int(page.between("Select ", " with")), page.one(id="spinner")
    there = int(value_of(field) or 0) if field is not None else wanted
    if there == wanted:
        return click(_submit(page))
    return click(page.one(css="ui-spinner-up" if there < wanted else "ui-spinner-down"))


def completed(page: OraclePage) -> Action | None:
    """Type the beginning; then the item that ends as it should."""
    begins, *rest = page.quoted()
    ends, field = rest[0] if rest else "", page.one(id="tags")
    if field is not None and page.done and page.done[-1].operation == "CLICK":
        return click(_submit(page))
    items = page.all(css="ui-menu-item-wrapper")
    found = next((item for item in items if text_of(item).startswith(begins) and text_of(item).endswith(ends)), None)
    return click(found) if found is not None else type_into(field, begins)


def movies(page: OraclePage) -> Action | None:
    """The genre, director and year, whatever the layout and whatever they are called in it."""
    genre = page.between("for ", " movies")
    director = page.between("directed by ", " from year")
    year = page.between("from year ", ".")
    wanted = {"director": director, "year": year, "date": year, "genre": genre}
    fields = []
    for field in page.all("input"):
        name = _label_of(page, field).lower()
        text = next((value for key, value in wanted.items() if key in name), "")
        fields.append((field, text))
    ends = [*page.all("button"), *page.all("a"), *page.all("div")]
    named = [one for one in ends if text_of(one) in ("Submit", "Search", "Go!", "Go")]
    end = first(*named[-1:], *page.all("button"))  # the innermost
    return _fill(page, fields, end)


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


# Mail, posts and tables of things ----------------------------------------------------------------------------------


def mail(page: OraclePage) -> Action | None:
    """Star, delete, reply to or forward the message of somebody."""
    sender = _first(page.goal, r"email by (\w{1,30})", r"by (\w{1,30})")
    if "star icon" in page.goal or "trash icon" in page.goal:
        thread = _thread(page, sender)
        icons = [] if thread is None else [one for one in thread.iter("span") if one.get("class") in ("star", "trash")]
        wanted = "star" if "star icon" in page.goal else "trash"
        return click(next((icon for icon in icons if icon.get("class") == wanted), None))
    to = _first(page.goal, r"to (\w{1,30})\.$")
    text = page.quoted()[0] if page.quoted() else ""
    return _answer(page, sender, to, text)


def _answer(page: OraclePage, sender: str, to: str, text: str) -> Action | None:
    field = first(page.one(id="reply-text"), page.one("input", css="forward-sender"))
    if field is not None:
        wanted = text or to
        return (
            type_into(field, wanted)
            if value_of(field) != wanted
            else click(first(page.one(id="send-reply"), page.one(id="send-forward")))
        )
    button = page.one(css="email-reply") if text else page.one(css="email-forward")
    return click(button if button is not None else _thread(page, sender))


def _thread(page: OraclePage, sender: str) -> Element | None:
    for thread in page.all(css="email-thread"):
        if any(text_of(name) == sender for name in thread.iter("div") if name.get("class") == "email-sender"):
            return thread
    return None


def _first(text: str, *patterns: str) -> str:
    found = (re.search(pattern, text) for pattern in patterns)
    return next((match[1] for match in found if match), "")


def posts(page: OraclePage) -> Action | None:
    """Click a button below posts of somebody: of the first, of some, or of all."""
    user = _first(page.goal, r"(@\w{1,30})")
    asked = page.quoted()[0]
    item = next((one for one in page.all("li") if text_of(one).startswith(asked)), None)
    if item is not None:  # of the menu that was opened below the post
        return click(item)
    wanted = asked.lower() if asked.lower() in ("reply", "retweet", "like", "share") else "more"
    own = [post for post in page.all(css="media") if any(text_of(one) == user for one in post.iter("span"))]
    clicked = sum(action.operation == "CLICK" for action in page.done)
    if "Submit" in page.goal:
        most = int(_first(page.goal, r"on (\d{1,3}) posts?") or len(own))
        if clicked >= most:
            return click(_submit(page))
        return click(_control(own[clicked], wanted))
    return click(_control(own[0], wanted)) if own else None


def _control(post: Element, wanted: str) -> Element | None:
    return next((one for one in post.iter("span") if one.get("class") == wanted), None)


def parity(page: OraclePage) -> Action | None:
    for row in page.all(css="row"):
        number = next(int(text_of(one)) for one in row.iter("div") if one.get("class") == "display-number")
        button = next(
            one for one in row.iter("button") if one.get("class", "").split()[0] == ("odd" if number % 2 else "even")
        )
        if not page.acted_on(button):
            return click(button)
    return click(_submit(page))


def contact(page: OraclePage) -> Action | None:
    name = page.between("Find ", " in the")
    heading = page.one("h2", "name")
    if heading is not None and text_of(heading) == name:
        return click(page.one("a", page.between("on their ", ".").split()[0]))
    following = page.saying(">", "a")
    return click(following)


def ticket(page: OraclePage) -> Action | None:
    flights = [(_measured(page, flight), flight) for flight in page.all(css="flight")]
    if not flights:
        return None
    best = max(flights, key=lambda one: one[0]) if _wants_most(page.goal) else min(flights, key=lambda one: one[0])
    return click(next(best[1].iter("button"), None))


def _wants_most(goal: str) -> bool:
    return any(word in goal for word in ("longest", "most expensive", "latest", "greatest"))


def _measured(page: OraclePage, flight: Element) -> float:
    text = text_of(flight)
    if "price" in page.goal or "cheap" in page.goal or "expensive" in page.goal:
        return float(_first(text, r"\$(\d{1,6})") or 0)
    hours, minutes = re.search(r"(\d{1,3})h", text), re.search(r"(\d{1,3})m", text)
    return 60.0 * int(hours[1] if hours else 0) + int(minutes[1] if minutes else 0)


def found_result(page: OraclePage) -> Action | None:
    """Search, go on to the page of the result, and click it: three a page."""
    wanted = int(_first(page.goal, r"the (\d{1,3})(?:st|nd|rd|th) search") or 1) - 1
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
    limit = _first(goal, r"(?:than|to) (-?\d{1,6})")
    if "less than" in goal:
        return number < int(limit)
    if "greater than" in goal:
        return number > int(limit)
    return number % 2 == (1 if "odd" in goal else 0)


def guessed(page: OraclePage) -> Action | None:
    """Halve the range with each answer."""
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
    """`ls`, then `rm` of a file that ends as it should; the terminal takes keys."""
    field = page.one(id="terminal-target")
    if not page.done:
        return type_into(field, "ls")
    if len(page.done) == 1 or page.done[-1].operation == "TYPE":
        return press(field, "Enter")
    ending = _first(page.goal, r"extension (\.[\w.]{1,10})")
    outputs = [text_of(one).split() for one in page.all(css="output")]
    files = outputs[-1] if outputs else []
    name = next((one for one in files if (one.endswith(ending) if ending else "." not in one)), "")
    return type_into(field, f"rm {name}")


def form_of_radio(page: OraclePage) -> Action | None:
    """ "Check the 1st radio button and enter the number "27" into the 2nd textbox." """
    first, _, second = page.goal.partition(" and enter")
    radio = page.all("input", kind="radio")[_ordinal(first)]
    field = page.all("input", kind="text")[_ordinal(second)]
    if not radio.get("input_checked"):
        return click(radio)
    return _fill(page, [(field, page.quoted()[0])], _submit(page))


def menu(page: OraclePage) -> Action | None:
    """Open one level after another: what was clicked last shows the next."""
    names = page.between("Select ", "").split(">")
    opened = [action for action in page.done if action.operation == "HOVER"]
    wanted = names[len(opened)] if len(opened) < len(names) else names[-1]
    item = page.saying(wanted, css="ui-menu-item-wrapper")
    if item is None:
        return None
    return click(item) if len(opened) == len(names) - 1 else Action("HOVER", item.get(NODE_ID))


def picked_date(page: OraclePage) -> Action | None:
    """Open the calendar, go to the month, click the day."""
    month, day, year = (int(part) for part in _first(page.goal, r"(\d{2}/\d{2}/\d{4})").split("/"))
    field = page.one(id="datepicker")
    if field is not None and value_of(field) == f"{month:02}/{day:02}/{year}":
        return click(_submit(page))
    shown_month, shown_year = page.one(css="ui-datepicker-month"), page.one(css="ui-datepicker-year")
    if shown_month is None or shown_year is None:
        return click(field)
    there = int(text_of(shown_year)) * 12 + MONTHS.index(text_of(shown_month))
    wanted = year * 12 + month - 1
    if there != wanted:
        return click(page.one(css="ui-datepicker-prev" if there > wanted else "ui-datepicker-next"))
    return click(page.saying(str(day), "a", "ui-state-default"))


MONTHS = """
    January February March April May June July August September October November December
""".split()

ORACLES: dict[str, Oracle] = {
    "buy-ticket": ticket,
    "choose-date": picked_date,
    "choose-date-easy": picked_date,
    "choose-date-medium": picked_date,
    "choose-date-nodelay": picked_date,
    "choose-list": one_of_list,
    "click-button": quoted_button,
    "click-button-sequence": buttons_in_turn,
    "click-checkboxes": boxes,
    "click-checkboxes-large": boxes,
    "click-checkboxes-transfer": boxes,
    "click-collapsible": section,
    "click-collapsible-2": link_in_sections,
    "click-collapsible-2-nodelay": link_in_sections,
    "click-collapsible-nodelay": section,
    "click-color": colour,
    "click-dialog": dialog,
    "click-dialog-2": dialog,
    "click-link": link,
    "click-menu": menu,
    "click-option": boxes,
    "click-scroll-list": some_of_list,
    "click-shades": shades,
    "click-tab": tab,
    "click-tab-2": link_in_tabs,
    "click-tab-2-easy": link_in_tabs,
    "click-tab-2-hard": link_in_tabs,
    "click-tab-2-medium": link_in_tabs,
    "click-test": only_button,
    "click-test-2": button_one,
    "click-test-transfer": button_one,
    "click-widget": widget,
    "copy-paste": copied,
    "copy-paste-2": copied,
    "email-inbox": mail,
    "email-inbox-delete": mail,
    "email-inbox-forward": mail,
    "email-inbox-important": mail,
    "email-inbox-noscroll": mail,
    "email-inbox-reply": mail,
    "email-inbox-star-reply": mail,
    "enter-date": date,
    "enter-password": password_twice,
    "enter-text": quoted_text,
    "enter-text-2": text_in_case,
    "enter-text-dynamic": quoted_text,
    "enter-time": time,
    "find-word": word,
    "focus-text": focus,
    "focus-text-2": focus,
    "form-sequence-2": form_of_radio,
    "generate-number": generated,
    "guess-number": guessed,
    "login-user": login,
    "login-user-popup": login,
    "multi-orderings": movies,
    "navigate-tree": tree,
    "odd-or-even": parity,
    "phone-book": contact,
    "read-table": table_cell,
    "read-table-2": table_form,
    "search-engine": found_result,
    "simple-algebra": algebra,
    "simple-arithmetic": arithmetic,
    "social-media": posts,
    "social-media-all": posts,
    "social-media-some": posts,
    "terminal": shell,
    "text-transform": captcha,
    "unicode-test": quoted_button,
    "use-autocomplete": completed,
    "use-autocomplete-nodelay": completed,
    "use-spinner": spinner,
    "visual-addition": blocks,
}
