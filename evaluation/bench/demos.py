"""The sample as WebLINX demonstrations, held in memory."""

import json
from pathlib import Path

from agents.weblinx.turns import Demo, PagesByName
from annotations.sample.weblinx import build
from evaluation.bench.scratch import BenchSetting


def sample_demos(setting: BenchSetting) -> list[Demo]:
    """The sample's demonstrations in WebLINX's format."""
    out = setting.folder / "weblinx"
    if not out.exists():
        build(setting.sample_files(), out)
    return [_demo(path.parent) for path in sorted(out.rglob("replay.json"))]


def _demo(folder: Path) -> Demo:
    pages = {path.name: path.read_text("utf-8") for path in (folder / "pages").glob("*.html")}
    boxes = {path.name: json.loads(path.read_text("utf-8")) for path in (folder / "bboxes").glob("*.json")}
    replay = json.loads((folder / "replay.json").read_text("utf-8"))
    return Demo.from_replay(folder.name, replay, PagesByName(pages, boxes))
