"""WebLINX's recorded demonstrations: one folder each (sources.md A1).

A demonstration is a conversation. Its turns begin with the messages of the instructor: messages in a row make one
instruction, one per line; what the navigator does before the first message answers the instruction "". Every turn of
the navigator, a browser action or a message, is a step; `source_index` is the place in `replay.json`.

Every file below `pages/`, `bboxes/` and `screenshots/` and the JSON files are kept, as columns or as source files,
so that an export gives the same bytes. Videos are left out.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotations.datasets.fields import Defects, canonical, describe
from annotations.datasets.json_value import JSONError, parse
from annotations.datasets.records import (
    BadRecord,
    CandidateRecord,
    ConversationRecord,
    FileRecord,
    ImageRecord,
    Readable,
    Site,
    SkippedRecord,
    StepRecord,
    TurnRecord,
)
from annotations.datasets.weblinx import turns as replay
from annotations.datasets.weblinx.check import check_replay
from annotations.datasets.weblinx.side_files import demo_candidates, split_of
from annotations.dom.limits import PageError
from annotations.dom.weblinx_page import candidates, decode
from annotations.sandbox import page_questions

REQUIRED = ("metadata.json", "form.json", "replay.json")
INVALID = "invalid.json"
CANDIDATES = "candidates.json"  # source file made of `candidates/SPLIT.jsonl`
FOLDERS = ("bboxes", "pages", "screenshots")
FILE_NAME = re.compile(r"[\w-][\w.-]*")
MAX_FILE_BYTES = 64 << 20
MAX_DEMO_BYTES = 512 << 20  # of one demonstration, which is held in memory
PNG = b"\x89PNG\r\n\x1a\n"
SITE = "webnav"  # field of form.json in which our own exports keep the website, its domain and subdomain
SITE_KEYS = ("website", "domain", "subdomain")


def is_demo(names: Sequence[str]) -> bool:
    """Whether a folder with these files is a demonstration, whole or not."""
    return len({*REQUIRED, INVALID} & set(names)) >= 2


def read_demo(folder: Path) -> Iterator[Readable]:
    """The demonstration in this folder as one record, or what is wrong with it: file, record and field by name."""
    name = folder.name
    if (folder / INVALID).is_file():
        yield SkippedRecord(INVALID, name, "marked invalid by invalid.json")
        return
    demo = _OpenDemo(folder)
    yield from demo.readables()


class _DemoFiles:
    """The files of one demonstration; defects are collected file by file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.bad: list[BadRecord] = []
        self.files = dict(self._listed())

    def _listed(self) -> Iterator[tuple[str, Path]]:
        """(path inside the folder, file) of the files that are kept; links are left out."""
        for place in ("", *FOLDERS):
            folder = self.folder / place
            if not folder.is_dir() or folder.is_symlink():
                continue
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                if entry.is_file(follow_symlinks=False) and _is_kept(place, entry.name):
                    yield (f"{place}/{entry.name}" if place else entry.name), Path(entry.path)

    def _bad(self, file: str, field: str, message: str, place: str = "") -> None:
        self.bad.append(BadRecord(file, f"{self.name}.{place}" if place else self.name, field, message))

    def content(self, path: str) -> bytes:
        """The bytes of a listed file; b"" and a defect when it cannot be read or is too large."""
        try:
            with self.files[path].open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            self._bad(path, "", f"cannot be read: {error.strerror or error}")
            return b""
        if len(data) > MAX_FILE_BYTES:
            self._bad(path, "", f"expected at most {MAX_FILE_BYTES:,} bytes, found more")
            return b""
        return data

    def _object(self, path: str) -> dict[str, Any] | None:
        """The JSON object in a file; None, and a defect where the file is there, for anything else."""
        if path not in self.files:
            return None
        known = len(self.bad)
        data = self.content(path)
        try:
            value = parse(data)
        except JSONError as error:
            if len(self.bad) == known:
                self._bad(path, "", error.at(0))
            return None
        if not isinstance(value, dict):
            self._bad(path, "", f"expected an object, found {describe(value)}")
            return None
        return value


