"""Benchmarks of what the product promises, one in each module; `manage.py bench` runs them.

May import `studies` and all of `annotations` and `agents`.
"""

from collections.abc import Callable

from evaluation.bench import candidates, differences, importing, planners, ranking, retrieval, sizes, throughput
from evaluation.bench.measures import Measure
from evaluation.bench.scratch import BenchSetting

BENCHMARKS: dict[str, Callable[[BenchSetting], list[Measure]]] = {
    "candidates": candidates.measure,
    "differences": differences.measure,
    "import": importing.measure,
    "planners": planners.measure,
    "ranking": ranking.measure,
    "retrieval": retrieval.measure,
    "sizes": sizes.measure,
    "throughput": throughput.measure,
}
