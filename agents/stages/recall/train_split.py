"""The kinds of `recall.exemplars` and `recall.workflows`, which search the train split. Core."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from agents.prompts.catalogue import induction_texts
from agents.recipes.literature import Recipe
from agents.stages.kind import SEEDS, Beside, Parts, StageKind, unless
from agents.stages.recall.asked import objectives
from agents.stages.state import StepState
from agents.types import PromptExemplar
from agents.words.trajectory import exemplar_key
from annotations.text.amounts import amount

TURNS = "A task is a turn of a conversation: an exemplar is one turn of the train split, not a whole conversation."
INDUCED_ONLINE = (
    "Online workflows are induced after each conversation, the published ones after each task: the same where a "
    "conversation is one task."
)
LEARNT_OFFLINE = (
    "A model that is trained here reads workflows of the train split; a run shows those that it wrote itself, at first "
    "none."
)


OBJECTIVES = (
    "The objective of the next action is predicted from all earlier pages of the turn (H_1..t-1 in equation 3.5 of the "
    "paper), each shown by simplify.history_elements elements: we read the k = 3 of its figure 3.2 as these."
)
OF_OBJECTIVES = ("simplify.page_elements", "simplify.history_elements")  # in the prompt that asks for one


class DrawnExemplars(StageKind):
    """k trajectories of the same site, else of its domain, drawn once for each task."""

    stage = "recall"
    reads = frozenset({"recall.exemplar_k"})
    gives = frozenset({"exemplars"})
    counted_by = "recall.exemplar_k"
    how: ClassVar[str] = ", drawn from the same site, else from its domain"  # they are chosen, in a sentence
    fixed: ClassVar[bool] = False  # the same ones for every task

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Shows {cls.hands_on(recipe)}{cls.how}, all from the train split."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return amount(recipe.recall.exemplar_k, "exemplar")

    @classmethod
    def searches(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"exemplars"})

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {"turns": TURNS} | cls.drawing()

    @classmethod
    def drawing(cls) -> dict[str, str]:
        """The deviations of how exemplars are drawn: name -> a sentence."""
        return SEEDS

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._found: dict[tuple[int, int], tuple[PromptExemplar, ...]] = {}  # (conversation, turn)

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        self.parts.the_memory().prepare_exemplars()

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.exemplars = self._exemplars(state)
            state.note("recall", exemplars=[_traced(exemplar) for exemplar in state.exemplars])

    def _exemplars(self, state: StepState) -> tuple[PromptExemplar, ...]:
        seen, k = state.observation, self.recipe.recall.exemplar_k
        task = (seen.conversation, seen.turn_index)
        if task not in self._found:
            found = self.parts.the_memory().exemplars(seen, self.query(state), k, self.fixed)
            self._found[task] = tuple(found)
        return self._found[task]

    def query(self, state: StepState) -> np.ndarray | None:
        return None


class FixedExemplars(DrawnExemplars):
    """The same k trajectories of the train split for every task."""

    how = ", the same for every task"
    fixed = True

    @classmethod
    def drawing(cls) -> dict[str, str]:
        return {
            "fixed-exemplars": "The exemplars that every task shares are drawn with the run's seed from the train "
            "split in the order of its files; the published ones with seed 0 from the authors'."
        }


class NearestExemplars(DrawnExemplars):
    """The k trajectories whose website, domain and task are nearest in meaning (Synapse), or whose task alone."""

    reads = DrawnExemplars.reads | {"recall.exemplar_key", "recall.encoder"}
    how = " of the tasks most similar by website, domain and text"
    embeds = True

    @classmethod
    def drawing(cls) -> dict[str, str]:
        return {
            "search": "Vectors are stored in half precision, and pools of 50,000 exemplars or more are searched "
            "approximately."
        }

    def query(self, state: StepState) -> np.ndarray | None:
        seen = state.observation
        key = self.recipe.recall.exemplar_key
        text = exemplar_key(key, seen.website, seen.domain, seen.subdomain, seen.instruction)
        query: np.ndarray = self.parts.the_encoder().encode([text])[0]
        return query


class SiteWorkflows(StageKind):
    """The workflows of the site; where it has none, k of its domain, or of all (AWM)."""

    stage = "recall"
    reads = frozenset({"recall.workflow_k", "recall.induction", "recall.induction_style"})
    gives = frozenset({"workflows"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        offline = beside.recipe.recall.induction == "offline"
        some = "recall.workflows=semantic or recall.induction=offline: a run shows all that it wrote about a site"
        return unless(not offline, "recall.induction=online", "recall.induction_style") | unless(
            offline, some, "recall.workflow_k"
        )

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        recall = recipe.recall
        when = "from the site's train tasks" if recall.induction == "offline" else "from what the run did before"
        style = ", in abstract words" if recall.induction_style == "abstract" else ""
        return f"Shows workflows induced {when}{style}."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "workflows of the site"

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        recall = recipe.recall
        return frozenset(induction_texts(recall.induction_style) if recall.induction == "online" else ())

    @classmethod
    def searches(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"workflows"} if recipe.recall.induction == "offline" else ())

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return recipe.recall.induction == "online"

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        if recipe.recall.induction != "offline" or recipe.recall.induction_style == "concrete":
            return []
        return [
            "recall.induction=online for recall.induction_style: workflows of the train split are written abstractly "
            "by manage.py induce_workflows DATASET --style abstract"
        ]

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        if recipe.recall.induction == "offline":
            return cls.choosing()
        trained = recipe.plan.backend == "local"
        return {"online": INDUCED_ONLINE} | ({"training-workflows": LEARNT_OFFLINE} if trained else {})

    @classmethod
    def choosing(cls) -> dict[str, str]:
        """The deviations of how workflows of the train split are chosen: name -> a sentence."""
        return {
            "workflow-count": "A site without workflows gets those of its domain, or of all, at random, as many as "
            "recall.workflow_k says: the AWM paper gives no number, and 9 is what the authors of MIMS used."
        }

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        self.parts.the_memory().prepare_workflows(self.embeds)

    def run(self, states: Sequence[StepState]) -> None:
        """Search anew at every step: what the next action is for can change with the page."""
        k = self.recipe.recall.workflow_k
        for state, query in zip(states, self.queries(states), strict=True):
            found = self.parts.the_memory().workflows(state.observation, query, k)
            state.workflows = tuple(found)
            traced = [{"id": w.key, "name": w.name, "website": w.website, "distance": w.distance} for w in found]
            state.note("recall", workflows=traced)

    def queries(self, states: Sequence[StepState]) -> Sequence[np.ndarray | None]:
        return [None] * len(states)


class NearestWorkflows(SiteWorkflows):
    """The k workflows whose descriptions are nearest to the task, or to the objective that a model predicts (MIMS)."""

    counted_by = "recall.workflow_k"
    reads = SiteWorkflows.reads | {"recall.workflow_query", "recall.encoder", *OF_OBJECTIVES}
    embeds = True

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        asks = beside.recipe.recall.workflow_query == "objective"
        own = {name: wants for name, wants in super().idle(beside).items() if name != "recall.workflow_k"}
        return own | unless(asks, "recall.workflow_query=objective", *OF_OBJECTIVES)

    @classmethod
    def choosing(cls) -> dict[str, str]:
        return {}

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        query = "the predicted objective" if recipe.recall.workflow_query == "objective" else "the task"
        return f"Shows the {recipe.recall.workflow_k} workflows nearest to {query}."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.recall.workflow_k} workflows"

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        own = {"objective"} if recipe.recall.workflow_query == "objective" else set()
        return super().texts(recipe) | own

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return super().asks_llm(recipe) or recipe.recall.workflow_query == "objective"

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        predicted = recipe.recall.workflow_query == "objective"
        return super().deviations(recipe) | ({"objectives": OBJECTIVES} if predicted else {})

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"history"}) if recipe.recall.workflow_query == "objective" else frozenset()

    def queries(self, states: Sequence[StepState]) -> Sequence[np.ndarray | None]:
        texts = [state.observation.instruction for state in states]
        if self.recipe.recall.workflow_query == "objective":
            texts = objectives(self.parts, states)
        return list(self.parts.the_encoder().encode(texts))


def _traced(exemplar: PromptExemplar) -> dict[str, object]:
    return {
        "id": exemplar.key,
        "source": exemplar.source_id,
        "instruction": exemplar.instruction,
        "distance": exemplar.distance,
    }
