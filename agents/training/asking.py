"""What a training asks of a language model before and while it reads its samples: whom, how much, within which budget.
Shell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agents.cookbook.texts import pack_of
from agents.llm import connection
from agents.llm.budget import UNPRICED, Budget
from agents.llm.protocol import Llm, Message, Request, estimate
from agents.llm.usage import Usage
from agents.memory.jobs import endpoint
from agents.memory.rationales import MAX_TOKENS, question
from agents.memory.refine import requests_of
from agents.models.spending import BudgetLimits
from agents.prompts.packs import Pack
from agents.stages.recall.asked import REWRITE_TOKENS
from agents.stages.registry import planner_named, predicts_objective
from agents.training.rationales import ShownReasons
from annotations.models import Step, Turn
from annotations.text.amounts import amount

LOOKED_AT = 20  # requests that stand for all in a forecast
ADVICE = (
    "Start the training again under the same name with a higher --max-tokens, --max-cost or --max-seconds; what was "
    "answered is kept."
)
UNITS = {"tokens": "tokens", "cost": "in money", "seconds": "seconds of waiting for the model"}


@dataclass(frozen=True)
class CallsAhead:
    """Requests that a training will send at most: how many, for what, and a few of them that stand for all."""

    what: str
    count: int
    few: Sequence[Request] = ()
    which: str = ""

    def told(self, llm: Llm) -> str:
        """The sentence without its end."""
        asked = f"{llm.info.model} is asked for {amount(self.count, self.what)}{self.which}"
        if not self.few:
            return f"{asked}, as long as its pages and exemplars make them"
        used = sum((estimate(one, llm.info.prices) for one in self.few), Usage())
        share = self.count / len(self.few)
        tokens = round((used.prompt_tokens + used.completion_tokens) * share)
        cost = f", for {used.cost * share:.2g} at the prices of today" if used.cost else ""
        return f"{asked}: at most {tokens:,} tokens{cost if llm.info.prices else ', at prices that are not known'}"


def llm_within_budget(budget: Budget) -> Llm:
    """The model that a training asks, within its budget, behind the cache of replies."""
    return endpoint(budget=budget, advice=ADVICE)


def told_ahead(reasons: ShownReasons | None, limits: BudgetLimits) -> list[str]:
    """What the training with these samples will ask, and within which budget, as sentences; empty where it asks
    nothing. What was answered before is asked no more. ValueError for a limit on money where prices are not known."""
    if reasons is None or connection.lacking():
        return []
    llm = connection.connected()
    if not (ahead := list(_ahead(reasons, llm.info.model))):
        return []
    if limits.get("cost") is not None and llm.info.prices is None:
        raise ValueError(UNPRICED)
    return [*(f"{one.told(llm)}." for one in ahead), _limits_told(limits)]


def _limits_told(limits: BudgetLimits) -> str:
    """The budget of a training that asks, as a sentence."""
    if given := {unit: most for unit, most in limits.items() if most is not None}:
        return f"It may use at most {' and '.join(f'{most:,} {UNITS[unit]}' for unit, most in given.items())}."
    return "Nothing limits these calls: --max-tokens, --max-cost and --max-seconds would."


def _ahead(reasons: ShownReasons, model: str) -> Iterator[CallsAhead]:
    recipe, pack = reasons.recipe, pack_of(reasons.recipe, reasons.train.dataset)
    if (missing := reasons.missing()) and not reasons.refusal():
        asked = [
            Request(question(one, pack), model, max_tokens=MAX_TOKENS)
            for one in requests_of(_few(missing), reasons.asks())[0]
        ]
        yield CallsAhead("rationale", len(missing), asked, " that nobody has written")
    planner = planner_named(reasons.settings.paradigm)
    if planner is None or planner.of_turns:
        return
    if recipe.recall.rewrite_instruction and (turns := _turns(reasons)):
        asked = [_rewriting(pack, model, one) for one in _few(turns)]
        yield CallsAhead("instruction", len(turns), asked, " that stand alone")
    if predicts_objective(recipe) and (steps := _steps(reasons)):
        yield CallsAhead("objective", steps, (), " of an action")


def _few(every: Sequence[Any]) -> Sequence[Any]:
    return every[:: -(-len(every) // LOOKED_AT)]


Later = tuple[int, int, str, str]
"""A turn whose instruction is rewritten: its conversation, its place there, its instruction and the website."""


def _turns(reasons: ShownReasons) -> list[Later]:
    """Those of recorded steps, after the first turn of a conversation."""
    rows = Turn.objects.filter(conversation__in=reasons.read_conversations(), steps__snapshot__isnull=False)
    told = ("conversation_id", "index", "instruction", "conversation__website__name")
    return list(rows.filter(index__gt=0).distinct().order_by("pk").values_list(*told))


def _rewriting(pack: Pack, model: str, turn: Later) -> Request:
    conversation, index, instruction, website = turn
    earlier = Turn.objects.filter(conversation=conversation, index__lt=index).order_by("index")
    said = "\n".join(earlier.values_list("instruction", flat=True))
    filled = {"earlier": said, "instruction": instruction, "website": website}
    messages = tuple(Message(*one) for one in pack.prompt("rewrite").messages(**filled))
    return Request(messages, model, max_tokens=REWRITE_TOKENS)


def _steps(reasons: ShownReasons) -> int:
    return Step.objects.filter(turn__conversation__in=reasons.read_conversations(), snapshot__isnull=False).count()
