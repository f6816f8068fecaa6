"""Importing files into the database: idempotent, resumable, and nothing valid is lost."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import DatabaseError, DataError, IntegrityError, transaction
from django.utils import timezone

from annotations.corpus.judged import said
from annotations.corpus.splits import split_violations
from annotations.corpus.storable import Unstorable
from annotations.corpus.store import ConversationStore
from annotations.datasets import files_of, reader
from annotations.datasets.records import BadRecord, ConversationRecord, Readable, SkippedRecord
from annotations.dom.limits import PageError
from annotations.models import Dataset, Project, Split
from annotations.pages.store import PageTooLarge

BATCH = 50  # records in one transaction
BATCH_CHARS = 32 * 1024 * 1024  # of their pages
MAX_REPORTED_ERRORS = 1000
# What is wrong with one record; anything else (a lost connection, say) is no fault of the record and ends the import.
FAULTS = (Unstorable, PageError, PageTooLarge, DataError, IntegrityError)


@dataclass
class ImportReport:
    """What an import did; `to_dict` is what `import_dataset --json` prints, whose keys stay."""

    dataset: str
    conversations: int = 0
    turns: int = 0
    steps: int = 0
    snapshots: int = 0
    skipped: int = 0
    seconds: float = 0.0
    records: int = 0
    unchanged: int = 0
    without_split: int = 0
    error_count: int = 0
    reasons: Counter = field(default_factory=Counter)  # of skipped records
    errors: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    kept_work: Counter = field(default_factory=Counter)  # of people, on conversations that changed
    lost_work: Counter = field(default_factory=Counter)

    @property
    def nothing_landed(self) -> bool:
        """Whether the import failed as a whole: it holds no good record, or no record at all."""
        return not (self.conversations or self.unchanged)

    def bad(self, record: BadRecord) -> None:
        self.error_count += 1
        if len(self.errors) < MAX_REPORTED_ERRORS:
            self.errors.append(
                {"file": record.file, "record": record.record, "field": record.field, "message": record.message}
            )

    def skip(self, reason: str, count: int = 1) -> None:
        self.skipped += count
        self.reasons[reason] += count

    def stored(self, counts: Counter) -> None:
        """Add the counts of a stored batch."""
        for name in ("conversations", "turns", "steps", "snapshots", "unchanged", "without_split"):
            setattr(self, name, getattr(self, name) + counts[name])
        for key in [key for key in counts if isinstance(key, tuple)]:
            (self.kept_work if key[0] == "kept" else self.lost_work)[key[1]] += counts[key]
        if counts["unchanged"]:
            self.skip("already imported, unchanged", counts["unchanged"])

    def to_dict(self) -> dict[str, Any]:
        return {name: dict(value) if isinstance(value, Counter) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ImportReport":
        counters = {name: Counter(values.get(name, {})) for name in ("reasons", "kept_work", "lost_work")}
        return cls(**values | counters)


@dataclass(frozen=True)
class Position:
    """Where an import stands: `file` files are complete, `record` records of the next one are done."""

    file: int = 0
    record: int = 0
    begun: str = ""  # when the import's first slice began, ISO 8601

    def now_begun(self) -> "Position":
        return self if self.begun else replace(self, begun=timezone.now().isoformat())


@dataclass(frozen=True)
class ImportProgress:
    """What the progress callback is told after every batch. `bytes_done` counts whole files."""

    position: Position
    files: int
    bytes_done: int
    bytes_total: int
    report: ImportReport


class StopImport(Exception):
    """Raised by a progress callback to end at a batch boundary; the position says where to go on."""


@contextmanager
def dataset_for_import(name: str, format_name: str, project: str) -> Iterator[Dataset]:
    """The dataset of that name, or a new one in the project of that slug, which goes again where nothing came into it.
    ValidationError for a name that none can have, ValueError where there is no such project."""
    found = Dataset.objects.filter(name=name).first()
    dataset = found or Dataset(project=Project.objects.named(project), name=name, source_format=format_name)
    if found is None:
        dataset.full_clean()
        dataset.save()
    try:
        yield dataset
    finally:
        if found is None and dataset.is_bare():
            dataset.delete()


def import_files(
    format_name: str,
    path: Path,
    dataset: Dataset,
    *,
    split: str = "",
    limit: int | None = None,
    replace_judged: bool = False,
    start: Position = Position(),
    report: ImportReport | None = None,
    progress: Callable[[ImportProgress], None] = lambda _: None,
) -> ImportReport:
    """Read a file or folder in a published format into a dataset.

    `limit` counts records in all, sorted by file name, then place in the file. `start` and `report` continue an earlier
    slice. `replace_judged`: replace what changed also where that loses what people said of it. `progress` is called
    inside the batch's transaction: what it writes stands or falls with it; any exception but StopImport takes it back.
    Raises ValueError for an unknown format or split, FileNotFoundError for a path without data files.
    """
    if split and split not in Split.values:
        raise ValueError(f"unknown split {split!r}; choose one of {', '.join(Split.values)}")
    files = files_of(format_name, path)
    if not files:
        raise FileNotFoundError(f"{path.name} holds no {format_name} files")
    start, report = start.now_begun(), report or ImportReport(dataset.name)
    already_read = dataset.conversations.written_since(datetime.fromisoformat(start.begun))  # by earlier slices
    batch = _WaitingRecords(ConversationStore(dataset, split, replace_judged), report, already_read)
    sizes = [_size(file) for file in files]
    begun = time.monotonic() - report.seconds

    def commit(position: Position) -> None:
        def tell() -> None:
            report.seconds = round(time.monotonic() - begun, 3)
            progress(ImportProgress(position, len(files), sum(sizes[: position.file]), sum(sizes), report))

        batch.commit(tell)

    records = _records(reader(format_name), files, start)
    for position, readables in islice(records, None if limit is None else max(0, limit - report.records)):
        report.records += 1
        batch.add(_name(files[position.file], path), readables)
        if batch.is_full:
            commit(position)
    commit(Position(len(files), 0, start.begun))
    report.warnings = _warnings(dataset, report)
    return report


def _size(file: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    parts = [part for part in file.rglob("*") if part.is_file()] if file.is_dir() else [file]
    return sum(part.stat().st_size for part in parts)


def _name(file: Path, path: Path) -> str:
    """The name of a file or folder in reports: its path below the imported `path`; a folder's ends with a slash."""
    name = file.name if file == path else file.relative_to(path).as_posix()
    return f"{name}/" if file.is_dir() else name


