"""The configuration of supervisord, made from the Procfile: `var/supervisor/supervisord.conf`."""

import getpass
import hashlib
import sys
from pathlib import Path

from webnav_site.embedded import machine, services

STOP_SECONDS = 25  # for a worker to reach its next batch and give its work back; then it is killed, which loses nothing
LOG_BYTES = "5MB"
GUARD = "guard"

_HEAD = """\
[supervisord]
identifier = webnav
nodaemon = true
silent = true
user = {user}
directory = {root}
logfile = {logs}/supervisor.log
logfile_maxbytes = {log_bytes}
logfile_backups = 1
pidfile = {folder}/pid
umask = 027

[unix_http_server]
file = {socket}
chmod = 0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl = unix://{socket}

[group:app]
programs = {names}
priority = 100
"""
# It is started again however often it ends, a second later each time in a row (`daemon.start_soon`: five at most).
_PROGRAM = """
[program:{name}]
command = {python} -m webnav_site.supervision.{command}
directory = {root}
priority = {priority}
autorestart = true
startsecs = 5
startretries = 1000000
stopsignal = TERM
stopwaitsecs = {stop_seconds}
killasgroup = true
redirect_stderr = true
stdout_logfile = {logs}/{name}.log
stdout_logfile_maxbytes = {log_bytes}
stdout_logfile_backups = 2
"""


def procfile() -> dict[str, str]:
    """Name -> shell command of each process that makes up the app."""
    lines = (services.ROOT / "Procfile").read_text().splitlines()
    pairs = (line.split(":", 1) for line in lines if line.strip() and not line.startswith("#"))
    return {name.strip(): command.strip() for name, command in pairs}


def log_folder() -> Path:
    return services.VAR / "logs"


def write_configuration() -> Path:
    """Write the configuration; returns its path. It holds no secrets: those are in the supervisor's environment."""
    folder, logs = services.VAR / "supervisor", log_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.mkdir(parents=True, exist_ok=True, mode=0o750)
    names = list(procfile())
    facts = {
        "user": getpass.getuser(),
        "root": services.ROOT,
        "logs": logs,
        "folder": folder,
        "socket": _socket(),
        "python": sys.executable,
        "log_bytes": LOG_BYTES,
        "names": ",".join(names),
    }
    values = {name: str(value).replace("%", "%%") for name, value in facts.items()}
    parts = [_HEAD.format(**values)]
    # The guard is the first to start and the last to stop: the others need the servers that it looks after.
    parts += [_program(GUARD, GUARD, 1, values)]
    parts += [_program(name, f"launch {name}", 100, values) for name in names]
    path = folder / "supervisord.conf"
    path.write_text("".join(parts))
    return path


def _program(name: str, command: str, priority: int, values: dict[str, str]) -> str:
    own = {"name": name, "command": command, "priority": priority, "stop_seconds": STOP_SECONDS}
    return _PROGRAM.format(**values, **own)


def _socket() -> Path:
    """The path of the socket at which `supervisorctl` finds the supervisor. It is short, as paths of sockets are
    limited."""
    return machine.runtime_folder() / f"{hashlib.sha256(str(services.VAR).encode()).hexdigest()[:10]}.sock"
