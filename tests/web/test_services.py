"""The embedded servers: shared by processes, stopped by the last one, forgiving to killed ones."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from webnav_site.embedded.machine import redis_processes
from webnav_site.supervision import guard

ROOT = Path(__file__).resolve().parents[2]
USE = (
    "import sys; from webnav_site.embedded import services; print(*services.ensure(), flush=True); sys.stdin.readline()"
)


@pytest.fixture
def var() -> Iterator[Path]:
    """A folder that the database server's user can enter (as root it is another user)."""
    folder = Path("/var/tmp") / f"webnav-services-{uuid4().hex[:12]}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def environment(var: Path) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}}
    return inherited | {"WEBNAV_VAR": str(var)}


def use(var: Path) -> tuple[subprocess.Popen, list[str]]:
    """A process that uses the servers until its input ends, and the addresses that it got."""
    process = subprocess.Popen(
        [sys.executable, "-c", USE],
        cwd=ROOT,
        env=environment(var),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def leave(process: subprocess.Popen) -> None:
    process.communicate("\n", timeout=60)


def ask(var: Path, code: str) -> str:
    command = [sys.executable, "-c", f"from webnav_site.embedded import services; {code}"]
    return subprocess.run(
        command, cwd=ROOT, env=environment(var), check=True, capture_output=True, text=True, timeout=60
    ).stdout


def handles(var: Path) -> set[str]:
    return {path.name for path in (var / "handles").iterdir()}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_a_secret_is_made_once_and_readable_by_its_owner_only(var: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ask(var, "print(services.secret('key'))"), range(4)))
    assert len(set(found)) == 1
    assert len(found[0].strip()) > 40
    (path,) = (var / "secrets").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.slow
def test_a_handle_of_a_killed_process_is_removed(var: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (var / "handles").mkdir()
    (var / "handles" / str(process.pid)).touch()
    (var / "handles" / str(os.getpid())).touch()
    (var / "handles" / "notes.txt").touch()
    assert ask(var, "print(sorted(services._handles()))").strip() == f"[{os.getpid()}]"
    assert handles(var) == {str(os.getpid())}


@pytest.mark.slow
def test_processes_share_the_servers_and_the_last_one_stops_them(var: Path) -> None:
    first, addresses = use(var)
    postgres = int((var / "postgres/postmaster.pid").read_text().split()[0])
    redis = int((var / "redis/pid").read_text())
    second, same = use(var)
    assert same == addresses
    assert handles(var) == {str(first.pid), str(second.pid)}
    leave(first)
    assert is_running(postgres)
    assert is_running(redis)
    leave(second)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (is_running(postgres) or is_running(redis)):
        time.sleep(0.1)
    assert not is_running(postgres)
    assert not is_running(redis)
    assert handles(var) == set()


@pytest.mark.slow
def test_servers_left_by_a_killed_process_are_used_again(var: Path) -> None:
    killed, addresses = use(var)
    postgres = int((var / "postgres/postmaster.pid").read_text().split()[0])
    killed.kill()
    killed.communicate()
    assert handles(var) == {str(killed.pid)}
    following, same = use(var)
    assert (same, is_running(postgres)) == (addresses, True)
    assert handles(var) == {str(following.pid)}
    leave(following)
    assert not is_running(postgres)


@pytest.mark.slow
def test_a_killed_database_server_is_started_again(var: Path) -> None:
    first, addresses = use(var)
    postgres = int((var / "postgres/postmaster.pid").read_text().split()[0])
    os.kill(postgres, 9)
    second, same = use(var)
    assert same == addresses
    assert int((var / "postgres/postmaster.pid").read_text().split()[0]) != postgres
    leave(first)
    leave(second)


@pytest.mark.slow
def test_a_data_folder_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "var"
    command = [sys.executable, "manage.py", "showmigrations"]
    done = subprocess.run(command, cwd=ROOT, env=environment(place), capture_output=True, text=True)
    assert done.returncode == 1
    said = f"webnav: the data folder {place} cannot be written (Not a directory): set WEBNAV_VAR to one that can"
    assert done.stderr.strip() == said


def redis_of(var: Path, code: str) -> list[str]:
    found = ask(var, f"services.HANG_SECONDS = 0.5; services.machine.make_var(services.ROOT, services.VAR); {code}")
    return found.split()


@pytest.mark.slow
def test_a_server_comes_back_at_its_port_or_not_at_all(var: Path) -> None:
    stranger = socket.create_server(("127.0.0.1", 0))
    (var / "redis").mkdir()
    port = str(stranger.getsockname()[1])
    (var / "redis" / "port").write_text(port)
    with stranger, pytest.raises(subprocess.CalledProcessError) as refused:
        redis_of(var, "services.bring_back('redis')")
    assert "another program has taken Redis's port" in refused.value.stderr
    assert (var / "redis" / "port").read_text() == port


@pytest.mark.slow
def test_a_redis_that_hangs_ends_before_another_starts_on_its_data_and_its_port(var: Path) -> None:
    keep = "services._redis_client().set('kept', 'yes')"
    (address,) = redis_of(var, f"print(services.redis_url()); {keep}")
    hanging = psutil.Process(int((var / "redis/pid").read_text()))
    try:
        hanging.suspend()
        ask_again = "services.bring_back('redis'); print(services._kept_redis_url())"
        same, kept = redis_of(var, f"{ask_again}; print(services._redis_client().get('kept').decode())")
        assert (same, kept, is_running(hanging.pid)) == (address, "yes", False)
        (following,) = redis_processes(var / "redis")
        assert following.pid == int((var / "redis/pid").read_text())
    finally:
        for process in redis_processes(var / "redis"):
            process.kill()


@pytest.mark.slow
def test_a_postgresql_that_hangs_is_ended_and_comes_back_with_its_rows(var: Path) -> None:
    keep = "c = psycopg.connect(url, autocommit=True); c.execute('CREATE TABLE kept (word text)')"
    first, (address, _) = use(var)
    ask(var, f"import psycopg; url = '{address}'; {keep}; c.execute(\"INSERT INTO kept VALUES ('yes')\")")
    server = psutil.Process(int((var / "postgres/postmaster.pid").read_text().split()[0]))
    hanging = [server, *server.children(recursive=True)]
    for process in hanging:
        process.suspend()
    try:
        again = "services.own_postgres.HANG_SECONDS = 1; services.bring_back('postgres'); import psycopg"
        read = f"print(psycopg.connect('{address}').execute('SELECT word FROM kept').fetchone()[0])"
        assert ask(var, f"{again}; {read}") == "yes\n"
        assert not is_running(server.pid)
    finally:
        for process in hanging:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        leave(first)


@pytest.mark.slow
def test_the_guard_gives_up_a_question_to_a_postgresql_that_hangs(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, (address, _) = use(var)
    monkeypatch.setenv("DATABASE_URL", address)
    monkeypatch.setattr(guard, "ANSWER_SECONDS", 0.5)
    asked = guard.Postgres()
    assert asked.answers()
    server = psutil.Process(int((var / "postgres/postmaster.pid").read_text().split()[0]))
    hanging = [server, *server.children(recursive=True)]
    try:
        for process in hanging:
            process.suspend()
        begun = time.monotonic()
        assert [asked.answers(), asked.answers()] == [False, False], "over the old connection, and over a new one"
        assert time.monotonic() - begun < 15
    finally:
        for process in hanging:
            process.resume()
    assert asked.answers()
    leave(first)
