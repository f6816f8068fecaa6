"""What surrounds a process: variables of the environment, read with a check that names them, and a folder for its
sockets. Core."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit


@contextmanager
def told_in_a_line(exit_code: int = 1) -> Iterator[None]:
    """End the process with one sentence on stderr where a value does not fit (ValueError): whoever typed it needs no
    traceback."""
    try:
        yield
    except ValueError as error:
        sys.stderr.write(f"webnav: {error}\n")
        sys.exit(exit_code)


def runtime_folder() -> Path:
    """A folder of this user with a short path, for lock files and sockets. PermissionError where it is another's."""
    folder = Path(tempfile.gettempdir()) / f"webnav-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user; remove it, or set TMPDIR to a folder of your own")
    return folder


def env(name: str, default: str = "") -> str:
    """A variable's value, or the content of the file that NAME_FILE points to."""
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return os.environ.get(name, default)
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{name}_FILE cannot be read: {error}") from error


def env_bool(name: str, default: bool = False) -> bool:
    value = env(name, str(default)).lower()
    if value not in {"true", "false", "1", "0", "yes", "no"}:
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return value in {"true", "1", "yes"}


def env_days(name: str, default: int) -> int:
    """The number of days that a variable holds; 0 or empty: for ever."""
    value = env(name, str(default)) or "0"
    if not value.isdecimal():
        raise ValueError(f"{name} must be a whole number of days, or 0 for ever; got {value!r}")
    return int(value)


def env_number(name: str, default: int, least: int = 0) -> int:
    value = env(name, str(default))
    if not (value.isascii() and value.isdecimal() and int(value[:18]) >= least):
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def env_seconds(name: str, default: float) -> float:
    value = env(name, str(default))
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{name} must be a number of seconds above 0, got {value!r}")
    return seconds


def check_origin(name: str, origin: str) -> None:
    """ValueError unless it is like https://webnav.example or http://localhost:8000."""
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
        raise ValueError(f"{name} must be like https://webnav.example, without a path, got {origin!r}")
    try:
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{name}: {error}, got {origin!r}") from error


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) < 65536):
        raise ValueError(f"must be a port from 1 to 65535, got {text!r}")
    return int(text)


def env_port(name: str, default: int) -> int:
    try:
        return port(env(name, str(default)))
    except ValueError as error:
        raise ValueError(f"{name} {error}") from error


def env_list(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in env(name, default).split(",") if item.strip()]


def env_networks(name: str, *words: str) -> list[str]:
    """A list of addresses and networks, or of `words` that stand for something else. ValueError for anything that is
    neither."""
    found = env_list(name)
    for item in set(found) - set(words):
        try:
            ip_network(item, strict=False)
        except ValueError:
            raise ValueError(f"{name} holds {item!r}, which is no address and no network") from None
    return found
