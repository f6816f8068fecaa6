"""Times models of the published sizes on the device that is here: what a worker decides in a second, and the memory
that it takes. Speed does not depend on what weights say, so they are random."""

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from agents.encoders.memory_limits import free_unused
from agents.generators.local import LocalGenerator
from agents.pipeline import Pipeline
from agents.recipes.literature import get, override
from agents.stages.kind import Parts
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.types import Observation
from evaluation.bench.measures import Measure
from evaluation.bench.planners import FirstElements, of_pages
from evaluation.bench.scratch import BenchSetting, import_into_new
from evaluation.bench.weights import published

RANKER = "DeBERTa-v3-base"
BATCH = 32  # as workers decide them
NOTE = (
    "sizes: {steps} sample steps in batches of {batch} on {device}, random weights in the published shapes, answers of "
    "so many tokens, whatever they say; beside the ranker, elements are given in their order. A model that does not "
    "fit is left out"
)


@dataclass(frozen=True)
class SizeCase:
    """A recipe to time with weights of a published size; `gigabytes` of memory that it needs at least."""

    size: str
    recipe: str
    tokens: int
    gigabytes: float
    changes: dict[str, str] = field(default_factory=dict)
    elements: int = 50

    def pipeline(self, folder: Path) -> Pipeline:
        recipe = override(get(self.recipe), {"plan.backend": "local", **self.changes})
        generator = LocalGenerator(folder)
        generator.configure(max_new_tokens=self.tokens, max_tokens=recipe.compose.max_tokens)
        return Pipeline.of(Parts(recipe, ranker=FirstElements(self.elements), generator=generator))


PAGES = {"recall.memory": "none"}
CASES = (
    SizeCase("Flan-T5-base", "mindact", 8, 2, PAGES),
    SizeCase("Flan-T5-large", "mindact", 8, 5, PAGES),
    SizeCase("Flan-T5-XL", "mindact", 8, 14, PAGES),
    SizeCase("Flan-T5-base", "self-map-no-rationale", 30, 2, PAGES),
    SizeCase("SmolLM2-135M", "bare", 30, 2),
    SizeCase("CodeLlama-7B", "bare", 30, 18),
)


def measure(setting: BenchSetting) -> list[Measure]:
    """Steps per second of each case, candidates per second of the ranker, and their peak memory."""
    dataset, _ = import_into_new("mt-mind2web", setting.sample_files())
    steps = list(of_pages(dataset))[: 4 if setting.quick else 2 * BATCH]
    texts = [step.html for step in steps]
    note = NOTE.format(steps=len(steps), batch=BATCH, device=_device())
    found = []
    of_each_recipe = {case.recipe: case for case in CASES}  # small weights have one size
    for case in of_each_recipe.values() if setting.quick else CASES:
        if setting.quick or case.gigabytes <= _memory():
            setting.say(f"sizes: {case.size}, {case.recipe}")
            with _weights(case.size, texts, setting) as folder:
                found += _rates(f"{case.size}, {case.recipe}, {case.tokens} tokens", case.pipeline(folder), steps, note)
    setting.say(f"sizes: {RANKER}")
    with _weights(RANKER, texts, setting) as folder:
        return [*found, *_ranking(CrossEncoderRanker(folder), steps, note)]


@contextmanager
def _weights(size: str, texts: Iterable[str], setting: BenchSetting) -> Iterator[Path]:
    """The folder of a model's weights, which is deleted after use: those of seven billion take 14 GB."""
    folder = setting.folder / "weights"
    try:
        yield published(size, texts, folder, setting.quick)
    finally:
        shutil.rmtree(folder)
        free_unused()


def _rates(name: str, pipeline: Pipeline, steps: Sequence[Observation], note: str) -> list[Measure]:
    pipeline.decide(steps[:2])  # what is made once: kernels, and the cache of prompts
    begun = time.perf_counter()
    for start in range(0, len(steps), BATCH):
        pipeline.decide(steps[start : start + BATCH])
    rate = len(steps) / (time.perf_counter() - begun)
    return [Measure(name, rate, "steps/s", note=note), Measure(f"{name}: memory", _peak(), "GB", note=note)]


def _ranking(ranker: CrossEncoderRanker, steps: Sequence[Observation], note: str) -> list[Measure]:
    inputs = [ranker.input(step) for step in steps]
    ranker.rank_inputs(inputs[:1])
    begun = time.perf_counter()
    ranker.rank_inputs(inputs)
    seconds = time.perf_counter() - begun
    count = sum(len(step.texts) for step in inputs)
    return [
        Measure(f"{RANKER}, ranking", count / seconds, "candidates/s", note=note),
        Measure(f"{RANKER}, ranking: memory", _peak(), "GB", note=note),
    ]


def _device() -> str:
    import torch

    if torch.cuda.is_available():
        return f"one {torch.cuda.get_device_name()}"
    return f"{torch.get_num_threads()} cores of a processor"


def _memory() -> float:
    """Gigabytes that a model may take: a device's, else half of what the machine has."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(0).total_memory / 1e9
    return psutil.virtual_memory().total / 2e9


def _peak() -> float:
    """Gigabytes at the peak since it was last asked: of a device, else of this process, which only ever grows."""
    import torch

    if not torch.cuda.is_available():
        return psutil.Process().memory_info().rss / 1e9
    peak = torch.cuda.max_memory_allocated() / 1e9
    torch.cuda.reset_peak_memory_stats()
    return peak
