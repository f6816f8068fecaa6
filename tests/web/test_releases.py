"""Pages of releases: what they show, to whom, and what they refuse."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotations.jobs import running
from annotations.models import Dataset, Job, Redaction, Step, Turn
from annotations.releases import views
from annotations.releases.redacting import redact
from annotations.releases.scanning import scan_dataset
from tests import factories
from tests.annotations.test_release_making import released, small_dataset
from tests.quick import first_is_quick
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def member(dataset: Dataset, role: str = "reader", **fields) -> Client:
    return client_of(factories.make_user(role, dataset.project, **fields))


def text(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def private_dataset() -> Dataset:
    """With an address in an instruction of train and of a test split, which makes the two alike."""
    dataset = small_dataset()
    for name in ("first", "held-out"):
        turns = Turn.objects.filter(conversation__dataset=dataset, conversation__source_id=name, index=0)
        turns.update(instruction="Write a message to ann@mail.example please.")
    return dataset


def addresses(dataset: Dataset, version: str) -> dict[str, str]:
    name = dataset.name
    query = f"?from={version}&to={version}"
    return {
        "releases": reverse("releases", args=[name]),
        "release-new": reverse("release-new", args=[name]),
        "release": reverse("release", args=[name, version]),
        "release-datasheet": reverse("release-datasheet", args=[name, version]),
        "release-diff": reverse("release-diff", args=[name]) + query,
        "release-diff-json": reverse("release-diff-json", args=[name]) + query,
    }


@pytest.mark.slow
@first_is_quick("role", ["admin", "reviewer", "annotator", "reader"])
def test_members_read_releases_and_admins_make_them(role: str) -> None:
    dataset = small_dataset()
    released(dataset)
    client = member(dataset, role)
    codes = {name: client.get(url).status_code for name, url in addresses(dataset, "1.0").items()}
    manage = 200 if role == "admin" else 403
    assert codes == dict.fromkeys(codes, 200) | {"release-new": manage}
    assert client.post(reverse("release-redact", args=[dataset.name])).status_code == (302 if role == "admin" else 403)
    exports = client.post(reverse("release-export", args=[dataset.name, "1.0"]), {"format": "jsonl"})
    assert exports.status_code == (302 if role in ("admin", "reviewer") else 403)


def test_the_page_of_a_new_release_comes_before_all_pages_are_read_and_is_read_again(
    monkeypatch: pytest.MonkeyPatch, settings, tmp_path
) -> None:
    settings.VAR_DIR = tmp_path  # where nothing is remembered of an earlier dataset with its number
    dataset = private_dataset()
    client, url = member(dataset, "admin"), reverse("release-new", args=[dataset.name])
    monkeypatch.setattr(views, "LOOK_SECONDS", 0)
    page = text(client.get(url))
    assert "data-refresh" in page
    assert "0 of" in page
    assert "Accept what was found" not in page, "what there is to accept changes until all pages are read"
    form = {"version": "1.0", "licence": "CC BY 4.0", "consent": "Asked."}
    assert "Accept what was found" in text(client.post(url, form)), "what somebody sends is worked on longer"
    page = text(client.get(url))
    assert "data-refresh" not in page
    assert "Accept what was found" in page


@pytest.mark.slow
def test_releases_of_others_do_not_exist() -> None:
    dataset = small_dataset()
    released(dataset)
    client = client_of(factories.make_user("admin"))
    urls = [*addresses(dataset, "1.0").values(), reverse("release-export", args=[dataset.name, "1.0"])]
    assert {client.get(url).status_code for url in urls} == {404}
    assert client.post(reverse("release-redact", args=[dataset.name])).status_code == 404
    own = member(dataset)
    assert own.get(reverse("release", args=[dataset.name, "9.9"])).status_code == 404
    assert own.get(reverse("release-diff", args=[dataset.name]), {"from": "1.0", "to": "9.9"}).status_code == 404


@pytest.mark.slow
def test_a_release_is_made_from_its_page() -> None:
    dataset = private_dataset()
    client = member(dataset, "admin", username="maker")
    url = reverse("release-new", args=[dataset.name])
    page = text(client.get(url))
    for said in ("ann@mail.example", "1 pair of instructions", "1 e-mail address in 2 places", "All kept."):
        assert said in page
    fields = {"version": "1.0", "licence": "CC0", "consent": "Made up.", "notes": "First."}
    refused = text(client.post(url, fields))
    assert "Not accepted: 1 e-mail address in 2 places." in refused
    keys = [concern.key for concern in client.get(url).context["concerns"]]
    made = client.post(url, fields | {"accepted_findings": keys}, follow=True)
    shown = text(made)
    release = dataset.releases.get()
    assert made.redirect_chain == [(reverse("release", args=[dataset.name, "1.0"]), 302)]
    for said in (release.sha256, "by maker", "Made up.", "1 e-mail address in 2 places."):
        assert said in shown
    assert "ann@mail.example" not in shown
    assert "1.0" in text(client.get(reverse("releases", args=[dataset.name])))
    assert reverse("releases", args=[dataset.name]) in text(client.get(reverse("dataset", args=[dataset.name])))


@pytest.mark.slow
def test_the_newest_release_comes_first_with_a_link_to_what_changed() -> None:
    dataset = small_dataset()
    for version in ("1.0", "1.1", "1.2"):
        released(dataset, version)
    page = member(dataset).get(reverse("releases", args=[dataset.name]))
    assert [row.version for row in page.context["releases"]] == ["1.2", "1.1", "1.0"]
    assert f"{reverse('release-diff', args=[dataset.name])}?from=1.0&amp;to=1.1" in text(page)


@pytest.mark.slow
def test_what_is_wrong_is_said_at_the_field() -> None:
    dataset = small_dataset()
    released(dataset)
    client = member(dataset, "admin")
    page = text(
        client.post(reverse("release-new", args=[dataset.name]), {"version": "1.0", "licence": "x", "consent": "y"})
    )
    assert "There is a release 1.0" in page


@pytest.mark.slow
def test_a_large_dataset_is_released_by_a_job_that_its_page_follows(monkeypatch) -> None:
    monkeypatch.setattr(views, "AT_ONCE", 1)
    dataset = private_dataset()
    client = member(dataset, "admin")
    url = reverse("release-new", args=[dataset.name])
    keys = [concern.key for concern in client.get(url).context["concerns"]]
    fields = {"version": "1.0", "licence": "CC0", "consent": "Made up.", "accepted_findings": keys}
    started = client.post(url, fields)
    job = Job.objects.get(kind="release")
    assert started.url == reverse("job", args=[job.pk])
    assert not dataset.releases.exists()
    running.run(Job.objects.claim(job.pk))
    job.refresh_from_db()
    assert (job.state, job.report["counts"], job.progress["phase"]) == ("done", {"conversations": 4}, "writing")
    assert reverse("release", args=[dataset.name, "1.0"]) in text(client.get(started.url))
    assert dataset.releases.get().checks["accepted"]


@pytest.mark.slow
def test_what_is_wrong_with_a_large_release_is_said_at_once_or_at_the_end_of_the_job(monkeypatch) -> None:
    monkeypatch.setattr(views, "AT_ONCE", 1)
    dataset = small_dataset()
    client = member(dataset, "admin")
    fields = {"version": "1.0", "licence": "CC0", "consent": "Made up."}
    job = Job.objects.get(pk=client.post(reverse("release-new", args=[dataset.name]), fields).url.split("/")[-2])
    released(dataset, "1.0")
    assert "There is a release 1.0" in text(client.post(reverse("release-new", args=[dataset.name]), fields))
    running.run(Job.objects.claim(job.pk))
    job.refresh_from_db()
    assert job.state == "failed"
    assert "There is a release 1.0" in job.last_error


def test_findings_that_changed_are_looked_at_again() -> None:
    dataset = private_dataset()
    client = member(dataset, "admin")
    url = reverse("release-new", args=[dataset.name])
    keys = [concern.key for concern in client.get(url).context["concerns"]]
    Turn.objects.filter(conversation__source_id="second", index=0).update(instruction="Mail to bob@mail.example.")
    page = text(client.post(url, {"version": "1.0", "licence": "x", "consent": "y", "accepted_findings": keys}))
    assert "What was found has changed since you looked" in page
    assert not dataset.releases.exists()


@pytest.mark.slow
def test_redact_buttons_take_out_one_text_or_a_kind() -> None:
    dataset = private_dataset()
    Turn.objects.filter(conversation__source_id="second").update(instruction="Call (212) 555-0142 or (212) 555-0143.")
    client = member(dataset, "admin", username="keeper")
    new, url = reverse("release-new", args=[dataset.name]), reverse("release-redact", args=[dataset.name])
    (group,) = [group for group in client.get(new).context["kinds"] if group["kind"] == "email"]
    client.post(url, {"fingerprint": group["texts"][0]["found"].fingerprint})
    assert [group["kind"] for group in client.get(new).context["kinds"]] == ["phone"]
    page = text(client.post(url, {"kind": "phone"}, follow=True))
    assert "Taken out of 4 places" in page
    assert client.get(new).context["kinds"] == []
    assert set(Redaction.objects.values_list("kind", "user__username")) == {("email", "keeper"), ("phone", "keeper")}
    again = client.post(url, {"kind": "phone"}, follow=True)
    assert "not in the dataset any more" in text(again)


@pytest.mark.slow
def test_a_difference_hides_gold_of_test_splits() -> None:
    dataset = small_dataset()
    released(dataset)
    Step.objects.filter(turn__conversation__source_id="held-out").update(value="secret value")
    Turn.objects.filter(conversation__source_id="first", index=0).update(instruction="Something else now.")
    released(dataset, "1.1")
    query = {"from": "1.0", "to": "1.1"}
    urls = [reverse(name, args=[dataset.name]) for name in ("release-diff", "release-diff-json")]
    for url in urls:
        hidden = text(member(dataset, "annotator").get(url, query))
        assert "secret value" not in hidden
        assert "Something" in hidden
        assert "secret value" in text(member(dataset, "annotator", sees_test_gold=True).get(url, query))
    facts = member(dataset).get(urls[1], query).json()
    assert facts["counts"] == {"added": 0, "removed": 0, "changed": 2, "same": 2}


def test_a_difference_shows_what_was_redacted_to_those_alone_who_may_export_it() -> None:
    dataset, number = small_dataset(), "07700 555 340"
    turns = Turn.objects.filter(conversation__source_id="first", index=0)
    turns.update(instruction=f"Text me at {number}.", extra={"original": f"Text {number}, please."})
    released(dataset)
    keeper = factories.make_user("admin", dataset.project)
    for found in scan_dataset(dataset).texts:
        redact(dataset, found, keeper)
    released(dataset, "1.1")
    query = {"from": "1.0", "to": "1.1"}
    for name in ("release-diff", "release-diff-json"):
        url = reverse(name, args=[dataset.name])
        hidden = text(member(dataset, "annotator").get(url, query))
        assert number not in hidden
        assert "555" not in hidden
        assert "(phone number taken out)" in hidden
        assert "[phone]" in hidden, "what stands there now"
        assert "instruction before rewriting" in hidden
        assert number in text(member(dataset, "admin").get(url, query))


@pytest.mark.slow
@pytest.mark.parametrize(("sees", "splits"), [(True, ["test_task", "train"]), (False, ["train"])])
def test_exports_of_a_release_are_the_frozen_content(sees: bool, splits: list[str]) -> None:
    dataset = small_dataset()
    released(dataset)
    Turn.objects.filter(conversation__dataset=dataset).update(instruction="Changed since.")
    user = factories.make_user("reviewer", dataset.project, sees_test_gold=sees)
    url = reverse("release-export", args=[dataset.name, "1.0"])
    response = client_of(user).post(url, {"format": "mt-mind2web", "split": ""})
    job = Job.objects.get()
    assert response.url == reverse("job", args=[job.pk])
    assert job.params == {"format": "mt-mind2web", "name": f"{dataset.name}-1.0", "split": "", "release": "1.0"}
    Job.objects.filter(pk=job.pk).update(state="running", lease_token="6f1d9f0e-33c5-4d0b-9a3c-6c1f3b7f4a52")
    job.refresh_from_db()
    running.run(job)
    job.refresh_from_db()
    assert (job.state, job.last_error) == ("done", "")
    with zipfile.ZipFile(job.path) as archive:
        files = {Path(name).relative_to(dataset.name).as_posix(): archive.read(name) for name in archive.namelist()}
    data = [f"{split}/{dataset.name}.json" for split in splits]
    assert sorted(files) == sorted([*data, "SHA256SUMS", "DATASHEET.md"])
    assert b"Changed since." not in b"".join(files.values())
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {name: hashlib.sha256(files[name]).hexdigest() for name in [*data, "DATASHEET.md"]}


def test_a_job_for_a_release_that_does_not_exist_is_refused() -> None:
    from django.core.exceptions import ValidationError

    dataset = small_dataset()
    user = factories.make_user("admin", dataset.project)
    with pytest.raises(ValidationError, match=r"There is no release 3\.0"):
        running.start_export(user=user, dataset=dataset, format="jsonl", release="3.0")
