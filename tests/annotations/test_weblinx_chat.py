"""WebLINX's chat splits: rows as conversations, and the pruned pages in parentheses parsed back."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import weblinx

from annotations.corpus.exporting import export_dataset
from annotations.corpus.importing import import_files
from annotations.datasets.records import BadRecord, ConversationRecord
from annotations.datasets.weblinx.chat import COLUMNS, parse_call
from annotations.datasets.weblinx.folders import files, read
from annotations.dom.tree import find, parse
from annotations.dom.weblinx_clean_html import clean_html_xml
from annotations.models import Target
from tests import factories

ONE, TWO = "67e2a5fb-8b1d-41a0", "5ca1cffd-fc99-e3ed"
CLEAN = (
    f'(html(body(div class="k"(h1Fares (2nd class))(input type="text" data-webtasks-id="{ONE}"(button '
    f'data-webtasks-id="{TWO}" aria-label="Go"Search(brnow))(aHelp)))\nAbove are the pruned HTML contents of the page.'
)
OFFERED = f"(uid = {ONE}) [[tag]] input [[xpath]] /html/body/input\n(uid = {TWO}) [[tag]] button [[text]] Search"


def row(demo: str, turn: int, action: str, said: str = "Hello", **columns: Any) -> dict[str, Any]:
    history = f'</s><s>[INST] say(speaker="instructor", utterance="{said}")' if said else "click(x=1, y=2)"
    values = {
        "action": action,
        "action_history": history,
        "utterances": "[00:05] Hi ; [00:22] Then  this ;",
        "candidates": OFFERED,
        "clean_html": CLEAN,
        "viewport": "746h x 1536w",
    }
    return {"demo": demo, "turn": turn} | values | columns


def rows() -> list[dict[str, Any]]:
    return [
        row("aaa", 3, f'click(uid="{TWO}")'),
        row("aaa", 5, f'text_input(text="a, "b" (c)=1", uid="{ONE}")'),
        row("aaa", 7, 'say(speaker="navigator", utterance="Which\nday?")', "Friday"),
        row("aaa", 8, "scroll(x=0, y=250)", ""),
        row("bbb", 1, 'load(url="https://www.rail.example/a?x=1, y=2")'),
    ]


def write(path: Path, content: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if ".csv" in path.name:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["demo", "turn", *COLUMNS])
            writer.writeheader()
            writer.writerows(content)
    else:
        path.write_text("\n".join(json.dumps(item) for item in content), "utf-8")
    return path


def test_rows_become_steps_and_turns_begin_with_a_new_message(tmp_path: Path) -> None:
    first, second = read(write(tmp_path / "validation.jsonl", rows()))
    assert isinstance(first, ConversationRecord)
    assert (first.source_id, first.split, first.website, second.website) == ("aaa", "valid", "unknown", "rail.example")
    assert [(turn.instruction, turn.source_index, len(turn.steps)) for turn in first.turns] == [
        ("Hello", 3, 2),
        ("Friday", 7, 1),
        ("Then  this", 8, 1),
    ]
    steps = [step for turn in first.turns for step in turn.steps]
    assert [(s.source_index, s.operation, s.original_operation, s.value) for s in steps] == [
        (3, "CLICK", "click", ""),
        (5, "TYPE", "textInput", 'a, "b" (c)=1'),
        (7, "SAY", "say", "Which\nday?"),
        (8, "SCROLL", "scroll", "0 250"),
    ]
    assert [(c.node_id, c.tag) for c in (*steps[0].positives, *steps[0].negatives)] == [(TWO, "button"), (ONE, "input")]
    assert steps[0].raw_html == CLEAN
    assert steps[0].extra["viewport"] == "746h x 1536w"
    assert set(steps[0].extra) == set(COLUMNS) - {"clean_html"}


def test_csv_and_compressed_files_hold_the_same(tmp_path: Path) -> None:
    plain = list(read(write(tmp_path / "a/train.jsonl", rows())))
    assert list(read(write(tmp_path / "b/train.csv", rows()))) == plain
    packed = tmp_path / "c/train.csv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress((tmp_path / "b/train.csv").read_bytes()))
    assert list(read(packed)) == plain
    (tmp_path / "d.json").write_text(json.dumps(rows()))
    assert [item.source_id for item in read(tmp_path / "d.json")] == ["aaa", "bbb"]
    assert [path.name for path in files(tmp_path)] == ["train.jsonl", "train.csv", "train.csv.gz", "d.json"]


def test_the_page_is_parsed_back() -> None:
    html, tags = clean_html_xml(CLEAN)
    root = parse(html)
    assert tags == {ONE: "input", TWO: "button"}
    assert find(root, ONE).getparent() is find(root, TWO).getparent()  # an input has no closing parenthesis
    assert dict(find(root, TWO).attrib) == {"backend_node_id": TWO, "aria_label": "Go"}
    assert [text.text for text in root.iter("text")] == ["Fares ", "(", "2nd class", "Search", "now", "Help"]
    assert clean_html_xml("nothing here") == ("", {})
    deep = parse(clean_html_xml("(div" * 3000 + ")" * 3000 + "(p)")[0])
    assert (deep[0].tag, deep[1].tag, len(list(deep.iter("div")))) == ("div", "p", 3000)
    assert parse(clean_html_xml('(xq:z a="1" @b="2" 3="4"x))) (')[0]).tag == "html"


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('click(uid="a")', ("click", {"uid": "a"})),
        ('text_input(text="x", uid="y=1", z")', ("textInput", {"text": "x", "uid": 'y=1", z'})),
        ("tabswitch(origin=3, target=4)", ("tabswitch", {"origin": "3", "target": "4"})),
        ("fly()", ("", {})),
        ("click", ("", {})),
    ],
)
def test_gold_actions_are_parsed(text: str, call: tuple) -> None:
    assert parse_call(text) == call


def test_bad_rows_are_named_and_the_other_demonstrations_land(tmp_path: Path) -> None:
    content = [
        row("aaa", 1, "fly()"),
        row("bbb", 1, "scroll(x=1, y=2)"),
        row("bbb", 1, "scroll(x=1, y=2)"),
        {"demo": "ccc", "turn": "x"},
        row("ddd", 1, "scroll(x=1, y=2)"),
        row("aaa", 2, "scroll(x=1, y=2)"),
    ]
    found = list(read(write(tmp_path / "x.jsonl", content)))
    assert [item.source_id for item in found if isinstance(item, ConversationRecord)] == ["ddd"]
    bad = [(item.record, item.field) for item in found if isinstance(item, BadRecord)]
    assert bad[:3] == [("line 1", "action"), ("line 2", "turn"), ("line 4", "turn")]
    assert bad[-1] == ("line 6", "demo")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", rows())
    path.write_bytes(path.read_bytes() + b'\xff,"')
    assert [item.message[:16] for item in read(path) if isinstance(item, BadRecord)] == ["is not valid CSV"]


@pytest.mark.django_db
def test_chat_rows_are_imported(tmp_path: Path) -> None:
    dataset = factories.make_dataset(source_format="weblinx")
    path = write(tmp_path / "chat/test_geo.csv", rows())
    report = import_files("weblinx", path.parent, dataset)
    assert (report.errors, report.conversations, report.turns, report.steps) == ([], 2, 4, 5)
    assert {c.split for c in dataset.conversations.all()} == {"test_geo"}
    assert list(Target.objects.order_by("step_id").values_list("node_id", "pruned")) == [(TWO, False), (ONE, False)]
    assert next(iter(dataset.conversations.records())).turns[0].steps[0].raw_html == CLEAN
    assert import_files("weblinx", path.parent, dataset).unchanged == 2


@pytest.mark.django_db
def test_chat_rows_are_exported_as_demonstrations_with_their_uids(tmp_path: Path) -> None:
    dataset = factories.make_dataset(source_format="weblinx")
    import_files("weblinx", write(tmp_path / "valid.jsonl", rows()), dataset)
    export_dataset(dataset, "weblinx", tmp_path / "out")
    turns = list(weblinx.Replay.from_demonstration(weblinx.Demonstration("aaa", str(tmp_path / "out"))))
    assert [turn.intent or turn["utterance"] for turn in turns] == [
        "Hello",
        "click",
        "textInput",
        "Friday",
        "Which\nday?",
        "Then  this",
        "scroll",
    ]
    assert turns[1].element["attributes"]["data-webtasks-id"] == TWO
    assert set(turns[1].get_xpaths_dict()) == {ONE, TWO}
