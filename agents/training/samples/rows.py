"""The steps of a dataset as a training reads them. Shell: rows are queried, and pages loaded when they are needed.

Only the train split is ever trained on; `dev` steps are only measured.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes.literature import Recipe
from agents.recipes.settings import PlanSettings, RecallSettings
from agents.runs.weblinx_demos import demo_of
from agents.stages.rank.dmr import weblinx_text
from agents.stages.rank.inputs import PUBLISHED, RankingInput, candidate_input, element_input
from agents.stages.registry import told
from agents.training.fit.weights import load_tokenizer
from agents.training.lessons import Lessons
from agents.training.samples.examples import PlanningStep, RankingStep
from agents.training.samples.left_out import LeftOut
from agents.training.settings import CrossEncoderSettings, DualEncoderSettings, LoopSettings, PlannerSettings
from agents.types import Observation, RecordedStep
from agents.weblinx.documents import training_documents
from agents.weblinx.query import dmr_query
from agents.weblinx.tokens import FastTokenizer
from agents.weblinx.turns import ReplayTurn
from agents.words.past_step import PastStep
from annotations.dom.elements import elements
from annotations.dom.limits import PageError
from annotations.models import Conversation, Dataset, Split, Step

KEPT_CONVERSATIONS = 16
UNRANKED = -1


class SplitRows:
    """The conversations of one split of a dataset, in order, or `limit` of them: evenly spread over the split, as its
    first ones might all be of one website."""

    def __init__(self, dataset: Dataset, split: str, limit: int | None = None, lessons: Lessons | None = None) -> None:
        """`lessons`: what people taught of its steps."""
        if split not in (Split.TRAIN, Split.DEV):
            raise ValueError(f"models are trained on train and measured on dev, never on {split}")
        self.dataset, self.split, self.limit, self._taught = dataset, split, limit, lessons or Lessons()

    @cached_property
    def conversation_ids(self) -> list[int]:
        return [pk for pk, _ in self._conversations]

    @cached_property
    def lessons(self) -> Lessons:
        """What people taught of the steps that are read: those of the `limit` conversations."""
        if self.limit is None or not self._taught:
            return self._taught
        read = Step.objects.filter(pk__in=self._taught.of_step, turn__conversation__in=self.conversation_ids)
        return Lessons(self._taught.of_step[pk] for pk in read.values_list("pk", flat=True))

    @cached_property
    def sha256(self) -> str:
        """The identity of the data: a hash of what each conversation was imported from, in order, and of lessons."""
        every = "".join(content for _, content in self._conversations) + self.lessons.sha256
        return hashlib.sha256(every.encode()).hexdigest()

    @cached_property
    def _conversations(self) -> list[tuple[int, str]]:
        rows = Conversation.objects.filter(dataset=self.dataset, split=self.split).in_order()
        every = list(rows.values_list("pk", "content_sha256"))
        if self.limit is None or self.limit >= len(every):
            return every
        return [every[place * len(every) // self.limit] for place in range(self.limit)]

    def recorded(self, skip: int = 0) -> Iterator[tuple[int, RecordedConversation]]:
        """The conversations with their numbers, without the first `skip`."""
        for number, pk in enumerate(self.conversation_ids[skip:], start=skip):
            yield number, checked(pk, self.split)


def checked(pk: int, split: str) -> RecordedConversation:
    """A conversation that must lie in the split (else AssertionError), so that nothing of another split is trained
    on."""
    recorded = RecordedConversation(pk)
    found = recorded.conversation.split
    assert found == split, f"{recorded.conversation.source_id} lies in {found}, not in {split}"
    return recorded


class PairRows:
    """Prompts with the answers that are wanted, of one conversation after the other."""

    rows: SplitRows

    def groups(self, skip: int = 0) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        for number, recorded in self.rows.recorded(skip):
            yield number, list(self._pairs(recorded))

    def _pairs(self, recorded: RecordedConversation) -> Iterator[dict[str, Any]]:
        raise NotImplementedError


class RankingRows:
    """Steps as a ranker of a kind reads them, with the same texts as when it ranks."""

    def __init__(
        self,
        rows: SplitRows,
        settings: LoopSettings,
        left_out: LeftOut | None = None,
        recipe: Recipe | None = None,
        base: str = "",
    ) -> None:
        """`recipe`: WebLINX turns are written as it has them written; without one, as published. `base`: the weights
        that the ranker starts from, whose tokenizer counts where a limit is in tokens."""
        self.rows, self.settings = rows, settings
        counted = recipe is not None and recipe.rank.element_limit_unit == "tokens"
        self.tokenizer = FastTokenizer(load_tokenizer(base)) if counted else None
        self.text = weblinx_text(recipe.rank, recipe.quirks) if recipe else PUBLISHED
        if isinstance(settings, DualEncoderSettings):
            limit = replace(self.text.limit, size=settings.element_limit or None)
            self.text = replace(self.text, history_turns=settings.history_turns, limit=limit)
        self.left_out = LeftOut() if left_out is None else left_out

    def groups(self, skip: int = 0) -> Iterator[tuple[int, list[RankingStep]]]:
        """The steps of each conversation. Steps whose page cannot be read are left out."""
        for number, recorded in self.rows.recorded(skip):
            weblinx = self.rows.dataset.source_format == "weblinx"
            steps = self._weblinx(number, recorded) if weblinx else self._steps(number, recorded)
            yield number, list(steps)

    def first(self, count: int) -> list[RankingStep]:
        """At most `count` steps with a gold element, for measuring."""
        found: list[RankingStep] = []
        if count:
            for _, steps in self.groups():
                found += [step for step in steps if step.positives]
                if len(found) >= count:
                    break
        return found[:count]

    def _steps(self, number: int, recorded: RecordedConversation) -> Iterator[RankingStep]:
        read = candidate_input if isinstance(self.settings, CrossEncoderSettings) else element_input
        for step in recorded.steps:
            for found in self.rows.lessons.samples(recorded.recorded(step)):
                try:
                    yield _ranking_step(number, read(found.observation), set(found.positive_ids))
                except (PageError, IndexError) as error:
                    self.left_out.add(f"step {step.pk}", error)

    def _weblinx(self, number: int, recorded: RecordedConversation) -> Iterator[RankingStep]:
        demo, text = demo_of(recorded), self.text

        def unread(turn: ReplayTurn, error: PageError) -> None:
            self.left_out.add(f"{demo.name} turn {turn.index}", error)

        for turn, docs in training_documents(demo, text.limit, unread, self.tokenizer):
            positives = tuple(doc.text for doc in docs if doc.positive)
            negatives = tuple(doc.text for doc in docs if not doc.positive)
            query = dmr_query(demo, turn, text.history_turns, text.quirks)
            yield RankingStep(number, query, positives, negatives)


def _ranking_step(number: int, found: RankingInput, gold: set[str]) -> RankingStep:
    texts = list(zip(found.node_ids, found.texts, strict=True))
    return RankingStep(
        number,
        found.query,
        tuple(text for node_id, text in texts if node_id in gold),
        tuple(text for node_id, text in texts if node_id not in gold),
    )


def as_set(settings: PlannerSettings) -> Recipe:
    """The recipe of a training that names none: its `recall` and its planner as the training's settings say."""
    recall = RecallSettings(memory=settings.memory, k=settings.memory_k)
    return Recipe("as set", "", recall=recall, plan=PlanSettings(settings.paradigm))


