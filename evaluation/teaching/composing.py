"""The prompt of a taught step: composed as trainings compose theirs, with what the agent is reminded of there."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from agents.encoders.embedding import HashEncoder
from agents.memory.encoding import snippet_form
from agents.memory.retrieve import DatasetMemory
from agents.models import TrajectoryStep
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.stages.registry import told
from agents.stages.simplify.groups import snippet_settings
from agents.training.samples.examples import CandidateDraw, PlanningStep, generator
from agents.training.samples.history import PromptHistory
from agents.training.samples.rows import reminded
from agents.types import Action
from agents.words.generator import PagePrompt
from agents.words.past_step import PastStep
from agents.words.sequence import page_messages
from agents.words.shown_page import BY_LETTER, PageInput, PageTask, PageWording, format_input
from annotations.dom.limits import PageError
from annotations.dom.tree import node_ids
from annotations.models import Dataset, Step
from evaluation.teaching.collecting import TaughtStep

RECIPE = literature.override(
    literature.get("mindact"), {"plan.backend": "endpoint", "simplify.memory_pages": "simplified"}
)
"""Whose prompts lessons have: all earlier steps of the conversation, each with a few elements of its page."""

OTHERS = 4  # elements that are offered besides those that something is said of

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class StepPrompt:
    """What a step is asked with, and what answers to it are."""

    taught: TaughtStep
    messages: Messages
    current: PastStep
    nodes: tuple[str, ...]

    @property
    def gold(self) -> Action:
        step = self.taught.step
        return Action(step.operation, next(iter(step.reachable_gold()), None), step.value)

    def answer(self, action: Action) -> Messages:
        """[] for an action on what cannot be chosen."""
        if action.node_id not in self.nodes:
            return []
        shown = _shown(self.current, self.nodes, action)
        return [{"role": "assistant", "content": shown.target}] if shown.gold_index >= 0 else []


class LessonPrompts:
    """The prompts of the taught steps of a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.wording = PageWording.of(webnav())
        # As agents are shown them, who always see the right answers of earlier steps.
        snippets = snippet_settings(RECIPE, BY_LETTER, self.wording)
        self.history = PromptHistory(snippets, CandidateDraw(snippets.num_candidates, none_ratio=0))

    @cached_property
    def pipeline(self) -> Pipeline:
        """Recalls for the steps. No texts are compared for it, so that no weights are loaded to embed them."""
        memory = DatasetMemory(self.dataset, HashEncoder(), snippet_form(RECIPE))
        return Pipeline.of(Parts(RECIPE, memory=memory), ("observe", "recall"))

    def of(self, conversation: int, steps: list[TaughtStep]) -> Iterator[StepPrompt]:
        """The prompts of these steps of a conversation, without those whose page cannot be read, or does not hold what
        is said of it."""
        recorded = RecordedConversation(conversation)
        rows = {step.pk: step for step in recorded.steps}
        decided = TrajectoryStep.objects.filter(pk__in=[pk for one in steps for pk in one.decisions])
        rankings = dict(decided.values_list("pk", "candidate_ids"))
        for one in steps:
            ranked = [rankings[pk] for pk in one.decisions]
            with suppress(PageError, IndexError):
                yield self._prompt(one, recorded, rows[one.step.pk], ranked)

    def _prompt(
        self, one: TaughtStep, recorded: RecordedConversation, row: Step, ranked: Sequence[Sequence[str]]
    ) -> StepPrompt:
        step = reminded(recorded.recorded(row, told=told(RECIPE)), self.pipeline)
        nodes = _offered(one, step, ranked)
        current = tuple(page_messages(_shown(step.current, nodes)))
        past = [part for parts in reversed([*self.history.last_first(step, row.pk)]) for part in parts]
        chat = PagePrompt(current, self.wording.system, tuple(past)).chat()
        messages = [{"role": message.role, "content": message.content} for message in chat]
        return StepPrompt(one, messages, step.current, nodes)


def _offered(one: TaughtStep, step: PlanningStep, ranked: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The elements that something is said of, among a few others that can be chosen there: those that judged agents
    ranked highest (`ranked`: elements of each, best first), as an agent is offered the best of its ranker; some at
    random where these are too few."""
    ids, current = set(node_ids(step.current.root)), step.current
    said = [action.node_id for action in (*(said.action for said in (*one.accepted, *one.refused)), *one.mistaken)]
    named = {node for node in (*one.step.reachable_gold(), *said) if node and node in ids}
    pool = [node for node, _ in current.negatives if node in ids and node not in named]
    best = [node for place in zip_longest(*ranked) for node in place if node in pool]
    hard = list(dict.fromkeys(best))[:OTHERS]
    left = [node for node in pool if node not in hard]
    drawn = generator("lessons", one.step.pk).sample(left, min(OTHERS - len(hard), len(left)))
    return tuple(sorted({*named, *hard, *drawn}))


def _shown(current: PastStep, nodes: tuple[str, ...], action: Action | None = None) -> PageInput:
    task = PageTask(current.instruction, current.past_actions)
    if action is None:
        return format_input(current.root, nodes, task, BY_LETTER)
    task = PageTask(current.instruction, current.past_actions, action.operation, action.value)
    return format_input(current.root, nodes, task, BY_LETTER, action.node_id)
