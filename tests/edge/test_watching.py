"""What watches the app is answered whatever strangers ask beside it."""

import asyncio
from pathlib import Path
from threading import Event

from webnav_site.edge.clients import Clients
from webnav_site.edge.door import Door
from webnav_site.edge.limits import EdgeLimits


def test_strangers_who_invent_hosts_share_one_check(tmp_path: Path, settings) -> None:
    """Each host had a whole check of its own on one of two threads, so that a hundred strangers made it late."""
    settings.ALLOWED_HOSTS = ["app.example", ".sub.example"]
    seen, go_on = [], Event()

    def wsgi(environ, start_response):
        go_on.wait(5)
        seen.append(environ["HTTP_HOST"])
        start_response("200 OK", [])
        return [b""]

    door = Door(wsgi, EdgeLimits(), tmp_path, Clients())
    hosts = [
        "app.example",
        *(f"app.example:{port}" for port in range(1, 40)),
        *(f"n{n}.sub.example" for n in range(40)),
    ]
    hosts += [f"evil{n}.example" for n in range(40)]

    async def ask(host: str) -> int:
        said = []

        async def send(message) -> None:
            said.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/healthz",
            "raw_path": b"/healthz",
            "query_string": b"",
            "headers": [(b"host", host.encode())],
            "client": ("10.0.0.1", 1),
            "server": ("h", 80),
            "scheme": "http",
            "root_path": "",
            "http_version": "1.1",
        }
        await door(scope, asyncio.Queue().get, send)
        return said[0]["status"]

    async def scene() -> list[int]:
        asked = [asyncio.ensure_future(ask(host)) for host in hosts]
        await asyncio.sleep(0.1)
        go_on.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(scene()) == [200] * len(hosts)
    assert sorted(seen) == ["app.example", "evil0.example", "n0.sub.example"]  # ours, what we answer to, and others
