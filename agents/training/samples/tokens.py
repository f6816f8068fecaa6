"""Prompts and answers of planners as token ids. Core: a tokenizer is passed in."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType
from typing import TYPE_CHECKING, Protocol

from agents.prompts.packs import Pack, webnav
from agents.recipes.literature import Recipe
from agents.stages.compose.pages import PagesInTurn
from agents.stages.compose.shots import shot_messages
from agents.stages.registry import before_planner, planner_named
from agents.stages.simplify.groups import ElementGroups, snippet_settings
from agents.stages.simplify.snippets import SnippetSettings
from agents.training.samples.examples import CandidateDraw, PlanningRows, PlanningStep, generator
from agents.training.samples.history import PromptHistory, on_page
from agents.training.samples.left_out import LeftOut
from agents.training.samples.pairs import Lines
from agents.training.settings import PlannerSettings
from agents.types import Action
from agents.words.sequence import MAX_PIECE, input_ids, label_ids, page_messages
from agents.words.shown_page import PageInput, PageTask, PageWording, format_input
from annotations.dom.limits import PageError
from annotations.dom.tree import node_ids
from annotations.sandbox.deadline import page_deadline

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PUBLISHED_SNIPPETS = SnippetSettings()

PromptAndAnswer = tuple[list[int], list[int]]
"""Token ids of a prompt and of its answer."""


def composed_otherwise(paradigm: str, recipe: Recipe | None) -> str:
    """Why samples of page groups would not be what a kind of `plan` asks, as a sentence: a kind of simplify or compose
    has code of its own, and samples are composed by ours. "" where none has."""
    planner = planner_named(paradigm)
    if planner is None or planner.form is None:
        return ""
    for kind in before_planner(recipe) if recipe else planner.before():
        ours = next((base for base in (ElementGroups, PagesInTurn) if issubclass(kind, base)), None)
        own = kind.__mro__[: kind.__mro__.index(ours)] if ours else [kind]
        if ours is None or any(isinstance(value, FunctionType) for one in own for value in vars(one).values()):
            what = f"{planner.__name__} composes its prompts by code of {kind.__name__}"
            return f"{what}, which samples of page groups do not run: train a planner that derives from AskingPlanner"
    return ""


class Samples(Protocol):
    """`size` samples per epoch. The same epoch and index always give the same sample: a training can be resumed."""

    size: int

    def get(self, epoch: int, indices: Sequence[int]) -> list[PromptAndAnswer]: ...


class KeptSamples:
    """Prompts as token ids and answers as texts from a prepared file (`pairs.prepare`)."""

    def __init__(self, path: Path, tokenizer: "PreTrainedTokenizerBase", limit: int | None = None) -> None:
        self.lines, self.tokenizer = Lines(path), tokenizer
        self.size = len(self.lines) if limit is None else min(limit, len(self.lines))

    def get(self, epoch: int, indices: Sequence[int]) -> list[PromptAndAnswer]:
        return [(line["prompt"], label_ids(line["answer"], self.tokenizer)) for line in self.lines.get(indices)]


class PageSamples:
    """Samples of `multichoice` or `generation`: `repeats` of each step in an epoch, drawn anew each time (sources.md
    M4.3)."""

    def __init__(
        self,
        rows: PlanningRows,
        tokenizer: "PreTrainedTokenizerBase",
        settings: PlannerSettings,
        repeats: int,
        left_out: LeftOut | None = None,
        recipe: Recipe | None = None,
        pack: Pack | None = None,
    ) -> None:
        """`recipe`: the samples are prompts of this recipe; without one, prompts of the published form."""
        planner = planner_named(settings.paradigm)
        if planner is None or planner.form is None:
            raise ValueError(f"a training on {settings.paradigm} has samples of its own")
        self.rows, self.tokenizer, self.settings, self.repeats = rows, tokenizer, settings, repeats
        self.form = planner.form
        self.left_out = LeftOut() if left_out is None else left_out
        self.size = len(rows) * repeats
        self.candidates = CandidateDraw(settings.num_candidates, settings.none_ratio, settings.top_k)
        shots, self.max_piece = (recipe.compose.shots, recipe.compose.piece_tokens) if recipe else (0, MAX_PIECE)
        self.wording = PageWording.of(pack or webnav())
        snippets = snippet_settings(recipe, self.form) if recipe else PUBLISHED_SNIPPETS
        snippets = replace(
            snippets,
            form=self.form,
            simplification=settings.simplification,
            refinement=settings.refinement,
            wording=self.wording,
        )
        if recipe is None:
            snippets = replace(snippets, num_candidates=settings.num_candidates)
        recalled = replace(self.candidates, num_candidates=snippets.num_candidates)
        shown = shot_messages(pack or webnav(), self.form, shots)
        self.history = PromptHistory(snippets, recalled, shown, settings.seed)

    def get(self, epoch: int, indices: Sequence[int]) -> list[PromptAndAnswer]:
        steps = self.rows.get([index // self.repeats for index in indices])
        return [self._readable(step, epoch, index) for step, index in zip(steps, indices, strict=True)]

    def _readable(self, step: PlanningStep, epoch: int, index: int) -> PromptAndAnswer:
        """The sample of a step. Where its page cannot be read, that of the next step whose page can be."""
        for place in range(len(self.rows)):
            if place:
                step = self.rows.get([(index // self.repeats + place) % len(self.rows)])[0]
            try:
                with page_deadline():
                    return self._sample(step, epoch, index)
            except PageError as error:
                self.left_out.add(f"step {step.current.key}", error)
        raise PageError("the page of none of the train steps can be read")

    def _sample(self, step: PlanningStep, epoch: int, index: int) -> PromptAndAnswer:
        rng = self._generator(epoch, index)
        current = step.current
        gold, others = self.candidates.draw(*on_page(current), rng)
        chosen = [*([] if gold is None else [gold]), *others]
        task = PageTask(current.instruction, current.past_actions, current.operation, current.value)
        page = format_input(current.root, chosen, task, self.form, gold, wording=self.wording)
        return self._prompt(step, page, epoch, index), label_ids(page.target, self.tokenizer)

    def preference(self, step: PlanningStep, wrong: Action, place: int) -> tuple[list[int], str, str] | None:
        """The prompt of a step where gold and a wrong action can be chosen, the right answer and the wrong one; None
        where its page does not hold both, or they are the same answer. `place` is that of the action at the step."""
        current, rng = step.current, self._generator(step.current.key, place)
        positives, negatives = on_page(current)
        if not positives or wrong.node_id not in node_ids(current.root):
            return None
        gold = rng.choice(positives)
        others = [node_id for node_id, _ in negatives if node_id != wrong.node_id]
        drawn = rng.sample(others, min(max(self.settings.num_candidates - 2, 0), len(others)))
        shown = {gold, wrong.node_id, *drawn}
        task = PageTask(current.instruction, current.past_actions, current.operation, current.value)
        page = format_input(current.root, shown, task, self.form, gold, wording=self.wording)
        refused = replace(task, operation=wrong.operation, value=wrong.value)
        answer = format_input(current.root, shown, refused, self.form, wrong.node_id, wording=self.wording)
        if min(page.gold_index, answer.gold_index) < 0 or page.target == answer.target:
            return None
        return self._prompt(step, page, 0, place), page.target, answer.target

    def _prompt(self, step: PlanningStep, page: PageInput, epoch: int, index: int) -> list[int]:
        limits, spoken = (self.settings.max_length, self.max_piece), self.settings.layout == "conversation"
        system, history = self.wording.system if spoken else "", self.history.last_first(step, epoch, index)
        return input_ids(history, page_messages(page), self.tokenizer, system, *limits, spoken)

    def _generator(self, *parts: int) -> Random:
        return generator("sample", self.settings.seed, *parts)
