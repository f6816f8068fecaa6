"""`act.guard`: what of the actions is risky, for live runs to hold and for the replay to say. Core."""

from collections.abc import Sequence

from agents.guard.judging import judge
from agents.guard.learned import packaged
from agents.guard.policy import CAN_COMMIT
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.state import StepState
from agents.world_model.predicting import Prediction, Situation
from annotations.dom.limits import PageError
from annotations.sandbox.deadline import page_deadline

SECONDS = 20.0  # for one page; what is not judged by then is not done


class Guarded(StageKind):
    """A risky action, by the website's policy and by what the page says, is held in a live run until a person
    decides."""

    stage = "act"
    reads = frozenset({"act.guard_seconds"})

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "held where it is risky"

    def run(self, states: Sequence[StepState]) -> None:
        acting = [state for state in states if state.action is not None]
        for state, prediction in zip(acting, self.foreseen(acting), strict=True):
            self._judge(state, prediction)

    def foreseen(self, states: Sequence[StepState]) -> Sequence[Prediction | None]:
        """What is predicted of each state's action, for the guard to judge; None without a prediction."""
        return [None] * len(states)

    def _judge(self, state: StepState, prediction: Prediction | None) -> None:
        seen, action, rules = state.observation, state.action, self.parts.policy
        assert action is not None
        try:
            with page_deadline(SECONDS):
                root = seen.root if seen.html else None
                said = judge(
                    root,
                    action,
                    website=seen.website,
                    url=seen.url,
                    rules=rules,
                    prediction=prediction,
                    learned=packaged(),
                )
        except PageError as error:
            if action.operation in CAN_COMMIT:
                return state.fail(f"Not done, as the guard could not read the page: {error}")
            return None
        if prediction is not None:
            state.note("act", expected=prediction.text, sure=round(prediction.confidence, 3))
        if (risk := said.risk) is not None:
            state.note("act", held={"kind": risk.kind, "why": risk.why, "by": risk.by, "sure": risk.sure})
        elif said.passed_by:
            state.note("act", passed=said.passed_by)
        return None


class GuardedAndForeseen(Guarded):
    """A risky action, by the website's policy, by what the page says and by what past transitions expect to appear, is
    held in a live run until a person decides."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        if parts.remembered is None:
            raise CannotRun("act.guard=policy+prediction looks up past transitions, and none were given")
        self.remembered = parts.remembered

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        try:
            self.remembered.prepare()
        except ValueError as error:
            raise CannotRun(str(error)) from error

    def foreseen(self, states: Sequence[StepState]) -> Sequence[Prediction | None]:
        found: dict[int, Prediction] = {}
        asked = [(place, one) for place, state in enumerate(states) if (one := _situation(state)) is not None]
        predictions = self.remembered.world_model().predict([one for _, one in asked])
        for (place, _), prediction in zip(asked, predictions, strict=True):
            found[place] = prediction
        return [found.get(place) for place in range(len(states))]


def _situation(state: StepState) -> Situation | None:
    seen, action = state.observation, state.action
    try:
        return Situation.of(seen.instruction, seen.root, action, seen.website, seen.conversation) if action else None
    except PageError:
        return None
