"""Failures explained by a language model: asked once of each failed step, within a limit, resumable, measured by what
people say; on pages, over REST and as a job."""

import re
from collections.abc import Iterator, Sequence

import pytest

from agents.models import Connection, Run
from agents.prompts.packs import webnav
from annotations.jobs import running
from annotations.models import Job, Role
from evaluation.asking.definition import PAGE_CHARACTERS, AskedModel, Demand
from evaluation.explaining.explaining import Explaining
from evaluation.metrics.judged import wilson
from evaluation.models import ReviewQueue, ReviewReason, ScannerAnswer, Study
from evaluation.scanners.asking import ASKING, LIST, REPLY, AskingScanner, Explanation, ReasonScanner
from evaluation.scanners.step import FailedStep, ScannedAction
from tests.agents.llm_server import Answer, LlmServer, failure, prompt_text, serve
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_findings import judge, make_study

pytestmark = pytest.mark.django_db

FAILED = 4  # of six steps, places 0, 1, 3 and 4
SAID = "The agent clicks where it should type."


def number_of(body: dict, reason: str) -> int:
    """The number of a reason in the list that a request shows."""
    found = re.search(rf"^(\d+)\. {re.escape(reason)}$", prompt_text(body), re.MULTILINE)
    assert found, reason
    return int(found[1])


def says(reason: str):
    """A model that always gives this reason."""
    return lambda body: f"{SAID}\n**Reason: {number_of(body, reason) if reason else 0}**"


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve(says("wrong sibling")) as running_server:
        prices = {"price_prompt": 1_000_000, "price_completion": 1_000}
        common = {"private": True, "attempts": 1, "is_default": True}
        Connection.objects.create(name="explaining", base_url=running_server.url, model="m-1", **common, **prices)
        yield running_server


@pytest.fixture
def study() -> Study:
    return make_study()[0]


@pytest.fixture
def run(study: Study) -> Run:
    return study.runs.get()


def person(study: Study, role: str = Role.ADMIN):
    from tests import factories

    return factories.make_user(role, study.project)


def started(study: Study, **options) -> Job:
    runs = list(study.runs.select_related("dataset__project"))
    return Explaining.start("reason", user=person(study), runs=runs, **options)


def work(job: Job) -> Job:
    claimed = Job.objects.claim(job.pk)
    assert claimed is not None
    running.run(claimed)
    job.refresh_from_db()
    return job


def places(run: Run) -> dict[int, str]:
    """Place of a step -> what the scanner says of it."""
    rows = ScannerAnswer.objects.filter(step__run=run).order_by("step__seq")
    return {row.step.seq: row.word for row in rows.select_related("step")}


def test_a_job_asks_one_question_of_each_failed_step_and_keeps_reason_and_sentence(
    study: Study, run: Run, server: LlmServer
) -> None:
    job = work(started(study))
    assert (job.state, job.last_error, len(server.requests)) == ("done", "", FAILED)
    assert places(run) == dict.fromkeys((0, 1, 3, 4), "wrong sibling")
    assert {row.said for row in ScannerAnswer.objects.all()} == {"The agent clicks where it should type"}
    assert job.report["counts"] == {"wrong sibling": FAILED}
    assert job.live().fields["headline"] == f"Explained {FAILED} failed steps"
    assert job.report["spent"] == pytest.approx(sum(ScannerAnswer.objects.values_list("cost", flat=True)))
    asked = prompt_text(server.requests[1])
    second = run.steps.order_by("seq")[1]
    for words in (
        second.step.turn.instruction,
        second.step.action_repr,
        "[button]  Search -> CLICK",
        "First Second",
        "1. wrong sibling",
    ):
        assert words in asked, words
    assert work(started(study)).state == "done"
    assert len(server.requests) == FAILED, "who has answered is not asked again"


def test_it_is_never_run_by_itself(study: Study, server: LlmServer) -> None:
    from evaluation import tasks
    from evaluation.scores.scanning import scan_next

    assert scan_next()
    tasks.reap()
    assert (len(server.requests), ScannerAnswer.objects.count(), Job.objects.count()) == (0, 0, 0)


@pytest.mark.slow
def test_an_endpoint_that_goes_away_ends_it_and_a_retry_asks_of_the_rest(study: Study, run: Run, server: LlmServer):
    second = run.steps.order_by("seq")[1].step.action_repr

    def breaks(body: dict) -> "str | Answer":
        return failure(503) if f"What the person did here: {second}" in prompt_text(body) else says("")(body)

    server.reply = breaks
    job = work(started(study))
    assert (job.state, "503" in job.last_error, places(run)) == ("failed", True, {0: "none fits", 1: "no answer"})
    server.reply = says("wrong value")
    running.retry(job)
    assert work(job).state == "done"
    assert places(run) == {0: "none fits", 1: "wrong value", 3: "wrong value", 4: "wrong value"}


