"""Four hundred silent clients and a hundred slow ones, while people work: the app as `make run` starts it, with the
limits that it comes with. Nobody notices."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.test import Client

from annotations.models import Job
from tests import factories
from tests.app_server import ROOT, AppServer, running_as_make_run_does
from tests.edge.clients import Probe, while_it_runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.whole_app, pytest.mark.timed]
SECONDS = 15  # more than the deadlines for headers and bodies: the silent ones are cut off and come again
FILE_BYTES = 64 * 1024**2


@pytest.fixture(scope="module")
def running(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AppServer, int]]:
    folder = tmp_path_factory.mktemp("web")
    (folder / "files").mkdir()
    with (folder / "files" / "export.zip").open("wb") as out:
        out.truncate(FILE_BYTES)
    with running_as_make_run_does(folder / "log", WEBNAV_VAR=str(folder)) as both:
        yield both


def signed_in(user) -> str:
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@contextmanager
def attack(port: int, path: str, cookie: str) -> Iterator[None]:
    """In a process of its own, so that its work is not counted as the app's."""
    command = [sys.executable, "-m", "tests.edge.attack", str(port), path, cookie]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n", process.communicate()[1].decode()
        try:
            yield
            assert process.poll() is None, process.communicate()[1].decode()
        finally:
            process.kill()


def test_pages_are_as_fast_as_ever_and_the_health_check_always_answers(running: tuple[AppServer, int]) -> None:
    server, _ = running
    project = factories.make_project()
    cookie = signed_in(factories.make_user("admin", project))
    job = factories.make_job(project, state=Job.State.DONE, file="export.zip")

    def probes() -> list[Probe]:
        return [
            Probe(server.port, "/datasets/", 0.1, cookie),
            Probe(server.port, "/login/", 0.1),
            Probe(server.port, "/healthz", 0.25),
        ]

    def measured(seconds: float) -> list[Probe]:
        found = probes()
        asyncio.run(while_it_runs(seconds, *(probe.run for probe in found)))
        return found

    measured(4)  # both processes have answered before
    before = measured(SECONDS)
    with attack(server.port, f"/jobs/{job.pk}/file/", cookie):
        attacked = measured(SECONDS)
    after = measured(SECONDS)
    # The machine may be busy with other things: what it was like on the worse side of the attack counts.
    quiet = [max(pair, key=Probe.p95) for pair in zip(before, after, strict=True)]
    told = {
        now.path: (f"{1000 * rest.p95():.0f} ms quiet", f"{1000 * now.p95():.0f} ms")
        for rest, now in zip(quiet, attacked, strict=True)
    }
    logging.getLogger(__name__).info("p95: %s", told)
    for rest, now in zip(quiet, attacked, strict=True):
        assert set(now.statuses) == {200}, told
        assert len(now.statuses) > 0.6 * len(rest.statuses), told
        assert now.p95() < 2 * rest.p95(), told
    assert list((server.log.parent / "uploads").iterdir()) == []
