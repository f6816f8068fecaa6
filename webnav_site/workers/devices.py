"""Gives each process of a worker's pool one device (GPU_PROCESSES processes, one for each device)."""

import os
from typing import Any

from celery.signals import worker_process_init


@worker_process_init.connect
def take_one(**kwargs: Any) -> None:
    """Choose this process's device by CUDA_VISIBLE_DEVICES, before torch is imported, which reads the variable only
    once."""
    from billiard import current_process

    place, processes = getattr(current_process(), "index", 0), int(os.environ.get("GPU_PROCESSES", "1"))
    if processes > 1 and (visible := _visible()):
        os.environ["CUDA_VISIBLE_DEVICES"] = device_of(place, visible)


def device_of(place: int, visible: list[str]) -> str:
    """The device of the process at this place of the pool; where there are more processes than devices, several share
    one."""
    return visible[place % len(visible)]


def _visible() -> list[str]:
    """The devices that this worker may use."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [part.strip() for part in named.split(",") if part.strip()]
    from webnav_site.workers.reporting import devices

    return [str(device["index"]) for device in devices()]
