"""Two hosts that share one database, one broker and one object store: what one begins, the other goes on with.

Each host is a clone with a `var/` of its own, in namespaces of its own for processes and network; both have the same
host name, as containers may. One test, as starting them is most of the time it takes.
"""

import asyncio
import json
import re
import socket
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import httpx2
import psycopg
import pytest
import websockets
from django.db import connection

from tests import object_store
from tests.agents.test_training_jobs import TEXTS
from tests.annotations.small_files import conversation
from tests.app_server import database_url
from tests.hosts.machines import SHARED, Host, network, sh, wait
from tests.tiny_models import tiny_cross_encoder
from webnav_site.embedded import machine

pytestmark = [pytest.mark.slow, pytest.mark.whole_app, pytest.mark.django_db(transaction=True)]
DATABASE, SECRET, PASSWORD = "webnav_two_hosts", "one secret for all hosts of this test " * 2, "kept by nobody 42"
PROVISION = f"""
from django.contrib.auth import get_user_model
from annotations.models import Membership, Project
project = Project.objects.create(name="Shop", slug="shop")
user = get_user_model().objects.create_user("ada", password={PASSWORD!r})
Membership.objects.create(project=project, user=user, role="admin")
"""


@dataclass(frozen=True)
class World:
    a: Host
    b: Host
    http_a: httpx2.Client
    http_b: httpx2.Client


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Database, broker and object store, as variables of the hosts."""
    try:
        with (
            network(),
            _database() as database,
            _redis(tmp_path) as redis_url,
            object_store.running(tmp_path, SHARED) as store,
        ):
            yield {
                "DATABASE_URL": database,
                "REDIS_URL": redis_url,
                "SECRET_KEY": SECRET,
                **store.environment,
            }
    except OSError as error:
        pytest.skip(f"hosts of namespaces cannot be made here: {error}")


@contextmanager
def _database() -> Iterator[str]:
    url = database_url()
    test_name = connection.settings_dict["NAME"]
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {DATABASE}")
    try:
        yield url.replace(f"/{test_name}?", f"/{DATABASE}?")
    finally:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind((SHARED, 0))
        port = probe.getsockname()[1]
    command = [machine.redis_program(), "--bind", SHARED, "--port", str(port), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([*command, "--requirepass", "shared"], stdout=subprocess.DEVNULL)
    try:
        yield f"redis://:shared@{SHARED}:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def world(shared: dict[str, str], tmp_path: Path) -> Iterator[World]:
    hosts: list[Host] = []
    try:
        for number, name in enumerate("ab"):
            hosts.append(Host(tmp_path / name, number, shared))
        a, b = hosts
        a.manage("shell", "-c", PROVISION)
        for host in hosts:
            host.serve()
        clients = [
            httpx2.Client(base_url=host.environment["APP_ORIGIN"], timeout=60, trust_env=False) for host in hosts
        ]
        for host, client in zip(hosts, clients, strict=True):
            wait(lambda client=client: _answers(client), 240, f"page:\n{host.tail()}")
        yield World(a, b, *clients)
    finally:
        for host in hosts:
            host.power_off()


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/login/").status_code == 200
    except httpx2.TransportError:
        return False


def test_what_a_killed_run_has_left_holds_no_address_of_this_one() -> None:
    """Its bridge got what was sent to our hosts, which seemed to answer nobody."""
    killed = subprocess.Popen(["true"])
    killed.wait()
    left = Path("/sys/class/net") / f"wn{killed.pid}"
    try:
        sh("ip", "link", "add", left.name, "type", "bridge")
        sh("ip", "addr", "add", f"{SHARED}/24", "dev", left.name)
    except OSError as error:
        pytest.skip(f"hosts of namespaces cannot be made here: {error}")
    with network():
        assert not left.exists()


def test_what_one_host_begins_the_other_goes_on_with(world: World) -> None:
    one_session_and_the_same_static_files(world)
    login = {"username": "ada", "password": PASSWORD}
    token = world.http_a.post("/api/auth/login/", json=login).json()["token"]
    for client in (world.http_a, world.http_b):
        client.headers["Authorization"] = f"Token {token}"
    wrong_tries_at_one_count_at_the_other(world)
    world.b.work()
    an_upload_to_one_is_imported_by_the_other(world, world.http_a, "sample")
    what_is_exported_on_one_is_fetched_from_either(world)
    a_model_is_trained_where_its_base_lies(world)
    world.b.stop_work()
    a_study_runs_on_the_host_that_never_saw_the_model_and_is_watched_from_both(world)
    an_upload_to_one_is_imported_by_the_other(world, world.http_b, "second")


def one_session_and_the_same_static_files(world: World) -> None:
    page = world.http_a.get("/login/")
    found = re.search(r'/static/[^"]+\.css', page.text)
    assert found
    for client in (world.http_a, world.http_b):
        assert client.get(found[0]).status_code == 200, "a page of one host names a file that the other does not have"
    form = {"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": world.http_a.cookies["csrftoken"]}
    answer = world.http_a.post("/login/", data=form, headers={"Referer": str(page.url)})
    assert answer.status_code == 302, answer.text[-800:]
    session = world.http_a.cookies["sessionid"]
    assert world.http_b.get("/datasets/", headers={"Cookie": f"sessionid={session}"}).status_code == 200
    world.http_a.cookies.clear()


def wrong_tries_at_one_count_at_the_other(world: World) -> None:
    def try_at(client: httpx2.Client, username: str) -> int:
        return client.post("/api/auth/login/", json={"username": username, "password": "wrong"}).status_code

    assert [try_at(world.http_a, "grace") for _ in range(6)][:5] == [401] * 5
    assert try_at(world.http_b, "grace") == 429
    assert try_at(world.http_b, "lin") == 401


def an_upload_to_one_is_imported_by_the_other(world: World, client: httpx2.Client, name: str) -> None:
    """Only the other one has a worker."""
    data = json.dumps([conversation(f"{name} {number}", steps=3) for number in range(2)])
    form = {"project": "shop", "format": "mt-mind2web", "name": name, "split": "train"}
    job = _ended(world, client.post("/api/imports/", data=form, files={"file": ("x.json", data)}))
    assert (job["state"], job["report"]["conversations"]) == ("done", 2), job


def what_is_exported_on_one_is_fetched_from_either(world: World) -> None:
    archives = []
    for client in (world.http_a, world.http_b):
        _ended(world, started := client.post("/api/exports/", json={"dataset": "sample", "format": "jsonl"}))
        for other in (world.http_a, world.http_b):
            archives.append(other.get(f"/api/jobs/{started.json()['id']}/file/", headers={"Accept": "*/*"}))
    assert {answer.status_code for answer in archives} == {200}
    assert len({answer.content for answer in archives}) == 1
    assert archives[0].headers["Content-Disposition"].startswith("attachment")
    with zipfile.ZipFile(BytesIO(archives[0].content)) as archive:
        assert archive.namelist()
    ranged = world.http_a.get(archives[-1].url.path, headers={"Range": "bytes=2-5", "Accept": "*/*"})
    assert (ranged.status_code, ranged.content) == (206, archives[0].content[2:6])


def _ended(world: World, started: httpx2.Response) -> dict:
    """The job that was started, when it is over."""
    assert started.status_code == 202, started.text
    path, found = f"/api/jobs/{started.json()['id']}/", {}

    def over() -> bool:
        found.update(world.http_a.get(path).json())
        return found["state"] not in ("queued", "running")

    wait(over, 120, f"end of {path}\n{world.a.tail()}\n{world.b.tail()}")
    return found


def a_model_is_trained_where_its_base_lies(world: World) -> None:
    """Started on host A, which has not the base; done by host B, and not taken for dead by A meanwhile."""
    tiny_cross_encoder(world.b.var / "models" / "tiny-base", TEXTS, layers=1, width=32)
    wait(lambda: "tiny-base" in _held(world), 60, "word of the new weights")
    reap = (
        "from annotations.models import Job; Job.objects.reap(); print(*Job.objects.values_list('attempt', flat=True))"
    )
    begun = world.a.start(
        "training",
        "manage.py",
        "train_ranker",
        "sample",
        "--kind",
        "cross_encoder",
        "--base",
        "tiny-base",
        "--name",
        "ranker",
        "--epochs",
        "2",
        "--set",
        "mixed_precision=no",
        "--json",
    )
    while begun.poll() is None:
        assert set(world.a.manage("shell", "-c", reap).splitlines()[-1].split()) <= {"0", "1"}
    assert begun.returncode == 0, world.a.tail()
    assert not (world.a.var / "models" / "ranker").exists()
    assert (world.b.var / "models" / "ranker" / "config.json").exists()


def _held(world: World) -> str:
    code = "from annotations.models import Worker; print([worker.held for worker in Worker.objects.alive()])"
    return world.a.manage("shell", "-c", code)


def a_study_runs_on_the_host_that_never_saw_the_model_and_is_watched_from_both(world: World) -> None:
    study = world.http_b.post(
        "/api/studies/",
        json={
            "dataset": "sample",
            "recipes": ["deberta"],
            "splits": ["train"],
            "overrides": {"rank.model": "ranker"},
        },
    )
    assert study.status_code in (201, 202), study.text
    run = world.http_b.get(f"/api/runs/?study={study.json()['id']}").json()["results"][0]
    assert _watched(world, run["id"]) == ["done", "done"], world.a.tail()
    trajectory = world.http_a.get(f"/api/trajectories/?run={run['id']}").json()["results"][0]["id"]
    shown = [client.get(f"/api/trajectories/{trajectory}/steps/") for client in (world.http_a, world.http_b)]
    assert len(shown[0].json()["steps"]) == 6
    assert shown[0].json() == shown[1].json()
    fetched = [path for path in (world.a.var / "scratch" / "models").iterdir() if not path.name.startswith(".")]
    assert [(path / "config.json").exists() for path in fetched] == [True]


def _watched(world: World, run: int) -> list[str]:
    """The state of a run as sockets of both hosts tell it, while host A, which begins when both listen, works on it."""
    page = world.http_b.get("/login/", headers={"Authorization": ""})
    form = {"username": "ada", "password": PASSWORD, "csrfmiddlewaretoken": world.http_b.cookies["csrftoken"]}
    world.http_b.post("/login/", data=form, headers={"Referer": str(page.url), "Authorization": ""})
    cookie = f"sessionid={world.http_b.cookies['sessionid']}"
    listening = asyncio.Barrier(2)

    async def follow(host: Host) -> str:
        origin, headers = host.environment["APP_ORIGIN"], {"Cookie": cookie}
        address = f"{origin.replace('http', 'ws', 1)}/ws/runs/{run}/"
        async with websockets.connect(address, origin=origin, additional_headers=headers) as line, asyncio.timeout(120):
            if await listening.wait() == 0:
                world.a.work()
            async for text in line:
                if (state := json.loads(text)["state"]) not in ("queued", "running"):
                    return state
        return "the line was cut"

    async def both() -> list[str]:
        return await asyncio.gather(follow(world.a), follow(world.b))

    return asyncio.run(both())
