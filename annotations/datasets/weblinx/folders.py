"""WebLINX: folders of recorded demonstrations and the ready-made chat splits (sources.md A1).

`read` takes a demonstration's folder, a folder that holds some at any depth, or a file of chat rows. Where a folder
holds demonstrations, other files in it are not read as chat rows: the published download has both, of the same data.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from annotations.datasets.files import data_files
from annotations.datasets.records import BadRecord, ConversationRecord, Readable
from annotations.datasets.weblinx.build import demonstration
from annotations.datasets.weblinx.chat import CHAT_SUFFIXES, read_chat
from annotations.datasets.weblinx.demos import is_demo, read_demo
from annotations.datasets.weblinx.side_files import SPLITS_FILE, UNION
from annotations.datasets.weblinx.turns import screenshot_of

__all__ = ["SUFFIXES", "files", "read", "write_folder"]

SUFFIXES = CHAT_SUFFIXES
PUBLISHED_SPLITS = ("train", "valid", "test_iid", "test_web", "test_cat", "test_geo", "test_vis")
IN_UNION = ("valid", "test_iid")
REPLAY = "replay.json"
SAFE_PATH = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
FOLDER_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")


def files(path: Path) -> list[Path]:
    """What is read at `path`, one conversation or many each: folders of demonstrations, else files of chat rows.

    Raises FileNotFoundError when there is nothing at `path`.
    """
    if not path.is_dir():
        return data_files(path, CHAT_SUFFIXES)
    demos = sorted(_demos(path))
    if demos:
        return demos
    return [file for file in data_files(path, CHAT_SUFFIXES) if not _is_beside(file)]


def _is_beside(file: Path) -> bool:
    """Whether the file is one of those that lie beside demonstrations (splits, candidates), which hold no chat rows."""
    return file.name == SPLITS_FILE or file.parent.name == "candidates"


def _demos(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path, followlinks=False):
        if is_demo(names):
            folders.clear()
            yield Path(folder)
        else:
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__MACOSX"]


def read(path: Path) -> Iterator[Readable]:
    """Every conversation at `path`, one demonstration in memory at a time.

    Files of a demonstration are named by their place in its folder.
    """
    found = files(path)
    if not found:
        yield BadRecord(path.name, "", "", "expected folders with metadata.json, form.json and replay.json, found none")
    for place in found:
        yield from read_demo(place) if place.is_dir() else read_chat(place)


def write_folder(
    records: Iterable[ConversationRecord], out: Path, warn: Callable[[str], None] = lambda message: None
) -> int:
    """Write a folder per conversation and `splits.json` into the folder `out`; returns how many.

    An imported demonstration comes out as it went in, byte for byte; videos and empty folders are lost. Any other
    conversation is written as `build` says; `warn` is told of pages that cannot be read and are missing.
    Raises ValueError for what has no place in the format and for a demonstration that is already there.
    """
    splits: dict[str, list[str]] = {split: [] for split in PUBLISHED_SPLITS}
    count = 0
    out.mkdir(parents=True, exist_ok=True)
    for record in records:
        name = folder_name(record.source_id)
        if (out / name).exists():
            raise ValueError(f"{name} is already in {out.name}: export into a new folder")
        _write_demo(record, out, name, warn)
        splits.setdefault(record.split or "train", []).append(name)
        count += 1
    splits[UNION] = [name for split in IN_UNION for name in splits[split]] + splits.get(UNION, [])
    (out / SPLITS_FILE).write_text(json.dumps(splits, ensure_ascii=False, indent=2) + "\n", "utf-8")
    return count


def folder_name(source_id: str) -> str:
    """The source id where it is a safe name of a folder; else its safe letters and a hash that tells it from others."""
    if FOLDER_NAME.fullmatch(source_id):
        return source_id
    letters = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in source_id)[:60]
    return f"{letters}-{sha256(source_id.encode()).hexdigest()[:8]}"


def _write_demo(record: ConversationRecord, out: Path, name: str, warn: Callable[[str], None]) -> None:
    """Write the files under a hidden name first, so that a reader never sees half a demonstration."""
    partial = out / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for path, data in _contents(record, warn):
            if not SAFE_PATH.fullmatch(path):  # records may come from anywhere
                raise ValueError(f"conversation {record.source_id!r} names the unsafe file {path[:80]!r}")
            file = partial / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        partial.rename(out / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _contents(record: ConversationRecord, warn: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    """(path in the folder, bytes) of every file of a demonstration."""
    kept = {file.path: file.data for file in record.files}
    if REPLAY not in kept:
        made = demonstration(record)
        for why in made.unread:
            warn(f"a page of {record.source_id} is missing: {why}")
        yield from ((file.path, file.data) for file in made.files())
        return
    yield from kept.items()
    turns = json.loads(kept[REPLAY])["data"]
    written: set[str] = set()
    for step in (step for turn in record.turns for step in turn.steps):
        pages = [(f"pages/{step.extra.get('page')}", step.raw_html.encode(step.extra.get("encoding", "utf-8")))]
        if step.screenshot and step.source_index is not None:
            pages.append((f"screenshots/{screenshot_of(turns[step.source_index])}", step.screenshot.data))
        for path, data in pages:
            if data and path not in written:
                written.add(path)
                yield path, data
