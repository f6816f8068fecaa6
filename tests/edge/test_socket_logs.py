"""What the log says of WebSockets: nothing of refusals and of clients that leave, which are no failures of ours."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client

from tests import factories
from tests.app_server import AppServer, running_as_make_run_does
from tests.edge.clients import ask
from tests.edge.test_slow_clients import handshake

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("sockets")
    with running_as_make_run_does(folder / "log", WEBNAV_VAR=str(folder)) as (server, _):
        yield server


def errors_in(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if json.loads(line)["level"] not in ("info", "warning")]


def test_an_unknown_path_is_refused_without_a_word(server: AppServer) -> None:
    for path in ("/ws/nothing/", "/ws/runs/x/"):
        assert asyncio.run(ask(server.port, handshake(path))) == (404, b"There is no WebSocket here.\n")
    assert errors_in(server.log) == []


def wait_until(sql: str, wanted: bool) -> None:
    deadline = time.monotonic() + 20
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(f"SELECT EXISTS (SELECT FROM {sql})")
            if cursor.fetchone() == (wanted,):
                return
            time.sleep(0.02)
    pytest.fail(f"waited in vain for {sql}")


def test_a_client_that_leaves_before_it_is_answered_is_no_error(server: AppServer) -> None:
    client, run = Client(), factories.make_run()
    client.force_login(factories.make_user("admin", run.dataset.project))
    cookie = f"Cookie: {settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}\r\n"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(handshake(f"/ws/runs/{run.pk}/")[:-2] + f"{cookie}\r\n".encode())
            wait_until(
                "pg_locks JOIN pg_database db ON db.oid = database WHERE datname = current_database() AND NOT granted",
                True,
            )
    wait_until(
        "pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()", False
    )
    time.sleep(0.3)  # it has found who asks, and answers
    assert errors_in(server.log) == []


@pytest.mark.slow
def test_a_text_that_is_none_ends_its_socket_and_is_no_error(server: AppServer) -> None:
    client, run = Client(), factories.make_run()
    client.force_login(factories.make_user("admin", run.dataset.project))
    cookie = f"Cookie: {settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        line.sendall(handshake(f"/ws/runs/{run.pk}/")[:-2] + f"{cookie}\r\n".encode())
        heard = line.recv(4096)
        assert b" 101 " in heard
        line.sendall(b"\x81\x82\0\0\0\0\xff\xfe")  # a text frame of two bytes, masked with nothing
        while data := line.recv(4096):
            heard += data
    assert heard.endswith(b"\x88\x02" + (1007).to_bytes(2, "big"))
    assert errors_in(server.log) == []
