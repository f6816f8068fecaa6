"""People call steps risky or harmless, one page each, and the guard is measured by what two of them said."""

import io
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk, GoldDesk
from annotations.models import Correction, Role, Step
from evaluation.guard.labels import HARMLESS, packaged_labels
from evaluation.guard.measuring import GuardMeasurement
from evaluation.models import BadRiskLabel, RiskForecast, RiskLabel
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of

CHOSEN = re.compile(r'name="kind"\s+value="(\w+)"[^>]*aria-pressed="true"')
pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(casaverde):
    return casaverde


def reviewer(dataset, gold: bool = True):
    return factories.make_user(Role.REVIEWER, dataset.project, sees_test_gold=gold)


def form_of(dataset, **query: str) -> str:
    return reverse("guard-label", args=[dataset.project.slug], query={"dataset": dataset.name, **query})


def asked(page) -> int:
    found = re.search(r'name="step" value="(\d+)"', page.content.decode())
    assert found, page.content.decode()
    return int(found[1])


def answer_all(dataset, person, kinds: dict[int, str]) -> list[int]:
    """Answers the form as long as it asks; the steps in the order in which they were asked."""
    client, seen = client_of(person), []
    page = client.get(form_of(dataset))
    while 'name="step"' in page.content.decode():
        seen.append(asked(page))
        page = client.post(form_of(dataset), {"step": seen[-1], "kind": kinds.get(seen[-1], HARMLESS)}, follow=True)
    assert "Nothing is left for you to label" in page.content.decode()
    return seen


def test_who_labels_is_told_that_the_guard_has_not_looked_and_may_have_it_look() -> None:
    dataset = factories.make_conversation(turns=1, steps=2).dataset
    client = client_of(factories.make_user(Role.ADMIN, dataset.project, sees_test_gold=True))
    look = reverse("guard-look", args=[dataset.project.slug])
    page = client.get(form_of(dataset)).content.decode()
    assert "The steps come in the order of the dataset" in page
    assert "Look at every step" in page
    assert look in page
    client.post(f"{look}?dataset={dataset.name}")
    page = client.get(form_of(dataset)).content.decode()
    assert "It is looking" in page
    assert "Look at every step" not in page
    step = Step.objects.filter(turn__conversation__dataset=dataset)[0]
    RiskForecast.objects.create(step=step, place=0, looks_risky=True, action_sha256="0" * 64)
    assert "in the order of the dataset" not in client.get(form_of(dataset)).content.decode()


@pytest.mark.slow
def test_two_people_label_every_step_and_the_guard_is_measured_by_them(dataset) -> None:
    rows = GuardMeasurement(dataset).labels_told()
    risky = {one["step"]: one["first"] for one in rows if one["first"] != HARMLESS}
    assert len(risky) == 4
    disputed = next(iter(risky))
    ann, bea = reviewer(dataset), reviewer(dataset)
    address = f"/api/datasets/{dataset.pk}/guard-report/?by=people"
    assert len(answer_all(dataset, ann, risky)) == 42
    assert client_of(ann).get(address).json()["steps"] == 0, "one label of a step is none"
    assert len(answer_all(dataset, bea, {key: kind for key, kind in risky.items() if key != disputed})) == 42
    report = client_of(ann).get(address).json()
    assert (report["steps"], report["people"], report["disputed"], report["labels_by"]) == (42, 2, 1, "people")
    assert report["splits"]["test"]["agreed"]["recall"]["n"] == 3
    assert report["splits"]["test"]["either"]["recall"]["n"] == 4
    # Cohen's kappa of 3 both risky, 1 by one, 38 by none: (41/42 - e) / (1 - e)
    by_chance = (4 * 3 + 38 * 39) / 42**2
    assert report["kappa"]["value"] == pytest.approx((41 / 42 - by_chance) / (1 - by_chance))
    page = client_of(ann).get(reverse("guard-report", args=[dataset.project.slug], query={"by": "people"}))
    words = " ".join(re.sub(r"<[^>]*>", " ", page.content.decode()).split())
    assert "42 steps of" in words
    assert "two people each, 2 people in all; 1 of the steps disputed" in words.replace(" ;", ";")
    assert "language models that did not" not in words.partition("What it is measured against")[2]
    out = io.StringIO()
    call_command("guard_report", dataset.name, "--by", "people", stdout=out)
    assert "42 labelled steps, 1 disputed, kappa of two people each" in out.getvalue()


