"""Keeps a worker's row in the registry: its main process writes every few seconds what it holds."""

import logging
import os
import platform
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from celery import signals
from django.db import Error, connection

logger = logging.getLogger(__name__)

EVERY_SECONDS = 15
LIBRARIES = ("torch", "transformers", "django")


class _RegisteredWorker:
    """Facts of this process, if it is a worker."""

    name = ""
    queues: tuple[str, ...] = ()
    processes = 1
    told = float("-inf")


@signals.celeryd_after_setup.connect
def _start(sender: str, instance: Any, **kwargs: Any) -> None:
    """Take work from the worker's queues, and from those that are for its host alone."""
    from annotations.hosts.identity import host_id

    queues = instance.app.amqp.queues
    _RegisteredWorker.name, _RegisteredWorker.queues = sender, tuple(queues.consume_from)
    _RegisteredWorker.processes = instance.concurrency or 1
    for queue in _RegisteredWorker.queues:
        if queue != "default":
            queues.select_add(f"{queue}.{host_id()}")


@signals.heartbeat_sent.connect
def _tell(**kwargs: Any) -> None:
    if not _RegisteredWorker.name or time.monotonic() - _RegisteredWorker.told < EVERY_SECONDS:
        return
    _RegisteredWorker.told = time.monotonic()
    try:
        tell(_RegisteredWorker.name, _RegisteredWorker.queues, _RegisteredWorker.processes)
    except Error as error:
        logger.warning("could not tell the registry that %s is alive: %s", _RegisteredWorker.name, error)
    finally:
        connection.close()  # the processes of the pool are forked from this one


@signals.worker_shutdown.connect
def _leave(**kwargs: Any) -> None:
    """Remove the row of a worker that stops on purpose."""
    from annotations.hosts.identity import this_process
    from annotations.models import Worker

    if _RegisteredWorker.name:
        try:
            Worker.objects.filter(owner=str(this_process())).delete()
        except Error as error:
            logger.warning("could not tell the registry that %s has stopped: %s", _RegisteredWorker.name, error)


def tell(name: str, queues: tuple[str, ...], processes: int) -> None:
    """Write the worker's row."""
    from agents.encoders import weights
    from annotations.hosts.identity import this_process
    from annotations.models import Worker

    me = this_process()
    Worker.objects.tell(
        str(me),
        name=name,
        host=me.host,
        hostname=me.hostname,
        queues=list(queues),
        processes=processes,
        memory_bytes=_memory_limit(),
        gpus=_gpus() if "gpu" in queues else [],
        held=weights.held(),
        versions=_versions(),
    )


def _memory_limit() -> int:
    """Bytes of memory that the machine has, or that its container may use."""
    total = psutil.virtual_memory().total
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        return min(total, int(text)) if text.isdigit() else total
    return total


def _gpus() -> list[dict[str, Any]]:
    """The devices that this worker may use: all, or those that CUDA_VISIBLE_DEVICES names by number."""
    from webnav_site.workers.reporting import devices

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    wanted = None if visible is None else {part.strip() for part in visible.split(",")}
    return [
        {name: device[name] for name in ("index", "name", "total_bytes")}
        for device in devices()
        if wanted is None or str(device["index"]) in wanted
    ]


@cache
def _versions() -> dict[str, str]:
    from annotations.hosts.code import code_revision

    found = {"python": platform.python_version(), "code": code_revision()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
