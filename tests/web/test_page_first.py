"""Of the processes of the app the page comes first: the others start when it answers."""

import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import factories
from webnav_site.supervision import launch, programs


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch):
    """A server that listens and does not answer yet, as uvicorn's parent does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("BIND", "127.0.0.1")
        monkeypatch.setenv("PORT", str(server.getsockname()[1]))
        yield server


def test_listening_is_not_answering(listener: socket.socket) -> None:
    answered = threading.Event()

    def answer() -> None:
        with listener.accept()[0] as asking:
            assert asking.recv(4).startswith(b"GET ")
            time.sleep(0.3)
            answered.set()
            asking.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    launch.wait_for_page(time.monotonic() + 60)
    assert answered.is_set()
    thread.join()


@pytest.mark.django_db
def test_what_is_asked_of_the_page_fails_for_no_lack_of_workers(
    listener: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    def answer() -> None:
        with listener.accept()[0] as asking:
            asked.append(asking.recv(1000).split()[1].decode())
            asking.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    launch.wait_for_page(time.monotonic() + 60)
    thread.join()
    job = factories.make_job()
    type(job).objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert Client().get("/healthz").status_code == 503, "an old job and nobody who takes it"
    caplog.clear()
    assert Client().get(asked[0]).status_code == 200
    assert caplog.records == []


def test_what_waits_does_not_load_what_takes_time_from_the_page() -> None:
    script = "import sys, webnav_site.supervision.launch; sys.exit('redis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_page_that_does_not_come_holds_nothing_up_for_long(listener: socket.socket) -> None:
    until = time.monotonic() + 0.3
    launch.wait_for_page(until)
    assert time.monotonic() >= until
    listener.close()
    launch.wait_for_page(time.monotonic() + 0.3)


def test_what_waits_is_all_but_the_page() -> None:
    assert launch.PAGE in programs.procfile()
    assert not any("sleep" in command for command in programs.procfile().values())
