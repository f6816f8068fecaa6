"""Steps as the prompts of a planner that asks one at a step (those of Synapse, AWM and MIMS), with the right answers.
Shell.

The prompts are made by all stages of the recipe that will use the model, and its planner says what is right. The gold
element must be on the page that is shown, as published; else the step is left out.
"""

from collections.abc import Iterator
from typing import Any

from agents.generators.local import prompt_ids
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.stages.registry import planner_of, told
from agents.training.samples.asked import Asked
from agents.training.samples.left_out import LeftOut
from agents.training.samples.rows import PairRows, SplitRows
from agents.training.settings import PlannerSettings


class PromptRows(PairRows):
    """Prompts as token ids and answers as text, of every step whose answer is on its page."""

    def __init__(
        self,
        rows: SplitRows,
        settings: PlannerSettings,
        pipeline: Pipeline,
        asked: Asked,
        left_out: LeftOut | None = None,
    ) -> None:
        """`asked`: stands in for the model of the pipeline."""
        self.rows, self.settings, self.pipeline, self.asked = rows, settings, pipeline, asked
        self.left_out = LeftOut() if left_out is None else left_out
        self.told, self.planner = told(pipeline.recipe), planner_of(pipeline.recipe)
        pipeline.prepare(rows.conversation_ids)

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        every = (recorded.recorded(step, told=self.told) for step in recorded.steps if step.snapshot_id)
        steps = [sample for step in every for sample in self.rows.lessons.samples(step)]
        decisions = self.pipeline.decide([step.observation for step in steps])
        prompts = iter(self.asked.taken())
        for step, decision in zip(steps, decisions, strict=True):
            if "prompt" not in decision.trace.get("compose", {}):
                self.left_out.add(f"step {step.observation.key}", ValueError(decision.error or "it has no prompt"))
                continue
            ids = prompt_ids(next(prompts), self.asked.tokenizer, self.settings.max_length)
            if wanted := self.planner.right_answer(self.pipeline.recipe, step, decision):
                yield {"prompt": ids, "answer": wanted}
