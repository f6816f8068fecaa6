"""The cache that all processes share, and what happens while its Redis is away."""

import logging
import threading

import pytest
import redis
from django.core.cache import cache, caches

from webnav_site import sharing
from webnav_site.shared_cache import JsonSerializer


@pytest.fixture
def another(settings):
    """The cache as another process has it."""
    settings.CACHES = settings.CACHES | {"other": settings.CACHES["default"]}
    return caches["other"]


@pytest.fixture
def away(settings):
    """The cache of a process whose Redis is away."""
    settings.CACHES = settings.CACHES | {"away": sharing.caches("redis://127.0.0.1:1/0")["default"]}
    return caches["away"]


@pytest.fixture(autouse=True)
def _empty():
    cache.clear()
    cache.get("value")  # whatever was away before a test, Redis answers now
    yield
    cache.clear()


def test_what_one_process_counts_another_sees(another) -> None:
    cache.add("tries", 0)
    threads = [threading.Thread(target=lambda: (cache.incr("tries"), another.incr("tries"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert another.get("tries") == 16


@pytest.mark.parametrize("value", [0, 7, -1, 1.5, "text", [1.5, 2.5], {"a": [None, True]}])
def test_a_value_comes_back_as_it_was(another, value) -> None:
    cache.set("value", value)
    assert another.get("value") == value


def test_nothing_that_could_become_code_is_stored(settings) -> None:
    with pytest.raises(TypeError):
        cache.set("value", object())
    cache.set("value", "text")
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        assert server.get(cache.make_key("value")) == b'"text"'


def test_clearing_leaves_the_brokers_messages_alone(settings) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        server.lpush("io", "a message")
        cache.set("value", 1)
        cache.clear()
        assert (cache.get("value"), server.lpop("io")) == (None, b"a message")


def test_without_redis_a_process_counts_alone_and_does_not_fail(away) -> None:
    assert away.add("tries", 1)
    assert not away.add("tries", 1)
    away.set("value", [1.5])
    assert (away.incr("tries"), away.get("value"), away.get_many(["tries"])) == (2, [1.5], {"tries": 2})


def test_an_outage_is_one_line_of_the_log_and_its_end_another(away, caplog) -> None:
    caplog.set_level(logging.INFO, logger="webnav_site.shared_cache")
    for _ in range(3):
        away.get("value")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    for _ in range(3):
        cache.get("value")
    assert [record.message for record in caplog.records[1:]] == ["the shared cache answers again"]
    away.get("value")
    assert caplog.records[-1].levelname == "WARNING", "the next outage is told again"


@pytest.mark.parametrize("value", [3, "text", "", {"a": [1, None]}, b"", b"\x1f\x8b packed", b"\0", b"[1]"])
def test_a_value_is_stored_whole(value) -> None:
    stored = JsonSerializer().dumps(value)
    assert JsonSerializer().loads(str(stored).encode() if isinstance(stored, int) else stored) == value


def test_a_socket_outlasts_the_silence_between_two_messages() -> None:
    """The channel layer asks the server to wait for five seconds; its client has to wait longer than that."""
    from channels_redis.core import RedisChannelLayer

    layer = RedisChannelLayer(hosts=[sharing.channel_host("redis://:password@127.0.0.1:1/0")])
    options = layer.create_pool(0).connection_kwargs
    assert options["socket_timeout"] > 2 * layer.brpop_timeout
