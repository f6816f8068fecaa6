"""The operator's page: superusers alone, with what is so now, and without Redis too."""

import time

import pytest
from django.db import connection
from django.test import Client

from annotations.models import Job
from annotations.monitor import counters, errors
from annotations.monitor.shared import client as shared_client
from tests import factories
from tests.signed_in import client_of
from webnav_site.monitor import samples, slow_queries, tasks
from webnav_site.workers import reporting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty() -> None:
    counters.flush()
    with shared_client() as server:
        server.delete(counters.KEY, errors.RECENT, samples.KEY, slow_queries.KEY, reporting.BEAT_TASKS)


@pytest.fixture
def operator() -> Client:
    return client_of(factories.make_superuser())


@pytest.mark.parametrize("path", ["/operations/", "/operations/retention/"])
def test_only_superusers_see_it(operator: Client, path: str) -> None:
    assert operator.get(path).status_code == 200
    member = Client()
    member.force_login(factories.make_user("admin"))
    assert member.get(path).status_code == 403
    assert Client().get(path).status_code == 302
    assert "Operations" in operator.get("/jobs/").content.decode()
    assert "Operations" not in member.get("/jobs/").content.decode()


def test_it_tells_workers_queues_errors_beat_and_sizes(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("name", "io@here"), ("queues", ("io",)), ("told", -1000.0), ("since", time.time())):
        monkeypatch.setattr(reporting._ObservedWorker, name, value)
    reporting._tell()
    reporting._beat_sent("annotations.tasks.reap")
    factories.make_job(kind=Job.Kind.IMPORT)
    try:
        raise KeyError("secret words of a user")
    except KeyError:
        error_id = errors.remember("request", "GET /somewhere")
    page = operator.get("/operations/").content.decode()
    for words in ("io@here", "annotations.tasks.reap", error_id, "KeyError", "GET /somewhere", "annotations_"):
        assert words in page
    assert "secret words" not in page
    queues = {queue["name"]: queue for queue in operator.get("/operations/").context["queues"]}
    assert (queues["io"]["depth"], queues["io"]["workers"]) == (1, 1)


def test_it_is_there_when_redis_is_not(operator: Client, settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = operator.get("/operations/")
    assert answer.status_code == 200
    assert "Redis does not answer" in answer.content.decode()


def test_a_slow_query_is_told_without_its_values(settings) -> None:
    settings.SLOW_QUERY_MS = 50
    with connection.execute_wrapper(slow_queries._timed), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s), %s", [0.06, "a value of somebody"])
        cursor.execute("SELECT 1")
    (found, *_) = slow_queries.recent()
    assert found["ms"] >= 50
    assert "pg_sleep" in found["sql"]
    assert "somebody" not in str(slow_queries.recent())


def test_plots_show_growth_a_minute_and_survive_a_counter_that_began_anew() -> None:
    taken = [{"at": 30.0 * i, "requests": value, "io depth": i} for i, value in enumerate([100, 110, 5, 20])]
    assert samples.series(taken, "requests") == [(30.0, 20.0), (60.0, 10.0), (90.0, 30.0)]
    assert samples.spark(samples.series(taken, "io depth"))["highest"] == 3
    assert samples.spark([(0.0, 1.0)]) is None


def test_a_sample_is_taken_by_a_task_and_drawn(operator: Client) -> None:
    for _ in range(2):
        tasks.take_sample()
    assert len(samples.read()) == 2
    answer = operator.get("/operations/")
    assert "<polyline" in answer.content.decode()
    assert 'data-csv="last-two-hours"' in answer.content.decode()
    points = answer.context["points"]
    assert points["names"][-3:] == ["Requests a minute", "Steps a minute", "Errors a minute"]
    assert {"Waiting in io", "Waiting in gpu"} <= {*points["names"]}
    ((_, values),) = points["rows"]
    assert len(values) == len(points["names"])


@pytest.mark.slow
def test_retention_is_estimated_on_a_page_that_deletes_nothing(operator: Client) -> None:
    page = operator.get("/operations/retention/", {"days": "30"}).content.decode()
    assert "RETENTION_EXPORTS_DAYS" in page
    assert "After 30 days" in page
    for given in ("-1", "x", "9" * 30, "²"):
        assert operator.get("/operations/retention/", {"days": given}).status_code == 200
