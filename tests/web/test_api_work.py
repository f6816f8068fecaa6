"""Starting, watching and ending work over the API; downloads; the same request twice."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.access.api_rules import JobThrottle
from annotations.models import IdempotencyKey, Job, Project
from annotations.storage import store
from evaluation.models import Study
from tests import factories
from tests.annotations.test_release_making import released, small_dataset
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _files(settings, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "var", tmp_path / "files"
    settings.IMPORT_ROOT = tmp_path / "import"
    settings.IMPORT_ROOT.mkdir()


@pytest.fixture
def project() -> Project:
    return factories.make_project()


@pytest.fixture
def admin(project: Project) -> Client:
    return client_of(factories.make_user("admin", project))


def post(client: Client, url: str, body: dict, key: str = ""):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(url, body, content_type="application/json", headers=headers)


def test_an_upload_becomes_a_queued_import(admin: Client, project: Project) -> None:
    upload = SimpleUploadedFile("train.json", b"[]")
    fields = {"project": project.slug, "format": "mt-mind2web", "name": "mine", "split": "train", "file": upload}
    response = admin.post("/api/imports/", fields)
    assert response.status_code == 202, response.content
    job = Job.objects.get()
    assert response["Location"].endswith(f"/api/jobs/{job.pk}/")
    assert response.json()["state"] == "queued"
    assert response.json()["file"] is None
    assert job.path.read_bytes() == b"[]"
    assert (job.params["format"], job.params["name"], job.params["split"]) == ("mt-mind2web", "mine", "train")


def test_a_path_below_the_import_folder_becomes_a_queued_import(admin: Client, project: Project, settings) -> None:
    (settings.IMPORT_ROOT / "data.jsonl").write_text("")
    body = {"project": project.slug, "format": "jsonl", "name": "mine", "path": "data.jsonl", "limit": 5}
    assert post(admin, "/api/imports/", body).status_code == 202
    assert Job.objects.get().params["limit"] == 5


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "missing.jsonl"])
def test_a_path_outside_the_import_folder_is_refused(admin: Client, project: Project, path: str) -> None:
    body = {"project": project.slug, "format": "jsonl", "name": "mine", "path": path}
    response = post(admin, "/api/imports/", body)
    assert response.status_code == 400
    assert "path" in response.json()


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(project: Project, settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    admin = Client(enforce_csrf_checks=True)  # the check of the token would read the form
    admin.force_login(factories.make_user("admin", project))
    upload = SimpleUploadedFile("train.json", b"x" * 2 * 1024 * 1024)
    fields = {"project": project.slug, "format": "mt-mind2web", "name": "mine", "file": upload}
    assert admin.post("/api/imports/", fields).status_code == 413


def test_json_that_is_too_large_is_not_read_to_the_end(admin: Client, settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert post(admin, "/api/exports/", {"dataset": "x" * 200}).status_code == 400


def test_mistakes_in_a_request_are_named_by_their_field(admin: Client, project: Project) -> None:
    response = post(admin, "/api/imports/", {"project": project.slug, "format": "parquet", "name": "No Slug"})
    assert response.status_code == 400
    assert {"format", "name"} <= set(response.json())


def test_the_file_of_an_import_is_never_handed_out(admin: Client, project: Project) -> None:
    job = factories.make_job(project, kind="import", state="done", file="uploads/x")
    store.save(job.file, ContentFile(b"somebody's upload"))
    assert admin.get(f"/api/jobs/{job.pk}/file/").status_code == 404
    assert admin.get(f"/api/jobs/{job.pk}/").json()["file"] is None


def test_an_export_is_queued_for_those_who_may(admin: Client, project: Project) -> None:
    dataset = factories.make_dataset(project)
    response = post(admin, "/api/exports/", {"dataset": dataset.name, "format": "jsonl"})
    assert response.status_code == 202
    assert Job.objects.get().dataset == dataset


def test_the_export_of_a_release_is_the_job_of_its_page(admin: Client, project: Project) -> None:
    dataset = small_dataset(project=project)
    release = released(dataset)
    asked = {"dataset": dataset.name, "format": "jsonl", "split": "train"}
    response = post(admin, "/api/exports/", asked | {"release": release.version})
    assert response.status_code == 202
    admin.post(reverse("release-export", args=[dataset.name, release.version]), asked)
    by_page, by_api = Job.objects.all()
    assert (by_api.params, by_api.dataset) == (by_page.params, by_page.dataset)
    assert by_api.params["release"] == release.version
    refused = post(admin, "/api/exports/", asked | {"release": "9.0"})
    assert (refused.status_code, list(refused.json())) == (400, ["release"])


def test_a_split_whose_gold_is_hidden_is_not_exported(project: Project) -> None:
    dataset = factories.make_dataset(project)
    reviewer = client_of(factories.make_user("reviewer", project))
    body = {"dataset": dataset.name, "format": "jsonl", "split": "test_task"}
    assert post(reviewer, "/api/exports/", body).status_code == 400


@pytest.fixture
def result(project: Project) -> Job:
    """A finished export with a file of the bytes 0 to 255, four times."""
    job = factories.make_job(project, state="done", file="exports/1.zip", params={"format": "jsonl", "name": "sample"})
    store.save(job.file, ContentFile(bytes(range(256)) * 4))
    return job


def download(client: Client, job: Job, **headers: str):
    return client.get(f"/api/jobs/{job.pk}/file/", headers={"accept": "application/zip"} | headers)


def test_the_result_of_an_export_is_downloaded_as_an_attachment(admin: Client, result: Job) -> None:
    response = download(admin, result)
    assert b"".join(response.streaming_content) == result.path.read_bytes()
    assert response["Content-Disposition"] == 'attachment; filename="sample-jsonl.zip"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == "1024"
    assert admin.get(f"/api/jobs/{result.pk}/").json()["file"].endswith(f"/api/jobs/{result.pk}/file/")


@pytest.mark.parametrize(
    ("wanted", "status", "content"),
    [
        ("bytes=0-3", 206, bytes([0, 1, 2, 3])),
        ("bytes=1020-", 206, bytes([252, 253, 254, 255])),
        ("bytes=-2", 206, bytes([254, 255])),
        ("bytes=1020-9999", 206, bytes([252, 253, 254, 255])),
        ("bytes=9999-", 416, b""),
        ("bytes=5-2", 416, b""),
        ("bytes=0-1,4-5", 200, bytes(range(256)) * 4),
        ("lines=0-1", 200, bytes(range(256)) * 4),
    ],
)
def test_a_part_of_a_download_can_be_asked_for(
    admin: Client, result: Job, wanted: str, status: int, content: bytes
) -> None:
    response = download(admin, result, range=wanted)
    assert response.status_code == status
    assert (b"".join(response.streaming_content) if response.streaming else response.content) == content
    if status == 206:
        first = 1024 - len(content) if wanted != "bytes=0-3" else 0
        assert response["Content-Range"] == f"bytes {first}-{first + len(content) - 1}/1024"


def test_an_interrupted_download_goes_on_only_when_the_file_is_the_same(admin: Client, result: Job) -> None:
    etag = download(admin, result)["ETag"]
    assert download(admin, result, range="bytes=1000-", **{"if-range": etag}).status_code == 206
    assert download(admin, result, range="bytes=1000-", **{"if-range": '"other"'}).status_code == 200
    assert download(admin, result, **{"if-none-match": etag}).status_code == 304


def test_others_exports_are_closed_to_those_who_may_not_see_test_gold(project: Project, result: Job) -> None:
    reviewer = factories.make_user("reviewer", project)
    assert download(client_of(reviewer), result).status_code == 403
    Job.objects.update(created_by=reviewer, report={"test_gold": False})
    assert download(client_of(reviewer), result).status_code == 200
    assert download(client_of(factories.make_user("reader", project)), result).status_code == 403


def test_a_queued_job_is_cancelled_at_once_and_can_be_retried(admin: Client, project: Project) -> None:
    job = factories.make_job(project, dataset=factories.make_dataset(project))
    assert admin.post(f"/api/jobs/{job.pk}/cancel/").json()["state"] == "cancelled"
    assert admin.post(f"/api/jobs/{job.pk}/retry/").json()["state"] == "queued"
    assert admin.post(f"/api/jobs/{job.pk}/retry/").status_code == 400


def test_the_progress_of_a_job_leaves_out_how_it_resumes(admin: Client, project: Project) -> None:
    job = factories.make_job(project, progress={"done": 3, "total": 9, "resume": {"file": 1}})
    assert admin.get(f"/api/jobs/{job.pk}/").json()["progress"] == {"done": 3, "total": 9}


@pytest.fixture
def study_request(project: Project) -> dict:
    conversation = factories.make_conversation(dataset=factories.make_dataset(project))
    return {"dataset": conversation.dataset.name, "recipes": ["grounded"], "splits": ["train"], "limit": 1}


def test_a_study_is_started(admin: Client, study_request: dict) -> None:
    response = post(admin, "/api/studies/", study_request | {"name": "first look"})
    assert response.status_code == 202, response.content
    assert response.json()["name"] == "first look"
    assert admin.get(response["Location"]).json() == response.json()


@pytest.mark.parametrize("wish", [{"split": "train"}, {"budget": {"token": 5}}])
def test_a_wish_that_nobody_reads_is_refused_and_starts_nothing(admin: Client, study_request: dict, wish: dict) -> None:
    answer = admin.post("/api/studies/", study_request | wish, content_type="application/json")
    assert answer.status_code == 400
    assert "There is no such field. There are: " in answer.content.decode()
    assert not Study.objects.exists()


def test_a_study_of_an_unknown_recipe_is_refused_with_the_choices(admin: Client, study_request: dict) -> None:
    response = post(admin, "/api/studies/", study_request | {"recipes": ["nonsense"]})
    assert response.status_code == 400
    assert "nonsense" in response.json()["detail"]


def test_a_setting_that_no_stage_would_read_is_refused_with_what_would(admin: Client, study_request: dict) -> None:
    response = post(admin, "/api/studies/", study_request | {"overrides": {"compose.shots": "3"}})
    assert response.status_code == 400
    assert "compose.shots would change nothing in grounded: it needs plan.kind=" in response.json()["detail"]
    assert not Study.objects.exists()


@pytest.mark.slow
def test_a_study_is_cancelled_and_resumed(admin: Client, study_request: dict) -> None:
    url = f"/api/studies/{post(admin, '/api/studies/', study_request).json()['id']}/"
    assert admin.post(f"{url}cancel/").json()["cancel_requested"] is True
    assert admin.post(f"{url}resume/").json()["cancel_requested"] is False


def test_a_repeated_request_with_the_same_key_starts_nothing(admin: Client, study_request: dict) -> None:
    first = post(admin, "/api/studies/", study_request, key="abc")
    again = post(admin, "/api/studies/", study_request, key="abc")
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again["Idempotency-Replayed"] == "true"
    assert Study.objects.count() == 1


@pytest.mark.slow
def test_a_new_key_or_another_user_starts_new_work(admin: Client, project: Project, study_request: dict) -> None:
    other = client_of(factories.make_user("admin", project))
    for client, key in ((admin, "one"), (admin, "two"), (other, "one"), (admin, ""), (admin, "")):
        assert post(client, "/api/studies/", study_request, key=key).status_code == 202
    assert Study.objects.count() == 5


def test_a_key_is_not_reused_for_another_request(admin: Client, study_request: dict) -> None:
    post(admin, "/api/studies/", study_request, key="abc")
    assert post(admin, "/api/studies/", study_request | {"limit": 2}, key="abc").status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize("body", ["[1]", '"words"'])
def test_a_key_holds_for_a_body_that_is_no_object(admin: Client, study_request: dict, body: str) -> None:
    """Where nothing of the body is read, a client may send what it likes."""
    study = post(admin, "/api/studies/", study_request)["Location"]
    admin.post(f"{study}cancel/")
    answers = [
        admin.post(f"{study}resume/", body, content_type="application/json", headers={"Idempotency-Key": "abc"})
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1]["Idempotency-Replayed"] == "true"


def test_a_key_is_forgotten_after_a_day(admin: Client, study_request: dict) -> None:
    post(admin, "/api/studies/", study_request, key="abc")
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    post(admin, "/api/studies/", study_request, key="abc")
    assert Study.objects.count() == 2


def test_a_refused_request_leaves_its_key_free(admin: Client, study_request: dict) -> None:
    assert post(admin, "/api/studies/", study_request | {"recipes": ["nonsense"]}, key="abc").status_code == 400
    assert post(admin, "/api/studies/", study_request, key="abc").status_code == 202


def test_a_repeated_upload_is_queued_once(admin: Client, project: Project) -> None:
    for _ in range(2):
        upload = SimpleUploadedFile("train.json", b"[]")
        fields = {"project": project.slug, "format": "mt-mind2web", "name": "mine", "file": upload}
        assert admin.post("/api/imports/", fields, headers={"Idempotency-Key": "k"}).status_code == 202
    assert Job.objects.count() == 1


def test_starting_work_is_limited_per_user_and_reading_is_not(admin: Client, project: Project, monkeypatch) -> None:
    monkeypatch.setattr(JobThrottle, "THROTTLE_RATES", {"jobs": "2/hour"})
    body = {"dataset": factories.make_dataset(project).name, "format": "jsonl"}
    codes = [post(admin, "/api/exports/", body).status_code for _ in range(3)]
    assert codes == [202, 202, 429]
    assert admin.get("/api/studies/").status_code == 200
    other = client_of(factories.make_user("admin", project))
    assert post(other, "/api/exports/", body).status_code == 202


@pytest.mark.slow
def test_a_refused_start_costs_nothing_of_the_hour(
    admin: Client, project: Project, study_request: dict, monkeypatch
) -> None:
    monkeypatch.setattr(JobThrottle, "THROTTLE_RATES", {"jobs": "2/hour"})
    asked = {"dataset": study_request["dataset"], "format": "jsonl"}
    refused = [post(admin, "/api/exports/", asked | {"format": "nonsense"}).status_code for _ in range(3)]
    refused += [post(admin, "/api/studies/", study_request | {"recipes": ["nonsense"]}).status_code for _ in range(3)]
    assert refused == [400] * 6
    codes = [post(admin, "/api/exports/", asked).status_code for _ in range(3)]
    assert codes == [202, 202, 429]
    assert post(admin, "/api/exports/", asked | {"format": "nonsense"}).status_code == 429


@pytest.mark.slow
def test_a_request_that_is_sent_again_costs_nothing_of_the_hour(
    admin: Client, study_request: dict, monkeypatch
) -> None:
    monkeypatch.setattr(JobThrottle, "THROTTLE_RATES", {"jobs": "2/hour"})
    codes = [post(admin, "/api/studies/", study_request, key="lost").status_code for _ in range(4)]
    codes += [post(admin, "/api/studies/", study_request, key=key).status_code for key in ("new", "newer")]
    assert codes == [202, 202, 202, 202, 202, 429]


def test_a_refusal_leaves_the_starts_of_others_counted(admin: Client, project: Project, monkeypatch) -> None:
    monkeypatch.setattr(JobThrottle, "THROTTLE_RATES", {"jobs": "2/hour"})
    asked = {"dataset": factories.make_dataset(project).name, "format": "jsonl"}
    reader = client_of(factories.make_user("reader", project))
    codes = [
        post(client, "/api/exports/", asked).status_code for client in (admin, reader, admin, reader, admin, reader)
    ]
    assert codes == [202, 403, 202, 403, 429, 403]


@pytest.mark.slow
def test_the_budget_of_a_study_is_set_at_its_start_and_changed_later(admin: Client, study_request: dict) -> None:
    found = post(admin, "/api/studies/", study_request | {"budget": {"tokens": 900}}).json()
    assert (found["budget_tokens"], found["budget_cost"], found["spent_tokens"]) == (900, None, 0)
    url = f"/api/studies/{found['id']}/budget/"
    changed = post(admin, url, {"tokens": 5000, "seconds": 60}).json()
    assert (changed["budget_tokens"], changed["budget_cost"], changed["budget_seconds"]) == (5000, None, 60)
    changed = post(admin, url, {"tokens": 6000}).json()
    assert (changed["budget_tokens"], changed["budget_seconds"]) == (6000, 60), "what is not named stays"
    changed = post(admin, url, {"seconds": None}).json()
    assert (changed["budget_tokens"], changed["budget_seconds"]) == (6000, None)
    assert post(admin, url, {"tokens": 0}).status_code == 400


def test_a_session_is_found_by_its_name() -> None:
    campaign = factories.make_campaign()
    wanted, _ = (factories.make_session(campaign, name=name) for name in ("Shoes", "Shoes and hats"))
    client = client_of(factories.make_user("reader", campaign.project))
    assert [row["id"] for row in client.get("/api/sessions/?name=Shoes").json()["results"]] == [wanted.pk]
    assert client.get("/api/sessions/?name=shoe").json()["results"] == []
