"""Collapse the recorded mouse and keyboard events of a MiniWoB++ episode into steps.

Every event was recorded twice, on its way down (`timing` 1, before the page's own handlers) and on its way
up (3), each time with the page. What becomes a step:

* mousedown .. click: CLICK on the element under the mousedown. A press without a click counts when nothing
  follows it (tasks that end on mousedown) or when it puts the cursor into a field; else it was a scroll bar,
  a text selection or another mouse button, and no step.
* A change of a field's text that the user made, by keys, paste or the field's own arrows: TYPE with the
  whole new text. All CLICKs on and TYPEs into one field in a row are one TYPE, from the first page to the
  last text; so arrow keys in date and time fields are part of it.
* A click on an option, with the clicks on its SELECT before it: SELECT with the option's text.
* Enter in a field or on a control, and arrows on a control: PRESS. Enter in a TEXTAREA is text.
* The click that a label passes on to its control is no step; nor is copying from the instruction.
* A click on a part of a button, a link or a label could have been on any other part of it as well (`same`).

An episode whose steps are not certain raises `Unconvertible` with one of the reasons below.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from annotations.datasets.miniwob_dom import (
    CONTROLS,
    FIELDS,
    Key,
    Node,
    elements_of,
    has_elements,
    is_field,
    key_of,
    places_alike,
    text_of,
)

RecordedState = dict[str, Any]

DRAG = "drag"
NO_MOUSEDOWN = "click without mousedown"
TARGET_ABSENT = "target absent from the page"
TEXT_LOST = "typed text lost"
SEVERAL_OPTIONS = "several options"
INFERRED_OPTION = "option known only from the instruction"
NO_CHANGE = "typing that changes nothing"
CONTAINER = "clicked a container"
NO_STEPS = "no steps"

CAPTURE = 1  # `timing` of the event on its way down
MOUSE = ("mousedown", "mouseup", "click", "dblclick")
PRESSED = {13: "Enter", 37: "ArrowLeft", 38: "ArrowUp", 39: "ArrowRight", 40: "ArrowDown"}
CONTROL_KEYS = (17, 91, 93, 224)  # Ctrl and the Mac's command keys
QUERY_HEIGHT = 50  # the instruction lies above the task
DRAG_PIXELS = 4
TYPED = "typed"  # keys that went into a field; becomes part of a TYPE, or proves that one was lost


class Unconvertible(Exception):
    """The episode's steps are not certain; the message is the reason."""


@dataclass(slots=True)
class DraftStep:
    """One step before its page is written."""

    operation: str
    target: Node
    page: Node  # root of the state before the step, which holds `target`
    time: int  # milliseconds since the episode began
    value: str = ""
    point: tuple[int, int] | None = None  # where the mouse was, in pixels of the page
    same: list[Node] = field(default_factory=list)  # other nodes of `page` on which a click does the same


class Scan(NamedTuple):
    """What the collapsing reads of one recorded state."""

    root: Node
    time: int
    target: Node | None
    parent: Node | None  # of the target
    fields: dict[Key, Node]
    focus: Key | None


@dataclass(slots=True)
class Gesture:
    """One press of the mouse button, from mousedown on."""

    scan: Scan
    point: tuple[int, int]
    moved: bool = False
    clicked: bool = False
    interrupted: bool = False  # keys or scrolling came before the click
    act: DraftStep | None = None


def collapse(states: list[RecordedState]) -> list[DraftStep]:
    """The steps of an episode, in order; raises `Unconvertible`, or KeyError and TypeError for malformed states."""
    acts = list(_merged(_Collapser().run(states)))
    if any(act.operation == "CLICK" and act.target["tag"] not in CONTROLS and has_elements(act.target) for act in acts):
        raise Unconvertible(CONTAINER)
    if not acts:
        raise Unconvertible(NO_STEPS)
    for act in acts:
        if act.operation == "CLICK":
            known = {id(node) for node in act.same}
            act.same += [node for node in places_alike(act.page, act.target) if id(node) not in known]
    return acts


