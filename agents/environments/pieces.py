"""Reads pieces of HTML as live pages are read, in a browser that reaches nothing. Core."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agents.environments.browser import NoBrowser, find, launch
from agents.environments.sight import PAGE_SCRIPT, page_view

ADDRESS = "http://piece.example/"
# Pieces bring no style sheet, and what a page draws by one alone, an icon, would have no size: nothing would be shown.
ICONS = "<style>:where(a, button, span, i, [role]):empty{display:inline-block;min-width:1em;min-height:1em}</style>"
NUMBER = "(id) => { const found = document.getElementById(id); return found && window.webnavPage.number(found); }"


@dataclass(frozen=True)
class ReadPiece:
    """A piece of HTML as agents see a page, and the number of the element in it that was asked about; None where
    nothing is shown of it."""

    page: str
    node_id: str | None


@contextmanager
def piece_reader() -> Iterator[Callable[[str, str], ReadPiece]]:
    """Opens a browser; what it gives reads a piece of HTML and finds an element in it by its id. Raises NoBrowser."""
    from playwright.sync_api import sync_playwright

    if (found := find()) is None:
        raise NoBrowser("pieces of pages are read in a Chromium, and there is none here: set $CHROMIUM")
    with sync_playwright() as playwright:
        browser = launch(playwright, found)
        page = browser.new_page()
        page.add_init_script(PAGE_SCRIPT)
        page.route("**/*", lambda route: route.fulfill(body="<html></html>", content_type="text/html"))

        def read(html: str, element: str) -> ReadPiece:
            page.goto(ADDRESS)
            page.set_content(ICONS + html)
            seen = page_view(page)
            number = page.evaluate(NUMBER, element)
            return ReadPiece(seen.html, None if number is None else str(number))

        try:
            yield read
        finally:
            browser.close()
