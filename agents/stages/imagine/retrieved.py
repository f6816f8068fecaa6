"""`imagine.kind=retrieval`: what past transitions say of actions, and of those that would follow them. Core."""

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from agents.recipes.literature import Recipe
from agents.stages.imagine.considered import Considered
from agents.stages.imagine.worlds import Imagining
from agents.stages.kind import CannotRun, Parts
from agents.types import Action, ImaginedStep, Observation, PastAction, RecordedStep
from agents.words.action_text import told
from agents.world_model.imagined_pages import imagined_page, is_imagined
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.elements import describe, elements
from annotations.dom.tree import Element, node_ids

CASES_NOTED = 3  # of each action in a trace
KEYS = 1_000  # of imagined pages to each step, so that no two have the same


class RetrievedWorldModel(Imagining):
    """The past transitions that are most like each of the most frequent actions say what it changes, and how sure that
    is. To look further, that is done to a copy of the page, and the recipe's planner says what it would do there."""

    names_weights = True
    reads = Imagining.reads | {"imagine.depth"}

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        if parts.remembered is None:
            raise CannotRun(f"{self.recipe.name} looks up past transitions, and none were given")
        self.remembered = parts.remembered

    @classmethod
    def says(cls, recipe: Recipe) -> str:
        return "Past transitions like it say where"

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        super().prepare(conversation_ids)
        try:
            self.remembered.prepare()
        except ValueError as error:
            raise CannotRun(str(error)) from error

    def imagine(self, considered: Sequence[Considered]) -> None:
        super().imagine(considered)
        for state in {id(one.state): one.state for one in considered}.values():
            own = [one for one in considered if one.state is state]
            predictions = [one.prediction for one in own if one.prediction]
            confidences = [round(one.steps[0].confidence or 0.0, 4) for one in own if one.steps]
            state.note("imagine", confidences=confidences)  # of each action itself; with what follows, see `further`
            cases = [[case.key for case in prediction.cases[:CASES_NOTED]] for prediction in predictions]
            state.note("imagine", cases=cases)

    def foretell(self, considered: Sequence[Considered]) -> None:
        predictions = self.remembered.world_model().predict([one.situation for one in considered])
        for one, prediction in zip(considered, predictions, strict=True):
            if one.prediction:  # all that was imagined before must come true too
                prediction = replace(prediction, confidence=one.prediction.confidence * prediction.confidence)
            one.prediction = prediction
            one.add(ImaginedStep(one.next_action, prediction.text, prediction.confidence))

    def go_on(self, considered: Sequence[Considered]) -> list[Considered]:
        """Have the planner act on each imagined page. Where it has no action there, nothing more is imagined."""
        going = [(one, seen) for one in considered if (seen := _expected(one)) is not None]
        further = []
        for (one, _), ahead in zip(going, self.parts.planned([seen for _, seen in going]), strict=True):
            one.state.usage += ahead.usage
            if ahead.action is not None:
                one.ahead, one.next_action = ahead, told(ahead.action, ahead.ranking)
                one.ahead_tree = accessibility_tree(ahead.observation.root)
                further.append(one)
        return further


def _expected(one: Considered) -> Observation | None:
    """The step as it would stand after the last action that is imagined: on the imagined page, with that action done.
    None where it is no action on a page."""
    before = one.ahead or one.state
    seen, action = before.observation, one.last
    if one.prediction is None or not action.node_id:
        return None
    page = imagined_page(seen.root, one.prediction.happenings, action.node_id)
    ids = node_ids(page)
    past = PastAction(_words(action, seen.root), action.operation, action.node_id, action.value)
    return replace(
        seen,
        key=-((abs(seen.key) + 1) * KEYS + one.place % KEYS),
        step_index=seen.step_index + 1,
        html=etree.tostring(page, encoding="unicode"),
        markup="",
        # of recorded pages some elements alone may be ranked: what came is among them, what went is not
        candidate_ids=tuple(node for node in ids if node in seen.candidate_ids or is_imagined(node))
        if seen.candidate_ids
        else (),
        turn_actions=(*seen.turn_actions, past),
        turn_steps=(*seen.turn_steps, RecordedStep(seen, past, (action.node_id,))),
    )


def _words(action: Action, page: Element) -> str:
    """The action as prompts show past ones: "[button]  Search -> CLICK"."""
    target = next((describe(element) for element in elements(page) if element.node_id == action.node_id), "")
    return f"{target} -> {action.operation}{f': {action.value}' if action.value else ''}"
