"""Read the reply to a trajectory prompt: "Action: `TYPE [id] [value]` (why)" (sources.md M7.3, M7.6). Core."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.llm.protocol import exactly

_BACKTICKS = re.compile(r"`(.*?)`", re.DOTALL)
_FENCED = re.compile(r"```[a-zA-Z]*+\n?+(.*?)\n?```", re.DOTALL)
_ACT = re.compile(r"(?:^|\s)(CLICK|SELECT|TYPE)?\s?\[(.+?)\](?:\s\[(.+?)\])?")
_BARE_ACT = re.compile(r"\[?(CLICK|SELECT|TYPE)\]?\s*\[(\d+)]\s*(?:\[(.+?)\])?")
_SHOWN_ID = re.compile(r" id=([^\s>`]+)")
MAX_VALUE = 60  # characters that a small model may type
MAX_ACT = 3_000  # characters of an action text that are looked at: its brackets may not be closed


class ActionParts(NamedTuple):
    """The parts of an action text; None for what it does not say."""

    operation: str | None
    node_id: str | None
    value: str | None

    def operation_text(self) -> str:
        """ "OP value" as the operation F1 compares it; missing parts are empty, and a CLICK has no value."""
        return f"{self.operation or ''} {'' if self.operation == 'CLICK' else self.value or ''}"


def in_backticks(reply: str) -> str:
    """The text within the first pair of backticks of a reply; "" without one."""
    found = _BACKTICKS.search(reply)
    return found[1] if found else ""


def in_fence(reply: str) -> str:
    """The first fenced block of a reply; "" without one. Letters right after the fence are taken for its label."""
    found = _FENCED.search(reply)
    return found[1] if found else ""


def bare_act(reply: str) -> str:
    """The first action of a reply without backticks, in the prompt's notation; "" without one.

    The published local models fall back to this in prompts without trajectories.
    """
    found = _BARE_ACT.search(reply)
    if found is None:
        return ""
    return f"{found[1]} [{found[2]}]" + (f" [{found[3]}]" if found[3] else "")


def parse_act(act: str) -> ActionParts:
    """The first "OP [id] [value]" of an action text; three times None where nothing stands in brackets."""
    found = _ACT.search(act[:MAX_ACT])
    return ActionParts(found[1], found[2], found[3]) if found else ActionParts(None, None, None)


def shown_ids(page: str) -> list[str]:
    """The ids that a page's text names, each once."""
    return list(dict.fromkeys(_SHOWN_ID.findall(page)))


def act_pattern(ids: Sequence[str]) -> str:
    """A regular expression for an answer with an action on one of these elements; "" without elements."""
    if not ids:
        return ""
    element = rf"\[({'|'.join(map(exactly, ids))})\]"
    return rf"Action: `(CLICK {element}|(TYPE|SELECT) {element} \[[^\]`\n]{{1,{MAX_VALUE}}}\])`"
