"""Times the comparison of two pages, against the published way with its dense matrix."""

import random
import tracemalloc
from collections.abc import Callable
from functools import partial

from annotations.dom.differences import difference
from annotations.dom.generated import changing_trees
from evaluation.bench.measures import Goal, Measure, processor_seconds
from evaluation.bench.scratch import BenchSetting

ROUNDS = 3
CASES = (("one in 20 elements changed", 0.05), ("every element changed", 1.0))
DENSE_NODES = 2_000  # of the published way, whose matrix grows with the square


def measure(setting: BenchSetting) -> list[Measure]:
    """Processor seconds and peak memory for a large page; the published way is measured on a smaller one, as its matrix
    of a large page takes more than a gigabyte."""
    nodes, dense = (600, 200) if setting.quick else (12_000, DENSE_NODES)
    measures = []
    for name, share in CASES:
        setting.say(f"differences: {name}")
        large, small = (changing_trees(count, random.Random(7), share) for count in (nodes, dense))
        times = (nodes / dense) ** 2
        note = (
            f"differences: best of {ROUNDS}; baseline: the published matching of {dense:,} nodes, "
            f"times {times:g} as its matrix has that many times the cells"
        )
        title, ours = f"{nodes:,}-node pages, {name}", partial(difference, *large)
        published = partial(difference, *small, mode="maximised")
        seconds = min(processor_seconds(ours) for _ in range(ROUNDS))
        measures += [
            Measure(f"{title}: time", seconds, "s", processor_seconds(published) * times, Goal("<=", 1.0), note),
            Measure(f"{title}: memory", _megabytes(ours), "MB", _megabytes(published) * times, Goal("<=", 300), note),
        ]
    return measures


def _megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
