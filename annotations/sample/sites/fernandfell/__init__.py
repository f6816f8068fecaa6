"""Fern & Fell: an outdoor shop with a basket, shops in five towns and returns.

May import `sample` and `sample/catalogues`.
"""

from annotations.sample.nodes import SampleNode, VisitState, document, el
from annotations.sample.sites.fernandfell.article import product_page, size_dialog
from annotations.sample.sites.fernandfell.care import returned_page, returns_page, shops_page
from annotations.sample.sites.fernandfell.frame import footer, header
from annotations.sample.sites.fernandfell.goods import category_page, home_page
from annotations.sample.sites.fernandfell.orders import basket_drawer, basket_page, checkout_page, done_page

NAME, DOMAIN, SUBDOMAIN = "fernandfell", "Shopping", "Outdoor"


def render(s: VisitState) -> SampleNode:
    """The page that the visitor sees."""
    pages = {
        "home": home_page,
        "category": category_page,
        "product": product_page,
        "basket": basket_page,
        "checkout": checkout_page,
        "done": done_page,
        "shops": shops_page,
        "returns": returns_page,
        "returned": returned_page,
    }
    main = el("main", pages[s["page"]](s), key=f"main-{s['page']}")
    return document(NAME, "Fern & Fell Outdoor", header(s), main, footer(), basket_drawer(s), size_dialog(s))
