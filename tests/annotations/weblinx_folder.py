"""A small demonstration in WebLINX's published layout, written to disk with every kind of turn."""

import json
from pathlib import Path
from typing import Any

from tests.factories import PNG

VIEWPORT = {"viewportWidth": 1536, "viewportHeight": 746}
FROM, SEARCH, LIST, FAR = "0aaaaaaa-0001-0001", "0bbbbbbb-0002-0002", "0ccccccc-0003-0003", "0ddddddd-0004-0004"
BODY = "0eeeeeee-0005-0005"
PAGE = f"""<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Trains &amp; more</title><style>a > b {{ color: red }}</style>
<script>if (1 < 2) alert("</p>")</script></head>
<body data-webtasks-id="{BODY}"><!-- a comment --><h1>Find a train</h1>
<input data-webtasks-id="{FROM}" type="text" aria-label="From" @click="go" xlink:href="#" required>
<button data-webtasks-id="{SEARCH}" class="big">Search<br>now</button>
<select data-webtasks-id="{LIST}"><option>Cheapest first</option><option selected>Fastest</option></select>
<a data-webtasks-id="{FAR}" href="/far">Far down</a></body></html>
"""
SECOND = PAGE.replace("Find a train", "Trains to Café")
BOXES = {
    BODY: (0, 0, 1536, 4000),
    FROM: (10, 100, 200.5, 30),
    SEARCH: (220, 100, 80, 30),
    LIST: (10, 140, 150, 30),
    FAR: (10, 3000, 60, 20),
}


def box(x: float, y: float, width: float, height: float) -> dict[str, float]:
    sides = {"top": y, "left": x, "right": x + width, "bottom": y + height}
    return {"x": x, "y": y, "width": width, "height": height} | sides


def chat(speaker: str, utterance: str, timestamp: float) -> dict[str, Any]:
    return {"type": "chat", "timestamp": timestamp, "speaker": speaker, "utterance": utterance}


def browser(intent: str, timestamp: float, uid: str = "", tag: str = "", page: str | None = None, **arguments: Any):
    """A browser turn; with a uid its element, with a page its state."""
    arguments = {"metadata": {"mouseX": 1, "tabId": 7, "url": "https://www.rail.example/a", **VIEWPORT}} | arguments
    if uid:
        arguments["element"] = {
            "attributes": {"data-webtasks-id": uid, "class": "k"},
            "bbox": box(*BOXES[uid]),
            "tagName": tag,
            "textContent": f" {tag}  text ",
            "innerHTML": "x",
            "outerHTML": "<x>",
            "xpath": "id('r')",
        }
    shown = {"screenshot": "screenshot-0-0.png", "screenshot_status": "good"} if page else {"screenshot": None}
    state = {"page": page} | shown
    return {
        "type": "browser",
        "timestamp": timestamp,
        "action": {"intent": intent, "arguments": arguments},
        "state": state,
    }


def turns() -> list[dict[str, Any]]:
    """Two instructions and a greeting before any: 14 turns, 3 of the instructor."""
    first, second = "page-0-0.html", "page-2-1.html"
    return [
        chat("navigator", "Hi", -1.5),
        chat("instructor", "Hello", 2),
        chat("instructor", 'Find a train from "Arlen".', 5.25),
        browser("load", 9, properties={"url": "https://www.rail.example/", "transitionType": "typed"}),
        browser("click", 12, FROM, "INPUT", first),
        browser("textInput", 13, FROM, "INPUT", first, text="Arlen Bridge"),
        browser("change", 15, LIST, "SELECT", first, value="Cheapest first"),
        chat("navigator", "Which day?", 17),
        chat("instructor", "Friday", 20),
        browser("scroll", 21, page=second, scrollX=0, scrollY=400),
        browser("submit", 22, SEARCH, "BUTTON", second),
        browser("tabswitch", 23, properties={"tabIdOrigin": 7, "tabId": 8}),
        browser("copy", 24, FAR, "A", second, selected="Far down"),
        browser("hover", 25, FAR, "A", second),
    ]


def write_demo(base: Path, name: str = "abcdefg", replay: list[dict[str, Any]] | None = None, **form: Any) -> Path:
    """The demonstration's folder; the second page is not UTF-8 but latin-1."""
    folder = base / name
    for place in ("pages", "bboxes", "screenshots"):
        (folder / place).mkdir(parents=True)
    contents = {
        "metadata.json": {"recordingId": name, "version": "0.1.2", "recordingStart": 1.5},
        "form.json": {"annotator": "A", "description": "Trains", "tasks": ["Booking"], "shortcode": name} | form,
        "replay.json": {"data": turns() if replay is None else replay, "version": "0.1.2", "created": 1690000000.25},
        "bboxes/bboxes-0.json": {uid: box(*values) for uid, values in BOXES.items()},
        "bboxes/bboxes-2.json": {uid: box(x, y - 400, w, h) for uid, (x, y, w, h) in BOXES.items()},
    }
    for path, value in contents.items():
        (folder / path).write_text(json.dumps(value, indent=1), "utf-8")
    (folder / "pages/page-0-0.html").write_text(PAGE.replace("\n", "\r\n"), "utf-8", newline="")
    (folder / "pages/page-2-1.html").write_bytes(SECOND.encode("latin-1"))
    (folder / "pages/page-9-0.html").write_text("<p>on no turn</p>", "utf-8")
    (folder / "screenshots/screenshot-0-0.png").write_bytes(PNG)
    (folder / "screenshots/screenshot-1-0.png").write_bytes(b"broken")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
