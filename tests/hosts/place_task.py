"""A task for workers of tests: tells which process of the pool it ran in, and which device that has."""

import os
import time

import redis
from celery import shared_task


@shared_task(queue="gpu")
def tell_place(url: str, key: str, together: int) -> None:
    """Answers, and holds its process until as many have answered: so each of them has a process of its own."""
    with redis.Redis.from_url(url) as server:
        server.rpush(key, f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')}")
        until = time.monotonic() + 45
        while int(server.llen(key)) < together and time.monotonic() < until:
            time.sleep(0.05)
