"""Redaction takes a text out of everything that a release would hold, and records it without the text."""

import json
from pathlib import Path

import pytest

from agents.models import LlmReply, MemorySnippet
from annotations.corpus.exporting import export_dataset
from annotations.corpus.importing import import_files
from annotations.datasets.records import CandidateRecord
from annotations.dom.tree import node_ids, parse
from annotations.models import Conversation, Dataset, Redaction, Snapshot, Step, Turn
from annotations.models.corpus.candidates import pack_candidates
from annotations.releases.redacting import redact
from annotations.releases.scanning import PrivateText, scan_dataset
from evaluation.models import JudgeVerdict
from tests import factories
from tests.annotations.weblinx_folder import chat, tree, turns, write_demo

pytestmark = pytest.mark.django_db
EMAIL = "ann@mail.example"
PAGE = factories.PAGE.format(title=f"Welcome {EMAIL}")


@pytest.fixture(autouse=True)
def _nothing_remembered(settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"


def conversation_with_email(**fields) -> Conversation:
    """Two turns of two steps; the address is said, typed, shown on two pages and an attribute of a candidate."""
    conversation = factories.make_conversation(turns=0, **fields)
    said = f"Log in as {EMAIL} and go on."
    turn = factories.make_turn(conversation, steps=0, instruction=said)
    typed = {"value": EMAIL, "action_repr": f"[input]  Mail -> TYPE: {EMAIL}", "extra": {"typed": [EMAIL, 7]}}
    attributes = json.dumps({"value": EMAIL})
    candidates = pack_candidates([CandidateRecord("5", "input", attributes)], [CandidateRecord("9", "button")])
    factories.make_step(turn, index=0, html=PAGE, candidates=candidates, candidate_count=2, **typed)
    factories.make_step(turn, index=1, html=PAGE)
    factories.make_turn(conversation, steps=1, index=1)
    return conversation


def found(dataset: Dataset, kind: str = "email") -> PrivateText:
    (text,) = scan_dataset(dataset).of_kind(kind)
    return text


def test_every_place_is_found() -> None:
    conversation = conversation_with_email()
    text = found(conversation.dataset)
    assert text.text == EMAIL
    assert text.places == {"instruction": 1, "value": 1, "action": 1, "extra": 1, "candidate": 1, "page": 1}
    assert text.conversations == {conversation.pk}


def test_a_redaction_leaves_nothing_of_the_text_and_all_elements() -> None:
    conversation = conversation_with_email()
    dataset, user = conversation.dataset, factories.make_user()
    before = list(dataset.conversations.records())
    shown = Step.objects.filter(turn__conversation=conversation, turn__index=0)
    page = shown[0].snapshot
    assert redact(dataset, found(dataset), user) == 7
    assert scan_dataset(dataset).texts == []
    (after,) = dataset.conversations.records()
    assert repr([after]) == repr(before).replace(EMAIL, "[email]")
    changed = shown[0].snapshot
    assert changed != page
    assert node_ids(parse(changed.html)) == node_ids(parse(page.html))
    assert {step.snapshot for step in shown} == {changed}
    rows = Redaction.objects.filter(dataset=dataset, user=user, kind="email", replacement="[email]")
    counts = {(row.step.index if row.step else None, row.place): row.count for row in rows}
    assert counts == {
        (None, "instruction"): 1,
        (0, "value"): 1,
        (0, "action"): 1,
        (0, "extra"): 1,
        (0, "candidate"): 1,
        (0, "page"): 1,
        (1, "page"): 1,
    }
    assert EMAIL not in repr(list(rows.values()))


def test_other_datasets_keep_the_page() -> None:
    mine, other = conversation_with_email(), conversation_with_email()
    redact(mine.dataset, found(mine.dataset), None)
    assert found(other.dataset).places["page"] == 1
    assert Snapshot.objects.filter(pk=Step.objects.filter(turn__conversation=other)[0].snapshot_id).exists()


def test_marked_mentions_move_with_the_text() -> None:
    conversation = conversation_with_email()
    first, second = conversation.turns.all()
    text = first.instruction
    later = {"id": "m1", "phenomenon": "anaphora", "start": text.index("go"), "end": len(text), "antecedent": None}
    inside = {"turn": 0, "start": text.index(EMAIL), "end": text.index(EMAIL) + len(EMAIL)}
    refers = {"id": "m2", "phenomenon": "anaphora", "start": 0, "end": 6, "antecedent": inside}
    Turn.objects.filter(pk=first.pk).update(extra={"mentions": [later], "original": text})
    Turn.objects.filter(pk=second.pk).update(extra={"mentions": [refers], "original": f"Use {EMAIL}."})
    redact(conversation.dataset, found(conversation.dataset), None)
    first, second = conversation.turns.all()
    (mention,), (other,) = first.extra["mentions"], second.extra["mentions"]
    assert first.instruction[mention["start"] : mention["end"]] == "go on."
    assert first.instruction[other["antecedent"]["start"] : other["antecedent"]["end"]] == "[email]"
    assert second.instruction[other["start"] : other["end"]] == "Please"
    assert (first.extra["original"], second.extra["original"]) == ("Log in as [email] and go on.", "Use [email].")


def test_files_of_demonstrations_are_redacted_too(tmp_path: Path) -> None:
    replay = [*turns(), chat("instructor", f"Send it to {EMAIL}", 40)]
    folder = write_demo(tmp_path / "in", replay=replay, description=f"by {EMAIL}")
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", tmp_path / "in", dataset).errors == []
    redact(dataset, found(dataset), None)
    export_dataset(dataset, "weblinx", tmp_path / "out")
    out, original = tree(tmp_path / "out" / folder.name), tree(folder)
    assert out == {path: data.replace(EMAIL.encode(), b"[email]") for path, data in original.items()}
    assert out != original


def test_a_scan_that_ran_out_of_time_goes_on_where_it_stopped() -> None:
    conversation = conversation_with_email()
    first = scan_dataset(conversation.dataset, seconds=0)
    assert (first.scanned, first.is_complete) == (0, False)
    assert "page" not in first.of_kind("email")[0].places
    whole = scan_dataset(conversation.dataset)
    assert whole.is_complete
    again = scan_dataset(conversation.dataset, seconds=0)  # everything is remembered
    assert (again.is_complete, again.texts) == (True, whole.texts)


def test_what_is_remembered_holds_no_private_text(settings) -> None:
    conversation = conversation_with_email()
    scan_dataset(conversation.dataset)
    (kept,) = Path(settings.VAR_DIR, "private-scans").glob(f"{conversation.dataset.pk}-*.json")
    assert "page:" in kept.read_text()
    assert EMAIL not in kept.read_text()


def test_what_agents_and_judges_have_kept_of_it_is_redacted_too() -> None:
    """An address stayed in the query of a replay, and in what a judge had said, after it was taken out of the data."""
    conversation = conversation_with_email()
    first = Step.objects.filter(turn__conversation=conversation).first()
    trace = {"rank": {"query": f"Log in as {EMAIL}"}, "plan": {"prompt": [{"content": EMAIL}], "tokens": 7}}
    trajectory = factories.make_trajectory(conversation=conversation)
    acted = trajectory.steps.order_by("seq").first()
    other = factories.make_trajectory(
        trajectory.run, factories.make_conversation(dataset=conversation.dataset)
    ).steps.first()
    type(acted).objects.filter(pk__in=[acted.pk, other.pk]).update(trace=trace)
    type(acted).objects.filter(pk=acted.pk).update(value=EMAIL)
    of_first = {"step": first, "conversation": conversation, "encoder": "e", "embedding": [0.0] * 384}
    snippet = MemorySnippet.objects.create(text=f"TYPE {EMAIL}", **of_first)
    reply = LlmReply.objects.create(key="k", model="m", request={"prompt": f"Mail: {EMAIL}"}, reply={"text": "CLICK"})
    said = JudgeVerdict.objects.create(trajectory=trajectory, judge="rules", said=f"It typed {EMAIL}.")
    redact(conversation.dataset, found(conversation.dataset), factories.make_user())
    for row in (acted, snippet, reply, said):
        row.refresh_from_db()
    kept = json.dumps([acted.value, acted.trace, snippet.text, reply.request, said.said])
    assert EMAIL not in kept
    assert acted.trace["plan"]["tokens"] == 7
    assert kept.count(acted.value) == 6, "what stands in its place is the same all over"
    assert Redaction.objects.filter(conversation=conversation, place="kept").get().count == 6
    other.refresh_from_db()
    assert other.trace == trace, "another conversation is redacted where it holds the text itself"
