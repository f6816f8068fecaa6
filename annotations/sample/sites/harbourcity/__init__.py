"""Harbour City: permits, bins, street reports and library rooms of a town council.

May import `sample` and `sample/catalogues`.
"""

from collections.abc import Callable, Sequence

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.harbourcity.frame import cookie_banner, footer, header, sent_page
from annotations.sample.sites.harbourcity.home import home_page
from annotations.sample.sites.harbourcity.libraries import room_page, rooms_page
from annotations.sample.sites.harbourcity.permit import declare_page, permit_page, vehicle_page
from annotations.sample.sites.harbourcity.streets import bins_page, missed_dialog, report_page

NAME, DOMAIN, SUBDOMAIN = "harbourcity", "Government", "Municipal"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages: dict[str, Callable[[VisitState], Sequence[SampleNode | None]]] = {
        "home": home_page,
        "permit": permit_page,
        "vehicle": vehicle_page,
        "declare": declare_page,
        "bins": bins_page,
        "report": report_page,
        "rooms": rooms_page,
        "room": room_page,
        "sent": sent_page,
    }
    main = el("main.page", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, "Harbour City Council", header(s), main, footer(), cookie_banner(s), missed_dialog(s))
