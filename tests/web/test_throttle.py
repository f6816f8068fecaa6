"""Wrong tries at secrets: one throttle at every door, shared by all processes, back-off per account and per client."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import requests
from django.contrib.auth.hashers import get_hasher
from django.core.cache import cache
from django.db import connection
from django.test import Client

from annotations.access.tries import counters, throttle
from annotations.access.tries.counters import Counted, TryLimits
from annotations.models import TryCount
from tests import factories
from tests.quick import first_is_quick

PASSWORD = "a-long-enough-1"
FREE = throttle.ACCOUNT.free


@pytest.fixture
def ada(db):
    return factories.make_user("admin", username="ada", password=PASSWORD)


@pytest.fixture
def stopped_clock(monkeypatch) -> None:
    """No time passes between tries, however slow the machine is: nothing opens by itself."""
    now = time.time()
    monkeypatch.setattr(counters, "time", SimpleNamespace(time=lambda: now))


def sign_in(client: Client, password: str, name: str = "ada", **extra) -> int:
    return client.post("/login/", {"username": name, "password": password}, **extra).status_code


def api_login(client: Client, password: str, name: str = "ada", **extra) -> int:
    body = {"username": name, "password": password}
    return client.post("/api/auth/login/", body, content_type="application/json", **extra).status_code


@pytest.mark.slow
@first_is_quick("door", [sign_in, api_login])
@pytest.mark.usefixtures("stopped_clock")
def test_sixty_wrong_tries_are_stopped_whatever_a_proxy_header_says(ada, door: Callable[..., int]) -> None:
    codes = [door(Client(), str(guess), headers={"X-Forwarded-For": f"10.0.0.{guess}"}) for guess in range(60)]
    assert sum(code != 429 for code in codes) == FREE
    assert door(Client(), PASSWORD) == 429


def test_the_admin_has_no_door_of_its_own(ada) -> None:
    """Its sign-in is the one page; a right password sent to the old address signs nobody in."""
    ada.is_staff = ada.is_superuser = True
    ada.save()
    client = Client()
    response = client.post("/admin/login/?next=/admin/", {"username": "ada", "password": PASSWORD})
    assert response.url == "/login/?next=%2Fadmin%2F"
    assert "_auth_user_id" not in client.session
    assert client.post(response.url, {"username": "ada", "password": PASSWORD, "next": "/admin/"}).url == "/admin/"


@pytest.mark.usefixtures("stopped_clock")
def test_all_doors_count_together(ada) -> None:
    for guess in range(FREE):
        (sign_in if guess % 2 else api_login)(Client(), str(guess))
    assert sign_in(Client(), PASSWORD) == 429
    assert api_login(Client(), PASSWORD) == 429


def test_the_time_to_wait_is_told(ada) -> None:
    for guess in range(FREE):
        sign_in(Client(), str(guess))
    page = Client().post("/login/", {"username": "ada", "password": PASSWORD})
    assert int(page["Retry-After"]) in {1, 2}
    assert "Try again in" in page.content.decode()
    assert 'value="ada"' in page.content.decode()
    answer = Client().post("/api/auth/login/", {"username": "ada", "password": "x"}, content_type="application/json")
    assert answer.status_code == 429
    assert answer["Retry-After"]
    assert "Too many tries" in answer.json()["detail"]


def test_a_name_that_nobody_has_is_throttled_and_answered_like_one_that_exists(ada) -> None:
    codes = {name: [sign_in(Client(), str(guess), name) for guess in range(FREE + 1)] for name in ("ada", "nobody")}
    assert codes["ada"] == codes["nobody"] == [200] * FREE + [429]


@pytest.mark.parametrize("door", ["page", "api"])
def test_a_wrong_password_costs_one_hash_whoever_is_named(ada, door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long the answer takes tells nothing: not of names that nobody has, closed accounts, and those that sign in
    by their organisation alone."""
    factories.make_user(username="closed", password=PASSWORD, is_active=False)
    factories.make_user(username="elsewhere")  # has no password
    hashed: list[str] = []
    hasher = type(get_hasher())
    real = hasher.encode
    monkeypatch.setattr(hasher, "encode", lambda self, *args: (hashed.append(door), real(self, *args))[1])
    costs = {}
    for name in ("ada", "closed", "elsewhere", "nobody"):
        hashed.clear()
        if door == "page":
            answer = Client().post("/login/", {"username": name, "password": "wrong"})
        else:
            told = {"username": name, "password": "wrong"}
            answer = Client().post("/api/auth/login/", told, content_type="application/json")
        said = answer.content.decode().replace(name, "NAME")
        costs[name] = (len(hashed), answer.status_code, re.sub(r'csrfmiddlewaretoken" value="\w+', "", said))
    assert costs["ada"][0] >= 1
    assert len(set(costs.values())) == 1, {name: cost[:2] for name, cost in costs.items()}


def test_each_wrong_try_over_the_free_ones_doubles_the_wait_up_to_the_longest() -> None:
    limits, known, now, waits = TryLimits(free=3, longest=60, forget=3600), Counted(), 1000.0, []
    for _ in range(9):
        known = known.tried(limits, now)
        waits.append(known.opens_at - now)
        now = known.opens_at
    assert waits == [0, 0, 2, 4, 8, 16, 32, 60, 60]


def test_wrong_tries_are_forgotten_with_time() -> None:
    limits, known = TryLimits(free=3, longest=60, forget=100), Counted()
    for _ in range(3):
        known = known.tried(limits, 1000.0)
    assert known.tried(limits, 1250.0).tries == 2


