"""Preference pairs of what people taught: the prompt of a step, its right answer, and that of an action that they
called wrong there. Shell."""

from collections.abc import Iterator
from typing import Any

from agents.observations import RecordedConversation
from agents.stages.registry import told
from agents.training.samples.rows import PairRows, StepRows, reminded
from agents.training.samples.tokens import PageSamples
from annotations.dom.limits import PageError


class PreferenceRows(PairRows):
    """A pair for each wrong action of a step on whose page both can be chosen; a step whose gold or page is wrong has
    none."""

    def __init__(self, samples: PageSamples, steps: StepRows) -> None:
        """`samples`: composes the prompts of `steps`."""
        self.rows, self.samples, self.steps = steps.rows, samples, steps

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        lessons = self.rows.lessons.of_step
        for step in recorded.steps:
            lesson = lessons.get(step.pk)
            if lesson is None or lesson.is_left_out or not lesson.wrong or not step.snapshot_id:
                continue
            pipeline = self.steps.pipeline
            found = reminded(recorded.recorded(step, told=told(pipeline.recipe)), pipeline)
            for place, wrong in enumerate(lesson.wrong):
                try:
                    pair = self.samples.preference(found, wrong, place)
                except PageError as error:
                    self.samples.left_out.add(f"step {step.pk}", error)
                    break
                if pair is not None:
                    prompt, answer, rejected = pair
                    yield {"prompt": prompt, "answer": answer, "rejected": rejected}
