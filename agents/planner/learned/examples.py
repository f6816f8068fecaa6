"""What the planner learns from: observations with what people did. Core."""

from dataclasses import dataclass

from agents.types import Observation

OPERATIONS = ("CLICK", "TYPE", "SELECT", "PRESS")


@dataclass(frozen=True)
class Example:
    """One gold step. Any of `node_ids` is right; `group` (task or website) is balanced in the loss."""

    observation: Observation
    operation: str
    value: str
    node_ids: tuple[str, ...]
    group: str
