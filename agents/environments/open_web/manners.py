"""What a website asks of programs: its robots.txt, and a pause between two pages. Core."""

import os
import time
from collections.abc import Callable
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener
from urllib.robotparser import RobotFileParser

AGENT = "WebNav"
PAUSE = float(os.environ.get("OPEN_WEB_SECONDS", "1"))  # between two pages of a site, at least
LONGEST_PAUSE = 60.0  # that a site may ask for
NOTHING = ["User-agent: *", "Disallow: /"]
MOST, SECONDS = 500_000, 10  # bytes of a robots.txt that are read, and how long it may take


def through(proxy: str) -> Callable[[str], tuple[int, str]]:
    """What reads a text through the proxy: its status and the text. Raises OSError."""
    opener = build_opener(ProxyHandler({"http": proxy, "https": proxy}))

    def read(url: str) -> tuple[int, str]:
        try:
            with opener.open(Request(url, headers={"User-Agent": AGENT}), timeout=SECONDS) as answer:
                return answer.status, answer.read(MOST).decode("utf-8", "replace")
        except HTTPError as error:
            return error.code, ""

    return read


class Manners:
    """What is known of the sites that an episode has been to."""

    def __init__(self, read: Callable[[str], tuple[int, str]], pause: float = PAUSE) -> None:
        self._read, self._pause = read, pause
        self._rules: dict[str, RobotFileParser] = {}
        self._last: dict[str, float] = {}

    def refusal(self, url: str) -> str:
        """Why the site's robots.txt keeps programs from a page; "" where it does not."""
        return "" if self._of(url).can_fetch(AGENT, url) else f"the site's robots.txt keeps programs from {url[:200]}"

    def wait(self, url: str) -> None:
        """Wait until another page of this site may be asked for."""
        site = _site(url)
        asked = float(self._of(url).crawl_delay(AGENT) or 0)
        pause = max(self._pause, min(asked, LONGEST_PAUSE))
        time.sleep(max(0.0, self._last.get(site, 0.0) + pause - time.monotonic()))
        self._last[site] = time.monotonic()

    def _of(self, url: str) -> RobotFileParser:
        site = _site(url)
        if site not in self._rules:
            self._rules[site] = self._rules_of(site)
        return self._rules[site]

    def _rules_of(self, site: str) -> RobotFileParser:
        """As RFC 9309 says: without a file everything is allowed, and nothing while it cannot be read."""
        rules = RobotFileParser()
        try:
            status, text = self._read(f"{site}/robots.txt")
        except OSError:
            status, text = 503, ""
        rules.parse(text.splitlines() if status < 400 else [] if status < 500 else NOTHING)
        return rules


def _site(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
