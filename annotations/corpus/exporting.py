"""Conversations out of the database: records in source order, then bytes in a published format."""

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from annotations.datasets import folder_writer, jsonl, writer
from annotations.datasets.records import ConversationRecord
from annotations.models import Dataset, Release, Split
from annotations.models.corpus.conversations import ConversationQuerySet
from annotations.models.releases.releases import ReleasedConversationQuerySet

ExportedConversations = ConversationQuerySet | ReleasedConversationQuerySet

TOLD_EVERY = 20  # conversations written
CHECKSUMS, DATASHEET, WORK = "SHA256SUMS", "DATASHEET.md", "ANNOTATION.json"
ONE_FILE_PER_SPLIT = {"mt-mind2web", "mind2web"}  # formats in which the folder names the split


def export_dataset(
    dataset: Dataset,
    format_name: str,
    out: Path,
    conversations: ExportedConversations | None = None,
    progress: Callable[[int], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
    canary: str | None = None,
) -> dict[str, int]:
    """Write a dataset, or the given conversations of it or of a release, to `out`; conversations per file written.

    A path ending in .json or .jsonl becomes one file. Any other path becomes a folder: `<split>/<name>.json` per
    split for the Mind2Web family (their loaders read the split from the folder), `<name>.jsonl` for jsonl.
    Formats with a folder per conversation fill the folder `out`. `progress` is told the conversations written, after
    every chunk; what it raises ends the export. `warn` is told of missing pages. Lines of jsonl say the `canary`.
    Raises ValueError for an unknown format, for one file of the Mind2Web family that would mix splits, and for a file
    where a folder is needed.
    """
    rows = dataset.conversations.all() if conversations is None else conversations
    if (write_folder := folder_writer(format_name)) is not None:
        if out.suffix in {".json", ".jsonl"} or out.is_file():
            raise ValueError(f"{format_name} has a folder per conversation: name a folder instead of {out.name}")
        return {str(out): write_folder(_counted(rows, 0, progress), out, warn)}
    mark = dataset.canary() if canary is None else canary
    write = functools.partial(jsonl.write, canary=mark) if format_name == "jsonl" else writer(format_name)
    found = [split for split in Split.values if rows.filter(split=split).exists()]
    per_split = format_name in ONE_FILE_PER_SPLIT
    if out.suffix in {".json", ".jsonl"}:
        if per_split and len(found) > 1:
            raise ValueError(
                f"{format_name} keeps the split in the folder name and {out.name} would mix {', '.join(found)}: "
                "name a folder, or one split with --split"
            )
        targets = {out: rows}
    elif per_split:
        targets = {out / split / f"{dataset.name}.json": rows.filter(split=split) for split in found}
    else:
        targets = {out / f"{dataset.name}.jsonl": rows}
    counts: dict[str, int] = {}
    for path, selected in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")  # a reader never sees half a file
        try:
            with partial.open("wb") as file:
                counts[str(path)] = write(_counted(selected, sum(counts.values()), progress), file)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    return counts


def export_release(
    release: Release,
    format_name: str,
    out: Path,
    split: str = "",
    conversations: ReleasedConversationQuerySet | None = None,
    progress: Callable[[int], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> dict[str, int]:
    """Write a release, or those of its conversations that are given, as `export_dataset` does, the same bytes every
    time. Beside the files lie their checksums (`sha256sum -c` reads them), the datasheet and, where people annotated
    it, what campaigns and corrections were as data: SHA256SUMS, DATASHEET.md and ANNOTATION.json in a
    folder, else NAME.sha256, NAME.DATASHEET.md and NAME.ANNOTATION.json beside the file."""
    rows = release.conversations.all() if conversations is None else conversations
    rows = rows.filter(split=split) if split else rows
    canary = release.checks.get("canary", "")
    counts = export_dataset(release.dataset, format_name, out, rows, progress, warn, canary)
    told = json.dumps(release.annotation, indent=2, sort_keys=True) + "\n" if release.annotation else ""
    if out.suffix in {".json", ".jsonl"}:
        beside = {f"{out.name}.{WORK}": told, f"{out.name}.{DATASHEET}": release.datasheet}
        files = [out, *_write_texts(out.parent, beside)]
        _write_checksums(files, out.parent, out.with_name(f"{out.name}.sha256"))
    else:
        _write_texts(out, {WORK: told, DATASHEET: release.datasheet})
        files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != CHECKSUMS)
        _write_checksums(files, out, out / CHECKSUMS)
    return counts


def _write_texts(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write each text that is not empty into the file of its name, and delete the files of the empty ones, which an
    earlier export may have left. Returns the files that were written."""
    for name, text in texts.items():
        if text:
            (folder / name).write_text(text, "utf-8")
        else:
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name, text in texts.items() if text]


def _write_checksums(files: list[Path], base: Path, target: Path) -> None:
    lines = []
    for path in files:
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.relative_to(base).as_posix()}\n")
    target.write_text("".join(lines), "utf-8")


def _counted(
    conversations: ExportedConversations, before: int, progress: Callable[[int], None]
) -> Iterator[ConversationRecord]:
    for number, record in enumerate(conversations.records(), before + 1):
        yield record
        if number % TOLD_EVERY == 0:
            progress(number)
