"""WebLINX out: what went in comes out again, and the published package reads it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import weblinx
from django.core.management import call_command
from django.urls import reverse

from annotations.corpus.exporting import export_dataset
from annotations.corpus.importing import ImportProgress, StopImport, import_files
from annotations.corpus.store import content_sha256
from annotations.corpus.weblinx_turns import bboxes, candidate_scores, page_html, replay_turns
from annotations.datasets import jsonl, reader
from annotations.datasets.records import (
    CandidateRecord,
    ConversationRecord,
    FileRecord,
    ImageRecord,
    StepRecord,
    TurnRecord,
)
from annotations.datasets.weblinx.folders import folder_name, write_folder
from annotations.dom.marks import Mark
from annotations.dom.render import render_page
from annotations.jobs.uploads import source_of
from annotations.models import Dataset, SourceFile, Step, Target
from annotations.sandbox import deadline
from annotations.storage import store
from tests import factories
from tests.annotations import weblinx_folder as demo

pytestmark = pytest.mark.django_db
RAW = (
    '<html backend_node_id="1" bounding_box_rect="0,0,1280,2000"><head backend_node_id="2"><title backend_node_id="8">'
    '<text backend_node_id="9">T</text></title></head><body backend_node_id="3" bounding_box_rect="0,0,1280,2000">'
    '<input backend_node_id="4" bounding_box_rect="8,10,240,38" aria_label="From" input_value="x"/>'
    '<button backend_node_id="5" bounding_box_rect="8,50,100,38"><text backend_node_id="6">Find &lt;it&gt;</text>'
    '</button><p backend_node_id="7" bounding_box_rect="-1,-1,-1,-1">hidden</p></body></html>'
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two demonstrations with their splits and, for one, candidates."""
    base = tmp_path / "in"
    demo.write_demo(base, "abcdefg")
    demo.write_demo(base, "bcdefgh", demo.turns()[1:5])
    (base / "splits.json").write_text(json.dumps({"train": ["bcdefgh"], "valid": ["abcdefg"], "dev": ["abcdefg"]}))
    return base


@pytest.fixture
def dataset(source: Path) -> Dataset:
    found = factories.make_dataset(source_format="weblinx")
    report = import_files("weblinx", source, found)
    assert (report.errors, report.conversations, report.turns, report.steps) == ([], 2, 4, 13)
    return found


def test_the_export_is_what_was_imported_byte_for_byte(source: Path, dataset: Dataset, tmp_path: Path) -> None:
    counts = export_dataset(dataset, "weblinx", tmp_path / "out")
    assert list(counts.values()) == [2]
    before, after = demo.tree(source), demo.tree(tmp_path / "out")
    splits = json.loads(after.pop("splits.json"))
    before.pop("splits.json")
    assert after == before
    assert {split: names for split, names in splits.items() if names} == {
        "train": ["bcdefgh"],
        "valid": ["abcdefg"],
        "dev": ["abcdefg"],
    }


def test_an_import_of_the_export_changes_nothing(dataset: Dataset, tmp_path: Path) -> None:
    export_dataset(dataset, "weblinx", tmp_path / "out")
    again = import_files("weblinx", tmp_path / "out", dataset)
    assert (again.errors, again.conversations, again.unchanged) == ([], 0, 2)
    copy = factories.make_dataset(source_format="weblinx")
    import_files("weblinx", tmp_path / "out", copy)
    assert list(copy.conversations.records()) == list(dataset.conversations.records())


def test_a_changed_file_changes_the_conversation(source: Path, dataset: Dataset) -> None:
    (source / "abcdefg/bboxes/bboxes-2.json").write_text("{}")
    report = import_files("weblinx", source, dataset)
    assert (report.conversations, report.unchanged) == (1, 1)


def test_source_files_survive_jsonl(dataset: Dataset, tmp_path: Path) -> None:
    export_dataset(dataset, "jsonl", tmp_path / "x.jsonl")
    records = list(reader("jsonl")(tmp_path / "x.jsonl"))
    assert records == list(dataset.conversations.records())
    assert records[0].files
    with (tmp_path / "y.jsonl").open("wb") as out:
        jsonl.write(records, out, dataset.canary())
    assert (tmp_path / "y.jsonl").read_bytes() == (tmp_path / "x.jsonl").read_bytes()


def test_records_without_files_keep_the_identity_they_had() -> None:
    """Data imported by earlier versions must not look changed."""
    record = ConversationRecord("c", "s", "d", "x")
    assert "files" not in repr(record)
    other = ConversationRecord("c", "s", "d", "x", files=(FileRecord("a", b"1"),))
    assert content_sha256(record, "train") != content_sha256(other, "train")


