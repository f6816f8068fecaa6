"""Import and export jobs: what is refused, what runs, what is cleaned up."""

import gzip
import json
import lzma
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.db import transaction

from annotations import tasks
from annotations.corpus import importing
from annotations.jobs import running, uploads
from annotations.models import Conversation, Dataset, Job, Snapshot, Step
from annotations.models.corpus.pages import compress, digest
from tests import factories
from tests.annotations.small_files import conversation, write

pytestmark = pytest.mark.django_db
State = Job.State
TWO = [conversation("one"), conversation("two")]
PLAIN = json.dumps(TWO).encode()


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    settings.IMPORT_ROOT = tmp_path / "import"
    settings.IMPORT_ROOT.mkdir()


@pytest.fixture
def project():
    return factories.make_project()


@pytest.fixture
def admin(project):
    return factories.make_user("admin", project)


@pytest.fixture
def start(project, admin):
    def start_import(**fields) -> Job:
        if isinstance(fields.get("upload"), bytes):
            fields["upload"] = SimpleUploadedFile(fields.pop("filename", "x.json"), fields["upload"])
        return running.start_import(
            **{"user": admin, "project": project, "format": "mt-mind2web", "name": "new"} | fields
        )

    return start_import


def work(job: Job) -> Job:
    """As a worker does, without a broker: slices until the job is over."""
    while (claimed := Job.objects.claim(job.pk)) is not None and running.run(claimed):
        pass
    job.refresh_from_db()
    return job


def zipped(members: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def left_files(settings) -> list[Path]:
    """Uploads and what was made of them."""
    folders = [settings.MEDIA_ROOT / "uploads", settings.VAR_DIR / "scratch"]
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"format": "csv"}, "format", "Choose one of"),
        ({"name": "No Slug"}, "name", "lower-case"),
        ({"name": "n" * 101}, "name", "at most 100"),
        ({"split": "tests"}, "split", "Choose one of"),
        ({"limit": 0}, "limit", "at least one"),
        ({"path": "x.json"}, "upload", "Give either"),
        ({"upload": None}, "upload", "Give either"),
        ({"upload": None, "path": "missing"}, "path", "There is no missing"),
        ({"upload": None, "path": "../x"}, "path", "leads out"),
        ({"upload": None, "path": "/etc/passwd"}, "path", "leads out"),
        ({"upload": None, "path": "link/passwd"}, "path", "leads out"),
        ({"upload": None, "path": "a\0b"}, "path", "cannot be read"),
    ],
)
def test_mistakes_are_told_at_their_field(start, settings, fields: dict, field: str, message: str) -> None:
    (settings.IMPORT_ROOT / "link").symlink_to("/etc")
    write(settings.IMPORT_ROOT / "x.json", TWO)
    with pytest.raises(ValidationError) as caught:
        start(**{"upload": PLAIN} | fields)
    assert message in caught.value.message_dict[field][0]
    assert not Job.objects.exists()
    assert left_files(settings) == []


def test_a_name_of_another_project_is_taken(start) -> None:
    factories.make_dataset(name="new")
    with pytest.raises(ValidationError, match="taken by another project"):
        start(upload=PLAIN)


def test_too_many_unfinished_jobs_are_refused(start, project, admin) -> None:
    for _ in range(running.MAX_RUNNING_PER_USER):
        factories.make_job(project, created_by=admin)
    with pytest.raises(ValidationError, match="unfinished jobs"):
        start(upload=PLAIN)


