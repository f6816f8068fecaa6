"""Agents on a few steps, put together as runs put them together: what a changed setting changes.

Rows, memory, rankings and prompts are real. Weights that plan and the endpoint answer from a list, and tell how they
were asked.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from agents import observations
from agents.cookbook import texts
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.encoders.weights import MINILM
from agents.generators.local import prompt_ids, prompt_text
from agents.learned.settings import Settings
from agents.llm.protocol import GREEDY, LlmInfo, Reply, Request, Sampling
from agents.llm.usage import Usage
from agents.memory import encoding
from agents.memory.build import embed_workflows
from agents.memory.workflows.text import online_prompt
from agents.models import ExemplarSet, PromptPack, Run, Trajectory, Workflow
from agents.prompts.packs import Pack, webnav
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs import building
from agents.runs.runner import UndecidedStep, UndecidedSteps, _in_reach
from agents.stages import answering, registry
from agents.stages.imagine import model_questions
from agents.stages.known import kinds
from agents.stages.rank import kinds as rank_kinds
from agents.stages.rank.dmr import DmrEncoder
from agents.stages.rank.score_file import ScoreFile
from agents.types import Action, DecisionUsage, Observation, RankedCandidate
from agents.weblinx.tokens import FastTokenizer
from agents.weblinx.turns import Demo, PagesByName
from agents.words.generator import Generated, PlannerPrompt
from annotations.datasets.records import CandidateRecord
from annotations.models import Dataset, Rationale, Split, Step, Target, Turn
from annotations.models.corpus.candidates import pack_candidates
from evaluation.scores.judging import Gold, judge_as_published
from tests import factories
from tests.agents.learned_world import learn, make_examples
from tests.agents.weblinx_demo import BOXES, PAGE, box, browser, chat
from tests.evaluation.recipe_world import ANSWERS, TEXTS, make_workflows
from tests.tiny_models import tiny_cross_encoder, tiny_t5

REPLIES = {
    "multichoice": (
        "B.\nAction: CLICK\nValue: now",
        "C.\nAction: TYPE\nValue: red shoes",
        "",
        "@.\nAction: CLICK\n",
        "A.",
        "C.\nAction: SELECT\nValue: price",
    ),
    "generation": ("Element: what?\nAction: CLICK\nValue: now", "None", "Element: id=1 option price\nAction: CLICK\n"),
    "trajectory": (
        "Action: `CLICK [9]` (x)",
        "Action: `TYPE [5] [red shoes]` (x)",
        "`SELECT [6] [price]`",
        "None",
        "`TYPE [5] [bus stop]`",
    ),
    "program": (
        # what abstracts a page, which fails where no program is written; then what acts on it
        "```\nobs = state[-300:]\n```\n",
        "```\nagent.click_xpath('//*[@name=\"q\"]')\nagent.type('red shoes')\n```",
        "```\nagent.type('command+a')\n```",
        "no program",
        "```\nagent.click_xpath('//button')\n```",
    ),
    "action_string": (
        'click(uid="7")',
        "click(x=250, y=30)",
        'textinput(text="1", uid="field")',
        'say(speaker="navigator", utterance="7")',
        "click(top=20, left=230, right=310, bottom=50)",
    ),
}
SAID_TWICE = '<p backend_node_id="19"><text backend_node_id="20">Second</text></p>'  # as the link before it
INSTRUCTIONS = (  # the third is most like the fourth, the second ends as it does
    "Search for shoes.",
    "Open the first result by name",
    "Search for red shoes by price",
    "Search for red shoes by name",
)
ASKING = [name for name, kind in kinds()["plan.kind"].items() if getattr(kind, "asks", False)]
LEARNING = Settings(epochs=1, epoch_steps=4, networks=1, batch_size=2, hidden=8)
JUDGED = (  # what trajectory and choice planners wrote, and what people did
    (Action("CLICK", "12"), "CLICK  [12]", Gold("CLICK", "", ("9", "12"))),
    (Action("CLICK", "9", "now"), "CLICK [9]", Gold("CLICK", "", ("9",))),
    (Action("CLICK", "9", "now"), "CLICK [9] [now]", Gold("CLICK", "", ("9",))),
    (Action("TYPE", "5", "red - shoes"), "TYPE [5] [red - shoes]", Gold("TYPE", "red shoes", ("5",))),
    (Action("CLICK", "9"), "CLICK [9] at last", Gold("CLICK", "", ("9",))),
)


class NamedEncoder(HashEncoder):
    """MiniLM's place is taken by hashed words; for every other encoder a text's last two count many times."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def encode(self, texts: list[str]) -> Any:
        return super().encode(texts if self.name == MINILM else [_ending(text) for text in texts])


