"""Long lists, a page at a time."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

ROWS = 50


def page_of(request: HttpRequest, rows: Any, size: int = ROWS, count: int | None = None) -> Page[Any]:
    """The page that `?page=` names, or the nearest one that there is. `count`: how many rows there are, where that is
    known, so that they need not be counted for each page."""
    pages = Paginator(rows, size)
    if count is not None:
        vars(pages)["count"] = count  # in the place of the property that counts
    return pages.get_page(request.GET.get("page"))
