"""`plan.kind=program`: a program whose calls are the actions (Synapse on MiniWoB++). Core."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape

from agents.programs.confined import ProgramCall, ProgramCalls, calls_of, lacking
from agents.programs.inside import MODULES
from agents.recipes.literature import Recipe
from agents.stages.compose.programs import ProgramPrompt
from agents.stages.kind import StageKind
from agents.stages.plan.kinds import MODEL_SETTINGS, AskingPlanner
from agents.stages.simplify.abstracted import Abstracted
from agents.stages.state import StepState
from agents.types import Action
from agents.words.exemplar_sets import PROGRAMS, programs_before
from agents.words.markup import named_by
from agents.words.trajectory_parse import in_fence
from annotations.dom.limits import PageError
from annotations.dom.tree import NODE_ID, Element

KEYS = {
    "enter": "Enter",
    "space": "Space",
    "backspace": "Backspace",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "command+a": "Control+a",
    "command+c": "Control+c",
    "command+v": "Control+v",
}
COMMAND = "command"
FIELDS = frozenset({"input", "textarea"})
STOP = Action("STOP")


class WrittenProgram(AskingPlanner):
    """One reply: a program, which runs confined; what it tells its agent to do is done in that order."""

    needs_ranking, acts_often = False, True
    reads = MODEL_SETTINGS | {"plan.programs", "quirks.q17_typed_command_presses"}

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        return "Writes a program; what its agent is told to do is done in that order."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "the calls of 1 program"

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        why = lacking()
        return [*super().lacking(recipe), *([why] if why else [])]

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return Abstracted, ProgramPrompt

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"history"})

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {
            "programs": "A program runs to its end in a process without files and network, and then its calls are "
            f"carried out; it may import {', '.join(MODULES)} alone. The published code runs it beside the browser, "
            "with all of Python.",
            "rest": "After each call the page comes to rest; the published code waits a second.",
            "idle": "An episode ends with a program that tells its agent nothing; the published code asks again about "
            "the same page while programs are left.",
            "recorded": "On a recorded page only the first thing that a program does is judged.",
        }

    def run(self, states: Sequence[StepState]) -> None:
        for state, generated in self.generate(states):
            if generated.error:
                state.note("plan", kind=self.recipe.plan.kind, reply=generated.text)
                state.fail(generated.error)
                continue
            program = in_fence(generated.text)
            done = calls_of(program)
            state.note("plan", kind=self.recipe.plan.kind, reply=generated.text, program=program, said=done.error)
            first, *more = self._actions(state, done) or [None]
            state.following = tuple(action for action in more if action is not None)
            state.close(first)

    def _actions(self, state: StepState, done: ProgramCalls) -> Sequence[Action | None]:
        seen = state.observation
        if not seen.markup:
            return [self._recorded(state, done)]
        actions = [*self._live(done.calls)]
        allowed = self.recipe.plan.programs or PROGRAMS.get(seen.website, 1)
        return [*actions, STOP] if actions and len(programs_before(seen)) + 1 >= allowed else actions

    def _live(self, calls: Iterable[ProgramCall]) -> Iterator[Action]:
        """The actions of a program's calls, as a live page takes them: by XPath, or by the keyboard. The first that is
        no possible action ends the program, as published."""
        for call in calls:
            action = self._action_of_call(call)
            if action is None:
                return
            yield action

    def _action_of_call(self, call: ProgramCall) -> Action | None:
        if call.method == "type":
            pressed = call.text.startswith(COMMAND) and self.recipe.quirks.q17_typed_command_presses
            return self._pressed(call.text) if pressed else Action("TYPE", None, call.text)
        return ACTIONS[call.method](self, call.text)

    def _pressed(self, key: str) -> Action | None:
        return Action("PRESS", None, KEYS[key]) if key in KEYS else None

    def _clicked(self, path: str) -> Action:
        return Action("CLICK", None, path)

    def _chosen(self, path: str) -> Action:
        return Action("SELECT", None, path)

    def _hovered(self, path: str) -> Action:
        return Action("HOVER", None, path)

    def _recorded(self, state: StepState, done: ProgramCalls) -> Action | None:
        """The first action of a program, in the form of recorded steps, where typing into a field includes the click on
        it."""
        if not done.calls:
            return None
        call, *after = done.calls
        told = self._action_of_call(call)
        if told is None or told.operation in ("TYPE", "PRESS"):
            return told
        try:
            element = next(iter(named_by(call.text, state.observation.root)), None)
        except PageError:
            element = None
        if element is None:
            return told
        if call.method == "click_option" or element.tag == "option":
            return Action("SELECT", _node_of(element.getparent()), _text_of(element))
        if call.method == "click_xpath" and element.tag in FIELDS and after and after[0].method == "type":
            return Action("TYPE", _node_of(element), after[0].text)
        return Action(told.operation, _node_of(element))


ACTIONS: dict[str, Callable[[WrittenProgram, str], Action | None]] = {
    "press": WrittenProgram._pressed,
    "click_xpath": WrittenProgram._clicked,
    "click_option": WrittenProgram._chosen,
    "movemouse": WrittenProgram._hovered,
}


def _node_of(element: Element | None) -> str | None:
    return None if element is None else element.get(NODE_ID)


def _text_of(element: Element) -> str:
    return " ".join(unescape("".join(element.itertext())).split())
