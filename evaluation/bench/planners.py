"""Times every kind of planner that asks a model, in batches against one by one: steps per second, and the stage that
gains least. The models have real architectures and random weights."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agents.generators.local import LocalGenerator
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes.literature import Recipe, get, override
from agents.stages.kind import Parts
from agents.types import Observation, RankedCandidate
from agents.weblinx.documents import documents
from agents.weblinx.prompt import prompt_turns
from agents.weblinx.turns import Demo
from annotations.models import Dataset
from evaluation.bench.demos import sample_demos
from evaluation.bench.measures import Goal, Measure
from evaluation.bench.scratch import BenchSetting, import_into_new
from evaluation.bench.weights import random_causal, random_seq2seq

BATCH, ONE = 32, 1
ELEMENTS = 10
SHORTEST = 0.002  # seconds a step: a stage that takes less has no speed to speak of
TWICE, NO_SLOWER = Goal(">=", 2, "ratio"), Goal(">=", 0.95, "ratio")
NOTE = (
    "planners: {steps} sample steps, ten elements each, answers of so many tokens, random weights of Flan-T5-small's "
    "width with four layers, or of a Llama as wide; baseline: the same one by one. Slowest stage: the one that gains "
    "least. What reads a whole prompt before it answers (seq2seq) reads it at the speed of arithmetic, alone or not: "
    "only the answers gain, so short ones gain little"
)


@dataclass(frozen=True)
class PlannerCase:
    """A planner to time: a recipe with changed settings, weights, the number of tokens of an answer, and the goal."""

    name: str
    recipe: str
    weights: Callable[[Path, bool], Path]
    tokens: int
    changes: Mapping[str, str] = field(default_factory=dict)
    goal: Goal = TWICE

    def agent(self) -> Recipe:
        return override(get(self.recipe), dict(self.changes))

    def pipeline(self, folder: Path, small: bool) -> Pipeline:
        generator = LocalGenerator(self.weights(folder, small))
        recipe = self.agent()
        generator.configure(max_new_tokens=self.tokens, max_tokens=recipe.compose.max_tokens)
        return Pipeline.of(Parts(recipe, ranker=FirstElements(ELEMENTS), generator=generator))


ON_PAGES = {"rank.top_k": str(ELEMENTS), "recall.memory": "none", "plan.backend": "local"}
IN_TURNS = {"plan.backend": "local", "compose.max_tokens": "6000"}  # a byte is a token here
CASES = (
    PlannerCase("multichoice, seq2seq, 8 tokens", "mindact", random_seq2seq, 8, ON_PAGES, NO_SLOWER),
    PlannerCase("multichoice, causal, 8 tokens", "mindact", random_causal, 8, ON_PAGES),
    PlannerCase("generation, seq2seq, 30 tokens", "self-map-no-rationale", random_seq2seq, 30, ON_PAGES),
    PlannerCase("trajectory, causal, 30 tokens", "bare", random_causal, 30, IN_TURNS),
    PlannerCase("action_string, seq2seq, 30 tokens", "weblinx-flan-t5", random_seq2seq, 30),
)


def measure(setting: BenchSetting) -> list[Measure]:
    """Two figures for each case: of the whole pipeline, and of its slowest stage."""
    dataset, _ = import_into_new("mt-mind2web", setting.sample_files())
    count = 4 if setting.quick else BATCH
    steps = {"any": list(islice(of_pages(dataset), count)), "weblinx": list(islice(_of_turns(setting), count))}
    found = []
    for number, case in enumerate(CASES):
        setting.say(f"planners: {case.name}")
        pipeline = case.pipeline(setting.folder / f"planner-{number}", setting.quick)
        found += figures(case, *compared(pipeline, steps[case.agent().data], 1 if setting.quick else 2))
    return found


class Taken(NamedTuple):
    """How long a number of steps took, in seconds, in all and by stage."""

    steps: int
    seconds: float
    stages: Counter[str]

    def rate(self, stage: str = "") -> float:
        return self.steps / (self.stages[stage] if stage else self.seconds)


def compared(
    pipeline: Pipeline, steps: Sequence[Observation], rounds: int = 2, clock: Callable[[], float] = time.perf_counter
) -> tuple[Taken, Taken]:
    """(batched, one by one): how long the steps take either way, each stage and the whole the best of several rounds in
    turn. `clock`: processor time gives the same result on a machine that does other things meanwhile."""
    taken = [(_taken(pipeline, steps, BATCH, clock), _taken(pipeline, steps, ONE, clock)) for _ in range(rounds)]
    batched, alone = zip(*taken, strict=True)
    return _best(batched), _best(alone)


def _best(rounds: Sequence[Taken]) -> Taken:
    stages = {stage: min(one.stages[stage] for one in rounds) for stage in rounds[0].stages}
    return Taken(rounds[0].steps, min(one.seconds for one in rounds), Counter(stages))


def slowest(batched: Taken, alone: Taken) -> str:
    """The stage that gains least by batches, among those that take a noticeable time."""
    stages = [stage for stage, seconds in alone.stages.items() if seconds > SHORTEST * alone.steps]
    return min(stages, key=lambda stage: batched.rate(stage) / alone.rate(stage))


def figures(case: PlannerCase, batched: Taken, alone: Taken) -> list[Measure]:
    note, stage = NOTE.format(steps=batched.steps), slowest(batched, alone)
    name = f"{case.name}, batches of {BATCH}"
    return [
        Measure(name, batched.rate(), "steps/s", alone.rate(), case.goal, note),
        Measure(f"{case.name}, slowest stage: {stage}", batched.rate(stage), "/s", alone.rate(stage), NO_SLOWER, note),
    ]


def _taken(pipeline: Pipeline, steps: Sequence[Observation], size: int, clock: Callable[[], float]) -> Taken:
    """Time deciding the steps in batches of `size`. Every page is parsed anew, as in a run."""
    steps, stages = [replace(step) for step in steps], Counter[str]()
    begun = clock()
    for start in range(0, len(steps), size):
        for decision in pipeline.decide(steps[start : start + size]):
            stages.update(decision.seconds)
    return Taken(len(steps), clock() - begun, stages)


class FirstElements:
    """Stands in for a ranker: it gives so many candidates, the first, in their order; of a WebLINX turn those of its
    page."""

    def __init__(self, count: int) -> None:
        self.count = count

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [
            tuple(RankedCandidate(node_id, -float(rank), rank, "") for rank, node_id in enumerate(self._ids(seen)))
            for seen in observations
        ]

    def _ids(self, seen: Observation) -> Sequence[str]:
        if seen.demo is None:
            return seen.candidate_ids[: self.count]
        return [doc.uid for doc in islice(documents(seen.demo, seen.demo.turns[seen.demo_turn]), self.count)]


def of_pages(dataset: Dataset) -> Iterator[Observation]:
    """Observations of the dataset's steps, conversation by conversation."""
    for row in dataset.conversations.order_by("position"):
        recorded = RecordedConversation(row.pk)
        for step in recorded.steps:
            yield recorded.observation(step, told={"history"})


def _of_turns(setting: BenchSetting) -> Iterator[Observation]:
    """Observations of the WebLINX turns that models are asked about."""
    for demo in sample_demos(setting):
        for turn in prompt_turns(demo):
            yield _of_turn(demo, turn.index)


def _of_turn(demo: Demo, turn: int) -> Observation:
    return Observation(turn, 1, 0, turn, "site", "", "", "Do it.", "", demo=demo, demo_turn=turn)
