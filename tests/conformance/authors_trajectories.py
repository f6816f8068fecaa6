"""Runs Synapse's or AWM's own evaluation of single tasks, out of a clone of its authors' repository, in a process of
its own, and prints what a model is sent, and the exemplars:
`python -m tests.conformance.authors_trajectories synapse CLONE < asked.json`.

What the code imports from elsewhere and what needs a key is replaced; the authors' files run as they are.
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from agents.encoders.embedding import CachedEncoder, HashEncoder

ENOUGH = 10**9
PROMPTS = {"INSTRUCTION": "instruction", "ONE_SHOT": "one_shot"}
ASKED: list[list[dict[str, str]]] = []


class Index:
    """In place of FAISS: a flat index of the very vectors that the recipe compares."""

    encoder = CachedEncoder(HashEncoder())
    kept: list[tuple[Any, np.ndarray]] = []

    @classmethod
    def from_texts(cls, texts: Sequence[str], embedding: object, metadatas: Sequence[Any]) -> "Index":
        cls.kept = list(zip(metadatas, np.asarray(cls.encoder.encode(list(texts)), dtype=np.float64), strict=True))
        return cls()

    load_local = classmethod(lambda cls, *_: cls())

    def save_local(self, folder: str) -> None:
        pass

    def similarity_search_with_score(self, query: str, top_k: int) -> list[tuple[SimpleNamespace, float]]:
        asked = np.asarray(self.encoder.encode([query])[0], dtype=np.float64)
        found = [(float(((row - asked) ** 2).sum()), place) for place, (_, row) in enumerate(self.kept)]
        return [(SimpleNamespace(metadata=self.kept[place][0]), score) for score, place in sorted(found)[:top_k]]


class EveryModel(dict[str, int]):
    def __missing__(self, name: str) -> int:
        return ENOUGH


def answered(messages: list[dict[str, str]], **_: object) -> tuple[str, dict[str, int]]:
    """In place of a language model."""
    ASKED.append(json.loads(json.dumps(messages)))
    return "`CLICK [1]`", {}


def module(name: str, **content: object) -> None:
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(content)


def asks(name: str) -> None:
    """The module that asks a model, without one."""
    told = {"num_tokens_from_messages": lambda *_: 0, "MAX_TOKENS": EveryModel()}
    module(name, generate_response=answered, extract_from_response=lambda reply, _: reply, **told)


def synapse(clone: Path, asked: dict[str, Any], folder: str) -> None:
    sys.path.insert(0, str(clone))
    for name in ("langchain", "langchain.embeddings", "langchain.vectorstores"):
        module(name)
    module("langchain.embeddings.openai", OpenAIEmbeddings=lambda **_: None)
    module("openai")
    module("langchain.vectorstores", FAISS=Index)
    asks("synapse.utils.llm")
    building = import_module("synapse.memory.mind2web.build_memory")
    agent = import_module("synapse.agents.mind2web")
    building.load_json = lambda *_: asked["train"]
    building.pickle = SimpleNamespace(load=lambda _: asked["scores"])
    building.build_memory(folder, folder)
    for number, sample in enumerate(asked["test"]):
        agent.eval_sample(number, settings(asked, sample, folder), sample)


def awm(clone: Path, asked: dict[str, Any], folder: str) -> None:
    """Workflows of each website first, then the tasks. The exemplars are those that Synapse's builder makes of the same
    tasks, each with its task's website: they are given to it."""
    sys.path.insert(0, str(clone / "mind2web"))
    module("openai", BadRequestError=KeyError, OpenAI=lambda: Inducing(asked["induced"]))
    asks("utils.llm")
    agent, induction = import_module("memory"), import_module("offline_induction")
    texts = {name: (clone / "mind2web" / "prompt" / f"{file}_action.txt").read_text() for name, file in PROMPTS.items()}
    words = SimpleNamespace(**texts, prefix=None, suffix="# Summary Workflows", model_name="some-model", temperature=0)
    sites = {tuple(task[name] for name in ("domain", "subdomain", "website")): None for task in asked["train"]}
    workflows = {}
    for tags in sites:
        tasks = [task for task in asked["train"] if task["website"] == tags[-1]]
        reply = induction.llm_generate(tags, tasks, words)
        workflows[tags[-1]] = induction.filter_workflows(reply, website=tags[-1])
    Path(folder, "exemplars.json").write_text(json.dumps(asked["exemplars"]))
    for number, sample in enumerate(asked["test"]):
        Path(folder, "workflow.txt").write_text(workflows[sample["website"]])
        agent.eval_sample(number, settings(asked, sample, folder), sample)


class Inducing:
    """In place of a language model that is asked for workflows."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, messages: list[dict[str, str]], **_: object) -> SimpleNamespace:
        answered(messages)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=self.reply))])


def settings(asked: dict[str, Any], sample: dict[str, Any], folder: str) -> SimpleNamespace:
    return SimpleNamespace(
        memory_path=folder,
        log_dir=folder,
        workflow_path=f"{folder}/workflow.txt",
        model="some-model",
        benchmark="test_task",
        suffix="",
        temperature=0.0,
        previous_top_k_elements=3,
        top_k_elements=5,
        **{name: sample[name] for name in ("website", "domain", "subdomain")},
        **asked["settings"],
    )


if __name__ == "__main__":
    os.environ["OPENAI_API_KEY"] = "none"
    with tempfile.TemporaryDirectory() as kept, contextlib.redirect_stdout(sys.stderr):
        Path(kept, "scores_all_data.pkl").touch()
        {"synapse": synapse, "awm": awm}[sys.argv[1]](Path(sys.argv[2]), json.load(sys.stdin), kept)
        exemplars = json.loads(Path(kept, "exemplars.json").read_text())
    sys.stdout.write(json.dumps({"sent": ASKED, "exemplars": exemplars}))
