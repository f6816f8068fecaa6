"""Turns of WebLINX as prompts with their action strings (sources.md A6). Shell.

The prompts are made by the very recipe that will use the model: its ranker chooses the candidates, its planner
writes the prompt. What the planner asks is kept instead of answered.
"""

from collections.abc import Iterator
from typing import Any

from agents.generators.local import prompt_ids
from agents.observations import RecordedConversation
from agents.pipeline import BEFORE, ROUNDS, Pipeline
from agents.prompts.packs import Pack
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.weblinx_demos import demo_of
from agents.stages.kind import Parts
from agents.training.samples.asked import Asked
from agents.training.samples.rows import PairRows, SplitRows
from agents.training.settings import PlannerSettings
from agents.weblinx.prompt import prompt_turns, target

RECIPE = "weblinx-flan-t5"


class ActionRows(PairRows):
    """The turns that models are trained on, as token ids of the prompt and the text of the answer."""

    def __init__(
        self,
        rows: SplitRows,
        settings: PlannerSettings,
        tokenizer: Any,
        recipe: Recipe | None = None,
        pack: Pack | None = None,
    ) -> None:
        changes = {"compose.history_turns": str(settings.history_turns), "rank.model": settings.ranker}
        self.rows, self.settings, self.tokenizer = rows, settings, tokenizer
        self.recipe = literature.override(recipe or literature.get(RECIPE), changes)
        self._asked = Asked(tokenizer)
        self._pipeline = Pipeline.of(Parts(self.recipe, generator=self._asked, pack=pack), (*BEFORE, *ROUNDS))

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        demo = demo_of(recorded)
        steps = {step.source_index: step for step in recorded.steps}
        turns = [turn for turn in prompt_turns(demo) if turn.index in steps]
        for turn in turns:
            self._pipeline.decide([recorded.observation(steps[turn.index], demo=demo, demo_turn=turn.index)])
            for prompt in self._asked.taken():  # none where no page could be ranked
                ids = prompt_ids(prompt, self.tokenizer, self.settings.max_length)
                yield {"prompt": ids, "answer": target(turn)}
