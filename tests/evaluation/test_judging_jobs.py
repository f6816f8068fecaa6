"""A judging as a job: started, foretold, bounded, resumed and cancelled; on the pages of a study and over REST."""

import csv
import re
from collections.abc import Iterator

import pytest

from agents.models import Connection, Run
from agents.types import Spent
from annotations.jobs import running
from annotations.models import Job, Role
from evaluation.asking.jobs import AskingWork
from evaluation.judges.judging import Judging
from evaluation.models import JudgeVerdict, Study
from tests import factories
from tests.agents.llm_server import LlmServer, failure, serve
from tests.evaluation.test_judges import SIZE, honest, make_run_to_judge, number_of, review, stage_of
from tests.signed_in import client_of
from tests.web.reading import source
from webnav_site.monitor.metrics import queues

pytestmark = pytest.mark.django_db

EACH = 5  # requests for a trajectory of three pages


@pytest.fixture(scope="module")
def stored_study(rows_of_the_file: None) -> int:
    run = make_run_to_judge()
    return factories.make_study(run.dataset.project, [run]).pk


@pytest.fixture
def study(stored_study: int) -> Study:
    return Study.objects.get(pk=stored_study)


@pytest.fixture
def run(study: Study) -> Run:
    return study.runs.get()


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve(honest) as running_server:
        prices = {"price_prompt": 1_000_000, "price_completion": 1_000}
        common = {"private": True, "attempts": 1, "is_default": True}
        Connection.objects.create(name="judging", base_url=running_server.url, model="m-1", **common, **prices)
        yield running_server


def admin_of(study: Study):
    return factories.make_user(Role.ADMIN, study.project)


def started(study: Study, judge: str = "webjudge", **options) -> Job:
    runs = list(study.runs.select_related("dataset__project"))
    return Judging.start(judge, user=admin_of(study), runs=runs, **options)


def work(job: Job) -> Job:
    """One slice of a job's work."""
    claimed = Job.objects.claim(job.pk)
    assert claimed is not None
    running.run(claimed)
    job.refresh_from_db()
    return job


@pytest.mark.slow
def test_a_job_judges_every_trajectory_and_says_what_came_of_it(study: Study, server: LlmServer) -> None:
    job = work(started(study))
    assert (job.state, job.last_error) == ("done", "")
    assert job.report["counts"] == {"success": SIZE / 2, "failure": SIZE / 2}
    assert job.live().fields["headline"] == f"Judged {SIZE} trajectories"
    assert job.progress["done"] == job.progress["total"] == SIZE
    assert JudgeVerdict.objects.filter(seconds__gt=0).count() == SIZE
    assert job.report["spent"] == pytest.approx(sum(JudgeVerdict.objects.values_list("cost", flat=True)))


@pytest.mark.slow
def test_it_goes_on_in_slices_and_asks_nothing_twice(study: Study, server: LlmServer, monkeypatch) -> None:
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    job = started(study)
    slices = 0
    while work(job).state == "queued":
        slices += 1
        assert JudgeVerdict.objects.count() == slices
    assert (slices, job.state, len(server.requests)) == (SIZE, "done", SIZE * EACH)


@pytest.mark.slow
def test_rules_too_come_to_an_end_in_slices(study: Study, monkeypatch) -> None:
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    job, slices = started(study, "gold"), 0
    while work(job).state == "queued":
        slices += 1
        assert slices <= SIZE
    assert job.state == "done"
    assert JudgeVerdict.objects.count() == SIZE


@pytest.mark.slow
def test_a_limit_stops_it_before_it_costs_more_and_another_goes_on(study: Study, server: LlmServer) -> None:
    whole = work(started(study)).report["spent"]
    asked = len(server.requests)
    JudgeVerdict.objects.all().delete()
    Connection.objects.update(model="m-2")
    limit = whole / 2
    job = work(started(study, max_cost=limit))
    assert job.state == "failed"
    assert "limit" in job.last_error
    judged = JudgeVerdict.objects.filter(error="").count()
    assert 0 < judged < SIZE
    assert 0 < job.report["spent"] <= limit
    assert len(server.requests) < 2 * asked
    job = work(started(study))
    assert (job.state, JudgeVerdict.objects.filter(error="").count()) == ("done", SIZE)


