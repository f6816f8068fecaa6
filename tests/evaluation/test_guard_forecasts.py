"""The guard looks at a dataset once, as a job: reports then read no page, past transitions stand beside, and people are
asked about what looks risky and what does not by turns."""

import csv
import io
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from annotations.corpus.correct.correcting import CorrectionDesk, GoldDesk
from annotations.jobs import running
from annotations.models import Correction, Job, Role, Step
from evaluation.guard import measuring, report_rows
from evaluation.guard.forecasting import start_forecasts
from evaluation.guard.labels import HARMLESS
from evaluation.guard.measuring import GuardMeasurement
from evaluation.models import RiskForecast, RiskLabel
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def dataset(casaverde):
    return casaverde


def look_at(dataset) -> Job:
    job = start_forecasts(user=factories.make_user(Role.ADMIN, dataset.project), dataset=dataset)
    claimed = Job.objects.claim(job.pk)
    assert claimed is not None
    assert running.run(claimed) is False
    job.refresh_from_db()
    assert job.state == "done", job.last_error
    return job


@pytest.mark.slow
def test_after_the_job_the_report_is_the_same_and_reads_no_page(dataset, monkeypatch) -> None:
    before = GuardMeasurement(dataset).report()
    assert look_at(dataset).report["counts"]["steps"] == 42
    cache.clear()
    monkeypatch.setattr(measuring, "judge", lambda *args, **more: pytest.fail("a page was read"))
    assert GuardMeasurement(dataset).report() == before
    assert GuardMeasurement(dataset, foresees=True).steps == [], "the dataset has no past transitions"
    rule = factories.make_guard_rule(dataset.project, pattern="*", kind="").rule
    judged = GuardMeasurement(dataset, rules=[rule])
    assert judged.report()["splits"]["test"]["agreed"]["recall"]["hits"] == 0, "rules count as they are now"


@pytest.mark.slow
def test_a_request_reads_so_many_pages_and_says_what_it_left(dataset, monkeypatch) -> None:
    monkeypatch.setattr(report_rows, "MOST_PAGES", 10)
    client = client_of(factories.make_user(Role.REVIEWER, dataset.project, sees_test_gold=True))
    address = f"/api/datasets/{dataset.pk}/guard-report/"
    report = client.get(address).json()
    assert (report["steps"], report["unjudged"], report["foreseen"]) == (10, 32, None)
    page = client.get(reverse("guard-report", args=[dataset.project.slug])).content.decode()
    assert "labelled steps are not counted" in page
    started = client.post("/api/guard-forecasts/", {"dataset": dataset.name}, content_type="application/json")
    assert (started.status_code, started.json()["kind"]) == (202, "risks")
    assert "It is looking" in client.get(reverse("guard-report", args=[dataset.project.slug])).content.decode()
    claimed = Job.objects.claim(started.json()["id"])
    assert claimed is not None
    running.run(claimed)
    report = client.get(address).json()
    assert (report["steps"], report["unjudged"]) == (42, 0)


@pytest.mark.slow
def test_what_is_foreseen_stands_beside_in_page_rest_and_csv(dataset, monkeypatch) -> None:
    look_at(dataset)
    missed = RiskForecast.objects.filter(by_page__isnull=False).first()
    assert missed is not None
    RiskForecast.objects.update(transitions=7)
    foreseen = missed.by_page | {"by": "prediction", "why": "the world model expects “Booked” to appear", "sure": 0.8}
    RiskForecast.objects.filter(pk=missed.pk).update(by_page=None, foreseen=foreseen)
    client = client_of(factories.make_user(Role.ADMIN, dataset.project))
    report = client.get(f"/api/datasets/{dataset.pk}/guard-report/").json()
    assert [one["step"] for one in report["missed"]] == [missed.step_id]
    assert report["foreseen"]["missed"] == []
    recalls = [one["splits"]["test"]["agreed"]["recall"]["hits"] for one in (report, report["foreseen"])]
    assert recalls == [3, 4]
    text = client.get(reverse("guard-report-csv", args=[dataset.project.slug])).content.decode()
    rows = [one for one in csv.DictReader(text.splitlines()) if one["risky_where"] == "agreed"]
    told = {(one["split"], one["measure"], one["guard"]): one["hits"] for one in rows}
    assert told["test", "recall", "policy"] == "3"
    assert told["test", "recall", "policy+prediction"] == "4"
    page = client.get(reverse("guard-report", args=[dataset.project.slug])).content.decode()
    assert "Missed with past transitions" in page
    assert page.count("policy+prediction</span>") > 6


