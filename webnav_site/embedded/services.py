"""Embedded PostgreSQL (with pgvector) and Redis below var/, shared by every process of this checkout.

Each process that uses them leaves a handle (a file named after its pid); the last one to leave stops the
servers. A process that was killed leaves a stale handle, which the next one to come or go removes.
"""

import atexit
import fcntl
import logging
import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from annotations.environment import env
from annotations.hosts.identity import exists
from webnav_site.embedded import machine, own_postgres, private_files
from webnav_site.embedded.machine import ServiceError

if TYPE_CHECKING:
    # Loaded where it is needed, here and below: it takes longer than all else that starting a process needs.
    import redis

logger = logging.getLogger(__name__)

ROOT: Path = Path(__file__).resolve().parent.parent.parent
VAR: Path = machine.var_folder(ROOT)
EMBEDDED = "WEBNAV_EMBEDDED"  # in the environment of what `up` starts: the servers that its guard looks after
HANG_SECONDS = 10  # for a Redis that lives and does not answer, until it is ended
REDIS_PORTS = range(20000, 32000)  # below those that the system lends to clients: free again when Redis comes back


@contextmanager
def _lock() -> Iterator[None]:
    try:
        machine.make_var(ROOT, VAR)
        file = (VAR / "services.lock").open("w")
    except OSError as error:
        whose = f"it belongs to {machine.user_name(VAR.stat().st_uid)}; " if VAR.is_dir() else ""
        told = f"the data folder {VAR} cannot be written ({error.strerror}): {whose}set WEBNAV_VAR to one that can"
        raise ServiceError(told) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released by the kernel when the process dies: never stale
        yield


def _handles() -> set[int]:
    """Pids of living processes that use the servers; handles of dead ones are removed."""
    folder = VAR / "handles"
    folder.mkdir(parents=True, exist_ok=True)
    alive = set()
    for path in folder.iterdir():
        if path.name.isdigit() and exists(int(path.name)):
            alive.add(int(path.name))
        else:
            path.unlink(missing_ok=True)
    return alive


def hold() -> None:
    """Register this process as a user of the servers until it exits."""
    pid = os.getpid()
    with _lock():
        _handles()
        (VAR / "handles" / str(pid)).touch()
    atexit.register(_release, pid)


def _release(pid: int) -> None:
    if pid != os.getpid():
        return  # a forked child that inherited the exit handler
    with _lock():
        (VAR / "handles" / str(pid)).unlink(missing_ok=True)
        if not _handles():
            _stop()


def _stop() -> None:
    import redis

    try:
        _redis_client().shutdown(nosave=False)
    except (redis.RedisError, OSError, ServiceError):
        pass
    own_postgres.stop(VAR)


def kept_secret(name: str) -> str:
    """A secret that was made before; "" where it was not."""
    path = VAR / "secrets" / name
    return path.read_text().strip() if path.exists() else ""


def secret(name: str) -> str:
    """A random secret made on first use and kept in var/secrets (readable by the owner only)."""
    path = VAR / "secrets" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = path.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(own, path)  # whole and never replaced: processes that start together get the same secret
        except FileExistsError:
            pass
        own.unlink()
    return path.read_text().strip()


def _redis_client() -> "redis.Redis":
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    port_file = VAR / "redis" / "port"
    if not port_file.exists():
        raise ServiceError("Redis has not been started yet")
    # No retries: the client's default backs off for seconds, and "not running" is an answer here.
    return redis.Redis(
        port=int(port_file.read_text()),
        password=secret("redis"),
        socket_connect_timeout=2,
        socket_timeout=2,
        retry=Retry(NoBackoff(), 0),
    )


def redis_answers() -> bool:
    import redis

    try:
        return bool(_redis_client().ping())
    except redis.ResponseError as error:  # it lives and says that its disk is full, to a ping too
        return str(error).startswith("MISCONF")
    except (redis.RedisError, OSError, ValueError, ServiceError):
        return False


def _redis_loads() -> bool:
    """Whether Redis is still reading its data after a start: that may take long and is not hanging."""
    import redis

    try:
        _redis_client().ping()
    except redis.BusyLoadingError:
        return True
    except (redis.RedisError, OSError, ValueError, ServiceError):
        pass
    return False


def _outwait_redis(folder: Path) -> None:
    """Wait until the Redis of this data folder answers or is gone; one that hangs is ended, as two would write into one
    file. Raises ServiceError."""
    deadline = time.monotonic() + HANG_SECONDS
    while (found := machine.redis_processes(folder)) and not redis_answers():
        if time.monotonic() > deadline:
            if _redis_loads():
                raise ServiceError("Redis is still reading its data")
            machine.end_hanging("Redis", found)
        time.sleep(0.2)


