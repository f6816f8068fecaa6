"""What of a page reaches a prompted planner. Core."""

from collections.abc import Sequence

from agents.stages.kind import StageKind
from agents.stages.state import StepState


class SeenText(StageKind):
    """The page as text; it is parsed when a stage first asks for it, once."""

    stage = "observe"
    image, text = False, True

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.sees_text = self.text
            state.image = state.observation.screenshot if self.image else None
            state.note("observe", candidates=0)


class SeenImage(SeenText):
    """A screenshot instead of the page's text."""

    image, text = True, False


class SeenBoth(SeenText):
    """The page as text and a screenshot."""

    image = True
