"""Everything that the recipes ask about a few steps, without a database: what a prompt pack must leave as it is."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Usage
from agents.memory.rationales import question
from agents.memory.workflows.text import offline_prompt, online_prompt
from agents.pipeline import Pipeline
from agents.prompts.packs import Pack, webnav
from agents.recipes import literature
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.kind import Parts
from agents.types import (
    DecisionUsage,
    Observation,
    PastAction,
    PromptExemplar,
    PromptWorkflow,
    RankedCandidate,
    RecordedStep,
    Snippet,
)
from agents.words.exemplar_sets import PublishedExemplars
from agents.words.generator import ChatPrompt, Generated, PlannerPrompt
from agents.words.past_step import RationaleRequest
from tests.agents.weblinx_demo import browser, chat, make_demo

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
<h1 backend_node_id="3"><text backend_node_id="4">Boat hire {number}</text></h1>
<input backend_node_id="5" type="text" placeholder="Harbour"/>
<select backend_node_id="6" name="boat"><option backend_node_id="7"><text backend_node_id="8">Kayak</text></option>
<option backend_node_id="9"><text backend_node_id="10">Sailing dinghy</text></option></select>
<button backend_node_id="11"><text backend_node_id="12">Reserve</text></button>
<a backend_node_id="13"><text backend_node_id="14">Imprint</text></a></body></html>"""
CANDIDATES = ("5", "6", "7", "9", "11", "13")
ACTIONS = (
    PastAction("[textbox]  Harbour -> TYPE: Bergen", "TYPE", "5", "Bergen"),
    PastAction("[combobox]  boat -> SELECT: Kayak", "SELECT", "6", "Kayak"),
    PastAction("[button]  Reserve -> CLICK", "CLICK", "11"),
)
INSTRUCTIONS = ("Find a kayak in Bergen.", "Take the cheapest {{one}}.", "Reserve it for two.")
BUILT = [name for name, recipe in RECIPES.items() if not recipe.needs and recipe.plan.kind not in ("first", "grounded")]
MIXTURES: dict[str, dict[str, str]] = {
    "mindact-icl with all": {
        "recall.workflows": "environment",
        "recall.exemplars": "semantic",
        "recall.exemplar_k": "1",
        "recall.rationales": "stored",
    },
    "self-map with shots": {"compose.shots": "3", "preset": "corrected"},
    "self-map-mcq with shots": {"compose.shots": "2", "recall.rewrite_instruction": "true"},
    "awm with memory": {"recall.memory": "multifaceted", "recall.k": "2", "recall.rationales": "model"},
    "synapse-abstraction with memory": {"recall.memory": "chronological", "recall.k": "0"},
}


def recipe_named(name: str) -> Recipe:
    """ "self-map with shots": the recipe and what `MIXTURES` changes of it."""
    return literature.override(literature.get(name.partition(" ")[0]), MIXTURES.get(name, {}))


def recorded() -> list[RecordedStep]:
    """Three turns of three steps each, with keys of their own."""
    found: list[RecordedStep] = []
    for turn, instruction in enumerate(INSTRUCTIONS):
        for index, action in enumerate(ACTIONS):
            seen = Observation(
                key=10 * turn + index + 1,
                conversation=1,
                turn_index=turn,
                step_index=index,
                website="boats",
                domain="Leisure",
                subdomain="Water",
                instruction=instruction,
                html=PAGE.replace("{number}", str(index)),
                candidate_ids=CANDIDATES,
                turn_actions=ACTIONS[:index],
                earlier_instructions=INSTRUCTIONS[:turn],
                turn_steps=tuple(found[3 * turn :]),
            )
            positives = () if (turn, index) == (0, 2) else (action.node_id or "",)
            reason = f"Because of {action.operation}." if index == 0 else None
            found.append(RecordedStep(seen, action, positives, reason))
    return found


