"""Mind2Web, MT-Mind2Web and the product's own JSON lines: read, refuse precisely, and write back."""

import copy
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.datasets import READERS, WRITERS, files_of, folder_writer, jsonl, mind2web, mt_mind2web, reader, writer
from annotations.datasets.fields import DEEPEST
from annotations.datasets.mind2web import OPERATIONS
from annotations.datasets.records import (
    BadRecord,
    CandidateRecord,
    ConversationRecord,
    ImageRecord,
    Readable,
    StepRecord,
    TurnRecord,
)
from annotations.models import Operation

PAGE = '<html backend_node_id="1"><a backend_node_id="2"><text backend_node_id="3">Go &amp; see</text></a></html>'
ATTRIBUTES = '{"backend_node_id": "2",  "bounding_box_rect": "1.5,2,3,4"}'  # two spaces: kept as they are


def action(uid: str = "u1", **fields: Any) -> dict[str, Any]:
    target = {"tag": "a", "backend_node_id": "2", "attributes": ATTRIBUTES}
    return {
        "action_uid": uid,
        "raw_html": "<html>raw</html>",
        "cleaned_html": PAGE,
        "operation": {"original_op": "HOVER", "op": "CLICK", "value": ""},
        "pos_candidates": [target | {"is_original_target": True, "is_top_level_target": False}],
        "neg_candidates": [{"tag": "html", "backend_node_id": "1", "attributes": "{}"}],
    } | fields


def turn(name: str = "t1", actions: int = 2, **fields: Any) -> dict[str, Any]:
    return {
        "annotation_id": name,
        "confirmed_task": "Go there",
        "action_reprs": ["[a]  Go & see -> CLICK"] * actions,
        "actions": [action(f"{name}-u{number}") for number in range(actions)],
    } | fields


def conversation(name: str = "c1", turns: int = 2, **fields: Any) -> dict[str, Any]:
    site = {"website": "united", "domain": "Travel", "subdomain": "Airlines"}
    return {"task_id": name, **site, "turns": [turn(f"{name}-t{number}") for number in range(turns)]} | fields


def task(name: str = "a1", **fields: Any) -> dict[str, Any]:
    return {"website": "united", "domain": "Travel", "subdomain": "Airlines"} | turn(name) | fields


