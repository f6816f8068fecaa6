"""Find a Chromium, and open it so that it asks nothing of the network by itself. Core."""

import os
import shutil
from base64 import b64decode
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents.environments.protocol import PageField, PageView, WindowPicture, WindowView
from agents.environments.sight import ScriptedPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page, Playwright

# Debian's browser without a window first: it opens pages in two thirds of the time, with the same engine.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ARGUMENTS = """
    --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --disable-dev-shm-usage
""".split()

PICTURE_WIDTH = 960  # pixels, at most; of a smaller window as many as it has
PICTURE_QUALITY = 60
PICTURE_BYTES = 256 << 10  # at most; a larger one is not kept


class NoBrowser(RuntimeError):
    """There is no Chromium on this machine, or it does not start."""


def find() -> str | None:
    """The path of a Chromium: $CHROMIUM, one on the PATH, or the one that Playwright has downloaded; None where there
    is none."""
    configured = os.environ.get("CHROMIUM")
    if configured:
        return configured
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or _downloaded()


def _downloaded() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def launch(playwright: "Playwright", executable: str, *more: str, proxy: str = "") -> "Browser":
    """Start a Chromium without a window; with a `proxy` it reaches nothing but through that. When root starts it, its
    sandbox is off: it may then open trusted pages only. Raises NoBrowser."""
    from playwright.sync_api import Error

    try:
        return playwright.chromium.launch(
            executable_path=executable,
            args=[*ARGUMENTS, *more],
            chromium_sandbox=os.geteuid() != 0,
            timeout=30_000,
            proxy={"server": proxy} if proxy else None,
        )
    except Error as error:
        raise NoBrowser(f"{executable} does not start: {str(error).splitlines()[0]}") from error


class PeoplesWindow:
    """Finds what is at a point of the page of the current episode, where a person points at it."""

    def _current(self) -> ScriptedPage:
        """The page; ValueError where no episode has begun."""
        raise NotImplementedError

    def observe(self) -> PageView:
        """The page as it is now."""
        raise NotImplementedError

    def window(self) -> WindowView:
        """The window as a person sees it."""
        raise NotImplementedError

    def picture(self) -> WindowPicture | None:
        """The window as it is now, small; None where it cannot be drawn, which ends nothing."""
        with suppress(Exception):  # whatever a page or a browser brings about: the next step tells, if it matters
            place = self._current().evaluate("() => window.webnavPage.place()")
            data, media_type = self._drawn(place)
            if len(data) <= PICTURE_BYTES:
                return WindowPicture(data, media_type, place["width"], place["height"], place["boxes"])
        return None

    def _drawn(self, place: dict[str, Any]) -> tuple[bytes, str]:
        """The picture and its type; `place` is what the page says of its window."""
        return self.window().picture, "image/jpeg"

    def at(self, x: float, y: float) -> str | None:
        """The element at a point of the window: the innermost that is worth ranking, else the innermost."""
        found: list[str] = self._current().evaluate("([x, y]) => window.webnavPage.at(x, y)", [x, y])
        names = self.observe().names if found else {}
        return next((node for node in found if node in names), found[0] if found else None)


class OwnBrowser(PeoplesWindow):
    """A Chromium that one environment has for itself, and the page of its current episode."""

    def __init__(self, *more: str, proxy: str = "") -> None:
        """Start the browser, with `more` as further arguments of Chromium; `proxy` as of `launch`. Raises
        NoBrowser."""
        from playwright.sync_api import sync_playwright

        executable = find()
        if executable is None:
            raise NoBrowser("there is no Chromium here: `make chromium` installs one")
        self._playwright = sync_playwright().start()
        self._browser = launch(self._playwright, executable, *more, proxy=proxy)
        self._page: Page | None = None
        self._drawing: WeakKeyDictionary[Page, CDPSession] = WeakKeyDictionary()

    def _current(self) -> "Page":
        if self._page is None:
            raise ValueError("no episode has begun")
        return self._page

    def window(self) -> WindowView:
        """The window as a person sees it."""
        page = self._current()
        size = page.viewport_size or {"width": 0, "height": 0}
        fields = tuple(PageField(**one) for one in page.evaluate("() => window.webnavPage.fields()"))
        picture = page.screenshot(type="jpeg", quality=85, animations="disabled")
        return WindowView(picture, size["width"], size["height"], fields)

    def _drawn(self, place: dict[str, Any]) -> tuple[bytes, str]:
        """By the browser's own protocol: Playwright would wait for fonts and draw the page larger than it is kept. A
        JPEG, as a WebP takes twice the processor's time."""
        page = self._current()
        if page not in self._drawing:
            self._drawing[page] = page.context.new_cdp_session(page)
        corner = {name: place[name] for name in ("x", "y", "width", "height")}
        scale = {"clip": corner | {"scale": PICTURE_WIDTH / place["width"]}} if place["width"] > PICTURE_WIDTH else {}
        asked = {"format": "jpeg", "quality": PICTURE_QUALITY, **scale}
        return b64decode(self._drawing[page].send("Page.captureScreenshot", asked)["data"]), "image/jpeg"

    def close(self) -> None:
        self._browser.close()
        self._playwright.stop()
