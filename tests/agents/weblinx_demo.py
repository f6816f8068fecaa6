"""A small WebLINX demonstration: one page of four elements, built as the published files are."""

from typing import Any

from agents.weblinx.turns import Demo, PagesByName

PAGE = (
    '<html><body data-webtasks-id="body"><form data-webtasks-id="form" class="search">'
    '<input data-webtasks-id="field" title="Where to?"><button data-webtasks-id="go">Search</button>'
    "</form></body></html>"
)


def box(x: float, y: float, width: float, height: float) -> dict[str, float]:
    edges = {"left": x, "top": y, "right": x + width, "bottom": y + height}
    return {"x": x, "y": y, "width": width, "height": height} | edges


BOXES = {
    "body": box(0, 0, 1000, 800),
    "form": box(10, 10, 400, 100),
    "field": box(20, 20, 200, 30),
    "go": box(230, 20, 80, 30),
}


def chat(speaker: str, utterance: str, timestamp: float = 0.0) -> dict[str, Any]:
    return {"type": "chat", "timestamp": timestamp, "speaker": speaker, "utterance": utterance}


def browser(intent: str, uid: str | None = None, timestamp: float = 0.0, **arguments: Any) -> dict[str, Any]:
    """A browser turn on the page; its element is the one with that uid."""
    metadata = {"mouseX": 25.5, "mouseY": 30, "viewportHeight": 800, "viewportWidth": 1000}
    arguments = {"metadata": metadata, "properties": {}} | arguments
    if uid is not None:
        attributes = {"data-webtasks-id": uid, "class": "search wide", "href": "https://example.org/a/very/long/path"}
        arguments["element"] = {"tagName": "A", "attributes": attributes, "textContent": " x ", "bbox": BOXES[uid]}
    state = {"page": "page-0-0.html", "screenshot": "screenshot-0-0.png", "screenshot_status": "good"}
    return {
        "type": "browser",
        "timestamp": timestamp,
        "action": {"intent": intent, "arguments": arguments},
        "state": state,
    }


def make_demo(*turns: dict[str, Any], name: str = "aaaaaaa") -> Demo:
    return Demo.from_replay(name, {"data": list(turns)}, PagesByName({"page-0-0.html": PAGE}, {"bboxes-0.json": BOXES}))
