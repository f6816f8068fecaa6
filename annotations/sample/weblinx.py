"""Build the sample in WebLINX's format from the sample in MT-Mind2Web's:
`python -m annotations.sample.weblinx MT_MIND2WEB OUT`.

Some conversations become demonstrations as a recorder would have written them: greetings, the first address loaded,
scrolling to what lies outside the window, an answer after each instruction; times, mouse positions, element boxes
relative to the window, and a screenshot per view, which is a drawing of the boxes at a quarter of the size. The same
sources give the same bytes.
"""

import json
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotations.datasets.mt_mind2web import read
from annotations.datasets.records import BadRecord, ConversationRecord, SkippedRecord
from annotations.datasets.weblinx.build import Demonstration, HTMLPage, box_of, demonstration
from annotations.datasets.weblinx.folders import IN_UNION, PUBLISHED_SPLITS
from annotations.datasets.weblinx.side_files import SPLITS_FILE, UNION
from annotations.datasets.weblinx.turns import RecordedTurn, is_chat, is_instruction
from annotations.dom.weblinx_page import UID

# Conversation -> split. Websites of test_web, test_geo and the domain of test_cat are not in train; the names of the
# last two splits are only names here.
DEMONSTRATIONS = {
    "brightrail-watch-a-train": "train",
    "brightrail-evening-for-three": "train",
    "fernandfell-boots-too-small": "train",
    "harbourcity-brown-bin": "train",
    "harbourcity-missed-bin": "train",
    "willowclinic-two-medicines": "train",
    "willowclinic-polish-speaking": "valid",
    "willowclinic-low-ferritin": "test_iid",
    "nordline-a-better-berth": "test_web",
    "casaverde-two-with-a-pool": "test_cat",
    "nordline-night-to-tindal": "test_geo",
    "harbourcity-choir-room": "test_vis",
}
WIDTH, HEIGHT = 1280, 720  # of the window; the pages are laid out for this width
SCALE = 4  # page pixels per pixel of a screenshot
BEGUN_MS = 1_760_000_000_000  # when every recording begins
ANSWERS = ("Done. What next?", "All right, that is done.", "Here you are.", "OK, I have done that.")
GOODBYE = "Glad to help. Goodbye!"


def build(source: Path, out: Path) -> dict[str, int]:
    """Write the demonstrations whose conversations are found below `source`; counts of demonstrations and turns.

    Raises ValueError for a source that cannot be read.
    """
    splits: dict[str, list[str]] = {split: [] for split in PUBLISHED_SPLITS}
    counts = {"demonstrations": 0, "turns": 0}
    for record in read(source):
        if isinstance(record, BadRecord | SkippedRecord):
            raise ValueError(f"{record.file} {record.record}: not a sound sample")
        if record.source_id in DEMONSTRATIONS:
            made = Recorder(record).record()
            for file in made.files():
                path = out / made.name / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.data)
            splits[DEMONSTRATIONS[record.source_id]].append(made.name)
            counts["demonstrations"] += 1
            counts["turns"] += len(made.turns)
    splits = {split: sorted(names) for split, names in splits.items()}  # an export after an import has this order
    splits[UNION] = [name for split in IN_UNION for name in splits[split]]
    (out / SPLITS_FILE).write_text(json.dumps(splits, indent=2) + "\n", "utf-8")
    return counts


@dataclass
class View:
    """Where the navigator is: the page's number in the plain demonstration, how far it is scrolled, its address."""

    page: int = -1
    scroll: int = 0
    url: str = "about:blank"