@pytest.mark.slow
def test_the_owner_comes_in_from_a_known_browser_while_others_attack(ada) -> None:
    owner = Client()
    assert sign_in(owner, PASSWORD) == 302
    owner.post("/logout/")
    for guess in range(FREE):
        sign_in(Client(), str(guess))
    assert sign_in(Client(), PASSWORD) == 429
    assert sign_in(owner, PASSWORD) == 302


def test_a_known_browser_of_one_account_is_a_stranger_to_another(ada) -> None:
    factories.make_user(username="eve", password=PASSWORD)
    eve = Client()
    sign_in(eve, PASSWORD, "eve")
    eve.post("/logout/")
    for guess in range(FREE):
        sign_in(eve, str(guess))
    assert sign_in(eve, PASSWORD) == 429


@pytest.mark.slow
def test_a_known_browser_that_guesses_waits_too(ada) -> None:
    thief = Client()
    sign_in(thief, PASSWORD)
    thief.post("/logout/")
    codes = [sign_in(thief, str(guess)) for guess in range(throttle.DEVICE.free + 1)]
    assert codes[-1] == 429


@pytest.mark.slow
def test_one_client_that_tries_many_accounts_waits(db) -> None:
    codes = [sign_in(Client(), "wrong", f"user{number}") for number in range(throttle.CLIENT.free + 1)]
    assert codes == [200] * throttle.CLIENT.free + [429]


@pytest.mark.slow
def test_signing_in_to_ones_own_account_buys_no_free_tries(db) -> None:
    factories.make_user(username="eve", password=PASSWORD)
    for number in range(throttle.CLIENT.free):
        sign_in(Client(), "wrong", f"user{number}")
        if number % 5 == 0:
            sign_in(Client(), PASSWORD, "eve")
    assert sign_in(Client(), "wrong", "another") == 429


@pytest.mark.slow
def test_clients_are_told_apart_by_what_a_named_proxy_says(ada, settings) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    for number in range(throttle.CLIENT.free):
        sign_in(Client(), "wrong", f"user{number}", headers={"X-Forwarded-For": "10.0.0.1"})
    assert sign_in(Client(), "wrong", "another", headers={"X-Forwarded-For": "10.0.0.1"}) == 429
    assert sign_in(Client(), "wrong", "another", headers={"X-Forwarded-For": "10.0.0.2"}) == 200


@pytest.mark.slow
def test_one_time_links_are_guessed_no_faster(db) -> None:
    codes = [Client().get(f"/invites/guess{number}/").status_code for number in range(throttle.CLIENT.free + 1)]
    assert codes == [410] * throttle.CLIENT.free + [429]


def test_changing_ones_password_and_confirming_who_one_is_count_too(ada) -> None:
    client = Client()
    client.force_login(ada)
    for guess in range(FREE):
        form = {"oldpassword": str(guess), "password1": "another-long-1", "password2": "another-long-1"}
        assert client.post("/account/password/", form).status_code == 200
    assert client.post("/account/password/", form | {"oldpassword": PASSWORD}).status_code == 429
    assert client.post("/account/confirm/", {"password": PASSWORD}).status_code == 429
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_counts_are_shared_by_processes(transactional_db, app_server) -> None:
    """Three wrong tries here and two at the running server are five."""
    factories.make_user("reader", username="ada", password=PASSWORD)
    url, body = app_server.url("/api/auth/login/"), {"username": "ada", "password": "wrong"}
    for _ in range(FREE - 2):
        assert api_login(Client(), "wrong") == 401
    there = [requests.post(url, json=body, timeout=10).status_code for _ in range(3)]
    assert there == [401, 401, 429]
    assert api_login(Client(), PASSWORD) == 429


def test_the_running_server_believes_no_proxy_header(transactional_db, app_server) -> None:
    """Sixty accounts from one address that calls itself sixty: the client is one."""
    url = app_server.url("/api/auth/login/")
    codes = [
        requests.post(
            url, json={"username": f"user{n}", "password": "x"}, headers={"X-Forwarded-For": f"10.1.0.{n}"}, timeout=10
        ).status_code
        for n in range(60)
    ]
    assert codes.count(401) <= throttle.CLIENT.free + 3


def test_tries_at_the_same_time_are_no_more_than_one_after_another(db) -> None:
    keys = {"account:many": throttle.ACCOUNT}
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda _: counters.take(keys), range(40)))
    assert sum(not wait for wait in waits) == FREE


def test_without_redis_the_database_counts(ada, settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    codes = [sign_in(Client(), str(guess)) for guess in range(FREE + 1)]
    assert codes == [200] * FREE + [429]
    assert TryCount.objects.count() == 2  # the account and the client
    TryCount.objects.update(opens_at=time.time())
    assert sign_in(Client(), PASSWORD) == 302


@pytest.mark.django_db(transaction=True)
def test_the_database_counts_tries_at_the_same_time_one_by_one(settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    def take(_: int) -> float:
        try:
            return counters.take({"account:many": throttle.ACCOUNT, "client:one": throttle.CLIENT})
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        waits = list(pool.map(take, range(16)))
    assert sum(not wait for wait in waits) == FREE


def test_no_cache_is_asked(ada) -> None:
    """A cache of each process would let as many tries through as there are processes."""
    for guess in range(FREE):
        sign_in(Client(), str(guess))
        cache.clear()
    assert sign_in(Client(), PASSWORD) == 429
