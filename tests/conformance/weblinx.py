"""WebLINX conformance files: each is one object of several lists, with the demonstrations that the cases name."""

import re
from typing import Any

from agents.weblinx.turns import Demo, PagesByName
from tests.conformance import cases

GROUP = "weblinx_wma"
TOY_TOKENS = {"toy4": r"\w{1,4}|[^\w\s]", "toy4b": r"\w{1,4}|\.+|[^\w\s]"}


def params(name: str, *keys: str) -> list[Any]:
    """One pytest parameter per case of the list under `keys`; a single skipped one when there are none."""
    return cases.params(name, GROUP, *keys)


def section(name: str, *keys: str) -> Any:
    """The list or object under `keys`."""
    return cases.load(name, GROUP, *keys)


def demos(name: str, *keys: str) -> dict[str, Demo]:
    """The file's demonstrations by name."""
    return {
        case["name"]: Demo.from_replay(case["name"], case["replay"], PagesByName(case["pages"], case["bboxes"]))
        for case in section(name, *keys, "demos")
    }


class ToyTokenizer:
    """The tokenizers of the cases: matches of a regular expression."""

    def __init__(self, name: str):
        self.pattern = re.compile(TOY_TOKENS[name])

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in self.pattern.finditer(text)]