@pytest.mark.slow
def test_what_a_killed_worker_had_booked_stays_counted(study: Study, server: LlmServer, monkeypatch) -> None:
    job = started(study, max_cost=1e9)

    class Killed(BaseException):
        pass

    claimed = Job.objects.claim(job.pk)
    assert claimed is not None
    doing = AskingWork(claimed, Judging)
    booked = doing.budget.add

    def book_and_die(amount: Spent) -> None:
        booked(amount)
        if JudgeVerdict.objects.count() == 3:
            raise Killed

    monkeypatch.setattr(doing.budget, "add", book_and_die)
    with pytest.raises(Killed):
        doing.work()
    spent = Job.objects.get(pk=job.pk).report["spent"]
    assert spent > sum(JudgeVerdict.objects.values_list("cost", flat=True)), "the request under way is booked"
    Job.objects.filter(pk=job.pk).update(state="queued", **Job.FREE)
    assert work(job).state == "done"
    assert job.report["spent"] > spent
    assert JudgeVerdict.objects.filter(error="").count() == SIZE


@pytest.mark.slow
def test_a_cancelled_one_stops_at_the_next_trajectory_and_is_taken_up_again(study: Study, server: LlmServer) -> None:
    job = started(study)

    def cancels(body: dict):
        if number_of(body) == 4:
            Job.objects.get(pk=job.pk).cancel()
        return honest(body)

    server.reply = cancels
    Connection.objects.update(concurrency=1)
    claimed = Job.objects.claim(job.pk)
    assert claimed is not None
    claimed.cancel()
    running.run(claimed)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert len(server.requests) == 0
    server.reply = honest
    running.retry(job)
    assert work(job).state == "done"
    assert JudgeVerdict.objects.count() == SIZE


@pytest.mark.slow
def test_an_endpoint_that_is_away_ends_it_with_the_reason_and_a_retry_goes_on(study: Study, server: LlmServer) -> None:
    server.reply = lambda body: failure(503) if number_of(body) == 5 else honest(body)
    job = work(started(study))
    assert job.state == "failed"
    assert "503" in job.last_error
    assert JudgeVerdict.objects.filter(error="").count() == 5
    server.reply = honest
    running.retry(job)
    assert work(job).state == "done"
    assert len(server.requests) == 5 * EACH + 1 + 7 * EACH


@pytest.mark.slow
def test_one_unreadable_reply_is_an_error_of_the_job_and_no_verdict(study: Study, server: LlmServer) -> None:
    server.reply = lambda body: "Hm." if stage_of(body) == "end" and number_of(body) == 3 else honest(body)
    job = work(started(study))
    assert (job.state, job.report["error_count"], job.report["landed"]) == ("done_with_errors", 1, SIZE - 1)
    assert "names no verdict" in job.report["errors"][0]["message"]


def test_the_same_judging_is_not_queued_twice(study: Study) -> None:
    assert started(study, "gold") == started(study, "gold")
    assert started(study, "scanners") != started(study, "gold")


def test_rules_do_not_wait_for_a_worker_of_models(study: Study, server: LlmServer) -> None:
    rules, asking = started(study, "gold"), started(study)
    assert (rules.queue, asking.queue) == ("io", "gpu")
    assert (list(Job.objects.waiting_in("io")), list(Job.objects.waiting_in("gpu"))) == ([rules], [asking])
    assert {queue: count for queue, (count, _) in queues().items()} == {"io": 1, "gpu": 1}


def ask(study: Study, body: dict, user=None, where: str = "judgings/"):
    client = client_of(user or admin_of(study))
    runs = list(study.runs.values_list("pk", flat=True))
    return client.post(f"/api/{where}", {"runs": runs} | body, content_type="application/json")


