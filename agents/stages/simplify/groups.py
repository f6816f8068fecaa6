"""`simplify` of MindAct and Self-MAP: the page around a few elements at a time, in a knock-out. Core."""

import random
from collections.abc import Generator as Steps
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agents.recipes.literature import Recipe
from agents.stages.kind import RECALLED, Beside, Parts, StageKind, unless
from agents.stages.known import has_memory, has_past
from agents.stages.simplify.knockout import rounds
from agents.stages.simplify.snippets import SnippetQuirks, SnippetSettings, known_rationale, snippet_messages
from agents.stages.state import StepState
from agents.types import DecisionUsage, RecordedStep
from agents.words.generator import PagePrompt
from agents.words.parse import ParsedReply
from agents.words.past_step import PastStep, RationaleRequest
from agents.words.sequence import PagePart
from agents.words.shown_page import BY_LETTER, IN_FULL, OURS, AnswerForm, PageInput, PageWording
from annotations.dom.limits import PageError

RATIONALE_TEXTS = {"none": set[str](), "stored": {"rationale_none"}, "model": {"rationale_none", "rationale"}}
Reasons = dict[int, tuple[str, DecisionUsage]]
"""Past step -> its rationale and what that took."""


@dataclass
class Match:
    """The knock-out of one step: its rounds, the current group, the winner."""

    rounds: Steps[list[str], ParsedReply, ParsedReply | None]
    past: tuple[PagePart, ...]  # recalled pages with their answers: exemplars, then memory
    group: list[str] | None = None  # to ask about next; None: over
    page: PageInput | None = None  # as composed for the group
    winner: ParsedReply | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[PagePrompt] = field(default_factory=list)  # of the rounds so far, as they were sent

    def advance(self, reply: ParsedReply | None = None) -> None:
        """Go on to the next group, or to the end, with the reply to the last one."""
        try:
            self.group = next(self.rounds) if reply is None else self.rounds.send(reply)
        except StopIteration as end:
            self.group, self.winner = None, end.value


