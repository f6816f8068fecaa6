"""Whole demonstrations, checked by parsing what was emitted and not by the code that emitted it: episodes that are made
here, and the human ones where they lie beside the clone."""

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from lxml import etree

from annotations.datasets.miniwob_demos import read
from annotations.datasets.records import BadRecord, ConversationRecord, SkippedRecord, StepRecord
from tests.annotations import miniwob_tasks
from tests.beside import needs_shared

ROOT = Path(__file__).resolve().parents[2]
HUMAN = Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data")) / "miniwob-demos"
SOURCES = [
    "ours",
    pytest.param("human", marks=[] if HUMAN.is_dir() else needs_shared(f"the human demonstrations are not in {HUMAN}")),
]

TYPED_FIELDS = {  # how many fields the task has
    "login-user": 2,
    "enter-password": 2,
    "enter-text": 1,
    "enter-text-dynamic": 1,
    "enter-date": 1,
    "multi-layouts": 3,
    "click-checkboxes": 0,
    "click-dialog": 0,
    "click-pie": 0,
    "tic-tac-toe": 0,
    "choose-date-easy": 0,
}
CHECKED = '//input[@input_checked="true"]/@backend_node_id'
EPISODES = {"login-user": 56, "choose-list": 59, "click-option": 54}  # human ones


@pytest.fixture(scope="module", params=SOURCES)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """task -> its episodes."""
    folder = HUMAN if request.param == "human" else miniwob_tasks.write(tmp_path_factory.mktemp("miniwob"))
    return {path.name.partition(".")[0]: path for path in folder.glob("*.jsonl*")}


@cache
def records(file: Path) -> tuple[ConversationRecord, ...]:
    return tuple(item for item in read(file) if isinstance(item, ConversationRecord))


def steps(file: Path) -> list[StepRecord]:
    return [step for record in records(file) for step in record.turns[0].steps]


def ids(page: etree._Element) -> list[str]:
    return page.xpath("//@backend_node_id")


@pytest.mark.slow
@pytest.mark.parametrize("task", TYPED_FIELDS)
def test_every_page_parses_with_unique_ids_and_one_element_per_candidate(files, task):
    assert len(records(files[task])) >= 15
    for step in steps(files[task]):
        known = Counter(ids(etree.fromstring(step.html)))
        assert set(known.values()) == {1}
        candidates = [item.node_id for item in (*step.positives, *step.negatives)]
        assert len(set(candidates)) == len(candidates)
        assert all(known[node_id] == 1 for node_id in candidates)


@pytest.mark.parametrize("task", TYPED_FIELDS)
def test_text_is_typed_into_inputs_only_and_as_often_as_the_task_has_fields(files, task):
    for record in records(files[task]):
        typed = []
        for step in record.turns[0].steps:
            page = etree.fromstring(step.html)
            (target,) = page.xpath(f'//*[@backend_node_id="{step.positives[0].node_id}"]')
            assert target.tag == step.positives[0].tag
            if step.operation == "TYPE":
                assert target.tag in ("input", "textarea")
                assert target.get("type") not in ("checkbox", "radio", "button", "submit")
                assert step.value != (target.get("input_value") or target.get("text_value") or "")
                typed.append(step.positives[0].node_id)
        assert len(set(typed)) == TYPED_FIELDS[task]


@pytest.mark.parametrize("task", ["login-user", "enter-password", "enter-text"])
def test_what_was_typed_stands_in_the_instruction_and_in_the_final_page(files, task):
    for record in records(files[task]):
        last_typed = {s.positives[0].node_id: s.value for s in record.turns[0].steps if s.operation == "TYPE"}
        final = etree.fromstring(record.turns[0].steps[-1].html_after)
        for node_id, value in last_typed.items():
            assert f'"{value}"' in record.turns[0].instruction
            assert final.xpath(f'//*[@backend_node_id="{node_id}"]/@input_value') == [value]


@pytest.mark.parametrize("task", ["login-user", "click-dialog", "enter-date"])
def test_most_episodes_have_no_step_too_many(files, task):
    lengths = Counter(len(record.turns[0].steps) for record in records(files[task]))
    assert lengths.most_common(1)[0][0] == TYPED_FIELDS[task] + 1


@pytest.mark.parametrize("task", ["click-checkboxes", "click-checkboxes-transfer", "click-option"])
def test_the_steps_lead_to_the_boxes_that_are_checked_in_the_end(files, task):
    """Clicks applied to the first page give the boxes of the last one: nothing was lost or counted twice."""
    for record in records(files[task]):
        first, last = (
            etree.fromstring(html) for html in (record.turns[0].steps[0].html, record.turns[0].steps[-1].html_after)
        )
        on = set(first.xpath(CHECKED))
        for step in record.turns[0].steps:
            clicked = {item.node_id for item in step.positives if '"type": "checkbox"' in item.attributes}
            chosen = {item.node_id for item in step.positives if '"type": "radio"' in item.attributes}
            on = chosen or on ^ clicked
        assert on == set(last.xpath(CHECKED))


def test_a_chosen_option_is_named_by_the_instruction_and_by_the_page(files):
    chosen = [
        (record, step)
        for record in records(files["choose-list"])
        for step in record.turns[0].steps
        if step.operation == "SELECT"
    ]
    assert chosen
    for record, step in chosen:
        assert step.value in record.turns[0].instruction
        assert step.value in etree.fromstring(step.html).xpath("//option/text/text()")


@pytest.mark.parametrize(("task", "count"), EPISODES.items())
def test_every_episode_is_accounted_for_and_none_is_bad(files, task, count):
    read_records = list(read(files[task]))
    assert len(read_records) == (miniwob_tasks.EPISODES if files[task].suffix == ".jsonl" else count)
    assert not [item for item in read_records if isinstance(item, BadRecord)]
    assert all(item.reason for item in read_records if isinstance(item, SkippedRecord))
