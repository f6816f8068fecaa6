"""`manage.py down` ends the app also while the terminal of `up` lives; what is killed comes back."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from django.core.management import call_command

from tests.web.running_up import ROOT, data_folder, free_port, left_running, read_until, start, wait_until_healthy
from webnav_site.embedded import services
from webnav_site.supervision import daemon, front, lock, processes


@pytest.fixture
def handlers():
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for name, handler in before.items():
        signal.signal(name, handler)


@pytest.mark.parametrize(("was_asked", "code", "starts"), [(True, 0, 0), (False, 1, front.MOST_RESTARTS)])
def test_the_terminal_restarts_a_killed_supervisor_only(
    was_asked: bool, code: int, starts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handlers: None
) -> None:
    monkeypatch.setattr(services, "VAR", tmp_path)
    monkeypatch.setattr(front, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(front, "PATIENCE_SECONDS", 0.01)
    started: list[bool] = []
    monkeypatch.setattr(daemon, "start", lambda: started.append(True))
    held = lock.take()
    assert held is not None
    lock.tell_end(held)  # of the run before: it must not stop this one
    lock.tell(held, lock.Holder(os.getpid(), ""))
    if was_asked:
        lock.tell_end(held)
    os.close(held)
    assert (front.Front(lambda _: None).run(lambda: None), len(started)) == (code, starts)


@pytest.mark.parametrize("ends", ["down", "up"])
def test_what_a_killed_supervisor_left_ends_with_the_stop(
    ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handlers: None
) -> None:
    """A stop in the moment in which the next supervisor takes over ends that one before it has ended the rest."""
    monkeypatch.setattr(services, "VAR", tmp_path)
    marked = os.environ | {processes.MARK: str(tmp_path)}
    with subprocess.Popen(["sleep", "60"], env=marked) as left:
        assert [process.pid for process in processes.marked()] == [left.pid]
        if ends == "down":
            call_command("down")
        else:
            terminal = front.Front(lambda _: None)
            terminal.asked = 1
            assert terminal.run(lambda: None) == 0
        assert left.poll() is not None
        assert processes.marked() == []


def test_a_stop_of_nothing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "VAR", tmp_path)
    with pytest.raises(SystemExit, match="not running"):
        call_command("down")


@pytest.mark.slow
@pytest.mark.whole_app
def test_a_stop_from_elsewhere_ends_everything_and_the_next_start_is_guarded_again() -> None:
    with data_folder() as var:
        for _ in range(2):
            port = free_port()
            process = start(var, port)
            wait_until_healthy(port)
            supervisor = psutil.Process(json.loads((var / "up.lock").read_text())["pid"])
            guard = next(p for p in supervisor.children() if p.environ()["SUPERVISOR_PROCESS_NAME"] == "guard")
            for victim in (guard, supervisor):
                victim.kill()
            assert "starting them again" in read_until(process, "starting them again")
            wait_until_healthy(port)
            command = [sys.executable, "manage.py", "down"]
            subprocess.run(command, cwd=ROOT, env=os.environ | {"WEBNAV_VAR": str(var)}, timeout=60, check=True)
            output, _ = process.communicate(timeout=20)
            assert (process.returncode, "webnav: stopped" in output) == (0, True)
            assert left_running(var) == []


@pytest.mark.slow
def test_stopping_what_never_ran_starts_nothing(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, ROOT / "manage.py", "down"],
        env=os.environ | {"WEBNAV_VAR": str(tmp_path / "var")} | {"DJANGO_SETTINGS_MODULE": "webnav_site.settings"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (told.returncode, told.stderr.strip()) == (1, "webnav: not running")
    assert not list(tmp_path.glob("var/postgres/*")) + list(tmp_path.glob("var/redis/*"))
    assert left_running(tmp_path) == []
