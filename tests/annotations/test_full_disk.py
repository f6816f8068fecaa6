"""A full disk is said in words, and what was half written is not counted as done."""

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from redis.exceptions import ResponseError

from agents.training.fit.checkpoint import FILE, save_checkpoint
from annotations.jobs import full_disk, running
from annotations.models import Job
from tests import factories
from tests.signed_in import client_of
from webnav_site import health

pytestmark = pytest.mark.django_db
BYTES = 200 * 1024
PASSWORD = "a long one that nobody guesses"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for almost nothing."""
    yield from mounted(tmp_path / "disk", f"size={BYTES}")


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "ro")


def mounted(folder: Path, option: str) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only who may mount file systems can fill one")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def small_files() -> Iterator[None]:
    """No file of this process may grow beyond a few kilobytes, as under a quota."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * 1024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def export_job() -> Job:
    project = factories.make_project()
    dataset = factories.make_dataset(project)
    for _ in range(6):
        conversation = factories.make_conversation(dataset=dataset, turns=2, steps=3)
        conversation.turns.update(instruction="x" * 60_000)
    return running.start_export(user=factories.make_user("admin", project), dataset=dataset, format="jsonl")


def assert_nothing_counts_as_done(job: Job, folder: Path) -> None:
    job.refresh_from_db()
    assert (job.state, job.last_error, job.file) == (Job.State.FAILED, full_disk.MESSAGE, "")
    assert {path.name for path in folder.rglob("*") if path.is_file()} <= {"host-id"}


def test_an_export_onto_a_full_disk_says_so_and_leaves_nothing(settings, small_disk: Path) -> None:
    settings.MEDIA_ROOT = settings.VAR_DIR = small_disk
    job = export_job()
    running.run(Job.objects.claim(job.pk))
    assert_nothing_counts_as_done(job, small_disk)


def test_an_export_beyond_a_quota_says_so_and_leaves_nothing(settings, tmp_path: Path, monkeypatch) -> None:
    settings.MEDIA_ROOT, settings.VAR_DIR = tmp_path / "files", tmp_path
    job = export_job()
    runner = running.RUNNERS[Job.Kind.EXPORT]

    def limited(job: Job) -> bool:
        with small_files():
            return runner(job)

    monkeypatch.setitem(running.RUNNERS, Job.Kind.EXPORT, limited)
    running.run(Job.objects.claim(job.pk))
    assert_nothing_counts_as_done(job, settings.MEDIA_ROOT)


def test_a_checkpoint_that_does_not_fit_leaves_the_one_before(small_disk: Path) -> None:
    import torch

    save_checkpoint(small_disk, {"step": 1})
    before = (small_disk / FILE).read_bytes()
    with pytest.raises((RuntimeError, OSError)) as caught:
        save_checkpoint(small_disk, {"step": torch.zeros(10**6)})
    assert full_disk.said(caught.value)
    assert [(path.name, path.read_bytes()) for path in small_disk.iterdir()] == [(FILE, before)]


def test_a_full_disk_of_postgresql_is_told_and_not_tried_again(monkeypatch) -> None:
    def fill(job: Job) -> bool:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$")
        raise AssertionError

    job = Job.objects.claim(factories.make_job().pk)
    monkeypatch.setitem(running.RUNNERS, Job.Kind.EXPORT, fill)
    assert running.run(job) is False
    job.refresh_from_db()
    assert (job.state, job.last_error) == (Job.State.FAILED, full_disk.MESSAGE)


@pytest.mark.parametrize("table", ["auth_user", "django_session"])
def test_who_cannot_sign_in_as_the_disk_is_full_is_told_so(client: Client, table: str) -> None:
    user = factories.make_user("annotator", factories.make_project())
    user.set_password(PASSWORD)
    user.save()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN "
            "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql"
        )
        cursor.execute(f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION refuse()")
    client.raise_request_exception = False
    answer = client.post("/login/", {"username": user.username, "password": PASSWORD})
    page = answer.content.decode()
    assert answer.status_code == 507
    assert "disk is full. Free some" in page
    assert "takes nothing more" in page


def test_a_redis_that_cannot_write_means_a_full_disk() -> None:
    told = "MISCONF Errors writing to the AOF file: No space left on device"
    assert full_disk.said(ResponseError(told)) == full_disk.MESSAGE


def test_other_errors_are_not_a_full_disk() -> None:
    assert not full_disk.said(OperationalError("connection refused"))
    assert not full_disk.said(FileNotFoundError(2, "no such file"))


def test_an_export_onto_a_read_only_disk_says_so(settings, read_only_disk: Path) -> None:
    settings.MEDIA_ROOT = read_only_disk / "files"
    job = export_job()
    running.run(Job.objects.claim(job.pk))
    job.refresh_from_db()
    assert (job.state, job.last_error, job.file) == (Job.State.FAILED, full_disk.READ_ONLY, "")


@pytest.mark.parametrize("path", ["/api/imports/", "/datasets/import/"])
def test_a_small_upload_onto_a_read_only_disk_is_answered_with_the_reason(settings, read_only_disk: Path, path) -> None:
    settings.MEDIA_ROOT = read_only_disk / "files"
    answer = uploaded(path, b"[]")
    assert (answer.status_code, "mounted read-only" in answer.content.decode()) == (507, True)
    assert not Job.objects.exists()


def test_pages_tell_of_a_full_disk_before_anything_fails(settings, small_disk: Path) -> None:
    settings.VAR_DIR = small_disk
    assert "disk is full" in health.worker_banner()
    assert health.check()["storage"]["ok"] is False


def uploaded(path: str, content: bytes) -> HttpResponse:
    project = factories.make_project()
    client = client_of(factories.make_user("admin", project))
    client.raise_request_exception = False
    field, value = ("file", project.slug) if path.startswith("/api/") else ("upload", project.pk)
    fields = {"project": value, "format": "mt-mind2web", "name": "mine"}
    return client.post(path, fields | {field: SimpleUploadedFile("train.json", content)})


@pytest.mark.parametrize("path", ["/api/imports/", "/datasets/import/"])
def test_an_upload_that_the_disk_cannot_hold_is_answered_with_the_reason(settings, small_disk: Path, path) -> None:
    settings.MEDIA_ROOT = settings.VAR_DIR = settings.FILE_UPLOAD_TEMP_DIR = small_disk
    response = uploaded(path, b"[" + b" " * 2 * BYTES + b"]")
    assert response.status_code == 507
    assert "disk is full. Free some" in response.content.decode()
    assert not Job.objects.exists()
    assert not list(small_disk.iterdir()), "what did not fit is closed and gone, so that there is room for the next one"
