"""The prompt of WebLINX's action models: which turns, the four truncated parts, and chat or plain form (A6)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from agents.weblinx.actions import action_call
from agents.weblinx.pages import parse_page
from agents.weblinx.pruning import prune
from agents.weblinx.query import HISTORY_TURNS, UTTERANCES, earlier_utterances, previous_turns, utterance_texts
from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.tokens import SpanTokenizer, count
from agents.weblinx.truncation import (
    PromptCandidate,
    candidates_text,
    truncate_candidates,
    truncate_history,
    truncate_page,
    truncate_utterances,
)
from agents.weblinx.turns import Demo, ReplayTurn
from agents.weblinx.wording import OURS, WeblinxWording
from annotations.datasets.weblinx.turns import NEEDING_AN_ELEMENT, active_turns
from annotations.sandbox.deadline import page_deadline

CANDIDATES = 10
ROLE_NAMES = {"user": "User", "assistant": "Assistant"}

PromptMessage = dict[str, str]  # role, content


@dataclass(frozen=True)
class Budgets:
    """Tokens of the four parts; candidates also get what the other three leave. The whole is meant to be 2048."""

    page: int = 700
    utterances: int = 40 * 5
    history: int = 50 * 5
    candidates: int = 65 * 10


@dataclass(frozen=True)
class PromptSettings:
    """How prompts are made: turns of history, token budgets, words and quirks."""

    window: int = HISTORY_TURNS
    budgets: Budgets = Budgets()
    wording: WeblinxWording = OURS
    quirks: WeblinxQuirks = FAITHFUL

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"window must not be negative, got {self.window}")


def prompt_turns(demo: Demo, quirks: WeblinxQuirks = FAITHFUL) -> list[ReplayTurn]:
    """The turns that a model is trained and evaluated on, in order (quirk Q7 forgets that text input needs an
    element)."""
    forgotten = set() if quirks.wq7_keeps_text_input_without_element else {"textinput"}
    return [demo.turns[place] for place in active_turns(demo.recorded(), NEEDING_AN_ELEMENT | forgotten)]


def turn_candidates(
    turns: Sequence[ReplayTurn], ranked: Mapping[int, Sequence[PromptCandidate]]
) -> dict[int, Sequence[PromptCandidate]]:
    """Turn index -> its ranked candidates, or those of the closest earlier of the `turns` that has some."""
    found = {}
    latest: Sequence[PromptCandidate] | None = None
    for turn in turns:
        latest = ranked.get(turn.index, latest)
        if latest is not None:
            found[turn.index] = latest
    return found


def best_candidates(ranked: Iterable[PromptCandidate], k: int = CANDIDATES) -> list[PromptCandidate]:
    """The first k candidates with different uids, from candidates in order of rank."""
    distinct: dict[str, PromptCandidate] = {}
    for candidate in ranked:
        distinct.setdefault(candidate.uid, candidate)
    return list(distinct.values())[:k]


@page_deadline()
def messages(
    demo: Demo,
    turn: ReplayTurn,
    candidates: Sequence[PromptCandidate] | None,
    tokenizer: SpanTokenizer,
    settings: PromptSettings = PromptSettings(),
) -> list[PromptMessage]:
    """The prompt of a turn as messages: system, then the history in turns of user and assistant, then the request.

    `candidates` None leaves their block out; they are pruned to, and shown, in the order given.
    """
    budgets, quirks = settings.budgets, settings.quirks
    page = _page_text(demo, turn, candidates or (), tokenizer, budgets.page)
    spoken = utterance_texts(earlier_utterances(demo, turn, settings.window, quirks=quirks))
    utterances = truncate_utterances(spoken, budgets.utterances, tokenizer, quirks)
    calls = [action_call(previous, quirks) for previous in previous_turns(demo, turn, settings.window)]
    history = truncate_history(calls, settings.window, budgets.history, tokenizer, quirks)
    system = page + settings.wording.system.fill(
        utterances=utterances,
        last_utterances=UTTERANCES - 1,
        height=turn.viewport_height,
        width=turn.viewport_width,
        turns=settings.window,
    )
    if candidates is not None:
        used = sum(count(tokenizer, text) for text in (page, utterances, " ".join(history)))
        left = budgets.page + budgets.utterances + budgets.history - used
        shown = truncate_candidates(candidates, budgets.candidates + left, tokenizer, quirks)
        system += "\n" + settings.wording.candidates.fill(candidates=candidates_text(shown))
    return [{"role": "system", "content": system}, *_conversation(history, settings.wording.request.text)]


def target(turn: ReplayTurn) -> str:
    """What the model should write for the turn."""
    return str(action_call(turn))


def user_first(prompt: Sequence[PromptMessage]) -> list[PromptMessage]:
    """The messages with an empty user message after the system's unless one follows: chat templates need it."""
    empty = [] if len(prompt) > 1 and prompt[1]["role"] == "user" else [{"role": "user", "content": ""}]
    return [prompt[0], *empty, *prompt[1:]]


def plain_text(prompt: Sequence[PromptMessage]) -> str:
    """The messages as one text for models without a chat template (Flan-T5)."""
    lines = [f"{ROLE_NAMES[message['role']]}: {message['content']}\n" for message in prompt[1:]]
    return f"{prompt[0]['content']}\n{''.join(lines)}\n{ROLE_NAMES['assistant']}:"


def _page_text(
    demo: Demo, turn: ReplayTurn, candidates: Sequence[PromptCandidate], tokenizer: SpanTokenizer, budget: int
) -> str:
    html = demo.pages.page_html(turn)
    page = parse_page(html) if html else None
    if page is None:
        return ""
    return truncate_page(prune(page, {candidate.uid for candidate in candidates}), budget, tokenizer)


def _conversation(history: Sequence[str], request: str) -> list[PromptMessage]:
    """The history by speaker, neighbours of one role joined by a space, and the request said by the user."""
    said = [("user" if _by_instructor(text) else "assistant", text) for text in history] + [("user", request)]
    grouped = groupby(said, key=lambda pair: pair[0])
    return [{"role": role, "content": " ".join(text for _, text in pairs)} for role, pairs in grouped]


def _by_instructor(text: str) -> bool:
    return text.startswith("say") and 'speaker="instructor"' in text
