"""CUBE's tasks: its browser, its goals, its rewards, its actions; pages as ours are read. Core.

CUBE names elements by CSS: an element that is acted on gets its number as an attribute first.
"""

from collections.abc import Callable, Sequence
from typing import Any

from agents.environments.harnesses.bridge import BridgedEnvironment, listed, python_of
from agents.environments.protocol import ActionEffect, EpisodeStart, NoSuchTask
from agents.types import Action

NAME, SETTING, PACKAGE, SCRIPT = "cube", "CUBE_PYTHON", "miniwob-cube", "cube_side.py"
MARK = """number => {
  const element = window.webnavPage.element(number);
  if (!element) return null;
  const list = element.closest("select");
  (list ?? element).setAttribute("data-webnav", number);
  return {value: element instanceof HTMLOptionElement ? element.value : null, isList: list !== null};
}"""
CubeAction = dict[str, Any]


class NotInCube(ValueError):
    """CUBE has no such action."""


def task_names() -> tuple[str, ...]:
    """The tasks of `miniwob-cube`. Raises NoSuchTask where it is not set up."""
    return listed(python_of(SETTING, PACKAGE), SCRIPT, frozenset())


def marked(node_id: str) -> str:
    """The selector of an element that has its number as an attribute."""
    return f'[data-webnav="{node_id}"]'


def cube_actions(
    action: Action, option: str | None = None, is_list: bool = False, selector: Callable[[str], str] = marked
) -> list[CubeAction]:
    """An action in CUBE's: several where it has none that does it at once. `option`: the value of the option that is
    meant, where the element is one; `is_list`: it is a list, or in one; `selector`: of an element by its number. Raises
    NotInCube."""
    if action.operation == "CLICK" and action.point is not None:
        return [_does("browser_mouse_click_xy", x=round(action.point[0]), y=round(action.point[1]))]
    if action.operation == "PRESS" and action.node_id is None:
        return [_does("browser_press_key", key=action.value)]
    if action.operation == "LOAD" and action.value == "back":
        return [_does("browser_back")]
    if action.operation == "STOP":
        return [_does("final_step")]
    if action.node_id is None:
        raise NotInCube(f"{action.operation} needs an element of the page")
    at = selector(action.node_id)
    if is_list and action.operation in ("CLICK", "SELECT", "TYPE"):
        return [_does("browser_select_option", selector=at, value=action.value if option is None else option)]
    click = _does("browser_click", selector=at)
    if action.operation == "CLICK":
        return [click]
    if action.operation == "TYPE":
        typed = _does("browser_type", selector=at, text=action.value) if action.value else _press("Delete")
        return [click, _press("Control+a"), typed]
    if action.operation == "PRESS":
        return [click, _press(action.value)]
    if action.operation == "HOVER":
        return [_does("browser_hover", selector=at)]
    if action.operation == "DRAG" and "," not in action.value:
        return [_does("browser_drag", from_selector=at, to_selector=selector(action.value))]
    raise NotInCube(f"{action.operation} is not done here")


def _does(name: str, **arguments: object) -> CubeAction:
    return {"name": name, "arguments": arguments}


def _press(key: str) -> CubeAction:
    return _does("browser_press_key", key=key)


class CubeEnvironment(BridgedEnvironment):
    """CUBE's tasks, one at a time, in the browser that it opens for each episode. It has one page a task, whatever the
    seed."""

    def __init__(self) -> None:
        """Start CUBE. Raises NoSuchTask where it is not set up, NoBrowser."""
        super().__init__(python_of(SETTING, PACKAGE), SCRIPT, {})

    def tasks(self) -> Sequence[str]:
        return task_names()

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin an episode; raises NoSuchTask."""
        if task not in task_names():
            raise NoSuchTask(f"CUBE has no task {task!r}")
        return self.begin(task)

    def step(self, action: Action) -> ActionEffect:
        """Do an action as CUBE does it; its reward."""
        try:
            asked = self._asked(action)
        except NotInCube as error:
            return ActionEffect(f"not done: {error}", 0.0, False, self.observe())
        came = self._bridge.ask("step", actions=asked)
        names = ", ".join(one["name"] for one in asked)
        words = f"not done: {came['error'].partition(chr(10))[0]}" if came["error"] else names
        if came["done"]:
            words += f"; the task has ended with reward {came['reward']:g}"
        return ActionEffect(words, came["reward"] if came["done"] else 0.0, came["done"], self.observe())

    def _asked(self, action: Action) -> list[CubeAction]:
        option, is_list = None, False
        for node_id in (action.node_id, action.value if action.operation == "DRAG" else None):
            if node_id is not None and node_id.isascii() and node_id.isdecimal():
                marked = self._current().tell(MARK, int(node_id))
                if marked is None:
                    raise NotInCube(f"element {node_id} is not on the page any more")
                option, is_list = marked["value"], marked["isList"]
        return cube_actions(action, option, is_list)
