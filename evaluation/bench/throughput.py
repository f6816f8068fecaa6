"""Steps per second of recipes, from stored page to stored result: batched against one by one."""

import random
import time
from dataclasses import replace

from agents.encoders.embedding import CachedEncoder
from agents.encoders.weights import MINILM
from agents.memory.rationales import RationaleWriter
from agents.models import MemorySnippet
from agents.observations import RecordedConversation
from agents.recipes.literature import get, override
from agents.runs.building import encoder_named
from agents.stages.plan.local import LocalGenerator
from agents.stages.plan.pages import PagePlanner
from agents.stages.plan.prepared import Prepared
from agents.types import RankedCandidate
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
    recipe = override(get("mindact"), {"plan.kind": "generation", "rank.top_k": "10"})
    generator = LocalGenerator(random_seq2seq(setting.folder / "planner", setting.quick))
    generator.configure(max_new_tokens=8)
    planner = PagePlanner(recipe, generator, RationaleWriter(None))
    steps = _prepared(dataset, 4 if setting.quick else 32)
    seconds: dict[int, float] = {}
    for size in BATCHES:
        setting.say(f"throughput: planner, batches of {size}")
        begun = time.perf_counter()
        for start in range(0, len(steps), size):
            planner.plan(_prepared_again(steps[start : start + size]))
        seconds[size] = time.perf_counter() - begun
    return Measure(
        f"planner, batches of {BATCHES[0]}",
        len(steps) / seconds[BATCHES[0]],
        "steps/s",
        len(steps) / seconds[BATCHES[1]],
        note=PLANNER_NOTE.format(steps=len(steps)),
    )


def _prepared(dataset: Dataset, count: int) -> list[Prepared]:
    """Steps of the first conversations with ten elements each, as a ranker would leave them."""
    found: list[Prepared] = []
    for conversation in dataset.conversations.order_by("position"):
        recorded = RecordedConversation(conversation.pk)
        for step in recorded.steps:
            seen = recorded.observation(step)
            ranking = tuple(
                RankedCandidate(node_id, -float(rank), rank, "") for rank, node_id in enumerate(seen.candidate_ids[:10])
            )
            found.append(Prepared(seen, ranking, random.Random(0), seen.instruction))
            if len(found) == count:
                return found
    return found


def _prepared_again(steps: list[Prepared]) -> list[Prepared]:
    """The same steps, shuffled alike in every round."""
    return [replace(step, rng=random.Random(0)) for step in steps]


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
