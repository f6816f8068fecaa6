"""Clients that are slow or silent cost connections, not threads: the app as `make run` starts it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client

from annotations.models import Job
from tests import factories
from tests.app_server import AppServer, running_as_make_run_does
from tests.edge.clients import Line, ask, connect, head, many
from webnav_site.edge.clients import Clients
from webnav_site.edge.limits import EdgeLimits
from webnav_site.edge.sockets import Sockets

pytestmark = pytest.mark.django_db(transaction=True)
LOGIN = head("GET", "/login/", Connection="close")
THREADS = 8 + 2 + 2 + 2 + 1 + 1 + 4  # of one process: pages, uploads, streams, health, metrics, accounts, disk
METRICS_TOKEN = "a-token-for-prometheus"
FILE_BYTES = 24 * 1024**2  # more than the machine keeps between a server and a client that does not read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("web")


@pytest.fixture(scope="module")
def running(django_db_setup: None, folder: Path) -> Iterator[tuple[AppServer, int]]:
    """With short deadlines, so that the tests need not wait for them."""
    wanted = {"header": 2, "first_byte": 2, "body": 4, "fetch": 2}
    environment = {f"WEB_{name.upper()}_SECONDS": str(seconds) for name, seconds in wanted.items()}
    values = environment | {"WEBNAV_VAR": str(folder), "WEB_CLIENT_BODIES": "20", "WEB_CLIENT_CONNECTIONS": "60"}
    values["METRICS_TOKEN"] = METRICS_TOKEN
    with running_as_make_run_does(folder / "log", **values) as both:
        yield both


@pytest.fixture
def port(running: tuple[AppServer, int]) -> int:
    return running[0].port


@pytest.fixture
def cookie() -> Callable[..., str]:
    """`cookie("admin", project)`: the session of a new user with that role."""

    def sign_in(*role) -> str:
        client = Client()
        client.force_login(factories.make_user(*role))
        return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"

    return sign_in


def half_a_body(port: int, **headers: str) -> Callable[[int], Line]:
    async def one(number: int) -> Line:
        line = await connect(port, f"127.0.2.{1 + number % 8}")
        await line.say(head("POST", "/login/", 1000, **headers) + b"us")
        return line

    return one


async def answers_quickly(port: int, *paths: str) -> list[int]:
    asked = (ask(port, head("GET", path, Connection="close"), seconds=10) for path in paths)
    return [status for status, _ in await asyncio.gather(*asked)]


@pytest.mark.slow
def test_bodies_that_never_come_hold_no_thread(port: int) -> None:
    async def scene() -> None:
        lines = await many(80, half_a_body(port))
        assert await answers_quickly(port, "/login/", "/healthz", "/login/") == [200, 200, 200]
        answers = await asyncio.gather(*(line.hear() for line in lines))
        assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers)

    asyncio.run(scene())


def test_headers_that_never_come_are_not_waited_for(port: int) -> None:
    async def two_bytes(number: int) -> Line:
        line = await connect(port, f"127.0.3.{1 + number % 8}")
        await line.say(b"GE")
        return line

    async def scene() -> None:
        lines = await many(80, two_bytes)
        silent = await connect(port)
        assert await answers_quickly(port, "/login/", "/healthz") == [200, 200]
        answers = await asyncio.gather(*(line.hear() for line in lines))
        assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers)
        assert await silent.hear() == b""  # a browser opens such connections in advance: no answer to no question

    asyncio.run(scene())


def test_a_second_request_has_the_same_deadline_as_the_first(port: int) -> None:
    async def scene() -> bytes:
        line = await connect(port)
        await line.say(head("GET", "/healthz") + b"GET /heal")
        return await line.hear()

    answers = asyncio.run(scene())
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answers


def test_endless_headers_are_refused(port: int) -> None:
    async def scene() -> bytes:
        line = await connect(port)
        await line.say(b"GET /login/ HTTP/1.1\r\n")
        for number in range(400):
            await line.say(f"X-{number}: {'a' * 1000}\r\n".encode())
            if number % 20 == 0:
                await asyncio.sleep(0.01)
        return await line.hear()

    try:
        heard = asyncio.run(scene())
    except ConnectionError:
        return
    assert heard.startswith(b"HTTP/1.1 431 ") or heard == b""


@pytest.fixture
def download(folder: Path) -> Iterator[str]:
    """The path of a finished export with a large file, and the cookie of somebody who may fetch it."""
    (folder / "files").mkdir(exist_ok=True)
    file = folder / "files" / "export.zip"
    with file.open("wb") as out:
        out.truncate(FILE_BYTES)
    yield f"/jobs/{factories.make_job(state=Job.State.DONE, file=file.name).pk}/file/"
    file.unlink()


async def slow_fetch(port: int, path: str, cookie: str, source: str = "127.0.0.1") -> Line:
    """A client that asks for a file and does not read it."""
    line = await connect(port, source, buffer=8192)
    await line.say(head("GET", path, Cookie=cookie))
    return line


@pytest.mark.slow
def test_downloads_that_nobody_reads_hold_no_thread_and_end(
    running: tuple[AppServer, int], download: str, cookie: Callable
) -> None:
    port, whose = running[0].port, cookie("admin", Job.objects.get().project)

    async def scene() -> None:
        lines = await many(40, lambda number: slow_fetch(port, download, whose, f"127.0.4.{1 + number % 8}"))
        await asyncio.sleep(0.5)
        assert await answers_quickly(port, "/login/", "/healthz", "/login/") == [200, 200, 200]
        await asyncio.to_thread(facts_when_it_rests, *running)  # the server has hung up
        for heard in await asyncio.gather(*(line.hear() for line in lines)):
            assert heard[:13] in (b"HTTP/1.1 200 ", b"")  # a reset may take along what had come
            assert len(heard) < FILE_BYTES

    asyncio.run(scene())


@pytest.mark.slow
def test_a_slow_reader_gets_the_whole_file(port: int, download: str, cookie: Callable) -> None:
    whose = cookie("admin", Job.objects.get().project)

    async def scene() -> bytes:
        line = await connect(port, buffer=65536)
        await line.say(head("GET", download, Cookie=whose, Connection="close"))
        await asyncio.sleep(1)  # within WEB_FETCH_SECONDS
        return await line.hear()

    heard = asyncio.run(scene())
    assert len(heard.partition(b"\r\n\r\n")[2]) == FILE_BYTES


def test_only_who_may_upload_sends_gigabytes(port: int, cookie: Callable) -> None:
    """Refused at once, before anything of it is received."""
    project = factories.make_project()
    admin, reader = cookie("admin", project), cookie("reader", project)

    def posted(path: str, length: int, whose: str = "") -> bytes:
        cookies = {"Cookie": whose} if whose else {}
        return head("POST", path, length, Connection="close", Expect="100-continue", **cookies)

    async def scene() -> list[int]:
        requests = [
            posted("/login/", 70_000),
            posted("/datasets/import/", 70_000),
            posted("/datasets/import/", 1024**3, "sessionid=nonsense"),
            posted("/datasets/import/", 1024**3, reader),
            posted("/jobs/", 1024**3, admin),
            posted("/datasets/import/", 1024**4, admin),
        ]
        return [(await ask(port, request))[0] for request in requests]

    assert asyncio.run(scene()) == [413] * 6

    async def welcome() -> bytes:
        line = await connect(port)
        await line.say(posted("/datasets/import/", 1024**3, admin))
        return await line.reader.readline()

    assert asyncio.run(welcome()) == b"HTTP/1.1 100 Continue\r\n"


def test_a_refused_client_that_goes_on_sending_still_hears_why(port: int) -> None:
    body = b"x" * 3_000_000
    status, said = asyncio.run(ask(port, head("POST", "/api/auth/login/", len(body)) + body))
    assert (status, said) == (
        413,
        b'{"detail": "The body has 3,000,000 bytes; at most 65,536 are taken here from you."}',
    )


@pytest.mark.slow
def test_one_client_has_only_so_much_open(port: int) -> None:
    """Two processes share the connections, so that up to twice as many are taken."""

    async def scene() -> None:
        held = [await half_a_body(port)(0) for _ in range(41)]  # WEB_CLIENT_BODIES is 20
        answers = await asyncio.gather(*(line.hear() for line in held))
        assert {answer[:13] for answer in answers} == {b"HTTP/1.1 408 ", b"HTTP/1.1 429 "}
        silent = [await connect(port, "127.0.5.1") for _ in range(121)]  # WEB_CLIENT_CONNECTIONS is 60
        assert (await ask(port, LOGIN, "127.0.5.2"))[0] == 200
        assert b"HTTP/1.1 429 " in {answer[:13] for answer in await asyncio.gather(*(line.hear() for line in silent))}
        assert (await ask(port, LOGIN, "127.0.5.1"))[0] == 200  # as soon as they are gone

    asyncio.run(scene())


def handshake(path: str, method: str = "GET", length: int | None = None, **more: str) -> bytes:
    return head(
        method,
        path,
        length,
        Origin="http://localhost",
        Upgrade="websocket",
        Connection="Upgrade",
        **{"Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Sec-WebSocket-Version": "13"},
        **more,
    )


@pytest.mark.parametrize("path", ["/login/", "/api/me/", "/healthz", "/nothing/"])
def test_an_address_with_too_many_fields_is_refused_everywhere(port: int, path: str) -> None:
    asked = head("GET", f"{path}?" + "a=b&" * 2000, Connection="close")
    status, said = asyncio.run(ask(port, asked))
    assert (status, b"more than 1,000 fields" in said) == (400, True)
    assert asyncio.run(ask(port, head("GET", f"{path}?" + "a=b&" * 900, Connection="close")))[0] in (200, 401, 404)


UNFIT = {
    "a body": handshake("/ws/runs/1/", length=1) + b"x",
    "a body in pieces": handshake("/ws/runs/1/", **{"Transfer-Encoding": "chunked"}) + b"1\r\nx\r\n",
    "another method": handshake("/ws/runs/1/", "POST"),
    "many headers": handshake("/ws/runs/1/", **{f"X-{number}": "1" for number in range(200)}),
    "a long line": handshake("/ws/runs/1/", Cookie="a" * 9_000),
}


@pytest.mark.parametrize("said", UNFIT.values(), ids=list(UNFIT))
def test_a_handshake_that_the_library_drops_is_refused_and_its_connection_is_closed(port: int, said: bytes) -> None:
    begun = time.monotonic()
    assert asyncio.run(ask(port, said))[0] in (400, 405)
    assert time.monotonic() - begun < 10


@pytest.mark.slow
def test_sockets_are_connections_of_their_client(port: int, cookie: Callable) -> None:
    """Two processes share them, so that up to twice as many are taken. WEB_CLIENT_CONNECTIONS is 60."""
    project = factories.make_project()
    run = factories.make_run(factories.make_dataset(project))
    opening = handshake(f"/ws/runs/{run.pk}/", Cookie=cookie("admin", project))

    async def opened(lines: list[Line]) -> bytes:
        lines.append(line := await connect(port, "127.0.10.1"))
        await line.say(opening)
        try:
            return (await line.reader.read(60))[:13]
        except ConnectionError:  # refused before it had said anything
            return b"HTTP/1.1 429 "

    async def scene() -> None:
        lines: list[Line] = []
        assert {await opened(lines) for _ in range(121)} == {b"HTTP/1.1 101 ", b"HTTP/1.1 429 "}
        assert (await ask(port, LOGIN, "127.0.10.2"))[0] == 200
        for line in lines:
            line.close()
        await asyncio.sleep(1)
        assert (await ask(port, LOGIN, "127.0.10.1"))[0] == 200

    asyncio.run(scene())


@pytest.mark.slow
def test_what_watches_the_app_is_answered_while_pages_take_every_thread(port: int, cookie: Callable) -> None:
    """Forty pages wait for a table that is locked: more than both processes have threads."""
    whose = cookie("admin", factories.make_project())

    async def page(number: int) -> Line:
        line = await connect(port, f"127.0.8.{1 + number % 8}")
        await line.say(head("GET", "/datasets/", Cookie=whose, Connection="close"))
        return line

    async def metrics(**headers: str) -> tuple[int, bytes]:
        return await ask(port, head("GET", "/metrics", Connection="close", **headers), seconds=10)

    async def scene() -> list[tuple[int, bytes]]:
        lines = await many(40, page)
        await asyncio.sleep(0.5)
        asked = [
            metrics(Authorization=f"Bearer {METRICS_TOKEN}"),
            metrics(),
            *(metrics(Cookie=whose) for _ in range(4)),
        ]
        found = await asyncio.gather(*asked, ask(port, head("GET", "/healthz", Connection="close"), seconds=10))
        for line in lines:
            line.close()
        return found

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        with_token, *without, health = asyncio.run(scene())
    assert with_token[0] == 200
    assert b"webnav_database_connections" in with_token[1]
    assert health[0] in (200, 503)  # its threads answer, whatever they found
    assert {status for status, _ in without} <= {404, 503}
    assert not any(b"webnav_database_connections" in body for _, body in without)


@pytest.mark.slow
def test_who_asks_for_much_keeps_nobody_else_waiting(port: int, cookie: Callable) -> None:
    """Sixty pages of one client wait for a table that is locked."""
    whose = cookie("reader", factories.make_project())

    async def page(number: int) -> Line:
        line = await connect(port, "127.0.11.1")
        await line.say(head("GET", "/datasets/", Cookie=whose, Connection="close"))
        return line

    async def scene() -> tuple[list[int], list[bytes]]:
        lines = [await page(number) for number in range(50)]
        await asyncio.sleep(0.5)
        of_others = [(await ask(port, LOGIN, f"127.0.11.{number}", 10))[0] for number in range(2, 8)]
        cursor.execute("COMMIT")
        return of_others, await asyncio.gather(*(line.hear(60) for line in lines))

    with connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        of_others, own = asyncio.run(scene())
    assert of_others == [200] * 6
    assert {answer[:13] for answer in own} == {b"HTTP/1.1 200 "}


@pytest.mark.parametrize("path", ["/ws/nothing/", "/", "/ws/runs/x/"])
def test_a_socket_where_there_is_none_is_answered_404_without_a_traceback(
    running: tuple[AppServer, int], path: str
) -> None:
    status, said = asyncio.run(ask(running[0].port, handshake(path)))
    assert (status, said) == (404, b"There is no WebSocket here.\n")
    assert "Traceback" not in running[0].log.read_text()


def test_a_client_has_only_so_many_sockets() -> None:
    async def scene() -> list[int]:
        clients = Clients()
        sent: list[dict] = []

        async def waits(scope: dict, receive: Callable, send: Callable) -> None:
            await receive()

        never, at_once = asyncio.Event(), asyncio.Event()
        at_once.set()

        async def receive(event: asyncio.Event = never) -> dict:
            await event.wait()
            return {"type": "websocket.connect"}

        async def send(message: dict) -> None:
            sent.append(message)

        sockets = Sockets(waits, EdgeLimits(client_sockets=2), clients)
        scope = {"client": ("192.0.2.1", 1), "headers": []}
        tasks = [asyncio.ensure_future(sockets(scope, receive, send)) for _ in range(2)]
        await asyncio.sleep(0)
        await sockets(scope, partial(receive, at_once), send)
        assert clients.held("192.0.2.1", "sockets") == 2
        never.set()
        await asyncio.gather(*tasks)
        assert clients.held("192.0.2.1", "sockets") == 0
        return [message.get("code") for message in sent]

    assert asyncio.run(scene()) == [4429]


@pytest.mark.slow
def test_nothing_is_left_of_slow_clients(
    running: tuple[AppServer, int], folder: Path, cookie: Callable, download: str
) -> None:
    port, whose = running[0].port, cookie("admin", Job.objects.get().project)
    held: list[Facts] = []

    async def slow_upload(number: int) -> Line:
        line = await connect(port, f"127.0.6.{1 + number % 8}")
        await line.say(head("POST", "/datasets/import/", 5_000_000, Cookie=whose) + b"x" * 2_000_000)
        return line

    async def scene() -> None:
        await many(30, half_a_body(port))
        await many(30, lambda number: slow_fetch(port, download, whose, f"127.0.7.{1 + number % 8}"))
        lines = await many(20, slow_upload)
        await asyncio.sleep(0.5)
        for line in lines:
            line.close()

    for _ in range(3):
        asyncio.run(scene())  # the other connections end with the loop
        asyncio.run(answers_quickly(port, *["/login/"] * 40))  # every thread has been needed once
        held.append(facts_when_it_rests(*running))
    first, *_, last = held
    assert last.threads <= 2 * (THREADS + 6)  # made when they are first needed; the server has some of its own
    assert last.bytes < first.bytes * 1.15
    assert list((folder / "uploads").iterdir()) == []


@dataclass
class Facts:
    """What the server's processes hold."""

    threads: int
    bytes: int
    clients: int  # connections that are open
    unnamed: int  # files without a name


def open_files(pid: int) -> Iterator[str]:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            yield str(link.readlink())


def facts(server: AppServer, pid: int) -> Facts:
    web = psutil.Process(pid).children()
    assert web
    lines = [line for child in web for line in child.net_connections("tcp") if line.laddr.port == server.port]
    links = [name for child in web for name in open_files(child.pid)]
    return Facts(
        sum(child.num_threads() for child in web),
        sum(child.memory_info().rss for child in web),
        sum(line.status == "ESTABLISHED" for line in lines),
        sum(str(server.log.parent) in name and name.endswith("(deleted)") for name in links),
    )


def facts_when_it_rests(server: AppServer, pid: int) -> Facts:
    """Once nobody is connected and no body is kept; fails when that takes longer than the deadlines."""
    for _ in range(300):
        found = facts(server, pid)
        if found.clients == found.unnamed == 0:
            return found
        time.sleep(0.1)
    pytest.fail(f"still there: {found}")
