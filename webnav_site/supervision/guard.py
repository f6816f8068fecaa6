"""A process beside the supervisor: restarts the embedded servers when they do not answer, restarts the supervisor when
it is killed, and keeps the reserve of disk space.

Servers come back at the same address, so that living clients find them again. The supervisor and its guard restart each
other; one of them alone is enough.
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable

import psycopg

from webnav_site.embedded import services
from webnav_site.supervision import daemon, lock, processes, reserve

logger = logging.getLogger("guard")
LOOK_SECONDS = 1.0
ANSWER_SECONDS = 5.0


class Postgres:
    """Asks PostgreSQL over one connection that stays open: asking costs nothing, and the connection breaks when the
    server dies."""

    def __init__(self) -> None:
        self.connection: psycopg.AsyncConnection | None = None
        self.loop = asyncio.new_event_loop()

    def answers(self) -> bool:
        """Whether the server answers. For one that hangs it is False after some seconds, which only non-blocking calls
        allow."""
        try:
            self.loop.run_until_complete(asyncio.wait_for(self._ask(), ANSWER_SECONDS))
        except (psycopg.Error, TimeoutError):
            self.connection = None
            return False
        return True

    async def _ask(self) -> None:
        if self.connection is None:
            self.connection = await psycopg.AsyncConnection.connect(os.environ["DATABASE_URL"], autocommit=True)
        await self.connection.execute("SELECT 1")


def look_after(name: str, answers: Callable[[], bool]) -> None:
    """Start the server if it does not answer; where that fails it is tried again at the next look."""
    if answers():
        return
    logger.warning("%s does not answer: starting it", name)
    try:
        services.bring_back(name)
    except Exception:  # a full disk, a taken port: whatever it is, it may be better in a second
        logger.exception("%s could not be started", name)
    else:
        logger.warning("%s is back", name)


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for name in (processes.MARK, processes.PROGRAM):  # the servers that we start are not the supervisor's to end
        os.environ.pop(name, None)
    supervisor = os.getppid()
    holder = lock.holder()
    if holder is None or holder.pid != supervisor:  # it was killed while this process was starting
        daemon.start()
        return
    services.hold()
    answers = {"postgres": Postgres().answers, "redis": services.redis_answers}
    embedded = os.environ.get(services.EMBEDDED, "").split()
    while not stop.wait(LOOK_SECONDS):
        if os.getppid() != supervisor:
            daemon.start()
            os._exit(0)  # without a farewell to the servers: the next guard is not there yet
        if embedded:
            reserve.look_after(services.VAR)  # first: what is away may need the room to come back
        for name in embedded:
            look_after(name, answers[name])


if __name__ == "__main__":
    main()
