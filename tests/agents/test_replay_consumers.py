"""The live view's sockets, through the whole ASGI application and the real channel layer."""

import asyncio
import json
import random
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError
from django.test import Client

from agents.runs import consumers
from agents.runs.events import Nudge, run_group, trajectory_group
from annotations.access import rules
from annotations.access.leaving import remove_member
from annotations.models import Membership
from tests.factories import make_project, make_run, make_trajectory, make_user

# Committed rows: channels closes the connection of a test's transaction.
pytestmark = pytest.mark.django_db(transaction=True)


def member_of(trajectory, role="reader"):
    return make_user(role, trajectory.run.dataset.project)


class Socket(ApplicationCommunicator):
    """A WebSocket client of the application (channels' own communicator would need daphne)."""

    async def opens(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(timeout=3))["type"] == "websocket.accept"

    async def says(self, content: dict) -> None:
        await self.send_input({"type": "websocket.receive", "text": json.dumps(content)})

    async def hears(self) -> dict:
        message = await self.receive_output(timeout=3)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def closes_with(self) -> int:
        message = await self.receive_output(timeout=3)
        assert message["type"] == "websocket.close", message
        return message["code"]

    async def leaves(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=3)


def socket(path: str, user=None, origin: str = "http://localhost", host: str = "localhost") -> Socket:
    from webnav_site.asgi import application  # not before: it asks the database which SECRET_KEY is shared

    client = Client()
    if user is not None:
        client.force_login(user)
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    headers = [(b"origin", origin.encode()), (b"host", host.encode())]
    if cookie:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie.value}".encode()))
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
    return Socket(application, scope)


async def nudge(group: str, seq: int, state: str = "running") -> None:
    await get_channel_layer().group_send(group, Nudge(type="nudge", seq=seq, state=state))


def refused(path: str, user=None, **options) -> bool:
    async def scenario() -> bool:
        opened = await sync_to_async(socket)(path, user, **options)
        opens = await opened.opens()
        opened.stop(exceptions=False)
        return not opens

    return async_to_sync(scenario)()


def watching(path: str, user, then: Callable) -> object:
    """Open a socket, run `then(socket)` and close it again."""

    async def scenario() -> object:
        opened = await sync_to_async(socket)(path, user)
        assert await opened.opens()
        try:
            return await then(opened)
        finally:
            await opened.leaves()

    return async_to_sync(scenario)()


@pytest.mark.slow
def test_a_nudge_reaches_a_member_and_says_only_that_there_is_news():
    trajectory = make_trajectory()

    async def then(opened):
        await nudge(trajectory_group(trajectory.pk), 7)
        return await opened.hears()

    path = f"/ws/trajectories/{trajectory.pk}/"
    assert watching(path, member_of(trajectory), then) == {"seq": 7, "state": "running"}


def test_a_run_is_followed_the_same_way():
    run = make_run()

    async def then(opened):
        await nudge(run_group(run.pk), 3, "done")
        return await opened.hears()

    user = make_user("annotator", run.dataset.project)
    assert watching(f"/ws/runs/{run.pk}/", user, then) == {"seq": 3, "state": "done"}


def test_nudges_of_other_trajectories_do_not_arrive():
    mine, other = make_trajectory(), make_trajectory()

    async def then(opened):
        await nudge(trajectory_group(other.pk), 1)
        return await opened.receive_nothing(timeout=0.3)

    assert watching(f"/ws/trajectories/{mine.pk}/", member_of(mine), then)


def test_somebody_who_is_not_signed_in_is_refused():
    assert refused(f"/ws/trajectories/{make_trajectory().pk}/")


def test_a_trajectory_of_a_foreign_project_does_not_exist():
    stranger = make_user("admin", make_project())
    assert refused(f"/ws/trajectories/{make_trajectory().pk}/", stranger)


def test_a_run_of_a_foreign_project_does_not_exist():
    assert refused(f"/ws/runs/{make_run().pk}/", make_user("admin", make_project()))


def test_a_trajectory_that_does_not_exist_is_refused():
    trajectory = make_trajectory()
    assert refused(f"/ws/trajectories/{trajectory.pk + 1000}/", member_of(trajectory))


FOREIGN = (
    "https://attacker.example",
    "null",
    "",
    "http://localhost:1",
    "http://localhost.attacker.example",
    "http://[",
)


@pytest.mark.parametrize("origin", FOREIGN)  # "null": a sandboxed recorded page; with a port: another program here
def test_another_sites_page_is_refused_though_the_browser_sends_the_cookie(origin):
    trajectory = make_trajectory()
    user = member_of(trajectory)
    assert refused(f"/ws/trajectories/{trajectory.pk}/", user, origin=origin)
    assert not refused(f"/ws/trajectories/{trajectory.pk}/", user)


