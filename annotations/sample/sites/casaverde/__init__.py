"""Casa Verde: small hotels and guest houses, chosen by people who slept there.

May import `sample` and `sample/catalogues`.
"""

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.casaverde.frame import footer, header
from annotations.sample.sites.casaverde.houses import home_page, letter_dialog, list_page, saved_page
from annotations.sample.sites.casaverde.stay import ask_dialog, book_page, booked_page, house_page

NAME, DOMAIN, SUBDOMAIN = "casaverde", "Travel", "Hotel"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages = {
        "home": home_page,
        "list": list_page,
        "house": house_page,
        "book": book_page,
        "booked": booked_page,
        "saved": saved_page,
    }
    main = el("main", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, "Casa Verde – small hotels", header(s), main, footer(), ask_dialog(s), letter_dialog(s))
