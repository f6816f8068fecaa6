"""Differences between releases: what, by whom and why; gold of test splits only for those who may see it."""

import pytest
from django.utils import timezone

from annotations.corpus.reworded import NewWording
from annotations.models import Conversation, Curation, Edit, Step, Turn, Verdict
from annotations.releases.diffing import Difference, details, word_diff
from annotations.releases.redacting import redact
from annotations.releases.scanning import scan_dataset
from tests import factories
from tests.annotations.test_release_making import released, small_dataset

pytestmark = pytest.mark.django_db


def everything(split: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("a red dress", "a blue dress", [("same", "a "), ("out", "red"), ("in", "blue"), ("same", " dress")]),
        (
            "to ann@mail.example.",
            "to [email].",
            [("same", "to "), ("out", "ann@mail.example"), ("in", "[email]"), ("same", ".")],
        ),
        ("", "Go", [("in", "Go")]),
        ("Go", "", [("out", "Go")]),
        ("Go.", "Go.", [("same", "Go.")]),
    ],
)
def test_word_diffs_hold_both_texts(before: str, after: str, pieces: list) -> None:
    assert word_diff(before, after) == pieces


@pytest.mark.slow
def test_equal_releases_differ_in_nothing() -> None:
    dataset = small_dataset()
    found = Difference.between(released(dataset, "1.0"), released(dataset, "1.1"))
    assert (found.changes, found.counts()) == ({}, {"added": 0, "removed": 0, "changed": 0, "same": 4})


@pytest.mark.slow
def test_conversations_turns_and_steps_are_compared_field_by_field() -> None:
    dataset = small_dataset()
    older = released(dataset, "1.0")
    Turn.objects.filter(conversation__source_id="first", index=1).update(instruction="Instruction 1 has other words.")
    Step.objects.filter(turn__conversation__source_id="first", turn__index=0, index=0).update(value="blue shoes")
    Conversation.objects.get(dataset=dataset, source_id="second").delete()
    site = dataset.websites.get()
    factories.make_conversation(dataset=dataset, website=site, source_id="new", turns=1)
    found = Difference.between(older, released(dataset, "1.1"))
    assert found.changes == {"first": "changed", "new": "added", "second": "removed"}
    assert found.counts() == {"added": 1, "removed": 1, "changed": 1, "same": 2}
    changed, added, removed = details(found, list(found.changes), everything)
    typed, said = changed["turns"]
    assert typed["steps"] == [
        {
            "source_id": "step-0",
            "change": "changed",
            "action": "[input]  Search -> TYPE: red shoes",
            "fields": [{"field": "value", "before": "red shoes", "after": "blue shoes"}],
        }
    ]
    (field,) = said["fields"]
    assert (field["field"], field["after"]) == ("instruction", "Instruction 1 has other words.")
    assert ("in", "other") in field["words"]
    assert (len(added["turns"]), len(added["turns"][0]["steps"]), len(removed["turns"])) == (1, 2, 2)
    assert changed["counts"] == {"turns": {"changed": 1}, "steps": {"changed": 1}}
    assert [reason["what"] for reason in changed["reasons"]] == ["import"]


@pytest.mark.slow
def test_nothing_is_told_of_the_gold_of_test_splits() -> None:
    dataset = small_dataset()
    older = released(dataset, "1.0")
    Step.objects.filter(turn__conversation__source_id="held-out", index=0).update(value="secret value")
    found = Difference.between(older, released(dataset, "1.1"))
    (hidden,) = details(found, ["held-out"], lambda split: not split.startswith("test"))
    assert (hidden["gold_hidden"], hidden["turns"], hidden["counts"]["steps"]) == (True, [], {})
    (shown,) = details(found, ["held-out"], everything)
    assert "secret value" in str(shown)
    assert "secret value" not in str(hidden)


@pytest.mark.slow
def test_a_conversation_that_left_a_test_split_hides_its_gold_too() -> None:
    dataset = small_dataset()
    older = released(dataset, "1.0")
    Conversation.objects.filter(source_id="held-out").update(split="train")
    (row,) = details(
        Difference.between(older, released(dataset, "1.1")), ["held-out"], lambda split: not split.startswith("test")
    )
    assert row["gold_hidden"]
    assert row["fields"] == [{"field": "split", "before": "test_task", "after": "train"}]


@pytest.mark.slow
def test_redactions_say_who_took_what_out() -> None:
    dataset = small_dataset()
    Turn.objects.filter(conversation__source_id="first", index=0).update(instruction="Write to ann@mail.example.")
    older = released(dataset, "1.0")
    user = factories.make_user("admin", dataset.project, username="keeper")
    for text in scan_dataset(dataset).texts:
        redact(dataset, text, user)
    (row,) = details(Difference.between(older, released(dataset, "1.1")), ["first"], everything)
    (reason,) = row["reasons"]
    assert (reason["what"], reason["by"], reason["why"]) == ("redaction of email", "keeper", "1 × instruction")


