"""Willow Clinic: visits, repeat medicines, test results and messages of a group practice.

May import `sample` and `sample/catalogues`.
"""

from collections.abc import Callable, Sequence

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.willowclinic.doctors import booked_page, doctor_page, doctors_page, visit_page
from annotations.sample.sites.willowclinic.frame import footer, header
from annotations.sample.sites.willowclinic.home import home_page, move_dialog
from annotations.sample.sites.willowclinic.record import (
    explain_dialog,
    medicines_page,
    message_page,
    ordered_page,
    results_page,
)

NAME, DOMAIN, SUBDOMAIN = "willowclinic", "Health", "Clinic"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages: dict[str, Callable[[VisitState], Sequence[SampleNode | None]]] = {
        "home": home_page,
        "doctors": doctors_page,
        "doctor": doctor_page,
        "visit": visit_page,
        "booked": booked_page,
        "medicines": medicines_page,
        "ordered": ordered_page,
        "results": results_page,
        "message": message_page,
    }
    main = el("main.page", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, "Willow Clinic", header(s), main, footer(), explain_dialog(s), move_dialog(s))
