"""The prompt of MindAct and Self-MAP: earlier pages with their answers, then the page around a group. Core."""

from collections.abc import Sequence
from typing import ClassVar

from agents.recipes.literature import Recipe
from agents.stages.compose.shots import examples, shot_messages, shots_text
from agents.stages.kind import Beside, Parts, StageKind, prompt_of, unless
from agents.stages.known import has_memory, shows
from agents.stages.models import idle_elsewhere
from agents.stages.simplify.groups import Match
from agents.stages.state import StepState
from agents.types import PromptWorkflow
from agents.words.generator import CUT, PagePrompt
from agents.words.sequence import PagePart, page_messages
from agents.words.shown_page import BY_LETTER, IN_FULL, AnswerForm, PageInput, PageTask, PageWording, format_input
from annotations.dom.limits import PageError

TRACED_PROMPT = 6_000  # characters of a round's page and question that a trace keeps
CUT_FIRST = "cut-before-memory"  # a deviation, by its key
CUTTABLE = ("workflows", "exemplars")
TRACED_BEGINNING = 80  # characters of what comes before a later round's page, where that differs


class PagesInTurn(StageKind):
    """The prompt of `generation`: worked examples, workflows, exemplars, memory, page, task and question."""

    stage = "compose"
    reads = frozenset(
        {
            "compose.shots",
            "compose.layout",
            "compose.max_tokens",
            "compose.piece_tokens",
            "plan.constrained",
            "observe.observation",
            "prompts.pack",
        }
    )
    takes = frozenset({"instruction", "memory", "exemplars", "workflows"})

    form: ClassVar[AnswerForm] = IN_FULL

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        recipe = beside.recipe
        local = recipe.plan.backend == "local"
        return (
            unless(local, "plan.backend=local", "compose.layout")
            | unless(not local, "plan.backend=endpoint", "observe.observation")
            | idle_elsewhere(recipe, "compose.max_tokens", "compose.piece_tokens", "plan.constrained")
        )

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        compose = recipe.compose
        if recipe.plan.backend == "endpoint":
            return f"Page, instruction and earlier actions, uncut.{examples(compose.shots)}"
        alone = "" if is_spoken(recipe) else ", without speakers"
        said = f"Page, instruction and earlier actions{alone}, at most {compose.max_tokens:,} tokens"
        return f"{said}, {compose.piece_tokens:,} a part.{examples(compose.shots)}"

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "prompt" if recipe.plan.backend == "endpoint" else prompt_of(recipe.compose.max_tokens)

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        compose = recipe.compose
        first = [name for name in CUTTABLE if shows(recipe, f"recall.{name}")]
        beside = has_memory(recipe) and recipe.simplify.memory_pages == "whole"
        is_cut = not idle_elsewhere(recipe, "compose.max_tokens")  # a model in this process
        if not (first and beside and is_cut):
            return {}
        said = (
            f"{' and '.join(first).capitalize()} stand before recalled pages, and a prompt of more than "
            f"{compose.max_tokens:,} tokens is cut at its beginning: beside whole recalled pages, of up to "
            f"{compose.piece_tokens:,} tokens each, they are not read at steps that recall more than about "
            f"{max(0, compose.max_tokens // compose.piece_tokens - 2)} long ones. The trace of such a step says so "
            f"(compose, cut), and a report counts them; simplify.memory_pages=simplified leaves room."
        )
        return {CUT_FIRST: said}

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.wording = PageWording.of(parts.words)
        self.shots = shot_messages(parts.words, self.form, self.recipe.compose.shots)
        self.spoken = is_spoken(self.recipe)

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        shots = {shots_text(cls.form)} if recipe.compose.shots else set()
        system = {"page_system"} if is_spoken(recipe) else set()
        return cls.form.texts | {"page_header"} | system | shots

    @classmethod
    def shown_examples(cls, recipe: Recipe) -> dict[str, int]:
        return {shots_text(cls.form): recipe.compose.shots}

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.prompt = None
            if state.shown.group is not None:
                self._compose(state, state.shown)

    def _compose(self, state: StepState, match: Match) -> None:
        past = [action.representation for action in state.observation.turn_actions]
        task = PageTask(state.instruction, past)
        try:
            root, group = state.observation.root, match.group or []
            page = match.page = format_input(root, group, task, self.form, wording=self.wording)
        except (PageError, IndexError) as error:
            state.fail(f"the page cannot be shown: {error}")
            return
        openings = _openings(page, self.form) if self.recipe.plan.constrained else ()
        shown = page if state.sees_text else PageInput("", page.input, page.target, page.choices)
        history = (*opening(self.shots, state.workflows), *match.past)
        current = tuple(page_messages(shown))
        system = self.wording.system if self.spoken else ""
        state.prompt = PagePrompt(current, system, history, openings, state.image, self.spoken)
        match.prompts.append(state.prompt)
        state.note("compose", snippets=len(state.memory), prompt=traced_rounds(match.prompts))


