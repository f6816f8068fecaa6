"""What a recorder wrote onto the target is no part of the stored page, and comes back with an export."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotations.corpus.exporting import export_dataset
from annotations.corpus.importing import import_files
from annotations.datasets import reader
from annotations.datasets.recorder_marks import put_back, take_marks
from annotations.datasets.records import CandidateRecord, StepRecord
from annotations.models import Conversation, Dataset, Step
from annotations.models.corpus.candidates import pack_candidates
from annotations.releases.redacting import redact
from annotations.releases.releasing import make_release
from annotations.releases.scanning import scan_dataset
from tests import factories
from tests.annotations.small_files import conversation, write

UID = "6c7a7082-897e-41c7-9688-4b0f3d778cdb"
MARKS = [
    f'<b backend_node_id="31" data_pw_testid_buckeye="{UID}" id="x">Go</b>',
    f"<b data_pw_testid_buckeye='{UID}'>Go</b>",
    f"<b data_pw_testid_buckeye={UID}>Go</b>",
    "<b data_pw_testid_buckeye>Go</b>",
    '<b data_pw_testid_buckeye="of-another-action" c="">Go</b>',
    f'<b\n  data-recorded-as = "{UID}"/>',
    f'<b x="{UID}" data_pw_testid_buckeye="{UID}" y="{UID}">Go</b>',
]


def step(**fields: Any) -> StepRecord:
    return StepRecord(**{"source_id": UID, "operation": "CLICK"} | fields)


@pytest.mark.parametrize("html", MARKS)
@pytest.mark.parametrize("name", ["html", "raw_html", "html_after"])
def test_marks_of_the_target_leave_a_page_and_come_back_to_the_letter(name: str, html: str) -> None:
    marked = step(**{name: f"<p>before</p>{html * 2}<p>after</p>"})
    clean, marks = take_marks(marked)
    assert UID not in getattr(clean, name)
    assert "buckeye" not in getattr(clean, name)
    assert put_back(clean, json.loads(json.dumps(marks))) == marked


@pytest.mark.parametrize(
    "attributes",
    [
        {"data_pw_testid_buckeye": UID},
        {"class": "a", "data_pw_testid_buckeye": UID, "id": "x"},
        {"data_pw_testid_buckeye": UID, "recorded": UID, "id": "x"},
        {"id": "x", "recorded": UID, "data_pw_testid_buckeye": "other"},
    ],
)
def test_marks_leave_the_attributes_of_candidates(attributes: dict[str, str]) -> None:
    records = tuple(CandidateRecord(str(n), "b", json.dumps(attributes, indent=n)) for n in range(3))
    marked = step(positives=records[:1], negatives=records[1:])
    clean, marks = take_marks(marked)
    kept = {name: value for name, value in attributes.items() if name in ("class", "id")}
    assert [json.loads(c.attributes) for c in (*clean.positives, *clean.negatives)] == [kept] * 3
    assert put_back(clean, json.loads(json.dumps(marks))) == marked


@pytest.mark.parametrize(
    "html",
    [
        '<b data_pw_testid_buckeye_candidate="1" backend_node_id="4">Go</b>',
        f'<b backend_node_id="{UID}">Go</b>',
        f"<b>the id {UID} in a text</b>",
        f'<b class="a {UID}">Go</b>',
    ],
)
def test_what_stands_on_other_elements_too_stays(html: str) -> None:
    assert take_marks(step(html=html)) == (step(html=html), {})


def test_short_ids_which_any_attribute_may_equal_are_no_marks() -> None:
    plain = step(source_id="1", html='<b tabindex="1">Go</b>')
    assert take_marks(plain) == (plain, {})


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["data_pw_testid_buckeye=", f'a="{UID}', " ", '"data_pw_testid_buckeye":', "a " * 90])
def test_hostile_pages_take_no_longer_than_long_ones(piece: str) -> None:
    page = piece * (2_000_000 // len(piece))
    begun = time.process_time()
    take_marks(step(html=page, negatives=(CandidateRecord("1", "b", page),)))
    assert time.process_time() - begun < 5


def marked_file(folder: Path) -> Path:
    """Two steps whose targets the recorder marked wherever it can; the second one's page is shown after the first."""
    item = conversation("marked", turns=1, steps=2)
    for action in item["turns"][0]["actions"]:
        own = action["action_uid"]
        action["cleaned_html"] = action["cleaned_html"].replace("<button ", f'<button data_pw_testid_buckeye="{own}" ')
        action["raw_html"] = action["cleaned_html"].replace("<button ", f'<button rec="{own}" ')
        action["pos_candidates"][0]["attributes"] = json.dumps({"data_pw_testid_buckeye": own, "type": "submit"})
    return write(folder / "train" / "x.json", [item])


