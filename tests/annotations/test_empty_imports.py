"""An import of which nothing came has failed, and leaves no empty dataset behind."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotations import tasks
from annotations.corpus import importing
from annotations.datasets.miniwob_demos import NOT_SOLVED
from annotations.jobs import running
from annotations.models import Dataset, Job
from annotations.models.jobs.worker_leases import MAX_ATTEMPTS
from tests import factories
from tests.annotations.small_files import conversation, write
from tests.annotations.test_jobs import work, zipped
from tests.annotations.test_miniwob_demos import episode

pytestmark = pytest.mark.django_db
State = Job.State
TWO = [conversation("one"), conversation("two")]
PLAIN = json.dumps(TWO).encode()


@pytest.fixture(autouse=True)
def _folders(settings, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    settings.IMPORT_ROOT = tmp_path / "import"
    settings.IMPORT_ROOT.mkdir()


def start_import(*, upload: bytes | None = None, filename: str = "x.json", format: str = "mt-mind2web", path: str = ""):
    sent = None if upload is None else SimpleUploadedFile(filename, upload)
    project = factories.make_project()
    admin = factories.make_user("admin", project)
    return running.start_import(user=admin, project=project, format=format, name="new", upload=sent, path=path)


@pytest.mark.parametrize(
    ("upload", "filename", "said"),
    [
        (b'[{"task_id": "bad"}]', "x.json", running.ALL_BAD),
        (b"[]", "x.json", running.NO_RECORD),
        (b"no json at all", "x.json", running.ALL_BAD),
        (zipped({"readme.txt": b"hello"}), "x.zip", "x holds no mt-mind2web files"),
        (zipped({"../climbs.json": b"[]"}), "x.zip", "the archive holds the unsafe name"),
    ],
)
def test_an_import_of_which_nothing_came_has_failed_and_leaves_no_dataset(
    upload: bytes, filename: str, said: str
) -> None:
    job = work(start_import(upload=upload, filename=filename))
    assert job.state == State.FAILED
    assert said in job.last_error
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("name", ["My data (1).json.gz", "Gespräche von März.json.gz", "会話.json.xz"])
def test_what_is_wrong_with_a_file_is_said_of_the_name_that_its_sender_knows(name: str) -> None:
    cut_off = (lzma if name.endswith("xz") else gzip).compress(b"[" + b" " * 5000)[:-20]
    job = work(start_import(upload=cut_off, filename=name))
    assert {error["file"] for error in job.report["errors"]} == {name}
    assert any(error["message"].startswith(f"{name} is cut off after ") for error in job.report["errors"])


def test_an_archive_that_is_refused_is_named_as_its_sender_did() -> None:
    whole = zipped({"a.json": PLAIN})
    broken = whole.replace(b"PK\x01\x02", b"PK\x01\x03")
    job = work(start_import(upload=broken, filename="My data (1).zip"))
    assert "My data (1).zip" in job.last_error


def test_an_import_of_records_that_are_all_left_out_says_so() -> None:
    unsolved = json.dumps(episode(rawReward=-1)).encode()
    job = work(start_import(upload=unsolved, filename="login-user.jsonl", format="miniwob-demos"))
    assert (job.state, job.last_error) == (State.FAILED, f"Every record was left out: {NOT_SOLVED} (1)")
    assert job.report["reasons"] == {NOT_SOLVED: 1}
    assert not Dataset.objects.exists()


def test_a_cancelled_import_of_which_nothing_came_leaves_no_dataset() -> None:
    job = Job.objects.claim(start_import(upload=PLAIN).pk)
    job.cancel()
    running.run(job)
    assert not Dataset.objects.exists()


def test_an_import_whose_worker_died_every_time_leaves_no_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    job = start_import(upload=PLAIN)
    monkeypatch.setattr(running, "import_files", lambda *_, **__: 1 / 0)
    for _ in range(MAX_ATTEMPTS):
        assert not Dataset.objects.exists() or Job.objects.get().state == State.QUEUED
        with pytest.raises(ZeroDivisionError):
            running.run(Job.objects.claim(job.pk))
    tasks.reap()
    assert Job.objects.get().state == State.FAILED
    assert not Dataset.objects.exists()


def test_an_import_that_is_cancelled_between_two_slices_leaves_no_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    job = start_import(upload=json.dumps([{"task_id": "bad"}, *TWO]).encode())
    running.run(Job.objects.claim(job.pk))
    tasks.reap()
    assert Dataset.objects.exists()  # the import goes on
    Job.objects.get().cancel()
    tasks.reap()
    assert not Dataset.objects.exists()


def test_a_failed_import_that_is_tried_again_makes_its_dataset_again(settings) -> None:
    path = write(settings.IMPORT_ROOT / "x.json", [{"task_id": "bad"}])
    job = work(start_import(path="x.json"))
    assert (job.state, job.dataset) == (State.FAILED, None)
    write(path, TWO)
    assert work(running.retry(job)).state == State.DONE
    assert job.dataset.conversations.count() == 2


USES = {
    "job": lambda dataset: factories.make_job(dataset.project, dataset=dataset),
    "campaign": lambda dataset: factories.make_campaign(dataset.project, dataset),
    "target": lambda dataset: factories.make_campaign(dataset.project, target=dataset),
    "source task": factories.make_source_task,
    "run": factories.make_run,
    "model": factories.make_trained_model,
}


@pytest.mark.parametrize("use", ["before", *USES])
def test_a_failed_import_leaves_a_dataset_that_was_there_before_or_is_in_use(
    monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    """Also one that somebody has begun to use while the import went on."""
    job = start_import(upload=PLAIN)
    if use == "before":
        factories.make_dataset(job.project, name="new")

    def fail(_: str, __: Path, dataset: Dataset, **___) -> None:
        if use in USES:
            USES[use](dataset)
        raise ValueError("in the middle of it")

    monkeypatch.setattr(running, "import_files", fail)
    assert work(job).last_error == "in the middle of it"
    assert Dataset.objects.filter(name="new").exists()


def test_what_landed_of_a_cancelled_import_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)
    monkeypatch.setattr(running, "SLICE_SECONDS", -1)
    job = start_import(upload=PLAIN)
    running.run(Job.objects.claim(job.pk))
    claimed = Job.objects.claim(job.pk)
    claimed.cancel()
    running.run(claimed)
    job.refresh_from_db()
    assert (job.state, job.dataset.conversations.count()) == (State.CANCELLED, 1)
