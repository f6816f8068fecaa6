"""MindAct's and Self-MAP's planner: knock-out among groups of elements, by multiple choice or generation. Core.

All steps of a batch play their rounds side by side, so that the model always answers many prompts at once.
"""

import random
from collections.abc import Generator as Steps
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.recipes.literature import Recipe
from agents.stages.compose.page import PageInput, PageTask, Paradigm, choice_letter, format_input
from agents.stages.compose.sequence import PagePart, page_messages
from agents.stages.compose.shots import shot_messages
from agents.stages.plan.generator import Generated, Generator, PagePrompt
from agents.stages.plan.parse import ParsedReply, ParseQuirks, parse_generation, parse_multichoice
from agents.stages.plan.prepared import Planned, Prepared, read_action
from agents.stages.simplify.knockout import rounds
from agents.stages.simplify.snippets import (
    RationaleRequest,
    SnippetQuirks,
    SnippetSettings,
    known_rationale,
    snippet_messages,
)
from agents.types import DecisionUsage
from annotations.dom.limits import PageError
from annotations.dom.tree import Element, parse

TRACED_PROMPT = 6_000  # characters of a round's page and question that a trace keeps


class MissingRationales(Protocol):
    """Writes the rationales that are missing: past step -> (text, what it took)."""

    def write(self, requests: Sequence[RationaleRequest]) -> dict[int, tuple[str, DecisionUsage]]: ...


@dataclass
class _Match:
    """One step on its way through its rounds."""

    step: Prepared
    root: Element
    history: tuple[PagePart, ...]
    rounds: Steps[list[str], ParsedReply, ParsedReply | None]
    group: list[str] | None = None  # to ask about next; None: over
    page: PageInput | None = None
    winner: ParsedReply | None = None
    usage: DecisionUsage = field(default_factory=DecisionUsage)
    error: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)


