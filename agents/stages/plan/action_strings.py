"""WebLINX's action model: the prompt of dmr_wma.md A6 and an action string as the answer. Core."""

from collections.abc import Sequence
from typing import Any

from agents.llm.protocol import Message
from agents.recipes.literature import Recipe
from agents.stages.plan.generator import ChatPrompt, Generated, Generator
from agents.stages.plan.prepared import Planned, Prepared
from agents.types import Action
from agents.weblinx.documents import ElementLimit, documents
from agents.weblinx.parse import ParsedAction, cast_coordinates, parse_action, predicted_element
from agents.weblinx.prompt import PromptSettings, messages, plain_text, prompt_turns, user_first
from agents.weblinx.quirks import WeblinxQuirks
from agents.weblinx.tokens import FastTokenizer, SpanTokenizer
from agents.weblinx.truncation import PromptCandidate
from agents.weblinx.turns import UNKNOWN
from annotations.dom.limits import PageError
from annotations.dom.weblinx_page import UID

OPERATIONS = {
    "click": "CLICK",
    "hover": "HOVER",
    "textinput": "TYPE",
    "change": "CHANGE",
    "load": "LOAD",
    "submit": "SUBMIT",
    "scroll": "SCROLL",
    "say": "SAY",
    "copy": "COPY",
    "paste": "PASTE",
    "tabcreate": "TAB_CREATE",
    "tabremove": "TAB_REMOVE",
    "tabswitch": "TAB_SWITCH",
}
VALUES = {"textinput": ("text", "value"), "change": ("value",), "load": ("url",), "say": ("utterance",)}


class _Spans:
    """A rough tokenizer for endpoints, which do not tell theirs: runs of about four characters."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [(start, min(start + 4, len(text))) for start in range(0, len(text), 4)]


class ActionStringPlanner:
    """Stages simplify, compose and plan of the recipes with `plan.kind` action_string."""

    def __init__(self, recipe: Recipe, generator: Generator) -> None:
        self.recipe = recipe
        self.generator = generator
        self.quirks = recipe.quirks.narrowed(WeblinxQuirks)
        tokenizer = getattr(generator, "tokenizer", None)
        self.tokenizer: SpanTokenizer = FastTokenizer(tokenizer) if tokenizer is not None else _Spans()
        self.settings = PromptSettings(recipe.compose.history_turns, quirks=self.quirks)
        limit = recipe.rank.element_limit or None
        self.limit = ElementLimit(limit, recipe.rank.element_limit_unit)

    def plan(self, steps: Sequence[Prepared]) -> list[Planned]:
        """One decision per step; turns that the published evaluation leaves out are not asked about."""
        prompts = [self._prompt_or_why(step) for step in steps]
        asked = [prompt for prompt in prompts if isinstance(prompt, ChatPrompt)]
        replies = iter(self.generator.generate(asked) if asked else [])
        return [
            self._planned(step, next(replies)) if isinstance(prompt, ChatPrompt) else prompt or _left_out(step)
            for step, prompt in zip(steps, prompts, strict=True)
        ]

    def _prompt_or_why(self, step: Prepared) -> ChatPrompt | Planned | None:
        """The prompt of a step that is asked about; what became of one whose page cannot be shown."""
        try:
            return self._prompt(step)
        except PageError as error:
            return Planned(error=f"the page cannot be shown: {error}")

    def _prompt(self, step: Prepared) -> ChatPrompt | None:
        demo = step.observation.demo
        if demo is None:
            return None
        turn = demo.turns[step.observation.demo_turn]
        if all(kept.index != turn.index for kept in prompt_turns(demo, self.quirks)):
            return None
        prompt = messages(demo, turn, self._candidates(step), self.tokenizer, self.settings)
        chat = tuple(Message(message["role"], message["content"]) for message in user_first(prompt))
        return ChatPrompt(chat, flat=plain_text(prompt))

    def _candidates(self, step: Prepared) -> list[PromptCandidate] | None:
        """The best elements in order of rank; those of an earlier turn where this one has no page."""
        demo = step.observation.demo
        if demo is None or not step.ranking:
            return None
        tokenizer = self.tokenizer if self.limit.unit == "tokens" else None
        source = demo.turns[step.ranked_turn if step.ranked_turn is not None else step.observation.demo_turn]
        docs = {doc.uid: doc for doc in documents(demo, source, self.limit, tokenizer)}
        best = step.best(self.recipe.compose.candidates)
        return [PromptCandidate.from_doc(docs[uid]) for uid in best if uid in docs]

    def _planned(self, step: Prepared, generated: Generated) -> Planned:
        parsed = parse_action(generated.text, self.quirks)
        action = None if generated.error or parsed.intent == UNKNOWN else self._action(step, parsed)
        trace: dict[str, Any] = {
            "simplify": {"candidates": min(self.recipe.compose.candidates, len(step.ranking))},
            "compose": {"prompt": generated.prompt, "tokens": generated.usage.prompt_tokens},
            "plan": {"kind": "action_string", "reply": generated.text, "intent": parsed.intent},
        }
        return Planned(action, generated.usage, generated.error, trace)

    def _action(self, step: Prepared, parsed: ParsedAction) -> Action | None:
        demo = step.observation.demo
        operation = OPERATIONS.get(parsed.intent)
        if demo is None or operation is None:
            return None
        args = cast_coordinates(parsed.args)
        turn = demo.turns[step.observation.demo_turn]
        element = predicted_element(parsed.intent, args, demo, turn, self.quirks)
        value = next((str(args[key]) for key in VALUES.get(parsed.intent, ()) if args.get(key) is not None), "")
        return Action(operation, element["attributes"][UID] if element else None, value)


def _left_out(step: Prepared) -> Planned:
    why = "no recorded turns" if step.observation.demo is None else "not among the turns that models are asked about"
    return Planned(trace={"plan": {"kind": "action_string", "left_out": why}})
