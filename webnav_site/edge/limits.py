"""The limits of the web server. Each is a setting: WEB_HEADER_SECONDS=5 in the environment replaces `header_seconds`.

They hold in each web process by itself, so that no request waits for a count that is kept elsewhere; "client" is what
`annotations.access.clients` tells apart. `make run` starts two processes.
"""

import resource
from collections.abc import Mapping
from dataclasses import dataclass, fields

KIB, MIB, GIB = 1024, 1024**2, 1024**3


@dataclass(frozen=True)
class EdgeLimits:
    """The limits, in seconds, bytes and counts; all are at least 1."""

    # Connections
    connections: int = 2000  # open at the same time; above it those go that have not asked anything for longest
    client_connections: int = 256  # of one client
    client_sockets: int = 128  # open WebSockets of one client
    header_seconds: int = 10  # from the first byte of a request to the end of its headers
    header_bytes: int = 64 * KIB
    # Bodies of requests
    anonymous_bytes: int = 64 * KIB  # without signing in; such bodies stay in memory
    body_bytes: int = 10 * MIB  # signed in
    upload_bytes: int = 2 * GIB + MIB  # where files are uploaded, by people who may; the form's fields included
    first_byte_seconds: int = 10  # until a body begins
    body_rate: int = 1 * KIB  # bytes a second, on average, that a body must reach after `first_byte_seconds`
    body_seconds: int = 60  # for a whole body
    upload_seconds: int = 6 * 3600  # for a body of more than `anonymous_bytes`
    client_bodies: int = 64  # of one client on their way
    client_uploads: int = 8  # of one client with more than `anonymous_bytes` on their way
    client_bytes: int = 4 * GIB + 2 * MIB  # of one client: announced bodies, and answers that it has not fetched
    uploads: int = 64  # of all clients with more than `anonymous_bytes` on their way
    spare_bytes: int = 1 * GIB  # of the disk that uploads never fill
    # Work
    page_threads: int = 8  # requests at the same time in one process; as many database connections
    upload_threads: int = 2  # for requests with more than `anonymous_bytes`
    stream_threads: int = 2  # for downloads that are made while they are fetched; they take turns
    client_requests: int = 64  # of one client that run or wait for a thread
    client_threads: int = 4  # of one client that run
    waiting_requests: int = 512  # of all clients that wait for a thread
    health_seconds: int = 5  # until health check and metrics answer for a database that does not
    # Answers
    fetch_seconds: int = 30  # until a client has fetched the next 64 KiB
    download_seconds: int = 6 * 3600  # for a whole answer

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{variable(field.name)} must be at least 1, got {getattr(self, field.name)}")


def variable(name: str) -> str:
    """The name of the environment variable that sets a limit."""
    return f"WEB_{name.upper()}"


def from_environment(environment: Mapping[str, str]) -> EdgeLimits:
    """The limits, with those that the environment names. Raises ValueError for what is no whole number."""
    wanted = {field.name: environment.get(variable(field.name), "") for field in fields(EdgeLimits)}
    return EdgeLimits(**{name: _number(name, text) for name, text in wanted.items() if text})


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{variable(name)} must be a whole number, got {text!r}") from error


def allow_as_many_files(limits: EdgeLimits) -> None:
    """Raise this process's limit of open files, often 1,024: each connection is one, and each download one more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * limits.connections + 512
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
