"""WebLINX's prompt (sources.md A6): instruction, last turns and candidates, cut part by part. Core."""

from collections.abc import Sequence

from agents.llm.protocol import Message
from agents.recipes.literature import Recipe
from agents.stages.answering import generator_of
from agents.stages.kind import Beside, Parts, StageKind, prompt_of, unless
from agents.stages.models import idle_elsewhere
from agents.stages.state import StepState
from agents.weblinx.documents import ElementLimit, documents
from agents.weblinx.prompt import PromptSettings, messages, plain_text, prompt_turns, user_first
from agents.weblinx.quirks import WeblinxQuirks
from agents.weblinx.tokens import FastTokenizer, ReadOnce, SpanTokenizer
from agents.weblinx.truncation import PromptCandidate
from agents.weblinx.turns import Demo
from agents.weblinx.wording import WeblinxWording
from agents.words.generator import ChatPrompt, Generated
from annotations.dom.limits import PageError


class _Spans:
    """A rough tokenizer for endpoints, whose tokenizer is not known: a token is four characters."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [(start, min(start + 4, len(text))) for start in range(0, len(text), 4)]


class _AskedTurns:
    """The indices of the turns that models are asked about, found once for each demonstration."""

    def __init__(self, quirks: WeblinxQuirks) -> None:
        self.quirks = quirks
        self._known: dict[int, frozenset[int]] = {}

    def of(self, demo: Demo) -> frozenset[int]:
        if id(demo) not in self._known:
            self._known[id(demo)] = frozenset(kept.index for kept in prompt_turns(demo, self.quirks))
        return self._known[id(demo)]


class RecordedTurns(StageKind):
    """The recorded turns of a demonstration; turns that the published evaluation leaves out are not asked about."""

    stage = "compose"
    reads = frozenset(
        {
            "compose.history_turns",
            "compose.candidates",
            "compose.max_tokens",
            "rank.element_limit",
            "rank.element_limit_unit",
            "prompts.pack",
            "quirks.first_utterance_is_extra",
            "quirks.wq7_keeps_text_input_without_element",
            "quirks.wq9_history_restarts",
            "quirks.wq11_spaces_out_no_utterance",
        }
    )

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        cut = idle_elsewhere(beside.recipe, "compose.max_tokens")
        limited, ranks = beside.recipe.rank.element_limit > 0, beside.recipe.rank.kind != "none"
        ranked, shown = "rank.kind other than none", ranks and beside.recipe.compose.candidates > 0
        shows = ranked if not ranks else "compose.candidates of at least 1"
        return (
            cut
            | unless(ranks, ranked, "compose.candidates")
            | unless(limited, "rank.element_limit of at least 1", "rank.element_limit_unit")
            | unless(shown, shows, "rank.element_limit", "rank.element_limit_unit")
        )

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        compose = recipe.compose
        return (
            f"Instruction, last {compose.history_turns} turns and {compose.candidates} elements, cut part by part to "
            f"{compose.max_tokens:,} tokens."
        )

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return prompt_of(recipe.compose.max_tokens)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.quirks = self.recipe.quirks.narrowed(WeblinxQuirks)
        tokenizer = getattr(generator_of(parts), "tokenizer", None)
        self.tokenizer: SpanTokenizer = FastTokenizer(tokenizer) if tokenizer is not None else _Spans()
        wording = WeblinxWording.of(parts.words)
        self.settings = PromptSettings(self.recipe.compose.history_turns, wording=wording, quirks=self.quirks)
        limit = self.recipe.rank.element_limit or None
        self.limit = ElementLimit(limit, self.recipe.rank.element_limit_unit)

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"weblinx_system", "weblinx_candidates", "weblinx_request"})

    def run(self, states: Sequence[StepState]) -> None:
        """Turns of a demonstration share most of their texts and which of them are asked about: a batch finds out
        once."""
        tokenizer, asked = ReadOnce(self.tokenizer), _AskedTurns(self.quirks)
        for state in states:
            try:
                state.prompt = self._prompt(state, tokenizer, asked)
            except PageError as error:
                state.fail(f"the page cannot be shown: {error}")

    def _prompt(self, state: StepState, tokenizer: SpanTokenizer, asked: "_AskedTurns") -> ChatPrompt | None:
        demo = state.observation.demo
        if demo is None:
            return None
        turn = demo.turns[state.observation.demo_turn]
        if turn.index not in asked.of(demo):
            return None
        candidates = self._candidates(state, tokenizer)
        state.note("compose", candidates=len(candidates or ()))
        prompt = messages(demo, turn, candidates, tokenizer, self.settings)
        chat = tuple(Message(message["role"], message["content"]) for message in user_first(prompt))
        return ChatPrompt(chat, flat=plain_text(prompt))

    def _candidates(self, state: StepState, tokenizer: SpanTokenizer) -> list[PromptCandidate] | None:
        """The best elements in order of rank; those of an earlier turn where this one has no page."""
        demo = state.observation.demo
        if demo is None or not state.ranking:
            return None
        source = demo.turns[state.ranked_turn if state.ranked_turn is not None else state.observation.demo_turn]
        docs = {
            doc.uid: doc
            for doc in documents(demo, source, self.limit, tokenizer if self.limit.unit == "tokens" else None)
        }
        best = state.best_ids(self.recipe.compose.candidates)
        return [PromptCandidate.from_doc(docs[uid]) for uid in best if uid in docs]


def note_read(state: StepState, generated: Generated) -> None:
    """Trace a prompt as the model read it."""
    state.note("compose", prompt=generated.prompt, tokens=generated.usage.prompt_tokens)
