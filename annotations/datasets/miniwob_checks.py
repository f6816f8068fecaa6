"""What is wrong with a recorded MiniWoB++ episode: the first field of a wrong type, and what was expected.

Events are few and checked always. Pages hold hundreds of thousands of values, so they are only searched for
the culprit once reading one has failed.
"""

import json
import re
from typing import Any

from annotations.datasets.miniwob_dom import FIELDS, TEXT_NODE

Problem = tuple[str, str]  # field and message
TEXT, NUMBER, WHOLE, LIST, OBJECT = "text", "a number", "a whole number", "a list", "an object"
TYPES = {TEXT: (str,), NUMBER: (int, float), WHOLE: (int,), LIST: (list,), OBJECT: (dict,)}
NAMES = {str: TEXT, bool: "true or false", int: NUMBER, float: NUMBER, list: LIST, dict: OBJECT}

LARGEST = 1e300  # of a number; JSON's may be any, and neither floats nor the database hold those beyond

POINT = {"x": NUMBER, "y": NUMBER}
EVENTS = {
    "mousedown": POINT,
    "mouseup": POINT,
    "click": POINT,
    "keydown": {"keyCode": WHOLE},
    "keyup": {"keyCode": WHOLE},
    "keypress": {"charCode": WHOLE},
}
TEXT_NODE_FIELDS = {"tag": TEXT, "ref": WHOLE, "text": TEXT, "children": LIST}
ELEMENT_FIELDS = {
    "tag": TEXT,
    "ref": WHOLE,
    "id": TEXT,
    "bgColor": TEXT,
    "children": LIST,
    "left": NUMBER,
    "top": NUMBER,
    "width": NUMBER,
    "height": NUMBER,
}

# NUL and lone surrogates in JSON text: UTF-8 or PostgreSQL refuse them.
_UNSTORABLE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000|[\ud800-\udfff]")


def episode_problem(episode: Any) -> Problem | None:
    """The first wrong field outside the pages."""
    if not isinstance(episode, dict):
        return "", f"expected an object, found {_name(episode)}"
    optional = {name: TEXT for name in ("taskName", "demoId") if episode.get(name) is not None}
    problem = _fields(episode, {"utterance": TEXT, **optional, "rawReward": NUMBER, "states": LIST})
    if problem:
        return problem
    for name in ("utterance", *optional):
        if not episode[name].strip():
            return name, "expected text, found none"
    for name, value in episode.items():
        text = "" if name == "states" else json.dumps(value, ensure_ascii=False)
        if _UNSTORABLE.search(text):
            return name, "holds a NUL character or half of a surrogate pair; expected text that can be stored"
        if "Infinity" in text and not _is_finite(value):
            return name, "holds a number that is too large"
    for index, state in enumerate(episode["states"]):
        problem = _state_problem(state, f"states[{index}]")
        if problem:
            return problem
    return None


def page_problem(states: list[dict[str, Any]]) -> Problem | None:
    """The first wrong field inside the pages of states that `episode_problem` accepts."""
    for index, state in enumerate(states):
        waiting = [(state.get("dom"), f"states[{index}].dom")]
        while waiting:
            node, place = waiting.pop()
            problem = _node_problem(node, place)
            if problem:
                return problem
            children = node["children"] if node else ()
            waiting += [(child, f"{place}.children[{i}]") for i, child in enumerate(children)]
    return None


def _state_problem(state: Any, place: str) -> Problem | None:
    if not isinstance(state, dict):
        return place, f"expected an object, found {_name(state)}"
    action = state.get("action")
    if action is None:
        return _fields(state, {"time": NUMBER}, place)
    return (
        _fields(state, {"time": NUMBER, "action": OBJECT}, place)
        or _fields(action, {"type": TEXT, "timing": WHOLE}, f"{place}.action")
        or _fields(action, EVENTS.get(action["type"], {}), f"{place}.action")
    )


def _node_problem(node: Any, place: str) -> Problem | None:
    if not isinstance(node, dict):
        return place, f"expected an object, found {_name(node)}"
    problem = _fields(node, TEXT_NODE_FIELDS if node.get("tag") == TEXT_NODE else ELEMENT_FIELDS, place)
    if problem:
        return problem
    if not isinstance(node.get("text"), str | None):
        return f"{place}.text", f"expected text, found {_name(node['text'])}"
    if node["tag"] in FIELDS and "value" not in node:
        return f"{place}.value", "expected what stands in the field, but the field is missing"
    if not isinstance(node.get("value"), str | bool | None):
        return f"{place}.value", f"expected text or true or false, found {_name(node['value'])}"
    return None


def _fields(values: dict[str, Any], expected: dict[str, str], place: str = "") -> Problem | None:
    for name, kind in expected.items():
        value = values.get(name)
        if not isinstance(value, TYPES[kind]) or isinstance(value, bool):
            return f"{place}.{name}" if place else name, f"expected {kind}, found {_name(value)}"
        if isinstance(value, int | float) and not abs(value) <= LARGEST:
            return f"{place}.{name}" if place else name, "expected a number, found one that is too large"
    return None


def _is_finite(value: Any) -> bool:
    """Whether a JSON value holds no number beyond the largest float, which was read as infinite."""
    if isinstance(value, dict | list):
        return all(_is_finite(item) for item in (value.values() if isinstance(value, dict) else value))
    return isinstance(value, bool) or not isinstance(value, float | int) or abs(value) <= LARGEST


def _name(value: Any) -> str:
    return NAMES.get(type(value), "nothing")
