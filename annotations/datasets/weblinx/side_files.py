"""The files beside WebLINX's demonstrations: `splits.json`, and the scores of `candidates/SPLIT.jsonl`.

Both lie beside the demonstrations' folders or one folder higher, as in the published data.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotations.datasets.json_value import JSONError, parse

SPLITS_FILE = "splits.json"
UNION = "dev"  # in the published file the union of valid and test_iid, beside the seven splits
MAX_SPLITS_BYTES = 16 << 20
MAX_ROW_BYTES = 1 << 20
DOCS_KEPT = 20  # of the best-ranked candidates of a turn; the action models read ten

_DEMO_NAME = re.compile(rb'"demo_name"\s*:\s*"((?:[^"\\]|\\.)*)"')


def split_of(demo: Path) -> tuple[str, str]:
    """The split in which `splits.json` puts a demonstration, "" for none, and what is wrong with the file, "" for
    nothing."""
    file = _beside(demo, SPLITS_FILE)
    if file is None:
        return "", ""
    facts = file.stat()
    try:
        splits = _splits(file, facts.st_mtime_ns, facts.st_size)
    except (JSONError, ValueError, OSError) as error:
        return "", str(error)
    return splits.get(demo.name, ""), ""


@lru_cache(maxsize=8)
def _splits(file: Path, _changed: int, size: int) -> dict[str, str]:
    """Split by demonstration; raises ValueError for what is no object of lists of names."""
    if size > MAX_SPLITS_BYTES:
        raise ValueError(f"expected at most {MAX_SPLITS_BYTES:,} bytes, found {size:,}")
    content = parse(file.read_bytes())
    if not isinstance(content, dict):
        raise ValueError("expected an object: split -> list of demonstrations")
    found: dict[str, str] = {}
    for split in sorted(content, key=lambda name: name != UNION):  # the union first, so that the others count
        names = content[split]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{split}: expected a list of names of demonstrations")
        for name in names:
            if found.get(name, UNION) not in (UNION, split):
                raise ValueError(f"{split}: {name!r} is also in {found[name]}; a demonstration lies in one split")
            found[name] = split
    return found


def demo_candidates(demo: Path, split: str) -> bytes:
    """The candidates of a demonstration as JSON, b"" where there is no file of them or nothing in it.

    {turn index: [{"uid", "label", "score", "rank", "doc"}, ...]}, best rank first; `doc` only of the first
    DOCS_KEPT. Rows that are no objects with these fields are left out.
    """
    file = _beside(demo, f"candidates/{split}.jsonl") if split else None
    if file is None:
        return b""
    facts = file.stat()
    runs = _index(file, facts.st_mtime_ns, facts.st_size).get(demo.name, ())
    turns: dict[str, list[dict[str, Any]]] = {}
    with file.open("rb") as stream:
        for begin, end in runs:
            stream.seek(begin)
            while stream.tell() < end:
                if (row := _row(stream.readline())) is not None:
                    turns.setdefault(str(row.pop("turn_index")), []).append(row)
    for rows in turns.values():
        rows.sort(key=lambda row: row["rank"])
        for row in rows[DOCS_KEPT:]:
            row.pop("doc", None)
    ordered = {turn: turns[turn] for turn in sorted(turns, key=int)}
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode() if ordered else b""


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = parse(line)
    except JSONError:
        return None
    kinds = {"turn_index": int, "uid": str, "label": int, "score": int | float, "rank": int}
    if not isinstance(row, dict) or not all(isinstance(row.get(name), kind) for name, kind in kinds.items()):
        return None
    return {name: row[name] for name in (*kinds, "doc") if name in row}


@lru_cache(maxsize=8)
def _index(file: Path, _changed: int, _size: int) -> dict[str, list[tuple[int, int]]]:
    """Where the rows of each demonstration lie: (first byte, byte after the last) of every run of them.

    The files have gigabytes and one row per element, so they are read once, line by line.
    """
    runs: dict[str, list[tuple[int, int]]] = {}
    place, current, begin = 0, "", 0
    with file.open("rb") as stream:
        while line := stream.readline(MAX_ROW_BYTES):
            found = _DEMO_NAME.search(line)
            name = found[1].decode("utf-8", "replace") if found else current
            if name != current:
                if current:
                    runs.setdefault(current, []).append((begin, place))
                current, begin = name, place
            place += len(line)
    if current:
        runs.setdefault(current, []).append((begin, place))
    return runs


def _beside(demo: Path, name: str) -> Path | None:
    """The file of this name beside the demonstration's folder, or one folder higher."""
    for folder in demo.parents[:2]:
        file = folder / name
        if file.is_file() and not file.is_symlink():
            return file
    return None
