"""A small valid file of every format, how it is broken, and what reads it."""

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.datasets import files_of, reader, writer
from annotations.datasets.files import ArchiveError, FileLimits, open_stream, unpack_zip
from annotations.datasets.records import BadRecord, ConversationRecord, SkippedRecord
from annotations.datasets.weblinx.chat import parse_call
from annotations.dom.css import filter_declarations, filter_sheet
from annotations.dom.limits import PageError
from annotations.dom.tree import parse
from annotations.dom.weblinx_clean_html import clean_html_xml
from annotations.dom.weblinx_page import page_xml
from annotations.sandbox.reading import FUNCTIONS
from tests.annotations.small_files import PAGE, conversation, record
from tests.annotations.test_miniwob_demos import episode
from tests.annotations.test_weblinx_chat import CLEAN, COLUMNS
from tests.annotations.test_weblinx_chat import rows as chat_rows
from tests.annotations.weblinx_folder import PAGE as RECORDING
from tests.annotations.weblinx_folder import write_demo
from tests.fuzz.mutators import broken_bytes, broken_json

CSS = (
    "@media print { a > b:hover, .c::before { color: red; background: url('data:image/png;base64,AA') !important } }\n"
    "@font-face { font-family: x; src: url(//evil) } :root { --a: calc(1px + 2%) } /* note */ a[b='c'] { margin: 0 }"
)
STYLED = PAGE.format(title="a").replace("<body", f"<style>{CSS}</style><body style='color: red'")
SMALL = FileLimits(max_bytes=64 << 20, max_ratio=200, ratio_from=1 << 20, max_files=200)


@dataclass(frozen=True)
class Format:
    """`write(folder, rng)` puts a broken file below a folder; `read(folder)` reads all of it, and complains of nothing
    but what its callers expect."""

    write: Callable[[Path, random.Random], None]
    read: Callable[[Path], None]


def _imported(name: str) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        for file in files_of(name, folder):
            for found in reader(name)(file):
                assert isinstance(found, ConversationRecord | BadRecord | SkippedRecord)

    return read


def _json_file(name: str, content: Callable[[], Any]) -> Callable[[Path, random.Random], None]:
    def write(folder: Path, rng: random.Random) -> None:
        value = content()
        data = broken_json(value, rng) if rng.random() < 0.7 else broken_bytes(json.dumps(value).encode(), rng)
        (folder / name).write_bytes(data)

    return write


def _json_lines(name: str, content: Callable[[], list[Any]]) -> Callable[[Path, random.Random], None]:
    def write(folder: Path, rng: random.Random) -> None:
        values = content()
        broken = rng.randrange(len(values))
        lines = [broken_json(v, rng) if i == broken else json.dumps(v).encode() for i, v in enumerate(values)]
        data = b"\n".join(lines)
        (folder / name).write_bytes(data if rng.random() < 0.7 else broken_bytes(data, rng))

    return write


def _tasks() -> list[Any]:
    names = {"turns", "task_id"}
    return [
        {key: value for key, value in whole.items() if key not in names} | {"annotation_id": name} | whole["turns"][0]
        for name in "ab"
        for whole in [conversation(name, turns=1)]
    ]


def _conversations() -> list[Any]:
    return [conversation("a"), conversation("b")]


def _episodes() -> list[Any]:
    return [episode(), episode(demoId="b")]


