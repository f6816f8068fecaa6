"""Reading settings starts no server and leaves no file: type checkers, editors and `celery inspect` read them too."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotations.access.host_secret import EXIT_CODE
from tests.quick import first_is_quick
from tests.web.running_up import data_folder, free_port, left_running

ROOT = Path(__file__).resolve().parents[2]
OWN = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FILE", "CELERY_BROKER_URL"}
SETTLED = "from django.conf import settings; assert settings.SECRET_KEY and settings.REDIS_URL"
# What takes long to load is loaded by those who compute with it, not by each of the processes and commands.
HEAVY = {"matplotlib", "openai", "pandas", "playwright", "sacrebleu", "scipy", "torch", "transformers"}
LOADED_LITTLE = f"import sys; found = {HEAVY} & sys.modules.keys(); assert not found, found"
ASK = """
import django; django.setup()
from django.core.cache import cache
from django.db import connection
connection.ensure_connection()
cache.set("a", 1)
"""
INTERRUPTED_EARLY = """
import runpy, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "webnav_site.embedded.services":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["manage.py", "check"]
runpy.run_path("manage.py", run_name="__main__")
"""
INSPECT = ("-m", "celery", "-A", "webnav_site", "inspect", "ping", "--timeout", "0.2")


@pytest.fixture
def var() -> Iterator[Path]:
    """A data folder that nothing was ever started in."""
    with data_folder() as folder:
        folder.rmdir()
        yield folder


def fresh(var: Path) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if key not in OWN}
    return environment | {"WEBNAV_VAR": str(var), "DJANGO_SETTINGS_MODULE": "webnav_site.settings"}


def python(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=fresh(var), capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_reading_settings_starts_nothing_and_writes_nothing(var: Path) -> None:
    done = python(var, "-c", f"{SETTLED}; import django; django.setup(); {LOADED_LITTLE}")
    assert (done.returncode, done.stderr) == (0, "")
    assert not var.exists()
    assert left_running(var) == []


@pytest.mark.slow
def test_asking_workers_something_starts_nothing(var: Path) -> None:
    done = python(var, *INSPECT)
    assert done.returncode != 0
    assert "connecting to 127.0.0.1:1." in done.stderr
    assert not var.exists()
    assert left_running(var) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("REDIS_URL", "foo", "REDIS_URL must be redis://host:6379/0, rediss://… or unix://…, got 'foo'"),
        ("REDIS_URL", "redis://", "REDIS_URL must be redis://"),
        ("REDIS_URL", "http://:word@broker.example/0", "got 'broker.example/0'"),
        ("OIDC_ISSUER", "https://id.example.org", "OIDC_ISSUER is set, so OIDC_CLIENT_ID must be too"),
        ("APP_ORIGIN", "http://localhost:99999", "APP_ORIGIN: Port out of range 0-65535, got 'http://localhost:99999'"),
    ],
)
def test_a_setting_that_cannot_work_is_told_in_a_line(name: str, value: str, told: str, var: Path) -> None:
    command, env = [sys.executable, "manage.py", "check"], fresh(var) | {name: value}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("webnav: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_manage_check_needs_no_server(var: Path) -> None:
    done = python(var, "manage.py", "check")
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
    assert not (var / "postgres").exists()
    assert not (var / "redis").exists()
    assert left_running(var) == []


@pytest.mark.slow
@first_is_quick("value", ["abc", "0", "70000", "8000.0"])
def test_a_port_that_is_none_is_told_in_a_line(var: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", value)
    done = python(var, "manage.py", "check")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"webnav: PORT must be a port from 1 to 65535, got {value!r}\n"


STARTED_BY_HAND = {"worker": ("worker", "-Q", "io", "-c", "1"), "beat": ("beat",)}


@pytest.mark.slow
@pytest.mark.parametrize("role", ["worker", "beat"])
@pytest.mark.parametrize(("name", "value"), [("PORT", "abc"), ("PAGE_SECONDS", "soon"), ("LOG_LEVEL", "LOUD")])
def test_what_is_started_by_hand_tells_a_wrong_setting_in_a_line(
    var: Path, role: str, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    done = python(var, "-m", "celery", "-A", "webnav_site", *STARTED_BY_HAND[role])
    assert done.returncode in (1, 3)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"webnav: {name} must be ")
    assert line.endswith(f"got '{value}'")
    assert left_running(var) == []


@pytest.mark.slow
def test_a_web_server_with_a_wrong_setting_does_not_start_its_processes_again_and_again(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "abc")
    port = str(free_port())
    done = python(var, *("-m", "webnav_site.serve", "webnav_site.asgi:application", "--port", port, "--workers", "2"))
    assert done.returncode == EXIT_CODE
    assert done.stderr.splitlines() == ["webnav: PORT must be a port from 1 to 65535, got 'abc'"]


@pytest.mark.parametrize("value", ["abc", "0", "70000"])
def test_up_takes_no_port_that_is_none(value: str) -> None:
    with pytest.raises(CommandError, match=f"argument --port: must be a port from 1 to 65535, got '{value}'"):
        call_command("up", f"--port={value}")


@pytest.mark.slow
def test_ctrl_c_while_modules_are_loaded_prints_nothing(var: Path) -> None:
    done = python(var, "-c", INTERRUPTED_EARLY)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slow
def test_a_command_that_asks_the_database_starts_it_and_stops_it(var: Path) -> None:
    """The opposite: entry points start what they need, as ever."""
    done = python(var, "manage.py", "dataset_stats", "none")
    assert "none" in done.stderr
    assert (var / "postgres" / "PG_VERSION").exists()
    assert (var / "redis" / "port").exists()
    assert left_running(var) == []


@pytest.mark.slow
def test_settings_name_the_servers_that_somebody_else_has_started(var: Path) -> None:
    hold = "from webnav_site.embedded import services; services.make_ready(); print('ready', flush=True); input()"
    command = [sys.executable, "-c", hold]
    with subprocess.Popen(command, cwd=ROOT, env=fresh(var), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        done = python(var, "-c", ASK)
        holder.communicate(b"\n", timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
