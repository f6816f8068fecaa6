"""The kinds of `recall.memory`: which earlier steps of the conversation are recalled. Core.

All give them in prompt order (sources.md M5.2, M5.6).
"""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.kind import Beside, Parts, StageKind, unless
from agents.stages.recall.asked import BASELINES
from agents.stages.recall.select import (
    FAITHFUL,
    MatchingQuirks,
    clustered,
    item_text,
    query_text,
    select_fixed,
    select_task_knn,
)
from agents.stages.state import StepState
from agents.trace import traced_snippets
from agents.types import RecordedStep, Snippet
from agents.words.trajectory_page import page_or_nothing

SHOWN = "recalled steps that a prompt shows"
ALL = 1_000_000  # snippets of a conversation


class NoMemory(StageKind):
    """Recalls no earlier steps."""

    stage = "recall"

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Recalls no earlier steps."

    @classmethod
    def title(cls) -> str:
        return ""

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.note("recall", kind=self.recipe.recall.memory)


class Chronological(StageKind):
    """All earlier steps of the conversation, oldest first (MindAct)."""

    stage = "recall"
    gives = frozenset({"memory"})

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Recalls all earlier steps of the conversation in their order."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "all earlier steps"

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            steps = self.parts.the_memory().earlier_steps(state.observation)
            self.remember(state, [steps[place] for place in self.chosen(state, steps)])

    def chosen(self, state: StepState, steps: list[RecordedStep]) -> Sequence[int]:
        """The places of the chosen steps among `steps`, in prompt order."""
        return range(len(steps))

    def remember(self, state: StepState, steps: Sequence[RecordedStep], nearest: Sequence[Snippet] = ()) -> None:
        """Keep these steps, with their pages, as the state's memory; `nearest` tells how similar some of them are."""
        similarity = {snippet.step: snippet.similarity for snippet in nearest}
        state.memory = tuple(self.parts.the_memory().with_pages(steps))
        state.snippets = tuple(_snippet(step, similarity.get(step.observation.key)) for step in steps)
        state.note("recall", kind=self.recipe.recall.memory, snippets=traced_snippets(state.snippets))


class SomeTurns(Chronological):
    """The steps of k earlier turns: what baselines recall that choose whole turns."""

    counted_by = "recall.k"

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return BASELINES

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.recall.k} earlier turns"


class FirstTurns(SomeTurns):
    """The steps of the first k turns (MindAct + Fixed)."""

    reads = frozenset({"recall.k"})

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Recalls the first {recipe.recall.k} turns of the conversation."

    def chosen(self, state: StepState, steps: list[RecordedStep]) -> Sequence[int]:
        return select_fixed(_turns(steps), self.recipe.recall.k)


class SimilarTurns(SomeTurns):
    """The steps of the k earlier turns with the most similar instructions (Synapse in conversations)."""

    reads = frozenset({"recall.k", "recall.sort_by", "recall.encoder"})
    embeds = True

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        ordered = "memory" in beside.blocks and beside.recipe.recall.k > 1
        return unless(ordered, f"recall.k of at least 2, and {SHOWN}", "recall.sort_by")

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Recalls the {recipe.recall.k} earlier turns with the most similar instructions."

    def chosen(self, state: StepState, steps: list[RecordedStep]) -> Sequence[int]:
        settings = self.recipe.recall
        instructions = [step.observation.instruction for step in steps]
        encode = self.parts.the_encoder().encode
        own = state.observation.instruction
        return select_task_knn(own, _turns(steps), instructions, encode, settings.k, settings.sort_by)


class Multifaceted(Chronological):
    """The k earlier steps nearest to the instruction and the actions so far (Self-MAP).

    Where no later stage shows their pages, only the snippets are searched.
    """

    reads = frozenset(
        {
            "recall.k",
            "recall.sort_by",
            "recall.encoder",
            "recall.state_in_query",
            "simplify.page_elements",
            "quirks.q11_item_without_trajectory",
            "quirks.q12_relevant_first",
        }
    )
    gives = frozenset({"memory", "snippets"})
    counted_by = "recall.k"
    embeds = True

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        recall, shown = beside.recipe.recall, "memory" in beside.blocks
        with_pages = recall.state_in_query and beside.ranked
        several = recall.k > 1 or not beside.recipe.quirks.q12_relevant_first  # steps of one text are many, too
        best_first = shown and recall.sort_by == "relevance"
        ranked = "a ranking before it recalls: rank.kind other than none and dual_encoder"
        return (
            unless(shown, SHOWN, "quirks.q11_item_without_trajectory")
            | unless(shown and several, f"recall.k of at least 2, and {SHOWN}", "recall.sort_by")
            | unless(beside.ranked, ranked, "recall.state_in_query")
            | unless(with_pages, f"recall.state_in_query=true and {ranked}", "simplify.page_elements")
            | unless(best_first, f"recall.sort_by=relevance and {SHOWN}", "quirks.q12_relevant_first")
        )

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Recalls the {recipe.recall.k} earlier steps nearest to the instruction and the actions so far."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.recall.k} earlier steps"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.with_pages = "memory" in parts.shown

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        self.parts.the_memory().prepare_snippets(conversation_ids)

    def run(self, states: Sequence[StepState]) -> None:
        if not states:
            return
        texts = [self._query(state) for state in states]
        queries = list(self.parts.the_encoder().encode(texts))
        wanted = ALL if self.with_pages else self.recipe.recall.k
        found = self.parts.the_memory().snippets([state.observation for state in states], queries, wanted)
        for state, text, nearest in zip(states, texts, found, strict=True):
            state.note("recall", query=text)
            if self.with_pages:
                steps = self.parts.the_memory().earlier_steps(state.observation)
                self.remember(state, [steps[place] for place in self._nearest(steps, nearest)], nearest)
            else:
                state.snippets = tuple(nearest)
                state.note("recall", kind=self.recipe.recall.memory, snippets=traced_snippets(nearest))

    def _query(self, state: StepState) -> str:
        seen, page = state.observation, ""
        if self.recipe.recall.state_in_query:
            page = page_or_nothing(seen, state.best_ids(self.recipe.simplify.page_elements))
        return query_text(seen.instruction, [action.representation for action in seen.turn_actions], page)

    def _nearest(self, steps: list[RecordedStep], nearest: Sequence[Snippet]) -> Sequence[int]:
        k, sort_by = self.recipe.recall.k, self.recipe.recall.sort_by
        if len(steps) <= k:
            return range(len(steps))
        place = {step.observation.key: index for index, step in enumerate(steps)}
        order = [place[snippet.step] for snippet in nearest if snippet.step in place]
        chosen = clustered(order, [self._item(step) for step in steps], k, sort_by)
        keeps_best = sort_by == "relevance" and not self.recipe.quirks.q12_relevant_first
        return chosen[::-1] if keeps_best else chosen  # a prompt that is too long loses its first snippets

    def _item(self, step: RecordedStep) -> str:
        past = [action.representation for action in step.observation.turn_actions]
        quirks = FAITHFUL if self.parts.ranker_embeds else self.recipe.quirks.narrowed(MatchingQuirks)
        return item_text(step.observation.instruction, past, step.action.representation, quirks)


def _turns(steps: Sequence[RecordedStep]) -> list[int]:
    return [step.observation.turn_index for step in steps]


def _snippet(step: RecordedStep, similarity: float | None) -> Snippet:
    seen = step.observation
    return Snippet(seen.key, seen.turn_index, seen.step_index, seen.instruction, step.action.representation, similarity)