class _OpenDemo(_DemoFiles):
    """One demonstration while it is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.used: set[str] = set()  # files whose content is in a column
        self.boxes: dict[str, dict[str, Any]] = {}
        self.pages: dict[str, _Page] = {}

    def readables(self) -> Iterator[Readable]:
        size = sum(file.stat().st_size for file in self.files.values())
        if size > MAX_DEMO_BYTES:
            yield BadRecord("", self.name, "", f"expected at most {MAX_DEMO_BYTES:,} bytes in all, found {size:,}")
            return
        for missing in (path for path in REQUIRED if path not in self.files):
            self._bad(missing, "", "expected this file in the demonstration's folder, found none")
        _, form, content = (self._object(path) for path in REQUIRED)
        record = self._conversation(form or {}, content) if content is not None else None
        if self.bad or record is None:
            yield from self.bad
        else:
            yield record

    def _conversation(self, form: dict[str, Any], content: dict[str, Any]) -> ConversationRecord | None:
        defects = Defects("replay.json")
        turns = check_replay(content, self.name, defects)
        if not turns:
            self.bad += defects.all()
            return None
        steps = [None if replay.is_instruction(turn) else self._step(i, turn) for i, turn in enumerate(turns)]
        split, problem = split_of(self.folder)
        if problem:
            self._bad("../splits.json", "", problem)
        scores = demo_candidates(self.folder, split)
        kept = {path: self.content(path) for path in self.files.keys() - self.used}
        kept |= {CANDIDATES: scores} if scores else {}
        files = tuple(FileRecord(path, kept[path]) for path in sorted(kept))
        return ConversationRecord(
            source_id=self.name,
            **_site(form, turns),
            turns=tuple(group_turns(self.name, turns, steps)),
            split=split,
            extra=replay.figures(turns),
            files=files,
        )

    def _step(self, index: int, turn: replay.RecordedTurn) -> StepRecord:
        uid, page = replay.uid_of(turn), self._page(index, turn)
        shown = [other for other in candidates(page.tags, page.boxes, replay.viewport_of(turn)) if other != uid]
        attributes = replay.arguments_of(turn, "element").get("attributes")
        extra = {"timestamp": replay.seconds_of(turn)} | ({"page": page.name} if page.name else {})
        if page.encoding not in ("", "utf-8"):
            extra["encoding"] = page.encoding
        gold = CandidateRecord(
            uid,
            page.tags.get(uid) or str(replay.arguments_of(turn, "element").get("tagName", "")).lower(),
            json.dumps(attributes or {}),
            True,
            None,
        )
        return StepRecord(
            source_id=f"{self.name}_{index}",
            source_index=index,
            operation=replay.operation_of(turn),
            value=replay.value_of(turn),
            original_operation=replay.intent_of(turn),
            extra=canonical(extra),
            action_repr=replay.action_repr(turn),
            html=page.html,
            raw_html=page.raw,
            positives=(gold,) if uid else (),
            negatives=tuple(CandidateRecord(other, page.tags[other]) for other in shown),
            screenshot=self._screenshot(turn),
        )

    def _page(self, index: int, turn: replay.RecordedTurn) -> "_Page":
        """The page of a turn, read once; an empty one where none was recorded or the whole folder is absent."""
        name = replay.page_name(turn)
        path = f"pages/{name}"
        if not name or name in self.pages:
            return self.pages.get(name) or _Page()
        if path in self.files:
            boxes = self._boxes(replay.boxes_name(name))
            try:
                self.pages[name] = _Page.of(name, self.content(path), boxes)
            except PageError as error:
                self.pages[name] = _Page(name=name)
                self._bad(path, "", str(error))
            if self.pages[name].raw:
                self.used.add(path)
        else:
            self.pages[name] = _Page(name=name)
            if any(file.startswith("pages/") for file in self.files):
                message = f"expected the file {path} in the demonstration's folder, found none"
                self._bad("replay.json", "state.page", message, f"data[{index}]")
        return self.pages[name]

    def _boxes(self, path: str) -> dict[str, Any]:
        if path not in self.boxes:
            self.boxes[path] = self._object(path) or {}
        return self.boxes[path]

    def _screenshot(self, turn: replay.RecordedTurn) -> ImageRecord | None:
        """The image where it was recorded and is one; a broken file stays a source file."""
        path = f"screenshots/{replay.screenshot_of(turn)}"
        if path not in self.files:
            return None
        data = self.content(path)
        if not data.startswith(PNG):
            return None
        self.used.add(path)
        return ImageRecord("image/png", data)


def _is_kept(folder: str, name: str) -> bool:
    return bool(FILE_NAME.fullmatch(name)) and (folder != "" or name.endswith(".json"))


class _Page:
    """A recorded page, as it was and as it is stored."""

    def __init__(self, name: str = "", raw: str = "", encoding: str = "") -> None:
        self.name, self.raw, self.encoding = name, raw, encoding
        self.html = ""
        self.tags: dict[str, str] = {}
        self.boxes: dict[str, Any] = {}

    @classmethod
    def of(cls, name: str, data: bytes, boxes: dict[str, Any]) -> "_Page":
        page = cls(name, *decode(data))
        page.boxes = boxes
        page.html, page.tags = page_questions.recording(page.raw, boxes)
        return page


def group_turns(
    demo: str, turns: Sequence[replay.RecordedTurn], steps: Sequence[StepRecord | None]
) -> Iterator[TurnRecord]:
    """The turns of a conversation: one per run of instructor messages, with the steps up to the next run.

    `steps` are parallel to `turns`, None for the instructor's. Each message stays in `extra` with its place and time.
    """
    first = 0
    said: list[dict[str, Any]] = []
    done: list[StepRecord] = []
    for index, (turn, step) in enumerate(zip(turns, steps, strict=True)):
        if step is None and done:
            yield _turn(demo, first, said, done)
            first, said, done = index, [], []
        if step is not None:
            done.append(step)
        else:
            said.append({"index": index, "timestamp": replay.seconds_of(turn), "utterance": replay.utterance_of(turn)})
    yield _turn(demo, first, said, done)


def _turn(demo: str, first: int, said: list[dict[str, Any]], steps: list[StepRecord]) -> TurnRecord:
    return TurnRecord(
        source_id=f"{demo}_{first}",
        source_index=first,
        steps=tuple(steps),
        instruction="\n".join(message["utterance"] for message in said),
        extra={"utterances": [canonical(message) for message in said]},
    )


def _site(form: dict[str, Any], turns: Sequence[replay.RecordedTurn]) -> Site:
    """The website: with domain and subdomain where our own exports note them, else the host that most turns are on."""
    noted = form.get(SITE)
    texts = [noted.get(key) for key in SITE_KEYS] if isinstance(noted, dict) else []
    known = [text for text in texts if isinstance(text, str) and text.isprintable()]
    if len(known) == len(SITE_KEYS) and known[0]:
        return Site(website=known[0], domain=known[1], subdomain=known[2])
    return Site(website=replay.website_of(turns), domain="", subdomain="")