@dataclass
class Recorder:
    """Turns the plain demonstration of a conversation into one as it would have been recorded."""

    source: ConversationRecord
    seconds: float = 0.0
    view: View = field(default_factory=View)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)  # (page, scroll) -> number of the view

    def __post_init__(self) -> None:
        self.plain = demonstration(self.source)
        self.made = replace(self.plain, turns=[], pages=[], screenshots={})
        self.home = f"https://www.{self.source.website}.example/"

    def record(self) -> Demonstration:
        self._say("instructor", "Hello")
        self._say("navigator", "Hello, how can I help you?")
        answers = 0
        for turn, following in pairwise([*self.plain.turns, None]):
            if turn is None:
                break
            if is_chat(turn):
                self._say(turn["speaker"], turn["utterance"])
            else:
                self._act(turn)
            if following is not None and is_instruction(following) and not is_instruction(turn):
                self._say("navigator", ANSWERS[answers % len(ANSWERS)])
                answers += 1
        self._say("instructor", "Thank you, that is all.")
        self._say("navigator", GOODBYE)
        self._describe()
        return self.made

    def _say(self, speaker: str, utterance: str) -> None:
        turn = {"type": "chat", "speaker": speaker, "utterance": utterance}
        self._add(turn, 1 + 0.4 * len(utterance.split()))

    def _add(self, turn: RecordedTurn, pause: float) -> None:
        self.seconds = round(self.seconds + pause, 3)
        self.made.turns.append({**turn, "timestamp": self.seconds})

    def _act(self, turn: RecordedTurn) -> None:
        """Record a browser turn of the conversation, with what has to precede it: loading the page, scrolling."""
        if self.view.page < 0:
            self._load()
        number = int(turn["state"]["page"].split("-")[1])
        page = self.plain.pages[number]
        url = self._url(page.html)
        if url != self.view.url:
            self.view = View(number, 0, url)
        self.view.page = number
        element = turn["action"]["arguments"].get("element", {})
        box = page.boxes.get(element.get("attributes", {}).get(UID, ""))
        if box is not None:
            self._scroll_to(box)
            shown = shifted(box, self.view.scroll)
            element["bbox"] = shown
            mouse = (shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2)
        else:
            mouse = (0, 0)
        self._browse(turn["action"]["intent"], turn["action"]["arguments"], mouse)

    def _load(self) -> None:
        """Record that the site's first page is opened from an empty one, which has a screenshot and no document."""
        properties = {"url": self.home, "transitionType": "typed", "transitionQualifiers": ["from_address_bar"]}
        self.made.screenshots["screenshot-blank-0.png"] = drawing(HTMLPage(""))
        state = {"page": None, "screenshot": "screenshot-blank-0.png", "screenshot_status": "good"}
        arguments = {"properties": properties, "metadata": self._metadata((0, 0))}
        self._add({"type": "browser", "action": {"intent": "load", "arguments": arguments}, "state": state}, 2.5)

    def _scroll_to(self, box: dict[str, float]) -> None:
        """Scroll so that the middle of a box that is not wholly in the window comes to the middle of it."""
        top = box["y"] - self.view.scroll
        if top >= 0 and top + box["height"] <= HEIGHT:
            return
        target = max(0, round(box["y"] + box["height"] / 2 - HEIGHT / 2))
        if target != self.view.scroll:
            self._browse("scroll", {"scrollX": 0, "scrollY": target}, (WIDTH / 2, HEIGHT / 2))
            self.view.scroll = target

    def _browse(self, intent: str, arguments: dict[str, Any], mouse: tuple[float, float]) -> None:
        number = self._number()
        state = {
            "page": f"page-{number}-0.html",
            "screenshot": f"screenshot-{number}-0.png",
            "screenshot_status": "good",
        }
        action = {"intent": intent, "arguments": arguments | {"metadata": self._metadata(mouse)}}
        self._add({"type": "browser", "action": action, "state": state}, 2.5)

    def _number(self) -> int:
        """The number of the current view, its page and its screenshot written when it is new."""
        key = (self.view.page, self.view.scroll)
        if key not in self.numbers:
            self.numbers[key] = len(self.made.pages)
            page = self.plain.pages[self.view.page]
            boxes = {uid: shifted(box, self.view.scroll) for uid, box in page.boxes.items()}
            self.made.pages.append(HTMLPage(page.html, page.elements, boxes))
            self.made.screenshots[f"screenshot-{self.numbers[key]}-0.png"] = drawing(self.made.pages[-1])
        return self.numbers[key]

    def _url(self, html: str) -> str:
        """An address made of the page's title."""
        title = re.search(r"<title[^>]*>(.*?)</title>", html, re.DOTALL)
        words = re.findall(r"[a-z0-9]+", title[1].lower()) if title else []
        return self.home + "-".join(words)

    def _metadata(self, mouse: tuple[float, float]) -> dict[str, Any]:
        return {
            "mouseX": mouse[0],
            "mouseY": mouse[1],
            "viewportHeight": HEIGHT,
            "viewportWidth": WIDTH,
            "zoomLevel": 1,
            "tabId": 1,
            "url": self.view.url,
        }

    def _describe(self) -> None:
        """Write the metadata of the recorder, and the form that its annotator filled in."""
        self.made.metadata = {
            "recordingStart": BEGUN_MS,
            "recordingEnd": BEGUN_MS + round(self.seconds * 1000),
            "recordingId": self.source.source_id,
            "timezoneOffsetMinutes": 0,
            "user": "sample",
            "userAgent": "none: built from the sample's sources",
            "version": "1.0.0",
        }
        self.made.form = {
            "annotator": "sample",
            "tasks": [self.source.subdomain],
            "navigator_name": "sample navigator",
            "instructor_name": "sample instructor",
            "upload_date": "2026-01-01 12:00:00",
        } | self.made.form


def shifted(box: dict[str, float], scroll: int) -> dict[str, float]:
    """The box relative to the window after scrolling down by `scroll` pixels."""
    return box_of(box["x"], box["y"] - scroll, box["width"], box["height"])


def drawing(page: HTMLPage) -> bytes:
    """A PNG, 320 × 180 grey: the outlines of the boxes in the window, controls filled."""
    width, height = WIDTH // SCALE, HEIGHT // SCALE
    rows = [bytearray(b"\xff" * width) for _ in range(height)]
    for uid, box in page.boxes.items():
        left, right = round(box["left"] / SCALE), round(box["right"] / SCALE)
        top, bottom = round(box["top"] / SCALE), round(box["bottom"] / SCALE)
        filled = page.elements[uid].tag in {"button", "input", "select"}
        for y in range(max(top, 0), min(bottom, height - 1) + 1):
            _draw(rows[y], left, right, filled, y in (top, bottom))
    content = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", content), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunks(chunks))


def _draw(row: bytearray, left: int, right: int, filled: bool, edge: bool) -> None:
    """One line of a box: all of it at an edge or when filled, else its two ends."""
    first, last = max(left, 0), min(right, len(row) - 1)
    if last < first:
        return
    if edge or filled:
        row[first : last + 1] = (b"\x50" if edge else b"\xc8") * (last + 1 - first)
    if left == first:
        row[first] = 0x50
    if right == last:
        row[last] = 0x50


def _chunks(chunks: tuple[tuple[bytes, bytes], ...]) -> Iterator[bytes]:
    for kind, data in chunks:
        yield struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(build(Path(sys.argv[1]), Path(sys.argv[2]))) + "\n")
