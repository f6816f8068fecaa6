"""Published steps of the WMA agent as a study of ours: imported, decided by its recipe, judged and scored."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Usage
from agents.models import Run, TrajectoryStep
from agents.stages.rank.score_file import ScoreFile
from agents.words import generator
from agents.words.trajectory_parse import parse_act
from annotations.corpus.importing import import_files
from evaluation.studies import running
from tests import factories

SPLIT = "test_task"
PAGE = '<html backend_node_id="900"><body backend_node_id="901">{}</body></html>'


@dataclass(frozen=True)
class AskedStep:
    """One step: its page, the candidates in the order of their ranks, which of them are right, what people did."""

    html: str
    candidates: Sequence[str]
    right: Sequence[str]
    act: str

    @classmethod
    def of_score(cls, case: dict[str, Any]) -> "AskedStep":
        """A page with the elements that any of the cases speaks of."""
        names = ["5", "7", "12"]
        shown = "".join(f'<button backend_node_id="{name}"><text>Element {name}</text></button>' for name in names)
        ranked = [*case["pos_ids"], *(name for name in names if name not in case["pos_ids"])]
        return cls(PAGE.format(shown), ranked, case["pos_ids"], case["target_act"])


class Answering:
    """In place of an endpoint: n samples for a prompt, and what was asked."""

    info = LlmInfo("nowhere", "some-model", None)

    def __init__(self, answer: Callable[[str, int], Sequence[str]]) -> None:
        self.answer, self.asked = answer, list[str]()

    def complete(self, requests: list[Request]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        prompt = "\n\n".join(message.content for message in request.messages)
        self.asked.append(prompt)
        texts = tuple(self.answer(prompt, request.n))
        return Reply(texts, Usage(1, 1, 0.0), "some-model", ("stop",) * len(texts), 0.0)


class PublishedSteps:
    """Steps, each a conversation of its own whose task is "Task number N.", and a study on them."""

    def __init__(
        self,
        steps: Sequence[AskedStep],
        answer: Callable[[str, int], Sequence[str]],
        folder: Path,
        patch: pytest.MonkeyPatch,
    ) -> None:
        self.llm, self.scores = Answering(answer), ScoreFile()
        self.score_file = folder / "scores.json"
        self.dataset = factories.make_dataset()
        (folder / "data.json").write_text(json.dumps([self._conversation(*one) for one in enumerate(steps)]))
        report = import_files("mt-mind2web", folder / "data.json", self.dataset, split=SPLIT)
        assert not report.errors, report.errors
        self.scores.write(self.score_file)
        patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("LLM_MODEL", "some-model")
        patch.setattr(running, "llm_of", lambda run: self.llm)
        patch.setattr(generator, "counter", lambda model: SimpleNamespace(count=len))

    def run(self, recipe: str, **settings: str) -> list[TrajectoryStep]:
        """The stored steps of a study as `evaluate` makes it, in their order."""
        changes = {"rank.kind": "score_file", "rank.model": str(self.score_file), "compose.context_tokens": "100000"}
        changes |= {name.replace("__", "."): value for name, value in settings.items()}
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=[recipe], splits=[SPLIT], overrides=changes, publish=False
        )
        running.run_inline(study)
        self.done: Run = study.runs.get()
        assert (self.done.state, self.done.error) == (Run.State.DONE, "")
        return list(self.done.steps.order_by("trajectory__conversation__position", "seq"))

    def _conversation(self, number: int, step: AskedStep) -> dict[str, Any]:
        act = parse_act(step.act)
        both = {
            "pos_candidates": [_candidate(name) for name in step.right],
            "neg_candidates": [_candidate(name) for name in step.candidates if name not in step.right],
        }
        self.scores.add(f"turn-{number}_step", {name: -rank for rank, name in enumerate(step.candidates)})
        action = {
            "action_uid": "step",
            "operation": {"op": act.operation, "value": act.value or "", "original_op": act.operation},
            "cleaned_html": step.html,
            "raw_html": "",
        }
        turn = {
            "annotation_id": f"turn-{number}",
            "confirmed_task": f"Task number {number}.",
            "action_reprs": ["[button] Element -> CLICK"],
            "actions": [action | both],
        }
        return {"task_id": f"c-{number}", "website": "a", "domain": "b", "subdomain": "c", "turns": [turn]}


def number_of(prompt: str) -> int:
    """Which step a prompt is about."""
    return int(prompt.rpartition("Task number ")[2].partition(".")[0])


def _candidate(name: str) -> dict[str, Any]:
    return {"backend_node_id": name, "tag": "div", "attributes": "{}", "score": 0.0, "rank": 0}