def _redis_port(file: Path, may_move: bool) -> int:
    """The port chosen at the first start, so that living clients find a restarted server. Another one only where a
    foreign program has taken it meanwhile and nobody uses the old one (`may_move`)."""
    kept = [int(file.read_text())] if file.exists() and file.read_text().strip().isdigit() else []
    others = random.sample(REDIS_PORTS, 100) if may_move or not kept else []
    for port in [*kept, *others]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in kept:  # on a full disk writing it again would leave an empty file
            file.write_text(str(port))
        return port
    if not others:
        raise ServiceError(
            f"another program has taken Redis's port {kept[0]}; end it, or stop the app and start it again"
        )
    raise ServiceError("Redis found no free port on this machine. Set REDIS_URL to a server of your own.")


def redis_url(may_move: bool = False) -> str:
    """Start the embedded Redis if it does not run; returns its URL (loopback only, with a password)."""
    folder = VAR / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    password = secret("redis")
    if not redis_answers():
        _outwait_redis(folder)
    if not redis_answers():
        port = _redis_port(folder / "port", may_move)
        # The password goes through standard input: a command line can be read by every user of the machine.
        config = (
            f'bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir "{folder}"\nappendonly yes\nsave ""\n'
            f'maxmemory-policy noeviction\nlogfile "{folder}/log"\ndaemonize yes\npidfile "{folder}/pid"\n'
        )
        subprocess.run([machine.redis_program(), "-"], input=config.encode(), check=True, capture_output=True)
        deadline = time.monotonic() + 10
        while not redis_answers():
            if time.monotonic() > deadline:
                lines = (folder / "log").read_text().strip().splitlines()[-1:] if (folder / "log").exists() else []
                raise ServiceError(f"Redis did not start: {' '.join(lines)}")
            time.sleep(0.05)
    return _kept_redis_url()


def _kept_redis_url() -> str:
    """The URL of the server as it was last started. Where it never was, it names port 1, at which nobody listens
    (Celery reads 0 as Redis's usual port, which may be somebody else's)."""
    file = VAR / "redis" / "port"
    port = file.read_text().strip() if file.exists() else "1"
    return f"redis://:{kept_secret('redis')}@127.0.0.1:{port}/0"


def own_servers() -> list[str]:
    """Which of the two servers are embedded."""
    named = {"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
    return [name for name, variable in named.items() if not env(variable)]


def bring_back(name: str) -> None:
    """Start an embedded server that has died or hangs, at the address that it had. Raises ServiceError."""
    with _lock():
        own_postgres.url(VAR) if name == "postgres" else redis_url()


def ensure() -> tuple[str, str]:
    """(DATABASE_URL, REDIS_URL): the configured ones, or those of the embedded servers, started when needed."""
    database, broker = env("DATABASE_URL"), env("REDIS_URL")
    if database and broker:
        return database, broker
    try:
        machine.check_owner(VAR)
        hold()
        with _lock():
            database = database or own_postgres.url(VAR)
            broker = broker or redis_url(
                may_move=_handles() <= {os.getpid()}
            )  # its port may change while nobody else uses it
    except ServiceError as error:
        sys.exit(f"webnav: {error}")
    return database, broker


def addresses() -> tuple[str, str]:
    """(DATABASE_URL, REDIS_URL) for the settings. This starts nothing: type checkers and editors read settings too.
    `make_ready` has started the servers where something is going to ask them."""
    return env("DATABASE_URL") or own_postgres.kept_url(VAR), env("REDIS_URL") or _kept_redis_url()


def make_ready(*, servers: bool = True) -> None:
    """Prepare a process before settings are read: servers run, secrets and private folders are there. Called by every
    entry point (manage.py, ASGI, Celery's workers, the tests)."""
    if servers:
        ensure()
    machine.make_var(ROOT, VAR)
    if not env("SECRET_KEY"):
        secret("django")
    private_files.tighten(VAR)


def read_settings() -> None:
    """Read all settings now. Raises ValueError where one does not fit. Called at the start of a process, as Django
    would read them when they are first needed, in the middle of something else."""
    from django.conf import settings

    _ = settings.INSTALLED_APPS  # the first that is asked for reads them all


def migrate_if_needed() -> None:
    """Apply missing migrations; concurrent callers wait for one another on an advisory lock."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(7243)")
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except BaseException:
            connection.close()  # lets go of the lock; asking for that could fail, too, and hide why the migration did
            raise
        cursor.execute("SELECT pg_advisory_unlock(7243)")
