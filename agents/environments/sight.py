"""A live page as agents see it: the tree that `page.js` reads, in the form of imported pages. Core."""

from pathlib import Path
from typing import Any, Protocol

from agents.environments.protocol import PageView
from annotations.datasets.miniwob_dom import PageMaker, describe, elements_of

PAGE_SCRIPT = (Path(__file__).parent / "page.js").read_text("utf-8")
READ = "() => window.webnavPage.read()"


class ScriptedPage(Protocol):
    """What of a Playwright page is used here."""

    @property
    def url(self) -> str: ...
    def evaluate(self, expression: str, arg: Any = None) -> Any: ...


def page_view(page: ScriptedPage) -> PageView:
    """What is visible on a page that has run `PAGE_SCRIPT`. ValueError where it shows nothing."""
    root = page.evaluate(READ)
    if root is None:
        raise ValueError("the page shows nothing")
    made = PageMaker().page(root)
    names = {
        made.of(node).node_id: describe(node, made.of(node), root)
        for node in elements_of(root)
        if made.of(node).is_candidate
    }
    return PageView(made.html, page.url, len(made.elements), names)