def _ending(text: str) -> str:
    words = text.split()
    return " ".join(words + 9 * words[-2:])


FEW = 5  # steps, in which most settings make a difference


class RoundedEncoder(NamedEncoder):
    """Less exact ones."""

    def encode(self, texts: list[str]) -> Any:
        return super().encode(texts).round(1)


class Scripted:
    """In place of weights and of an endpoint: answers from a list, and keeps how it was asked."""

    info = LlmInfo("nowhere", "some-model", None)

    def __init__(self, name: str, tokenizer: Any = None) -> None:
        self.name, self.tokenizer = name, tokenizer
        self.asked: list[Any] = []
        self.settings: dict[str, Any] = {}

    def configure(self, **settings: Any) -> None:
        self.asked.append([self.name, {key: str(value) for key, value in settings.items()}])
        self.settings = {"max_piece": 512} | settings

    def count_tokens(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: Sampling | None = None) -> list[Generated]:
        limits = self.settings["max_tokens"], self.settings["max_piece"]
        drawn = sampling or self.settings.get("sampling", GREEDY)
        self.asked += [
            [prompt_ids(prompt, self.tokenizer, *limits), getattr(prompt, "openings", ()), asdict(drawn)]
            for prompt in prompts
        ]
        return [self._generated(prompt_text(prompt), drawn) for prompt in prompts]

    def _generated(self, asked: str, drawn: Sampling) -> Generated:
        """As weights answer: without chance all samples are the same."""
        texts = self._texts(asked, drawn.n if drawn.temperature else 1)
        first, *others = texts * (drawn.n // len(texts))
        return Generated(first, "", DecisionUsage(), others=tuple(others))

    def complete(self, requests: list[Request]) -> list[Any]:
        self.asked += [request.to_dict() for request in requests]
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        text = "\n".join(message.content for message in request.messages)
        return Reply(self._texts(text, request.n), Usage(1, 1, 0.0), "some-model", ("stop",), 0.0)

    def _texts(self, text: str, count: int) -> tuple[str, ...]:
        """What is answered to a text, so many times."""
        known = next((answer for start, answer in ANSWERS.items() if start in text), None)
        if "You judge single actions" in text:  # each action is worth something else
            known = f"[Score]: {1 + len(text) % 5}"
        return (known,) * count if known else self._samples(count)

    def _samples(self, count: int) -> tuple[str, ...]:
        """The next answer once and others more often, so that the first drawn is not the most frequent."""
        first, *others = (self._next() for _ in range(min(count, 4)))
        return (first, *(others[place % 5 // 2 % len(others)] for place in range(count - 1)))

    def start(self, kind: str) -> None:
        self.replies, self.number, self.asked = REPLIES.get(kind, ("None",)), 0, []

    def _next(self) -> str:
        self.number += 1
        return self.replies[self.number % len(self.replies)]


class SettingsWorld:
    """One dataset, a few observations, and what recipes need to run."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        from transformers import AutoTokenizer

        self.patch = patch
        self.weights = {name: str(folder / name) for name in ("cross", "cross-2", "t5", "t5-2", "grounded")}
        encoders = (MINILM, self.weights["cross-2"])
        self.dataset = _dataset(encoders)
        self.online = self._under_way(encoders)
        for seed, name in enumerate(("cross", "cross-2")):
            tiny_cross_encoder(folder / name, TEXTS, width=16, layers=1, seed=seed)
        for name in ("t5", "t5-2"):
            tiny_t5(folder / name, TEXTS, width=16, layers=1, vocabulary=400)
        learn(make_examples(12), NamedEncoder(MINILM), LEARNING, folder / "grounded")
        self.scores = folder / "scores.json"
        _scored().write(self.scores)
        self.tokenizer = AutoTokenizer.from_pretrained(folder / "t5")
        self.models = {name: Scripted(name, self.tokenizer) for name in (self.weights["t5"], self.weights["t5-2"])}
        self.llm = Scripted("endpoint", self.tokenizer)
        self.encoders: dict[str, CachedEncoder] = {}
        self.samples: dict[Any, list[UndecidedStep]] = {}
        patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("LLM_MODEL", "some-model")
        patch.setattr(encoding, "encoder_named", self._encoder)
        patch.setattr(answering, "_weights", self.models.__getitem__)
        patch.setattr(model_questions, "imagining_weights", self.models.__getitem__)
        patch.setattr(rank_kinds, "dmr_encoder", self._dmr)
        _keep_pages(patch)

    def _encoder(self, name: str) -> CachedEncoder:
        return self.encoders.setdefault(name, CachedEncoder(NamedEncoder(name)))

    def _dmr(self, name: str) -> DmrEncoder:
        return DmrEncoder(NamedEncoder(name), RoundedEncoder(name), FastTokenizer(self.tokenizer))

    def runnable(self, recipe: Recipe) -> dict[str, str]:
        """What a published recipe lacks to run here, and numbers that make its settings count on five elements."""
        needed = {"simplify.page_elements": "2", "rank.top_k": "3", "compose.piece_tokens": "200"}
        if recipe.recall.k:
            needed["recall.k"] = "2"
        if recipe.imagine.samples > 3:
            needed["imagine.samples"] = "3"
        if recipe.rank.kind == "cross_encoder":
            needed["rank.model"] = self.weights["cross"]
        elif not recipe.rank.model:
            needed["rank.model"] = self.weights["cross-2"]
        if recipe.plan.kind in ASKING and recipe.plan.backend == "local":
            needed["plan.model"] = self.weights["t5"]
        return needed

    def beside(self, name: str, value: str) -> dict[str, str]:
        """What else a kind needs to be chosen."""
        encoder, planner = {"rank.model": self.weights["cross-2"]}, {"plan.model": self.weights["t5"]}
        models = {
            "rank.kind=cross_encoder": {"rank.model": self.weights["cross"]},
            "rank.kind=dual_encoder": encoder,
            "rank.kind=dmr": encoder,
            "rank.kind=score_file": {"rank.model": str(self.scores)},
            "plan.backend=local": planner,
            "imagine.kind=trained": {"imagine.model": self.weights["t5"]},
            "imagine.value=progress": {"imagine.value_model": self.weights["t5"]},
            **{f"plan.kind={kind}": planner for kind in ASKING},
        }
        return models.get(f"{name}={value}", {})

    def told(self, recipe: Recipe, few: int | None = None) -> str:
        """Everything that the recipe asks, traces and decides about the steps, or the first few, and how it is judged,
        as text."""
        for model in (self.llm, *self.models.values()):
            model.start(recipe.plan.kind)
        run = self.online if recipe.recall.induction == "online" else Run(dataset=self.dataset, seed=0)
        run.recipe = literature.to_dict(recipe)
        pipeline = building.build_pipeline(run, self.llm)
        samples = self._samples(recipe)[:few]
        pipeline.prepare(sorted({sample.observation.conversation for sample in samples if sample.step}))
        seen = [sample.observation for sample in samples]
        wanted = (
            {"wanted": _in_reach(recipe, samples)} if registry.fails_unasked(recipe) and recipe.data == "any" else {}
        )
        decisions = [asdict(replace(decision, seconds={})) for decision in pipeline.decide(seen, **wanted)]
        asked = [self.llm.asked, *(model.asked for model in self.models.values())]
        judging = registry.judging_of(recipe)
        judged = [judge_as_published(judging, *said, recipe.quirks) for said in JUDGED] if judging else []
        judged += [asdict(judging)] if judging else []
        found = [decisions, asked, judged]
        Rationale.objects.filter(source=Rationale.Source.MODEL).delete()  # or the next one would find them stored
        return json.dumps([*found, self._scored(recipe, samples, decisions)], default=str, sort_keys=True)

    def _under_way(self, encoders: Sequence[str]) -> Run:
        """A run that has written workflows: those of the train split, as its own."""
        run = factories.make_run(self.dataset)
        said = self.dataset.workflows.standing().values("website_id", "name", "description")
        rows = [factories.make_workflow(self.dataset, run=run, origin="online", **fields) for fields in said]
        _embed(rows, encoders)
        return run

    def _scored(
        self, recipe: Recipe, samples: Sequence[UndecidedStep], decisions: Sequence[dict[str, Any]]
    ) -> list[Any]:
        """What counts beside a decision: the steps without gold in reach, and what online induction asks."""
        induced = []
        if recipe.recall.induction == "online":
            pack = texts.pack_of(recipe, self.dataset)
            induced = online_prompt(
                "inn", "Travel", "Hotel", [("Book.", [("obs", "act")])], recipe.recall.induction_style, pack
            )
        rankings = [[RankedCandidate(**found) for found in decision["ranking"]] for decision in decisions]
        if recipe.data != "any":  # samples without rows
            return [[found.node_id for found in ranking[: recipe.rank.top_k]] for ranking in rankings]
        reached = _in_reach(recipe, samples)
        return [str(induced), [reached(s.observation, r) for s, r in zip(samples, rankings, strict=True)]]

    def _samples(self, recipe: Recipe) -> list[UndecidedStep]:
        key = recipe.data, registry.told(recipe), recipe.observe.observation != "text"
        if key not in self.samples:
            self.samples[key] = _turns() if recipe.data == "weblinx" else self._steps(recipe)
        return self.samples[key]

    def _steps(self, recipe: Recipe) -> list[UndecidedStep]:
        run = factories.make_run(self.dataset, recipe=literature.to_dict(recipe))
        tested = self.dataset.conversations.filter(split=Split.TEST_TASK).order_by("pk")
        for conversation in tested:
            Trajectory.objects.create(run=run, conversation=conversation, step_count=8)
        (batch,) = UndecidedSteps(run, replace(recipe, batch_size=1000)).batches(
            [row.pk for row in tested], split=False
        )
        return batch


def _scored() -> ScoreFile:
    """The elements in their order, and the other way round at every second turn."""
    file = ScoreFile()
    for turn in range(4):
        for step in range(2):
            scores = {node_id: (-1) ** turn * float(node_id) for node_id, _ in factories.CANDIDATES}
            file.add(f"turn-{turn}_step-{step}", scores)
    return file


def _dataset(encoders: Sequence[str]) -> Dataset:
    """Two train conversations, one of them on a site with workflows, and two that are tested, each on a site: one step
    has two gold elements, one a single candidate, some a rationale."""
    dataset = factories.make_dataset()
    first, second = (factories.make_website(dataset, name=name) for name in ("shop", "inn"))
    for split, site in (
        (Split.TRAIN, first),
        (Split.TRAIN, second),
        (Split.TEST_TASK, first),
        (Split.TEST_TASK, second),
    ):
        factories.make_conversation(turns=4, steps=2, split=split, dataset=dataset, website=site)
    for step in Step.objects.filter(turn__conversation__split=Split.TRAIN, index=0):  # what actions did, for retrieval
        Step.objects.filter(pk=step.pk).update(snapshot_after=step.turn.steps.get(index=1).snapshot)
    tested = Step.objects.filter(turn__conversation__split=Split.TEST_TASK).order_by("pk")
    for step in tested:
        step.screenshot = factories.make_screenshot()
        step.snapshot = factories.make_snapshot(step.snapshot.html.replace("</body>", f"{SAID_TWICE}</body>"))
        step.save()
    Target.objects.create(step=tested[2], node_id="12", position=1, node_order=99)
    tested[4].candidates = pack_candidates([CandidateRecord("5", "input")], [])
    Step.objects.filter(pk=tested[4].pk).update(candidates=pack_candidates([CandidateRecord("5", "input")], []))
    for step in tested[:2]:
        factories.make_rationale(step, text=f"Rationale of {step.pk}.", source="human")
    rows = [*make_workflows(dataset), factories.make_workflow(dataset, website=first, description="Buys shoes.")]
    _embed(rows, encoders)
    _import_sets(dataset)
    for place, instruction in enumerate(INSTRUCTIONS):
        Turn.objects.filter(index=place).update(instruction=instruction)
    texts = {name: re.sub(r"\bthe\b", "that very", text) for name, text in webnav().texts.items()}
    PromptPack.objects.add(dataset.project, Pack("other", 1, texts))
    return dataset


def _import_sets(dataset: Dataset) -> None:
    """The sites' own ones, with observations, and without words for when a program fails. By the nearest keys the third
    turn's pages are those of one, by two or three those of the other."""
    for place, name in enumerate(("shop", "inn")):
        body = {"demo": [{"state": f"page of {name}", "obs": f"all of {name}", "act": "agent.press('enter')"}]}
        body |= {"code_filter_prompt": f"Find what matters to {name}: <task> <state>"}  # type: ignore[dict-item]
        said = [f"Task: {INSTRUCTIONS[2]} " * (3 - place), *([INSTRUCTIONS[3]] * place * 2)]
        fields = {"source": "synapse", "position": place, "read_from": "here"}
        ExemplarSet.objects.create(project=dataset.project, name=name, body=body, keys=said, **fields)


def _embed(rows: Sequence[Workflow], encoders: Sequence[str]) -> None:
    for name in encoders:
        embed_workflows(rows, NamedEncoder(name))


def _turns() -> list[Any]:
    """Turns of two demonstrations as samples without rows: one spoken at length, one without a word
    whose actions say much."""
    asked = [
        chat("instructor", f"Do part {number} of it, and then the one after it.", float(number)) for number in range(16)
    ]
    done = [
        browser("click", "go", 20.0),
        browser("textInput", None, 21.0, text="1"),
        browser("textInput", "field", 22.0, text=" ".join(f"word{number}" for number in range(300))),
        browser("textInput", "field", 23.0, text=" ".join(f"item{number}" for number in range(200))),
        chat("navigator", "7", 24.0),
        *(browser("click", "go", 25.0 + number) for number in range(7)),
    ]
    spoken = Demo.from_replay("spoken", {"data": [*asked, *map(_on_page, done, range(len(done)))]}, PAGES)
    silent = [browser("hover", "go", float(number)) for number in range(5)]
    silent += [browser("click", uid, 9.0 + number) for number, uid in enumerate(("go", "go", "field"))]
    unspoken = Demo.from_replay("silent", {"data": [*map(_on_page, silent, range(len(silent)))]}, PAGES)
    return [
        UndecidedStep(None, None, turn.index, _of_turn(100 * number + turn.index, demo, turn.index))  # type: ignore[arg-type]
        for number, demo in enumerate((spoken, unspoken))
        for turn in demo.turns
    ]


def _on_page(turn: dict[str, Any], number: int) -> dict[str, Any]:
    """A turn on one of two pages, on the second of which everything has moved."""
    if "state" in turn:
        turn["state"]["page"] = f"page-{number % 2}-0.html"
    return turn


ELEMENTS = "".join(f'<a data-webtasks-id="{n}" >Item {n} {"of the list " * 25}</a>' for n in range(8))
PAGES = PagesByName(
    {f"page-{n}-0.html": PAGE.replace("</form>", f"</form>{ELEMENTS}") for n in range(2)},
    {
        f"bboxes-{n}.json": BOXES | {str(e): box(20 + 50 * n, 40 + 20 * e + 9 * n, 80, 18) for e in range(8)}
        for n in range(2)
    },
)


def _of_turn(key: int, demo: Any, turn: int) -> Observation:
    return Observation(key, 1, 0, turn, "site", "", "", "Do it.", "", demo=demo, demo_turn=turn)


def _keep_pages(patch: pytest.MonkeyPatch) -> None:
    """Pages are read from the database once for all agents."""
    for name in ("_page", "_raw_html"):
        read, kept = getattr(observations, name), {}  # type: ignore[var-annotated]

        def known(step: Step, read: Any = read, kept: dict[int, Any] = kept) -> Any:
            if step.pk not in kept:
                kept[step.pk] = read(step)
            return kept[step.pk]

        patch.setattr(observations, name, known)


class Telling:
    """What a recipe does with a few steps and, where somebody asks for more, with all of them."""

    def __init__(self, world: SettingsWorld, recipe: Recipe) -> None:
        self.world, self.recipe, self.few = world, recipe, world.told(recipe, FEW)

    @cached_property
    def whole(self) -> str:
        return self.world.told(self.recipe)

    def differs(self, other: "Telling") -> bool:
        return self.few != other.few or self.whole != other.whole
