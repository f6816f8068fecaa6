"""Published WebLINX evaluations as studies of ours: recorded demonstrations imported, ranked, decided and scored."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.models import Run
from agents.prompts.render import Prompt as Text
from agents.recipes.settings import Quirks, RankSettings
from agents.stages import answering
from agents.stages.compose import action_strings
from agents.stages.rank import kinds as rank_kinds
from agents.stages.rank.dmr import DmrRanker
from agents.stages.rank.inputs import RankingInput
from agents.types import DecisionUsage, Observation, RankedCandidate
from agents.weblinx.turns import Demo
from agents.weblinx.wording import WeblinxWording
from agents.words.generator import ChatPrompt, Generated, PlannerPrompt
from annotations.corpus.importing import import_files
from annotations.models import Split
from evaluation.studies import running
from tests import factories

Place = tuple[str, int]  # demonstration, turn
BOX = {"x": 10.0, "y": 10.0, "width": 50.0, "height": 20.0, "left": 10.0, "top": 10.0, "right": 60.0, "bottom": 30.0}


class PublishedDemos:
    """Demonstrations in the published layout, imported as a dataset, and studies on it."""

    def __init__(self, demos: Iterable[Mapping[str, Any]], folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch
        for demo in demos:
            write_demo(folder / "demos", demo)
        self.dataset = factories.make_dataset(source_format="weblinx")
        report = import_files("weblinx", folder / "demos", self.dataset, split=Split.VALID)
        assert not report.errors, report.errors
        (folder / "config.json").write_text("{}")  # what a folder of weights has

    def ranked_by(self, ranker: Callable[[RankSettings, Quirks], Any]) -> None:
        """What stands in for the weights of dense markup ranking."""
        self.patch.setattr(rank_kinds, "dmr_encoder", lambda name: None)
        self.patch.setattr(rank_kinds, "DmrRanker", lambda encoder, settings, quirks, vectors: ranker(settings, quirks))

    def planned_by(self, model: "Replies", asked: Sequence[Place]) -> None:
        """What stands in for a planner's weights; `asked`: the turns of the case, which it has chosen itself."""
        self.patch.setattr(answering, "_weights", lambda name: model)
        chosen = set(asked)
        self.patch.setattr(
            action_strings,
            "prompt_turns",
            lambda demo, quirks: [turn for turn in demo.turns if (demo.name, turn.index) in chosen],
        )

    def run(self, recipe: str, **settings: str) -> Run:
        """A study as `evaluate` makes it: every turn decided, stored, judged and scored."""
        plan = {"plan.model": str(self.folder)} if recipe.startswith("weblinx") else {}
        changes = plan | {"batch_size": "1"} | {name.replace("__", "."): value for name, value in settings.items()}
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=[recipe], overrides=changes, publish=False
        )
        running.run_inline(study)
        run: Run = study.runs.get()
        assert (run.state, run.error) == (Run.State.DONE, "")
        return run


class Replies:
    """In place of weights: replies in the order of the turns, and what was asked."""

    def __init__(self, replies: Iterable[str], tokenizer: object = None) -> None:
        self.replies, self.asked, self.tokenizer = iter(replies), list[ChatPrompt](), tokenizer

    def configure(self, **settings: object) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        self.asked += [prompt for prompt in prompts if isinstance(prompt, ChatPrompt)]
        return [Generated(next(self.replies), "", DecisionUsage()) for _ in prompts]


class Chosen:
    """In place of a ranker: the best elements of each turn as the case has them."""

    def __init__(self, best: Mapping[Place, Sequence[str]]) -> None:
        self.best = best

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [self._of(seen.demo, seen.demo_turn) for seen in observations]

    def _of(self, demo: Demo | None, turn: int) -> tuple[RankedCandidate, ...]:
        ids = self.best.get((demo.name, turn), ()) if demo else ()
        return tuple(RankedCandidate(uid, -float(rank), rank, "") for rank, uid in enumerate(ids))


class Scored(DmrRanker):
    """Dense markup ranking whose vectors are known: the elements of each turn with the scores of the case."""

    def __init__(self, settings: RankSettings, quirks: Quirks, scores: Mapping[int, Sequence[tuple[str, float]]]):
        super().__init__(SimpleNamespace(quick=None, tokenizer=None), settings, quirks)  # type: ignore[arg-type]
        self.known = scores

    def input(self, observation: Observation) -> RankingInput:
        uids = tuple(uid for uid, _ in self.known[observation.demo_turn])
        return RankingInput(str(observation.demo_turn), uids, uids, uids, uids)

    def score(self, steps: Sequence[RankingInput]) -> list[np.ndarray]:
        return [np.array([score for _, score in self.known[int(step.query)]]) for step in steps]


