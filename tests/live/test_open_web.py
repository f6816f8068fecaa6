"""Websites of others, here real servers on the loopback: what is not listed is never asked, whatever a page does."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import ProxyHandler, build_opener

import pytest

from agents.environments.open_web.door import WayOut
from agents.environments.open_web.hosts import AllowedHosts, NotListed
from agents.environments.open_web.manners import Manners, through
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import NoSuchTask
from agents.live.showing import ShownGoal
from agents.models import Drive
from agents.types import Action
from annotations.models import Conversation, Membership, Role
from evaluation.studies.running import run_inline
from evaluation.studies.taking_part.showing import show
from tests import factories
from tests.live.test_driven_live import Person
from tests.live.test_environment import node

PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1>{1}"


@dataclass
class Site:
    """A website: path -> (status, body, headers); what it was asked for, and when."""

    server: ThreadingHTTPServer
    pages: dict[str, tuple[int, str, dict[str, str]]] = field(default_factory=dict)
    asked: list[tuple[str, float]] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


def opened() -> Site:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, time.monotonic()))
            status, body, headers = site.pages.get(self.path, (404, "nothing", {}))
            self.send_response(status)
            for name, value in ({"Content-Type": "text/html", "Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *said: object) -> None:
            pass

    site = Site(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
    threading.Thread(target=site.server.serve_forever, daemon=True).start()
    return site


@pytest.fixture
def sites() -> Iterator[tuple[Site, Site]]:
    """One that is listed, and one that is not."""
    both = opened(), opened()
    yield both
    for site in both:
        site.server.shutdown()
        site.server.server_close()


@pytest.fixture
def web(sites, has_chromium, monkeypatch) -> Iterator[EnvironmentProcess]:
    ours, other = sites
    ours.pages |= {
        "/robots.txt": (200, "User-agent: *\nDisallow: /private\n", {}),
        "/": (200, PAGE.format("Home", f'<img src="{other.url("/spy.png")}"><a href="/next">Next</a>'), {}),
        "/next": (200, PAGE.format("Next", '<a href="/away">Away</a><a href="/private/x">Private</a>'), {}),
        "/away": (302, "", {"Location": other.url("/caught")}),
        "/there": (302, "", {"Location": "/next", "Set-Cookie": "seen=1"}),
        "/hidden": (302, "", {"Location": "/private/y"}),
        "/window": (200, PAGE.format("Opens", '<a target="_blank" href="/next">Open</a>'), {}),
    }
    monkeypatch.setenv("OPEN_WEB_HOSTS", ours.host)
    monkeypatch.setenv("OPEN_WEB_SECONDS", "0.1")
    process = EnvironmentProcess("open-web")
    yield process
    process.close()


@pytest.mark.browser
@pytest.mark.slow
def test_a_visit_stays_on_the_list_whatever_a_page_asks_for(web, sites) -> None:
    ours, other = sites
    assert list(web.tasks()) == [ours.url("/")]
    start = web.reset(f"{ours.url('/')} Find  the next page", 0)
    assert (start.instruction, start.site) == ("Find the next page", ("127.0.0.1", "open-web", "open-web"))
    effect = web.step(Action("CLICK", node(start, "[link]  Next")))
    assert effect.view.url == ours.url("/next")
    away = next(one for one, name in effect.view.names.items() if name == "[link]  Away")
    refused = web.step(Action("CLICK", away))
    assert f"refused: {other.host} is not among the hosts of OPEN_WEB_HOSTS" in refused.words
    assert refused.view.url == ours.url("/next")
    assert other.asked == [], "neither the picture nor what the redirect led to was asked for"


@pytest.mark.browser
@pytest.mark.slow
def test_robots_redirects_and_windows_are_minded(web, sites) -> None:
    ours, _ = sites
    start = web.reset(ours.url("/next"), 0)
    private = web.step(Action("CLICK", node(start, "[link]  Private")))
    assert "robots.txt keeps programs from" in private.words
    assert private.view.url == ours.url("/next")
    assert web.step(Action("LOAD", None, ours.url("/there"))).view.url == ours.url("/next")
    hidden = web.step(Action("LOAD", None, ours.url("/hidden")))
    assert "robots.txt" in hidden.words
    assert hidden.view.url == ours.url("/next"), "back where it was"
    assert not [path for path in ours.paths() if path.startswith("/private")]
    opens = web.step(Action("LOAD", None, ours.url("/window")))
    link = next(iter(one for one, name in opens.view.names.items() if name == "[link]  Open"))
    assert web.step(Action("CLICK", link)).view.url == ours.url("/next")
    assert web.step(Action("LOAD", None, "file:///etc/passwd")).words.startswith("not done: file:///etc/passwd is no")
    end = web.step(Action("STOP"))
    assert (end.done, end.reward) == (True, 0.0)
    for task in ("http://example.org/", "nothing", f"http://user:x@{ours.host}/"):
        with pytest.raises(NoSuchTask):
            web.reset(task, 0)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_a_person_shows_there_is_kept_as_a_demonstration(sites, web) -> None:
    web.close()  # the run opens one of its own
    ours, _ = sites
    project = factories.make_project(slug="shown")

    def shows(person: Person) -> None:
        person.drive = Drive.objects.get()
        (link,) = [node for node, name in person.window(1)["names"] if name == "[link]  Next"]
        person.do("CLICK", link)
        assert person.window(2)["url"] == ours.url("/next")
        person.do("STOP")

    person = Person(shows)
    Membership.objects.create(project=project, user=person.user, role=Role.REVIEWER)
    begun = show(person.user, project, ShownGoal("open-web", ours.url("/"), None, "Find the next page"))
    person.thread.start()
    run_inline(begun.trajectory.run.studies.get())
    person.thread.join()
    assert person.error is None, person.error
    shown = Conversation.objects.get(dataset__name="shown-open-web-shown")
    assert shown.extra["source"] == "human demonstration"
    assert shown.turns.get().instruction == "Find the next page"
    (step,) = shown.turns.get().steps.all()
    assert (step.operation, step.action_repr) == ("CLICK", "[link]  Next -> CLICK")


def test_it_is_off_until_hosts_are_named(monkeypatch) -> None:
    monkeypatch.delenv("OPEN_WEB_HOSTS", raising=False)
    with pytest.raises(NoSuchTask, match="the open web is off: OPEN_WEB_HOSTS names no hosts"):
        EnvironmentProcess("open-web")


@pytest.mark.parametrize(
    ("url", "is_listed"),
    [
        ("http://example.org/", True),
        ("https://example.org/a?b", True),
        ("http://EXAMPLE.org./", True),
        ("http://example.org:8080/", False),
        ("http://www.example.org/", False),
        ("http://a.b.sites.org/", True),
        ("http://sites.org/", False),
        ("http://evilsites.org/", False),
        ("http://localhost:8080/", True),
        ("http://localhost/", False),
        ("http://[::1]:81/", True),
        ("ftp://example.org/", False),
        ("http://example.org@evil.org/", False),
        ("http://example.org:99999/", False),
    ],
)
def test_a_list_names_hosts_and_ports(url: str, is_listed: bool) -> None:
    hosts = AllowedHosts(("example.org", "*.sites.org", "localhost:8080", "[::1]:81"))
    if is_listed:
        hosts.check(url)
    else:
        with pytest.raises(NotListed):
            hosts.check(url)


def test_a_name_does_not_lead_into_the_own_network(monkeypatch) -> None:
    hosts = AllowedHosts(("inside.example", "127.0.0.1:81", "outside.example"))
    leads = {"inside.example": "10.0.0.7", "127.0.0.1": "127.0.0.1", "outside.example": "93.184.216.34"}
    found = lambda host, port, **more: [(0, 0, 0, "", (leads[host], port))]  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", found)
    with pytest.raises(NotListed, match=r"inside.example leads to 10.0.0.7, which is no public address"):
        hosts.addresses("inside.example", 80)
    assert hosts.addresses("127.0.0.1", 81) == ["127.0.0.1"]
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert hosts.addresses("outside.example", 443) == ["93.184.216.34"]
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(NotListed, match="as root Chromium has no sandbox"):
        hosts.addresses("outside.example", 443)


def test_the_door_passes_on_what_is_listed_and_nothing_else(sites) -> None:
    ours, other = sites
    ours.pages["/a?b=c"] = (200, "here", {})
    door = WayOut(AllowedHosts((ours.host,)))
    door.start()
    try:
        opener = build_opener(ProxyHandler({"http": door.address}))
        assert opener.open(ours.url("/a?b=c"), timeout=10).read() == b"here"
        with pytest.raises(OSError, match="403"):
            opener.open(other.url("/"), timeout=10)
        with socket.create_connection(door.server_address[:2], 10) as raw:
            raw.sendall(f"CONNECT {other.host} HTTP/1.1\r\n\r\n".encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 403")
        assert len(door.refused) == 2
        assert other.asked == []
    finally:
        door.shutdown()
        door.server_close()


def test_pages_of_a_site_are_asked_for_slowly_and_as_its_robots_say(sites) -> None:
    ours, other = sites
    ours.pages["/robots.txt"] = (200, "User-agent: WebNav\nCrawl-delay: 1\nDisallow: /no\n", {})
    door = WayOut(AllowedHosts((ours.host, other.host)))
    door.start()
    try:
        manners = Manners(through(door.address), pause=0.05)
        assert manners.refusal(ours.url("/yes")) == ""
        assert "keeps programs from" in manners.refusal(ours.url("/no/x"))
        begun = time.monotonic()
        for _ in range(2):
            manners.wait(ours.url("/yes"))
        assert time.monotonic() - begun >= 1
        assert manners.refusal(other.url("/")) == "", "without a file everything is allowed"
        other.pages["/robots.txt"] = (500, "", {})
        assert "keeps programs from" in Manners(through(door.address)).refusal(other.url("/"))
        assert ours.paths() == ["/robots.txt"], "read once"
    finally:
        door.shutdown()
        door.server_close()