@pytest.mark.slow
def test_changes_of_a_campaign_name_annotator_and_verifier() -> None:
    dataset = small_dataset()
    campaign = factories.make_campaign(dataset.project, target=dataset)
    session = factories.make_session(campaign, name="first")
    author = factories.make_user("annotator", dataset.project, username="author")
    rewrite = factories.make_assignment(factories.make_item(session, stage="rewrite"), author)
    older = released(dataset, "1.0")
    part = rewrite.parts.get()
    Edit.objects.create(
        assignment=rewrite,
        version=1,
        op_id="6f1d9f0e-33c5-4d0b-9a3c-6c1f3b7f4a52",
        user=author,
        kind="text",
        step=part.first_step,
        field="rewrite",
        before="",
        after="Now that one.",
    )
    verifier = factories.make_user("reviewer", dataset.project, username="verifier")
    verification = factories.make_assignment(factories.make_item(session, stage="verify", subject=rewrite), verifier)
    verdict = Verdict.objects.create(
        assignment=rewrite, verification=verification, round=1, version=1, outcome="return", reason="Too short."
    )
    verdict.defects.create(code="unnatural")
    other = factories.make_assignment(
        rewrite.item, factories.make_user("annotator", dataset.project, username="other"), slot=1
    )
    now = {"first_version": 1, "second_version": 0, "finished_at": timezone.now(), "taken": rewrite}
    curation = Curation.objects.create(first=rewrite, second=other, user=verifier, **now)
    curation.choices.create(step=part.first_step, take="a")
    Turn.objects.filter(conversation__source_id="first", index=0).update(instruction="Now that one.")
    (row,) = details(Difference.between(older, released(dataset, "1.1")), ["first"], everything)
    assert [(reason["what"], reason["by"], reason["why"]) for reason in row["reasons"]] == [
        ("annotation", "author", "1 × change of a text"),
        ("verdict: returned", "verifier", "Too short.; unnatural; round 1"),
        ("two versions made one", "verifier", "author and other; 1 × author"),
    ]
    assert "The campaign “Campaign" in released(dataset, "1.2").datasheet


@pytest.mark.slow
def test_what_differs_within_an_object_is_said_by_itself_and_not_as_python_prints_it() -> None:
    dataset = small_dataset()
    mention = {"text": "them", "antecedent": {"turn": 1}}
    turns = Turn.objects.filter(conversation__source_id="first", index=1)
    turns.update(extra={"original": "before", "mentions": [mention]})
    older = released(dataset, "1.0")
    turns.update(extra={"original": "after", "mentions": [mention, {"text": "it"}]})
    found = Difference.between(older, released(dataset, "1.1"))
    (changed,) = details(found, list(found.changes), everything)
    assert changed["turns"][0]["fields"] == [
        {"field": "instruction before rewriting", "before": "before", "after": "after"},
        {"field": "mentions 2 text", "before": None, "after": "it"},
    ]


def test_a_mention_is_shown_in_words_and_a_moved_place_is_no_difference() -> None:
    dataset = small_dataset()
    first, turn = Turn.objects.filter(conversation__source_id="first").order_by("index")
    Turn.objects.filter(pk=first.pk).update(instruction="Find the boots.")
    it = {"id": "a", "phenomenon": "pronoun", "start": 4, "end": 6, "antecedent": {"turn": 0, "start": 5, "end": 14}}
    Turn.objects.filter(pk=turn.pk).update(instruction="Buy it there.", extra={"mentions": [it]})
    older = released(dataset, "1.0")
    NewWording("Please find the boots.").write(Turn.objects.get(pk=first.pk))
    moved = released(dataset, "1.1")
    (changed,) = details(Difference.between(older, moved), ["first"], everything)
    assert [(one["number"], [field["field"] for field in one["fields"]]) for one in changed["turns"]] == [
        (1, ["instruction"])
    ]
    there = {"id": "b", "phenomenon": "pronoun", "start": 7, "end": 12, "antecedent": None}
    kept = Turn.objects.get(pk=turn.pk).extra["mentions"]
    Turn.objects.filter(pk=turn.pk).update(extra={"mentions": [kept[0] | {"antecedent": None}, there]})
    (changed,) = details(Difference.between(moved, released(dataset, "1.2")), ["first"], everything)
    assert changed["turns"][0]["fields"] == [
        {
            "field": "mentions",
            "before": ["“it” in turn 2 → “the boots” of turn 1 (pronoun)"],
            "after": [
                "“it” in turn 2 → nothing said before (pronoun)",
                "“there” in turn 2 → nothing said before (pronoun)",
            ],
        }
    ]
