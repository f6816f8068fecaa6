"""Nordline: long-distance and night trains of the north, with cabins. May import `sample` and `sample/catalogues`."""

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.nordline.booking import cabin_page, held_page, summary_page, traveller_page, trip_page
from annotations.sample.sites.nordline.frame import footer, header
from annotations.sample.sites.nordline.journey import home_page, stops_dialog, timetable_page

NAME, DOMAIN, SUBDOMAIN = "nordline", "Travel", "Rail"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages = {
        "home": home_page,
        "timetable": timetable_page,
        "cabin": cabin_page,
        "traveller": traveller_page,
        "summary": summary_page,
        "held": held_page,
        "trip": trip_page,
    }
    main = el("main", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, f"Nordline · {s['page'].capitalize()}", header(s), main, footer(), stops_dialog(s))
