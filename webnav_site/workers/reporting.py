"""What each worker reports of itself while it lives: queues, since when, what it does, its memory, its devices."""

import json
import os
import socket
import time
from functools import cache
from typing import Any

import psutil
import redis
from celery import signals

from annotations.monitor.shared import client

PREFIX = "webnav:worker:"
EVERY_SECONDS = 5
KEPT_SECONDS = 60
BEAT_TASKS = "webnav:beat"  # task -> when beat last sent it


class _ObservedWorker:
    """Facts of this process, if it is a worker or one of its pool."""

    name = ""
    queues: tuple[str, ...] = ()
    since = 0.0
    told = 0.0


@signals.celeryd_after_setup.connect
def _start(sender: str, instance: Any, **kwargs: Any) -> None:
    _ObservedWorker.name, _ObservedWorker.queues, _ObservedWorker.since = (
        sender,
        tuple(instance.app.amqp.queues.consume_from),
        time.time(),
    )


@signals.heartbeat_sent.connect
def _tell(**kwargs: Any) -> None:
    if not _ObservedWorker.name or time.monotonic() - _ObservedWorker.told < EVERY_SECONDS:
        return
    _ObservedWorker.told = time.monotonic()
    facts = {
        "name": _ObservedWorker.name,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "queues": _ObservedWorker.queues,
        "since": _ObservedWorker.since,
        "memory_bytes": _memory(),
        "gpus": devices() if "gpu" in _ObservedWorker.queues else [],
    }
    _store(lambda pipe: pipe.set(PREFIX + _ObservedWorker.name, json.dumps(facts), ex=KEPT_SECONDS))


def _memory() -> int:
    """Bytes of memory that the worker and its pool use."""
    me = psutil.Process()
    total = 0
    for process in [me, *me.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


@cache
def _nvml() -> Any:
    """NVIDIA's library, or None where there is no device or driver."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # no library, no driver, no permission: then there is nothing to tell
        return None
    return pynvml


def devices() -> list[dict[str, Any]]:
    """Memory of the NVIDIA devices of this machine."""
    nvml, found = _nvml(), []
    for index in range(nvml.nvmlDeviceGetCount() if nvml else 0):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        memory, name = nvml.nvmlDeviceGetMemoryInfo(handle), nvml.nvmlDeviceGetName(handle)
        found.append({"index": index, "name": str(name), "used_bytes": memory.used, "total_bytes": memory.total})
    return found


@signals.task_prerun.connect
def _begin(task_id: str, task: Any, args: Any, **kwargs: Any) -> None:
    doing = json.dumps({"task": task.name, "args": [str(arg) for arg in args or ()], "since": time.time()})
    _store(lambda pipe: pipe.hset(_doing_key(task.request.hostname), task_id, doing))


@signals.task_postrun.connect
def _end(task_id: str, task: Any, **kwargs: Any) -> None:
    _store(lambda pipe: pipe.hdel(_doing_key(task.request.hostname), task_id))


@signals.worker_ready.connect
def _forget_the_one_before(sender: Any, **kwargs: Any) -> None:
    """Forget the tasks that a killed worker of this name was at, as it could not say that they ended."""
    _store(lambda pipe: pipe.delete(_doing_key(sender.hostname)))


@signals.worker_shutdown.connect
def _leave(sender: Any, **kwargs: Any) -> None:
    """Remove a worker that stops on purpose, so that the page does not list it any longer."""
    _store(lambda pipe: pipe.delete(PREFIX + _ObservedWorker.name))


def _doing_key(name: str | None) -> str:
    return f"webnav:doing:{name}"


def _store(command: Any) -> None:
    try:
        with client() as server, server.pipeline() as pipe:
            command(pipe)
            pipe.execute()
    except redis.RedisError:
        pass  # told again in a few seconds; `heartbeats` logs it


@signals.beat_init.connect
def _beat_started(**kwargs: Any) -> None:
    signals.after_task_publish.connect(_beat_sent, weak=False)


def _beat_sent(sender: str = "", **kwargs: Any) -> None:
    _store(lambda pipe: pipe.hset(BEAT_TASKS, sender, time.time()))


def alive() -> list[dict[str, Any]]:
    """Every worker that has told of itself within a minute, with `doing`. Raises RedisError."""
    with client() as server:
        found = [json.loads(value) for key in server.scan_iter(f"{PREFIX}*") if (value := server.get(key))]
        for worker in found:
            tasks = server.hvals(_doing_key(worker["name"]))
            worker["doing"] = sorted((json.loads(task) for task in tasks), key=lambda task: task["since"])
    return sorted(found, key=lambda worker: worker["name"])


def beat_sent() -> dict[str, float]:
    """Task -> when beat last sent it. Raises RedisError."""
    with client() as server:
        return {task.decode(): float(at) for task, at in server.hgetall(BEAT_TASKS).items()}