def test_a_reply_without_a_reason_is_no_answer_and_the_others_go_on(study: Study, run: Run, server: LlmServer) -> None:
    replies = iter(["Reason: 999", "Hm.", f"{SAID} Reason: 0", "Reason: 1"])
    server.reply = lambda body: next(replies)
    job = work(started(study))
    assert (job.state, job.report["error_count"]) == ("done_with_errors", 2)
    assert places(run) == {0: "no answer", 1: "no answer", 3: "none fits", 4: "wrong sibling"}


@pytest.mark.slow
def test_a_limit_on_money_stops_it_and_it_goes_on_in_slices(study: Study, run: Run, server: LlmServer, monkeypatch):
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    whole = started(study)
    slices = 1
    while work(whole).state == "queued":
        slices += 1
    assert (slices, whole.state) == (FAILED + 1, "done")
    monkeypatch.undo()
    Connection.objects.update(model="m-2")
    job = work(started(study, max_cost=whole.report["spent"] / 2))
    assert (job.state, "limit" in job.last_error) == ("failed", True)
    answered = ScannerAnswer.objects.filter(model="m-2", error="").count()
    assert 0 < answered < FAILED


@pytest.mark.slow
def test_it_is_foretold_and_started_over_rest_and_findings_tell_what_came_of_it(
    study: Study, run: Run, server: LlmServer
) -> None:
    client, body = client_of(person(study)), {"runs": [run.pk], "scanner": "reason"}
    told = client.post("/api/explanations/forecast/", body, content_type="application/json").json()
    assert (told["waiting"], told["requests"], told["seconds"], told["cost"]) == (FAILED, FAILED, None, None)
    answer = client.post("/api/explanations/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["kind"]) == (202, "explain")
    job = work(Job.objects.get(pk=answer.json()["id"]))
    assert 0 < job.report["spent"] < told["most_cost"], "no more than what was said"
    told = client.post("/api/explanations/forecast/", body, content_type="application/json").json()
    assert (told["waiting"], told["requests"]) == (0, 0)
    (found,) = client.get(f"/api/runs/{run.pk}/findings/").json()
    assert (found["scanner"], found["model"], found["pack"], found["count"]) == (
        "reason",
        "m-1",
        f"webnav@{webnav().version}",
        FAILED,
    )
    assert set(found["steps"].values()) == {"wrong sibling: The agent clicks where it should type"}
    for wrong, said in (
        ({"scanner": "nobody"}, "not a valid choice"),
        ({"connection": "none"}, "There is no connection 'none'"),
        ({"pack": "none"}, "no prompt pack none"),
    ):
        answer = client.post("/api/explanations/", body | wrong, content_type="application/json")
        assert (answer.status_code, said in answer.content.decode()) == (400, True), answer.content


@pytest.mark.slow
def test_its_row_says_not_judged_yet_then_precision_and_recall_with_intervals(
    study: Study, run: Run, server: LlmServer
) -> None:
    """It says "wrong sibling" of all four; people say so of two, and of one that it was no failure."""
    work(started(study))
    admin = client_of(person(study))
    page, address = source(admin.get(f"/studies/{study.pk}/failures/")), f"/studies/{study.pk}/explaining/?run={run.pk}"
    assert f'href="{address}"' in page
    assert page.count("not judged yet") == 2
    assert f"m-1 · webnav@{webnav().version}" in page
    steps = list(run.steps.failed().order_by("seq"))
    judge(study, steps[0], "agent_wrong", "wrong sibling")
    judge(study, steps[1], "agent_wrong", "wrong sibling")
    judge(study, steps[2], "both_acceptable")
    judge(study, steps[3], "agent_wrong")  # without a reason
    (found,) = admin.get(f"/api/runs/{run.pk}/findings/").json()
    assert found["precision"] == pytest.approx(wilson(2, 3)._asdict())
    assert found["recall"] == pytest.approx(wilson(2, 2)._asdict())
    judge(study, steps[3], "agent_wrong", "stale memory")
    (found,) = admin.get(f"/api/runs/{run.pk}/findings/").json()
    assert (found["precision"]["n"], found["recall"]["n"]) == (4, 3)
    assert found["recall"]["value"] == pytest.approx(2 / 3)
    assert "not judged yet" not in source(admin.get(f"/studies/{study.pk}/failures/"))


def test_people_are_asked_for_what_it_found_and_the_list_is_narrowed_to_it(
    study: Study, run: Run, server: LlmServer
) -> None:
    replies = iter([1, 0, 1, 0])
    server.reply = lambda body: f"{SAID} Reason: {next(replies)}"
    work(started(study))
    admin = client_of(person(study))
    texts = ScannerAnswer.objects.first().pack_sha256
    listed = admin.get(f"/studies/{study.pk}/failures/", {"scanner": f"reason m-1 {texts[:8]}"})
    assert [row.seq for row in listed.context["page"]] == [0, 3]
    assert "wrong sibling: The agent clicks" in source(listed)
    asked = {"study": study.pk, "choice": "scanner", "scanner": "reason", "size": "50", "overlap": "1"}
    admin.post("/reviews/queues/", asked)
    assert sorted(task.step.seq for task in ReviewQueue.objects.get().tasks.select_related("step")) == [0, 3]


def test_the_page_foretells_starts_and_is_closed_to_others(study: Study, server: LlmServer) -> None:
    client, address = client_of(person(study)), f"/studies/{study.pk}/explaining/"
    page = " ".join(re.sub(r"<[^>]+>", " ", source(client.get(address))).split())
    assert f"{FAILED} failed steps to explain. At most {FAILED} requests." in page
    answer = client.post(address, {"scanner": "reason", "pack": "webnav", "max_cost": "1e9"})
    assert answer["Location"] == f"/jobs/{Job.objects.get(kind='explain').pk}/"
    reviewer = client_of(person(study, Role.REVIEWER))
    assert reviewer.get(address).status_code == 403
    assert "Ask a language model" not in source(reviewer.get(f"/studies/{study.pk}/failures/"))


def test_it_chooses_among_the_reasons_that_the_project_offers_for_failures(study: Study, server: LlmServer) -> None:
    known = ReviewReason.objects.ensured_for(study.project)
    known.get(text="wrong value").switch()
    known.add(study.project, "page_broken", "a cookie banner")
    reasons = Explaining("reason", study.project).reasons
    assert {"wrong sibling", "a cookie banner", "answer not on the page"} <= {*reasons}
    assert not {"wrong value", "wrong value recorded", "same effect"} & {*reasons}


def test_what_is_asked_is_bounded_by_what_the_forecast_says(server: LlmServer) -> None:
    from agents.memory.jobs import endpoint

    action = ScannedAction("TYPE", "1", "v", "w" * 9_000)
    step = FailedStep("i" * 9_000, action, (), action, earlier=("e" * 9_000,), before=(action,), reply="r" * 9_000)
    long = FailedStep(**(step.__dict__ | {"html": f"<html><body><p>{'word ' * 9_000}</p></body></html>"}))
    reasons = [f"{number} {'x' * 115}" for number in range(300)]
    server.reply = lambda body: "Reason: 0"
    ReasonScanner().explain(long, reasons, AskedModel(endpoint(""), webnav()))
    text = prompt_text(server.requests[0])
    assert len(text) < ReasonScanner().demand().characters
    assert text.count("word ") >= PAGE_CHARACTERS // 5 - 1
    assert len(re.findall(r"^\d+\. \d+ x", text, re.MULTILINE)) == LIST // (115 + 3 + 7)


def test_a_scanner_of_another_package_is_asked_like_ours(study: Study, run: Run, server: LlmServer, monkeypatch):
    class Curt(AskingScanner):
        label, texts = "curt", ("scan_reason",)

        def demand(self) -> Demand:
            return Demand(1, 10)

        def explain(self, step: FailedStep, reasons: Sequence[str], panel: AskedModel) -> Explanation:
            return Explanation(reasons[0], "So it is.", panel.usage)

    monkeypatch.setitem(ASKING, "curt", Curt())
    assert [row.word for row in Explaining("curt", study.project).go_through(run)] == ["wrong sibling"] * FAILED
    page = source(client_of(person(study)).get(f"/studies/{study.pk}/failures/"))
    assert "curt" in page


@pytest.mark.slow
def test_the_embedded_model_is_asked_where_nothing_else_answers(study: Study, run: Run, monkeypatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LLM_EMBEDDED", "1")
    row = next(Explaining("reason", study.project).go_through(run))
    assert row.model.startswith("embedded:")
    assert 0 < row.completion_tokens <= REPLY
    assert row.said
