"""Rationales that a recipe has a model write in use, written before a planner is trained for it: both read the same.
Shell."""

from collections.abc import Callable
from typing import Any

from agents.cookbook.texts import pack_of
from agents.llm import connection
from agents.llm.protocol import Llm
from agents.memory.jobs import STEPS
from agents.memory.rationales import RationaleWriter
from agents.memory.refine import Asks, refine_steps, request_of
from agents.prompts.packs import PACKAGED
from agents.recipes.literature import Recipe, asked_model
from agents.runs import writers
from agents.stages.known import has_memory
from agents.stages.registry import LANGUAGE_MODELS, planner_named
from agents.stages.simplify.around import rationale_request
from agents.training.fit.loop import TrainingError
from agents.training.samples.left_out import LeftOut
from agents.training.samples.rows import SplitRows
from agents.training.settings import PlannerSettings, make_settings
from annotations.models import Dataset, Split, Step
from annotations.text.amounts import amount


def shown_reasons(kind: str, params: dict[str, Any], dataset: Dataset, recipe: Recipe | None) -> "ShownReasons | None":
    """The rationales in the samples of a training of that kind with these parameters; None where it shows none."""
    if recipe is None or kind not in LANGUAGE_MODELS:
        return None
    settings = make_settings(kind, params["changes"])
    assert isinstance(settings, PlannerSettings)
    return ShownReasons(
        recipe, settings, SplitRows(dataset, Split.TRAIN, params["limit"]), SplitRows(dataset, Split.DEV)
    )


class ShownReasons:
    """The rationales that the samples of a training show, as far as nobody has written them."""

    def __init__(self, recipe: Recipe, settings: PlannerSettings, train: SplitRows, dev: SplitRows) -> None:
        self.recipe, self.settings, self.train, self.dev = recipe, settings, train, dev

    def missing(self) -> list[tuple[int, int]]:
        """Each step that has none, with its conversation: of the conversations that are read, and of the whole train
        split where exemplars are shown."""
        if not self._are_asked_for():
            return []
        rows = Step.objects.filter(turn__conversation__in=self._shown_conversations())
        return list(rows.unexplained().order_by("pk").values_list("pk", "turn__conversation_id"))

    def refusal(self) -> str:
        """Why the recipe's planner cannot be trained: rationales are missing, and no model can be asked; else ""."""
        reason = connection.lacking(asked_model(self.recipe)) if self._are_asked_for() else ""
        if not reason or not (missing := self.missing()):
            return ""
        name, pack = self.train.dataset.name, self.recipe.prompts.pack
        words = "" if pack == PACKAGED else f" --prompts {pack}"
        return (
            f"{self.recipe.name} shows {amount(len(missing), 'step')} of {name} with a rationale that nobody has "
            f"written, and no model can be asked ({reason}): have them written by manage.py build_memory {name} "
            f"--rationales{words}, or set recall.rationales=stored."
        )

    def are_written(
        self, llm: Callable[[], Llm], unanswered: LeftOut, tell: Callable[..., None], until: Callable[[], bool]
    ) -> bool:
        """Have what is missing written, in batches; False where the slice ended before. `unanswered` keeps the steps
        that the model says nothing readable of: these are asked once. TrainingError where nobody can be asked."""
        waiting = [pair for pair in self.missing() if f"step {pair[0]}" not in unanswered]
        if not waiting:
            return True
        if said := self.refusal():
            raise TrainingError(said)
        writer = RationaleWriter(llm(), pack=pack_of(self.recipe, self.train.dataset))
        for start in range(0, len(waiting), STEPS):
            if start and until():
                return False
            tell("asking for rationales", start, len(waiting), "steps")
            for error in refine_steps(waiting[start : start + STEPS], writer, self.asks())[1]:
                unanswered.add(error["record"], ValueError(error["message"]))
        return True

    def asks(self) -> Asks:
        """What is asked about a step, as a run of the recipe asks it."""
        planner = planner_named(self.settings.paradigm)
        return request_of if planner and planner.form else rationale_request

    def written(self) -> list[str]:
        """Who wrote the rationales that the samples show, as sentences for the model's card; empty where they show
        none."""
        if self.recipe.recall.rationales == "none" or not self._are_shown():
            return []
        by = Step.objects.filter(turn__conversation__in=self._shown_conversations()).writers()
        return writers.sentences(f"a sample of {self.recipe.name}", {"rationales": by} if by else {})

    def read_conversations(self) -> list[int]:
        """The conversations whose steps are samples, and those that are measured."""
        return [*self.train.conversation_ids, *self._measured()]

    def _shown_conversations(self) -> list[int]:
        whole = self.recipe.recall.exemplars != "none"
        train = SplitRows(self.train.dataset, Split.TRAIN) if whole else self.train
        return [*train.conversation_ids, *self._measured()]

    def _are_asked_for(self) -> bool:
        return self.recipe.recall.rationales == "model" and self._are_shown()

    def _are_shown(self) -> bool:
        planner = planner_named(self.settings.paradigm)
        if planner is None:  # of a world model or a value function, whose samples show no earlier steps
            return False
        return self.settings.refinement if planner.form else has_memory(self.recipe)

    def _measured(self) -> list[int]:
        """The dev conversations whose steps are measured."""
        rows = Step.objects.filter(turn__conversation__in=self.dev.conversation_ids)
        rows = rows.order_by("turn__conversation__position", "turn__conversation_id", "turn__index", "index")
        return sorted(set(rows.values_list("turn__conversation_id", flat=True)[: self.settings.dev_examples]))
