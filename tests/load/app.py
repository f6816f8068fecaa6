"""The app as `make run` starts it, on a data folder of its own, for scripts that load it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def running(var: Path, port: int) -> Iterator[None]:
    """The app until the block ends. $WEBNAV_VAR names the folder already."""
    var.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--sample", "no"]
    with (var / "up.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        _wait_for(f"http://localhost:{port}/login/", var)
        yield
    finally:
        # Not by Ctrl-C's signal: what a shell runs in the background ignores it, and so does all that it starts.
        subprocess.run([sys.executable, "manage.py", "down"], cwd=ROOT, timeout=180, check=False)
        process.wait(timeout=60)


def _wait_for(address: str, var: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urlopen(address, timeout=20).close()
            return
        except OSError:
            time.sleep(0.5)
    sys.exit(f"The app did not start; see {var / 'up.log'}")
