"""What a release says of corrections that were made after its conversations were verified: datasheet and data."""

import json
from pathlib import Path

import pytest

from annotations.corpus.correct.correcting import CorrectionDesk, GoldDesk
from annotations.corpus.correct.rewording import WordingDesk
from annotations.corpus.exporting import export_release
from annotations.models import Correction, Dataset, Role, Step, Turn, TurnCorrection
from tests import factories
from tests.annotations.test_release_making import released, small_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def dataset() -> Dataset:
    return small_dataset()


@pytest.fixture
def people(dataset: Dataset):
    return [factories.make_user(role, dataset.project, username=role) for role in (Role.ANNOTATOR, Role.ADMIN)]


def correct_gold(dataset: Dataset, people, name: str, reason: str, note: str = "") -> None:
    annotator, admin = people
    step = Step.objects.get(
        turn__conversation__dataset=dataset, turn__conversation__source_id=name, turn__index=0, index=0
    )
    found = Correction.objects.ask(step, admin, reason)
    other = next(one.node_id for one in GoldDesk(step).choices() if not one.is_gold)
    CorrectionDesk(found).propose(annotator, "CLICK", "", other)
    CorrectionDesk(found).accept(admin, note)


def correct_wording(dataset: Dataset, people, name: str, reason: str) -> None:
    annotator, admin = people
    turn = Turn.objects.get(conversation__dataset=dataset, conversation__source_id=name, index=1)
    WordingDesk(TurnCorrection.objects.ask(turn, admin, reason)).propose(annotator, "Say it so.", "")
    WordingDesk(TurnCorrection.objects.get(turn=turn)).accept(admin, "")


def test_the_datasheet_says_what_was_corrected_by_how_many_and_why(dataset: Dataset, people, tmp_path: Path) -> None:
    campaign = factories.make_campaign(dataset.project, target=dataset)
    factories.make_session(campaign, name="first", released=dataset.conversations.get(source_id="first"))
    before = released(dataset)
    correct_gold(dataset, people, "first", "No:\nask ann@mail.example.", "Yes.")
    correct_wording(dataset, people, "second", "Nobody says it so.")
    Correction.objects.ask(Step.objects.filter(turn__conversation__source_id="third").first(), people[1], "Undecided.")
    sheet = (after := released(dataset, "1.1")).datasheet
    for said in (
        "verified by 1 person",
        "Corrected after that: 1 gold action, 1 wording, by 1 person; each correction was accepted by a second person",
        "- first, turn 1, step 1: correction of gold by annotator, verified by admin: No: ask [email].; Yes.",
        "- second, turn 2: correction of wording by annotator, verified by admin: Nobody says it so.",
    ):
        assert said in sheet
    assert "Undecided." not in sheet
    assert "Corrected" not in before.datasheet
    export_release(after, "jsonl", tmp_path)
    told = json.loads((tmp_path / "ANNOTATION.json").read_text("utf-8"))["corrections"]
    assert (told["gold"], told["wording"], told["cut"], told["people"], told["verifiers"]) == (1, 1, 0, 1, 1)
    assert [(one["conversation"], one["by"], one["verified_by"]) for one in told["made"]] == [
        ("first", "annotator", "admin"),
        ("second", "annotator", "admin"),
    ]
    export_release(before, "jsonl", tmp_path)
    assert "corrections" not in json.loads((tmp_path / "ANNOTATION.json").read_text("utf-8"))


def test_the_reason_of_a_correction_in_a_test_split_is_not_told(dataset: Dataset, people, tmp_path: Path) -> None:
    correct_gold(dataset, people, "held-out", "It is the red button.")
    release = released(dataset)
    assert "- held-out, turn 1, step 1: correction of gold by annotator, verified by admin\n" in release.datasheet
    export_release(release, "jsonl", tmp_path)
    assert "red button" not in (tmp_path / "ANNOTATION.json").read_text("utf-8") + release.datasheet
