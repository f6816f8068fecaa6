"""What of a page reaches a prompted planner. Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from agents.stages.state import StepState


class SeenText(StageKind):
    """The page as text; it is parsed when a stage first asks for it, once."""

    stage = "observe"
    image, text = False, True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Reads the page as text."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return " and ".join([*(["text"] if cls.text else []), *(["screenshot"] if cls.image else [])])

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"screenshot"} if cls.image else ())

    @classmethod
    def searches(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"screenshots"} if cls.image else ())

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.sees_text = self.text
            state.image = state.observation.screenshot if self.image else None
            state.note("observe", sees=self.hands_on(self.recipe))


class SeenImage(SeenText):
    """A screenshot instead of the page's text. A step without one fails: nothing of its page would be seen."""

    image, text = True, False

    def run(self, states: Sequence[StepState]) -> None:
        super().run(states)
        for state in states:
            if state.image is None:
                state.fail("the step has no screenshot, and observe.observation=image shows nothing else")

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Sees a screenshot of the page."


class SeenBoth(SeenText):
    """The page as text and a screenshot."""

    image = True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Reads the page as text and sees a screenshot."
