"""Steps per second of the recipe `grounded`: stored results, batched against one by one."""

import time

from agents.embedding import CachedEncoder
from agents.models import MemorySnippet
from agents.recipes import get
from agents.runner import build_policy
from annotations.models import Dataset
from evaluation.bench.measures import Measure
from evaluation.bench.scratch import Setting, import_into_new
from evaluation.studies import create_study, run_inline

BATCHES = (32, 1)
ROUNDS = 2  # the best of them counts
NOTE = (
    "grounded: from stored page to stored result on {steps} sample steps; baseline: the same one by one; "
    "cold: no text encoded before, snippets included"
)


def measure(setting: Setting) -> list[Measure]:
    """Cold and warm rates of both batch sizes, in turn."""
    dataset, _ = import_into_new("mt-mind2web", setting.sample_files())
    encoder = build_policy(get("grounded")).encoder
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
            f"grounded, {state}, batches of {BATCHES[0]}", rates[state, BATCHES[0]], "steps/s",
            rates[state, BATCHES[1]], note=NOTE.format(steps=steps),
        )
        for state in ("cold", "warm")
    ]  # fmt: skip


def _forget(encoder: CachedEncoder) -> None:
    """Empty the cache of the process: without room for anything, one more text drives all others out."""
    capacity, encoder.capacity = encoder.capacity, 0
    encoder.encode(["warm up"])
    encoder.capacity = capacity


def _run(dataset: Dataset, batch: int, limit: int) -> tuple[float, int]:
    """(steps per second, steps) of a new study; its scores are not part of the time."""
    study = create_study(
        user=None, dataset=dataset, recipes=["grounded"], overrides={"batch_size": str(batch)}, limit=limit,
        publish=False,
    )  # fmt: skip
    ends = [time.perf_counter()]
    run_inline(study, lambda: ends.append(time.perf_counter()))
    steps = study.runs.get().steps.count()
    return steps / (ends[-1] - ends[0]), steps
