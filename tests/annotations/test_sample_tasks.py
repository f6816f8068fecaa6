"""The sample's single tasks: what organising, cutting and rewriting them has to work with."""

import json
from collections import Counter
from pathlib import Path

import pytest

from annotations.datasets.mind2web import read
from annotations.datasets.records import ConversationRecord
from annotations.sample.build import SITES
from annotations.sample.mind2web import SCRIPTS, build, task
from annotations.sample.script import ScriptError, read_script
from annotations.work.organise.grouping import TaskFacts, suggest

QUICK = ("harbourcity-task-bin-calendar", "willowclinic-task-bill")


@pytest.fixture(scope="module")
def scripts() -> dict[str, tuple[str, list]]:
    """Name of a task -> its website and what it does."""
    return {script.name: (website, script) for website in SITES for script in read_script(SCRIPTS / f"{website}.txt")}


def facts(scripts: dict) -> list[TaskFacts]:
    """What the proposer of conversations is told about the tasks."""
    found = []
    for place, (website, script) in enumerate(scripts.values()):
        values = tuple(dict.fromkeys(action.value for action in script.turns[0].actions if action.value))
        found.append(TaskFacts(place, place, script.split, website, script.turns[0].instruction, values))
    return found


def test_there_are_sixty_tasks_of_two_to_twelve_steps(scripts: dict) -> None:
    steps = [len(script.turns[0].actions) for _, script in scripts.values()]
    assert len(scripts) >= 60
    assert (min(steps), max(steps)) == (2, 12)
    assert set(Counter(website for website, _ in scripts.values())) == set(SITES)
    instructions = [script.turns[0].instruction for _, script in scripts.values()]
    assert len(instructions) == len(set(instructions)), "a task that stands twice would always belong to itself"


def test_what_a_task_types_stands_in_its_instruction(scripts: dict) -> None:
    for _, script in scripts.values():
        (turn,) = script.turns
        typed = [action.value for action in turn.actions if action.operation == "TYPE"]
        assert all(value in turn.instruction or value == "tents" for value in typed), script.name


def test_tasks_of_one_errand_are_proposed_together_and_a_stranger_on_the_same_page_is_not(scripts: dict) -> None:
    names = list(scripts)
    together = [{names[key] for key in group.tasks} for group in suggest(facts(scripts))]

    def has(*tasks: str) -> bool:
        return any(set(tasks) <= group for group in together)

    assert len(together) >= 10
    assert has("nordline-task-find-trip", "nordline-task-move-trip")
    assert has("brightrail-task-refund", "brightrail-task-refund-account")
    assert has("harbourcity-task-brown-bin", "harbourcity-task-bin-reminder")
    assert not has("casaverde-task-alone-by-the-river", "casaverde-task-family-room")
    assert not has("willowclinic-task-hay-fever", "willowclinic-task-lucias-visit")


@pytest.mark.slow
def test_the_reader_of_mind2web_takes_tasks_as_they_are_written(scripts: dict, tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    made = [task(*scripts[name]) for name in QUICK]
    (tmp_path / "train" / "train_0.json").write_text(json.dumps(made))
    found = list(read(tmp_path))
    assert all(isinstance(record, ConversationRecord) and record.split == "train" for record in found)
    assert [record.source_id for record in found] == list(QUICK)
    steps = [step for record in found for step in record.turns[0].steps]
    assert [len(record.turns[0].steps) for record in found] == [5, 6]
    assert all(step.positives for step in steps)


def test_a_script_of_several_instructions_is_no_task(scripts: dict) -> None:
    website, script = scripts[QUICK[0]]
    script.turns.append(script.turns[0])
    try:
        with pytest.raises(ScriptError, match="has one instruction, found 2"):
            task(website, script)
    finally:
        script.turns.pop()


@pytest.mark.slow
def test_the_same_sources_give_the_same_tasks(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    assert build(first) == build(again)
    files = sorted(path.relative_to(first) for path in first.rglob("*.json"))
    assert [str(file) for file in files] == [
        "test_subdomain/test_subdomain_0.json",
        "test_task/test_task_0.json",
        "test_website/test_website_0.json",
        "train/train_0.json",
    ]
    assert all((first / file).read_bytes() == (again / file).read_bytes() for file in files)
