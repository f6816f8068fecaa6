"""A task for workers of tests: tells which process of the pool it ran in, and which device that has."""

import os
import time

import redis
from celery import shared_task


@shared_task(queue="gpu")
def tell_place(url: str, key: str) -> None:
    time.sleep(1)  # so that the next one goes to another process
    with redis.Redis.from_url(url) as server:
        server.rpush(key, f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')}")