@pytest.mark.slow
def test_requests_time_and_money_are_foretold_and_come_true(study: Study, server: LlmServer) -> None:
    told = ask(study, {"judge": "webjudge"}, where="judgings/forecast/").json()
    assert (told["waiting"], told["requests"], told["seconds"], told["cost"]) == (SIZE, SIZE * EACH, None, None)
    job = work(started(study))
    assert 0 < job.report["spent"] < told["most_cost"], "no more than what was said"
    assert ask(study, {"judge": "webjudge"}, where="judgings/forecast/").json()["waiting"] == 0
    late = list(JudgeVerdict.objects.order_by("pk")[6:])
    JudgeVerdict.objects.filter(pk__in=[one.pk for one in late]).delete()
    told = ask(study, {"judge": "webjudge"}, where="judgings/forecast/").json()
    assert (told["waiting"], told["requests"]) == (6, 6 * EACH)
    assert told["cost"] == pytest.approx(sum(one.cost for one in late), rel=0.1)
    assert told["seconds"] > 0
    assert ask(study, {"judge": "gold"}, where="judgings/forecast/").json()["requests"] == 0


@pytest.mark.slow
def test_it_is_started_over_rest_and_wrong_requests_say_what_is_wrong(study: Study, server: LlmServer) -> None:
    answer = ask(study, {"judge": "webjudge", "max_cost": 5e9})
    assert (answer.status_code, answer.json()["kind"]) == (202, "judge")
    assert work(Job.objects.get(pk=answer.json()["id"])).state == "done"
    for body, said in (
        ({"judge": "nobody"}, "not a valid choice"),
        ({"judge": "webjudge", "connection": "none"}, "There is no connection 'none'"),
        ({"judge": "webjudge", "pack": "none"}, "no prompt pack none"),
        ({"judge": "gold", "connection": "judging"}, "leave the connection out"),
        ({"judge": "gold", "runs": []}, "empty"),
        ({"judge": "webjudge", "max_cost": -1}, "greater than or equal to 0"),
    ):
        answer = ask(study, body)
        assert (answer.status_code, said in answer.content.decode()) == (400, True), (body, answer.content)
    Connection.objects.update(price_prompt=None, price_completion=None)
    assert "needs prices" in ask(study, {"judge": "webjudge", "max_cost": 1}).content.decode()


def test_runs_of_two_projects_are_refused(study: Study) -> None:
    other = factories.make_run()
    user = factories.make_superuser()
    runs = [study.runs.get().pk, other.pk]
    assert "one project" in ask(study, {"judge": "gold", "runs": runs}, user).content.decode()


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ANNOTATOR, Role.READER])
def test_others_start_none(study: Study, role: str) -> None:
    user = factories.make_user(role, study.project)
    assert ask(study, {"judge": "gold"}, user).status_code == 403
    client = client_of(user)
    assert client.get(f"/studies/{study.pk}/judging/").status_code == 403
    assert client.post(f"/studies/{study.pk}/judging/", {"judge": "gold", "pack": "webnav"}).status_code == 403
    assert "Judge trajectories" not in source(client.get(f"/studies/{study.pk}/"))
    assert not Job.objects.exists()


