"""What is decided in batches is decided faster than one by one, whatever planner decides it, stage by stage."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from agents.generators.local import LocalGenerator
from agents.pipeline import Pipeline
from agents.stages.known import kinds
from agents.stages.plan.kinds import AskingPlanner
from agents.types import Observation
from evaluation.bench.planners import CASES, PlannerCase, compared, figures, slowest
from tests.agents.prompt_world import recorded, turns
from tests.quick import first_is_quick

if TYPE_CHECKING:
    import torch

pytestmark = pytest.mark.timed
NO_SLOWER = 0.95
ROUNDS = 4  # the best of them counts, stage by stage: others that compute meanwhile disturb the processor's caches
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
    asking = {name for name, kind in kinds()["plan.kind"].items() if getattr(kind, "asks", False)}
    assert asking == kinds()["plan.kind"].keys() - NO_MODEL
    assert {case.agent().plan.kind for case in CASES} == asking - LIVE


def passes(pipeline: Pipeline, work: Callable[[], object]) -> Counter[str]:
    """How often the weights of its planner are passed meanwhile, and the tokens that they read, padding included."""
    counted: Counter[str] = Counter()

    def count(module: "torch.nn.Module", given: "tuple[torch.Tensor, ...]") -> None:
        counted.update({"passes": 1, "tokens": given[0].numel()})

    (planner,) = pipeline.stages["plan"]
    assert isinstance(planner, AskingPlanner)
    assert isinstance(planner.generator, LocalGenerator)
    hook = planner.generator.model.get_input_embeddings().register_forward_pre_hook(count)
    try:
        work()
    finally:
        hook.remove()
    return counted


@pytest.mark.slow
@first_is_quick("case", CASES, ids=lambda case: case.name)
def test_the_weights_are_passed_half_as_often_and_read_no_more(case: PlannerCase, tmp_path: Path) -> None:
    """Whatever the machine: a pass takes all weights through the processor's memory, however little it reads. Where
    prompts are long, reading them is what takes time, and no batch reads less than each of them once."""
    pipeline, steps = replace(case, tokens=min(case.tokens, 20)).pipeline(tmp_path, small=True), steps_of(case, 8)
    together = passes(pipeline, lambda: pipeline.decide(steps))
    alone = passes(pipeline, lambda: [pipeline.decide([step]) for step in steps])
    assert together["passes"] * 2 <= alone["passes"]
    assert together["tokens"] <= alone["tokens"]


@pytest.mark.slow
@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_by_one_is_slower(case: PlannerCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.pipeline.time", SimpleNamespace(perf_counter=time.process_time))  # of the stages, too
    short = replace(case, tokens=min(case.tokens, 20))
    pipeline = short.pipeline(tmp_path, small=True)  # the first round loads weights
    batched, alone = compared(pipeline, steps_of(case, 8), ROUNDS, clock=time.process_time)
    assert alone.seconds > GAIN * batched.seconds
    stage = slowest(batched, alone)
    assert alone.stages.keys() >= {"observe", "rank", "recall", "compose", "plan", "act"}
    for name in alone.stages:
        assert batched.rate(name) > NO_SLOWER * alone.rate(name), name
    assert [figure.value for figure in figures(case, batched, alone)] == [batched.rate(), batched.rate(stage)]
