"""kill -9 of a command that runs a study by itself (--inline) leaves no run that is under way for ever."""

import signal
import subprocess
import sys
import time

import pytest

from agents.models import Run
from evaluation.models import Shard, Study
from tests.evaluation.sample_rows import gold_steps, import_website
from tests.evaluation.test_kill import SECONDS, is_midway, noticed
from tests.evaluation.workers import ROOT, environment


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_a_killed_command_left_is_done_by_the_next_worker(tmp_path, worker) -> None:
    dataset = import_website(tmp_path / "sample")
    command = [sys.executable, "manage.py", "evaluate", "grounded", dataset.name, "--inline", "--set", "batch_size=1"]
    with (tmp_path / "inline.log").open("w") as log:
        inline = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=log, stderr=log)
    deadline = time.monotonic() + SECONDS
    while not ((study := Study.objects.first()) and is_midway(study.runs.get())):
        assert inline.poll() is None, (tmp_path / "inline.log").read_text()
        assert time.monotonic() < deadline, (tmp_path / "inline.log").read_text()
        time.sleep(0.02)
    inline.send_signal(signal.SIGKILL)
    inline.wait(timeout=10)
    run = study.runs.get()
    assert run.state == Run.State.RUNNING
    stored = run.steps.count()
    dead = set(run.shards.filter(state=Shard.State.RUNNING).values_list("lease_owner", flat=True))
    second = worker("second")
    second.wait_until(lambda: noticed(run, dead), SECONDS, "notice of the death")
    second.wait_until(lambda: Run.objects.get(pk=run.pk).is_over, SECONDS, "end of the run")
    assert Run.objects.get(pk=run.pk).state == Run.State.DONE
    assert 0 < stored < run.steps.count() == gold_steps(dataset)