def words(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", source(response)).split())


@pytest.mark.slow
def test_the_page_of_a_study_leads_to_a_forecast_and_to_the_job(study: Study, server: LlmServer) -> None:
    client, address = client_of(admin_of(study)), f"/studies/{study.pk}/judging/"
    assert f'href="{address}"' in source(client.get(f"/studies/{study.pk}/"))
    assert f"{SIZE} trajectories to judge. At most {SIZE * EACH} requests." in words(client.get(address))
    assert "asks no language model" in words(client.get(address, {"judge": "gold", "pack": "webnav"}))
    wrong = client.post(address, {"judge": "nobody", "pack": "webnav"})
    assert "not one of the available choices" in words(wrong)
    answer = client.post(address, {"judge": "webjudge", "pack": "webnav", "max_cost": "1e9"})
    job = Job.objects.get(kind="judge")
    assert answer["Location"] == f"/jobs/{job.pk}/"
    work(job)
    assert "Nothing is left to judge" in words(client.get(address))


@pytest.mark.slow
def test_verdicts_stand_beside_what_people_say_with_the_reason(study: Study, run: Run, server: LlmServer) -> None:
    work(started(study))
    review(run, {0: "agent_wrong", 1: "agent_wrong", 2: "both_acceptable", 3: "gold_wrong", 4: "page_broken"})
    client, address = client_of(factories.make_user(Role.READER, study.project)), f"/studies/{study.pk}/judges/"
    page = source(client.get(address))
    assert page.count("All is met.") >= SIZE
    first = run.trajectories.in_order()[0]
    assert f'href="/trajectories/{first.pk}/"' in page
    differing = {"0", "3"}
    rows = list(csv.DictReader(client.get(f"/studies/{study.pk}/judges.csv").content.decode().splitlines()))
    told = [row for row in rows if row["people"] and row["people"] != row["says"]]
    assert (len(rows), len(told)) == (SIZE, 2)
    for query in ("?disagrees=true", "?disagrees=true&judge=webjudge", f"?disagrees=true&run={run.pk}"):
        assert "2 verdicts" in words(client.get(address + query)), query
    text = client.get(f"/studies/{study.pk}/judges.csv?disagrees=true").content.decode()
    sources = {row["conversation"] for row in csv.DictReader(text.splitlines())}
    numbers = {
        one.conversation.turns.get().instruction.split()[1]
        for one in run.trajectories.filter(conversation__source_id__in=sources)
    }
    assert numbers == differing
    rest = client.get("/api/judge-verdicts/", {"study": study.pk, "disagrees": "true"}).json()["results"]
    assert {(one["success"], one["people"]) for one in rest} == {(True, False), (False, True)}
    assert len(client.get("/api/judge-verdicts/", {"study": study.pk, "disagrees": "false"}).json()["results"]) == 10
    assert "No verdict is like that" in words(client.get(f"{address}?said=unanswered"))


@pytest.mark.slow
def test_verdicts_of_hidden_splits_are_told_to_none_who_may_not_see_gold(study: Study, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(split="test_task")
    run.dataset.conversations.update(split="test_task")
    work(started(study, "gold"))
    reader = client_of(factories.make_user(Role.READER, study.project))
    seeing = client_of(factories.make_user(Role.READER, study.project, sees_test_gold=True))
    for client, count in ((reader, 0), (seeing, SIZE)):
        assert len(client.get("/api/judge-verdicts/").json()["results"]) == count
        assert len(client.get(f"/studies/{study.pk}/judges.csv").content.decode().splitlines()) == count + 1
        assert len(client.get(f"/api/studies/{study.pk}/judges/").json()) == bool(count)
    assert "Verdicts on test splits are left out" in words(reader.get(f"/studies/{study.pk}/judges/"))


@pytest.mark.slow
def test_a_verdict_on_what_has_changed_since_is_not_shown(study: Study, run: Run) -> None:
    work(started(study, "gold"))
    run.trajectories.in_order()[0].got_on()
    client = client_of(admin_of(study))
    assert len(client.get("/api/judge-verdicts/").json()["results"]) == SIZE - 1


@pytest.mark.slow
def test_agreement_is_told_over_rest(study: Study, run: Run, server: LlmServer) -> None:
    work(started(study))
    review(run, {n: "both_acceptable" if n % 2 == 0 else "agent_wrong" for n in range(SIZE)})
    told = client_of(admin_of(study)).get(f"/api/studies/{study.pk}/judges/").json()
    assert [(one["judge"], one["model"]) for one in told] == [("webjudge", "m-1")]
    assert told[0]["rows"][0]["kappa"]["value"] == 1.0
    assert told[0]["rows"][0]["sensitivity"]["n"] == SIZE / 2
