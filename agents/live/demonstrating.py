"""Demonstrations by oracles: what a scripted solver does in an environment, as recorded conversations."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.environments.oracles import ORACLES
from agents.environments.oracles.solving import OraclePage
from agents.environments.protocol import Environment, EpisodeStart, PageView
from agents.live.goals import STORED_AT_ONCE, source_id
from agents.types import Action
from annotations.corpus.store import ConversationStore
from annotations.datasets.miniwob_demos import DOMAIN, split_of
from annotations.datasets.records import CandidateRecord, ConversationRecord, StepRecord, TurnRecord
from annotations.dom.tree import NODE_ID, Element, parse, tag_of
from annotations.models import Dataset, Project

FORMAT = "miniwob-demos"
MOST_STEPS = 60  # of a demonstration; those of people have at most 40


def demonstrations(
    environment: Environment, tasks: Sequence[str], seeds: Sequence[int]
) -> Iterator[tuple[str, int, ConversationRecord | None]]:
    """(task, seed, what its oracle did); None where it did not reach the goal, so that no failure is taken for a
    demonstration. Raises EnvironmentLost. Tasks without an oracle are a KeyError."""
    for task in tasks:
        for seed in seeds:
            yield task, seed, _demonstration(environment, task, seed)


def dataset_of_demonstrations(name: str, project: str) -> Dataset:
    """The dataset of that name, or a new one in the project of that slug. ValueError where it holds something else, or
    where there is no such project."""
    found = Dataset.objects.filter(name=name).first()
    if found is not None and (found.is_live or found.source_format != FORMAT):
        raise ValueError(f"there is a dataset {name} already, and it holds no demonstrations")
    return found or Dataset.objects.create(project=Project.objects.named(project), name=name, source_format=FORMAT)


def record_demonstrations(
    environment: Environment, tasks: Sequence[str], seeds: Sequence[int], dataset: Dataset, split: str = ""
) -> Counter[str]:
    """Store what the oracles do in a dataset; task -> how many were solved. `split`: instead of that of recorded
    episodes. Raises EnvironmentLost: what was recorded before is stored."""
    store, solved, waiting = ConversationStore(dataset, split), Counter[str](), list[ConversationRecord]()
    try:
        for task, _, record in demonstrations(environment, tasks, seeds):
            solved[task] += record is not None
            waiting += [record] if record else []
            if len(waiting) == STORED_AT_ONCE:
                _keep(waiting, store)
    finally:
        _keep(waiting, store)
    return solved


def _keep(records: list[ConversationRecord], store: ConversationStore) -> None:
    store.store([(record, store.sha256(record)) for record in records])
    records.clear()


def _demonstration(environment: Environment, task: str, seed: int) -> ConversationRecord | None:
    start = environment.reset(task, seed)
    view, done = start.view, list[Action]()
    steps: list[StepRecord] = []
    while len(done) < MOST_STEPS:
        action = ORACLES[task](OraclePage(start.instruction, view, done))
        if action is None:
            return None
        effect = environment.step(action)
        steps.append(step_record(view, action, f"{source_id(task, seed)}_{len(steps)}"))
        done.append(action)
        view = effect.view
        if effect.done:
            return _record(task, seed, start, steps, view) if effect.reward >= 1 else None
    return None


def _record(
    task: str, seed: int, start: EpisodeStart, steps: Sequence[StepRecord], after: PageView
) -> ConversationRecord:
    name = source_id(task, seed)
    ended = (*steps[:-1], replace(steps[-1], html_after=after.html))
    turn = TurnRecord(source_id=name, instruction=start.instruction, steps=ended)
    extra = {"seed": seed, "by": "oracle"}
    return ConversationRecord(name, task, DOMAIN, DOMAIN, (turn,), split=split_of(task, name), extra=extra)


def step_record(view: PageView, action: Action, name: str) -> StepRecord:
    """An action as a recorded step: its page, the element that it was done to, and the others that could have been
    chosen."""
    elements = {element.get(NODE_ID): element for element in parse(view.html).iter("*") if element.get(NODE_ID)}
    target = action.node_id or ""
    positives = (_candidate(elements[target], True),) if target in elements else ()
    others = (element for node, element in elements.items() if node in view.names and node != target)
    said = view.names.get(target, f"[{tag_of(elements[target])}]  " if target in elements else "[page]  ")
    value = action.value
    return StepRecord(
        source_id=name,
        operation=action.operation,
        value=value,
        action_repr=f"{said} -> {action.operation}{value and f': {value}'}",
        html=view.html,
        positives=positives,
        negatives=tuple(_candidate(element) for element in others),
    )


def _candidate(element: Element, is_target: bool | None = None) -> CandidateRecord:
    attributes = json.dumps(dict(element.attrib), ensure_ascii=False)
    return CandidateRecord(element.get(NODE_ID) or "", tag_of(element), attributes, is_target, is_target)
