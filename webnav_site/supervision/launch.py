"""`python -m webnav_site.supervision.launch NAME`: becomes the process NAME of the Procfile.

Where this process was killed before, its children may still listen on its port or work on its queue: they are ended
first. The page comes before the rest: people wait for it and nobody for a worker, and started all at once they keep it
back.
"""

import os
import socket
import sys
import time
from contextlib import suppress

from webnav_site.embedded import services
from webnav_site.supervision import processes
from webnav_site.supervision.programs import procfile

PAGE = "web"
PATIENCE_SECONDS = 15  # with a page that does not come
LOOK_SECONDS = 0.2


def main(name: str) -> None:
    processes.kill(processes.marked(name))
    if name != PAGE:
        wait_for_page(time.monotonic() + PATIENCE_SECONDS)
        tell_of_worker(procfile()[name])  # at a first start `up` has told it already
    os.execv("/bin/sh", ["sh", "-c", procfile()[name]])


def tell_of_worker(command: str) -> None:
    """Say of which queues a worker starts, if the command starts one, so that pages do not ask people for one."""
    words = command.split()
    if "celery" not in words or "-Q" not in words[:-1]:
        return
    import redis  # here: three launches that loaded it would take time from the page

    from annotations.monitor import starting

    with suppress(redis.RedisError), redis.Redis.from_url(services.addresses()[1], socket_timeout=2) as server:
        starting.tell(server, words[words.index("-Q") + 1].split(","))


def wait_for_page(until: float) -> None:
    """Until the web server answers anything, or it is too late: its parent listens before its children can answer. It
    is asked for a page, as `/healthz` would note as a failure that no worker is there yet."""
    while (left := until - time.monotonic()) > 0:
        try:
            with socket.create_connection(
                (os.environ.get("BIND", "127.0.0.1"), int(os.environ.get("PORT", "8000"))), timeout=left
            ) as asking:
                asking.sendall(b"GET /login/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                if asking.recv(1):
                    return
        except OSError:
            pass
        time.sleep(LOOK_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1])
