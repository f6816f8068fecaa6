"""Reading WebLINX's demonstrations: turns, steps, pages, candidates, and what is wrong with bad ones."""

import json
from pathlib import Path

import pytest

from annotations.datasets.records import BadRecord, ConversationRecord, SkippedRecord
from annotations.datasets.weblinx.folders import files, read
from annotations.dom.elements import elements
from annotations.dom.tree import find, parse
from annotations.dom.weblinx_page import candidates, page_xml
from tests.annotations import weblinx_folder as demo


@pytest.fixture
def record(tmp_path: Path) -> ConversationRecord:
    (found,) = read(demo.write_demo(tmp_path))
    assert isinstance(found, ConversationRecord)
    return found


def test_instructor_messages_open_turns_and_join_when_they_stand_in_a_row(record: ConversationRecord) -> None:
    assert [(turn.instruction, turn.source_index, len(turn.steps)) for turn in record.turns] == [
        ("", 0, 1),
        ('Hello\nFind a train from "Arlen".', 1, 5),
        ("Friday", 8, 5),
    ]
    assert record.turns[1].extra["utterances"][1] == {
        "index": 2,
        "timestamp": 5.25,
        "utterance": 'Find a train from "Arlen".',
    }


def test_every_navigator_turn_is_a_step_with_its_place_in_the_replay(record: ConversationRecord) -> None:
    steps = [step for turn in record.turns for step in turn.steps]
    assert [(step.source_index, step.operation, step.original_operation, step.value) for step in steps] == [
        (0, "SAY", "say", "Hi"),
        (3, "LOAD", "load", "https://www.rail.example/"),
        (4, "CLICK", "click", ""),
        (5, "TYPE", "textInput", "Arlen Bridge"),
        (6, "SELECT", "change", "Cheapest first"),
        (7, "SAY", "say", "Which day?"),
        (9, "SCROLL", "scroll", "0 400"),
        (10, "SUBMIT", "submit", ""),
        (11, "TAB_SWITCH", "tabswitch", "7 8"),
        (12, "COPY", "copy", "Far down"),
        (13, "HOVER", "hover", ""),
    ]
    assert [step.action_repr for step in steps[1:5]] == [
        "load: https://www.rail.example/",
        "click [input] INPUT text",
        "textInput [input] INPUT text: Arlen Bridge",
        "change [select] SELECT text: Cheapest first",
    ]
    assert {step.screenshot is not None for step in steps if step.html} == {True}


def test_what_the_demonstration_says_of_itself_is_kept(record: ConversationRecord) -> None:
    assert (record.source_id, record.website, record.split) == ("abcdefg", "rail.example", "")
    assert record.extra == {"instructor_turns": 3, "navigator_turns": 11, "active_turns": 6, "duration": 26.5}
    assert [file.path for file in record.files] == [
        "bboxes/bboxes-0.json",
        "bboxes/bboxes-2.json",
        "form.json",
        "metadata.json",
        "pages/page-9-0.html",
        "replay.json",
        "screenshots/screenshot-1-0.png",
    ]


def test_a_page_becomes_xml_whose_node_ids_are_the_uids(record: ConversationRecord) -> None:
    click = record.turns[1].steps[1]
    root = parse(click.html)
    assert find(root, demo.FROM).attrib == {
        "backend_node_id": demo.FROM,
        "bounding_box_rect": "10,100,200.5,30",
        "type": "text",
        "aria_label": "From",
        "required": "",
    }
    assert [child.tag for child in find(root, demo.SEARCH)] == ["text", "br", "text"]
    assert "script" not in click.html
    assert "a &gt; b { color: red }" in click.html
    by_id = {element.node_id: element for element in elements(root)}
    assert (by_id[demo.FROM].name, by_id[demo.FROM].bbox) == ("From", (10, 100, 200.5, 30))
    assert by_id[demo.SEARCH].name == "Search now"
    assert click.raw_html == demo.PAGE.replace("\n", "\r\n")


def test_a_page_that_is_not_utf_8_is_read_as_latin_1(record: ConversationRecord) -> None:
    scroll = record.turns[2].steps[0]
    assert "Trains to Café" in scroll.html
    assert scroll.extra == {"encoding": "latin-1", "page": "page-2-1.html", "timestamp": 21}


