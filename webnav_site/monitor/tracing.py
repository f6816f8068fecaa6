"""OpenTelemetry: loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set. Request → task → stages → calls of models."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

IDS = ("request", "run", "shard", "job")  # as in every log line
_context = TraceContextTextMapPropagator()
KINDS = {"request": trace.SpanKind.SERVER, "task": trace.SpanKind.CONSUMER, "llm": trace.SpanKind.CLIENT}
NAMED_BY = {"request": "route", "task": "task", "stage": "stage", "llm": "model"}


def start() -> None:
    """Start sending the spans of this process, and of those that it forks, to the endpoint of the environment; `watch`
    is to be added to those who watch them."""
    provider = TracerProvider(resource=Resource.create({"service.name": "webnav"}))  # OTEL_SERVICE_NAME goes before
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


@contextmanager
def watch(name: str, facts: dict[str, Any]) -> Iterator[None]:
    parent = facts.pop("traceparent", "")
    context = _context.extract({"traceparent": parent}) if parent else None
    kind = KINDS.get(name, trace.SpanKind.INTERNAL)
    with trace.get_tracer("webnav").start_as_current_span(name, context=context, kind=kind) as current:
        try:
            yield
        finally:
            if title := facts.get(NAMED_BY.get(name, "")):
                current.update_name(f"{name} {title}")
            bound = structlog.contextvars.get_contextvars()
            told = {name: bound[name] for name in IDS if name in bound} | facts
            known = {key: value for key, value in told.items() if isinstance(value, str | int | float)}
            current.set_attributes({f"webnav.{key}": value for key, value in known.items()})


def traceparent() -> str:
    """The header that a message carries so that its receiver continues this trace; "" outside of a trace."""
    carrier: dict[str, str] = {}
    _context.inject(carrier)
    return carrier.get("traceparent", "")


def flush() -> None:
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):  # the one that `start` has set
        provider.force_flush(2000)
