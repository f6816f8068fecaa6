"""Train the planner `grounded` fold by fold, and let the recipe decide what each training did without. Shell."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
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
from evaluation.folds.results import RIGHT, DecidedFold, HeldOutStep
from evaluation.folds.sources import PEOPLE, SOURCES, ShownEpisode, content, shown_again, shown_episode
from evaluation.scores.judging import Gold, judge

RECIPE = "grounded"
TASKS = {"website": "website__name", "domain": "website__domain", "subdomain": "website__subdomain"}
BATCH = 64  # steps that are decided at once
NEAR = 3  # first elements of a ranking, among which the right one was nearly chosen

TellFold = Callable[[str, int, int], None]  # phase, done, total


@dataclass(frozen=True)
class Division:
    """How the train conversations of a dataset are divided. `by`: what is left out as a task; `per_task`: how many of
    each people's are read; `kin`: of what is not measured, tasks are one whose names begin with the same match of this
    pattern; `sources`: whose demonstrations are learned."""

    folds: int = 5
    by: str = "website"
    per_task: int | None = None
    seed: int = 0
    kin: str = ""
    sources: tuple[str, ...] = SOURCES

    def family(self, task: str) -> str:
        found = re.match(self.kin, task) if self.kin else None
        return found[0] if found else task


class CrossValidation:
    """The train steps of datasets, read once; the models of folds, each forgotten once it has decided. Measured are
    people's demonstrations of the first dataset; those of oracles and corrections, and other datasets, are learned from
    alone."""

    def __init__(self, dataset: Dataset, division: Division, settings: Settings, also: Sequence[Dataset] = ()) -> None:
        """`also`: the other datasets. ValueError where there are too few tasks that people show."""
        self.dataset, self.division, self.settings = dataset, division, settings
        self._rows = [SplitRows(one, Split.TRAIN) for one in (dataset, *also)]
        shown = [self._shown(rows) for rows in self._rows]
        tasks = {one.name: one.task for one in shown[0].values() if one.source == PEOPLE}
        if division.per_task is not None:
            tasks = first_of_each(tasks, division.per_task, division.seed)
        self.tasks, self.folds = tasks, divide(tasks, division.folds, division.seed)
        measured = {pk: one for pk, one in shown[0].items() if one.source == PEOPLE and one.name in tasks}
        others = {pk: one for of in shown for pk, one in of.items() if one.source != PEOPLE or of is not shown[0]}
        again = shown_again(others.values(), measured.values())
        apart = {pk: one for pk, one in others.items() if one not in again}
        self._shown_in: dict[int, ShownEpisode] = measured | apart
        self._measured = frozenset(measured)

    def _shown(self, rows: SplitRows) -> dict[int, ShownEpisode]:
        found = Conversation.objects.filter(pk__in=rows.conversation_ids).in_order()
        named = found.values_list("pk", "source_id", TASKS[self.division.by], "extra")
        return {pk: shown_episode(name, task, extra) for pk, name, task, extra in named}

    @cached_property
    def examples(self) -> list[Example]:
        """Every step that is measured or learned."""
        return [one for rows in self._rows for one in examples(rows) if _of(one) in self._shown_in]

    def shows(self, example: Example) -> ShownEpisode:
        return self._shown_in[_of(example)]

    def held(self, fold: Fold) -> list[Example]:
        """The steps that the fold measures."""
        return [one for one in self.examples if self._is_held(_of(one), fold)]

    def _is_held(self, conversation: int, fold: Fold) -> bool:
        return conversation in self._measured and self._shown_in[conversation].name in fold.left_out

    def learned_in(self, fold: Fold, limit: int | None = None) -> list[Example]:
        """The steps that the fold learns: of `limit` demonstrations a task, or of all. None is of an episode that it
        measures, or has the words and the page of a step that it measures."""
        chosen = self.chosen(fold, limit)
        taken = {_asked(one) for one in self.held(fold)}
        return [one for one in self.examples if _of(one) in chosen and _asked(one) not in taken]

    def chosen(self, fold: Fold, limit: int | None) -> dict[int, ShownEpisode]:
        """The conversations that the fold learns from, by key."""
        unseen = {self.division.family(self.tasks[name]) for name in fold.unseen}
        found = {
            pk: one
            for pk, one in self._shown_in.items()
            if one.source in self.division.sources
            and not self._is_held(pk, fold)
            and (pk in self._measured or self.division.family(one.task) not in unseen)
        }
        if limit is None:
            return found
        # A name may stand in two datasets, so that the source is part of it.
        names = {f"{one.source} {one.name}": one.task for one in found.values()}
        first = first_of_each(names, limit, self.division.seed)
        return {pk: one for pk, one in found.items() if f"{one.source} {one.name}" in first}

    def digest(self, fold: Fold, limit: int | None) -> str:
        """What a fold learns, by which settings, and what it decides."""
        told = [
            asdict(self.settings),
            sorted(fold.left_out),
            sorted(f"{one.source} {one.task} {one.name}" for one in self.chosen(fold, limit).values()),
            [rows.sha256 for rows in self._rows],
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def decide(
        self, fold: Fold, limit: int | None = None, tell: TellFold = lambda phase, done, total: None
    ) -> DecidedFold:
        """Train without what the fold leaves out, and decide the steps of that. Raises NothingToLearn."""
        from agents.learned.train import lay_out, read, train

        encoder = encoder_named(literature.RECIPES[RECIPE].rank.model or MINILM)
        learned = self.learned_in(fold, limit)
        known = {_alike(one) for one in learned}
        with TemporaryDirectory() as folder:
            laid_out = lay_out(read(learned, self.settings, tell), encoder, Path(folder), tell)
            train(laid_out, self.settings, Path(folder), tell)
            steps = tuple(self._judged(fold, known, *one) for one in self._decided(fold, folder))
        return DecidedFold(len({_of(one) for one in learned}), len(learned), steps)

    def _decided(self, fold: Fold, folder: str) -> Iterator[tuple[Example, Decision]]:
        pipeline, held = self._pipeline(folder), self.held(fold)
        for start in range(0, len(held), BATCH):
            part = held[start : start + BATCH]
            yield from zip(part, pipeline.decide([one.observation for one in part]), strict=True)

    def _pipeline(self, folder: str) -> Pipeline:
        recipe = checking.vary(saved.get(RECIPE), {"plan.model": folder})
        return build_pipeline(Run(recipe_name=RECIPE, recipe=literature.to_dict(recipe), dataset=self.dataset))

    def _judged(self, fold: Fold, known: set[str], example: Example, decision: Decision) -> HeldOutStep:
        shown = self.shows(example)
        return HeldOutStep(shown.task, shown.name in fold.seen, cause(example, decision), _alike(example) in known)


def _of(example: Example) -> int:
    """The conversation that a step is of."""
    return example.observation.conversation


def _asked(example: Example) -> str:
    """A step by its words and its page as recorded."""
    return hashlib.sha256(f"{example.observation.instruction}\0{example.observation.html}".encode()).hexdigest()


def _alike(example: Example) -> str:
    """A step by its words and what its page says, wherever that is drawn."""
    seen = example.observation
    return hashlib.sha256(f"{seen.instruction}\0{content(seen.html)}".encode()).hexdigest()


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
