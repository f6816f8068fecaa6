"""What the planner learns from: observations with what people did. Core."""

from dataclasses import dataclass, replace

from agents.types import Observation, RecordedStep
from agents.words.values import unquoted

OPERATIONS = ("CLICK", "TYPE", "SELECT", "PRESS", "HOVER")
WITHOUT_VALUE = frozenset({"CLICK", "HOVER"})


@dataclass(frozen=True)
class Example:
    """A step to learn from. `group`: its task or website; steps are drawn so that large groups do not outweigh small
    ones."""

    step: RecordedStep
    group: str

    @property
    def observation(self) -> Observation:
        return self.step.observation


def without_quotes(example: Example) -> Example | None:
    """The example with the marks taken off the quoted parts of its instruction; None where nothing is quoted.

    Demonstrations mostly quote what is to be found or typed, people often do not.
    """
    instruction = unquoted(example.observation.instruction)
    if instruction == example.observation.instruction:
        return None
    seen = replace(example.observation, instruction=instruction)
    return replace(example, step=replace(example.step, observation=seen))
