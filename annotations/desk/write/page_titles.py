"""The titles of a session's pages, for its film strip; a page is opened for its title once."""

from html import unescape

from django.core.cache import cache

from annotations.models import Session, Snapshot
from annotations.work.decompose.cuts import title_of

KEPT = 24 * 3600  # seconds


def page_titles(session: Session) -> list[str]:
    """The title of the page of each step, in order; "" for a step without a page and a page without a title."""
    steps = session.steps().light()
    shown = [snapshot.sha256 if (snapshot := step.shown_snapshot()) else "" for step in steps]
    keys = {sha256: f"page-title:{sha256}" for sha256 in shown if sha256}
    known = cache.get_many(keys.values())
    new = [sha256 for sha256, key in keys.items() if key not in known]
    read = {
        keys[page.sha256]: unescape(title_of(page.html))
        for page in Snapshot.objects.with_content().filter(sha256__in=new)
    }
    cache.set_many(read, KEPT)
    titles = known | read
    return [titles[keys[sha256]] if sha256 else "" for sha256 in shown]