def test_candidates_are_the_elements_whose_box_lies_in_the_window(record: ConversationRecord) -> None:
    click, submit = record.turns[1].steps[1], record.turns[2].steps[1]
    assert [c.node_id for c in click.positives] == [demo.FROM]
    assert [(c.node_id, c.tag) for c in click.negatives] == [
        (demo.BODY, "body"),
        (demo.SEARCH, "button"),
        (demo.LIST, "select"),
    ]
    assert demo.FAR not in {c.node_id for c in submit.negatives}  # 3000 - 400 is still below the window


@pytest.mark.parametrize(
    ("rect", "kept"),
    [
        ((0, 0, 0, 50), False),
        ((0, 0, 9, 9.9), False),
        ((0, 0, 9, 10), True),
        ((0, 600, 20, 20), True),
        ((0, 600.1, 20, 20), False),
        ((800.5, 0, 20, 20), False),
        ((-500, -500, 20, 20), True),
    ],
)
def test_the_published_box_filter(rect: tuple, kept: bool) -> None:
    assert list(candidates(["a", "no box"], {"a": demo.box(*rect)}, (800, 600))) == (["a"] if kept else [])


def test_hostile_and_odd_pages_become_pages_that_parse() -> None:
    source = (
        '<html><body backend_node_id="spoof" bounding_box_rect="1" data-webtasks-id="u1" a"b="1" x:y="2">'
        "<o:p data-webtasks-id='u2'>in\x01valid &#2; &lt;b&gt;</o:p><we!rd>x</we!rd><svg><text>t</text></svg>"
        "<template><a>no</a></template></body></html>"
    )
    html, tags = page_xml(source, {"u1": {"x": 1}, "u2": demo.box(1, 2, 3, 1234567.25)})
    root = parse(html)
    assert tags == {"u1": "body", "u2": "p"}
    assert dict(find(root, "u1").attrib) == {"backend_node_id": "u1"}
    assert find(root, "u2").get("bounding_box_rect") == "1,2,3,1234567"
    assert "spoof" not in html
    assert "no" not in "".join(root.itertext())
    assert page_xml("", {}) == page_xml(" <!-- x --> ", {}) == ("", {})
    deep = "<div>" * 700 + "x" + "</div>" * 700
    assert parse(page_xml(deep, {})[0]) is not None


def test_splits_json_beside_the_demonstrations_or_one_folder_higher(tmp_path: Path) -> None:
    demo.write_demo(tmp_path / "demonstrations", "aaa")
    demo.write_demo(tmp_path / "demonstrations", "bbb")
    demo.write_demo(tmp_path / "demonstrations", "ccc")
    splits = {"dev": ["aaa"], "valid": ["aaa"], "test_geo": ["bbb"]}
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    assert [(r.source_id, r.split) for r in read(tmp_path)] == [("aaa", "valid"), ("bbb", "test_geo"), ("ccc", "")]
    assert [path.name for path in files(tmp_path)] == ["aaa", "bbb", "ccc"]


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ("[]", "expected an object: split -> list of demonstrations"),
        ('{"train": "abcdefg"}', "train: expected a list of names of demonstrations"),
        ('{"train": ["abcdefg"], "valid": ["abcdefg"]}', "valid: 'abcdefg' is also in train; a demonstration lies in"),
        ("{", "is not valid JSON"),
    ],
)
def test_a_bad_splits_json_is_named(tmp_path: Path, splits: str, message: str) -> None:
    demo.write_demo(tmp_path)
    (tmp_path / "splits.json").write_text(splits)
    (bad,) = read(tmp_path)
    assert isinstance(bad, BadRecord)
    assert (bad.file, bad.record) == ("../splits.json", "abcdefg")
    assert message in bad.message


def test_a_demonstration_marked_invalid_is_skipped(tmp_path: Path) -> None:
    (demo.write_demo(tmp_path) / "invalid.json").write_text("{}")
    assert list(read(tmp_path)) == [SkippedRecord("invalid.json", "abcdefg", "marked invalid by invalid.json")]


def bad_of(folder: Path) -> list[tuple[str, str, str, str]]:
    found = list(read(folder))
    assert all(isinstance(bad, BadRecord) for bad in found)
    return [(bad.file, bad.record, bad.field, bad.message) for bad in found]


