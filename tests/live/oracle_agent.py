"""A pipeline that decides as the oracles of tasks do, so that episodes reach their goals; everything else is real."""

from collections.abc import Callable, Sequence

import pytest

from agents.environments.oracles import ORACLES
from agents.environments.oracles.solving import OraclePage
from agents.environments.protocol import PageView
from agents.live import running
from agents.types import Action, Decision, Observation


class OraclePipeline:
    """`before` is called with the observations of each round."""

    def __init__(self, before: Callable[[Sequence[Observation]], None] = lambda seen: None) -> None:
        self.before = before
        self.rounds: list[int] = []

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        pass

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.before(observations)
        self.rounds.append(len(observations))
        return [_decided(seen) for seen in observations]


def _decided(seen: Observation) -> Decision:
    done = [Action(past.operation, past.node_id, past.value) for past in seen.turn_actions]
    view = PageView(seen.html, "", 0, {})
    action = ORACLES[seen.website](OraclePage(seen.instruction, view, done))
    return Decision((action,) if action else ())


def play_oracles(monkeypatch: pytest.MonkeyPatch, pipeline: OraclePipeline) -> None:
    """Every live run of this test is decided by the pipeline."""
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: pipeline)
