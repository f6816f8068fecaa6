"""Turns of WebLINX as prompts with their action strings (sources.md A6). Shell.

The prompts are made by the very recipe that will use the model: its ranker chooses the candidates, its planner
writes the prompt. What the planner asks is kept instead of answered.
"""

from collections.abc import Iterator
from typing import Any

from agents.generators.local import prompt_ids
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.weblinx_demos import demo_of
from agents.stages.registry import told
from agents.training.samples.asked import Asked
from agents.training.samples.rows import PairRows, SplitRows
from agents.training.settings import PlannerSettings
from agents.weblinx.prompt import prompt_turns, target

RECIPE = "weblinx-flan-t5"


class ActionRows(PairRows):
    """The turns that models are trained on, as token ids of the prompt and the text of the answer."""

    def __init__(self, rows: SplitRows, settings: PlannerSettings, pipeline: Pipeline, asked: Asked) -> None:
        """`asked`: stands in for the model of the pipeline, which is of `turns_recipe`."""
        self.rows, self.settings, self.pipeline, self.asked = rows, settings, pipeline, asked
        self.told = told(pipeline.recipe)
        pipeline.prepare(rows.conversation_ids)

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        demo = demo_of(recorded)
        steps = {step.source_index: step for step in recorded.steps}
        turns = [turn for turn in prompt_turns(demo) if turn.index in steps]
        for turn in turns:
            seen = recorded.observation(steps[turn.index], told=self.told, demo=demo, demo_turn=turn.index)
            self.pipeline.decide([seen])
            for prompt in self.asked.taken():  # none where no page could be ranked
                ids = prompt_ids(prompt, self.asked.tokenizer, self.settings.max_length)
                yield {"prompt": ids, "answer": target(turn)}


def turns_recipe(settings: PlannerSettings, recipe: Recipe | None) -> Recipe:
    """The recipe whose prompts a training on recorded turns reads: the published one where none is named."""
    changes = {"compose.history_turns": str(settings.history_turns), "rank.model": settings.ranker}
    return literature.override(recipe or literature.get(RECIPE), changes)
