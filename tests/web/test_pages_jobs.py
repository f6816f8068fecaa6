"""Pages of imports and exports: starting, watching, cancelling, downloading."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotations.access.downloads import safe_cell
from annotations.models import Job, Worker
from annotations.models.jobs.worker_leases import owner_name
from annotations.storage import store
from evaluation.models import Shard
from tests import factories
from tests.signed_in import client_of
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> Path:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    settings.IMPORT_ROOT = tmp_path / "import"
    settings.VAR_DIR.mkdir()  # the banner looks how full its disk is
    settings.IMPORT_ROOT.mkdir()
    return tmp_path


def job_client(job: Job, role: str = "admin", **fields) -> Client:
    return client_of(factories.make_user(role, job.project, **fields))


def form_of(project, **fields) -> dict:
    return {"project": project.pk, "format": "mt-mind2web", "name": "shop", "split": "", "limit": ""} | fields


def test_an_upload_becomes_a_job_and_its_page_is_shown() -> None:
    project = factories.make_project()
    file = SimpleUploadedFile("records.json", b"[]")
    response = client_of(factories.make_user("admin", project)).post(
        "/datasets/import/", form_of(project, limit="3", split="dev", upload=file)
    )
    job = Job.objects.get()
    assert response.url == f"/jobs/{job.pk}/"
    assert (job.params["format"], job.params["name"], job.params["limit"], job.params["split"]) == (
        "mt-mind2web",
        "shop",
        3,
        "dev",
    )
    assert job.path.read_bytes() == b"[]"


def test_a_path_on_the_server_becomes_a_job() -> None:
    project = factories.make_project()
    from django.conf import settings

    (settings.IMPORT_ROOT / "records.json").write_text("[]")
    client_of(factories.make_user("admin", project)).post("/datasets/import/", form_of(project, path="records.json"))
    assert Job.objects.get().params["path"] == "records.json"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"format": "nonsense", "path": "x"}, "format", "nonsense is not one of"),
        ({"name": "Not a slug", "path": "x"}, "name", "lower-case"),
        ({}, "upload", "either a file"),
        ({"path": "../outside"}, "path", "leads out"),
        ({"path": "missing.json"}, "path", "no missing.json"),
        ({"path": "x", "limit": "0"}, "limit", "greater than or equal to 1"),
    ],
)
def test_mistakes_are_told_at_their_field_and_nothing_typed_is_lost(fields: dict, field: str, message: str) -> None:
    project = factories.make_project()
    values = form_of(project, split="dev") | fields
    response = client_of(factories.make_user("admin", project)).post("/datasets/import/", values)
    assert message in " ".join(response.context["form"].errors[field])
    page = response.content.decode()
    assert f'value="{values["name"]}"' in page
    assert '<option value="dev" selected>' in page
    assert not Job.objects.exists()


def test_the_name_of_another_projects_dataset_is_taken() -> None:
    factories.make_dataset(name="theirs")
    project = factories.make_project()
    values = form_of(project, name="theirs", upload=SimpleUploadedFile("a.json", b"[]"))
    response = client_of(factories.make_user("admin", project)).post("/datasets/import/", values)
    assert "taken" in response.context["form"].errors["name"][0]


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader"])
def test_only_admins_import(role: str) -> None:
    client = client_of(factories.make_user(role))
    assert client.get("/datasets/import/").status_code == 403
    assert client.post("/datasets/import/", {}).status_code == 403


def test_nobody_imports_into_a_foreign_project() -> None:
    foreign = factories.make_project()
    values = form_of(foreign, upload=SimpleUploadedFile("a.json", b"[]"))
    response = client_of(factories.make_user("admin")).post("/datasets/import/", values)
    assert "project" in response.context["form"].errors
    assert not Job.objects.exists()


def test_an_import_without_a_csrf_token_is_refused() -> None:
    project = factories.make_project()
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.make_user("admin", project))
    values = form_of(project, upload=SimpleUploadedFile("a.json", b"[]"))
    assert client.post("/datasets/import/", values).status_code == 403
    assert not Job.objects.exists()


def test_a_body_that_is_too_large_is_refused_before_it_is_read(settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = client_of(factories.make_user("admin")).post(
        "/datasets/import/", b"", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH=str(2 * 1024**2)
    )
    assert response.status_code == 413


def test_the_servers_files_are_listed_without_links_and_hidden_ones(settings) -> None:
    root = settings.IMPORT_ROOT
    (root / "demos").mkdir()
    (root / "a.json").write_text("[]")
    (root / ".hidden").write_text("")
    (root / "way-out").symlink_to("/etc")
    client = client_of(factories.make_user("admin"))
    entries = client.get("/datasets/import/").context["entries"]
    assert [(entry["path"], entry["is_folder"]) for entry in entries] == [("demos", True), ("a.json", False)]
    for folder in ("way-out", "../..", "/etc", "missing"):
        assert client.get("/datasets/import/", {"folder": folder}).context["entries"] == []


def running(**fields) -> Job:
    now = timezone.now()
    return factories.make_job(
        kind="import",
        state="running",
        lease_owner="box:7",
        heartbeat_at=now - timedelta(seconds=4),
        progress={"phase": "file 1 of 2", "done": 250, "total": 1000, "unit": "records", "per_second": 50.0},
        params={"format": "jsonl", "name": "shop", "path": ""},
        **fields,
    )


def test_a_running_job_shows_phase_counts_rate_time_left_and_worker() -> None:
    job = running()
    state = job_client(job, "reader").get(f"/jobs/{job.pk}/state/").json()
    assert state["fields"]["headline"] == "250 of 1,000 records"
    told = r"file 1 of 2 · 50 records/s · about 15 s left · box:7, last heard \d+ s ago"
    assert re.fullmatch(told, state["fields"]["detail"])
    assert state["bar"] == [0.25, 0.0, 0.0]
    assert state["running"] is True


def test_the_version_changes_when_the_page_must_be_read_again() -> None:
    job = running()
    client = job_client(job)
    url = f"/jobs/{job.pk}/state/"
    first = client.get(url).json()["version"]
    Job.objects.filter(pk=job.pk).update(progress=job.progress | {"done": 300})
    assert client.get(url).json()["version"] == first
    Job.objects.filter(pk=job.pk).update(report={"error_count": 1})
    second = client.get(url).json()["version"]
    Job.objects.filter(pk=job.pk).update(state="done", finished_at=timezone.now())
    assert len({first, second, client.get(url).json()["version"]}) == 3


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_job_that_ended_early_says_how_far_it_came_and_only_once_how_it_ended(state: str) -> None:
    progress = {"phase": "writing", "done": 12, "total": 40, "unit": "records"}
    why = "The disk is full."
    job = factories.make_job(kind="export", state=state, progress=progress, last_error=why, finished_at=timezone.now())
    page = job_client(job).get(f"/jobs/{job.pk}/").content.decode()
    assert "Stopped at 12 of 40 records" in page
    assert (page.count(f">{state}<"), page.count(why)) == (1, 1)
    assert f"was {state}" not in page
    Job.objects.filter(pk=job.pk).update(progress={})
    assert "Stopped before anything was done" in job_client(job).get("/jobs/").content.decode()


def test_a_job_that_nobody_takes_says_so() -> None:
    job = factories.make_job()
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(seconds=90))
    detail = job_client(job).get(f"/jobs/{job.pk}/state/").json()["fields"]["detail"]
    assert re.match(r"waiting for 1 min 3\d s: no worker runs: “make run” starts one", detail)


def test_where_a_worker_lives_nobody_is_told_to_start_one() -> None:
    """It may be between two pieces of work."""
    job = factories.make_job(kind="train")
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(seconds=90))
    for queues, said in (
        (["io"], "no worker runs"),
        (["gpu", "gpu.here"], "a worker is about to go on with what waits"),
    ):
        Worker.objects.tell("one", name="gpu@one", host="one", hostname="one", queues=queues)
        assert said in job_client(job).get(f"/jobs/{job.pk}/state/").json()["fields"]["detail"]


def test_a_job_that_waits_for_what_was_cancelled_says_so_until_the_worker_is_free() -> None:
    """Of a shard that only waited when it was cancelled, nothing is waited for."""
    job, one = factories.make_job(kind="train"), factories.make_shard()
    factories.make_shard(phase="deciding", lease_owner=owner_name())
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(seconds=90))
    registry.tell("gpu@here", ("gpu",), 1)
    shard = Shard.objects.claim(one.pk)
    shard.tell("deciding, 8 steps at a time", loaded=True)
    Shard.objects.all().cancel()

    def detail() -> str:
        return job_client(job).get(f"/jobs/{job.pk}/state/").json()["fields"]["detail"]

    assert detail().endswith(": the only worker is busy with a run that was cancelled, whose batch ends")
    shard.let_go()
    assert detail().endswith("a worker is about to go on with what waits")


def test_a_job_that_waits_for_its_turn_says_what_is_before_it() -> None:
    """Also to who may not see the other project: of its work, only the kind. A terminal is no worker."""
    job, busy = factories.make_job(kind="train"), factories.make_job(kind="induce", state="running")
    own, others = factories.make_job(kind="import"), timezone.now() + timedelta(seconds=60)
    held = {"lease_owner": owner_name(), "lease_until": others, "heartbeat_at": timezone.now()}
    Job.objects.filter(pk=busy.pk).update(**held)
    Job.objects.filter(pk__in=[job.pk, own.pk]).update(created_at=timezone.now() - timedelta(seconds=90))

    def detail(of: Job) -> str:
        return job_client(of).get(f"/jobs/{of.pk}/state/").json()["fields"]["detail"]

    assert detail(job).endswith("no worker runs: “make run” starts one")
    registry.tell("gpu@here", ("gpu",), 1)
    busy_with = r"waiting for 1 min 3\d s: the only worker is busy with other work \(workflow induction\)$"
    assert re.match(busy_with, detail(job))
    registry.tell("gpu@here", ("gpu",), 2)
    assert detail(job).endswith("a worker is about to go on with what waits")
    assert "no worker runs" in detail(own), "that takes files"


ERRORS = [{"file": "a.json", "record": "[0]", "field": "=HYPERLINK(1)", "message": "<b>is</b> missing"}]


def test_errors_are_listed_escaped_and_downloadable_without_formulas() -> None:
    job = factories.make_job(kind="import", state="done_with_errors", report={"errors": ERRORS, "error_count": 1})
    client = job_client(job)
    assert "&lt;b&gt;is&lt;/b&gt; missing" in client.get(f"/jobs/{job.pk}/").content.decode()
    table = client.get(f"/jobs/{job.pk}/errors.csv")
    assert "'=HYPERLINK(1)" in table.content.decode()
    assert table["Content-Disposition"].startswith("attachment")
    assert json.loads(client.get(f"/jobs/{job.pk}/errors.json").content) == ERRORS
    assert client.get(f"/jobs/{job.pk}/errors.exe").status_code == 404


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_cell_begins_as_a_formula_does(start: str) -> None:
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"
    assert safe_cell(f"1{start}1") == f"1{start}1"
    assert safe_cell(-1) == -1, "a number is none"


def test_cancelling_a_queued_job_ends_it_and_trying_again_queues_it() -> None:
    job = factories.make_job()
    client = job_client(job)
    client.post(f"/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert job.state == "cancelled"
    client.post(f"/jobs/{job.pk}/retry/")
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_job_that_cannot_be_tried_again_says_why() -> None:
    job = factories.make_job(kind="import", state="failed", params={"format": "jsonl", "name": "x", "path": ""})
    response = job_client(job).post(f"/jobs/{job.pk}/retry/", follow=True)
    assert "The upload is gone" in response.content.decode()


@pytest.mark.parametrize("verb", ["cancel", "retry"])
def test_a_reader_can_watch_a_job_and_nothing_more(verb: str) -> None:
    job = factories.make_job()
    client = job_client(job, "reader")
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert f"/jobs/{job.pk}/cancel/" not in page
    assert client.post(f"/jobs/{job.pk}/{verb}/").status_code == 403
    assert client.get(f"/jobs/{job.pk}/{verb}/").status_code == 405


def finished_export(**fields) -> Job:
    job = factories.make_job(state="done", report={"conversations": 1, "files": 1, "bytes": 3}, **fields)
    job.file = f"exports/{job.pk}.zip"
    store.save(job.file, ContentFile(b"zip"))
    job.save()
    return job


def test_an_export_is_downloaded_as_an_attachment() -> None:
    job = finished_export()
    response = job_client(job).get(f"/jobs/{job.pk}/file/")
    assert response.getvalue() == b"zip"
    assert response["Content-Disposition"] == 'attachment; filename="sample-jsonl.zip"'
    assert response["X-Content-Type-Options"] == "nosniff"


def test_exports_of_a_dataset_are_downloaded_under_names_of_their_own() -> None:
    chosen = [("jsonl", ""), ("mind2web", ""), ("mind2web", "train")]
    jobs = [finished_export(params={"format": format, "name": "sample", "split": split}) for format, split in chosen]
    headers = [job_client(job).get(f"/jobs/{job.pk}/file/")["Content-Disposition"] for job in jobs]
    names = [header.removeprefix("attachment; filename=") for header in headers]
    assert names == ['"sample-jsonl.zip"', '"sample-mind2web.zip"', '"sample-mind2web-train.zip"']


def test_an_export_is_not_for_everybody() -> None:
    """Readers may not export; a reviewer without the right to test gold gets own files only."""
    job = finished_export()
    url = f"/jobs/{job.pk}/file/"
    assert job_client(job, "reader").get(url).status_code == 403
    reviewer = factories.make_user("reviewer", job.project)
    assert client_of(reviewer).get(url).status_code == 403
    Job.objects.filter(pk=job.pk).update(created_by=reviewer, report=job.report | {"test_gold": True})
    assert client_of(reviewer).get(url).status_code == 403  # made when they might still see it
    Job.objects.filter(pk=job.pk).update(report=job.report | {"test_gold": False})
    assert client_of(reviewer).get(url).status_code == 200
    assert client_of(factories.make_user("admin")).get(url).status_code == 404


def test_an_upload_is_never_given_back() -> None:
    job = finished_export(kind="import")
    assert job_client(job).get(f"/jobs/{job.pk}/file/").status_code == 404


def test_an_export_is_started_from_the_dataset() -> None:
    dataset = factories.make_conversation().dataset
    client = client_of(factories.make_user("admin", dataset.project))
    url = f"/datasets/{dataset.name}/export/"
    assert client.post(url, {"format": "jsonl", "split": "train"}).url == f"/jobs/{Job.objects.get().pk}/"
    assert Job.objects.get().params == {"format": "jsonl", "name": dataset.name, "split": "train"}


def test_a_wrong_export_form_is_shown_again_with_its_mistake() -> None:
    dataset = factories.make_conversation().dataset
    client = client_of(factories.make_user("admin", dataset.project))
    response = client.post(f"/datasets/{dataset.name}/export/", {"format": "docx"})
    assert "docx is not one of" in response.content.decode()


def test_the_list_shows_jobs_of_own_projects() -> None:
    job = factories.make_job(params={"format": "jsonl", "name": "ours"})
    factories.make_job(params={"format": "jsonl", "name": "theirs"})
    page = job_client(job, "reader").get("/jobs/").content.decode()
    assert "ours" in page
    assert "theirs" not in page


def test_jobs_of_another_project_do_not_exist() -> None:
    job = finished_export()
    client = client_of(factories.make_user("admin"))
    for path in ("", "state/", "file/", "errors.csv"):
        assert client.get(f"/jobs/{job.pk}/{path}").status_code == 404
    for path in ("cancel/", "retry/"):
        assert client.post(f"/jobs/{job.pk}/{path}").status_code == 404
