"""The real server behind nginx with the configuration of docs/deploy, over TLS: page, files, snapshot host, socket."""

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import websockets
from django.test import Client, RequestFactory
from django.urls import reverse

from annotations.models import Step
from annotations.pages.snapshot_host import snapshot_url
from tests import factories
from tests.app_server import running_as_make_run_does
from tests.beside import NGINX, needs

CONFIGURATION = Path(__file__).resolve().parents[2] / "docs" / "deploy" / "nginx.conf"
APP, PAGES = "app.example.org", "pages.example.net"
missing = [name for name in ("nginx", "openssl") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(missing), reason=needs(NGINX, f"{' and '.join(missing)} not installed")),
]


@dataclass(frozen=True)
class Proxy:
    http: int
    https: int
    certificate: Path

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)

    def get(self, host: str, path: str, **headers: str) -> httpx2.Response:
        return self.ask("GET", host, path, headers)

    def ask(self, method: str, host: str, path: str, headers: dict[str, str], **more: Any) -> httpx2.Response:
        address = f"https://127.0.0.1:{self.https}{path}"
        with httpx2.Client(verify=self.tls, trust_env=False, timeout=30) as client:
            return client.request(method, address, headers={"Host": host, **headers}, **more)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """As somebody would set it up: the names stay, ports and paths are ours."""
    environment = {
        "APP_ORIGIN": f"https://{APP}",
        "SNAPSHOT_ORIGIN": f"https://{PAGES}",
        "BEHIND_PROXY": "true",
        "TRUSTED_PROXIES": "127.0.0.1",
    }
    certificate(tmp_path)
    http, https = free_ports(2)
    with running_as_make_run_does(tmp_path / "web.log", **environment) as (server, _):
        site = CONFIGURATION.read_text().replace("/etc/ssl/webnav", str(tmp_path))
        for old, new in (
            ("127.0.0.1:8000", f"127.0.0.1:{server.port}"),
            ("listen 80;", f"listen 127.0.0.1:{http};"),
            ("listen 443 ssl;", f"listen 127.0.0.1:{https} ssl;"),
        ):
            assert old in site
            site = site.replace(old, new)
        folders = "".join(
            f"{name}_temp_path {tmp_path}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"pid {tmp_path}/pid;\nerror_log {tmp_path}/error.log;\ndaemon off;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{folders}{site}\n}}\n"
        )
        process = subprocess.Popen(["nginx", "-c", str(tmp_path / "nginx.conf")])
        try:
            found = Proxy(http, https, tmp_path / "full-chain.pem")
            wait_for(found, tmp_path)
            yield found
        finally:
            process.terminate()
            process.wait(timeout=10)


def certificate(folder: Path) -> None:
    names = f"subjectAltName=DNS:{APP},DNS:{PAGES},IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={APP}"]
    command += ["-addext", names, "-keyout", str(folder / "key.pem"), "-out", str(folder / "full-chain.pem")]
    subprocess.run(command, check=True, capture_output=True)


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def wait_for(proxy: Proxy, folder: Path) -> None:
    """Until a page comes through: the web processes need some seconds."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if proxy.get(APP, "/login/").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    logs = "".join((folder / name).read_text()[-1500:] for name in ("web.log", "error.log"))
    pytest.fail(f"no page through nginx: {logs}", pytrace=False)


def test_everything_comes_through_the_proxy(proxy: Proxy, settings) -> None:
    plain = httpx2.get(f"http://127.0.0.1:{proxy.http}/login/", headers={"Host": APP}, trust_env=False)
    assert (plain.status_code, plain.headers["location"]) == (301, f"https://{APP}/login/")
    page = proxy.get(APP, "/login/")
    assert "secure" in page.headers["set-cookie"].lower()
    assert "max-age" in page.headers["strict-transport-security"]
    style = re.search(r'/static/[^"]+\.css', page.text)[0]
    assert proxy.get(APP, style).headers["content-type"].startswith("text/css")
    settings.APP_ORIGIN, settings.SNAPSHOT_ORIGIN, settings.ALLOWED_HOSTS = f"https://{APP}", f"https://{PAGES}", [APP]
    recorded_pages_come_from_their_own_host(proxy)
    pages_of_every_role_open_and_a_held_action_is_decided(proxy)
    a_socket_is_opened_by_who_is_signed_in(proxy)


def recorded_pages_come_from_their_own_host(proxy: Proxy) -> None:
    conversation = factories.make_conversation()
    user = factories.make_user("reader", conversation.dataset.project)
    snapshot = Step.objects.filter(turn__conversation=conversation).first().snapshot
    request = RequestFactory().get("/", headers={"host": APP})
    request.user = user
    path = re.sub(r"^https?://[^/]+", "", snapshot_url(request, snapshot).url)
    shown = proxy.get(PAGES, path)
    assert shown.status_code == 200, shown.text[:300]
    assert "sandbox" in shown.headers["content-security-policy"]
    assert "set-cookie" not in shown.headers
    assert proxy.get(PAGES, "/login/").status_code == 404
    assert proxy.get(APP, path).status_code == 404


def pages_of_every_role_open_and_a_held_action_is_decided(proxy: Proxy) -> None:
    run = factories.make_run()
    row = factories.make_held_step(factories.make_trajectory(run), seconds=600)
    client = Client()
    client.force_login(factories.make_superuser())
    headers = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    for name in ("home", "held-steps", "corrections", "review-queues", "operations", "live-goals", "studies"):
        page = proxy.get(APP, reverse(name), **headers)
        assert page.status_code == 200, (name, page.text[:300])
    token = re.search(r"csrftoken=([^;]+)", proxy.get(APP, "/login/").headers["set-cookie"])[1]
    headers["Cookie"] += f"; csrftoken={token}"
    said = {"method": "POST", "host": APP, "path": reverse("held-step-decide", args=[row.pk])}
    told = {"state": "approved", "reason": "The price is right."}
    foreign = proxy.ask(**said, headers={**headers, "X-CSRFToken": token, "Origin": f"https://{PAGES}"}, json=told)
    assert foreign.status_code == 403
    decided = proxy.ask(**said, headers={**headers, "X-CSRFToken": token, "Origin": f"https://{APP}"}, json=told)
    assert (decided.status_code, decided.json()["state"]) == (200, "approved"), decided.text[:300]


def a_socket_is_opened_by_who_is_signed_in(proxy: Proxy) -> None:
    run = factories.make_run()
    client = Client()
    client.force_login(factories.make_user("reader", run.dataset.project))
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    trajectory = factories.make_trajectory(run)

    async def status(path: str = f"/ws/runs/{run.pk}/", **headers: str) -> int:
        """Of the upgrade."""
        address = f"wss://{APP}:{proxy.https}{path}"
        try:
            async with websockets.connect(
                address,
                host="127.0.0.1",
                port=proxy.https,
                ssl=proxy.tls,
                additional_headers=headers,
                origin=f"https://{APP}",
            ) as line:
                return line.response.status_code
        except websockets.InvalidStatus as refused:
            return refused.response.status_code

    assert asyncio.run(status(Cookie=cookie)) == 101
    assert asyncio.run(status(f"/ws/trajectories/{trajectory.pk}/", Cookie=cookie)) == 101
    assert asyncio.run(status()) == 403
