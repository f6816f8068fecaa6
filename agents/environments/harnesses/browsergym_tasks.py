"""BrowserGym's tasks: its browser, its goals, its rewards, its actions; pages as ours are read. Core.

An element has the number that `page.js` gives it, and is named to BrowserGym by its `bid`. What has none (a part of a
drawing) is clicked at a point.
"""

import json
import os
from collections.abc import Callable, Sequence
from typing import TypedDict

from agents.environments.harnesses.bridge import BridgedEnvironment, listed, python_of
from agents.environments.miniwob import html_folder
from agents.environments.protocol import ActionEffect, EpisodeStart, NoSuchTask
from agents.types import Action

SETTING, SCRIPT = "BROWSERGYM_PYTHON", "browsergym_side.py"
# How BrowserGym names an element, and what tells which of its actions is meant.
NAMED = """number => {
  const element = window.webnavPage.element(number);
  if (!element) return null;
  const list = element.closest("select");
  return {
    bid: (list ?? element).getAttribute("bid"),
    option: element instanceof HTMLOptionElement ? element.text : null,
    isList: list !== null,
    point: window.webnavPage.freePoint(element),
  };
}"""


class NamedElement(TypedDict):
    """An element as BrowserGym's actions name it."""

    bid: str | None
    option: str | None  # its words, where it is one of a list
    isList: bool
    point: dict[str, float] | None


class Unsayable(ValueError):
    """BrowserGym has no such action."""


def task_names() -> tuple[str, ...]:
    """The tasks of the suites that are installed beside BrowserGym. Raises NoSuchTask where it is not set up."""
    return listed(python_of(SETTING, "browsergym"), SCRIPT, frozenset(_settings().items()))


def _settings() -> dict[str, str]:
    named = {"MINIWOB_URL": f"{html_folder().as_uri()}/"}
    return named | {name: os.environ[name] for name in (*named, "BROWSERGYM_SUITES") if name in os.environ}


def action_text(action: Action, element: NamedElement | None, onto: NamedElement | None = None) -> str:
    """An action in BrowserGym's words: "click('12')". `onto`: where a drag ends. Raises Unsayable."""
    if action.operation in WITHOUT_ELEMENT and element is None and (action.value or action.operation == "STOP"):
        return WITHOUT_ELEMENT[action.operation](action.value)
    if action.operation == "CLICK" and action.point is not None:
        return f"mouse_click({action.point[0]:.0f}, {action.point[1]:.0f})"
    if element is None:
        raise Unsayable(f"{action.operation} needs an element of the page")
    bid = _quoted(element["bid"]) if element["bid"] else ""
    if element["option"] is not None and action.operation in ("CLICK", "SELECT"):
        return f"select_option({bid}, {_quoted(element['option'])})"
    if action.operation == "CLICK":
        return f"click({bid})" if bid else _at("mouse_click", element)
    if action.operation == "HOVER":
        return f"hover({bid})" if bid else _at("mouse_move", element)
    if action.operation == "DRAG":
        return _drag(element, onto, action.value)
    if not bid or action.operation not in ("TYPE", "SELECT", "PRESS"):
        raise Unsayable(f"{action.operation} cannot be done to this element")
    does = {"TYPE": "select_option" if element["isList"] else "fill", "SELECT": "select_option", "PRESS": "press"}
    return f"{does[action.operation]}({bid}, {_quoted(action.value)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _at(does: str, element: NamedElement) -> str:
    if element["point"] is None:
        raise Unsayable("the element cannot be reached: something else covers it")
    return f"{does}({element['point']['x']:.0f}, {element['point']['y']:.0f})"


def _drag(element: NamedElement, onto: NamedElement | None, value: str) -> str:
    if onto is not None and element["bid"] and onto["bid"]:
        return f"drag_and_drop({_quoted(element['bid'])}, {_quoted(onto['bid'])})"
    start = element["point"]
    end = onto["point"] if onto is not None else _moved(start, value)
    if start is None or end is None:
        raise Unsayable("DRAG takes an element, or pixels right and down, and both ends must be in sight")
    return f"mouse_drag_and_drop({start['x']:.0f}, {start['y']:.0f}, {end['x']:.0f}, {end['y']:.0f})"


def _moved(start: dict[str, float] | None, value: str) -> dict[str, float] | None:
    right, _, down = value.partition(",")
    try:
        return start and {"x": start["x"] + float(right), "y": start["y"] + float(down)}
    except ValueError:
        return None


def _scroll(value: str) -> str:
    try:
        return f"scroll(0, {int(value)})"
    except ValueError:
        raise Unsayable(f"SCROLL takes pixels, not {value!r}") from None


WITHOUT_ELEMENT: dict[str, Callable[[str], str]] = {
    "PRESS": lambda value: f"keyboard_press({_quoted(value)})",
    "TYPE": lambda value: f"keyboard_type({_quoted(value)})",
    "SCROLL": _scroll,
    "LOAD": lambda value: "go_back()" if value == "back" else f"goto({_quoted(value)})",
    "SAY": lambda value: f"send_msg_to_user({_quoted(value)})",
    "STOP": lambda value: "noop(0)",
}


class BrowserGymEnvironment(BridgedEnvironment):
    """BrowserGym's tasks, one at a time, in the browser that it opens for each episode."""

    def __init__(self) -> None:
        """Start BrowserGym. Raises NoSuchTask where it is not set up, NoBrowser."""
        super().__init__(python_of(SETTING, "browsergym"), SCRIPT, _settings())

    def tasks(self) -> Sequence[str]:
        return task_names()

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin an episode; raises NoSuchTask."""
        if task not in task_names():
            raise NoSuchTask(f"BrowserGym has no task {task!r}")
        return self.begin(task, seed=seed)

    def step(self, action: Action) -> ActionEffect:
        """Do an action as BrowserGym does it; its reward."""
        try:
            text = action_text(action, self._named(action.node_id), self._named(_onto(action)))
        except Unsayable as error:
            return ActionEffect(f"not done: {error}", 0.0, False, self.observe())
        came = self._bridge.ask("step", action=text)
        words = f"not done: {came['error'].partition(chr(10))[0]}" if came["error"] else text
        if came["done"]:
            words += f"; the task has ended with reward {came['reward']:g}"
        return ActionEffect(words, came["reward"] if came["done"] else 0.0, came["done"], self.observe(), came["said"])

    def _named(self, node_id: str | None) -> NamedElement | None:
        if node_id is None or not node_id.isascii() or not node_id.isdecimal():
            return None
        named = self._current().tell(NAMED, int(node_id))
        if named is None:
            raise Unsayable(f"element {node_id} is not on the page any more")
        return NamedElement(bid=named["bid"], option=named["option"], isList=named["isList"], point=named["point"])


def _onto(action: Action) -> str | None:
    return action.value if action.operation == "DRAG" and "," not in action.value else None