class PagePlanner:
    """Stages simplify, compose and plan of the recipes with `plan.kind` multichoice or generation."""

    def __init__(self, recipe: Recipe, generator: Generator, writer: MissingRationales) -> None:
        self.recipe = recipe
        self.generator = generator
        self.writer = writer
        self.paradigm: Paradigm = "multichoice" if recipe.plan.kind == "multichoice" else "generation"
        self.quirks = recipe.quirks.narrowed(ParseQuirks)

    def plan(self, steps: Sequence[Prepared]) -> list[Planned]:
        """One decision per step. A reply that cannot be read, or a model that refuses, is an error of its step."""
        reasons = self._rationales(steps)
        matches = [self._begin(step, reasons) for step in steps]
        while waiting := [match for match in matches if isinstance(match, _Match) and match.group is not None]:
            shown = [(match, prompt) for match in waiting if (prompt := self._shown_prompt(match)) is not None]
            for (match, _), generated in zip(shown, self._generate([prompt for _, prompt in shown]), strict=True):
                self._answer(match, generated)
        return [self._planned(match) if isinstance(match, _Match) else match for match in matches]

    def _rationales(self, steps: Sequence[Prepared]) -> dict[int, tuple[str, DecisionUsage]]:
        """Ask at once for what the memory of the batch has no rationale for: past step -> (text, usage)."""
        wanted: dict[int, RationaleRequest] = {}

        def collect(request: RationaleRequest) -> None:
            if request.gold_id is not None and request.step.rationale is None:
                wanted[request.step.key] = request

        if self.recipe.recall.rationales != "model":
            return {}
        for step in steps:
            rng = random.Random()
            rng.setstate(step.rng.getstate())  # the same candidates are drawn again for the prompt
            try:
                snippet_messages(step.memory, rng, self._snippets(), collect)
            except (PageError, IndexError):
                continue  # reported when the prompt is made
        return self.writer.write(list(wanted.values()))

    def _begin(self, step: Prepared, reasons: dict[int, tuple[str, DecisionUsage]]) -> _Match | Planned:
        top = step.best(self.recipe.rank.top_k)
        try:
            root = parse(step.observation.html)
            history = self._history(step, {key: text for key, (text, _) in reasons.items()})
            step.rng.shuffle(top)
            match = _Match(step, root, history, self._rounds(top))
        except (PageError, IndexError) as error:
            return Planned(error=f"the page or a page of memory cannot be shown: {error}")
        for past in step.memory:  # whoever needs an answer first pays for it
            _, used = reasons.get(past.key, ("", DecisionUsage()))
            match.usage += used
            if past.key in reasons:
                reasons[past.key] = (reasons[past.key][0], DecisionUsage())
        _advance(match, None)
        return match

    def _rounds(self, candidates: list[str]) -> Steps[list[str], ParsedReply, ParsedReply | None]:
        if len(candidates) == 1 and not self.recipe.quirks.q7_single_candidate_fails:
            reply = yield candidates
            return reply if reply.element is not None else None
        return (yield from rounds(candidates, self.recipe.simplify.group_size))

    def _snippets(self) -> SnippetSettings:
        return SnippetSettings(
            self.paradigm,
            self.recipe.simplify.memory_pages == "simplified",
            self.recipe.recall.rationales != "none",
            self.recipe.rank.top_k,
            quirks=self.recipe.quirks.narrowed(SnippetQuirks),
        )

    def _history(self, step: Prepared, reasons: dict[int, str]) -> tuple[PagePart, ...]:
        def rationale(request: RationaleRequest) -> str | None:
            return known_rationale(request) or reasons.get(request.step.key)

        shots = shot_messages(self.paradigm)[: 3 * self.recipe.compose.shots]
        return (*shots, *snippet_messages(step.memory, step.rng, self._snippets(), rationale))

    def _generate(self, prompts: list[PagePrompt]) -> Sequence[Generated]:
        return self.generator.generate(prompts) if prompts else []

    def _shown_prompt(self, match: _Match) -> PagePrompt | None:
        """The prompt of a round; where the page cannot be shown around its group, the match is over."""
        try:
            return self._prompt(match)
        except (PageError, IndexError) as error:
            match.error, match.group = f"the page cannot be shown: {error}", None
            return None

    def _prompt(self, match: _Match) -> PagePrompt:
        step = match.step
        task = PageTask(step.instruction, [past.representation for past in step.observation.turn_actions])
        match.page = format_input(match.root, match.group or [], task, self.paradigm)
        openings = _openings(match.page, self.paradigm) if self.recipe.plan.constrained else ()
        image = step.observation.screenshot if self.recipe.observe.observation != "text" else None
        page = match.page
        if self.recipe.observe.observation == "image":
            page = PageInput("", page.input, page.target, page.choices)
        return PagePrompt(tuple(page_messages(page)), match.history, openings=openings, image=image)

    def _answer(self, match: _Match, generated: Generated) -> None:
        match.usage += generated.usage
        page = match.page
        assert page is not None
        shown = f"{page.context}\n\n{page.input}"[:TRACED_PROMPT]
        match.asked.append({"elements": list(match.group or ()), "prompt": shown, "reply": generated.text})
        if generated.error:
            match.error, match.group = generated.error, None
            return
        read = parse_multichoice if self.paradigm == "multichoice" else parse_generation
        try:
            reply = read(generated.text, page.choices, self.quirks)
        except (IndexError, ValueError) as error:
            match.error, match.group = f"the reply {generated.text[:80]!r} cannot be read: {error}", None
            return
        match.asked[-1]["chosen"] = reply.element
        _advance(match, reply)

    def _planned(self, match: _Match) -> Planned:
        winner = match.winner
        action = read_action(winner.element, winner.action) if winner and not match.error else None
        prompts = [f"── round {n} ──\n{asked.pop('prompt')}" for n, asked in enumerate(match.asked, 1)]
        history = _shown(match.history)[:TRACED_PROMPT]
        trace: dict[str, Any] = {
            "simplify": {"kept": min(self.recipe.rank.top_k, len(match.step.ranking)), "rounds": len(match.asked)},
            "compose": {"snippets": len(match.step.memory), "prompt": "\n\n".join(filter(None, [history, *prompts]))},
            "plan": {"kind": self.paradigm, "rounds": match.asked},
        }
        if match.asked:
            trace["plan"]["reply"] = match.asked[-1]["reply"]
        return Planned(action, match.usage, match.error, trace)


def _advance(match: _Match, reply: ParsedReply | None) -> None:
    """To the next group, or to the end."""
    try:
        match.group = next(match.rounds) if reply is None else match.rounds.send(reply)
    except StopIteration as end:
        match.group, match.winner = None, end.value


def _openings(page: PageInput, paradigm: str) -> tuple[str, ...]:
    """Every way in which a well-formed answer starts; one that ends in a space goes on with a value."""
    if paradigm == "multichoice":
        elements, none = [f"{choice_letter(i)}." for i in range(len(page.choices))], "A."
    else:
        elements, none = [f"Element: {text}" for _, text in page.choices], "None"
    return (
        none,
        *(f"{element}\nAction: CLICK" for element in elements),
        *(f"{element}\nAction: {operation}\nValue: " for element in elements for operation in ("TYPE", "SELECT")),
    )


def _shown(messages: Sequence[PagePart]) -> str:
    return "\n".join(f"{message.sender}: {message.text}" for message in messages if message.text)
