"""What scanners find in stored runs: kept once, listed on the page of failures, asked of people, and validated."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Run, TrajectoryStep
from annotations.models import Role
from evaluation import tasks
from evaluation.metrics.judged import wilson
from evaluation.models import Review, ReviewQueue, ReviewReason, ScannedRun, Study
from evaluation.reviews.choosing import QueueDemand, make_queue
from evaluation.reviews.validating import ScannerValidation, validate
from evaluation.scanners import SCANNERS
from evaluation.scanners.definition import Scanner
from evaluation.scores.scanning import RunScan, scan_next, to_scan
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
NOT_JUDGED = ScannerValidation(None, None)


def make_study(split: str = "train") -> tuple[Study, Run]:
    """Two turns of TYPE, SELECT, CLICK; the agent always clicks the button of the form, as it is right at the third.
    Field and list stand beside the button, at the second of a turn it does what it did before, and what is typed at
    the first was never said."""
    conversation = factories.make_conversation(turns=2, steps=3, split=split)
    run = factories.make_run(conversation.dataset, split=split, step_count=6, state="done")
    factories.make_trajectory(run, conversation)
    return factories.make_study(conversation.dataset.project, [run]), run


def found(run: Run) -> dict[str, list[int]]:
    """Scanner -> places of the steps that it found, of those that found any."""
    kept, seq = ScannedRun.objects.get(run=run), dict(run.steps.values_list("pk", "seq"))
    return {key: sorted(seq[pk] for pk in kept.steps_found(key)) for key in SCANNERS if kept.steps_found(key)}


def page_of(study: Study, query: str = "", user: Client | None = None):
    return (user or reader(study)).get(f"/studies/{study.pk}/failures/{query}")


def reader(study: Study, role: str = Role.REVIEWER, **more) -> Client:
    return client_of(factories.make_user(role, study.project, **more))


def test_a_run_that_is_over_is_scanned_once_from_what_is_stored() -> None:
    _, run = make_study()
    assert scan_next()
    assert found(run) == {"no-answer": [0, 3], "loop": [1, 4], "sibling": [0, 1, 3, 4]}
    assert not scan_next(), "nothing waits"
    assert [cluster["name"].partition(" instead of ")[0] for cluster in ScannedRun.objects.get(run=run).clusters] == [
        "loop: CLICK on button",
        "page without the answer: CLICK on button",
    ]


def test_what_was_not_scanned_as_it_is_now_waits_for_it() -> None:
    _, run = make_study()
    Run.objects.filter(pk=run.pk).update(state="running")
    assert not to_scan().exists(), "more is to come"
    Run.objects.filter(pk=run.pk).update(state="done")
    RunScan(run).store()
    ScannedRun.objects.update(scanners="of before")
    assert list(to_scan()) == [run]
    RunScan(run).store()
    run.steps.order_by("-seq").first().delete()
    assert list(to_scan()) == [run], "it has other steps now"
    assert ScannedRun.objects.count() == 1


@pytest.mark.slow
def test_workers_are_told_of_runs_to_scan_and_go_on_until_none_waits(monkeypatch) -> None:
    runs, told = [make_study()[1] for _ in range(2)], []
    monkeypatch.setattr(tasks.scan_runs, "delay", lambda: told.append("scan"))
    tasks.reap()
    assert told == ["scan"]
    tasks.scan_runs()
    assert told == ["scan", "scan"], "another waits"
    tasks.scan_runs()
    tasks.reap()
    assert len(told) == 2
    assert {row.run for row in ScannedRun.objects.all()} == set(runs)


@pytest.mark.slow
def test_a_scan_that_ends_with_an_error_keeps_no_other_run_waiting(monkeypatch) -> None:
    (_, bad), (_, good) = make_study(), make_study()
    broken = Scanner("broken", lambda step: 1 // 0, ())
    with monkeypatch.context() as patched:
        patched.setitem(SCANNERS, "broken", broken)
        with pytest.raises(ZeroDivisionError):
            scan_next()
    assert [*to_scan()] == [good, bad]
    assert scan_next()
    assert scan_next()
    assert not to_scan().exists()


def test_the_trace_tells_memory_reply_and_rank() -> None:
    _, run = make_study()
    first, second, _, third, *_ = run.steps.order_by("seq")
    recalled = {"turn_index": 0, "step_index": 2, "instruction": "x", "action": "[button]  Search -> CLICK"}
    TrajectoryStep.objects.filter(pk=third.pk).update(
        trace=third.trace | {"recall": {"snippets": [recalled]}}, gold_rank=None
    )
    TrajectoryStep.objects.filter(pk=second.pk).update(
        operation="", node_id="", trace={"plan": {"reply": "Let me think."}, "observe": {"error": ""}}
    )
    TrajectoryStep.objects.filter(pk=first.pk).update(trace={"recall": {"snippets": None}, "plan": "odd"})
    RunScan(run).store()
    assert {key: places for key, places in found(run).items() if key not in ("sibling", "no-answer")} == {
        "unreadable": [1],
        "not-offered": [3],
        "stale-memory": [3],
        "loop": [4],
    }


@pytest.mark.slow
def test_the_page_of_failures_shows_findings_and_each_leads_to_its_steps() -> None:
    study, run = make_study()
    assert "soon after its end" in page_of(study).content.decode()
    RunScan(run).store()
    page = page_of(study)
    assert {row.key: len(row.seen) for row in page.context["findings"] if row.seen} == {
        "no-answer": 2,
        "loop": 2,
        "sibling": 4,
    }
    assert f"?run={run.pk}&amp;scanner=loop" in page.content.decode()
    assert page.content.decode().count("not judged yet") == 2 * len(SCANNERS)
    listed = page_of(study, f"?run={run.pk}&scanner=loop")
    assert [row.seq for row in listed.context["page"]] == [1, 4]
    assert "the same action as at the step before" in listed.content.decode()
    (cluster, *_) = page.context["clusters"]
    query = f"?{urlencode({'cluster': cluster.name})}"
    assert {row.pk for row in page_of(study, query).context["page"]} == set(cluster.steps)
    assert page_of(study, "?scanner=nonsense").context["page"].paginator.count == 4


@pytest.mark.slow
def test_findings_of_test_splits_are_hidden_where_gold_is() -> None:
    study, run = make_study("test_task")
    RunScan(run).store()
    step = run.steps.order_by("seq").first()
    Review.objects.give(step.trajectory, step, factories.make_user(), "agent_wrong", reason_of(study, "wrong sibling"))
    page = page_of(study)
    assert not any(row.seen for row in page.context["findings"])
    assert all(row.validation == NOT_JUDGED for row in page.context["findings"])
    assert page.context["clusters"] == []
    assert page_of(study, "?scanner=sibling").context["page"].paginator.count == 0
    path = f"/api/runs/{run.pk}/findings/"
    assert all(row["count"] == 0 and row["steps"] == {} for row in reader(study).get(path).json())
    trusted = reader(study, sees_test_gold=True)
    assert page_of(study, "?scanner=sibling", trusted).context["page"].paginator.count == 4
    assert [row["count"] for row in trusted.get(path).json() if row["scanner"] == "sibling"] == [4]


def reason_of(study: Study, text: str) -> ReviewReason:
    return ReviewReason.objects.ensured_for(study.project).get(text=text)


def judge(study: Study, step: TrajectoryStep, verdict: str, reason: str = "") -> None:
    user = factories.make_user()
    Review.objects.give(step.trajectory, step, user, verdict, reason_of(study, reason) if reason else None)


@pytest.mark.slow
def test_scanners_are_validated_on_what_people_judged() -> None:
    """Of four that the scanner of siblings found people say two are, one is not, and of one not why; one loop of two
    was called so, and a step was called a loop that the scanner missed."""
    study, run = make_study()
    steps = list(run.steps.failed().order_by("seq"))
    RunScan(run).store()
    user = factories.make_user(Role.ADMIN, study.project)
    assert validate(user, study.project)["sibling"] == NOT_JUDGED
    judge(study, steps[0], "agent_wrong", "step repeated")
    judge(study, steps[1], "agent_wrong", "wrong sibling")
    judge(study, steps[2], "agent_wrong", "wrong sibling")
    judge(study, steps[3], "agent_wrong")
    known = validate(user, study.project)
    assert known["sibling"] == ScannerValidation(wilson(2, 3), wilson(2, 2))
    assert known["loop"] == ScannerValidation(wilson(0, 1), wilson(0, 1))
    assert known["stale-memory"] == NOT_JUDGED
    judge(study, steps[3], "both_acceptable")
    assert validate(user, study.project)["loop"].precision == wilson(0, 2), "right after all is no failure"
    judge(study, steps[1], "agent_wrong", "misread the instruction")
    assert validate(user, study.project)["sibling"].precision == wilson(1, 3), "as many say no as yes"
    page = page_of(study).content.decode()
    assert "33.3" in page
    rows = {row["scanner"]: row for row in reader(study).get(f"/api/runs/{run.pk}/findings/").json()}
    assert rows["sibling"]["precision"]["n"] == 3
    assert rows["stale-memory"]["recall"] is None


def test_what_people_were_never_offered_to_say_validates_nothing() -> None:
    study, run = make_study()
    RunScan(run).store()
    judge(study, run.steps.failed().first(), "agent_wrong", "misread the instruction")
    assert validate(factories.make_user(Role.ADMIN, study.project), study.project)["sibling"].precision == wilson(0, 1)
    ReviewReason.objects.filter(text="wrong sibling").delete()
    assert validate(factories.make_user(Role.ADMIN, study.project), study.project)["sibling"] == NOT_JUDGED


@pytest.mark.slow
def test_people_are_asked_for_what_a_scanner_found_and_that_says_nothing_of_what_it_misses() -> None:
    study, run = make_study()
    RunScan(run).store()
    admin = reader(study, Role.ADMIN)
    assert page_of(study, user=admin).content.decode().count('name="scanner" value="loop"') == 1
    asked = {"study": study.pk, "choice": "scanner", "scanner": "loop", "size": "50", "overlap": "1"}
    admin.post(reverse("review-queues"), asked)
    queue = ReviewQueue.objects.get()
    assert sorted(task.step.seq for task in queue.tasks.select_related("step")) == [1, 4]
    assert (queue.probability, str(queue).endswith("(loop)")) == (None, True)
    assert admin.get(reverse("review-queue", args=[queue.pk])).status_code == 200
    assert "what a scanner found, at random: loop" in admin.get(reverse("review-queues")).content.decode()
    for task in queue.tasks.select_related("step__trajectory"):
        judge(study, task.step, "agent_wrong", "step repeated")
    user = factories.make_user(Role.ADMIN, study.project)
    assert validate(user, study.project)["loop"] == ScannerValidation(wilson(2, 2), None)
    make_queue(None, study, QueueDemand("failures", 100, 1))
    assert validate(user, study.project)["loop"].recall == wilson(2, 2), "now they were chosen for failing, too"


@pytest.mark.parametrize(("choice", "scanner"), [("scanner", ""), ("scanner", "x"), ("random", "loop")])
def test_a_queue_of_a_scanner_names_one_that_there_is(choice: str, scanner: str) -> None:
    study, _ = make_study()
    with pytest.raises(ValueError, match="chosen by one of unreadable"):
        make_queue(None, study, QueueDemand(choice, 5, 1, scanner=scanner))


def test_nothing_is_asked_of_a_scanner_that_found_nothing() -> None:
    study, run = make_study()
    RunScan(run).store()
    with pytest.raises(ValueError, match="No stored step"):
        make_queue(None, study, QueueDemand("scanner", 5, 1, scanner="unreadable"))