def test_a_large_upload_is_linked_not_copied(start, settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    upload = TemporaryUploadedFile("x.json", "application/json", len(PLAIN), None)
    upload.write(PLAIN)
    upload.flush()
    job = start(upload=upload)
    assert job.path.stat().st_ino == Path(upload.temporary_file_path()).stat().st_ino
    upload.close()
    assert job.path.read_bytes() == PLAIN


def test_a_transaction_that_is_rolled_back_queues_nothing(start, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks() as kept:
        start(upload=PLAIN)
    with django_capture_on_commit_callbacks() as dropped, transaction.atomic():
        start(upload=PLAIN)
        transaction.set_rollback(True)
    assert (len(kept), len(dropped), Job.objects.count()) == (1, 0, 1)


@pytest.mark.parametrize(
    ("filename", "data"),
    [
        ("x.json", PLAIN),
        ("x.json.gz", gzip.compress(PLAIN)),
        ("x.json.xz", lzma.compress(PLAIN)),
        ("x.zip", zipped({"train/x.json": PLAIN})),
        ("x.zip", zipped({"data/train/x.json.gz": gzip.compress(PLAIN)})),
    ],
)
def test_an_upload_is_imported_and_then_removed(start, settings, filename: str, data: bytes) -> None:
    job = work(start(upload=data, filename=filename))
    assert (job.state, job.last_error) == (State.DONE, "")
    assert (job.report["conversations"], job.dataset.conversations.count()) == (2, 2)
    assert left_files(settings) == []


def test_a_folder_of_the_server_is_imported_and_stays(start, settings) -> None:
    path = write(settings.IMPORT_ROOT / "data/test_task/x.json", TWO)
    other = start(upload=PLAIN, name="other")
    job = work(start(path="data"))
    assert job.state == State.DONE
    assert left_files(settings) == [other.path]  # what others have uploaded stays too
    assert set(job.dataset.conversations.values_list("split", flat=True)) == {"test_task"}
    assert path.exists()


@pytest.mark.slow
def test_a_zip_bomb_is_refused_and_leaves_nothing_unpacked(start, settings) -> None:
    job = work(start(upload=zipped({"x.json": b"\0" * (80 << 20)}), filename="bomb.zip"))
    assert job.state == State.FAILED
    assert "expands more than 800 times" in job.last_error
    assert left_files(settings) == []


def test_an_import_of_a_refused_archive_cannot_be_retried(start) -> None:
    job = work(start(upload=zipped({"../x.json": PLAIN}), filename="bomb.zip"))
    with pytest.raises(ValidationError, match="upload is gone"):
        running.retry(job)


def test_a_name_that_climbs_out_of_a_zip_is_refused(start, settings) -> None:
    job = work(start(upload=zipped({"../../x.json": PLAIN}), filename="x.zip"))
    assert (job.state, "unsafe name" in job.last_error) == (State.FAILED, True)
    assert left_files(settings) == []


def test_a_damaged_member_of_a_zip_is_reported_and_the_others_land(start) -> None:
    data = zipped({"good.json": PLAIN, "wrong.json": json.dumps([conversation("three")]).encode()})
    broken = bytearray(data)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        offset = archive.getinfo("wrong.json").header_offset
    broken[offset + 30 + len("wrong.json") + 40] ^= 0xFF
    job = work(start(upload=bytes(broken), filename="x.zip"))
    assert (job.state, job.report["conversations"]) == (State.DONE_WITH_ERRORS, 2)
    assert ("wrong.json", "is damaged") in [(e["file"], e["message"][:10]) for e in job.report["errors"]]


def test_an_upload_of_bad_records_only_has_failed(start) -> None:
    job = work(start(upload=b'[{"task_id": "bad"}]'))
    assert (job.state, job.last_error) == (State.FAILED, "No record could be imported; see the errors below.")
    assert job.report["errors"][0]["file"] == "x.json"


def test_a_folder_that_vanished_is_explained_without_its_place_on_the_disk(start, settings) -> None:
    path = write(settings.IMPORT_ROOT / "x.json", TWO)
    job = start(path="x.json")
    path.unlink()
    assert work(job).last_error == "There is no x.json in the server's import folder."


def test_slices_together_give_the_same_as_one_run(start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    job = start(upload=PLAIN)
    assert running.run(Job.objects.claim(job.pk))
    job.refresh_from_db()
    assert (job.state, job.progress["resume"]["record"], Conversation.objects.count()) == (State.QUEUED, 1, 1)
    monkeypatch.setattr(running, "SLICE_SECONDS", 100)
    assert work(job).state == State.DONE
    assert (job.report["conversations"], job.report["skipped"]) == (2, 0)


def test_an_unexpected_error_is_noted_and_tried_again(start, monkeypatch: pytest.MonkeyPatch) -> None:
    job = start(upload=PLAIN)
    Dataset.objects.create(project=job.project, name="new")
    monkeypatch.setattr(running, "import_files", lambda *_, **__: 1 / 0)
    for state in (State.QUEUED, State.QUEUED, State.FAILED):
        with pytest.raises(ZeroDivisionError):
            running.run(Job.objects.claim(job.pk))
        job.refresh_from_db()
        assert (job.state, job.last_error) == (state, "ZeroDivisionError: division by zero")


def test_a_queued_job_is_cancelled_at_once(start) -> None:
    job = start(upload=PLAIN)
    job.cancel()
    assert (work(job).state, Conversation.objects.count()) == (State.CANCELLED, 0)


def test_a_running_job_is_cancelled_at_its_next_batch(start) -> None:
    job = Job.objects.claim(start(upload=PLAIN).pk)
    job.cancel()
    assert not running.run(job)
    job.refresh_from_db()
    assert (job.state, Conversation.objects.count()) == (State.CANCELLED, 0)


def test_a_running_export_is_cancelled_too(project, admin, settings) -> None:
    dataset = factories.make_conversation(dataset=factories.make_dataset(project)).dataset
    job = Job.objects.claim(running.start_export(user=admin, dataset=dataset, format="jsonl").pk)
    job.cancel()
    running.run(job)
    job.refresh_from_db()
    assert (job.state, job.file) == (State.CANCELLED, "")


def test_a_cancelled_import_is_retried_with_the_same_upload(start) -> None:
    job = start(upload=PLAIN)
    job.cancel()
    assert work(running.retry(job)).state == State.DONE


def test_an_import_that_ended_with_errors_starts_anew(start, settings) -> None:
    path = write(settings.IMPORT_ROOT / "x.json", [conversation("one"), {"task_id": "bad"}])
    job = work(start(path="x.json"))
    assert job.state == State.DONE_WITH_ERRORS
    write(path, TWO)
    assert work(running.retry(job)).state == State.DONE
    assert (job.report["errors"], job.dataset.conversations.count()) == ([], 2)


def test_nothing_is_retried_that_went_well_or_lost_its_upload(start) -> None:
    done = work(start(upload=PLAIN))
    with pytest.raises(ValidationError, match="upload is gone"):
        running.retry(done)
    other = start(upload=PLAIN, name="other")
    with pytest.raises(ValidationError, match="ended without success"):
        running.retry(other)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", ".hidden", "ä" * 300 + ".json", "", "a\0b", "a\nb", "\udcff", ".."]
)
def test_a_safe_name_is_a_plain_file_name(name: str) -> None:
    safe = uploads.safe_name(name)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / safe).write_text("x")
        assert [path.name for path in Path(folder).iterdir()] == [safe]
    assert not safe.startswith(".")


def exported(user, dataset: Dataset, **fields) -> Job:
    return work(running.start_export(**{"user": user, "dataset": dataset, "format": "mt-mind2web"} | fields))


@pytest.fixture
def dataset(project) -> Dataset:
    dataset = factories.make_dataset(project, name="shop")
    for split in ("train", "test_task"):
        factories.make_conversation(dataset=dataset, split=split)
    return dataset


def test_an_export_is_a_zip_with_a_folder_per_split(admin, dataset: Dataset) -> None:
    job = exported(admin, dataset)
    assert (job.state, job.report["conversations"], job.report["files"]) == (State.DONE, 2, 2)
    with zipfile.ZipFile(job.path) as archive:
        assert archive.namelist() == ["shop/test_task/shop.json", "shop/train/shop.json"]


def test_two_export_jobs_give_the_same_bytes(admin, dataset: Dataset) -> None:
    assert exported(admin, dataset).path.read_bytes() == exported(admin, dataset).path.read_bytes()


def test_test_gold_is_left_out_for_those_who_may_not_see_it(project, dataset: Dataset) -> None:
    reviewer = factories.make_user("reviewer", project)
    with zipfile.ZipFile(exported(reviewer, dataset).path) as archive:
        assert archive.namelist() == ["shop/train/shop.json"]
    with pytest.raises(ValidationError, match="not open to you"):
        running.start_export(user=reviewer, dataset=dataset, format="jsonl", split="test_task")


def test_an_export_of_a_person_who_is_gone_gives_nothing_away(admin, dataset: Dataset) -> None:
    job = running.start_export(user=admin, dataset=dataset, format="jsonl")
    admin.delete()
    assert (work(job).state, job.file) == (State.FAILED, "")


def test_an_export_names_the_pages_that_it_goes_without(admin, dataset: Dataset) -> None:
    step = Step.objects.first()
    data = b"<html"
    bad = Snapshot.objects.create(sha256=digest(data), raw_size=5, stored_size=1, node_count=1, data=compress(data))
    Step.objects.filter(pk=step.pk).update(snapshot=bad)
    job = exported(admin, dataset, format="weblinx")
    assert (job.state, job.report["conversations"]) == (State.DONE, 2)
    (warning,) = job.report["warnings"]
    assert warning.startswith(f"a page of {step.turn.conversation.source_id} is missing: the page is not well-formed")
    assert "warnings" not in exported(admin, dataset, format="jsonl").report


def test_an_export_that_cannot_be_written_is_explained(admin, dataset: Dataset) -> None:
    job = exported(admin, dataset, format="mind2web")
    assert (job.state, "a Mind2Web task has one" in job.last_error) == (State.FAILED, True)


def test_the_message_of_a_job_that_is_over_does_nothing(admin, dataset: Dataset) -> None:
    job = exported(admin, dataset)
    before = job.path.stat().st_mtime_ns
    tasks.run_job(job.pk)
    assert job.path.stat().st_mtime_ns == before
