"""Hostile recorded pages in a real browser: nothing is fetched, run, opened, read or left.

The payloads are first shown unprotected, which proves that they would act. Then both ways of serving them are
tried, and each layer on its own: the renderer without any header, and the headers around the page as it is.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.test import RequestFactory
from playwright.sync_api import Page

from annotations.dom.allowed import ALLOWED_ATTRIBUTES, ALLOWED_TAGS
from annotations.dom.render import CONTENT_TYPE, render_page
from annotations.pages.snapshot_host import SnapshotView, snapshot_url
from tests import factories
from tests.app_server import AppServer
from tests.hostile_pages import payloads, random_pages

pytestmark = pytest.mark.browser
PAYLOADS = payloads()
SETTLE_MS = 800
SILENT = {"top navigation"}  # the sandbox of the unprotected frames forbids it, or the test would end there
OPEN_SANDBOX = "allow-scripts allow-same-origin allow-forms allow-modals allow-popups"


@dataclass
class Attacker:
    """A server that writes down what it is asked for, and shows documents without any protection."""

    origin: str
    hits: list[str] = field(default_factory=list)
    documents: dict[str, tuple[dict[str, str], str]] = field(default_factory=dict)

    def show(self, path: str, text: str, **headers: str) -> str:
        """Serve a document below this path; gives its address."""
        self.documents[path] = ({name.replace("_", "-"): value for name, value in headers.items()}, text)
        return self.origin + path

    def hit_numbers(self) -> set[int]:
        names = (path.strip("/").partition("?")[0] for path in self.hits)
        return {int(name) for name in names if name.isdigit()}


@pytest.fixture
def attacker() -> Iterator[Attacker]:
    attacker = Attacker("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers, text = attacker.documents.get(self.path, ({"Content-Type": "text/plain"}, ""))
            if self.path not in attacker.documents and self.path != "/favicon.ico":
                attacker.hits.append(self.path)
            self.send_response(200)
            for name, value in {**headers, "Access-Control-Allow-Origin": "*"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_HEAD = do_GET

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    attacker.origin = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield attacker
    server.shutdown()
    server.server_close()


@pytest.fixture
def tab(browser_context) -> Page:
    """A tab that remembers dialogs and other windows; errors in hostile pages do not matter."""
    page = browser_context.new_page()
    page.surprises = []
    page.on("dialog", lambda dialog: (page.surprises.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: page.surprises.append(popup.url))
    return page


def html_of(attacker: Attacker, app: str = "http://localhost:1") -> list[str]:
    return [payload.page(evil=attacker.origin, app=app) for payload in PAYLOADS]


def embed(tab: Page, urls: list[str], sandbox: str | None) -> None:
    """Put a frame for each address into the open page and wait; given all payloads, click those that need it."""
    tab.evaluate(
        """([urls, sandbox]) => Promise.all(urls.map((url) => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            if (sandbox !== null) frame.setAttribute("sandbox", sandbox);
            frame.style.cssText = "position:relative;z-index:9;width:200px;height:150px;border:0";
            frame.addEventListener("load", resolve, { once: true });
            frame.src = url;
            document.body.prepend(frame);
        })))""",
        [urls, sandbox],
    )
    tab.wait_for_timeout(SETTLE_MS)
    if len(urls) < len(PAYLOADS):
        return
    frames = tab.locator("iframe").all()[::-1]  # each was put in front of the ones before
    for payload in PAYLOADS:
        if payload.clicked:
            frames[payload.number].click(position={"x": 60, "y": 60}, force=True, no_wait_after=True)
    tab.wait_for_timeout(SETTLE_MS)


@pytest.mark.slow
def test_the_payloads_act_when_they_are_shown_unprotected(tab, attacker):
    urls = [
        attacker.show(f"/page/{number}", html, Content_Type="text/html; charset=utf-8")
        for number, html in enumerate(html_of(attacker))
    ]
    tab.goto(attacker.show("/index", "<!doctype html><body>", Content_Type="text/html"))
    embed(tab, urls, OPEN_SANDBOX)
    for _ in range(20):
        silent = {payload.name for payload in PAYLOADS if payload.number not in attacker.hit_numbers()}
        if silent == SILENT:
            break
        tab.wait_for_timeout(500)
    assert silent == SILENT
    assert len(PAYLOADS) >= 40
    assert tab.surprises, "no dialog opened"


def views(app_server: AppServer, pages: list[str], user: object) -> list[SnapshotView]:
    request = RequestFactory().get("/", headers={"host": app_server.app_origin.removeprefix("http://")})
    request.user = user
    return [snapshot_url(request, factories.make_snapshot(html)) for html in pages]


@pytest.fixture(params=["second origin", pytest.param("single host", marks=pytest.mark.slow)])
def hostile(request, app_server, attacker, settings, tab, sign_in) -> list[SnapshotView]:
    """The views of all payloads, signed in to the app, in both ways of serving."""
    if request.param == "single host":
        settings.SNAPSHOT_ORIGIN = ""
    user = factories.make_superuser()
    sign_in(user)
    return views(app_server, html_of(attacker, app_server.app_origin), user)


@pytest.mark.slow
def test_hostile_pages_do_nothing_in_their_frames(hostile, app_server, attacker, tab):
    tab.goto(app_server.url("/admin/"))
    here = tab.url
    urls = [view.url if view.scripted else app_server.url(view.url) for view in hostile]
    embed(tab, urls, hostile[0].sandbox)

    assert attacker.hits == []
    asked = app_server.log.read_text()
    assert "GET /admin/" in asked
    assert "hostile-beacon" not in asked
    assert tab.surprises == []
    assert tab.url == here
    assert len(tab.context.pages) == 1
    frames = [frame for frame in tab.frames if frame != tab.main_frame]
    assert sorted(frame.url for frame in frames) == sorted(urls), "a frame was left, or one was opened inside"


@pytest.mark.slow
@pytest.mark.parametrize("hostile", ["second origin"], indirect=True)
def test_hostile_pages_cannot_read_cookies_or_the_app(hostile, app_server, tab):
    tab.goto(app_server.url("/admin/"))
    embed(tab, [hostile[0].url], hostile[0].sandbox)
    asked = """() => [() => document.cookie, () => parent.document.title, () => localStorage.length].map((read) => {
        try { return read() } catch (error) { return error.name }
    })"""
    assert tab.frames[1].evaluate(asked) == ["SecurityError"] * 3
    assert tab.frames[1].evaluate("() => self.origin") == "null"


def test_hostile_pages_do_nothing_in_a_tab_of_their_own(hostile, app_server, attacker, tab):
    everything = "".join(payload.fragment for payload in PAYLOADS)
    payload = type(PAYLOADS[0])(0, "all", everything, clicked=True)
    user = factories.make_superuser()
    [view] = views(app_server, [payload.page(evil=attacker.origin, app=app_server.app_origin)], user)
    url = view.url if view.scripted else app_server.url(view.url)
    tab.goto(url)
    tab.mouse.click(300, 300)
    tab.wait_for_timeout(SETTLE_MS)
    assert attacker.hits == []
    assert tab.surprises == []
    assert tab.url == url
    assert tab.locator("[data-node-id]").count() > 1


@pytest.mark.slow
def test_the_renderer_alone_stops_every_payload(tab, attacker):
    urls = [
        attacker.show(f"/page/{number}", render_page(html), Content_Type=CONTENT_TYPE)
        for number, html in enumerate(html_of(attacker))
    ]
    tab.goto(attacker.show("/index", "<!doctype html><body>", Content_Type="text/html"))
    embed(tab, urls, None)
    assert attacker.hits == []
    assert tab.surprises == []


@pytest.mark.slow
def test_the_headers_alone_stop_every_payload_that_is_not_clicked(tab, attacker, rf, admin_user, settings):
    settings.SNAPSHOT_ORIGIN = ""
    request = rf.get("/")
    request.user = admin_user
    view = snapshot_url(request, factories.make_snapshot())
    from annotations.pages.snapshot_host import fallback_page

    policy = fallback_page(request, view.url.rpartition("/")[2])["Content-Security-Policy"]
    urls = [
        attacker.show(f"/page/{number}", html, Content_Type="text/html", Content_Security_Policy=policy)
        for number, html in enumerate(html_of(attacker))
        if not PAYLOADS[number].clicked
    ]
    tab.goto(attacker.show("/index", "<!doctype html><body>", Content_Type="text/html"))
    embed(tab, urls, None)
    assert attacker.hits == []
    assert tab.surprises == []


def test_the_browser_sees_only_allow_listed_names(tab):
    documents = [render_page(html) for html in random_pages(150)]
    tab.goto("about:blank")
    for media_type in ("application/xhtml+xml", "text/html"):  # the second is what it is not served as
        names = tab.evaluate(
            """([documents, mediaType]) => {
                const tags = new Set(), attributes = new Set(), errors = [];
                for (const text of documents) {
                    const parsed = new DOMParser().parseFromString(text, mediaType);
                    errors.push(...parsed.getElementsByTagName("parsererror"));
                    for (const element of parsed.querySelectorAll("*")) {
                        tags.add(element.localName);
                        for (const attribute of element.attributes) attributes.add(attribute.name);
                    }
                }
                return { tags: [...tags], attributes: [...attributes], errors: errors.length };
            }""",
            [documents, media_type],
        )
        assert names["errors"] == 0
        assert set(names["tags"]) <= ALLOWED_TAGS - {"script"}
        assert set(names["attributes"]) <= ALLOWED_ATTRIBUTES | {"xmlns"}