def test_gold_targets_are_found_on_the_pages(dataset: Dataset) -> None:
    targets = Target.objects.filter(step__turn__conversation__source_id="abcdefg").order_by("step__source_index")
    assert [(t.step.source_index, t.node_id, t.pruned) for t in targets] == [
        (4, demo.FROM, False),
        (5, demo.FROM, False),
        (6, demo.LIST, False),
        (10, demo.SEARCH, False),
        (12, demo.FAR, False),
        (13, demo.FAR, False),
    ]


def test_agents_get_the_replay_the_boxes_and_the_page_of_a_step(dataset: Dataset) -> None:
    conversation = dataset.conversations.get(source_id="abcdefg")
    assert replay_turns(conversation) == demo.turns()
    step = Step.objects.get(turn__conversation=conversation, source_index=10)
    assert bboxes(step)[demo.SEARCH] == demo.box(220, -300, 80, 30)
    assert page_html(step) == demo.SECOND
    first = Step.objects.get(turn__conversation=conversation, source_index=4)
    assert page_html(first) == demo.PAGE  # recorded with \r\n
    say = Step.objects.get(turn__conversation=conversation, source_index=7)
    assert (bboxes(say), page_html(say), candidate_scores(say)) == (None, None, [])


def read_by_package(base: Path, name: str) -> list[weblinx.Turn]:
    return list(weblinx.Replay.from_demonstration(weblinx.Demonstration(name, str(base))))


