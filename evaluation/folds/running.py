"""Train the planner `grounded` fold by fold, and let the recipe decide what each training did without. Shell."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.cookbook import checking, saved
from agents.encoders.weights import MINILM
from agents.learned.examples import Example
from agents.learned.settings import Settings
from agents.memory.encoding import encoder_named
from agents.models import Run
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.runs.building import build_pipeline
from agents.training.kinds.grounded import examples
from agents.training.samples.rows import SplitRows
from agents.types import Decision
from annotations.models import Conversation, Dataset, Split
from evaluation.folds.dividing import Fold, divide, first_of_each
from evaluation.folds.results import RIGHT, HeldOutStep
from evaluation.scores.judging import Gold, judge

RECIPE = "grounded"
TASKS = {"website": "website__name", "domain": "website__domain", "subdomain": "website__subdomain"}
BATCH = 64  # steps that are decided at once
NEAR = 3  # first elements of a ranking, among which the right one was nearly chosen


@dataclass(frozen=True)
class Division:
    """How the train conversations of a dataset are divided. `by`: what is left out as a task; `per_task`: how many
    conversations of each are read; `kin`: of other datasets, tasks are one whose names begin with the same match of
    this pattern."""

    folds: int = 5
    by: str = "website"
    per_task: int | None = None
    seed: int = 0
    kin: str = ""

    def family(self, task: str) -> str:
        found = re.match(self.kin, task) if self.kin else None
        return found[0] if found else task


class CrossValidation:
    """The train steps of a dataset, read once; the models of its folds, each forgotten once it has decided."""

    def __init__(self, dataset: Dataset, division: Division, settings: Settings, also: Sequence[Dataset] = ()) -> None:
        """`also`: datasets from whose train steps every fold learns, but for those of its unseen tasks. ValueError
        where there are too few tasks."""
        self.dataset, self.division, self.settings = dataset, division, settings
        rows = SplitRows(dataset, Split.TRAIN)
        found = Conversation.objects.filter(pk__in=rows.conversation_ids).in_order()
        named = list(found.values_list("pk", "source_id", TASKS[division.by]))
        self._names = {pk: name for pk, name, _ in named}
        tasks = {name: task for _, name, task in named}
        if division.per_task is not None:
            tasks = first_of_each(tasks, division.per_task, division.seed)
        self.tasks, self.folds = tasks, divide(tasks, division.folds, division.seed)
        self.examples = [one for one in examples(rows) if self.name(one) in tasks]
        self.also = [one for other in also for one in examples(SplitRows(other, Split.TRAIN))]

    def name(self, example: Example) -> str:
        """The name of the conversation that a step is of."""
        return self._names[example.observation.conversation]

    def learned_in(self, fold: Fold) -> list[Example]:
        unseen = {self.division.family(self.tasks[name]) for name in fold.unseen}
        of_others = [one for one in self.also if self.division.family(self._task(one)) not in unseen]
        return [one for one in self.examples if self.name(one) not in fold.left_out] + of_others

    def _task(self, example: Example) -> str:
        return str(getattr(example.observation, self.division.by))

    def decide(
        self, fold: Fold, tell: Callable[[str, int, int], None] = lambda phase, done, total: None
    ) -> Iterator[HeldOutStep]:
        """Train without what the fold leaves out, and decide the steps of that. Raises NothingToLearn."""
        from agents.learned.train import read, train

        encoder = encoder_named(literature.RECIPES[RECIPE].rank.model or MINILM)
        held = [one for one in self.examples if self.name(one) in fold.left_out]
        with TemporaryDirectory() as folder:
            train(read(self.learned_in(fold), self.settings, tell), encoder, self.settings, Path(folder), tell)
            pipeline = self._pipeline(folder)
            for start in range(0, len(held), BATCH):
                part = held[start : start + BATCH]
                decisions = pipeline.decide([one.observation for one in part])
                for example, decision in zip(part, decisions, strict=True):
                    yield self._judged(fold, example, decision)

    def _pipeline(self, folder: str) -> Pipeline:
        recipe = checking.vary(saved.get(RECIPE), {"plan.model": folder})
        return build_pipeline(Run(recipe_name=RECIPE, recipe=literature.to_dict(recipe), dataset=self.dataset))

    def _judged(self, fold: Fold, example: Example, decision: Decision) -> HeldOutStep:
        name = self.name(example)
        return HeldOutStep(self.tasks[name], name in fold.seen, cause(example, decision))


def cause(example: Example, decision: Decision) -> str:
    """RIGHT, or what failed first of an action: its element, its operation, its value."""
    gold = Gold(example.step.action.operation, example.step.action.value, example.step.positive_ids)
    if not decision.actions:
        return "no action"
    action = decision.actions[0]
    found = judge(action, decision.ranking, gold)
    if found.success:
        return RIGHT
    if not found.element_correct:
        near = found.gold_rank is not None and found.gold_rank < NEAR
        return f"element, right one among the best {NEAR}" if near else "element"
    return "operation" if action.operation != gold.operation else "value"