@pytest.mark.slow
def test_what_one_has_said_is_told_nobody_and_its_step_comes_first_for_the_next(dataset) -> None:
    last = Step.objects.filter(turn__conversation__dataset=dataset).order_by("pk").last()
    ann, bea = reviewer(dataset), reviewer(dataset)
    RiskLabel.objects.give(last, ann, "publish")
    client = client_of(bea)
    page = client.get(form_of(dataset))
    assert asked(page) == last.pk
    assert not CHOSEN.search(page.content.decode())
    assert client.get(f"/api/datasets/{dataset.pk}/guard-labels/?by=people").json() == []
    assert asked(client_of(ann).get(form_of(dataset))) != last.pk
    again = client_of(ann).get(form_of(dataset, step=str(last.pk))).content.decode()
    chosen = CHOSEN.search(again)
    assert chosen
    assert chosen[1] == "publish"


@pytest.mark.slow
def test_a_third_is_not_asked_and_changes_of_mind_replace(dataset) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    ann, bea, cyd = (reviewer(dataset) for _ in range(3))
    for person, kind in ((ann, "pay"), (ann, HARMLESS), (bea, "pay")):
        RiskLabel.objects.give(step, person, kind)
    assert RiskLabel.objects.filter(step=step).count() == 2
    assert RiskLabel.objects.pairs() == {step.pk: sorted([(ann.pk, HARMLESS), (bea.pk, "pay")])}
    assert step not in RiskLabel.objects.wanted_from(cyd, dataset.conversations.all())
    with pytest.raises(BadRiskLabel, match="2 people have labelled"):
        RiskLabel.objects.give(step, cyd, "order")


@pytest.mark.slow
def test_once_two_have_labelled_a_step_and_are_told_neither_changes_it(dataset) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    ann, bea = reviewer(dataset), reviewer(dataset)
    RiskLabel.objects.give(step, ann, "pay")
    RiskLabel.objects.give(step, bea, HARMLESS)
    client, address = client_of(bea), f"/api/datasets/{dataset.pk}/guard-labels/"
    assert len(client.get(f"{address}?by=people").json()) == 1, "now the other's is told"
    page = client.post(form_of(dataset), {"step": step.pk, "kind": "pay"}, follow=True)
    assert "2 people have labelled this step, so that its labels stay" in page.content.decode()
    assert asked(page) != step.pk
    refused = client.post(address, {"step": step.pk, "kind": "pay"}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["step"])
    again = client.post(address, {"step": step.pk, "kind": HARMLESS}, content_type="application/json")
    assert again.status_code == 201, "the same once more is no change"
    assert RiskLabel.objects.pairs() == {step.pk: sorted([(ann.pk, "pay"), (bea.pk, HARMLESS)])}


def corrected(step: Step, by, verified_by) -> None:
    """Another element is its gold from now on."""
    other = next(one.node_id for one in GoldDesk(step).choices() if not one.is_gold)
    found = Correction.objects.ask(step, verified_by, "The other one.")
    CorrectionDesk(found).propose(by, "CLICK", "", other)
    CorrectionDesk(found).accept(verified_by)


@pytest.mark.slow
def test_labels_of_an_action_end_with_its_correction_and_people_are_asked_again(dataset) -> None:
    ann, bea = reviewer(dataset), reviewer(dataset)
    step = RiskLabel.objects.wanted_from(ann, dataset.conversations.all()).first()  # the one that is asked about first
    for person in (ann, bea):
        RiskLabel.objects.give(step, person, "pay")
    assert GuardMeasurement(dataset, by="people").report()["steps"] == 1
    assert GuardMeasurement(dataset).report()["steps"] == 42
    corrected(step, ann, bea)
    assert GuardMeasurement(dataset, by="people").report()["steps"] == 0
    assert GuardMeasurement(dataset).report()["steps"] == 41, "the packaged labels are of the other action, too"
    assert not CHOSEN.search(client_of(ann).get(form_of(dataset, step=str(step.pk))).content.decode())
    assert asked(client_of(ann).get(form_of(dataset))) == step.pk
    RiskLabel.objects.give(step, ann, HARMLESS)
    assert step not in RiskLabel.objects.wanted_from(ann, dataset.conversations.all())
    assert RiskLabel.objects.wanted_from(bea, dataset.conversations.all()).first() == step
    RiskLabel.objects.give(step, bea, HARMLESS)
    assert RiskLabel.objects.pairs() == {step.pk: sorted([(ann.pk, HARMLESS), (bea.pk, HARMLESS)])}


@pytest.mark.slow
def test_more_than_two_people_agree_by_fleiss(dataset) -> None:
    steps = list(Step.objects.filter(turn__conversation__dataset=dataset)[:3])
    ann, bea, cyd = (reviewer(dataset) for _ in range(3))
    for step, pair in zip(steps, ((ann, bea), (bea, cyd), (ann, cyd)), strict=True):
        RiskLabel.objects.give(step, pair[0], "pay" if step == steps[0] else HARMLESS)
        RiskLabel.objects.give(step, pair[1], "pay" if step != steps[2] else HARMLESS)
    report = GuardMeasurement(dataset, by="people").report()
    assert (report["steps"], report["people"]) == (3, 3)
    assert report["kappa"]["value"] == pytest.approx((2 / 3 - 0.5) / 0.5)


