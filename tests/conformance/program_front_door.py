"""Published episodes of Synapse on MiniWoB++ as live runs of ours: goals, a study, its episodes, and what was asked."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agents.encoders.embedding import CachedEncoder
from agents.environments.protocol import ActionEffect, EpisodeStart, PageView
from agents.live import running as live
from agents.live.goals import LiveGoals, new_goals
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.llm.usage import Usage
from agents.memory import encoding
from agents.models import ExemplarSet, Run
from agents.types import Action
from agents.words import generator
from annotations.models import Dataset
from evaluation.studies import running
from tests import factories

CODE = {True: "```python\nobs='OBS'+str(len(state))\n```", False: "```\nraise ValueError()\n```"}
IN_WORDS = "LLM OBS"
FIRST, AGAIN, ACT = ("Action:", "Output:", "State:"), ("Action:",), ("Observation:",)  # what each call stops at


class PlaceholderPages:
    """In place of a browser, as the pages of the cases are placeholders: nothing that is done ends the episode."""

    def __init__(self, task: str, page: str) -> None:
        self.start = EpisodeStart(task, PageView('<html backend_node_id="1"/>', "", 1, {}, page))
        self.done: list[Action] = []

    def reset(self, task: str, seed: int) -> EpisodeStart:
        return self.start

    def tell_reset(self, task: str, seed: int) -> None:
        pass

    def hear_reset(self) -> EpisodeStart:
        return self.start

    def tell_step(self, action: Action) -> None:
        self.done.append(action)

    def hear_step(self) -> ActionEffect:
        return ActionEffect("done", 0.0, False, self.start.view)

    def tell_picture(self) -> None:
        pass

    def hear_picture(self) -> None:
        return None

    def close(self) -> None:
        pass


class PublishedModel:
    """In place of an endpoint: each step's programs and words, and what was asked, by step."""

    info = LlmInfo("nowhere", "some-model", None)

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        self.steps = steps
        self.filters: list[list[dict[str, Any]]] = [[]]
        self.acts: list[list[dict[str, str]]] = []

    def complete(self, requests: list[Request]) -> list[Reply]:
        return [Reply((self._reply(one),), Usage(1, 1, 0.0), "some-model", ("stop",), 0.0) for one in requests]

    def _reply(self, request: Request) -> str:
        asked = [{"role": message.role, "content": message.content} for message in request.messages]
        step = self.steps[len(self.acts)]
        if request.stop == ACT:
            self.acts.append(asked)
            self.filters.append([])
            return f"```python\n{step['act']}\n```"
        assert request.stop in (FIRST, AGAIN)
        self.filters[-1].append({"messages": asked, "stop": list(request.stop)})
        return CODE[step["code_ok"]] if request.stop == FIRST else IN_WORDS


class InThatOrder:
    """An encoder by which the nearest texts are these, in this order."""

    name, dimensions = "in-that-order", 1

    def __init__(self, keys: Iterable[str]) -> None:
        self.places = {key: place for place, key in enumerate(keys, 1)}

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[self.places.get(text, 0)] for text in texts], dtype=np.float32)


class PublishedEpisode:
    """An episode as `run_live` plays it: everything but the browser, the model and the encoder is ours."""

    def __init__(self, patch: pytest.MonkeyPatch, *, task: str, words: str, page: str, steps: Sequence[Any]) -> None:
        self.task, self.pages, self.model = task, PlaceholderPages(words, page), PublishedModel(steps)
        self.dataset: Dataset = new_goals(factories.make_project(), "published", "miniwob")
        LiveGoals(self.dataset, self.pages).add([task], [0])  # type: ignore[arg-type]
        self.patch = patch
        patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        patch.setenv("LLM_MODEL", "some-model")
        patch.setattr(running, "llm_of", lambda run: self.model)
        patch.setattr(live, "EnvironmentProcess", lambda name: self.pages)
        patch.setattr(generator, "counter", lambda model: SimpleNamespace(count=len))

    def import_set(self, name: str, body: dict[str, Any], keys: Sequence[str]) -> None:
        fields = {"source": "synapse", "position": ExemplarSet.objects.count(), "read_from": "a case"}
        ExemplarSet.objects.create(project=self.dataset.project, name=name, body=body, keys=list(keys), **fields)

    def nearest(self, keys: Sequence[str]) -> None:
        encoder = CachedEncoder(InThatOrder(keys))
        self.patch.setattr(encoding, "encoder_named", lambda name: encoder)

    def play(self, **settings: str) -> Run:
        """A study of its own; the model begins anew."""
        self.model = PublishedModel(self.model.steps)
        changed = {name.replace("__", "."): value for name, value in settings.items()}
        changed |= {"plan.programs": str(len(self.model.steps)), "compose.context_tokens": "1000000"}
        study = running.create_study(
            user=None, dataset=self.dataset, recipes=["synapse-miniwob"], overrides=changed, publish=False
        )
        running.run_inline(study)
        run: Run = study.runs.get()
        return run