class Reading(DmrRanker):
    """Dense markup ranking that keeps what its encoder would read of each turn, and likes all elements alike."""

    def __init__(self, settings: RankSettings, quirks: Quirks) -> None:
        super().__init__(SimpleNamespace(quick=None, tokenizer=None), settings, quirks)  # type: ignore[arg-type]
        self.read = dict[Place, RankingInput]()

    def input(self, observation: Observation) -> RankingInput:
        found = super().input(observation)
        assert observation.demo is not None
        self.read[observation.demo.name, observation.demo_turn] = found
        return found

    def score(self, steps: Sequence[RankingInput]) -> list[np.ndarray]:
        return [np.zeros(len(step.texts)) for step in steps]


def write_demo(base: Path, demo: Mapping[str, Any]) -> None:
    """A demonstration of a case as a folder in the published layout."""
    folder = base / demo["name"]
    contents: dict[str, Any] = {
        "metadata.json": {"recordingId": demo["name"], "version": "0.1.2", "recordingStart": 1.5},
        "form.json": {"annotator": "A", "description": "A case", "tasks": ["Booking"], "shortcode": demo["name"]},
        "replay.json": {"version": "0.1.2", "created": 1.5} | demo["replay"],
    }
    contents |= {f"bboxes/{name}": boxes for name, boxes in demo["bboxes"].items()}
    for place in ("pages", "bboxes", "screenshots"):
        (folder / place).mkdir(parents=True)
    for path, value in contents.items():
        (folder / path).write_text(json.dumps(value), "utf-8")
    for name, html in demo["pages"].items():
        (folder / "pages" / name).write_text(html, "utf-8", newline="")
    for turn in demo["replay"]["data"]:
        if shot := (turn.get("state") or {}).get("screenshot"):
            (folder / "screenshots" / shot).write_bytes(factories.PNG)


def ranking_demo(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The turns of a ranking case as a demonstration: a click each, on the element that the case calls right."""
    by_turn: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        by_turn.setdefault(record["turn_index"], []).append(record)
    turns = [{"type": "chat", "timestamp": 0.0, "speaker": "instructor", "utterance": "Go on."}]
    pages, boxes = {}, {}
    for number, rows in by_turn.items():
        pages[f"page-{number}-0.html"] = _page([row["uid"] for row in rows])
        boxes[f"bboxes-{number}.json"] = {row["uid"]: BOX for row in rows}
        right = next((row["uid"] for row in rows if row["label"]), "elsewhere")
        turns.append(_click(number, right))
    return {"name": "d", "replay": {"data": turns}, "pages": pages, "bboxes": boxes}


def _page(uids: Sequence[str]) -> str:
    elements = "".join(f'<a data-webtasks-id="{uid}">{uid}</a>' for uid in uids)
    return f"<html><body>{elements}</body></html>"


def _click(number: int, uid: str) -> dict[str, Any]:
    element = {"attributes": {"data-webtasks-id": uid}, "bbox": BOX, "tagName": "A", "textContent": uid}
    seen = {"metadata": {"tabId": 1, "url": "https://a.example/", "viewportHeight": 746, "viewportWidth": 1536}}
    state = {"page": f"page-{number}-0.html", "screenshot": f"screenshot-{number}-0.png", "screenshot_status": "good"}
    return {
        "type": "browser",
        "timestamp": number + 1.0,
        "action": {"intent": "click", "arguments": seen | {"element": element}},
        "state": state,
    }


def published_wording(words: Sequence[str]) -> WeblinxWording:
    """The words around the computed parts of a recorded prompt (`words_around`), each in its place."""
    *system, before, after, request = words
    fields = ("last_utterances", "utterances", "height", "width", "turns")
    assert len(system) == len(fields) + 1
    said = "".join(f"{words}{{{{{name}}}}}" for words, name in zip(system, fields, strict=False)) + system[-1]
    texts = said, f"{before}{{{{candidates}}}}{after}", request
    return WeblinxWording(*(Text("published", text) for text in texts))
