"""A replay as one HTML file: it opens without the app and without a network, and does no harm there.

Recorded pages are hostile. Each is rebuilt from allow-lists as on the snapshot host (`annotations.pages`), with its
marks written into it, and shown in a frame that runs no scripts. The file's own policy lets it fetch nothing and run
one script, ours, which unpacks the page of a step when that is opened.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape

from agents.models import Trajectory
from agents.models.trajectories import USER
from agents.replay.rows import record_of, row_of
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark, MarkedRegion, anchor_id
from annotations.models import Snapshot
from annotations.sandbox import page_questions

MAX_PAGES = 100  # rebuilding one takes tens of milliseconds
MAX_BYTES = 30_000_000  # of all pages together, packed
LISTED = 8  # candidates and memory snippets of a step
LEFT_OUT = "This page is not in the file, which would be too large with it; the app shows it."
_WIDTH = re.compile(rb'<html[^>]*? data-layout-width="([\d.]+)"')
_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "file.js").read_text("utf-8")
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
# `frame-ancestors` and `sandbox` count in a header only.
POLICY = (
    f"default-src 'none'; script-src 'sha256-{_HASH}'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "frame-src blob:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class StepNote:
    """What somebody said of a step, in words; perhaps of a rectangle of the page that a field of the step holds
    (`page`), laid out `layout_width` pixels wide."""

    words: str
    region: MarkedRegion | None = None
    page: str = ""
    layout_width: float = 0


notes_of: Callable[[Trajectory], dict[int, list[StepNote]]] | None = None
"""Key of a step -> what people said of it; `evaluation.apps` sets it."""


@dataclass
class ReplayFile:
    """The file of one trajectory, for those who may see all of it: gold, marks, prompts and replies are in it. Pages
    beyond MAX_PAGES or MAX_BYTES are left out, those of wrong steps last, and each says so."""

    trajectory: Trajectory
    room: int = field(init=False, default_factory=lambda: MAX_BYTES)  # for further pages

    def made(self) -> bytes:
        wanted = set(self.trajectory.steps.wrong_first()[:MAX_PAGES])
        steps, noted = [], notes_of(self.trajectory) if notes_of else {}
        for step in self.trajectory.steps.with_pages():
            action = step.trace.get("act", {}).get("representation", "")
            spoken = step.trace.get(USER, {}).get("instruction", "")
            told = row_of(step, action, gold=True, spoken=spoken) | record_of(step)
            targets = list(step.step.targets.all()) if step.step else []
            page = step.step.shown_snapshot() if step.step else step.snapshot
            notes = noted.get(step.pk, [])
            shown = _drawn(notes, "raw_snapshot" if step.step and page == step.step.raw_snapshot else "snapshot")
            is_in = step.pk in wanted
            packed = self._packed(page, step.marks(targets), shown) if is_in else {"missing": LEFT_OUT}
            picture = getattr(step, "pictured", None)
            shot = picture.screenshot if picture else step.step.screenshot if step.step else None
            fits = shot is not None and is_in and self._takes(shot.size * 4 // 3)
            packed["shot"] = _address(shot.media_type, bytes(shot.data)) if shot and fits else ""
            steps.append(_step_in_file(told) | packed | {"notes": notes})
        judged = [one for one in steps if one["judged"]]
        context = {
            "trajectory": self.trajectory,
            "run": self.trajectory.run,
            "steps": steps,
            "right": sum(one["look"] == "right" for one in judged),
            "judged": len(judged),
            "made_at": timezone.now(),
        }
        body = render_to_string("agents/replay_file.html", context)
        return f"{_head(str(self.trajectory))}{body}<script>{_SCRIPT}</script>\n</html>\n".encode()

    def _packed(self, snapshot: Snapshot | None, marks: Sequence[Mark], notes: Sequence[StepNote]) -> dict[str, Any]:
        """The page of a step, compressed and in base64, and the fragment at which it opens; or why there is none."""
        if snapshot is None:
            return {"missing": "No page was recorded at this step."}
        regions = [one.region for one in notes if one.region]
        try:
            document = page_questions.rendered(snapshot.html, marks=marks, regions=regions)
        except PageError as error:
            return {"missing": f"This page cannot be shown: {error}."}
        page = base64.b64encode(document).decode()
        if not self._takes(len(page)):
            return {"missing": LEFT_OUT}
        first = regions[0].anchor if regions else anchor_id(marks[0].node_id) if marks else ""
        width = f"{notes[0].layout_width:g}" if regions else _recorded_width(document)
        return {"packed": page, "first": first and f"#{first}", "layout_width": width}

    def _takes(self, size: int) -> bool:
        """Whether there is room for so many bytes more, which are taken then."""
        fits = size <= self.room
        self.room -= size if fits else 0
        return fits


def _recorded_width(document: bytes) -> str:
    """How wide the window was in which a rendered page was recorded; "" where nobody knows."""
    found = _WIDTH.match(gzip.decompress(document))
    return found[1].decode() if found else ""


def _address(media_type: str, data: bytes) -> str:
    """An address that holds what it leads to."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _drawn(notes: Sequence[StepNote], page: str) -> list[StepNote]:
    """Those whose rectangles are of the page that is shown, and were measured in one layout: that of the first."""
    found = [one for one in notes if one.region and one.page == page]
    return [one for one in found if one.layout_width == found[0].layout_width]


def _head(title: str) -> str:
    tokens = (Path(settings.STATICFILES_DIRS[0]) / "css" / "variables.css").read_text("utf-8")
    style = tokens + (_HERE / "file.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
    )


def _step_in_file(told: dict[str, Any]) -> dict[str, Any]:
    """What the file says of a step, from its whole record."""
    trace, gold = told["trace"], told["gold"]
    golden = gold["node_ids"] if gold else []
    ranked = [
        one | {"rank": rank, "is_gold": one["node_id"] in golden, "is_predicted": one["node_id"] == told["node_id"]}
        for rank, one in enumerate(told["candidates"], 1)
    ]
    return {
        "seq": told["seq"],
        "turn": told["turn_index"],
        "instruction": told["instruction"],
        "action": told["action_repr"] or " ".join(filter(None, (told["operation"], told["value"]))),
        "gold": gold,
        "before": told["before"],
        "judged": " · ".join(told["verdict"]) if gold else "",
        "look": "" if not gold else "right" if told["success"] else "wrong",
        "error": told["error"],
        "candidates": [*ranked[:LISTED], *[one for one in ranked[LISTED:] if one["is_gold"]][:1]],
        "total": told["candidate_total"],
        "memory": told["memory"][:LISTED],
        "prompt": _text(trace.get("compose", {}).get("prompt", "")),
        "reply": _text(trace.get("plan", {}).get("reply", "")),
        "outcome": told["outcome"],
    }


def _text(told: Any) -> str:
    return told if isinstance(told, str) else json.dumps(told, indent=2, ensure_ascii=False)
