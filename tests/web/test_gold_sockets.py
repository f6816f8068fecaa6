"""Non-interference over WebSockets: in two worlds that differ only in the gold of a test split every socket says the
same, byte for byte, to whoever may not see gold, also while a run over that split goes on.

The routes are those of the application's own router. A new one fails here until `KEYS` names what it is opened for.
"""

from collections.abc import Callable
from typing import Any

import channels.db
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.db.models import Model
from django.test import Client

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.memory import encoding
from agents.models import Run, Trajectory
from agents.runs import consumers
from agents.runs.events import Nudge
from annotations.models import Step
from evaluation.studies import running
from tests.web.gold_worlds import ROLES, STRANGERS, GoldWorld, differing, with_strangers
from webnav_site.edge import sockets

KEYS: dict[str, type[Model]] = {"ws/trajectories/<int:pk>/": Trajectory, "ws/runs/<int:pk>/": Run}
QUIET = 0.05  # seconds without a frame: every event has been sent by then
Frames = dict[str, list[dict[str, Any]]]


def addresses() -> list[str]:
    """Every WebSocket that there is to open, and some that there are not."""
    from webnav_site.asgi import socket_router  # not before: it asks the database which SECRET_KEY is shared

    found = ["/ws/", "/ws/jobs/1/"]
    for route in socket_router.routes:
        if route.callback is sockets.not_found:
            continue
        pattern = str(route.pattern)
        assert pattern in KEYS, f"the socket {pattern} is not in `KEYS`: it is not walked"
        keys = [*KEYS[pattern]._default_manager.order_by("pk").values_list("pk", flat=True), 1]
        found += ["/" + pattern.replace("<int:pk>", str(key)) for key in keys]
    return found


class Listener(ApplicationCommunicator):
    """A WebSocket client that keeps everything it is sent."""

    def __init__(self, address: str, cookie: str) -> None:
        from webnav_site.asgi import application

        headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookie.encode())]
        scope = {"type": "websocket", "path": address, "query_string": b"", "headers": headers, "subprotocols": []}
        super().__init__(application, scope | {"client": ("127.0.0.1", 1)})
        self.heard: list[dict[str, Any]] = []

    async def opens(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        self.heard.append(await self.receive_output(timeout=5))

    async def listens(self) -> None:
        while self.heard[-1]["type"] != "websocket.close" and not await self.receive_nothing(timeout=QUIET):
            self.heard.append(await self.receive_output(timeout=1))

    async def says_something(self) -> None:
        """No socket is spoken to: what it answers to that is heard too."""
        if self.heard[-1]["type"] != "websocket.close":
            await self.send_input({"type": "websocket.receive", "text": '{"seq": 0}'})
            self.heard.append(await self.receive_output(timeout=5))
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        self.stop(exceptions=False)


def cookie_of(user: Any) -> str:
    client = Client()
    if user is None:
        return ""
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def listen(world: GoldWorld, *roles: str) -> Frames:
    """Role and address -> every frame, of sockets that are open while an agent works through the hidden split."""
    people = with_strangers(world)
    study = running.create_study(
        user=None,
        dataset=world.dataset,
        recipes=["grounded"],
        splits=["test_task"],
        publish=False,
        overrides={"batch_size": "1"},
    )
    cookies = {role: cookie_of(people[role]) for role in roles}
    opened = {(role, address): Listener(address, cookies[role]) for role in roles for address in addresses()}

    async def scenario() -> None:
        for listener in opened.values():
            await listener.opens()
        await sync_to_async(running.run_inline)(study)
        for listener in opened.values():
            await listener.listens()
            await listener.says_something()

    async_to_sync(scenario)()
    assert study.runs.get().state == Run.State.DONE
    return {f"{role} {address}": listener.heard for (role, address), listener in opened.items()}


@pytest.fixture(autouse=True)
def quick_agent_and_one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent ranks with hashed words: quality is no question here. A world ends with the transaction that holds it,
    hence its connection must stay."""
    monkeypatch.setattr(channels.db, "close_old_connections", lambda: None)
    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)


def heard_by(frames: Frames, role: str, kind: str) -> list[str]:
    return [address for address, heard in frames.items() if address.startswith(role) and heard[0]["type"] == kind]


@pytest.mark.slow
def test_no_socket_tells_the_worlds_apart(in_both_worlds: Callable[..., list[Frames]]) -> None:
    one, other = in_both_worlds(lambda world: listen(world, *ROLES, *STRANGERS))
    assert differing(one, other) == []
    for role in ROLES:
        assert len(heard_by(one, role, "websocket.accept")) == 6  # three runs, and a trajectory of each
    assert max(len(heard) for heard in one.values()) == 7  # accepted, four steps, the run's end, closed
    assert not any(heard_by(one, role, "websocket.accept") for role in STRANGERS)


@pytest.mark.slow
def test_a_socket_that_told_what_was_done_would(
    in_both_worlds: Callable[..., list[Frames]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opposite: the walk hears a leak."""

    async def nudge(self: consumers.NudgeConsumer, event: Nudge) -> None:
        hidden = Step.objects.filter(turn__conversation__split="test_task").order_by("pk")
        step = await sync_to_async(hidden.first)()
        await self.send_json({"seq": event["seq"], "state": event["state"], "value": step.value if step else ""})

    monkeypatch.setattr(consumers.NudgeConsumer, "nudge", nudge)
    found = differing(*in_both_worlds(lambda world: listen(world, "reader")))
    assert len(found) == 2  # the run that goes on, and its trajectory
    assert all("alpha" in line and "bravo" in line for line in found)


@pytest.mark.slow
def test_a_socket_that_told_of_the_gold_by_refusing_would(
    in_both_worlds: Callable[..., list[Frames]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused, and how, is compared as well."""
    may_view = consumers.NudgeConsumer._may_view

    def unless_it_began_with_a_click(self: consumers.NudgeConsumer, user: Any) -> bool:
        first = Step.objects.filter(turn__conversation__split="test_task").order_by("turn__index", "index").first()
        return may_view(self, user) and first is not None and first.operation == "CLICK"

    monkeypatch.setattr(consumers.NudgeConsumer, "_may_view", unless_it_began_with_a_click)
    assert len(differing(*in_both_worlds(lambda world: listen(world, "reader")))) == 6
