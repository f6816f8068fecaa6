"""Gold of recorded steps: said to be wrong, corrected, verified by another person, and in the next release."""

import pytest
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk, GoldDesk
from annotations.models import Correction, CorrectionRefused, Role, Snapshot, Step
from annotations.models.corpus.pages import compress, digest
from annotations.releases.diffing import Difference, details
from tests import factories
from tests.annotations.test_release_making import released, small_dataset
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def step() -> Step:
    """Of a dataset that has a release."""
    dataset = small_dataset()
    released(dataset, "1.0")
    return Step.objects.filter(turn__conversation__source_id="first", turn__index=0).get(index=0)


@pytest.fixture
def people(step: Step):
    project = step.turn.conversation.dataset.project
    return [factories.make_user(role, project, username=role) for role in (Role.ANNOTATOR, Role.REVIEWER)]


def other_node(step: Step) -> str:
    return next(one.node_id for one in GoldDesk(step).choices() if not one.is_gold)


def test_a_corrected_step_has_its_new_gold_and_says_what_it_was(step: Step, people) -> None:
    annotator, reviewer = people
    node, was = other_node(step), step.gold_ids()
    found = Correction.objects.ask(step, reviewer, "The other one.")
    CorrectionDesk(found).propose(annotator, "SELECT", "Date", node)
    step.refresh_from_db()
    assert step.gold_ids() == was, "nothing changes before somebody has verified it"
    CorrectionDesk(found).accept(reviewer)
    now = Step.objects.get(pk=step.pk)
    assert (now.operation, now.value, now.gold_ids()) == ("SELECT", "Date", [node])
    assert now.action_repr.endswith("-> SELECT: Date")
    positives, negatives = now.candidate_records()
    assert [one.node_id for one in positives] == [node]
    assert set(was) < {one.node_id for one in negatives}
    found.refresh_from_db()
    assert (found.state, found.before["node_ids"], found.is_counted) == ("done", was, False)


def test_nobody_verifies_their_own_correction(step: Step, people) -> None:
    _, reviewer = people
    found = Correction.objects.ask(step, reviewer, "Wrong.")
    CorrectionDesk(found).propose(reviewer, "CLICK", "", other_node(step))
    with pytest.raises(CorrectionRefused, match="their own"):
        CorrectionDesk(found).accept(reviewer)
    with pytest.raises(CorrectionRefused, match="their own"):
        found.refuse(reviewer, "No.")
    assert Step.objects.get(pk=step.pk).gold_ids() == step.gold_ids()


@pytest.mark.parametrize(
    ("operation", "value", "node", "why"),
    [
        ("JUMP", "", "", "operation"),
        ("CLICK", "", "nowhere", "element of the page"),
        ("CLICK", "x" * 2_001, "", "at most 2,000"),
        ("CLICK", "a\0", "", "at most 2,000"),
    ],
)
def test_what_cannot_be_gold_is_refused(step: Step, people, operation, value, node, why) -> None:
    found = Correction.objects.ask(step, people[1], "Wrong.")
    with pytest.raises(CorrectionRefused, match=why):
        CorrectionDesk(found).propose(people[0], operation, value, node or other_node(step))
    gold = step.gold_ids()
    if len(gold) == 1:
        with pytest.raises(CorrectionRefused, match="gold already"):
            CorrectionDesk(found).propose(people[0], step.operation, step.value, gold[0])


@pytest.mark.parametrize(
    ("operation", "value", "node", "field", "why"),
    [
        ("TYPE", " ", "5", "value", "TYPE needs a value: what is typed"),
        ("SELECT", "", "6", "value", "SELECT needs a value: what is chosen"),
        ("SELECT", "colour", "6", "value", "The list has no such option. It has: “price”, “date”."),
        ("SELECT", "date", "8", "node_id", "SELECT names the list, not its option"),
        ("TYPE", "Rome", "8", "node_id", "choose its list, and SELECT"),
        ("TYPE", "Rome", "6", "node_id", "SELECT is what chooses from a list"),
        ("CLICK", "zzz", "9", "value", "CLICK takes no value"),
        ("SELECT", "Rome", "5", "node_id", r"Nothing can be chosen in this element \((?:textbox|searchbox)\)"),
        ("TYPE", "Rome", "9", "node_id", r"Nothing can be typed into this element \(button\)"),
    ],
)
def test_gold_that_makes_no_sense_on_its_page_is_refused(step: Step, people, operation, value, node, field, why):
    """Of a source that lists no candidates, so that every element of the page may be chosen."""
    Step.objects.filter(pk=step.pk).update(candidates=b"")
    found = Correction.objects.ask(Step.objects.get(pk=step.pk), people[1], "Wrong.")
    with pytest.raises(CorrectionRefused, match=why) as refused:
        CorrectionDesk(found).propose(people[0], operation, value, node)
    assert refused.value.field == field
    # What was proposed before proposals were checked does not become gold either.
    found.propose(people[0], operation, value, node)
    with pytest.raises(CorrectionRefused, match=why):
        CorrectionDesk(found).accept(people[1])
    assert Step.objects.get(pk=step.pk).value == step.value


