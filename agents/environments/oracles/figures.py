"""Drawings: figures that the goal describes, how many there are, points of a grid."""

import re

from agents.environments.oracles.lists import COLOURS
from agents.environments.oracles.solving import OraclePage, click, text_of
from agents.types import Action
from annotations.dom.tree import Element, tag_of

TAGS = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}
LARGE = 15  # from how many pixels on a figure is a large one; there are those of ten and of twenty


def described(page: OraclePage) -> Action | None:
    """Click a figure that the goal describes: "Click on a large blue letter"."""
    return click(next(iter(_meant(page, page.between("Click on a ", ""))), None))


def counted(page: OraclePage) -> Action | None:
    """Click the number of figures that the goal describes: "How many small items are there?"."""
    number = len(_meant(page, page.between("How many ", "s are there?")))
    return click(page.saying(str(number), "button"))


def point(page: OraclePage) -> Action | None:
    wanted = re.search(r"\(-?\d,-?\d\)", page.goal)
    return click(page.one("circle", id=wanted[0])) if wanted else None


def _meant(page: OraclePage, words: str) -> list[Element]:
    *told, kind = words.split()
    found = []
    for figure in page.all():
        own = text_of(figure) if tag_of(figure) == "svg-text" else TAGS.get(tag_of(figure), "")
        if not own:
            continue
        general = "shape" if tag_of(figure) != "svg-text" else "digit" if own.isdigit() else "letter"
        height = float(figure.get("bounding_box_rect", "0,0,0,0").split(",")[3])
        has = {"large" if height > LARGE else "small", _colour(figure)}
        if kind in (own, general, "item") and has.issuperset(told):
            found.append(figure)
    return found


def _colour(figure: Element) -> str:
    return next((name for name, css in COLOURS.items() if css == figure.get("bg_color") and name != "cyan"), "")