def _scan(state: RecordedState) -> Scan:
    target = parent = focus = None
    fields: dict[Key, Node] = {}
    root = state["dom"]
    waiting = [root]
    if root.get("recordingTarget"):
        target = root
    while waiting:
        node = waiting.pop()
        for child in node["children"]:
            waiting.append(child)
            if "recordingTarget" in child:
                target, parent = child, node
            if child["tag"] in FIELDS:
                fields[key_of(child)] = child
                if "focused" in child:
                    focus = key_of(child)
    return Scan(root, state["time"], target, parent, fields, focus)


class _Collapser:
    """Reads states in order and collects acts; neighbouring ones are merged afterwards."""

    def __init__(self) -> None:
        self._acts: list[DraftStep] = []
        self._typing: dict[Key, DraftStep] = {}  # changed fields since the last boundary, in order
        self._keys: dict[Key, DraftStep] = {}  # fields that got printable keys since then
        self._gesture: Gesture | None = None
        self._mouse_is_down = False  # until the click is over: what changes now, the page changes
        self._control_is_down = False
        self._before: Scan | None = None

    def run(self, states: list[RecordedState]) -> list[DraftStep]:
        for state in states:
            action = state["action"]
            if action is None:
                self._before = _scan(state)
            elif action["timing"] == CAPTURE or action["type"] in MOUSE:
                self._take(action, _scan(state))
        self._end_gesture(is_last=True)
        self._flush()
        return self._acts

    def _take(self, action: dict[str, Any], now: Scan) -> None:
        if self._before is not None:
            self._note_changes(self._before, now)
        self._before = now
        kind = action["type"]
        if action["timing"] != CAPTURE:
            if kind == "click":
                self._mouse_is_down = False
            return
        if kind == "mousedown":
            self._mousedown(action, now)
        elif kind == "mouseup":
            self._mouseup(action)
        elif kind == "click":
            self._click(action, now)
        elif kind != "dblclick":
            self._mouse_is_down = False
            if self._gesture:
                self._gesture.interrupted = True
            if kind == "keydown":
                self._keydown(action["keyCode"], now)
            elif kind == "keypress":
                self._keypress(action["charCode"], now)
            elif kind == "keyup" and action["keyCode"] in CONTROL_KEYS:
                self._control_is_down = False

    def _note_changes(self, before: Scan, now: Scan) -> None:
        """Keep the user's changes of fields; the page's own (a date picker's, a spinner's) are no steps."""
        for key, node in now.fields.items():
            old = before.fields.get(key)
            if old is not None and old["value"] != node["value"] and self._is_users(key, before):
                act = self._typing.setdefault(key, DraftStep("TYPE", old, before.root, before.time))
                act.value = node["value"]

    def _is_users(self, key: Key, before: Scan) -> bool:
        if self._mouse_is_down and self._gesture:
            target = self._gesture.scan.target
            return target is not None and key_of(target) == key
        return before.focus == key

    def _mousedown(self, action: dict[str, Any], now: Scan) -> None:
        self._end_gesture(is_last=False)
        self._flush()
        self._gesture = Gesture(now, (action["x"], action["y"]))
        self._mouse_is_down = True

    def _mouseup(self, action: dict[str, Any]) -> None:
        if self._gesture and not self._gesture.clicked:
            x, y = self._gesture.point
            self._gesture.moved = max(abs(action["x"] - x), abs(action["y"] - y)) > DRAG_PIXELS

    def _click(self, action: dict[str, Any], now: Scan) -> None:
        gesture = self._gesture
        by_keyboard = gesture is not None and gesture.interrupted and (action["x"], action["y"]) == (0, 0)
        if gesture is None or by_keyboard:
            raise Unconvertible(NO_MOUSEDOWN)
        target = gesture.scan.target
        if gesture.clicked:
            self._second_click(gesture, now)
            return
        gesture.clicked = True
        if target is None or now.target is None:
            if target is not now.target or action["y"] >= QUERY_HEIGHT:
                raise Unconvertible(TARGET_ABSENT)
            return
        if key_of(target) != key_of(now.target):
            raise Unconvertible(DRAG)
        self._act_on(gesture)

    def _second_click(self, gesture: Gesture, now: Scan) -> None:
        """Handle a second click of one gesture: a label passes its click on to its control, and a drop-down list sends
        one when it closes. Any other is `Unconvertible`."""
        target = gesture.scan.target
        if target is None or target["tag"] not in ("LABEL", "SELECT"):
            raise Unconvertible(NO_MOUSEDOWN)
        if gesture.act and target["tag"] == "LABEL" and now.target is not None:
            control = key_of(now.target)
            gesture.act.same = [node for node in elements_of(gesture.scan.root) if key_of(node) == control][:1]

    def _act_on(self, gesture: Gesture) -> None:
        gesture.act = _act_of(gesture)
        self._acts.append(gesture.act)

    def _end_gesture(self, is_last: bool) -> None:
        """Decide what a press without a click was: a click all the same, or no step; `Unconvertible` for a drag."""
        gesture, self._gesture = self._gesture, None
        if gesture is None or gesture.clicked or gesture.scan.target is None:
            return
        target = gesture.scan.target
        if is_field(target) or (is_last and not gesture.interrupted):
            self._act_on(gesture)
        elif gesture.moved and not has_elements(target):
            raise Unconvertible(DRAG)

    def _keydown(self, code: int, now: Scan) -> None:
        if code in CONTROL_KEYS:
            self._control_is_down = True
        if self._gesture and self._gesture.clicked:
            self._gesture = None  # a click after this comes from the keyboard
        target = now.target
        if code not in PRESSED or target is None or target["tag"] == "TEXTAREA":
            return
        if target["tag"] == "SELECT" and PRESSED[code] != "Enter":
            raise Unconvertible(INFERRED_OPTION)
        is_control = target["tag"] in CONTROLS or (target["tag"].startswith("INPUT_") and not is_field(target))
        if is_control or (is_field(target) and PRESSED[code] == "Enter"):
            self._flush()
            self._acts.append(DraftStep("PRESS", target, now.root, now.time, PRESSED[code]))

    def _keypress(self, code: int, now: Scan) -> None:
        target = now.target
        if target is None or code < 32 or self._control_is_down:
            return
        if target["tag"] == "SELECT":  # goes to the next option with this letter
            raise Unconvertible(INFERRED_OPTION)
        if is_field(target):
            self._keys.setdefault(key_of(target), DraftStep(TYPED, target, now.root, now.time))

    def _flush(self) -> None:
        """End the typing in all fields: what was typed becomes acts."""
        lost = [act for key, act in self._keys.items() if key not in self._typing]
        self._acts += [*self._typing.values(), *lost]
        self._typing, self._keys = {}, {}


