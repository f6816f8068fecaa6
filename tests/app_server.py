"""The real ASGI application under uvicorn, in a process of its own, on the test database."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.db import connection

from webnav_site.supervision.programs import procfile

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60


@dataclass(frozen=True)
class AppServer:
    """A running server: the app's origin, the origin of rendered pages, and where it writes what went wrong."""

    port: int
    app_origin: str
    snapshot_origin: str
    log: Path

    def url(self, path: str) -> str:
        """Address of a page of the app; `path` starts with a slash."""
        return f"{self.app_origin}{path}"


@contextmanager
def running(log: Path) -> Iterator[AppServer]:
    """A server from start to stop. The app is at http://localhost:PORT, rendered pages at http://127.0.0.1:PORT."""
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "webnav_site.asgi:application",
        "--host",
        "127.0.0.1",
        "--port",
        "$PORT",
        "--lifespan",
        "off",
        "--http",
        "webnav_site.edge.connections:ClientConnection",
        "--no-proxy-headers",
        "--log-level",
        "info",
        "--timeout-graceful-shutdown",
        "1",
    ]
    with _running(" ".join(["exec", *command]), log, {}) as (server, _):
        yield server


@contextmanager
def running_as_make_run_does(log: Path, **environment: str) -> Iterator[tuple[AppServer, int]]:
    """A server started by the Procfile's own line, and the pid of its parent process."""
    with _running(procfile()["web"], log, environment) as both:
        yield both


@contextmanager
def _running(command: str, log: Path, environment: dict[str, str]) -> Iterator[tuple[AppServer, int]]:
    port = _free_port()
    server = AppServer(port, f"http://localhost:{port}", f"http://127.0.0.1:{port}", log)
    values = _environment(server) | {"PYTHON": sys.executable, "BIND": "127.0.0.1"} | environment
    with log.open("w") as output:
        process = subprocess.Popen(["/bin/sh", "-c", command], cwd=ROOT, env=values, stdout=output, stderr=output)
    try:
        _wait_for(process, server)
        yield server, process.pid
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def database_url(name: str = "") -> str:
    """The test database as an address, or another one beside it; the host may be the folder of a socket."""
    values = connection.settings_dict
    user = quote(values["USER"]) + (f":{quote(values['PASSWORD'])}" if values["PASSWORD"] else "")
    port = f":{values['PORT']}" if values["PORT"] else ""
    query = urlencode({"host": values["HOST"]}, safe="/") if values["HOST"] else ""
    return f"postgresql://{user}@{port}/{quote(name or values['NAME'])}?{query}"


def _environment(server: AppServer) -> dict[str, str]:
    layer = settings.CHANNEL_LAYERS["default"]["CONFIG"]
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "SECRET_KEY": settings.SECRET_KEY,
        "PORT": str(server.port),
        "APP_ORIGIN": server.app_origin,
        "SNAPSHOT_ORIGIN": server.snapshot_origin,
        "DATABASE_URL": database_url(),
        "REDIS_URL": layer["hosts"][0],
        "CHANNEL_PREFIX": layer["prefix"],
        "CELERY_BROKER_URL": settings.CELERY_BROKER_URL,
        "DEBUG": "false",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(process: subprocess.Popen, server: AppServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"The server did not start:\n{server.log.read_text()[-3000:]}", pytrace=False)
