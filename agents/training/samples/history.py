"""What stands before the page of a step in its prompt, as a recipe composes it: worked examples, workflows, and
recalled pages with their answers. Core."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from agents.stages.compose.pages import opening
from agents.stages.simplify.snippets import SnippetSettings, snippet
from agents.training.samples.examples import CandidateDraw, PlanningStep, generator
from agents.words.past_step import PastStep
from agents.words.sequence import PagePart
from annotations.dom.limits import PageError
from annotations.dom.tree import node_ids


@dataclass(frozen=True)
class PromptHistory:
    """How the earlier steps that are recalled for a step are shown before it."""

    snippets: SnippetSettings
    draw: CandidateDraw  # of the elements that are shown of a recalled page
    shots: tuple[PagePart, ...] = ()
    seed: int = 0

    def last_first(self, step: PlanningStep, *sample: int) -> Iterator[list[PagePart]]:
        """The messages of each recalled step, then those before all of them. Each step has random numbers of its own
        for the `sample`, so that it does not matter how many are asked for."""
        for past in reversed([*step.exemplars, *step.memory]):
            yield self._recalled(past, generator("sample", self.seed, *sample, past.key))
        yield list(opening(self.shots, step.workflows))

    def _recalled(self, past: PastStep, rng: Random) -> list[PagePart]:
        """The messages of a recalled step, its elements drawn like those of the current step, answers "none" included
        (Q5); none for a page that cannot be read."""
        try:
            positives, negatives = on_page(past)
        except PageError:
            return []
        gold, others = self.draw.draw(positives, negatives, rng)
        if not self.snippets.simplification:
            others = [node_id for node_id, _ in negatives]
        return snippet(past, gold, others, self.snippets)


def on_page(step: PastStep) -> tuple[list[str], list[tuple[str, int]]]:
    """Those of the step's positives and negatives that are on its page."""
    ids = set(node_ids(step.root))
    return [i for i in step.positive_ids if i in ids], [pair for pair in step.negatives if pair[0] in ids]