def test_every_defect_is_reported_with_file_record_and_field(tmp_path: Path) -> None:
    replay = demo.turns()
    replay[1]["speaker"] = "user"
    replay[2]["utterance"] = None
    replay[3]["timestamp"] = "9"
    replay[8]["timestamp"] = 10**400
    replay[4]["action"]["intent"] = "drag"
    replay[5]["state"]["page"] = "../../secret.html"
    replay[6]["action"]["arguments"]["element"] = []
    replay[7]["type"] = "voice"
    del replay[9]["action"]
    replay[10] = 5
    assert bad_of(demo.write_demo(tmp_path, replay=replay)) == [
        ("replay.json", "abcdefg", "data[10]", "expected an object, found a number (5)"),
        ("replay.json", "abcdefg.data[1]", "speaker", "expected instructor or navigator, found 'user'"),
        ("replay.json", "abcdefg.data[2]", "utterance", "expected a string, found null"),
        ("replay.json", "abcdefg.data[3]", "timestamp", "expected a number of seconds, found a string"),
        (
            "replay.json",
            "abcdefg.data[4]",
            "action.intent",
            "expected one of click, hover, textInput, change, load, "
            "submit, scroll, copy, paste, tabcreate, tabremove, tabswitch, found 'drag'",
        ),
        (
            "replay.json",
            "abcdefg.data[5]",
            "state.page",
            "expected a file name like page-3-0.html, found '../../secret.html'",
        ),
        ("replay.json", "abcdefg.data[6]", "action.arguments.element", "expected an object, found a list"),
        ("replay.json", "abcdefg.data[7]", "type", "expected chat or browser, found 'voice'"),
        ("replay.json", "abcdefg.data[8]", "timestamp", f"expected a number of seconds, found a number (1{'0' * 29})"),
        ("replay.json", "abcdefg.data[9]", "action", "expected an object, but the field is missing"),
    ]


def test_text_that_no_database_holds_is_a_defect(tmp_path: Path) -> None:
    replay = demo.turns()
    replay[5]["action"]["arguments"]["text"] = "half \ud83d"
    replay[12]["action"]["arguments"]["selected"] = "a\0b"
    assert [row[1:3] for row in bad_of(demo.write_demo(tmp_path, replay=replay))] == [
        ("abcdefg.data[5]", "action.textInput.value"),
        ("abcdefg.data[12]", "action.copy.value"),
    ]


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    folder = demo.write_demo(tmp_path)
    (folder / "form.json").unlink()
    (folder / "metadata.json").write_text("[]")
    (folder / "bboxes/bboxes-2.json").write_text('{"a": NaN}')
    (folder / "pages/page-0-0.html").unlink()
    (folder / "pages/page-2-1.html").write_text("")
    found = bad_of(folder)
    assert [row[:3] for row in found] == [
        ("form.json", "abcdefg", ""),
        ("metadata.json", "abcdefg", ""),
        ("replay.json", "abcdefg.data[4]", "state.page"),
        ("bboxes/bboxes-2.json", "abcdefg", ""),
    ]
    assert found[0][3] == "expected this file in the demonstration's folder, found none"
    assert found[2][3] == "expected the file pages/page-0-0.html in the demonstration's folder, found none"
    assert "NaN is no JSON value" in found[3][3]


def test_an_empty_file_and_a_folder_too_large_for_memory_are_named(tmp_path: Path, monkeypatch) -> None:
    folder = demo.write_demo(tmp_path)
    (folder / "replay.json").write_text("")
    assert [row[:3] for row in bad_of(folder)] == [("replay.json", "abcdefg", "")]
    monkeypatch.setattr("annotations.datasets.weblinx.demos.MAX_DEMO_BYTES", 100)
    assert "expected at most 100 bytes in all, found" in bad_of(folder)[0][3]


def test_a_download_without_pages_is_read_without_them(tmp_path: Path) -> None:
    folder = demo.write_demo(tmp_path)
    for path in (folder / "pages").iterdir():
        path.unlink()
    (record,) = read(folder)
    assert isinstance(record, ConversationRecord)
    assert {step.html for turn in record.turns for step in turn.steps} == {""}


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = demo.write_demo(tmp_path)
    (tmp_path / "secret").write_text("<p>secret</p>")
    (folder / "pages/page-0-0.html").unlink()
    (folder / "pages/page-0-0.html").symlink_to(tmp_path / "secret")
    assert bad_of(folder)[0][2] == "state.page"