@pytest.mark.parametrize(
    ("host", "origin", "lets_in"),
    [
        ("localhost:8000", "http://localhost:8000", True),
        ("LOCALHOST:8000", "http://localhost:8000", True),
        ("localhost", settings.APP_ORIGIN, True),  # of a proxy that leaves the port out
        ("attacker.example", "http://attacker.example", False),  # a name that leads to us: DNS rebinding
        (urlsplit(settings.SNAPSHOT_ORIGIN).netloc, settings.SNAPSHOT_ORIGIN, False),  # recorded pages
        (urlsplit(settings.SNAPSHOT_ORIGIN).netloc, settings.APP_ORIGIN, False),
        ("", "", False),
    ],
)
def test_sockets_are_opened_by_pages_of_the_host_that_is_asked(host, origin, lets_in):
    trajectory = make_trajectory()
    path, user = f"/ws/trajectories/{trajectory.pk}/", member_of(trajectory)
    assert refused(path, user, origin=origin, host=host) != lets_in


def test_a_client_that_says_something_is_closed():
    trajectory = make_trajectory()

    async def then(opened):
        await opened.says({"type": "nudge", "seq": 99, "state": "done"})
        return await opened.closes_with()

    assert watching(f"/ws/trajectories/{trajectory.pk}/", member_of(trajectory), then) == consumers.READ_ONLY


def leave_project(user):
    Membership.objects.filter(user=user).delete()


def close_account(user):
    type(user).objects.filter(pk=user.pk).update(is_active=False)


def sign_out_everywhere(user):
    from django.contrib.sessions.models import Session

    Session.objects.all().delete()


@pytest.mark.parametrize("lose", [leave_project, close_account, sign_out_everywhere])
def test_losing_the_permission_closes_the_open_socket(lose, monkeypatch):
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    trajectory = make_trajectory()
    user = member_of(trajectory)

    async def then(opened):
        assert await opened.receive_nothing(timeout=0.2)  # checked several times and still open
        await sync_to_async(lose)(user)
        return await opened.closes_with()

    assert watching(f"/ws/trajectories/{trajectory.pk}/", user, then) == consumers.PERMISSION_LOST


def leave_by_the_page(user):
    remove_member(Membership.objects.get(user=user))


def close_by_the_admin(user):
    user.is_active = False
    user.save()


@pytest.mark.parametrize("lose", [leave_by_the_page, close_by_the_admin])
def test_whoever_is_removed_loses_the_open_socket_at_once(lose):
    """Without waiting for the next look, a minute later."""
    trajectory = make_trajectory()
    user = member_of(trajectory)

    async def then(opened):
        await sync_to_async(lose)(user)
        return await opened.closes_with()

    assert watching(f"/ws/trajectories/{trajectory.pk}/", user, then) == consumers.PERMISSION_LOST


def test_an_administrator_without_the_wanted_second_factor_opens_no_socket(settings):
    settings.REQUIRE_MFA_FOR_ADMINS = True
    trajectory = make_trajectory()
    admin = make_user("admin", trajectory.run.dataset.project)
    assert refused(f"/ws/trajectories/{trajectory.pk}/", admin)
    assert not refused(f"/ws/trajectories/{trajectory.pk}/", member_of(trajectory))


def test_a_permission_that_cannot_be_checked_closes_the_socket(monkeypatch):
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    trajectory = make_trajectory()
    user = member_of(trajectory)

    def broken(*_):
        raise DatabaseError("the server went away")

    async def then(opened):
        monkeypatch.setattr(rules, "visible", broken)
        return await opened.closes_with()

    assert watching(f"/ws/trajectories/{trajectory.pk}/", user, then) == consumers.TRY_AGAIN


@pytest.mark.slow
def test_lost_repeated_and_reordered_nudges_leave_the_relay_as_it_is():
    """The relay keeps no state: what arrives is what was sent, in whatever order; the rows are the truth."""
    trajectory = make_trajectory()
    chance = random.Random(4)
    sent = [seq for seq in range(60) if chance.random() > 0.3]
    sent += chance.sample(sent, 10)
    chance.shuffle(sent)

    async def then(opened):
        for seq in sent:
            await nudge(trajectory_group(trajectory.pk), seq)
        return [(await opened.hears())["seq"] for _ in sent]

    path = f"/ws/trajectories/{trajectory.pk}/"
    assert sorted(watching(path, member_of(trajectory), then)) == sorted(sent)


def test_leaving_takes_the_viewer_out_of_the_group():
    trajectory = make_trajectory()
    user, group = member_of(trajectory), trajectory_group(trajectory.pk)

    async def members() -> int:
        layer = get_channel_layer()
        return await layer.connection(layer.consistent_hash(group)).zcard(layer._group_key(group))

    async def scenario() -> tuple[int, int]:
        opened = await sync_to_async(socket)(f"/ws/trajectories/{trajectory.pk}/", user)
        await opened.opens()
        inside = await members()
        await opened.leaves()
        await asyncio.sleep(0)
        return inside, await members()

    assert async_to_sync(scenario)() == (1, 0)