@pytest.mark.parametrize(
    ("operation", "value", "node"), [("TYPE", "Rome", "5"), ("SELECT", " D ate", "6"), ("CLICK", "", "8")]
)
def test_gold_that_makes_sense_on_its_page_is_taken(step: Step, people, operation, value, node):
    Step.objects.filter(pk=step.pk).update(candidates=b"")
    found = Correction.objects.ask(Step.objects.get(pk=step.pk), people[1], "Wrong.")
    CorrectionDesk(found).propose(people[0], operation, value, node)
    CorrectionDesk(found).accept(people[1])
    assert Step.objects.get(pk=step.pk).gold_ids() == [node]


def test_a_page_that_cannot_be_read_refuses_no_gold(step: Step, people) -> None:
    raw = b"<html backend_node_id='1'><body>"
    data, digested = compress(raw), digest(raw)
    bad = Snapshot.objects.create(sha256=digested, raw_size=len(raw), stored_size=len(data), data=data, node_count=0)
    Step.objects.filter(pk=step.pk).update(snapshot=bad)
    found = Correction.objects.ask(Step.objects.get(pk=step.pk), people[1], "Wrong.")
    CorrectionDesk(found).propose(people[0], "TYPE", "Rome", "9")
    CorrectionDesk(found).accept(people[1])
    assert Step.objects.get(pk=step.pk).gold_ids() == ["9"]


def test_the_form_says_at_the_field_what_makes_no_sense(step: Step, people) -> None:
    found = Correction.objects.ask(step, people[1], "Wrong.")
    sent = {"do": "propose", "operation": "SELECT", "value": "colour", "node_id": "6"}
    page = client_of(people[0]).post(reverse("correction", args=[found.pk]), sent).content.decode()
    assert 'id="wrong-value" role="alert">The list has no such option. It has: “price”, “date”.' in page
    assert 'value="colour"' in page, "what was written stays"


def test_a_step_has_one_correction_under_way_and_each_is_decided_once(step: Step, people) -> None:
    annotator, reviewer = people
    found = Correction.objects.ask(step, reviewer, "Wrong element.")
    assert Correction.objects.ask(step, annotator, "Wrong value.") == found
    found.refresh_from_db()
    assert found.reason == "Wrong element.\nWrong value."
    with pytest.raises(CorrectionRefused, match="Nothing is proposed"):
        CorrectionDesk(found).accept(reviewer)
    found.dismiss(reviewer, "It follows from the instruction.")
    with pytest.raises(CorrectionRefused, match="decided already"):
        CorrectionDesk(found).propose(annotator, "CLICK", "", other_node(step))
    assert Correction.objects.ask(step, annotator, "Still wrong.") != found


def test_who_proposed_takes_back_what_they_asked_and_decides_nothing_of_what_another_asked(step: Step, people) -> None:
    """Else one person who reviews could end what another says, as a verdict that gold is wrong counts no more then."""
    annotator, reviewer = people
    found = Correction.objects.ask(step, annotator, "The other button.")
    CorrectionDesk(found).propose(reviewer, "CLICK", "", other_node(step))
    with pytest.raises(CorrectionRefused, match="annotator says that it is wrong, and you how: a third person decides"):
        found.dismiss(reviewer, "No.")
    found.refresh_from_db()
    assert found.state == Correction.State.PROPOSED
    page = reverse("correction", args=[found.pk])
    admin = factories.make_user(Role.ADMIN, step.turn.conversation.dataset.project)
    assert 'value="dismiss"' not in client_of(reviewer).get(page).content.decode()
    assert 'value="dismiss"' in client_of(admin).get(page).content.decode()
    found.dismiss(admin, "It follows from the instruction.")
    assert found.state == Correction.State.DISMISSED
    own = Correction.objects.ask(step, reviewer, "The other button.")
    CorrectionDesk(own).propose(reviewer, "CLICK", "", other_node(step))
    own.dismiss(reviewer, "I was wrong.")
    assert own.state == Correction.State.DISMISSED


