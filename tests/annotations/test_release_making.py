"""Releases: frozen for good, refused with reasons, and exported in the same bytes for ever."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from annotations.corpus.exporting import export_dataset, export_release
from annotations.corpus.importing import import_files
from annotations.datasets import WRITERS
from annotations.models import BulkAccept, Conversation, Dataset, Delivery, Release, Snapshot, Step, Turn
from annotations.models.releases.frozen import DamagedRelease
from annotations.pages.store import forget_unused_pages
from annotations.releases.checking import check_dataset
from annotations.releases.releasing import make_release
from tests import factories
from tests.annotations.intact import is_intact
from tests.annotations.weblinx_folder import tree, write_demo

pytestmark = pytest.mark.django_db


def small_dataset(**fields) -> Dataset:
    """Three train conversations of two turns and one of a test split on the same site."""
    dataset = factories.make_dataset(**fields)
    site = factories.make_website(dataset)
    for name in ("first", "second", "third"):
        factories.make_conversation(dataset=dataset, website=site, source_id=name)
    factories.make_conversation(dataset=dataset, website=site, source_id="held-out", split="test_task")
    for place, turn in enumerate(Turn.objects.filter(conversation__dataset=dataset)):
        Turn.objects.filter(pk=turn.pk).update(instruction=f"Instruction {place} has words{place} of{place} its own.")
    return dataset


def released(dataset: Dataset, version: str = "1.0", user=None, **fields) -> Release:
    """A release with all concerns accepted."""
    keys = [concern.key for concern in check_dataset(dataset).concerns()]
    fields = {"licence": "CC BY 4.0", "consent": "Recorded by the makers themselves."} | fields
    user = user or factories.make_user("admin", dataset.project)
    return make_release(dataset, version, user, accepted_findings=keys, **fields)


def sentences(error: pytest.ExceptionInfo) -> str:
    return " ".join(error.value.messages)


@pytest.mark.slow
def test_a_release_gives_back_the_records_that_were_frozen() -> None:
    dataset = small_dataset()
    Step.objects.filter(turn__conversation__source_id="first", index=0).update(screenshot=factories.make_screenshot())
    before = list(dataset.conversations.records())
    release = released(dataset)
    assert list(release.conversations.records()) == before
    assert is_intact(release)


@pytest.mark.slow
def test_every_line_of_an_export_says_the_canary_of_its_release_and_comes_in_again(tmp_path: Path) -> None:
    dataset = small_dataset()
    release = released(dataset)
    counts = export_release(release, "jsonl", tmp_path / "out")
    (path,) = map(Path, counts)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [line["canary"] for line in lines] == [release.checks["canary"]] * 4
    assert release.checks["canary"] in release.datasheet
    copy = factories.make_dataset(source_format="jsonl")
    assert import_files("jsonl", tmp_path / "out", copy).errors == []
    assert list(copy.conversations.records()) == list(release.conversations.records())


def test_every_line_of_what_is_no_release_says_the_canary_of_its_dataset(tmp_path: Path) -> None:
    dataset, other = small_dataset(), factories.make_dataset()
    (path,) = export_dataset(dataset, "jsonl", tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    assert [line["canary"] for line in lines] == [dataset.canary()] * 4
    assert len({dataset.canary(), other.canary(), released(dataset).checks["canary"]}) == 3
    assert import_files("jsonl", tmp_path / "out.jsonl", other).errors == []


def test_a_release_that_was_made_without_a_canary_keeps_its_bytes(tmp_path: Path) -> None:
    release = released(small_dataset())
    del release.checks["canary"]
    (path,) = export_release(release, "jsonl", tmp_path / "out")
    assert "canary" not in Path(path).read_text("utf-8")


@pytest.mark.slow
def test_a_demonstration_is_frozen_with_its_files(tmp_path: Path) -> None:
    folder = write_demo(tmp_path / "in")
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", tmp_path / "in", dataset).errors == []
    release = released(dataset)
    dataset.conversations.all().delete()
    export_dataset(dataset, "weblinx", tmp_path / "out", release.conversations.all())
    assert tree(tmp_path / "out" / folder.name) == tree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", sorted(WRITERS))
def test_exports_of_a_release_have_the_same_bytes_whatever_happens_to_the_dataset(
    tmp_path: Path, format_name: str
) -> None:
    dataset = factories.make_dataset()
    for name in ("first", "second"):
        factories.make_conversation(turns=1, dataset=dataset, source_id=name)
    export_dataset(dataset, format_name, tmp_path / "plain")
    release = released(dataset)
    command = ("export_dataset", dataset.name, format_name)
    with (tmp_path / "log").open("w") as log:
        call_command(*command, str(tmp_path / "1"), release="1.0", stdout=log)
        Turn.objects.filter(conversation__source_id="first").update(instruction="Something else.")
        Conversation.objects.get(dataset=dataset, source_id="second").delete()
        forget_unused_pages(timedelta(0))
        call_command(*command, str(tmp_path / "2"), release="1.0", stdout=log)
    first = tree(tmp_path / "1")
    assert first == tree(tmp_path / "2")
    assert {"SHA256SUMS", "DATASHEET.md"} <= first.keys()
    plain = tree(tmp_path / "plain")
    of_release = release.checks["canary"].encode()
    unreleased = {path: data.replace(of_release, dataset.canary().encode()) for path, data in first.items()}
    assert {path: data for path, data in unreleased.items() if path in plain} == plain
    again = import_files(format_name, tmp_path / "1", factories.make_dataset(source_format=format_name))
    assert (again.errors, again.conversations) == ([], 2)


@pytest.mark.slow
def test_pages_of_a_release_are_not_forgotten() -> None:
    dataset = small_dataset()
    released(dataset)
    pages = Snapshot.objects.count()
    dataset.conversations.all().delete()
    assert forget_unused_pages(timedelta(0)) == 0
    assert Snapshot.objects.count() == pages


@pytest.mark.slow
def test_the_checksum_depends_on_the_content_only() -> None:
    dataset = small_dataset()
    first, second = released(dataset, "1.0"), released(dataset, "1.1", notes="The same again.")
    assert first.sha256 == second.sha256
    Turn.objects.filter(conversation__source_id="first", index=0).update(instruction="Another one entirely.")
    assert released(dataset, "1.2").sha256 != first.sha256


@pytest.mark.slow
@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_database_refuses_to_change_a_release(change: str) -> None:
    release = released(small_dataset())
    for rows in (Release.objects.filter(pk=release.pk), release.conversations.all()):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(sha256="0" * 64) if change == "update" else rows.delete()
    assert is_intact(release)


@pytest.mark.slow
def test_damage_is_noticed() -> None:
    release = released(small_dataset())
    row = release.conversations.first()
    row.data = row.release.conversations.last().data
    with pytest.raises(DamagedRelease, match=row.source_id):
        row.content()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"licence": " "}, "under which licence"),
        ({"consent": ""}, "have agreed to"),
        ({"version": "final"}, "Begin with a digit"),
        ({"version": "1/0"}, "Begin with a digit"),
    ],
)
def test_a_release_needs_a_version_a_licence_and_a_consent(fields: dict, said: str) -> None:
    with pytest.raises(ValidationError) as error:
        released(small_dataset(), **fields)
    assert said in sentences(error)


@pytest.mark.slow
def test_a_version_is_given_once() -> None:
    dataset = small_dataset()
    released(dataset)
    with pytest.raises(ValidationError, match="releases never change"):
        released(dataset)


def test_broken_split_rules_forbid_a_release() -> None:
    dataset = small_dataset()
    factories.make_conversation(dataset=dataset, split="test_task", website=factories.make_website(dataset, name="new"))
    with pytest.raises(ValidationError, match="test_task holds websites that train does not have: new"):
        released(dataset)


@pytest.mark.slow
def test_concerns_are_accepted_as_they_are_now() -> None:
    dataset = small_dataset()
    turns = Turn.objects.filter(conversation__dataset=dataset, index=0)
    turns.filter(conversation__source_id="held-out").update(instruction="Write to ann@mail.example please now.")
    seen = [concern.key for concern in check_dataset(dataset).concerns()]
    assert [key.partition("-")[0] for key in seen] == ["email"]
    admin = factories.make_user("admin", dataset.project)
    arguments = (dataset, "1.0", admin, "CC0", "None needed.")
    with pytest.raises(ValidationError, match="Not accepted: 1 e-mail address in 1 place"):
        make_release(*arguments)
    turns.filter(conversation__source_id="first").update(instruction="Write to ann@mail.example please now.")
    with pytest.raises(ValidationError) as error:
        make_release(*arguments, accepted_findings=seen)
    assert "1 e-mail address in 2 places" in sentences(error)
    assert "1 pair of instructions" in sentences(error)
    release = released(dataset)
    assert release.checks["accepted"] == [
        "1 pair of instructions in different splits, alike by 0.8 or more.",
        "1 e-mail address in 2 places.",
    ]
    assert release.checks["privacy"]["found"] == {"email": {"texts": 1, "places": {"instruction": 2}}}
    assert "ann@mail" not in str(release.checks["privacy"])


def test_only_admins_make_releases() -> None:
    dataset = small_dataset()
    with pytest.raises(PermissionDenied):
        released(dataset, user=factories.make_user("reviewer", dataset.project))


def test_an_import_under_way_is_waited_for() -> None:
    dataset = small_dataset()
    factories.make_job(dataset.project, kind="import", dataset=dataset, state="running")
    with pytest.raises(ValidationError, match="import into this dataset is under way"):
        released(dataset)


def test_a_webhook_is_told() -> None:
    dataset = small_dataset()
    hook = dataset.project.webhooks.create(url="https://hook.example/", secret="s", events=["release.created"])
    release = released(dataset)
    delivery = Delivery.objects.get(webhook=hook)
    assert delivery.payload["data"] == {
        "dataset": dataset.name,
        "version": "1.0",
        "sha256": release.sha256,
        "conversations": 4,
    }


def test_the_datasheet_tells_what_is_known() -> None:
    dataset = small_dataset(description="Four conversations.")
    sheet = released(dataset, notes="The first one.").datasheet
    for said in (
        "Four conversations.",
        "The first one.",
        "4 conversations with 8 turns",
        "CC BY 4.0",
        "Canary: ",
        "| Conversations | 3 | 1 |",
        "Recorded by the makers",
    ):
        assert said in sheet


@pytest.mark.slow
def test_the_datasheet_of_a_campaign_names_people_rounds_guidelines_and_agreement() -> None:
    dataset = small_dataset()
    campaign = factories.make_campaign(dataset.project, target=dataset, overlap=2, name="Round one")
    conversation = dataset.conversations.get(source_id="first")
    session = factories.make_session(campaign, name="first", released=conversation)
    item = factories.make_item(session, overlap=2)
    for slot in range(2):
        factories.make_assignment(item, slot=slot, state="submitted", submitted_at=timezone.now())
    release = released(dataset)
    sheet, agreed = release.datasheet, {"value": 1.0, "low": None, "high": None, "comparisons": 1, "sessions": 1}
    assert release.statistics["campaigns"][0]["agreement"] == {"cuts_boundary_similarity": agreed}
    for said in (
        "The campaign “Round one” organised tasks",
        "1 sessions have passed, by 2 people (decompose: 2 by 2 people)",
        "decomposed and rewritten by 2 people and verified by 1 person, who did not see each other’s work",
        "Guidelines in use: version 1.",
        "boundary similarity of cuts 1.00 (1 comparison).",
    ):
        assert said in sheet


@pytest.mark.slow
def test_the_datasheet_of_a_campaign_tells_effort_defects_phenomena_and_what_nobody_looked_at() -> None:
    dataset = small_dataset()
    campaign = factories.make_campaign(dataset.project, target=dataset)
    conversation = dataset.conversations.get(source_id="first")
    kinds = enumerate(("pronoun", "ellipsis"))
    marked = [{"id": str(n), "phenomenon": name, "start": 0, "end": 1} for n, name in kinds]
    first, *_ = conversation.turns.all()
    first.extra = {"mentions": [*marked, marked[0]]}
    first.save()
    before = released(dataset).datasheet
    session = factories.make_session(campaign, name="first", released=conversation)
    done = {"state": "submitted", "submitted_at": timezone.now()}
    rewrite = factories.make_assignment(factories.make_item(session, stage="rewrite"), active_seconds=7200, **done)
    item = factories.make_item(session, stage="verify", subject=rewrite, state="done")
    places = [factories.make_assignment(item, slot=slot, active_seconds=90, **done) for slot in range(2)]
    returned = rewrite.verdicts.create(verification=places[0], round=1, version=0, outcome="return", reason="No.")
    returned.defects.create(code="unnatural")
    bulk = BulkAccept.objects.create(campaign=campaign, user=places[1].user, size=3, share=10)
    rewrite.verdicts.create(verification=places[1], round=1, version=0, outcome="accept", bulk=bulk)
    told = (
        "Time at work, as the pages of the workbench tell: rewrite 2 h, verify 3 min.",
        "Defects that verifiers named: unnatural 1.",
        "Phenomena that annotators marked: pronoun 2, ellipsis 1.",
        "3 verdicts accepted at once what all checks found in order; people looked at 0 that were held back and "
        "returned 0: 0 to 3 of the others are faulty (95 %).",
    )
    sheet = released(dataset, "1.1").datasheet
    assert [said for said in told if said not in sheet] == []
    assert [said for said in told if said in before] == []
    (figures,) = dataset.releases.get(version="1.1").statistics["campaigns"]
    assert figures["effort_seconds"] == {"rewrite": 7200, "verify": 180}
    assert figures["defects"] == {"unnatural": 1}
    assert figures["phenomena"] == {"pronoun": 2, "ellipsis": 1}


@pytest.mark.slow
def test_an_export_holds_what_campaigns_were_as_data_with_a_checksum(tmp_path: Path) -> None:
    dataset = small_dataset()
    without = released(dataset)
    export_release(without, "jsonl", tmp_path / "without")
    assert not (tmp_path / "without" / "ANNOTATION.json").exists(), "nothing was annotated here"
    campaign = factories.make_campaign(dataset.project, target=dataset, name="Round one")
    session = factories.make_session(campaign, name="a", released=dataset.conversations.get(source_id="first"))
    done = {"state": "submitted", "submitted_at": timezone.now(), "active_seconds": 60}
    factories.make_assignment(factories.make_item(session), **done)
    release = released(dataset, "1.1")
    for out in ("one", "two"):
        export_release(release, "jsonl", tmp_path / out)
        factories.make_assignment(factories.make_item(session, stage="rewrite"), **done) if out == "one" else None
    told = [(tmp_path / out / "ANNOTATION.json").read_bytes() for out in ("one", "two")]
    assert told[0] == told[1], "as it was when it was released"
    said = json.loads(told[0])
    assert (said["dataset"], said["version"]) == (dataset.name, "1.1")
    assert [(one["campaign"], one["effort_seconds"]) for one in said["campaigns"]] == [("Round one", {"decompose": 60})]
    assert "ANNOTATION.json" in (tmp_path / "one" / "SHA256SUMS").read_text()
    export_release(release, "jsonl", tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl.ANNOTATION.json").read_bytes() == told[0], "beside a single file, too"
    assert (tmp_path / "all.jsonl.DATASHEET.md").read_text("utf-8") == release.datasheet
    sums = (tmp_path / "all.jsonl.sha256").read_text().split()
    assert sums[1::2] == ["all.jsonl", "all.jsonl.ANNOTATION.json", "all.jsonl.DATASHEET.md"]
    assert sums[2] == hashlib.sha256(told[0]).hexdigest()
    export_release(without, "jsonl", tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl.ANNOTATION.json").exists(), "of another release no figures stay"


def test_a_dataset_that_changes_meanwhile_is_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = small_dataset()

    def edit(release: Release) -> str:
        Turn.objects.filter(conversation__source_id="third").update(instruction="Edited by somebody else.")
        return ""

    monkeypatch.setattr("annotations.releases.releasing.datasheet", edit)
    with pytest.raises(ValidationError, match="changed while it was being released"):
        released(dataset)
    assert not Release.objects.exists()