def _records(
    read: Callable[[Path], Iterator[Readable]], files: list[Path], start: Position
) -> Iterator[tuple[Position, list[Readable]]]:
    """What was read of each record of the files, with the position after it; begins at `start`."""
    for index, file in enumerate(files[start.file :], start.file):
        first = start.record if index == start.file else 0
        for number, readables in _grouped(read(file), first):
            yield Position(index, number + 1, start.begun), readables


def _grouped(readables: Iterable[Readable], first: int) -> Iterator[tuple[int, list[Readable]]]:
    """What was read, grouped by record: (record number, defects of one bad record, or one good record). Begins at
    record `first`."""
    number = -1
    group: list[Readable] = []
    name: str | None = None
    for readable in readables:
        own = readable.record.partition(".")[0] if isinstance(readable, BadRecord) else None
        if own is None or own != name:
            if group and number >= first:
                yield number, group
            number, group = number + 1, []
        name = own
        group.append(readable)
    if group and number >= first:
        yield number, group


def _warnings(dataset: Dataset, report: ImportReport) -> list[str]:
    rows = dataset.conversations.order_by().values_list(
        "split", "website__name", "website__domain", "website__subdomain"
    )
    warnings = split_violations(rows.distinct())
    if report.without_split:
        warnings.append(
            f"{report.without_split} conversations lie in no split folder and no --split was given: stored as train"
        )
    if report.kept_work:
        warnings.append(f"kept on conversations that changed: {said(report.kept_work)}")
    if report.lost_work:
        warnings.append(f"replaced with conversations that changed: {said(report.lost_work)}")
    return warnings


class _WaitingRecords:
    """Records that wait to be stored together, and the ids of all records of this import so far."""

    def __init__(self, store: ConversationStore, report: ImportReport, seen: dict[str, str]) -> None:
        self.store, self.report, self.seen = store, report, seen
        self.waiting: list[tuple[str, ConversationRecord, str]] = []  # file, record, content
        self.records = self.chars = 0

    @property
    def is_full(self) -> bool:
        return self.records >= BATCH or self.chars >= BATCH_CHARS

    def add(self, file: str, readables: list[Readable]) -> None:
        """Take in what was read of one record. `file` is its path below the imported folder; where that is a folder,
        bad records name the file in it."""
        self.records += 1
        for readable in readables:
            if isinstance(readable, BadRecord):
                self.report.bad(replace(readable, file=file + readable.file if file.endswith("/") else file))
            elif isinstance(readable, SkippedRecord):
                self.report.skip(readable.reason)
            else:
                self._add_conversation(file, readable)

    def _add_conversation(self, file: str, record: ConversationRecord) -> None:
        sha256 = self.store.sha256(record)
        if record.source_id not in self.seen:
            self.seen[record.source_id] = sha256
            self.waiting.append((file, record, sha256))
            self.chars += sum(len(s.html) + len(s.raw_html) + len(s.html_after) for t in record.turns for s in t.steps)
            self.chars += sum(len(kept.data) for kept in record.files)
        elif self.seen[record.source_id] == sha256:
            self.report.skip("repeated in this import")
        else:
            message = "this import holds another record with the same id and other content; the first one is kept"
            self.report.bad(BadRecord(file, record.source_id, "source_id", message))

    def commit(self, progress: Callable[[], None]) -> None:
        """Store what waits and call `progress`, in one transaction: after a crash both are there or neither is."""
        stopped = None
        with transaction.atomic():
            self._flush()
            try:
                progress()
            except StopImport as stop:
                stopped = stop
        if stopped:
            raise stopped

    def _flush(self) -> None:
        """Store what waits; when that fails, one by one, so that only the bad record is left out."""
        waiting, self.waiting, self.records, self.chars = self.waiting, [], 0, 0
        if not waiting:
            return
        try:
            self.report.stored(self.store.store([(record, sha256) for _, record, sha256 in waiting]))
        except (*FAULTS, DatabaseError):
            for file, record, sha256 in waiting:
                try:
                    self.report.stored(self.store.store([(record, sha256)]))
                except FAULTS as error:
                    del self.seen[record.source_id]
                    message = str(error).strip().splitlines()[0]
                    self.report.bad(BadRecord(file, record.source_id, getattr(error, "field", ""), message))