class KnownMemory:
    """Recalls earlier turns as they were, the same exemplar and the same workflows."""

    def __init__(self) -> None:
        self.steps = recorded()

    def snippets(self, observations: list[Observation], queries: Sequence[np.ndarray], k: int) -> list[list[Snippet]]:
        return [[_snippet(step) for step in reversed(self.earlier_steps(seen))][:k] for seen in observations]

    def earlier_steps(self, observation: Observation) -> list[RecordedStep]:
        return [step for step in self.steps if step.observation.turn_index < observation.turn_index]

    def with_pages(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        return list(steps)

    def exemplars(self, observation: Observation, query: Any, k: int, fixed: bool = False) -> list[PromptExemplar]:
        steps = tuple(replace(step, observation=_elsewhere(step.observation)) for step in self.steps[3:5])
        return [PromptExemplar(n, f"s{n}", "Hire a {{canoe}}.", steps) for n in range(k)]

    def workflows(self, observation: Observation, query: Any, k: int) -> list[PromptWorkflow]:
        given = "Given that you are on a page, this workflow opens a form."
        return [PromptWorkflow(n, f"open_{n}", given, "[link]  {name} -> CLICK", "boats") for n in range(2)]

    def prepare_snippets(self, conversation_ids: Sequence[int]) -> None: ...

    def prepare_exemplars(self) -> None: ...

    def prepare_workflows(self, embedded: bool) -> None: ...


def _elsewhere(seen: Observation) -> Observation:
    return replace(seen, key=seen.key + 1_000, conversation=2)


def _snippet(step: RecordedStep) -> Snippet:
    seen = step.observation
    return Snippet(seen.key, seen.turn_index, seen.step_index, seen.instruction, step.action.representation, 0.5)


class KnownSets:
    """One exemplar set, with words and without a program for what matters of a page."""

    def prepare(self, embedded: bool) -> None: ...

    def nearest(self, query: np.ndarray, k: int) -> list[str]:
        return ["boats"] * k

    def find(self, name: str) -> PublishedExemplars:
        demo = {"state": "<b>Reserve</b>", "obs": "a button", "act": "agent.click_xpath('//b')"}
        return PublishedExemplars.from_dict(name, {"demo": [demo], "filter_prompt": "What matters?"})


class AllCandidates:
    """In place of a ranker."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [
            tuple(RankedCandidate(node_id, 1.0, rank, "") for rank, node_id in enumerate(seen.candidate_ids))
            for seen in observations
        ]


class Asked:
    """In place of models, endpoint and writer of rationales: keeps what they are asked."""

    info = LlmInfo("nowhere", "some-model", None)

    def __init__(self, pack: Pack, several: bool = False) -> None:
        self.pack = pack
        self.samples = ("`CLICK [5]`", "`CLICK [6]`") if several else ("None",)
        self.said: list[Any] = []

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        self.said += [_told(prompt) for prompt in prompts]
        return [Generated(self.samples[0], "", DecisionUsage(), others=self.samples[1:]) for _ in prompts]

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def complete(self, requests: list[Request]) -> list[Any]:
        self.said += [request.to_dict() for request in requests]
        return [Reply(("An answer.",), Usage(1, 1, 0.0), "some-model", ("stop",), 0.0) for _ in requests]

    def write(self, requests: Sequence[RationaleRequest]) -> dict[int, tuple[str, DecisionUsage]]:
        self.said += [_chat(question(request, self.pack)) for request in requests]
        return {request.step.key: (f"Reason {request.step.key}.", DecisionUsage()) for request in requests}


def _chat(messages: Any) -> list[list[str]]:
    return [[message.role, message.content] for message in messages]


def _told(prompt: PlannerPrompt) -> list[Any]:
    if isinstance(prompt, ChatPrompt):
        return [_chat(prompt.messages), prompt.stop, prompt.flat]
    parts = [[part.sender, part.text] for part in (*prompt.history, *prompt.current)]
    return [prompt.system, parts, prompt.openings, _chat(prompt.chat())]


def composed(recipe: Recipe, pack: Pack | None = None) -> list[Any]:
    """What the recipe asks about every step, in the order in which it asks."""
    asked = Asked(pack or webnav(), several=recipe.plan.samples > 1)
    encoder = CachedEncoder(HashEncoder())
    parts = Parts(recipe, 0, asked, KnownMemory(), encoder, asked, AllCandidates(), asked, asked.pack)
    parts.sets = KnownSets()
    Pipeline.of(parts).decide([step.observation for step in recorded()] if recipe.data == "any" else list(turns()))
    return asked.said


def turns() -> Iterator[Observation]:
    demo = make_demo(
        chat("instructor", "Find a room in Bergen."),
        browser("textInput", "field", 1.0, text="Bergen"),
        chat("instructor", "Search now.", 2.0),
        browser("click", "go", 3.0),
        chat("navigator", "Here they are.", 4.0),
    )
    first = recorded()[0].observation
    for turn in demo.turns:
        yield replace(
            first, key=100 + turn.index, html="", candidate_ids=("field", "go"), demo=demo, demo_turn=turn.index
        )


def induced() -> list[str]:
    """What a model is asked to induce workflows, in both styles."""
    tasks = [("Book {{a}} room", ["[link]  Rooms -> CLICK", "[button]  Book -> CLICK"])]
    calls = [("Book a room", [("Observation: `<html/>`", "Action: `CLICK [1]`")])]
    styles = ("concrete", "abstract")
    offline = [offline_prompt("inn", "Travel", "Hotel", tasks, style) for style in styles]
    online = [online_prompt("inn", "Travel", "Hotel", calls, style) for style in styles]
    return [message.content for (message,) in offline + online]


def digest(said: Any) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