def test_the_published_package_reads_the_export(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export_dataset(dataset, "weblinx", out)
    assert [d.name for d in weblinx.list_demonstrations(str(out), valid_only=True)] == ["abcdefg", "bcdefgh"]
    (valid,) = weblinx.load_demos_in_split(str(out / "splits.json"), "valid", demo_base_dir=str(out))
    assert (valid.name, valid.get_version(), valid.form["tasks"]) == ("abcdefg", (0, 1, 2), ["Booking"])
    turns = read_by_package(out, "abcdefg")
    assert [dict(turn) for turn in turns] == demo.turns()
    assert all(turn.validate() for turn in turns)
    assert turns[4].element["attributes"]["data-webtasks-id"] == demo.FROM
    assert turns[10].bboxes[demo.SEARCH] == demo.box(220, -300, 80, 30)
    assert turns[10].html == demo.SECOND
    assert turns[4].get_xpaths_dict()[demo.SEARCH] == "/html/body/button"
    assert Path(turns[4].get_screenshot_path()).read_bytes() == factories.PNG


# Conversations that were not recorded as demonstrations


def other_conversation() -> ConversationRecord:
    steps = (
        StepRecord(
            "a/0",
            "TYPE",
            "Kingsford",
            html="<html backend_node_id='1'/>",
            raw_html=RAW,
            positives=(CandidateRecord("3", "body", "{}", False), CandidateRecord("4", "input", "{}", True)),
            screenshot=ImageRecord("image/png", factories.PNG),
        ),
        StepRecord("a/1", "CLICK", raw_html=RAW, html=RAW, positives=(CandidateRecord("5", "button"),)),
        StepRecord("a/2", "SCROLL", "0 250", html=RAW),
        StepRecord("a/3", "SAY", "Done."),
        StepRecord("a/4", "SELECT", "x", html=RAW, positives=(CandidateRecord("77", "select"),)),
    )
    turns = (TurnRecord("t0", "Find trains", steps), TurnRecord("t1", "Nothing to do"))
    return ConversationRecord("odd name/1", "rail.example", "Travel", "Trains", turns, "test_task")


def test_another_conversation_becomes_a_demonstration_of_what_is_known(tmp_path: Path) -> None:
    assert write_folder([other_conversation()], tmp_path) == 1
    name = folder_name("odd name/1")
    assert json.loads((tmp_path / "splits.json").read_text())["test_task"] == [name]
    turns = read_by_package(tmp_path, name)
    assert [turn.intent for turn in turns] == [None, "textInput", "click", "scroll", None, "change", None]
    assert [turn.timestamp for turn in turns] == list(range(7))
    typed, click = turns[1], turns[2]
    assert (typed.args["text"], typed.element["tagName"]) == ("Kingsford", "INPUT")
    assert (typed.viewport_height, typed.url, typed.get_screenshot_status()) == (None, None, "good")
    uid = click.element["attributes"]["data-webtasks-id"]
    assert click.bboxes[uid] == demo.box(8, 50, 100, 38)
    assert click.get_xpaths_dict()[uid] == click.element["xpath"] == "/html/body/button"
    assert click.element["textContent"] == "Find <it>"
    assert len(click.bboxes) == 4  # the hidden paragraph and what has no box are left out
    assert 'aria-label="From"' in click.html
    assert 'value="x"' in click.html
    assert "backend_node_id" not in click.html


def test_it_is_imported_again_as_the_same_conversation(tmp_path: Path) -> None:
    write_folder([other_conversation()], tmp_path)
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", tmp_path, dataset).errors == []
    (record,) = dataset.conversations.records()
    assert (record.website, record.domain, record.subdomain, record.split) == (
        "rail.example",
        "Travel",
        "Trains",
        "test_task",
    )
    original = other_conversation()
    assert [turn.instruction for turn in record.turns] == ["Find trains", "Nothing to do"]
    assert [(s.operation, s.value) for s in record.turns[0].steps[:4]] == [
        (s.operation, s.value) for s in original.turns[0].steps[:4]
    ]
    assert list(Target.objects.order_by("step__index").values_list("pruned", flat=True)) == [False, False, True]
    export_dataset(dataset, "weblinx", tmp_path / "again")
    assert demo.tree(tmp_path / "again") == {
        path: data for path, data in demo.tree(tmp_path).items() if not path.startswith("again")
    }


def test_a_page_that_cannot_be_read_is_missing_and_told(tmp_path: Path, monkeypatch) -> None:
    record = other_conversation()
    first, second, *rest = record.turns[0].steps
    spoilt = replace(record.turns[0], steps=(replace(first, raw_html="<html", html="<html"), second, *rest))
    told: list[str] = []
    assert write_folder([replace(record, turns=(spoilt, *record.turns[1:]))], tmp_path, told.append) == 1
    assert len(told) == 1
    assert told[0].startswith("a page of odd name/1 is missing: the page is not well-formed XML")
    turns = read_by_package(tmp_path, folder_name("odd name/1"))
    assert [turn.intent for turn in turns] == [None, "textInput", "click", "scroll", None, "change", None]
    assert [bool(turn.html) for turn in turns[1:4]] == [False, True, True]
    monkeypatch.setattr(deadline, "SECONDS", 0.2)  # many texts under one element, which lxml adds ever more slowly
    slow = RAW.replace("</body>", "<i/><text>a</text>" * 60_000 + "</body>")
    spoilt = replace(spoilt, steps=(replace(first, raw_html=slow, html=slow), second, *rest))
    write_folder([replace(record, turns=(spoilt,))], tmp_path / "slow", told.append)
    assert told[1:] == ["a page of odd name/1 is missing: the page was given up: it took longer than 0.2 s"]


def test_what_weblinx_does_not_have_is_refused(tmp_path: Path) -> None:
    pressed = ConversationRecord("c", "s", "", "", (TurnRecord("t", "x", (StepRecord("s1", "PRESS", "Enter"),)),))
    with pytest.raises(ValueError, match="step 's1' of 'c' is a PRESS, which WebLINX does not have"):
        write_folder([pressed], tmp_path)
    hostile = ConversationRecord("d", "s", "", "", files=(FileRecord("../x", b""), FileRecord("replay.json", b"{}")))
    with pytest.raises(ValueError, match="unsafe file"):
        write_folder([hostile], tmp_path)
    write_folder([other_conversation()], tmp_path)
    with pytest.raises(ValueError, match="is already in"):
        write_folder([other_conversation()], tmp_path)
    with pytest.raises(ValueError, match="name a folder instead"):
        export_dataset(factories.make_dataset(), "weblinx", tmp_path / "x.json")


# Files beside the demonstrations, and the commands


def candidate_rows() -> list[dict]:
    """Rows of two demonstrations, mixed; the ranks of one turn out of order."""
    return [
        {
            "query": "q",
            "doc": f"doc {rank}",
            "uid": f"u{rank}",
            "demo_name": name,
            "turn_index": turn,
            "elem_dict": {},
            "label": int(rank == 2),
            "score": 1 - rank / 100,
            "rank": rank,
        }
        for name, turn, ranks in (("abcdefg", 10, range(30, 0, -1)), ("zzz", 1, (1,)), ("abcdefg", 4, (1,)))
        for rank in ranks
    ]


def test_scores_of_a_candidates_file_are_kept_with_the_step(source: Path, tmp_path: Path) -> None:
    (source / "candidates").mkdir()
    lines = [json.dumps(row) for row in candidate_rows()]
    (source / "candidates/valid.jsonl").write_text("\n".join([lines[0], "not json", *lines[1:]]) + "\n")
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", source, dataset).errors == []
    step = Step.objects.get(turn__conversation__source_id="abcdefg", source_index=10)
    scores = candidate_scores(step)
    assert [row["rank"] for row in scores] == list(range(1, 31))
    assert scores[1] == {"uid": "u2", "label": 1, "score": 0.98, "rank": 2, "doc": "doc 2"}
    assert ("doc" in scores[19], "doc" in scores[20]) == (True, False)
    assert len(candidate_scores(Step.objects.get(turn__conversation__source_id="abcdefg", source_index=4))) == 1
    assert not SourceFile.objects.filter(conversation__source_id="bcdefgh", path="candidates.json").exists()


def test_the_commands_import_and_export_and_name_the_file_of_an_error(source: Path, tmp_path: Path, capsys) -> None:
    (source / "bcdefgh/form.json").write_text("{")
    call_command("import_dataset", "weblinx", str(source), name="rail", json=True)
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (report["conversations"], report["steps"], report["skipped"]) == (1, 11, 0)
    assert [(e["file"], e["record"]) for e in report["errors"]] == [("bcdefgh/form.json", "bcdefgh")]
    call_command("export_dataset", "rail", "weblinx", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["abcdefg", "splits.json"]


def test_an_import_can_be_limited_and_continued(source: Path) -> None:
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", source, dataset, limit=1).conversations == 1
    report = import_files("weblinx", source, dataset)
    assert (report.conversations, report.unchanged) == (1, 1)


def test_an_uploaded_zip_of_the_folder_is_imported(source: Path, tmp_path: Path, settings) -> None:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    archive = shutil.make_archive(str(tmp_path / "upload"), "zip", source.parent, source.name)
    store.keep("uploads/some-zip", Path(archive))
    folder, problems = source_of("uploads/some-zip", "my data.zip")
    assert problems == []
    dataset = factories.make_dataset(source_format="weblinx")
    report = import_files("weblinx", folder, dataset)
    assert (report.errors, report.conversations) == ([], 2)
    assert set(dataset.conversations.values_list("source_id", "split")) == {("abcdefg", "valid"), ("bcdefgh", "train")}


@pytest.mark.slow
def test_the_pages_of_a_demonstration_open(dataset: Dataset, client) -> None:
    """With the instruction "", steps without a page, and pages as recorded that are no XML."""
    client.force_login(factories.make_superuser())
    steps = Step.objects.filter(turn__conversation__source_id="abcdefg").order_by("source_index")
    assert client.get(reverse("conversation", args=[steps[0].turn.conversation_id])).status_code == 200
    for step in steps:
        for tab in ("page", "tree", "accessibility", "raw"):
            answer = client.get(reverse("step", args=[step.pk]), {"tab": tab})
            assert answer.status_code == 200
            assert ("This step has no page" in answer.content.decode()) == (step.snapshot is None and tab != "raw")
    click = steps.get(source_index=4)
    raw = client.get(reverse("step", args=[click.pk]), {"tab": "raw"}).content.decode()
    assert "if (1 &lt; 2) alert" in raw  # the recorded page, not the one made of it
    shown = render_page(click.snapshot.html, marks=[Mark(demo.FROM, "gold")])
    assert "color: red" in shown
    assert f'data-node-id="{demo.FROM}"' in shown


def test_an_import_goes_on_after_the_last_stored_demonstration(source: Path, monkeypatch) -> None:
    monkeypatch.setattr("annotations.corpus.importing.BATCH", 1)
    dataset, told = factories.make_dataset(source_format="weblinx"), []

    def stop(progress: ImportProgress) -> None:
        told.append(progress)
        raise StopImport

    with pytest.raises(StopImport):
        import_files("weblinx", source, dataset, progress=stop)
    first = told[0]
    assert (dataset.conversations.count(), first.files) == (1, 2)
    both = demo.tree(source / "abcdefg"), demo.tree(source / "bcdefgh")
    assert first.bytes_total == sum(len(data) for files in both for data in files.values())
    report = import_files("weblinx", source, dataset, start=first.position, report=first.report)
    assert (report.errors, report.conversations, report.unchanged, report.skipped) == ([], 2, 0, 0)


def test_no_conversations_give_splits_without_names(tmp_path: Path) -> None:
    assert write_folder([], tmp_path) == 0
    assert set(map(tuple, json.loads((tmp_path / "splits.json").read_text()).values())) == {()}
