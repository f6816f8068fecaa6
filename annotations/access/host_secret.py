"""All hosts of one database have one SECRET_KEY: compared when a web process or a worker starts.

With another key a host would know no session of the others, open no second factor, and refuse their signed links.
"""

import hashlib
import logging
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import Error, OperationalError, ProgrammingError, connection

from annotations.models.accounts.secrets import THE_ONE, SharedSecret

logger = logging.getLogger(__name__)

EXIT_CODE = 3  # uvicorn's own for "would fail the same way on every restart": its parent then stops too


class OtherSecret(RuntimeError):
    """This host's SECRET_KEY is not the one that the others share."""


def fingerprint(key: str) -> str:
    """A digest of the key, by which two machines see whether theirs are the same; it tells nothing of the key."""
    return hashlib.sha256(f"webnav backup {key}".encode()).hexdigest()[:16]


def compare() -> None:
    """Raises OtherSecret. The first host that starts says which key is shared."""
    own = fingerprint(settings.SECRET_KEY)
    shared, _ = SharedSecret.objects.get_or_create(id=THE_ONE, defaults=_columns(own))
    if shared.fingerprint != own:
        raise OtherSecret(
            f"the SECRET_KEY of this host is not the one that all hosts of this database share (told by "
            f"{shared.hostname} on {shared.told_at:%Y-%m-%d}): set that one here, or see “Changing SECRET_KEY” in "
            "docs/operating.md"
        )


def is_shared() -> bool:
    """Whether this host may go on, for the health check: the key may have been changed meanwhile."""
    try:
        compare()
    except (OtherSecret, Error) as error:
        return isinstance(error, Error)  # the database is away, which another part of the health check tells
    return True


def refuse_another(say: Callable[[str], object] = sys.stderr.write) -> None:
    """Ends this process, with one sentence, if its key is another one. A database that does not answer yet, or has no
    tables yet, is no reason: the health check asks again."""
    try:
        with ThreadPoolExecutor(1) as thread:  # the web server's event loop runs already, and workers fork from here
            thread.submit(_compare_apart).result()
    except OtherSecret as refused:
        say(f"webnav: {refused}\n")
        sys.exit(EXIT_CODE)
    except (OperationalError, ProgrammingError) as error:
        logger.warning("could not compare SECRET_KEY with the other hosts': %s", str(error).strip().partition("\n")[0])


def _compare_apart() -> None:
    try:
        compare()
    finally:
        connection.close()


def rotate(forget_old: bool = False) -> bool:
    """Share this host's key from now on: whether another was shared before. Raises OtherSecret where what the old one
    closed could not be opened."""
    shared = SharedSecret.objects.filter(id=THE_ONE).first()
    own, kept = fingerprint(settings.SECRET_KEY), map(fingerprint, settings.SECRET_KEY_FALLBACKS)
    if shared and not forget_old and shared.fingerprint not in {own, *kept}:
        raise OtherSecret(
            "the old key is not among SECRET_KEY_FALLBACKS: without it everybody signs in anew and sets up one-time "
            "codes again; add it there, or use --forget-old"
        )
    if shared and shared.fingerprint == own:
        return False
    SharedSecret.objects.update_or_create(id=THE_ONE, defaults=_columns(own))
    return True


def _columns(own: str) -> dict[str, str]:
    return {"fingerprint": own, "hostname": socket.gethostname()[:100]}