class StepRows:
    """Steps as a planner on pages reads them, with their memory. Pages are loaded when a step is asked for."""

    def __init__(
        self,
        rows: SplitRows,
        settings: PlannerSettings,
        limit: int | None = None,
        *,
        pipeline: Pipeline,
    ) -> None:
        """`pipeline`: its stages before the rounds recall for the steps."""
        self.rows, self.settings, self.pipeline = rows, settings, pipeline
        pipeline.prepare(rows.conversation_ids)
        steps = Step.objects.filter(turn__conversation__in=rows.conversation_ids, snapshot__isnull=False)
        steps = steps.order_by("turn__conversation__position", "turn__conversation_id", "turn__index", "index")
        keys = steps.values_list("pk", "turn__conversation_id")[:limit]
        self._keys = [(pk, within, place) for pk, within in keys for place in range(rows.lessons.count(pk))]
        self._conversation = lru_cache(maxsize=KEPT_CONVERSATIONS)(lambda pk: checked(pk, rows.split))

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, indices: Sequence[int]) -> list[PlanningStep]:
        """The steps with these indices, each with what is recalled for it."""
        return [self._step(*self._keys[index]) for index in indices]

    def _step(self, pk: int, conversation: int, place: int) -> PlanningStep:
        recorded = self._conversation(conversation)
        step = next(step for step in recorded.steps if step.pk == pk)
        found = recorded.recorded(step, told=told(self.pipeline.recipe))
        return reminded(self.rows.lessons.samples(found)[place], self.pipeline)


def reminded(step: RecordedStep, pipeline: Pipeline) -> PlanningStep:
    """The step with what a recipe recalls for it, by the same stages as in use."""
    (state,) = pipeline.reminded([step.observation])
    exemplars = [_past_step(shown) for exemplar in state.exemplars for shown in exemplar.steps]
    current = replace(_past_step(step), instruction=state.instruction)
    return PlanningStep(current, tuple(map(_past_step, state.memory)), tuple(exemplars), state.workflows)


def _past_step(step: RecordedStep) -> PastStep:
    return PastStep.of(step, ((node_id, UNRANKED) for node_id in _candidate_ids(step.observation)))


def _candidate_ids(seen: Observation) -> Sequence[str]:
    """The candidates recorded with the step, else every element that is interactive or has a name."""
    if seen.candidate_ids:
        return seen.candidate_ids
    try:
        return [element.node_id for element in elements(seen.root) if element.interactive or element.name]
    except PageError:
        return ()
