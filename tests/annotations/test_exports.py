"""Exports: what went in comes out again, in the same bytes every time."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command

from annotations.corpus.exporting import TOLD_EVERY, export_dataset
from annotations.corpus.importing import import_files
from annotations.datasets import jsonl, reader, writer
from annotations.datasets.records import CandidateRecord, ConversationRecord, ImageRecord, StepRecord, TurnRecord
from annotations.models import Dataset, Project, Website
from annotations.sample.build import build_website
from tests import factories
from tests.annotations.built_sample import built_sample
from tests.annotations.small_files import contents, conversation, record, write

pytestmark = pytest.mark.django_db
FORMATS = ("mt-mind2web", "jsonl")


@pytest.fixture(scope="module")
def sample(rows_of_the_file: None, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The whole sample, imported once for this module."""
    project = Project.objects.create(name="Exports", slug="exports")
    dataset = Dataset.objects.create(project=project, name="whole-sample", source_format="mt-mind2web")
    report = import_files("mt-mind2web", built_sample(tmp_path_factory), dataset)
    assert not report.errors
    return dataset


def shas(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.conversations.values_list("source_id", "content_sha256"))


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_the_exported_sample_imports_as_the_same_content(sample: Dataset, tmp_path: Path, format_name: str) -> None:
    written = export_dataset(sample, format_name, tmp_path / "out")
    assert sum(written.values()) == sample.conversations.count() > 20
    again = import_files(format_name, tmp_path / "out", sample)  # compares the content of every conversation
    assert again.errors == []
    assert (again.conversations, again.unchanged) == (0, sample.conversations.count())


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_the_sample_goes_through_the_commands_into_equal_rows(
    sample: Dataset, tmp_path: Path, format_name: str
) -> None:
    out, copy = str(tmp_path / "out"), f"copy-{format_name}"
    call_command("export_dataset", sample.name, format_name, out, split="test_task", stdout=(tmp_path / "1").open("w"))
    call_command(
        "import_dataset",
        format_name,
        out,
        name=copy,
        stdout=(tmp_path / "2").open("w"),
        stderr=(tmp_path / "3").open("w"),
    )
    stored = Dataset.objects.get(name=copy)
    assert shas(stored) == dict(
        sample.conversations.filter(split="test_task").values_list("source_id", "content_sha256")
    )
    originals = sample.conversations.filter(split="test_task").records()
    assert list(stored.conversations.records()) == list(originals)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_two_exports_have_the_same_bytes(sample: Dataset, tmp_path: Path, format_name: str) -> None:
    rows = sample.conversations.exclude(split="train")
    first = export_dataset(sample, format_name, tmp_path / "1", rows)
    export_dataset(sample, format_name, tmp_path / "2", rows)
    assert len(first) == (3 if format_name == "mt-mind2web" else 1)
    for path in map(Path, first):
        assert path.read_bytes() == (tmp_path / "2" / path.relative_to(tmp_path / "1")).read_bytes()


@pytest.mark.slow
def test_the_export_is_what_the_sample_script_wrote(sample: Dataset, tmp_path: Path) -> None:
    """The published fields of MT-Mind2Web come out as they went in, in the same order."""
    build_website("nordline", tmp_path / "in")
    source = json.loads((tmp_path / "in/test_website/nordline.json").read_text("utf-8"))
    export_dataset(sample, "mt-mind2web", tmp_path / "out.json", sample.conversations.filter(split="test_website"))
    exported = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [item.pop("split") for item in exported] == ["test_website"] * 3
    assert exported == source


