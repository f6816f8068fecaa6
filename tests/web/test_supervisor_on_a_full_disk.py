"""A disk that is full does not end the supervisor: it loses lines of logs, and a start waits for room."""

import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from webnav_site.supervision import daemon

FULL = Path("/dev/full")  # every write to it fails as on a full disk
CONFIGURATION = """
[supervisord]
logfile = /dev/full
logfile_maxbytes = 0
pidfile = {folder}/pid
nodaemon = true
[program:talks]
command = {python} -u -c "import time; [print(time.sleep(0.05)) for _ in range(10 ** 6)]"
stdout_logfile = /dev/full
stdout_logfile_maxbytes = 0
stderr_logfile = NONE
"""
RUN = """
import sys
from supervisor import supervisord
from webnav_site.supervision.daemon import ForgivingStream
if sys.argv[2] == "forgiving":
    sys.stdout, sys.stderr = ForgivingStream(sys.stdout), ForgivingStream(sys.stderr)
supervisord.main(["-c", sys.argv[1]])
"""


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(("stream", "lives"), [("forgiving", True), ("as it is", False)])
def test_a_supervisor_whose_logs_cannot_be_written_lives(stream, lives, tmp_path) -> None:
    conf = tmp_path / "supervisord.conf"
    conf.write_text(CONFIGURATION.format(folder=tmp_path, python=sys.executable))
    with FULL.open("w") as full:
        process = subprocess.Popen([sys.executable, "-u", "-c", RUN, str(conf), stream], stdout=full, stderr=full)
    try:
        # On a busy machine it takes long to start; that it lives is seen from when it has.
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if lives and (tmp_path / "pid").exists():
                deadline = min(deadline, time.monotonic() + 3)
            time.sleep(0.1)
        assert (process.poll() is None) is lives
        assert (tmp_path / "pid").exists() or not lives
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def test_a_start_waits_for_room(monkeypatch, tmp_path, capsys) -> None:
    usage = namedtuple("usage", "total used free")
    free = iter([0, 1_000, daemon.ROOM])
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10, 10, next(free)))
    monkeypatch.setattr(daemon, "LOOK_SECONDS", 0)
    daemon.wait_for_room(tmp_path)
    assert next(free, None) is None
    assert capsys.readouterr().err.count("is full: the app starts when there is room") == 1
