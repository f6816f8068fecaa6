"""The client against somebody else's server: `transformers serve` with a tiny model made here."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.errors import RequestRefused, Unreachable
from agents.llm.protocol import Message, Reply, Request
from tests.agents.llm_model import LESSONS, answer, make_model

pytestmark = pytest.mark.slow
START_SECONDS = 120


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("served")
    make_model(folder)
    return str(folder)


@pytest.fixture(scope="module")
def url(model, tmp_path_factory):
    pytest.importorskip("fastapi", reason="transformers serve needs fastapi (requirements.txt)")
    program = shutil.which("transformers", path=str(Path(sys.executable).parent)) or shutil.which("transformers")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("log") / "serve.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [program, "serve", model, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=output,
            stderr=output,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not healthy(port):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]  # noqa: PT018
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=20)


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def ask(model: str, text: str, **settings) -> Request:
    return Request((Message("user", text),), model, **({"max_tokens": 30} | settings))


def test_it_answers_as_the_model_in_this_process_does(url, model) -> None:
    requests = [ask(model, question) for question in (*LESSONS, "something else")]
    served = ChatLlm(Endpoint(url, model, concurrency=2)).complete(requests)
    assert [reply.text for reply in served[:3]] == list(LESSONS.values())
    for request, reply in zip(requests, served, strict=True):
        text, prompt_tokens = answer(Path(model), request.messages[0].content)
        assert reply.text == text
        assert reply.usage.prompt_tokens == prompt_tokens
        assert not reply.usage.estimated


def test_samples_and_stop_strings_that_it_ignores_come_all_the_same(url, model) -> None:
    """It gives one choice whatever `n` says, and knows no `stop`."""
    llm = ChatLlm(Endpoint(url, model))
    (reply,) = llm.complete([ask(model, "Which button?", n=3, seed=5, temperature=0.7, stop=("CLICK",))])
    assert isinstance(reply, Reply)
    assert len(reply.texts) == 3
    assert not any("CLICK" in text for text in reply.texts)
    assert reply.usage.prompt_tokens == 3 * llm.complete([ask(model, "Which button?")])[0].usage.prompt_tokens


def test_what_it_cannot_do_is_an_error_in_words(url, model) -> None:
    llm = ChatLlm(Endpoint(url, model, attempts=2, first_wait=0.01))
    answers = llm.complete([Request((Message("system", "a"),), model), ask(model, "Which button?")])
    assert isinstance(answers[0], RequestRefused | Unreachable)  # our template knows no system messages
    assert answers[1].text == LESSONS["Which button?"]
