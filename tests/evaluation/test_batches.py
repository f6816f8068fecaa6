"""What is decided in batches is decided faster than one by one, whatever planner decides it, stage by stage."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents.stages import registry
from agents.types import Observation
from evaluation.bench.planners import CASES, PlannerCase, compared, figures, slowest
from tests.agents.prompt_world import recorded, turns

pytestmark = pytest.mark.timed
GAIN = 1.1  # of eight steps, in processor time: a machine may be busy
NO_MODEL = {"first", "grounded"}  # `make bench` times them from stored page to stored result
LIVE = {"program"}  # acts on live pages, an episode at a time


def steps_of(case: PlannerCase, count: int) -> list[Observation]:
    """Steps with keys of their own: pages, or turns of a demonstration."""
    known: Sequence[Observation] = [step.observation for step in recorded()]
    if case.agent().data == "weblinx":
        known = [turn for turn in turns() if turn.demo_turn in (1, 3, 4)]
    return [replace(known[n % len(known)], key=1000 + n) for n in range(count)]


def test_every_planner_that_asks_a_model_has_its_case() -> None:
    asking = {name for name, kind in registry.KINDS["plan.kind"].items() if getattr(kind, "asks", False)}
    assert asking == registry.KINDS["plan.kind"].keys() - NO_MODEL
    assert {case.agent().plan.kind for case in CASES} == asking - LIVE


@pytest.fixture
def one_core() -> Iterator[None]:
    """On a busy machine two cores wait for each other."""
    import torch

    cores = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(cores)


@pytest.mark.slow
@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_by_one_is_slower(case: PlannerCase, tmp_path: Path) -> None:
    short = replace(case, tokens=min(case.tokens, 20))
    pipeline = short.pipeline(tmp_path, small=True)  # the first round loads weights
    batched, alone = compared(pipeline, steps_of(case, 8), clock=time.process_time)
    assert alone.seconds > GAIN * batched.seconds
    stage = slowest(batched, alone)
    small = alone.stages[stage] < alone.seconds / 10  # beside others that compute its figure says nothing
    assert small or batched.rate(stage) > 0.5 * alone.rate(stage), stage
    assert [figure.value for figure in figures(case, batched, alone)] == [batched.rate(), batched.rate(stage)]
