"""Ids go with a task's message to whoever runs it, and into every line that is written there."""

import json
import logging

import pytest
import redis
import structlog
from django.conf import settings

from annotations.monitor import counters, errors
from annotations.tasks import run_job
from tests.monitor.failing_urls import nobody_listens, query_takes_too_long
from webnav_site.celery import app
from webnav_site.monitor.tasks import HEADER


@pytest.fixture
def broker():
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as server:
        server.flushdb()
        yield server
        server.flushdb()


def sent(broker: redis.Redis, queue: str) -> dict:
    (message,) = broker.lrange(queue, 0, -1)
    return json.loads(message)["headers"]


def test_the_ids_of_a_request_are_in_the_messages_that_it_sends(broker) -> None:
    with structlog.contextvars.bound_contextvars(request="abc12345", task_id="parent-1", other="stays"):
        run_job.apply_async((7,))
    assert sent(broker, "io")[HEADER] == {"request": "abc12345", "parent": "parent-1"}


@app.task(name="tests.tell_ids")
def tell_ids(*args) -> dict:
    return structlog.contextvars.get_contextvars()


def test_a_task_binds_what_its_message_carries_and_leaves_nothing_behind() -> None:
    found = tell_ids.apply(headers={HEADER: {"request": "abc12345", "run": 3}}).get()
    assert (found["request"], found["run"], found["task"]) == ("abc12345", 3, "tests.tell_ids")
    assert "task_id" in found
    assert structlog.contextvars.get_contextvars() == {}


@app.task(name="tests.fail")
def fail() -> None:
    raise ZeroDivisionError


def test_a_failed_task_has_an_error_id_and_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        fail.apply()
    record = next(record for record in caplog.records if record.name == "webnav.errors")
    assert errors.recent()[0]["id"] == record.error_id
    counters.flush()
    assert any(values == ("tests.fail", "FAILURE") for _, values in counters.read())


@app.task(name="tests.ask_nobody")
def ask_nobody() -> None:
    nobody_listens(None)


@app.task(name="tests.ask_too_long")
def ask_too_long() -> None:
    query_takes_too_long(None)


@pytest.mark.django_db
def test_a_periodic_task_that_meets_an_outage_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    ask_nobody.apply()
    lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.name for record in lines] == ["webnav.errors"]
    assert lines[0].getMessage().startswith("tests.ask_nobody failed: the database is away: ")
    assert not [record for record in caplog.records if record.exc_info or "Traceback" in record.getMessage()]


@pytest.mark.django_db
def test_what_the_database_refuses_a_task_is_one_traceback(caplog: pytest.LogCaptureFixture) -> None:
    ask_too_long.apply()
    assert [record.name for record in caplog.records if record.exc_info] == ["webnav.errors"]
