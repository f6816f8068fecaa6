"""Past steps as the messages of a planner: page, question and the answer that was right (sources.md M5.3, M5.4).

Core. Which steps and in which order is chosen elsewhere (`agents.stages.recall.select`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agents.words.past_step import PastStep, RationaleRequest, Rationales
from agents.words.sequence import PagePart, page_messages
from agents.words.shown_page import (
    IN_FULL,
    OURS,
    AnswerForm,
    PageInput,
    PageTask,
    PageWording,
    format_input,
    gold_context,
)
from annotations.sandbox.deadline import page_deadline

NUM_CANDIDATES = 5  # elements of a simplified snippet: the gold one and four others
TOP_K = 50  # the others are drawn from the ranker's first so many

_T = TypeVar("_T")


class Random(Protocol):
    """The part of `random.Random` that is used here."""

    def choice(self, seq: Sequence[_T]) -> _T: ...

    def sample(self, population: Sequence[_T], k: int) -> list[_T]: ...


@dataclass(frozen=True, slots=True)
class SnippetQuirks:
    """Errors of the published snippets that can be reproduced, each named after its number (`Quirks`)."""

    q14_rationale_joined: bool  # no line break before "Rationale:" unless the answer happens to end in one


FAITHFUL = SnippetQuirks(True)
CORRECTED = SnippetQuirks(False)


@dataclass(frozen=True, slots=True)
class SnippetSettings:
    """The settings by which past steps are shown; the defaults are Self-MAP's."""

    form: AnswerForm = IN_FULL
    simplification: bool = True  # a few candidates instead of all negatives
    refinement: bool = True  # rationales
    top_k: int = TOP_K
    num_candidates: int = NUM_CANDIDATES
    wording: PageWording = OURS
    quirks: SnippetQuirks = FAITHFUL


def known_rationale(request: RationaleRequest, wording: PageWording = OURS) -> str | None:
    """The step's stored rationale, the fixed sentence for the answer "none", or None for a step without one."""
    return wording.rationale_none if request.gold_id is None else request.step.rationale


def snippet_messages(
    steps: Iterable[PastStep],
    rng: Random,
    settings: SnippetSettings = SnippetSettings(),
    rationales: Rationales | None = None,
) -> list[PagePart]:
    """Three messages for each step, in the order given. Raises IndexError where a candidate is not on its page."""
    messages: list[PagePart] = []
    for step in steps:
        gold_id, negative_ids = draw_candidates(step, rng, settings)
        messages += snippet(step, gold_id, negative_ids, settings, rationales)
    return messages


def draw_candidates(step: PastStep, rng: Random, settings: SnippetSettings) -> tuple[str | None, list[str]]:
    """The gold element (one of the positives, whatever its rank; None without any) and the negatives that are shown
    with it."""
    gold_id = rng.choice(step.positive_ids) if step.positive_ids else None
    if not settings.simplification:
        return gold_id, [node_id for node_id, _ in step.negatives]
    ranked = [node_id for node_id, rank in step.negatives if rank < settings.top_k]
    wanted = settings.num_candidates - (gold_id is not None)
    return gold_id, rng.sample(ranked, min(wanted, len(ranked)))


@page_deadline()
def snippet(
    step: PastStep,
    gold_id: str | None,
    negative_ids: Sequence[str],
    settings: SnippetSettings = SnippetSettings(),
    rationales: Rationales | None = None,
) -> list[PagePart]:
    """The three messages of one step with these candidates; training draws them in its own way (sources.md M4.3).
    `rationales` None: those that are known."""
    candidate_ids = [*([] if gold_id is None else [gold_id]), *negative_ids]
    task = PageTask(step.instruction, step.past_actions, step.operation, step.value)
    page = format_input(
        step.root, candidate_ids, task, settings.form, gold_id, previous_k=None, wording=settings.wording
    )
    answer = page.target
    if settings.refinement:
        request = _request(step, gold_id, page, settings.form)
        reason = rationales(request) if rationales else known_rationale(request, settings.wording)
        answer = answer if reason is None else _with_rationale(answer, reason, settings.quirks)
    return page_messages(page, answer)


def _request(step: PastStep, gold_id: str | None, page: PageInput, form: AnswerForm) -> RationaleRequest:
    around_gold = "" if gold_id is None else gold_context(step.root, gold_id, page.id_mapping)
    return RationaleRequest(step, gold_id, around_gold, form.without_element(page.target).strip())


def _with_rationale(answer: str, reason: str, quirks: SnippetQuirks) -> str:
    separator = "" if quirks.q14_rationale_joined or answer.endswith("\n") else "\n"
    return f"{answer}{separator}Rationale: {reason}"