def _act_of(gesture: Gesture) -> DraftStep:
    """The CLICK, or the SELECT when it hit an option."""
    scan = gesture.scan
    assert scan.target is not None
    act = DraftStep("CLICK", scan.target, scan.root, scan.time, point=gesture.point)
    if scan.parent is not None and scan.target["tag"] == "OPTION" and scan.parent["tag"] == "SELECT":
        act.operation, act.target, act.value = "SELECT", scan.parent, text_of(scan.target)
    elif scan.parent is not None and scan.parent["tag"] == "LABEL":
        act.same = [scan.parent]
    return act


def _merged(acts: list[DraftStep]) -> Iterator[DraftStep]:
    """One act for each run of acts on one field or one SELECT."""
    for _, group in groupby(acts, key=lambda act: (key_of(act.target), act.operation == "PRESS")):
        run = list(group)
        if run[0].operation == "PRESS":
            yield from run
        elif is_field(run[0].target):
            yield from _typed(run)
        elif run[0].target["tag"] == "SELECT":
            yield _selected(run)
        else:
            yield from run


def _typed(run: list[DraftStep]) -> list[DraftStep]:
    """The steps of a run of acts on one field: where anything was typed, one TYPE; else its clicks."""
    texts = [act.value for act in run if act.operation == "TYPE"]
    if not texts:
        if any(act.operation == TYPED for act in run):
            raise Unconvertible(TEXT_LOST)
        return run
    first = run[0]
    if texts[-1] == first.target["value"]:
        raise Unconvertible(NO_CHANGE)
    return [DraftStep("TYPE", first.target, first.page, first.time, texts[-1], first.point)]


def _selected(run: list[DraftStep]) -> DraftStep:
    options = {act.value for act in run if act.operation == "SELECT"}
    if not options:
        raise Unconvertible(INFERRED_OPTION)
    if len(options) > 1:
        raise Unconvertible(SEVERAL_OPTIONS)
    first = run[0]
    return DraftStep("SELECT", first.target, first.page, first.time, options.pop(), first.point)