class LetteredPages(PagesInTurn):
    """The prompt of `multichoice`: as of `generation`, but the elements are listed with letters."""

    form: ClassVar[AnswerForm] = BY_LETTER


def note_sent(state: StepState, match: Match, sent: PagePrompt) -> None:
    """Trace a round's prompt as the model read it, in the place of what was composed, and which of what comes before
    recalled pages it did not read whole in some round."""
    lost = _not_read(match.prompts[-1], sent, state)
    cut = [name for name in CUTTABLE if name in {*lost, *state.trace.get("compose", {}).get("cut", ())}]
    match.prompts[-1] = sent
    state.note("compose", prompt=traced_rounds(match.prompts), **({"cut": cut} if cut else {}))


def _not_read(composed: PagePrompt, sent: PagePrompt, state: StepState) -> list[str]:
    """What of workflows and exemplars was cut from the beginning of a prompt."""
    dropped = len(composed.history) - len(sent.history)
    dropped += bool(sent.history) and sent.history[0].text.startswith(CUT)
    gone = {part.text for part in composed.history[:dropped] if part.text}
    of_workflows = {part.text for part in opening((), state.workflows) if part.text}
    steps = sum(len(exemplar.steps) for exemplar in state.exemplars)  # page, question and answer of each
    of_exemplars = {part.text for part in state.shown.past[: 3 * steps] if part.text}
    return [name for name, own in zip(CUTTABLE, (of_workflows, of_exemplars), strict=True) if own & gone]


def traced_rounds(prompts: Sequence[PagePrompt]) -> str:
    """The prompts of a step's rounds as a trace keeps them: what comes before the page once, then each round's page and
    question. Where what comes before was cut elsewhere in a later round, its beginning there is told."""
    first = prompts[0]
    told = [first.system and f"system: {first.system}", _before(first)]
    for number, prompt in enumerate(prompts, 1):
        page, question, *_ = (part.text for part in prompt.current)
        begins = "" if prompt.history == first.history else f"(before it: {_before(prompt)[:TRACED_BEGINNING]} …)\n"
        told.append(f"── round {number} ──\n{begins}" + _kept(f"{page}\n\n{question}"))
    return "\n\n".join(filter(None, told))


def _before(prompt: PagePrompt) -> str:
    return _kept("\n".join(f"{part.sender}: {part.text}" for part in prompt.history if part.text))


def _kept(text: str) -> str:
    return text if len(text) <= TRACED_PROMPT else f"{text[:TRACED_PROMPT]} … (a trace keeps no more of it)"


def is_spoken(recipe: Recipe) -> bool:
    """Whether a prompt is a conversation whose speakers are named. Prompts to endpoints always are."""
    return recipe.compose.layout == "conversation" or recipe.plan.backend == "endpoint"


def opening(shots: tuple[PagePart, ...], workflows: Sequence[PromptWorkflow]) -> tuple[PagePart, ...]:
    """What comes before recalled pages: worked examples, then the workflows as a message of the user, as in AWM."""
    if not workflows:
        return shots
    text = "\n\n".join(workflow.text() for workflow in workflows)
    return *shots, PagePart("webpage", ""), PagePart("human", text), PagePart("gpt", "")


def _openings(page: PageInput, form: AnswerForm) -> tuple[str, ...]:
    """Every beginning of a well-formed answer. One that ends in a space is followed by a value."""
    elements = [form.element(index, text) for index, (_, text) in enumerate(page.choices)]
    return (
        form.none,
        *(f"{element}\nAction: CLICK" for element in elements),
        *(f"{element}\nAction: {operation}\nValue: " for element in elements for operation in ("TYPE", "SELECT")),
    )
