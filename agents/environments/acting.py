"""Do an action on a live page as a person would: with the mouse and the keyboard, at a point that nothing covers.

Core. What cannot be done is said in words, which the replay shows and the agent's next observation tells.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from agents.environments.protocol import EnvironmentLost
from agents.types import Action

if TYPE_CHECKING:
    from playwright.sync_api import Page

AT_ONCE = frozenset({"date", "time", "month", "week", "datetime-local", "color", "range"})  # not typed key by key
KEYS = frozenset("Enter Tab Escape Backspace Delete ArrowLeft ArrowRight ArrowUp ArrowDown Home End Space".split())
MOST_PRESSES = 200  # of one action
CHORDS = frozenset({"Control+a", "Control+c", "Control+v"})
FIND = """path => {
  try {
    const found = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    const all = Array.from({length: Math.min(found.snapshotLength, 100)}, (_, place) => found.snapshotItem(place));
    return all.filter((node) => node instanceof Element);
  } catch {
    return null;
  }
}"""
WHAT = """element => ({tag: element.tagName, type: element.type || "", list: element.closest("select") !== null})"""
SELECT_ALL = """element => {
  element.focus();
  if (element.select) element.select(); else window.getSelection().selectAllChildren(element);
}"""
FOCUS = "element => element.focus()"
CHOOSE = """([element, text]) => {
  const list = element.closest("select");
  const plain = (words) => words.replace(/\\s+/g, " ").trim().toLowerCase();
  const wanted = element instanceof HTMLOptionElement ? [element] :
    [...list.options].filter((option) => plain(option.text) === plain(text) || option.value === text);
  if (!wanted.length) return null;
  list.focus();
  if (!list.multiple) for (const option of list.options) option.selected = false;
  wanted[0].selected = true;
  list.dispatchEvent(new Event("input", {bubbles: true}));
  list.dispatchEvent(new Event("change", {bubbles: true}));
  return wanted[0].text.trim();
}"""
PUT = """([element, text]) => {
  element.focus();
  element.value = text;
  element.dispatchEvent(new Event("input", {bubbles: true}));
  element.dispatchEvent(new Event("change", {bubbles: true}));
  return element.value;
}"""


class CannotAct(ValueError):
    """The action cannot be done on this page; the message says why."""


class ActedPage(Protocol):
    """The part of a Playwright page that this module uses."""

    @property
    def mouse(self) -> Any: ...
    @property
    def keyboard(self) -> Any: ...
    def evaluate_handle(self, expression: str, arg: Any = None) -> Any: ...
    def evaluate(self, expression: str, arg: Any = None) -> Any: ...


def carry_out(page: "Page", do: Callable[[], str]) -> str:
    """What `do` says it did on the page, or why it could not, in words. Raises EnvironmentLost where the page or its
    browser is gone."""
    from playwright.sync_api import Error

    try:
        return do()
    except CannotAct as error:
        return f"not done: {error}"
    except Error as error:
        browser = page.context.browser
        if page.is_closed() or browser is None or not browser.is_connected():
            raise EnvironmentLost("the browser is gone") from error
        return f"not done: {str(error).splitlines()[0]}"


def act(page: ActedPage, action: Action) -> str:
    """Do an action on a page; what was done, in words. Raises CannotAct."""
    if action.operation == "STOP":
        return "stopped"
    if action.node_id is None and action.value and action.operation in WITHOUT_ELEMENT:
        return WITHOUT_ELEMENT[action.operation](page, action.value)
    doing = ACTS.get(action.operation)
    if doing is None:
        raise CannotAct(f"{action.operation} is not done here")
    if action.node_id is None and action.point is not None and action.operation == "CLICK":
        return _click_at(page, *action.point)
    element = _element(page, action)
    try:
        return doing(page, element, action)
    finally:
        element.dispose()


def _found(page: ActedPage, path: str) -> list[Any]:
    """The elements that an XPath names, in order, as far as they are in sight."""
    found = page.evaluate_handle(FIND, path)
    count = found.evaluate("all => all === null ? -1 : all.length")
    if count < 1:
        raise CannotAct(f"{path[:200]!r} is no XPath" if count < 0 else f"nothing on the page is {path[:200]!r}")
    return [found.evaluate_handle("(all, place) => all[place]", place).as_element() for place in range(count)]


def _click_all(page: ActedPage, path: str) -> str:
    """Click every element that the path names, in order. Where something covers one, press Enter instead and stop, as
    published."""
    done = []
    for element in _found(page, path):
        if element.evaluate(WHAT)["tag"] == "OPTION":
            done.append(f"chose {page.evaluate(CHOOSE, [element, ''])}")
            continue
        point = page.evaluate("element => window.webnavPage.freePoint(element)", element)
        if point is None:
            page.keyboard.press("Enter")
            done.append("pressed Enter, as something covers the next")
            break
        page.mouse.click(point["x"], point["y"])
        done.append(f"clicked at {point['x']:.0f},{point['y']:.0f}")
    return "; ".join(done)


def _choose_first(page: ActedPage, path: str) -> str:
    option = _found(page, path)[0]
    if option.evaluate(WHAT)["tag"] != "OPTION":
        raise CannotAct("the element is no option of a list")
    return f"chose {page.evaluate(CHOOSE, [option, ''])}"


def _hover_all(page: ActedPage, path: str) -> str:
    points = [_point(page, element) for element in _found(page, path)]
    for point in points:
        page.mouse.move(point["x"], point["y"])
    return "moved to " + ", ".join(f"{point['x']:.0f},{point['y']:.0f}" for point in points)


def _type_there(page: ActedPage, text: str) -> str:
    """Type a text into whatever has the focus."""
    page.keyboard.type(text)
    return f"typed {text}"


def _element(page: ActedPage, action: Action) -> Any:
    if action.node_id is None or not action.node_id.isascii() or not action.node_id.isdecimal():
        raise CannotAct(f"{action.operation} needs an element of the page, and {action.node_id or 'none'} is none")
    handle = page.evaluate_handle("number => window.webnavPage.element(number)", int(action.node_id))
    element = handle.as_element()
    if element is None:
        handle.dispose()
        raise CannotAct(f"element {action.node_id} is not on the page any more")
    return element


def _point(page: ActedPage, element: Any) -> dict[str, float]:
    point: dict[str, float] | None = page.evaluate("element => window.webnavPage.freePoint(element)", element)
    if point is None:
        raise CannotAct("the element cannot be reached: something else covers it")
    return point


def _click(page: ActedPage, element: Any, action: Action) -> str:
    what = element.evaluate(WHAT)
    if what["tag"] == "OPTION":
        return f"chose {page.evaluate(CHOOSE, [element, ''])}"
    if action.point is not None:
        return _click_at(page, *action.point)
    point = _point(page, element)
    return _click_at(page, point["x"], point["y"])


def _click_at(page: ActedPage, x: float, y: float) -> str:
    page.mouse.click(x, y)
    return f"clicked at {x:.0f},{y:.0f}"


def _type(page: ActedPage, element: Any, action: Action) -> str:
    """The whole text of a field is replaced, as in recorded TYPE actions."""
    what = element.evaluate(WHAT)
    if what["list"]:
        return _select(page, element, action)
    if what["type"] in AT_ONCE:
        stands = page.evaluate(PUT, [element, action.value])
        if not stands and action.value:
            raise CannotAct(f"a field of type {what['type']} does not take {action.value!r}")
        return f"the field holds {stands}"
    if what["tag"] not in ("INPUT", "TEXTAREA") and not element.evaluate("element => element.isContentEditable"):
        raise CannotAct(f"nothing can be typed into a {what['tag'].lower()}")
    element.evaluate(SELECT_ALL)
    if action.value:
        page.keyboard.type(action.value)
    else:
        page.keyboard.press("Delete")
    return f"typed {action.value}"


def _select(page: ActedPage, element: Any, action: Action) -> str:
    if not element.evaluate(WHAT)["list"]:
        raise CannotAct("the element is no list to choose from")
    chosen = page.evaluate(CHOOSE, [element, action.value])
    if chosen is None:
        raise CannotAct(f"the list has no option {action.value!r}")
    return f"chose {chosen}"


def _press_on(page: ActedPage, element: Any, action: Action) -> str:
    element.evaluate(FOCUS)
    return _press(page, action.value)


def _press(page: ActedPage, value: str) -> str:
    """`value`: a key, and behind a space how often it is pressed, where that is more than once."""
    key, _, times = value.partition(" ") if len(value) > 1 else (value, "", "")
    count = int(times) if re.fullmatch(r"[1-9]\d{0,2}", times) else 1 if not times else 0
    if not 1 <= count <= MOST_PRESSES:
        raise CannotAct(f"a key is pressed one to {MOST_PRESSES} times, not {times!r}")
    if key not in KEYS and key not in CHORDS and len(key) != 1:
        raise CannotAct(f"there is no key {key!r}")
    for _ in range(count):
        page.keyboard.press(key)
    return f"pressed {key}" + (f" {count} times" if count > 1 else "")


def _hover(page: ActedPage, element: Any, action: Action) -> str:
    point = _point(page, element)
    page.mouse.move(point["x"], point["y"])
    return f"moved to {point['x']:.0f},{point['y']:.0f}"


def _scroll(page: ActedPage, element: Any, action: Action) -> str:
    """Scroll an element by `value` pixels, down, or up where it is below 0. Without a value, scroll until the element
    is in view."""
    if not action.value:
        element.scroll_into_view_if_needed()
        return "scrolled into view"
    pixels = _pixels(action)
    element.evaluate("(element, pixels) => element.scrollBy(0, pixels)", pixels)
    return f"scrolled by {pixels}"


def _scroll_window(page: ActedPage, action: Action) -> str:
    pixels = _pixels(action)
    page.evaluate("pixels => window.scrollBy({top: pixels, behavior: 'instant'})", pixels)
    return f"scrolled by {pixels}"


def _pixels(action: Action) -> int:
    try:
        return int(action.value)
    except ValueError:
        raise CannotAct(f"SCROLL takes pixels, not {action.value!r}") from None


def _drag(page: ActedPage, element: Any, action: Action) -> str:
    """`value`: the element it is dropped on, by its number, or pixels right and down, as "40,-10"."""
    start = _point(page, element)
    right, comma, down = action.value.partition(",")
    if comma:
        try:
            end = {"x": start["x"] + float(right), "y": start["y"] + float(down)}
        except ValueError:
            raise CannotAct(f"DRAG takes pixels right and down, not {action.value!r}") from None
    else:
        other = _element(page, Action("DRAG", action.value))
        try:
            end = _point(page, other)
        finally:
            other.dispose()
    page.mouse.move(start["x"], start["y"])
    page.mouse.down()
    page.mouse.move(end["x"], end["y"], steps=8)  # libraries want to see it move
    page.mouse.up()
    return f"dragged to {end['x']:.0f},{end['y']:.0f}"


# Actions that name no element by its number: `value` is an XPath, or what the keyboard says.
WITHOUT_ELEMENT: dict[str, Callable[[ActedPage, str], str]] = {
    "CLICK": _click_all,
    "SELECT": _choose_first,
    "HOVER": _hover_all,
    "TYPE": _type_there,
    "PRESS": _press,
    "SCROLL": lambda page, value: _scroll_window(page, Action("SCROLL", None, value)),
}
ACTS = {
    "CLICK": _click,
    "TYPE": _type,
    "SELECT": _select,
    "PRESS": _press_on,
    "HOVER": _hover,
    "SCROLL": _scroll,
    "DRAG": _drag,
}
