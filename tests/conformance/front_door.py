"""A published planner evaluation as a study of ours: imported, decided by its recipe, judged, scored and aggregated."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.llm.protocol import LlmInfo, Message, Reply, Request
from agents.llm.usage import Usage
from agents.memory.retrieve import DatasetMemory
from agents.models import Run
from agents.stages import answering, state
from agents.stages.compose import trajectories
from agents.stages.rank.score_file import ScoreFile
from agents.types import DecisionUsage, PromptExemplar
from agents.words import generator
from agents.words.generator import Generated, PlannerPrompt
from annotations.corpus.importing import import_files
from annotations.models import Split, Step
from evaluation.studies import running
from tests import factories

RECIPES = {"multichoice": "mindact", "generation": "self-map-no-rationale"}
SPLIT = "test_task"


class Scripted:
    """In place of weights: the replies of the case in their order, and when asked `again`, each prompt as before."""

    again = False

    def __init__(self, replies: Iterable[str]) -> None:
        self.replies = iter(replies)
        self.answered: dict[str, str] = {}
        self.asked: list[PlannerPrompt] = []
        self.largest = 0  # batch that was asked

    def configure(self, **settings: object) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        self.largest = max(self.largest, len(prompts))
        self.asked += prompts
        return [Generated(self._reply(json.dumps(asdict(prompt))), "", DecisionUsage()) for prompt in prompts]

    def _reply(self, prompt: str) -> str:
        if not self.again:
            self.answered[prompt] = next(self.replies, "")
        return self.answered[prompt]


class PublishedOrder(random.Random):
    """Shuffles the elements of a step into the order that the case lists them in."""

    def __init__(self, order: Sequence[str]) -> None:
        super().__init__(0)
        self.order = order

    def shuffle(self, elements: list[Any]) -> None:
        elements.sort(key=self.order.index)


class PublishedEvaluation:
    """The conversations of one case, imported as a dataset with the scores of their elements, and studies on it."""

    def __init__(self, case: dict[str, Any], paradigm: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.case, self.recipe, self.folder = case, RECIPES[paradigm], folder
        self.scores, self.orders = ScoreFile(), dict[str, list[str]]()
        self.dataset = factories.make_dataset()
        data = folder / "data.json"
        data.write_text(json.dumps([self._conversation(one) for one in case["conversations"]]))
        report = import_files("mt-mind2web", data, self.dataset, split=SPLIT)
        assert not report.errors, report.errors
        self.scores.write(folder / "scores.json")
        self.model = Scripted(case["model_outputs_in_order"])
        patch.setattr(answering, "_weights", lambda name: self.model)
        patch.setattr(state, "random", SimpleNamespace(Random=self._drawn))

    def run(self, batch_size: int, recipe: str = "", **changed: str) -> Run:
        """A study as `evaluate` makes it: every step decided, stored, judged and scored. `changed`: settings, with two
        underscores for the dot."""
        (self.folder / "config.json").write_text("{}")  # what a folder of weights has
        settings = {
            "rank.kind": "score_file",
            "rank.model": str(self.folder / "scores.json"),
            "rank.top_k": str(self.case["top_k"]),
            "plan.model": str(self.folder),
            "recall.memory": "none",
            "batch_size": str(batch_size),
        } | {name.replace("__", "."): value for name, value in changed.items()}
        chosen = [recipe or self.recipe]
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=chosen, splits=[SPLIT], overrides=settings, publish=False
        )
        running.run_inline(study)
        run: Run = study.runs.get()
        return run

    def predictions(self, run: Run) -> list[list[str]]:
        """As the published code writes them down: sample, element, "OP value"."""
        rows = run.steps.order_by("trajectory__conversation__position", "seq").select_related("step__turn")
        return [
            [
                f"{row.step.turn.source_id}_{row.step.source_id}",
                row.node_id,
                f"{row.operation} {row.value}" if row.node_id else "",
            ]
            for row in rows
        ]

    def groups(self, run: Run) -> list[list[str]]:
        """Groups of elements that the model was asked about, in order."""
        rows = run.steps.order_by("trajectory__conversation__position", "seq")
        return [asked["elements"] for row in rows for asked in row.trace["plan"].get("rounds", ())]

    def _drawn(self, seed: str) -> PublishedOrder:
        step = Step.objects.select_related("turn").get(pk=seed.rpartition(" ")[2])
        return PublishedOrder(self.orders[f"{step.turn.source_id}_{step.source_id}"])

    def _conversation(self, conversation: dict[str, Any]) -> dict[str, Any]:
        return conversation | {"turns": [self._turn(turn) for turn in conversation["turns"]]}

    def _turn(self, turn: dict[str, Any]) -> dict[str, Any]:
        return turn | {"actions": [self._action(turn["annotation_id"], action) for action in turn["actions"]]}

    def _action(self, turn: str, action: dict[str, Any]) -> dict[str, Any]:
        """The action as data files hold it. Where the case names only some ranks of a page, elements out of reach are
        left out: here places in the ranking count, and there is nothing to stand between."""
        top_k, both = self.case["top_k"], ("pos_candidates", "neg_candidates")
        listed = [one for name in both for one in action[name]]
        whole = sorted(one["rank"] for one in listed) == list(range(len(listed)))
        kept = {name: [one for one in action[name] if whole or one["rank"] < top_k] for name in both}
        key = f"{turn}_{action['action_uid']}"
        self.orders[key] = [one["backend_node_id"] for name in both for one in kept[name]]
        self.scores.add(key, {one["backend_node_id"]: -one["rank"] for name in both for one in kept[name]})
        return action | {name: [_candidate(one) for one in ones] for name, ones in kept.items()} | {"raw_html": ""}


def _candidate(one: dict[str, Any]) -> dict[str, Any]:
    return {"backend_node_id": one["backend_node_id"], "tag": "div", "attributes": "{}", "score": 0.0, "rank": 0}


class PublishedTask:
    """The task of one case of Synapse's evaluation as a dataset of one turn, and a study on it. Its exemplars come from
    the case; tokens are characters, as there, where the system message had other words than ours."""

    def __init__(self, case: dict[str, Any], folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.case, self.scores = case, ScoreFile()
        self.dataset = factories.make_dataset()
        (folder / "data.json").write_text(json.dumps([self._conversation(case["sample"])]))
        report = import_files("mt-mind2web", folder / "data.json", self.dataset, split=SPLIT)
        assert not report.errors, report.errors
        factories.make_conversation(turns=1, steps=1, split=Split.TRAIN, dataset=self.dataset)  # has the exemplars
        self.score_file = folder / "scores.json"
        self.scores.write(self.score_file)
        self.llm = ScriptedEndpoint(case["responses_in_order"])
        patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("LLM_MODEL", "some-model")
        patch.setattr(running, "llm_of", lambda run: self.llm)
        patch.setattr(generator, "counter", lambda model: SimpleNamespace(count=len))
        patch.setattr(trajectories, "system_message", lambda *_: Message("system", "s" * 338))
        patch.setattr(trajectories, "exemplar_messages", self._exemplar)
        patch.setattr(DatasetMemory, "prepare_exemplars", lambda memory: None)
        patch.setattr(DatasetMemory, "exemplars", lambda *_: self._exemplars())

    def run(self) -> Run:
        name = "synapse-abstraction" if self.case["no_trajectory"] else "synapse"
        settings = {
            "rank.kind": "score_file",
            "rank.model": str(self.score_file),
            "compose.context_tokens": str(self.case["max_tokens_toy"]),
            "batch_size": "1",
        }
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=[name], splits=[SPLIT], overrides=settings, publish=False
        )
        running.run_inline(study)
        run: Run = study.runs.get()
        return run

    def _exemplars(self) -> list[PromptExemplar]:
        return [PromptExemplar(n, str(n), str(n), ()) for n, _ in enumerate(self.case["exemplars_in_retrieval_order"])]

    def _exemplar(self, name: str, steps: Sequence[object]) -> list[Message]:
        return [Message(**message) for message in self.case["exemplars_in_retrieval_order"][int(name)]]

    def _conversation(self, sample: dict[str, Any]) -> dict[str, Any]:
        turn = {name: sample[name] for name in ("annotation_id", "confirmed_task", "action_reprs")}
        site = {name: sample[name] for name in ("website", "domain", "subdomain")}
        actions = [self._action(sample["annotation_id"], action) for action in sample["actions"]]
        return {"task_id": "task", **site, "turns": [turn | {"actions": actions}]}

    def _action(self, turn: str, action: dict[str, Any]) -> dict[str, Any]:
        both = ("pos_candidates", "neg_candidates")
        ranks = {one["backend_node_id"]: -one["rank"] for name in both for one in action[name]}
        self.scores.add(f"{turn}_{action['action_uid']}", ranks)
        return action | {name: [_candidate(one) for one in action[name]] for name in both}


class ScriptedEndpoint:
    """In place of an endpoint: replies in their order, and what was asked."""

    info = LlmInfo("nowhere", "some-model", None)

    def __init__(self, replies: Iterable[str]) -> None:
        self.replies, self.asked = iter(replies), list[tuple[Message, ...]]()

    def complete(self, requests: list[Request]) -> list[Reply]:
        self.asked += [request.messages for request in requests]
        return [Reply((next(self.replies),), Usage(1, 1, 0.0), "some-model", ("stop",), 0.0) for _ in requests]