@pytest.mark.slow
def test_the_next_release_says_who_changed_the_gold_and_why(step: Step, people) -> None:
    annotator, reviewer = people
    found = Correction.objects.ask(step, reviewer, "The other button.")
    assert found.released_in() is None
    CorrectionDesk(found).propose(annotator, "CLICK", "", other_node(step))
    CorrectionDesk(found).accept(reviewer, "I looked.")
    dataset = step.turn.conversation.dataset
    newer = released(dataset, "1.1")
    assert found.released_in() == newer
    difference = Difference.between(dataset.releases.get(version="1.0"), newer)
    assert list(difference.changes) == ["first"]
    (told,) = details(difference, ["first"], lambda split: True)
    assert [(row["what"], row["by"]) for row in told["reasons"]] == [("correction of gold", "annotator")]
    assert told["reasons"][0]["why"] == "turn 1, step 1; The other button.; I looked.; verified by reviewer"
    fields = {row["field"] for turn in told["turns"] for changed in turn["steps"] for row in changed["fields"]}
    assert {"gold elements", "action"} <= fields


@pytest.mark.slow
def test_who_may_not_go_on_reads_who_can_and_how_it_gets_there(step: Step, people) -> None:
    annotator, reviewer = people
    project = step.turn.conversation.dataset.project
    found = Correction.objects.ask(step, reviewer, "Wrong button.")
    page = reverse("correction", args=[found.pk])

    def said(person) -> str:
        return " ".join(client_of(person).get(page).content.decode().split())

    assert "annotators and admins of" in said(reviewer)
    assert "annotator (annotator)" in said(reviewer)
    assert 'id="goes-on"' not in said(annotator), "who may correct has the form"
    CorrectionDesk(found).propose(annotator, "CLICK", "", other_node(step))
    assert "reviewer (reviewer)" in said(annotator)
    assert "annotator (annotator)" not in said(annotator), "nobody verifies what they proposed"
    assert 'id="goes-on"' not in said(reviewer)
    project.memberships.exclude(user=annotator).delete()
    assert "nobody has that role yet" in said(annotator)


@pytest.mark.slow
def test_a_step_is_flagged_corrected_and_verified_on_pages(step: Step, people) -> None:
    annotator, reviewer = map(client_of, people)
    assert annotator.post(reverse("correction-ask", args=[step.pk]), {"reason": " "}).status_code == 302
    assert not Correction.objects.exists()
    annotator.post(reverse("correction-ask", args=[step.pk]), {"reason": "Wrong button."})
    found = Correction.objects.get()
    page = reverse("correction", args=[found.pk])
    assert "Wrong button." in annotator.get(reverse("corrections"), {"state": "open"}).content.decode()
    sent = {"do": "propose", "operation": "CLICK", "value": "", "node_id": other_node(step)}
    annotator.post(page, sent)
    assert annotator.post(page, {"do": "accept"}).status_code == 403
    assert b"Is the proposed gold right?" in reviewer.get(page).content
    reviewer.post(page, {"do": "refuse", "note": ""})
    assert Correction.objects.get().state == "proposed"
    reviewer.post(page, {"do": "refuse", "note": "That one opens a menu."})
    assert b"That one opens a menu." in annotator.get(page).content
    annotator.post(page, sent)
    reviewer.post(page, {"do": "accept"})
    assert Correction.objects.get().state == "done"
    assert b"the next release has it" in reviewer.get(page).content
    at_the_step = annotator.get(reverse("step", args=[step.pk])).content.decode()
    assert f'href="{page}"' in at_the_step
    assert "Corrected: annotator asked: Wrong button.; annotator proposed CLICK; reviewer decided" in at_the_step
    reader = client_of(factories.make_user(Role.READER, step.turn.conversation.dataset.project))
    assert reader.get(page).status_code == 200
    assert reader.post(page, {"do": "dismiss", "note": "No."}).status_code == 403
