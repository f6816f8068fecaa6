"""Background tasks: their ids in every log line, passed on to the tasks that they start, and their times counted."""

import logging
import logging.config
import os
import time
from contextlib import ExitStack
from typing import Any

import structlog
from celery import Task, shared_task, signals
from django.conf import settings

from annotations.monitor import counters, errors
from annotations.monitor.outages import OUTAGES
from annotations.monitor.spans import span

tracing: Any = None
if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):  # else nothing of it is loaded
    from webnav_site.monitor import tracing

logger = logging.getLogger("webnav.tasks")
PASSED_ON = ("request", "run", "shard", "job")  # ids that a task's messages to others carry
HEADER = "webnav_ids"
# What the first argument of a task names, so that its lines say which one.
ARGUMENTS = {"annotations.tasks.run_job": "job", "evaluation.tasks.run_shard": "shard"}


class QuietTask(Task):
    """The base of tasks: where the database was away, `_failed` writes one line, and Celery adds no traceback."""

    throws = OUTAGES


@signals.setup_logging.connect
def _as_everywhere(**kwargs: Any) -> None:
    """Configure logging as the settings say, so that Celery installs no handlers of its own."""
    logging.config.dictConfig(settings.LOGGING)


@signals.before_task_publish.connect
def _pass_ids_on(headers: dict[str, Any], **kwargs: Any) -> None:
    bound = structlog.contextvars.get_contextvars()
    passed = {name: bound[name] for name in PASSED_ON if name in bound}
    if "task_id" in bound:
        passed["parent"] = bound["task_id"]
    if tracing and (here := tracing.traceparent()):
        passed["traceparent"] = here
    if passed:
        headers[HEADER] = {**headers.get(HEADER, {}), **passed}


class _TaskStarts:
    """When each task of this process began; several are under way where a task runs others itself."""

    begun: dict[str, float] = {}
    spans: dict[str, ExitStack] = {}


@signals.task_prerun.connect
def _bind(task_id: str, task: Any, args: Any, **kwargs: Any) -> None:
    structlog.contextvars.clear_contextvars()
    bound = dict(getattr(task.request, HEADER, None) or (task.request.headers or {}).get(HEADER) or {})
    watched = ExitStack()
    watched.enter_context(span("task", **({"traceparent": bound.pop("traceparent", "")} | bound | {"task": task.name})))
    _TaskStarts.spans[task_id] = watched
    bound |= {"task": task.name, "task_id": task_id}
    if (name := ARGUMENTS.get(task.name)) and args:
        bound[name] = args[0]
    structlog.contextvars.bind_contextvars(**bound)
    _TaskStarts.begun[task_id] = time.perf_counter()


@signals.task_failure.connect
def _failed(sender: Any, task_id: str, exception: BaseException, **kwargs: Any) -> None:
    """Keep the error of a failed task under a number, which people can name. A job or shard has told its own."""
    if not getattr(exception, "webnav_error_id", ""):
        errors.remember("task", f"{sender.name} failed", exception)


@signals.task_postrun.connect
def _end(task_id: str, task: Any, state: str | None = None, **kwargs: Any) -> None:
    seconds = time.perf_counter() - _TaskStarts.begun.pop(task_id, time.perf_counter())
    if watched := _TaskStarts.spans.pop(task_id, None):
        watched.close()
    counters.TASKS.observe(task.name, state or "UNKNOWN", amount=seconds)
    logger.info("%s %s", task.name, state, extra={"ms": round(seconds * 1000, 1)})
    structlog.contextvars.clear_contextvars()


@shared_task(queue="default", name="webnav_site.monitor.tasks.take_sample")
def take_sample() -> None:
    """Every 30 s: store a point of the operator's plots."""
    from webnav_site.monitor import samples

    samples.take()


@signals.worker_process_shutdown.connect
def _bring_the_rest(**kwargs: Any) -> None:
    """Bring counters and traces out before a process of the pool ends, as it runs no exit handlers."""
    counters.flush()
    if tracing:
        tracing.flush()
