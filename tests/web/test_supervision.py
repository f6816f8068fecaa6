"""kill -9 of every process of `manage.py up`, one after the other, while a study runs: all come back within 30 s by
themselves, and the study's rows are those of an undisturbed run."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.contention import contention_of_all_cores
from tests.web.running_up import ROOT, data_folder, free_port, left_running, start, wait_until_healthy

pytestmark = [pytest.mark.slow, pytest.mark.whole_app]
RECOVERY_SECONDS = 30  # on a machine that does nothing else
MOST_SECONDS = 90
# Seeds change nothing in `grounded`: every run must have the same rows as the last, which nothing disturbs.
STUDY = """
from annotations.models import Dataset
from evaluation.studies import running
study = running.create_study(
    user=None, dataset=Dataset.objects.get(name="sample"), recipes=["grounded"], splits=["test_website"],
    seeds=list(range({seeds})), overrides={{"batch_size": "1"}},
)
print("study", study.pk)
"""
UNDER_WAY = "SELECT count(*) FROM agents_run WHERE state IN ('queued', 'running')"
ROWS = """
SELECT r.seed, r.state, count(*), md5(string_agg(concat_ws('|', t.step_id, t.seq, t.operation, t.node_id, t.value,
    t.gold_rank, t.element_correct, t.operation_f1, t.success, t.error), ',' ORDER BY t.step_id))
FROM agents_run r JOIN agents_trajectorystep t ON t.run_id = r.id GROUP BY r.id ORDER BY r.seed
"""


class App:
    """A running `up`, and what can be found and killed of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.var, self.port = folder, port
        # Of the sample: the rows of the test's own study are counted.
        for part in ("tasks", "campaigns", "studies", "models"):
            (folder / f"sample-{part}-loaded").touch()
        self.up = start(folder, port, "--sample", "yes")

    def supervisor(self) -> int:
        return json.loads((self.var / "up.lock").read_text())["pid"]

    def parent(self, program: str) -> psutil.Process | None:
        """The process that the supervisor has started for a program."""
        children = psutil.Process(self.supervisor()).children()
        return next((child for child in children if _program(child) == program), None)

    def child(self, program: str) -> psutil.Process | None:
        """A process that works for a program: the youngest, as the first may be a helper of multiprocessing."""
        parent = self.parent(program)
        children = parent.children() if parent else []
        return max(children, key=lambda process: process.pid, default=None)

    def server(self, file: str) -> psutil.Process | None:
        return psutil.Process(int((self.var / file).read_text().split()[0]))

    def django(self, code: str) -> str:
        """What Python prints in the app's surroundings."""
        code = f"import django; django.setup()\n{code}"
        environment = os.environ | {
            "WEBNAV_VAR": str(self.var),
            "MODEL_ROOT": str(self.var / "models"),
            "DJANGO_SETTINGS_MODULE": "webnav_site.settings",
            "PORT": str(self.port),
        }
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, query: str) -> list[tuple]:
        address = f"postgresql://postgres@/webnav?host={self.var / 'postgres'}"
        with psycopg.connect(address, connect_timeout=5) as connection:
            return connection.execute(query).fetchall()

    def steps(self) -> int:
        return self.ask("SELECT count(*) FROM agents_trajectorystep")[0][0]

    def is_healthy(self) -> bool:
        try:
            wait_until_healthy(self.port, 1)
        except AssertionError:
            return False
        return True


def _program(process: psutil.Process) -> str:
    try:
        return process.environ().get("SUPERVISOR_PROCESS_NAME", "")
    except psutil.Error:
        return ""


@pytest.fixture
def app() -> Iterator[App]:
    with data_folder() as folder:
        app = App(folder, free_port())
        wait_until_healthy(app.port)
        yield app
        app.up.kill()


def within(seconds: float, condition: Callable[[], object], what: str) -> float:
    begun = time.monotonic()
    while True:
        try:
            if condition():
                return time.monotonic() - begun
        except (psutil.Error, psycopg.Error, OSError, ValueError, IndexError):
            pass  # it is being replaced
        assert time.monotonic() - begun < seconds, f"{what} within {seconds} s"
        time.sleep(0.1)


def role(app: App, name: str) -> psutil.Process | None:
    program, _, part = name.partition(" ")
    if program == "supervisor":
        return psutil.Process(app.supervisor())
    if program in ("postgres", "redis"):
        return app.server({"postgres": "postgres/postmaster.pid", "redis": "redis/pid"}[program])
    return app.child(program) if part == "child" else app.parent(program)


VICTIMS = (
    "web child",
    "gpu child",
    "web parent",
    "worker child",
    "postgres",
    "gpu parent",
    "redis",
    "worker parent",
    "beat",
    "guard",
    "supervisor",
)
WORKING = {"gpu child", "postgres", "gpu parent", "redis", "supervisor"}  # without them the study stands still


def test_whatever_is_killed_comes_back_by_itself_and_a_study_ends_with_the_same_rows(app: App) -> None:
    addresses = [(app.var / "redis" / "port").read_text(), sorted((app.var / "postgres").glob(".s.PGSQL.*"))]
    built = "SELECT FROM annotations_job WHERE kind = 'sample' AND state = 'done'"
    within(300, lambda: app.ask(built), "the sample, which is built in the background")
    keep_at_work(app)
    within(60, app.steps, "the first step")
    took = {}
    for name in VICTIMS:
        keep_at_work(app)
        victim, stored = role(app, name), app.steps()
        assert victim is not None, name
        victim.kill()
        seconds = within(MOST_SECONDS, lambda: _came_back(app, name, victim, stored), f"{name} comes back")  # noqa: B023
        took[name] = round(seconds, 1)
    slower = max(1.0, contention_of_all_cores())
    assert max(took.values()) / slower < RECOVERY_SECONDS, took
    keep_at_work(app)
    stored = app.steps()
    app.up.kill()  # and `up` itself: the rest goes on without it
    app.up.wait()
    within(10, app.is_healthy, "answer")
    within(300, lambda: app.ask(UNDER_WAY)[0][0] == 0, "end of the study")
    assert app.steps() > stored, "it was still running"
    assert [(app.var / "redis" / "port").read_text(), sorted((app.var / "postgres").glob(".s.PGSQL.*"))] == addresses
    app.django(STUDY.format(seeds=1) + "running.run_inline(study)")
    found = app.ask(ROWS)
    assert {state for _, state, _, _ in found} == {"done"}
    assert len({rows for _, _, _, rows in found}) == 1
    assert {count for _, _, count, _ in found} == {40}
    second = start(app.var, app.port)
    refusal, _ = second.communicate(timeout=30)
    assert (second.returncode, "already running" in refusal) == (1, True)
    command = [sys.executable, "manage.py", "down"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"WEBNAV_VAR": str(app.var)}, timeout=60, check=True)
    assert left_running(app.var) == []


def keep_at_work(app: App) -> None:
    """See to it that more is to be decided than a quick machine decides until what was killed is back."""
    if app.ask(UNDER_WAY)[0][0] < 6:
        app.django(STUDY.format(seeds=8))


def _came_back(app: App, name: str, victim: psutil.Process, stored: int) -> bool:
    """Another process has its place, the app answers, and where the study needs it, that has got on."""
    found = role(app, name)
    if found is None or found.pid == victim.pid or app.parent("web") is None or not app.is_healthy():
        return False
    return name not in WORKING or app.steps() > stored