def save(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def read(format_name: str, path: Path) -> tuple[list[ConversationRecord], list[BadRecord]]:
    found: list[Readable] = list(reader(format_name)(path))
    good = [item for item in found if isinstance(item, ConversationRecord)]
    return good, [item for item in found if isinstance(item, BadRecord)]


def written(format_name: str, records: list[ConversationRecord]) -> bytes:
    out = io.BytesIO()
    assert writer(format_name)(iter(records), out) == len(records)
    return out.getvalue()


# Formats


def test_every_format_can_be_loaded():
    assert {name: reader(name) for name in READERS}.keys() == {
        "mind2web",
        "mt-mind2web",
        "weblinx",
        "miniwob-demos",
        "jsonl",
    }
    folders = {name for name in WRITERS if folder_writer(name) is not None}
    assert folders == {"weblinx"}
    assert {name: writer(name) for name in WRITERS if name not in folders}.keys() == {
        "mind2web",
        "mt-mind2web",
        "jsonl",
    }
    with pytest.raises(ValueError, match="weblinx has a folder per conversation"):
        writer("weblinx")


def test_an_unknown_format_lists_the_choices():
    with pytest.raises(ValueError, match="cannot read the format 'csv'; choose one of jsonl, mind2web, miniwob-demos"):
        reader("csv")
    with pytest.raises(ValueError, match="cannot write the format 'csv'; choose one of jsonl, mind2web, mt-mind2web"):
        writer("csv")


def test_operations_are_those_of_the_product():
    assert set(Operation.values) == OPERATIONS


# Reading


def test_an_mt_mind2web_conversation_is_read_whole(tmp_path):
    good, bad = read("mt-mind2web", save(tmp_path / "x.json", [conversation()]))
    assert bad == []
    (record,) = good
    assert (record.source_id, record.website, record.domain, record.subdomain) == ("c1", "united", "Travel", "Airlines")
    assert [turn.source_id for turn in record.turns] == ["c1-t0", "c1-t1"]
    assert record.turns[0].instruction == "Go there"
    assert record.turns[1].steps[0] == StepRecord(
        source_id="c1-t1-u0",
        operation="CLICK",
        value="",
        original_operation="HOVER",
        action_repr="[a]  Go & see -> CLICK",
        html=PAGE,
        raw_html="<html>raw</html>",
        positives=(CandidateRecord("2", "a", ATTRIBUTES, True, False),),
        negatives=(CandidateRecord("1", "html", "{}"),),
    )


def test_a_mind2web_task_is_a_conversation_of_one_turn(tmp_path):
    good, bad = read("mind2web", save(tmp_path / "x.json", [task()]))
    assert bad == []
    (record,) = good
    assert (record.source_id, record.turns[0].source_id, record.turns[0].instruction) == ("a1", "a1", "Go there")
    assert [step.source_id for step in record.turns[0].steps] == ["a1-u0", "a1-u1"]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("data/train/any.json", "train"),
        ("test_task/train/deep/x.json", "train"),
        ("test_subdomain/x.json", "test_subdomain"),
        ("test_domain_3.json", "test_domain"),
        ("other/x.json", ""),
        ("training/train.json", ""),
    ],
)
def test_the_split_is_that_of_the_nearest_folder(tmp_path, name, split):
    save(tmp_path / "root" / name, [conversation()])
    assert read("mt-mind2web", tmp_path / "root")[0][0].split == split
    if "deep" not in name:
        assert read("mt-mind2web", tmp_path / "root" / name)[0][0].split == split


def test_files_are_read_in_the_order_of_their_loaders(tmp_path):
    for number in (2, 10, 1):
        save(tmp_path / "m" / f"train_{number}.json", [task(f"a{number}")])
        save(tmp_path / "mt" / f"train_{number}.json", [conversation(f"c{number}")])
    assert [record.source_id for record in read("mind2web", tmp_path / "m")[0]] == ["a1", "a2", "a10"]
    assert [record.source_id for record in read("mt-mind2web", tmp_path / "mt")[0]] == ["c1", "c10", "c2"]
    assert [file.name for file in files_of("mind2web", tmp_path / "m")][-1] == "train_10.json"


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files_and_json_lines_are_read(tmp_path, suffix, compress):
    lines = "\n".join(json.dumps(conversation(name)) for name in ("c1", "c2"))
    (tmp_path / f"x.jsonl{suffix}").write_bytes(compress(lines.encode()))
    assert [record.source_id for record in read("mt-mind2web", tmp_path)[0]] == ["c1", "c2"]


def test_unknown_fields_are_kept_and_written_back(tmp_path):
    data = conversation(turns=1, note={"b": 1, "a": [2]})
    data["turns"][0]["mood"] = "calm"
    data["turns"][0]["actions"][0] |= {"scroll": 3}
    data["turns"][0]["actions"][0]["operation"]["key"] = "Enter"
    data["turns"][0]["actions"][0]["neg_candidates"][0] |= {"rank": 4, "score": 0.25}
    good, bad = read("mt-mind2web", save(tmp_path / "x.json", [data]))
    assert bad == []
    assert good[0].extra == {"note": {"a": [2], "b": 1}}
    assert json.loads(written("mt-mind2web", good)) == [data]


def test_published_conformance_records_without_tags_take_them_from_the_page(tmp_path):
    data = conversation(turns=1)
    for item in data["turns"][0]["actions"]:
        del item["raw_html"]
        item["pos_candidates"] = [{"backend_node_id": "2"}, {"backend_node_id": "99"}]
    good, bad = read("mt-mind2web", save(tmp_path / "x.json", [data]))
    assert bad == []
    assert good[0].turns[0].steps[0].positives == (CandidateRecord("2", "a"), CandidateRecord("99", ""))


