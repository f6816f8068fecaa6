"""Traces reach a receiver of OTLP: request → task → stage → call of a model, as one trace; without an endpoint nothing
of it is loaded. Calls of models are counted either way."""

import itertools
import subprocess
import sys

import pytest

from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.protocol import Message, Request
from annotations.monitor import counters
from tests.agents.llm_server import serve
from tests.evaluation.workers import ROOT, environment
from tests.monitor.receiver import receiving

WORK = """
import json, sys, django
django.setup()
import redis
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import path
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.protocol import Message, Request
from agents.pipeline import Pipeline
from agents.recipes.literature import get
from agents.stages.kind import Parts, StageKind
from structlog.contextvars import bound_contextvars
from webnav_site.celery import app
from webnav_site.monitor.tasks import ARGUMENTS, HEADER

ARGUMENTS["tests.decide"] = "shard"

class Asking(StageKind):
    stage = "act"

    def run(self, states):
        ChatLlm(Endpoint(sys.argv[1], "a-model")).complete([Request((Message("user", "hi"),), "a-model")])

@app.task(name="tests.decide", queue="tests-tracing")
def decide(shard):
    with bound_contextvars(run=7):
        Pipeline(get("grounded"), [Asking(Parts(get("grounded")))]).decide([])

@login_not_required
def asks(request):
    decide.delay(9)
    return HttpResponse("ok")

urlpatterns = [path("asks", asks, name="asks")]
settings.ROOT_URLCONF = sys.modules[__name__]
broker = redis.Redis.from_url(settings.CELERY_BROKER_URL)
broker.delete("tests-tracing")
assert Client(headers={"host": "localhost"}).get("/asks").status_code == 200
headers = json.loads(broker.lrange("tests-tracing", 0, -1)[0])["headers"]
broker.delete("tests-tracing")
decide.apply([9], headers={HEADER: headers[HEADER]})
"""
QUIET = """
import sys, django
django.setup()
import webnav_site.celery, webnav_site.asgi
ours = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "webnav_site.monitor.tracing")
print([name for name in sys.modules if name.startswith(ours)])
"""

UNHEARD = """
import sys, django
django.setup()
from opentelemetry import trace
from webnav_site.monitor import tracing
for _ in range(3):
    with trace.get_tracer("webnav").start_as_current_span("unheard"):
        pass
    tracing.flush()
sys.stdout.write("went on")
"""


def run(script: str, *arguments: str, said: list[str] | None = None, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if said is not None:
        said += done.stderr.splitlines()
    return done.stdout.strip()


@pytest.mark.slow
def test_one_trace_goes_from_a_request_through_a_task_to_the_call_of_a_model(db) -> None:
    with receiving() as (address, spans), serve(lambda body: "Answer: A") as llm:
        run(WORK, llm.url, OTEL_EXPORTER_OTLP_ENDPOINT=address)
    found = {span.name: span for span in spans}
    assert set(found) == {"request asks", "task tests.decide", "stage act", "llm a-model"}
    assert len({span.trace_id for span in spans}) == 1
    way = ["request asks", "task tests.decide", "stage act", "llm a-model"]
    for outer, inner in itertools.pairwise(way):
        assert found[inner].parent_span_id == found[outer].span_id, inner
    facts = {fact.key: fact.value for fact in found["llm a-model"].attributes}
    assert facts["webnav.prompt_tokens"].int_value >= 1
    assert {fact.key for fact in found["request asks"].attributes} >= {"webnav.request", "webnav.status"}
    assert (facts["webnav.run"].int_value, facts["webnav.shard"].int_value) == (7, 9)
    request = next(fact.value.string_value for fact in found["request asks"].attributes if fact.key == "webnav.request")
    assert facts["webnav.request"].string_value == request
    task = {fact.key: fact.value for fact in found["task tests.decide"].attributes}
    assert task["webnav.shard"].int_value == 9


@pytest.mark.slow
def test_nothing_is_loaded_without_an_endpoint(db) -> None:
    assert run(QUIET, OTEL_EXPORTER_OTLP_ENDPOINT="") == "[]"


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_is_one_line_and_stops_nothing(db) -> None:
    said: list[str] = []
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    assert run(UNHEARD, said=said, **settings) == "went on"
    (line,) = (line for line in said if "opentelemetry" in line)
    assert "127.0.0.1" in line or "Failed to export" in line, "refused, or given up after its second"


def test_calls_of_models_are_counted_with_their_tokens() -> None:
    with serve(lambda body: "one two three") as llm:
        ChatLlm(Endpoint(llm.url, "counted")).complete([Request((Message("user", "four five"),), "counted")] * 2)
    counters.flush()
    found = counters.read()
    assert sum(n for part, n in found[counters.LLM_CALLS.name, ("counted",)].items() if part != "sum") >= 2
    assert found[counters.LLM_TOKENS.name, ("counted", "completion")]["value"] >= 6
    assert found[counters.LLM_TOKENS.name, ("counted", "prompt")]["value"] >= 2