@pytest.mark.slow
def test_what_is_no_label_is_refused_and_nothing_is_stored(dataset) -> None:
    step, person = Step.objects.filter(turn__conversation__dataset=dataset).first(), reviewer(dataset)
    client = client_of(person)
    with pytest.raises(BadRiskLabel, match="one of: harmless, pay"):
        RiskLabel.objects.give(step, person, "eat")
    page = client.post(form_of(dataset), {"step": step.pk, "kind": "eat"}, follow=True)
    assert "A step is one of: harmless" in page.content.decode()
    assert asked(page) == step.pk
    address = f"/api/datasets/{dataset.pk}/guard-labels/"
    for body in ({"step": step.pk, "kind": "eat"}, {"step": "x", "kind": "pay"}, {"kind": "pay"}, {"step": 0}):
        assert client.post(address, body, content_type="application/json").status_code == 400, body
    assert client.get(f"{address}?by=nobody").status_code == 400
    elsewhere = Step.objects.filter(turn__conversation=factories.make_conversation()).first()
    told = {"step": elsewhere.pk, "kind": "pay"}
    assert client.post(address, told, content_type="application/json").status_code == 404
    assert client.post(form_of(dataset), told).status_code == 404
    assert not RiskLabel.objects.exists()
    assert client.post(address, {"step": step.pk, "kind": "pay"}, content_type="application/json").status_code == 201
    assert RiskLabel.objects.get().person == person


@first_is_quick("role", [Role.ANNOTATOR, Role.READER])
def test_others_label_nothing(dataset, role: str) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    client = client_of(factories.make_user(role, dataset.project, sees_test_gold=True))
    address, told = f"/api/datasets/{dataset.pk}/guard-labels/", {"step": step.pk, "kind": "pay"}
    assert client.post(address, told, content_type="application/json").status_code == 403
    assert client.post(form_of(dataset), told).status_code == 403


@pytest.mark.slow
def test_steps_whose_gold_is_hidden_are_not_asked_about(dataset) -> None:
    """All of this website's steps are of a test split."""
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    client = client_of(reviewer(dataset, gold=False))
    assert "Nothing is left for you to label" in client.get(form_of(dataset)).content.decode()
    assert "Nothing is left" in client.get(form_of(dataset, step=str(step.pk))).content.decode()
    told = {"step": step.pk, "kind": "pay"}
    assert client.post(form_of(dataset), told).status_code == 404
    address = f"/api/datasets/{dataset.pk}/guard-labels/"
    assert client.post(address, told, content_type="application/json").status_code == 404
    for person in (reviewer(dataset), reviewer(dataset)):
        RiskLabel.objects.give(step, person, "pay")
    assert client.get(f"{address}?by=people").json() == []


@pytest.mark.slow
def test_the_packaged_labels_given_over_rest_by_two_accounts_make_the_same_report(dataset) -> None:
    told = GuardMeasurement(dataset).labels_told()
    address, readers = f"/api/datasets/{dataset.pk}/guard-labels/", [reviewer(dataset), reviewer(dataset)]
    for column, person in zip(("first", "second"), readers, strict=True):
        client = client_of(person)
        for one in told:
            answer = client.post(address, {"step": one["step"], "kind": one[column]}, content_type="application/json")
            assert answer.status_code == 201, answer.content
    assert client_of(readers[0]).get(f"{address}?by=people").json() == told
    packaged, given = GuardMeasurement(dataset).report(), GuardMeasurement(dataset, by="people").report()
    assert (packaged.pop("people"), packaged.pop("labels_by")) == (0, "models")
    assert (given.pop("people"), given.pop("labels_by")) == (2, "people")
    assert given == packaged


@pytest.mark.slow
def test_the_packaged_labels_are_the_default_only_where_there_are_any(dataset) -> None:
    client = client_of(reviewer(dataset))
    assert client.get(f"/api/datasets/{dataset.pk}/guard-report/").json()["labels_by"] == "models"
    other = factories.make_dataset(dataset.project)
    # Another recording of the same conversations, as the sample's in WebLINX's form, has other steps.
    factories.make_conversation(dataset=other, source_id=dataset.conversations.first().source_id)
    assert client.get(f"/api/datasets/{other.pk}/guard-report/").json()["labels_by"] == "people"
    assert len(packaged_labels()) > 200