def _own_lines() -> list[Any]:
    out = io.BytesIO()
    writer("jsonl")([record("a"), record("b")], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _demo(folder: Path, rng: random.Random) -> None:
    """One file of a demonstration is broken."""
    demo = write_demo(folder)
    files = sorted(path for path in demo.rglob("*") if path.is_file())
    file = rng.choice([*files, demo / "replay.json"])
    data = file.read_bytes()
    is_json = file.suffix == ".json" and rng.random() < 0.7
    file.write_bytes(broken_json(json.loads(data), rng) if is_json else broken_bytes(data, rng))


def _chat_csv(folder: Path, rng: random.Random) -> None:
    out = io.StringIO(newline="")
    table = csv.DictWriter(out, ["demo", "turn", *COLUMNS])
    table.writeheader()
    table.writerows(chat_rows())
    (folder / "train.csv").write_bytes(broken_bytes(out.getvalue().encode(), rng))


def _archive(folder: Path, rng: random.Random) -> None:
    data = json.dumps([conversation("a")]).encode()
    kind = rng.choice(("zip", "gz", "xz", "bz2", "tar"))
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("a.json", "train/b.json", rng.choice(("../c.json", "/d.json", "e\\f.json", "g.json"))):
                archive.writestr(name, data if rng.random() < 0.8 else b"\0" * (4 << 20))
    elif kind == "tar":
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            archive.addfile(tarfile.TarInfo("a.json"))
    else:
        out.write({"gz": gzip, "xz": lzma, "bz2": bz2}[kind].compress(data))
    whole = out.getvalue()
    (folder / f"a.json.{kind}").write_bytes(whole if rng.random() < 0.1 else broken_bytes(whole, rng))


def _read_archive(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        try:
            with open_stream(file, SMALL) as stream:
                while stream.read(1 << 20):
                    pass
        except ArchiveError:
            pass
        into = folder / "into"
        try:
            unpack_zip(file, into, SMALL)
        except ArchiveError:
            assert not into.exists()
        shutil.rmtree(into, ignore_errors=True)


def _text_file(content: str) -> Callable[[Path, random.Random], None]:
    def write(folder: Path, rng: random.Random) -> None:
        (folder / "text").write_bytes(broken_bytes(content.encode(), rng))

    return write


def _text(folder: Path) -> str:
    return (folder / "text").read_bytes().decode("utf-8", "replace")


def _read_page(folder: Path) -> None:
    data = (folder / "text").read_bytes()
    asked = {
        "render": {},
        "outline": {},
        "tags": {},
        "pruned": {"kept": ["4", "5"]},
        "rows": {"gold": [], "candidates": []},
        "children": {"node_id": "2", "gold": ["4"], "first": 0, "last": None},
    }
    views = ("page", "tree", "accessibility")
    calls = [*asked.items(), *(("step_view", {"tab": v, "gold": ["4"], "candidates": ["4", "5"]}) for v in views)]
    for name, options in calls:
        try:
            FUNCTIONS[name](data, **options)
        except PageError:
            continue


def _read_css(folder: Path) -> None:
    text = _text(folder)
    filter_sheet(text)
    filter_declarations(text)


def _read_recording(folder: Path) -> None:
    xml, _ = page_xml(_text(folder), {})
    if xml:
        parse(xml)


def _read_chat_text(folder: Path) -> None:
    text = _text(folder)
    clean_html_xml(text)
    parse_call(text)


FORMATS: dict[str, Format] = {
    "mind2web": Format(_json_file("train_0.json", _tasks), _imported("mind2web")),
    "mt-mind2web": Format(_json_file("train.json", _conversations), _imported("mt-mind2web")),
    "miniwob": Format(_json_lines("login-user.jsonl", _episodes), _imported("miniwob-demos")),
    "jsonl": Format(_json_lines("a.jsonl", _own_lines), _imported("jsonl")),
    "weblinx demonstration": Format(_demo, _imported("weblinx")),
    "weblinx chat rows": Format(_json_lines("train.jsonl", chat_rows), _imported("weblinx")),
    "weblinx chat table": Format(_chat_csv, _imported("weblinx")),
    "weblinx chat page": Format(_text_file(CLEAN), _read_chat_text),
    "weblinx chat action": Format(_text_file(chat_rows()[1]["action"]), _read_chat_text),
    "weblinx recording": Format(_text_file(RECORDING), _read_recording),
    "archive": Format(_archive, _read_archive),
    "page": Format(_text_file(STYLED), _read_page),
    "css": Format(_text_file(CSS), _read_css),
}