def stored_texts() -> list[str]:
    pages = [page.html for step in Step.objects.all() for page in (step.snapshot, step.raw_snapshot)]
    lists = [record for step in Step.objects.all() for records in step.candidate_records() for record in records]
    return pages + [record.attributes for record in lists]


def assert_no_marks_stored() -> None:
    uids = list(Step.objects.values_list("source_id", flat=True))
    assert uids
    assert not [text for text in stored_texts() if "buckeye" in text or any(f'"{uid}"' in text for uid in uids)]


def records_of(dataset: Dataset) -> list:
    return [row.record() for row in dataset.conversations.prefetch_related("turns__steps", "source_files")]


@pytest.mark.django_db
@pytest.mark.parametrize("format_name", ["mt-mind2web", "jsonl"])
def test_import_of_an_export_of_marked_pages_is_what_was_imported(tmp_path: Path, format_name: str) -> None:
    source, dataset = marked_file(tmp_path), factories.make_dataset()
    assert import_files("mt-mind2web", tmp_path, dataset).errors == []
    assert_no_marks_stored()
    assert records_of(dataset) == [replace(record, split="train") for record in reader("mt-mind2web")(source)]
    export_dataset(dataset, format_name, tmp_path / "out")
    again = import_files(format_name, tmp_path / "out", dataset)
    assert (again.errors, again.conversations, again.unchanged) == ([], 0, 1)


@pytest.mark.slow
@pytest.mark.django_db
def test_releases_hold_marks_apart_and_give_them_back(tmp_path: Path) -> None:
    marked_file(tmp_path)
    dataset = factories.make_dataset()
    import_files("mt-mind2web", tmp_path, dataset)
    release = make_release(dataset, "1", factories.make_superuser(), licence="MIT", consent="yes")
    assert list(release.conversations.records()) == records_of(dataset)


@pytest.mark.django_db
def test_marks_stay_on_their_element_when_private_text_is_taken_out(tmp_path: Path, settings) -> None:
    settings.VAR_DIR = tmp_path / "var"
    source = marked_file(tmp_path)
    text = source.read_text("utf-8").replace("marked_0_0</text>", "ann@mail.example</text>")
    source.write_text(text.replace('type\\": \\"submit', 'value\\": \\"ann@mail.example'), "utf-8")
    dataset = factories.make_dataset()
    import_files("mt-mind2web", tmp_path, dataset)
    (found,) = scan_dataset(dataset).of_kind("email")
    redact(dataset, found, None)
    (record,) = records_of(dataset)
    first = record.turns[0].steps[0]
    assert "ann@mail.example" not in repr(record)
    assert '<button data_pw_testid_buckeye="marked_0_0" backend' in first.html
    assert '<button rec="marked_0_0" data_pw_testid_buckeye="marked_0_0" backend' in first.raw_html
    assert json.loads(first.positives[0].attributes)["data_pw_testid_buckeye"] == "marked_0_0"


def store_as_before(source: Path, dataset: Dataset) -> None:
    """As databases have it that were filled before imports took marks away."""
    import_files("mt-mind2web", source, dataset)
    (record,) = reader("mt-mind2web")(source)
    steps = list(Step.objects.order_by("turn__index", "index"))
    recorded = [step for turn in record.turns for step in turn.steps]
    for row, was, following in zip(steps, recorded, [*recorded[1:], None], strict=True):
        after = factories.make_snapshot(following.html) if following else None
        Step.objects.filter(pk=row.pk).update(
            marks=None,
            snapshot=factories.make_snapshot(was.html),
            raw_snapshot=factories.make_snapshot(was.raw_html),
            candidates=pack_candidates(was.positives, was.negatives),
            snapshot_after=after,
        )


@pytest.mark.django_db
def test_the_command_cleans_what_was_stored_before_and_goes_on_where_it_stopped(tmp_path: Path, capsys) -> None:
    source, dataset = marked_file(tmp_path), factories.make_dataset()
    store_as_before(source, dataset)
    before = records_of(dataset)
    call_command("unmark_steps", limit=1)
    assert Step.objects.filter(marks__isnull=True).count() == 1
    call_command("unmark_steps")
    assert_no_marks_stored()
    assert records_of(dataset) == before
    first, second = Step.objects.order_by("index")
    assert first.snapshot_after_id == second.snapshot_id
    assert import_files("mt-mind2web", source, dataset).unchanged == 1
    call_command("unmark_steps")
    said = capsys.readouterr()
    assert said.out == "1 steps searched\n1 steps searched\n0 steps searched\n"
    assert said.err == ""  # no counts that only a terminal can write over
    assert Conversation.objects.count() == 1