def full_record() -> ConversationRecord:
    """A conversation that uses every field of the records."""
    html = '<html backend_node_id="1"><p backend_node_id="2">é \u2028 &amp; 😀</p></html>'
    steps = (
        StepRecord(
            "u1",
            "TYPE",
            "dos cafés",
            "KEYBOARD_TYPE",
            "[p] x -> TYPE: dos cafés",
            html,
            "<raw>",
            "",
            (CandidateRecord("2", "p", '{"class": "a"}', True, False), CandidateRecord("8", "b", "{}", False, True)),
            (CandidateRecord("1", "html"),),
            ImageRecord("image/png", factories.PNG),
            4,
            {"b": [1, None], "a": {"z": 1}},
        ),
        StepRecord("u2", "CLICK", html=html.replace("&amp;", "and"), html_after="<html backend_node_id='9'/>"),
    )
    turns = (TurnRecord("t1", "Primero\nto do", steps, 7, {"k": 1.5}), TurnRecord("t2", "Nothing to do"))
    return ConversationRecord("c", "site", "dom", "sub", turns, "dev", {"note": "x", "list": ["ä"]})


def test_every_field_of_a_record_survives_the_database_and_jsonl(tmp_path: Path) -> None:
    dataset = factories.make_dataset(source_format="jsonl")
    with (tmp_path / "x.jsonl").open("wb") as out:
        jsonl.write([full_record()], out, dataset.canary())
    assert import_files("jsonl", tmp_path / "x.jsonl", dataset).errors == []
    (stored,) = dataset.conversations.records()
    assert stored == full_record()
    export_dataset(dataset, "jsonl", tmp_path / "y.jsonl")
    assert (tmp_path / "y.jsonl").read_bytes() == (tmp_path / "x.jsonl").read_bytes()


def test_mt_mind2web_keeps_all_but_screenshots(tmp_path: Path) -> None:
    wanted = full_record()
    with (tmp_path / "x.json").open("wb") as out:
        writer("mt-mind2web")([wanted], out)
    dataset = factories.make_dataset()
    import_files("mt-mind2web", tmp_path / "x.json", dataset)
    (stored,) = dataset.conversations.records()
    turn = wanted.turns[0]
    without = replace(turn, steps=(replace(turn.steps[0], screenshot=None), turn.steps[1]))
    assert stored == replace(wanted, turns=(without, wanted.turns[1]))


def test_the_order_of_the_source_survives(tmp_path: Path) -> None:
    names = ["b", "c", "a"]
    dataset, copy = factories.make_dataset(), factories.make_dataset()
    import_files("mt-mind2web", write(tmp_path / "train/x.json", [conversation(name) for name in names]), dataset)
    export_dataset(dataset, "mt-mind2web", tmp_path / "out")
    import_files("mt-mind2web", tmp_path / "out", copy)
    assert contents(copy) == contents(dataset)
    assert list(copy.conversations.values_list("source_id", flat=True)) == names


def test_one_file_that_would_mix_splits_is_refused(tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    factories.make_conversation(dataset=dataset)
    factories.make_conversation(dataset=dataset, split="test_task")
    with pytest.raises(ValueError, match="would mix train, test_task"):
        export_dataset(dataset, "mt-mind2web", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    factories.make_conversation(dataset=dataset, turns=2)
    with pytest.raises(ValueError, match="has 2 turns and a Mind2Web task has one"):
        export_dataset(dataset, "mind2web", tmp_path / "out")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_progress_is_told_after_every_chunk(tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    for _ in range(TOLD_EVERY + 1):
        factories.make_conversation(dataset=dataset, turns=0)
    told: list[int] = []
    export_dataset(dataset, "jsonl", tmp_path / "out", progress=told.append)
    assert told == [TOLD_EVERY]


def test_reading_conversations_takes_the_same_few_queries_whatever_their_size(django_assert_max_num_queries) -> None:
    dataset = factories.make_dataset()
    website = Website.objects.create(dataset=dataset, name="x")
    for _ in range(5):
        factories.make_conversation(turns=3, steps=3, dataset=dataset, website=website)
    with django_assert_max_num_queries(4):
        records = list(dataset.conversations.records())
    assert sum(len(turn.steps) for item in records for turn in item.turns) == 45


def test_unicode_line_ends_do_not_break_a_line_of_jsonl(tmp_path: Path) -> None:
    item = record("x", extra={"text": "one\u2028two\x85three"})
    with (tmp_path / "x.jsonl").open("wb") as out:
        writer("jsonl")([item], out)
    assert list(reader("jsonl")(tmp_path / "x.jsonl")) == [item]
