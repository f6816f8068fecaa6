"""A worker that meets an error which it cannot go on after ends, so that it is started anew."""

from pathlib import Path

import psutil
import pytest
from celery import current_app

from tests.contention import contention
from tests.evaluation.workers import Worker, empty_broker
from webnav_site.workers.ending import ENDS_SECONDS


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_it_ends_whatever_its_processes_are_doing(tmp_path: Path) -> None:
    """It waited for them for ever: after a full disk no export was made until somebody looked."""
    empty_broker()
    current_app.send_task("tests.endless", queue="gpu")
    worker = Worker(tmp_path / "stuck.log", "tests.monitor.stuck_worker")
    try:
        worker.wait_until(lambda: "Unrecoverable error" in worker.tail(), 60, "error")
        pool = psutil.Process(worker.process.pid).children(recursive=True)
        assert pool
        assert worker.process.wait((ENDS_SECONDS + 10) * contention()) == 1
        assert not psutil.wait_procs(pool, timeout=10)[1]
    finally:
        worker.stop()
        empty_broker()
