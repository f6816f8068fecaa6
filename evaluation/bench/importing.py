"""Measures import speed, and how much the snapshot store saves, on the sample and, where they are there, on human
demonstrations."""

import os
import time
from collections import Counter
from itertools import chain, islice
from pathlib import Path

from django.conf import settings

from annotations.datasets import files_of, reader
from annotations.models import Dataset, Snapshot, Step
from annotations.models.corpus.pages import compress
from evaluation.bench.measures import Measure
from evaluation.bench.scratch import BenchSetting, import_into_new

ROUNDS = 2  # of the sample, the best counts; the demonstrations take a minute each
DEMONSTRATIONS = 500  # records


def measure(setting: BenchSetting) -> list[Measure]:
    """MB of page text per second and raw ÷ stored bytes; the demonstrations only where $SHARED_DATA has them."""
    setting.say("import: sample")
    measures = _measure("sample", "mt-mind2web", setting.sample_files(), None, ROUNDS)
    shared = Path(os.environ.get("SHARED_DATA", settings.BASE_DIR.parent / "shared" / "data"))
    if (shared / "miniwob-demos").exists():
        limit = 20 if setting.quick else DEMONSTRATIONS
        setting.say(f"import: {limit} demonstrations")
        measures += _measure(f"{limit} of miniwob-demos", "miniwob-demos", shared / "miniwob-demos", limit, 1)
    return measures


def _measure(name: str, source_format: str, path: Path, limit: int | None, rounds: int) -> list[Measure]:
    reading, importing = [], []
    for _ in range(rounds):
        reading.append(_read(source_format, path, limit))
        dataset, report = import_into_new(source_format, path, limit)
        importing.append(report.seconds)
    size = dataset.page_bytes()
    megabytes = size["raw"] / 1e6
    speed = f"import: MB of pages in all records ({megabytes:,.0f} MB of {name}) per second; baseline: reading alone"
    ratio = "stored ratio: raw ÷ stored bytes; baseline: every page of every step compressed on its own"
    return [
        Measure(f"import {name}", megabytes / min(importing), "MB/s", megabytes / min(reading), note=speed),
        Measure(f"stored ratio {name}", size["raw"] / size["stored"], "times", _ratio_alone(dataset), note=ratio),
    ]


def _read(source_format: str, path: Path, limit: int | None) -> float:
    """Seconds to read the records, keeping none."""
    begun = time.perf_counter()
    read = reader(source_format)
    for _ in islice(chain.from_iterable(read(file) for file in files_of(source_format, path)), limit):
        pass
    return time.perf_counter() - begun


def _ratio_alone(dataset: Dataset) -> float:
    """Raw ÷ compressed bytes without deduplication and dictionaries; pages counted as `Dataset.page_bytes` does."""
    uses: Counter[int] = Counter()
    steps = Step.objects.of_dataset(dataset)
    for field, rows in (
        ("snapshot_id", steps),
        ("raw_snapshot_id", steps),
        ("snapshot_after_id", steps.filter(keeps_page_after=True)),
    ):
        uses.update(rows.exclude(**{field: None}).values_list(field, flat=True))
    raw = stored = 0
    for page in Snapshot.objects.with_content().filter(id__in=uses).iterator(chunk_size=50):
        raw += uses[page.pk] * page.raw_size
        stored += uses[page.pk] * len(compress(page.html.encode()))
    return raw / stored