@pytest.mark.slow
def test_past_transitions_of_the_dataset_are_asked(dataset) -> None:
    dataset.conversations.update(split="train")
    call_command("build_transitions", dataset.name, "--inline", stdout=io.StringIO())
    look_at(dataset)
    assert RiskForecast.objects.filter(transitions=dataset.transitions.count()).count() == 42
    measured = GuardMeasurement(dataset, foresees=True)
    assert len(measured.steps) == 42
    at = dict(RiskForecast.objects.values_list("step", "made_at"))
    look_at(dataset)
    assert dict(RiskForecast.objects.values_list("step", "made_at")) == at, "nothing has changed, so nothing is asked"


@pytest.mark.slow
def test_people_are_asked_by_turns_and_labels_stand_for_their_stratum(dataset) -> None:
    look_at(dataset)
    people = [factories.make_user(Role.REVIEWER, dataset.project, sees_test_gold=True) for _ in range(2)]
    conversations = dataset.conversations.all()
    looks = set(RiskForecast.objects.filter(looks_risky=True).values_list("step", flat=True))
    assert 4 <= len(looks) < 21
    asked = list(RiskLabel.objects.wanted_from(people[0], conversations)[:8].values_list("pk", flat=True))
    assert [step in looks for step in asked] == [True, False] * 4
    in_order = list(Step.objects.of_dataset(dataset).order_by("pk").values_list("pk", flat=True))
    assert asked[1::2] != [step for step in in_order if step not in looks][:4], "drawn by chance"
    truth = {one["step"]: one["first"] for one in GuardMeasurement(dataset).labels_told()}
    for _ in range(6):
        step = RiskLabel.objects.wanted_from(people[0], conversations).first()
        assert step is not None
        for person in people:
            RiskLabel.objects.give(step, person, truth[step.pk])
    measured = GuardMeasurement(dataset, by="people")
    told = report_rows.report_of(measured)["weighted"]["test"]
    assert [(one["looks_risky"], one["labelled"]) for one in told["strata"]] == [(False, 3), (True, 3)]
    assert sum(one["size"] for one in told["strata"]) == 42
    assert told["agreed"]["false_alarms"]["n"] + told["agreed"]["recall"]["n"] == 6
    late = RiskLabel.objects.wanted_from(people[0], conversations).last()
    assert late is not None
    for person in people:
        RiskLabel.objects.give(late, person, "pay")
    again = report_rows.report_of(GuardMeasurement(dataset, by="people"))
    assert again["steps"] == 7
    assert again["weighted"]["test"] == told, "what was not labelled in the order was not drawn by chance"
    client = client_of(people[0])
    page = client.get(reverse("guard-report", args=[dataset.project.slug], query={"by": "people"})).content.decode()
    assert "weighed, for all steps" in page
    rest = client.get(f"/api/datasets/{dataset.pk}/guard-report/?by=people").json()
    assert rest["weighted"]["test"] == told


@pytest.mark.slow
def test_a_corrected_action_is_looked_at_again(dataset) -> None:
    look_at(dataset)
    forecast = RiskForecast.objects.filter(by_page__isnull=False).select_related("step").first()
    assert forecast is not None
    step = forecast.step
    admin, other = (factories.make_user(Role.ADMIN, dataset.project) for _ in range(2))
    row = Correction.objects.ask(step, admin, "The other one.")
    node = next(one.node_id for one in GoldDesk(step).choices() if not one.is_gold)
    CorrectionDesk(row).propose(other, "CLICK", "", node)
    CorrectionDesk(row).accept(admin)
    assert forecast not in RiskForecast.objects.standing()
    look_at(dataset)
    assert forecast in RiskForecast.objects.standing()


def test_live_goals_and_readers_are_refused(dataset) -> None:
    goals = factories.make_dataset(dataset.project, live={"environment": "miniwob", "steps": 5, "seconds": 9})
    with pytest.raises(ValidationError, match="no action is recorded"):
        start_forecasts(user=factories.make_user(Role.ADMIN, dataset.project), dataset=goals)
    reader = client_of(factories.make_user(Role.READER, dataset.project))
    address = reverse("guard-look", args=[dataset.project.slug], query={"dataset": dataset.name})
    assert reader.post(address).status_code == 403
    reviewer = client_of(factories.make_user(Role.REVIEWER, dataset.project))
    assert reviewer.post(address).status_code == 302
    assert reviewer.post(address).status_code == 302, "the one that waits is shown"
    assert Job.objects.filter(kind="risks").count() == 1


@pytest.mark.slow
def test_who_may_not_see_test_gold_is_told_no_estimate_of_it(dataset) -> None:
    look_at(dataset)
    measured = replace(GuardMeasurement(dataset, by="people"), sees_test=False)
    report = report_rows.report_of(measured)
    assert report["weighted"] == {}
    assert HARMLESS not in str(report)
