"""How much markup one page may hold. Core.

A parser builds all of a page before anybody can look at it, and is a library in C that no signal interrupts. So what
it will build is counted before: every element, comment and instruction begins with `<`, every attribute has its `=`. A
page within these limits is parsed in a few seconds and some hundred megabytes, whatever it holds; the largest published
ones have a tenth of it. Nesting is limited by libxml2 itself, to 2,048 levels.
"""

MAX_PAGE_CHARS = 64 * 1024 * 1024
MAX_TAGS = 1_000_000  # opening, closing and others
MAX_ATTRIBUTES = 2_000_000


class PageError(ValueError):
    """A page that cannot be read: not well-formed XML, too large, or using entity declarations."""


def check_tags(tags: int) -> None:
    """Raise PageError for more tags than one page may have."""
    if tags > MAX_TAGS:
        raise PageError(f"the page has {tags:,} tags, at most {MAX_TAGS:,} are read")


def check_size(html: str) -> None:
    """Raise PageError for a page that is too large to be parsed."""
    if len(html) > MAX_PAGE_CHARS:
        raise PageError(f"the page has {len(html):,} characters, at most {MAX_PAGE_CHARS:,} are read")
    check_tags(html.count("<"))
    if (attributes := html.count("=")) > MAX_ATTRIBUTES:
        raise PageError(f"the page has {attributes:,} attributes, at most {MAX_ATTRIBUTES:,} are read")