class ElementGroups(StageKind):
    """Shows the page in groups of the best elements; the winners of groups meet in later ones. Past pages are shown
    with a few elements, or whole."""

    stage = "simplify"
    reads = frozenset(
        {
            "rank.top_k",
            "simplify.group_size",
            "simplify.memory_pages",
            "recall.rationales",
            "quirks.q7_single_candidate_fails",
            "quirks.q14_rationale_joined",
        }
    )
    form: ClassVar[AnswerForm] = IN_FULL  # of the answers beside past pages

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        past, reasons = bool(beside.blocks & {"memory", "exemplars"}), beside.recipe.recall.rationales != "none"
        pages, memory = "recalled steps or exemplars (recall.memory, recall.exemplars)", RECALLED
        return (
            unless(past, pages, "simplify.memory_pages")
            | unless(past, memory, "recall.rationales")
            | unless(past and reasons, f"recall.rationales and {memory}", "quirks.q14_rationale_joined")
        )

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        quirk = "quirks.q7_single_candidate_fails"
        if recipe.rank.top_k > 1 or not recipe.quirks.q7_single_candidate_fails:
            return ""
        said = f"rank.top_k=1 does not go with {quirk}=true, by which every step fails unasked"
        return f"{said}: set rank.top_k of at least 2, or {quirk}=false"

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        simplify = recipe.simplify
        memory = "whole" if simplify.memory_pages == "whole" else "with the used element and four others only"
        shown = f" Recalled pages are shown {memory}." if has_memory(recipe) else ""
        return f"Shows the page around {simplify.group_size} elements at a time.{shown}"

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.simplify.group_size} elements at a time"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.snippets = snippet_settings(self.recipe, self.form, PageWording.of(parts.words))

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset(RATIONALE_TEXTS[shown_rationales(recipe)])

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return shown_rationales(recipe) == "model"

    def run(self, states: Sequence[StepState]) -> None:
        new = [state for state in states if state.shown is None]
        past = [step for state in new for step in _past(state)]
        ranks = self.parts.rankings.past([step.observation for step in past])
        shown = {step.observation.key: PastStep.of(step, ranks[step.observation.key].items()) for step in past}
        reasons = self._rationales(new, shown)
        for state in new:
            self._begin(state, shown, reasons)
        for state in states:
            if state.open and state.shown.group is not None:
                state.note("simplify", rounds=len(state.shown.prompts) + 1)

    def _rationales(self, states: Sequence[StepState], shown: dict[int, PastStep]) -> Reasons:
        """Step -> rationale. Rationales that recalled steps lack are asked for, all of a batch at once."""
        wanted: dict[int, RationaleRequest] = {}

        def collect(request: RationaleRequest) -> None:
            if request.gold_id is not None and request.step.rationale is None:
                wanted[request.step.key] = request

        if self.recipe.recall.rationales != "model" or self.parts.writer is None:
            return {}
        for state in states:
            rng = random.Random()
            rng.setstate(state.rng.getstate())  # the same candidates are drawn again for the prompt
            try:
                snippet_messages(_steps(state, shown), rng, self.snippets, collect)
            except (PageError, IndexError):
                continue  # reported when the prompt is made
        return self.parts.writer.write(list(wanted.values()))

    def _begin(self, state: StepState, shown: dict[int, PastStep], reasons: Reasons) -> None:
        top = state.best_ids(self.recipe.rank.top_k)

        def rationale(request: RationaleRequest) -> str | None:
            return known_rationale(request, self.snippets.wording) or reasons.get(request.step.key, (None,))[0]

        try:
            _ = state.observation.root
            past = snippet_messages(_steps(state, shown), state.rng, self.snippets, rationale)
        except (PageError, IndexError) as error:
            state.fail(f"the page or a page of memory cannot be shown: {error}")
            return
        state.rng.shuffle(top)
        state.shown = match = Match(self._rounds(top), tuple(past))
        for step in _past(state):  # whoever needs an answer first pays for it
            text, used = reasons.get(step.observation.key, ("", DecisionUsage()))
            state.usage += used
            if text:
                reasons[step.observation.key] = (text, DecisionUsage())
        match.advance()
        state.note("simplify", kept=min(self.recipe.rank.top_k, len(state.ranking)), rounds=0)

    def _rounds(self, candidates: list[str]) -> Steps[list[str], ParsedReply, ParsedReply | None]:
        if len(candidates) == 1 and not self.recipe.quirks.q7_single_candidate_fails:
            reply = yield candidates
            return reply if reply.element is not None else None
        return (yield from rounds(candidates, self.recipe.simplify.group_size))


def shown_rationales(recipe: Recipe) -> str:
    """`recall.rationales`, none where the prompt has no past page that one could stand beside."""
    return recipe.recall.rationales if has_past(recipe) else "none"


def snippet_settings(recipe: Recipe, form: AnswerForm, wording: PageWording = OURS) -> SnippetSettings:
    """The settings by which past pages are shown, the same in training and in use."""
    return SnippetSettings(
        form,
        recipe.simplify.memory_pages == "simplified",
        shown_rationales(recipe) != "none",
        recipe.rank.top_k,
        wording=wording,
        quirks=recipe.quirks.narrowed(SnippetQuirks),
    )


class LetteredGroups(ElementGroups):
    """Shows the page in groups of the best elements, as ElementGroups does, for answers of multiple choice."""

    form: ClassVar[AnswerForm] = BY_LETTER


def _past(state: StepState) -> list[RecordedStep]:
    """The recorded steps whose pages the prompt shows, in its order: those of exemplars, then recalled ones."""
    return [*(step for exemplar in state.exemplars for step in exemplar.steps), *state.memory]


def _steps(state: StepState, shown: dict[int, PastStep]) -> list[PastStep]:
    return [shown[step.observation.key] for step in _past(state)]