# Refusing


def change(data: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the field at `turns.0.actions` and the like set, or deleted where the value is `...`."""
    data = copy.deepcopy(data)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    here: Any = data
    for part in parents:
        here = here[part]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return data


MISSING = "but the field is missing"
ACTION = "turns.0.actions.1"
BAD = [
    ("task_id", ..., "[1]", "task_id", f"expected a string, {MISSING}"),
    ("task_id", 12, "[1]", "task_id", "expected a string, found a number (12)"),
    ("task_id", " ", "[1]", "task_id", "expected a string that is not empty"),
    ("website", None, "[1]", "website", "expected a string, found null"),
    ("turns", {}, "[1]", "turns", "expected a list, found an object"),
    ("turns", [], "[1]", "turns", "expected at least one turn, found an empty list"),
    ("turns.1", "text", "[1]", "turns[1]", "expected an object, found a string"),
    ("turns.0.confirmed_task", ["a"], "[1].turns[0]", "confirmed_task", "expected a string, found a list"),
    ("turns.0.action_reprs", ["a"], "[1].turns[0]", "action_reprs", "expected one per action (2), found 1"),
    ("turns.0.action_reprs.1", 5, "[1].turns[0]", "action_reprs[1]", "expected a string, found a number (5)"),
    ("turns.0.actions", ..., "[1].turns[0]", "actions", f"expected a list, {MISSING}"),
    (f"{ACTION}.action_uid", True, "[1].turns[0].actions[1]", "action_uid", "expected a string, found true"),
    (f"{ACTION}.cleaned_html", "", "[1].turns[0].actions[1]", "cleaned_html", "expected a string that is not empty"),
    (f"{ACTION}.operation", "CLICK", "[1].turns[0].actions[1]", "operation", "expected an object, found a string"),
    (
        *(f"{ACTION}.operation.op", "FLY", "[1].turns[0].actions[1]", "operation.op"),
        "expected one of CLICK, TYPE, SELECT, found 'FLY'",
    ),
    (
        *(f"{ACTION}.pos_candidates.0.backend_node_id", 2, "[1].turns[0].actions[1].pos_candidates[0]"),
        *("backend_node_id", "expected a string, found a number (2)"),
    ),
    (
        *(f"{ACTION}.pos_candidates.0.is_original_target", "yes", "[1].turns[0].actions[1].pos_candidates[0]"),
        *("is_original_target", "expected true or false, found a string"),
    ),
    (
        *(f"{ACTION}.neg_candidates.0.attributes", {"a": 1}, "[1].turns[0].actions[1].neg_candidates[0]"),
        *("attributes", "expected a string, found an object"),
    ),
    (
        *(f"{ACTION}.neg_candidates.0.attributes", "{'a': 1}", "[1].turns[0].actions[1].neg_candidates[0]"),
        *("attributes", "expected the JSON text of an object, found \"{'a': 1}\""),
    ),
    (f"{ACTION}.neg_candidates", ..., "[1].turns[0].actions[1]", "neg_candidates", f"expected a list, {MISSING}"),
    ("turns.0.confirmed_task", "a\0b", "[1].turns[0]", "confirmed_task", "expected text, found a NUL character in it"),
    (
        *("turns.0.confirmed_task", "a\ud800b", "[1].turns[0]", "confirmed_task"),
        "expected text, found half of a surrogate pair in it",
    ),
    (
        *("turns.1.annotation_id", "c2-t0", "[1].turns[1]", "annotation_id"),
        "expected an id used once, but 'c2-t0' is also that of [1].turns[0]",
    ),
    (
        *("turns.1.actions.0.action_uid", "c2-t0-u1", "[1].turns[1].actions[0]", "action_uid"),
        "expected an id used once, but 'c2-t0-u1' is also that of [1].turns[0].actions[1]",
    ),
]


@pytest.mark.parametrize(("path", "value", "record", "field", "message"), BAD)
def test_a_bad_field_is_named_and_the_other_conversations_land(tmp_path, path, value, record, field, message):
    bad_one = change(conversation("c2"), path, value)
    good, bad = read("mt-mind2web", save(tmp_path / "x.json", [conversation("c1"), bad_one, conversation("c3")]))
    assert [item.source_id for item in good] == ["c1", "c3"]
    assert bad == [BadRecord("x.json", record, field, message)]


def test_a_page_that_is_not_well_formed_is_named_with_its_line(tmp_path):
    data = change(task(), "actions.0.cleaned_html", "<html>\n<b></html>")
    _, bad = read("mind2web", save(tmp_path / "train" / "x.json", [data]))
    assert [(item.record, item.field) for item in bad] == [("[0].actions[0]", "cleaned_html")]
    assert bad[0].message.startswith("expected well-formed XML: ")
    assert "line 2" in bad[0].message


def test_a_page_with_entities_is_refused(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><html>&b;</html>'
    good, bad = read("mind2web", save(tmp_path / "x.json", [change(task(), "actions.0.cleaned_html", bomb)]))
    assert good == []
    assert "declares XML entities" in bad[0].message


def test_all_defects_of_a_conversation_are_reported_at_once(tmp_path):
    data = change(change(conversation(), "website", 1), f"{ACTION}.operation.op", "click")
    data = change(data, "turns.1.annotation_id", ...)
    _, bad = read("mt-mind2web", save(tmp_path / "x.json", [data]))
    assert [(item.record, item.field) for item in bad] == [
        ("[0]", "website"),
        ("[0].turns[0].actions[1]", "operation.op"),
        ("[0].turns[1]", "annotation_id"),
    ]


def test_defects_of_one_conversation_are_counted_after_the_first_twenty(tmp_path):
    data = change(conversation(turns=1), "turns.0.actions.0.neg_candidates", [{"backend_node_id": 1, "tag": "a"}] * 300)
    _, bad = read("mt-mind2web", save(tmp_path / "x.json", [data]))
    assert len(bad) == 21
    assert bad[-1] == BadRecord("x.json", "[0]", "", "has 280 more defects")


def test_an_id_used_twice_is_refused_the_second_time_across_files(tmp_path):
    save(tmp_path / "train" / "a.json", [conversation("c1")])
    save(tmp_path / "train" / "b.json", [conversation("c1"), conversation("c2")])
    good, bad = read("mt-mind2web", tmp_path)
    assert [item.source_id for item in good] == ["c1", "c2"]
    assert bad == [BadRecord("train/b.json", "[0]", "task_id", "'c1' is also the task_id of train/a.json [0]")]


def test_elements_that_are_no_objects_and_broken_json_are_named(tmp_path):
    good, bad = read("mind2web", save(tmp_path / "x.json", f'[3, {json.dumps(task())}, {{"annotation_id": }}]'))
    assert [item.source_id for item in good] == ["a1"]
    assert bad[0] == BadRecord("x.json", "[0]", "", "expected an object, found a number (3)")
    assert bad[1].record == "[2]"
    assert bad[1].message.startswith("is not valid JSON: Expecting value (at byte ")


def test_unknown_fields_that_cannot_be_kept_are_named(tmp_path):
    deep: Any = []
    for _ in range(DEEPEST + 1):  # Python 3.12 itself would take more
        deep = [deep]
    data = [conversation("c1", note={"a": ["x\0", 2.5]}), conversation("c2", note=deep), conversation("c3")]
    good, bad = read("mt-mind2web", save(tmp_path / "x.json", json.dumps(data).replace("2.5", "1e999")))
    assert [item.source_id for item in good] == ["c3"]
    assert bad == [
        BadRecord("x.json", "[0]", "note", "expected text, found a NUL character in it"),
        BadRecord("x.json", "[0]", "note", "expected a number that is not infinite"),
        BadRecord("x.json", "[1]", "", "is nested too deeply"),
    ]


def test_lines_are_named_by_their_number(tmp_path):
    text = json.dumps(task("a1")) + "\n" + json.dumps(change(task("a2"), "domain", 7))
    good, bad = read("mind2web", save(tmp_path / "x.jsonl", text))
    assert [item.source_id for item in good] == ["a1"]
    assert bad == [BadRecord("x.jsonl", "line 2", "domain", "expected a string, found a number (7)")]


def test_a_cut_archive_gives_its_whole_conversations(tmp_path):
    packed = gzip.compress(json.dumps([conversation(f"c{number}") for number in range(200)]).encode(), 1)
    (tmp_path / "x.json.gz").write_bytes(packed[: len(packed) // 2])
    good, bad = read("mt-mind2web", tmp_path)
    assert [item.source_id for item in good] == [f"c{number}" for number in range(len(good))]
    assert 50 < len(good) < 150
    assert bad[-1] == BadRecord(
        "x.json.gz", "", "", f"x.json.gz is cut off after {len(packed) // 2:,} compressed bytes"
    )


def test_a_folder_without_data_files_says_what_was_expected(tmp_path):
    save(tmp_path / "notes.txt", "hello")
    _, bad = read("mind2web", tmp_path)
    assert "expected files ending in .json" in bad[0].message


def test_nothing_at_the_path_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(mt_mind2web.read(tmp_path / "absent"))


# Writing


def test_the_published_key_order_and_one_conversation_per_line():
    record = ConversationRecord(
        "c1", "w", "d", "s", (TurnRecord("t1", "Grüß Gott", (StepRecord("u1", "CLICK", html=PAGE),)),)
    )
    text = written("mt-mind2web", [record, record]).decode()
    assert text.startswith(
        '[\n{"task_id": "c1", "website": "w", "domain": "d", "subdomain": "s", "turns": [{"annotation_id"'
    )
    assert "Grüß Gott" in text
    assert text.count("\n") == 4
    assert list(json.loads(text)[0]["turns"][0]["actions"][0]) == [
        *("action_uid", "raw_html", "cleaned_html", "operation", "pos_candidates", "neg_candidates")
    ]


@pytest.mark.parametrize("format_name", sorted(name for name in WRITERS if folder_writer(name) is None))
def test_no_conversations_give_an_empty_file_that_can_be_read(tmp_path, format_name):
    text = written(format_name, []).decode()
    if format_name != "jsonl":
        assert json.loads(text) == []
        assert read(format_name, save(tmp_path / "x.json", text)) == ([], [])


def test_mind2web_refuses_a_conversation_of_several_turns():
    record = ConversationRecord("c1", "w", "d", "s", (TurnRecord("t1", "a"), TurnRecord("t2", "b")))
    with pytest.raises(ValueError, match=r"'c1' has 2 turns .* export it as mt-mind2web or jsonl"):
        mind2web.write([record], io.BytesIO())


def test_writing_takes_one_record_at_a_time():
    out = io.BytesIO()
    sizes = []

    def records():
        for number in range(3):
            sizes.append(out.tell())
            yield ConversationRecord(f"c{number}", "w", "d", "s", (TurnRecord("t", "x"),))

    mt_mind2web.write(records(), out)
    assert sizes == sorted(set(sizes))


def test_a_file_that_names_no_split_in_its_path_keeps_it_in_the_records(tmp_path):
    record = ConversationRecord("c1", "w", "d", "s", (TurnRecord("t1", "a"),), split="test_task")
    save(tmp_path / "out.json", written("mt-mind2web", [record]).decode())
    assert read("mt-mind2web", tmp_path / "out.json") == ([record], [])


def test_jsonl_refuses_fields_that_it_does_not_know(tmp_path):
    row = json.loads(written("jsonl", [ConversationRecord("c1", "w", "d", "s")])) | {"colour": "red", "version": 2}
    _, bad = read("jsonl", save(tmp_path / "x.jsonl", row))
    assert [(item.field, item.message) for item in bad] == [
        ("version", "expected 1, the version that this program reads"),
        ("colour", "expected only the fields of this format, found one that it does not know"),
    ]


def test_jsonl_refuses_a_screenshot_that_is_no_base64(tmp_path):
    step = StepRecord("u", "CLICK", screenshot=ImageRecord("image/png", b"PNG"))
    record = ConversationRecord("c1", "w", "d", "s", (TurnRecord("t1", "a", (step,)),))
    text = written("jsonl", [record]).decode().replace('"UE5H"', '"UE5"').replace("image/png", "image/svg+xml")
    _, bad = read("jsonl", save(tmp_path / "x.jsonl", text))
    assert [(item.record, item.field) for item in bad] == [
        ("line 1.turns[0].steps[0]", "screenshot.media_type"),
        ("line 1.turns[0].steps[0]", "screenshot.data"),
    ]


# read(write(x)) == x

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
pages = texts.map(
    lambda text: f'<html backend_node_id="1"><text>{"".join(c for c in text if c.isalnum())}</text></html>'
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=3,
)
extras = st.dictionaries(names.map("x_{}".format), json_values, max_size=2)
flags = st.none() | st.booleans()
candidates = st.lists(
    st.builds(
        CandidateRecord,
        node_id=names,
        tag=names,
        attributes=st.dictionaries(names, texts, max_size=2).map(json.dumps),
        is_original_target=flags,
        is_top_level_target=flags,
    ),
    max_size=2,
).map(tuple)
indexes = st.none() | st.integers(0, 500)
splits = st.sampled_from(["", "train", "test_domain"])


def steps(screenshots: st.SearchStrategy) -> st.SearchStrategy[StepRecord]:
    return st.builds(
        StepRecord,
        source_id=st.uuids().map(str),
        operation=st.sampled_from(sorted(OPERATIONS)),
        value=texts,
        original_operation=texts,
        action_repr=texts,
        html=pages,
        raw_html=texts,
        html_after=texts,
        positives=candidates,
        negatives=candidates,
        screenshot=screenshots,
        source_index=indexes,
        extra=extras,
    )


def conversations(screenshots: st.SearchStrategy) -> st.SearchStrategy[list[ConversationRecord]]:
    turns = st.builds(
        TurnRecord,
        source_id=st.uuids().map(str),
        instruction=texts,
        steps=st.lists(steps(screenshots), max_size=2).map(tuple),
        source_index=indexes,
        extra=extras,
    )
    one = st.builds(
        ConversationRecord,
        source_id=st.uuids().map(str),
        website=names,
        domain=texts,
        subdomain=texts,
        turns=st.lists(turns, min_size=1, max_size=2).map(tuple),
        split=splits,
        extra=extras,
    )
    return st.lists(one, max_size=2)


images = st.none() | st.builds(ImageRecord, st.sampled_from(jsonl.MEDIA_TYPES), st.binary(max_size=9))
FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.mark.slow
@FEW
@given(records=conversations(st.none()))
def test_mt_mind2web_gives_back_what_was_written(folder, records):
    data = written("mt-mind2web", records)
    (folder / "x.json").write_bytes(data)
    assert read("mt-mind2web", folder / "x.json") == (records, [])
    assert written("mt-mind2web", records) == data


@pytest.mark.slow
@FEW
@given(records=conversations(images))
def test_jsonl_gives_back_what_was_written(folder, records):
    data = written("jsonl", records)
    (folder / "x.jsonl").write_bytes(data)
    good, bad = read("jsonl", folder / "x.jsonl")
    assert good == records
    assert bad == ([] if records else bad)
    assert written("jsonl", good) == data


def test_mind2web_gives_back_what_was_written(tmp_path):
    save(tmp_path / "in.json", [task("a1", note=1), task("a2")])
    records, _ = read("mind2web", tmp_path / "in.json")
    (tmp_path / "out.json").write_bytes(written("mind2web", records))
    assert read("mind2web", tmp_path / "out.json") == (records, [])
