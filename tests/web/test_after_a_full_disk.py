"""What waits while a disk is full goes on soon after there is room: nobody's pauses grow without limit, a Redis that
refuses to write is not taken for dead, and a PostgreSQL that could not start is started."""

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import redis
from kombu.exceptions import OperationalError
from supervisor import events, supervisord
from supervisor.process import Subprocess
from supervisor.states import ProcessStates

from tests.annotations.test_full_disk import mounted
from tests.web.test_services import ask, leave, use, var
from webnav_site.celery import app
from webnav_site.embedded import machine, services
from webnav_site.supervision import daemon
from webnav_site.workers.broker import LONGEST_WAIT

__all__ = ["var"]
PAUSES = 30  # failed attempts in a row, as in minutes without room


@pytest.fixture
def small_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder on a disk of its own."""
    for folder in mounted(tmp_path / "disk", "size=4m"):
        monkeypatch.setattr(services, "VAR", folder)
        yield folder
        for process in machine.redis_processes(folder / "redis"):
            process.kill()
            process.wait(10)
        gc.collect()


def test_a_redis_whose_disk_is_full_is_not_taken_for_dead_and_goes_on_when_there_is_room(small_var: Path) -> None:
    services.redis_url()
    before, port = machine.redis_processes(small_var / "redis"), (small_var / "redis" / "port").read_text()
    filler = small_var / "filler"
    with services._redis_client() as client:
        filler.write_bytes(bytes(psutil.disk_usage(str(small_var)).free))
        within(10, lambda: refuses(client))
        with pytest.raises(redis.ResponseError, match="MISCONF"):
            client.ping()
        assert services.redis_answers()
        services.bring_back("redis")  # what the guard does with one that does not answer
        assert machine.redis_processes(small_var / "redis") == before
        filler.unlink()
        within(10, lambda: not refuses(client))
    assert (small_var / "redis" / "port").read_text() == port


def refuses(client: redis.Redis) -> bool:
    """Whether it writes nothing."""
    try:
        client.set("word", "x" * 100_000)
    except redis.ResponseError as error:
        return str(error).startswith("MISCONF")
    return False


def within(seconds: float, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_redis_that_comes_back_on_a_full_disk_keeps_the_port_that_its_clients_know(small_var: Path) -> None:
    file = small_var / "redis" / "port"
    file.parent.mkdir()
    file.write_text("24680")
    (small_var / "filler").write_bytes(bytes(psutil.disk_usage(str(small_var)).free))
    with pytest.raises(OSError, match="No space"):
        (small_var / "more").write_text("24680")
    assert services._redis_port(file, may_move=False) == 24680
    assert file.read_text() == "24680"


@pytest.mark.slow
def test_a_postgresql_that_could_not_start_is_started_by_the_same_process_when_it_can(var: Path) -> None:
    """As the guard does, which lives through all of it."""
    first, (address, _) = use(var)
    settings = var / "postgres" / "postgresql.auto.conf"
    code = f"""
import pathlib, psutil, psycopg
settings = pathlib.Path({str(settings)!r})
kept = settings.read_text()
settings.write_text(kept + "shared_buffers = 'as on a full disk'\\n")
server = psutil.Process(int(pathlib.Path({str(var / "postgres" / "postmaster.pid")!r}).read_text().split()[0]))
server.kill()
psutil.wait_procs([server], timeout=10)
for _ in range(2):
    try:
        services.bring_back("postgres")
    except services.ServiceError as error:
        print("refused")
settings.write_text(kept)
services.bring_back("postgres")
print(psycopg.connect({address!r}).execute("SELECT 1").fetchone())
"""
    assert ask(var, f"\n{code}").split("\n") == ["refused", "refused", "(1,)", ""]
    leave(first)


def test_a_process_that_ends_as_soon_as_it_starts_is_started_again_within_seconds(monkeypatch) -> None:
    monkeypatch.setattr(supervisord.Supervisor, "runforever", lambda self: None)
    monkeypatch.setattr(events, "callbacks", [])
    supervisor = daemon.PromptSupervisor(SimpleNamespace())
    supervisor.process_groups = {}
    supervisor.runforever()
    process = Subprocess(SimpleNamespace(name="web", options=SimpleNamespace()))
    process.group = SimpleNamespace(config=SimpleNamespace(name="app"))
    waits = []
    for _ in range(PAUSES):
        process.change_state(ProcessStates.STARTING)
        process.change_state(ProcessStates.BACKOFF)
        waits.append(round(process.delay - process.laststart))
    assert process.backoff == daemon.LONGEST_WAIT


def test_a_worker_looks_for_its_broker_every_few_seconds_however_long_it_is_away(monkeypatch) -> None:
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)
    waited: list[float] = []
    connection = app.connection_for_read(url="redis://127.0.0.1:1/0")
    with pytest.raises(OperationalError):
        connection.ensure_connection(lambda error, interval: waited.append(interval), PAUSES)
    assert len(waited) == PAUSES
    assert max(waited) == LONGEST_WAIT
    assert app.conf.broker_connection_max_retries is None, "it never gives up"
