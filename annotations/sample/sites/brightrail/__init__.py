"""Brightrail: tickets, live departures and delay refunds of a regional railway.

May import `sample` and `sample/catalogues`.
"""

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.brightrail.booking import details_page, done_page, review_page, seats_page
from annotations.sample.sites.brightrail.frame import cookie_banner, footer, header
from annotations.sample.sites.brightrail.search import fare_dialog, home_page, results_page
from annotations.sample.sites.brightrail.station import departures_page, refund_page, refund_sent_page

NAME, DOMAIN, SUBDOMAIN = "brightrail", "Travel", "Rail"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages = {
        "home": home_page,
        "results": results_page,
        "seats": seats_page,
        "details": details_page,
        "review": review_page,
        "done": done_page,
        "departures": departures_page,
        "refund": refund_page,
        "refund-sent": refund_sent_page,
    }
    title = f"Brightrail – {s['page'].replace('-', ' ').capitalize()}"
    main = el("main", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, title, header(s), main, footer(), fare_dialog(s), cookie_banner(s))
