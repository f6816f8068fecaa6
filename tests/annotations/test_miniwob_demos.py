"""Files of human demonstrations become records, skipped records and bad records."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from annotations.datasets import miniwob_demos, miniwob_events
from annotations.datasets.miniwob_demos import read
from annotations.datasets.records import BadRecord, ConversationRecord, SkippedRecord
from tests.annotations.miniwob_episode import Recorder, body, element, words


def login_states() -> list[dict[str, Any]]:
    page = Recorder(
        body(
            element("P", 1, element("LABEL", 2, text="Username"), element("INPUT_text", 3, id="username")),
            element("BUTTON", 4, text="Login"),
        )
    )
    page.click(3)
    page.type(3, "alan")
    page.click(4, effect=lambda root: root["children"].append(element("P", 9, text="Welcome")))
    return page.states


def episode(**changed: Any) -> dict[str, Any]:
    values = {
        "taskName": "login-user",
        "utterance": 'Enter the username "alan" and press login.',
        "reward": 0.5,
        "rawReward": 1,
        "demoId": "login-user_W1_d1",
        "collection": "first",
        "states": login_states(),
    }
    return values | changed


def write_lines(path: Path, *episodes: Any) -> Path:
    text = "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in episodes)
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with opener(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def read_one(tmp_path: Path, item: Any) -> Any:
    (record,) = read(write_lines(tmp_path / "login-user.jsonl", item))
    return record


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in episode().items() if key != name}


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.xz", "jsonl.gz"])
def test_an_episode_is_one_conversation_with_one_turn(tmp_path, suffix):
    (record,) = read(write_lines(tmp_path / f"login-user.{suffix}", episode()))
    assert isinstance(record, ConversationRecord)
    assert (record.source_id, record.website) == ("login-user_W1_d1", "login-user")
    assert (record.domain, record.subdomain) == ("miniwob", "miniwob")
    assert record.extra == {"collection": "first", "rawReward": 1, "reward": 0.5}
    (turn,) = record.turns
    assert turn.instruction == 'Enter the username "alan" and press login.'
    assert [step.action_repr for step in turn.steps] == [
        "[textbox]  Username -> TYPE: alan",
        "[button]  Login -> CLICK",
    ]
    assert [step.source_id for step in turn.steps] == ["login-user_W1_d1_0", "login-user_W1_d1_1"]


def test_a_step_has_the_page_before_it_and_the_last_one_also_the_final_page(tmp_path):
    first, last = read_one(tmp_path, episode()).turns[0].steps
    assert 'input_value="alan"' not in first.html
    assert 'input_value="alan"' in last.html
    assert first.html_after == ""
    assert "Welcome" in last.html_after
    assert "Welcome" not in last.html


def test_the_target_is_the_positive_and_other_candidates_are_negatives(tmp_path):
    step = read_one(tmp_path, episode()).turns[0].steps[0]
    (target,) = step.positives
    assert (target.node_id, target.tag, target.is_original_target) == ("3", "input", True)
    assert json.loads(target.attributes)["bounding_box_rect"] == "2,60,96.5,21"
    assert [(item.node_id, item.tag) for item in step.negatives] == [("2", "label"), ("4", "button")]


def test_a_label_and_its_control_are_both_positives(tmp_path):
    page = Recorder(body(element("LABEL", 1, element("INPUT_checkbox", 2, value=False), words("danger"))))
    page.click(1)
    page.event("click", 2, x=50, y=90)
    step = read_one(tmp_path, episode(states=page.states)).turns[0].steps[0]
    assert [(item.node_id, item.is_original_target) for item in step.positives] == [("1", True), ("2", False)]
    assert step.negatives == ()


def test_what_agents_are_not_offered_is_no_positive(tmp_path):
    icon, wrapped = element("SPAN", 3), element("SPAN", 2, element("SPAN", 4))
    page = Recorder(body(element("BUTTON", 1, icon, wrapped)))
    page.click(3)
    step = read_one(tmp_path, episode(states=page.states)).turns[0].steps[0]
    assert [item.node_id for item in step.positives] == ["3", "1", "4"]


def test_original_files_take_task_and_id_from_folder_and_name(tmp_path):
    folder = tmp_path / "first-turk" / "login-user"
    folder.mkdir(parents=True)
    bare = {key: value for key, value in episode().items() if key not in ("taskName", "demoId", "collection")}
    (folder / "login-user_W2_d1.json.gz").write_bytes(gzip.compress(json.dumps(bare).encode()))
    (folder / "W1_d3.json").write_text(json.dumps(bare))
    records = list(read(tmp_path))
    assert [(record.website, record.source_id) for record in records] == [
        ("login-user", "login-user_W1_d3"),
        ("login-user", "login-user_W2_d1"),
    ]


def test_lines_take_the_task_from_the_file_name(tmp_path):
    record = read_one(tmp_path, without("taskName"))
    assert record.website == "login-user"


def test_two_lines_without_an_id_get_different_ones(tmp_path):
    path = write_lines(tmp_path / "login-user.jsonl", without("demoId"), without("demoId"))
    assert [record.source_id for record in read(path)] == ["login-user_1", "login-user_2"]


def test_files_are_read_by_name_and_the_counts_beside_them_are_no_episodes(tmp_path):
    write_lines(tmp_path / "b.jsonl", episode(demoId="b_1"), episode(demoId="b_2"))
    write_lines(tmp_path / "a.jsonl.xz", episode(demoId="a_1"))
    (tmp_path / "index.json").write_text('{"a": {"demos": 1}}')
    assert [record.source_id for record in read(tmp_path)] == ["a_1", "b_1", "b_2"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"rawReward": -1}, miniwob_demos.NOT_SOLVED),
        ({"rawReward": 0.5}, miniwob_demos.NOT_SOLVED),
        ({"utterance": "Click on the  colored box."}, miniwob_demos.LOST_WORD),
        ({"states": []}, miniwob_demos.NO_STATES),
        ({"states": login_states()[:1]}, miniwob_events.NO_STEPS),
    ],
)
def test_an_episode_that_is_no_gold_is_skipped_with_its_reason(tmp_path, changed, reason):
    assert read_one(tmp_path, episode(**changed)) == SkippedRecord("login-user.jsonl", "line 1", reason)


def broken_states(place: tuple[Any, ...], value: Any) -> list[dict[str, Any]]:
    states = login_states()
    inner: Any = states
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return states


BUTTON_IN_STATE_1 = (1, "dom", "children", 0, "children", 0, "children", 1)
PAGE = "states[1].dom.children[0].children[0].children[1]"


@pytest.mark.parametrize(
    ("item", "field", "message"),
    [
        ('"x"', "", "expected an object, found text"),
        (without("utterance"), "utterance", "expected text, found nothing"),
        (episode(utterance=" "), "utterance", "expected text, found none"),
        (episode(utterance="a\x00b"), "utterance", "holds a NUL character"),
        (episode(fields={"by": "\ud800"}), "fields", "holds a NUL character or half of a surrogate pair"),
        (json.dumps(episode(fields={"n": 5})).replace("5}", "1e999}"), "fields", "holds a number that is too large"),
        (
            json.dumps(episode(states=login_states()[:1])).replace('"time": 0', '"time": 1e999'),
            "states[0].time",
            "too large",
        ),
        (episode(fields="Infinity", demoId=7), "demoId", "expected text, found a number"),
        (episode(demoId=7), "demoId", "expected text, found a number"),
        (episode(rawReward="1"), "rawReward", "expected a number, found text"),
        (episode(rawReward=True), "rawReward", "expected a number, found true or false"),
        (episode(states={}), "states", "expected a list, found an object"),
        (episode(states=[3]), "states[0]", "expected an object, found a number"),
        (episode(states=broken_states((1, "action"), "x")), "states[1].action", "expected an object, found text"),
        (episode(states=broken_states((1, "action", "timing"), "1")), "states[1].action.timing", "found text"),
        (episode(states=broken_states((1, "action", "x"), None)), "states[1].action.x", "found nothing"),
        (episode(states=broken_states((1, "dom"), None)), "states[1].dom", "expected an object, found nothing"),
        (episode(states=broken_states((*BUTTON_IN_STATE_1, "tag"), 5)), f"{PAGE}.tag", "expected text"),
        (episode(states=broken_states((*BUTTON_IN_STATE_1, "ref"), "4")), f"{PAGE}.ref", "expected a whole number"),
        (episode(states=broken_states((*BUTTON_IN_STATE_1, "left"), "4")), f"{PAGE}.left", "expected a number"),
        (episode(states=broken_states((*BUTTON_IN_STATE_1, "text"), 4)), f"{PAGE}.text", "expected text"),
        (episode(states=broken_states((*BUTTON_IN_STATE_1, "children"), {})), f"{PAGE}.children", "expected a list"),
    ],
)
def test_a_wrong_field_is_named_and_the_other_lines_land(tmp_path, item, field, message):
    good = episode(demoId="good")
    bad, other = read(write_lines(tmp_path / "login-user.jsonl", item, good))
    assert isinstance(bad, BadRecord)
    assert (bad.file, bad.record, bad.field) == ("login-user.jsonl", "line 1", field)
    assert message in bad.message
    assert other.source_id == "good"


def test_a_field_without_its_value_ends_its_own_record_only(tmp_path):
    pages = login_states()
    field = next(node for node in _nodes(pages[1]["dom"]) if node["tag"] == "INPUT_text")
    del field["value"]
    bad, other = read(write_lines(tmp_path / "login-user.jsonl", episode(states=pages), episode(demoId="good")))
    assert bad.field.endswith(".value")
    assert "missing" in bad.message
    assert other.source_id == "good"


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(inner for child in node["children"] for inner in _nodes(child))]


def test_a_line_that_is_no_json_is_reported_and_the_others_land(tmp_path):
    records = list(read(write_lines(tmp_path / "x.jsonl", episode(), '{"utterance": ', episode(demoId="other"))))
    assert [type(record).__name__ for record in records] == ["ConversationRecord", "BadRecord", "ConversationRecord"]
    assert records[1].record == "line 2"


def test_a_deep_page_lands_and_a_bottomless_one_is_reported(tmp_path):
    states = login_states()
    for ref in range(1000, 1300):
        states[1]["dom"] = element("DIV", ref, states[1]["dom"])
    bottomless = '{"utterance": "x", "rawReward": 1, "states": ' + "[" * 3000 + "]" * 3000 + "}"
    deep, bad = read(write_lines(tmp_path / "x.jsonl", episode(states=states), bottomless))
    assert isinstance(deep, ConversationRecord)
    assert deep.turns[0].steps[0].html.count("<div") > 300
    assert isinstance(bad, BadRecord)


def test_an_empty_folder_is_reported(tmp_path):
    (record,) = read(tmp_path)
    assert isinstance(record, BadRecord)


def test_a_damaged_file_is_reported_and_the_next_one_lands(tmp_path):
    damaged = write_lines(tmp_path / "a.jsonl.xz", episode())
    damaged.write_bytes(damaged.read_bytes()[:-40])
    write_lines(tmp_path / "b.jsonl", episode())
    records = list(read(tmp_path))
    assert isinstance(records[0], BadRecord)
    assert records[0].file == "a.jsonl.xz"
    assert isinstance(records[-1], ConversationRecord)


def test_the_file_keeps_its_place_in_lines_without_states(tmp_path):
    path = write_lines(tmp_path / "x.jsonl", episode(states=[]), "", episode(rawReward=0))
    assert [record.record for record in read(path)] == ["line 1", "line 3"]


@pytest.mark.parametrize(
    ("task", "demo_id", "split"),
    [
        ("click-option", "any", "test_website"),  # sha256 mod 5 of the task is 0
        ("login-user", "demo-8", "test_task"),  # of the others: sha256 mod 10 of the id is 0
        ("login-user", "demo-1", "dev"),
        ("login-user", "demo-0", "train"),
    ],
)
def test_the_split_follows_from_the_hashes_of_task_and_id(task, demo_id, split):
    assert miniwob_demos.split_of(task, demo_id) == split
