"""Steps per second of recipes, from stored page to stored result: batched against one by one."""

import time
from collections.abc import Sequence
from itertools import islice

from agents.encoders.embedding import CachedEncoder
from agents.encoders.weights import MINILM
from agents.models import MemorySnippet
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes.literature import get, override
from agents.runs.building import encoder_named
from agents.stages.kind import Parts
from agents.stages.plan.local import LocalGenerator
from agents.types import Observation, RankedCandidate
from annotations.models import Dataset
from evaluation.bench.measures import Measure
from evaluation.bench.scratch import BenchSetting, import_into_new
from evaluation.bench.weights import random_seq2seq
from evaluation.studies.running import create_study, run_inline

BATCHES = (32, 1)
ROUNDS = 2  # the best of them counts
NOTE = (
    "grounded: from stored page to stored result on {steps} sample steps; baseline: the same one by one; "
    "cold: no text encoded before, snippets included"
)
PLANNER_NOTE = (
    "planner: knock-out among ten elements on {steps} sample steps, random weights of Flan-T5-small's width with four "
    "layers, eight new tokens; baseline: the same one by one"
)


def measure(setting: BenchSetting) -> list[Measure]:
    """Cold and warm rates of both batch sizes, in turn."""
    dataset, _ = import_into_new("mt-mind2web", setting.sample_files())
    return [*_grounded(setting, dataset), _planner(setting, dataset)]


def _grounded(setting: BenchSetting, dataset: Dataset) -> list[Measure]:
    encoder = encoder_named(MINILM)
    limit = 1 if setting.quick else 8
    rates: dict[tuple[str, int], float] = {}
    for batch in BATCHES * (1 if setting.quick else ROUNDS):
        setting.say(f"throughput: batches of {batch}")
        MemorySnippet.objects.all().delete()
        _forget(encoder)
        for state in ("cold", "warm"):
            rate, steps = _run(dataset, batch, limit)
            rates[state, batch] = max(rate, rates.get((state, batch), 0.0))
    return [
        Measure(
            f"grounded, {state}, batches of {BATCHES[0]}",
            rates[state, BATCHES[0]],
            "steps/s",
            rates[state, BATCHES[1]],
            note=NOTE.format(steps=steps),
        )
        for state in ("cold", "warm")
    ]


def _planner(setting: BenchSetting, dataset: Dataset) -> Measure:
    """Multiple choice among ten elements, by a model of Flan-T5's architecture with random weights."""
    recipe = override(get("mindact"), {"plan.kind": "generation", "rank.top_k": "10", "recall.memory": "none"})
    generator = LocalGenerator(random_seq2seq(setting.folder / "planner", setting.quick))
    generator.configure(max_new_tokens=8)
    pipeline = Pipeline.of(Parts(recipe, ranker=_FirstTen(), generator=generator))
    steps = _observations(dataset, 4 if setting.quick else 32)
    seconds: dict[int, float] = {}
    for size in BATCHES:
        setting.say(f"throughput: planner, batches of {size}")
        begun = time.perf_counter()
        for start in range(0, len(steps), size):
            pipeline.decide(steps[start : start + size])
        seconds[size] = time.perf_counter() - begun
    return Measure(
        f"planner, batches of {BATCHES[0]}",
        len(steps) / seconds[BATCHES[0]],
        "steps/s",
        len(steps) / seconds[BATCHES[1]],
        note=PLANNER_NOTE.format(steps=len(steps)),
    )


class _FirstTen:
    """In place of a ranker: the first ten candidates as they are."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [tuple(map(_candidate, range(10), seen.candidate_ids)) for seen in observations]


def _candidate(rank: int, node_id: str) -> RankedCandidate:
    return RankedCandidate(node_id, -float(rank), rank, "")


def _observations(dataset: Dataset, count: int) -> list[Observation]:
    """Steps of the first conversations."""
    recorded = (RecordedConversation(row.pk) for row in dataset.conversations.order_by("position"))
    return list(islice((one.observation(step) for one in recorded for step in one.steps), count))


def _forget(encoder: CachedEncoder) -> None:
    """Empty the cache of the process: without room for anything, one more text drives all others out."""
    capacity, encoder.capacity = encoder.capacity, 0
    encoder.encode(["warm up"])
    encoder.capacity = capacity


def _run(dataset: Dataset, batch: int, limit: int) -> tuple[float, int]:
    """(steps per second, steps) of a new study; its scores are not part of the time."""
    study = create_study(
        user=None,
        dataset=dataset,
        recipes=["grounded"],
        overrides={"batch_size": str(batch)},
        limit=limit,
        publish=False,
    )
    ends = [time.perf_counter()]
    run_inline(study, lambda: ends.append(time.perf_counter()))
    steps = study.runs.get().steps.count()
    return steps / (ends[-1] - ends[0]), steps
