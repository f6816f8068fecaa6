"""Every page from a window at 200 % zoom to a very wide screen: nothing lies beside the window, and what is cut can be
read all the same."""

import pytest
from playwright.sync_api import Page

from annotations.models import Campaign
from evaluation.models import Study
from tests import factories
from tests.app_server import AppServer
from tests.web.test_accessibility import addresses, shows_a_page
from tests.web.test_page_permissions import make_world_of_pages

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (640, 1280, 1920, 2560)
# What is wrong with a page at its width, in words. Boxes that scroll by themselves may hold more than they show.
LOOK = """() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  const name = (node) => `${node.tagName.toLowerCase()}.${node.className} "${node.textContent.trim().slice(0, 40)}"`;
  const scrolls = (node) => {
    for (let at = node.parentElement; at; at = at.parentElement)
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  for (const node of document.querySelectorAll("body *")) {
    if (!node.checkVisibility({visibilityProperty: true}) || node.closest(".sr, svg, iframe, .skip")) continue;
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    if (box.width && box.right > wide + 1 && !scrolls(node) && found.length < 5)
      found.push(`${name(node)} ends at ${Math.round(box.right)} px`);
    const cuts = style.textOverflow === "ellipsis" || (style.overflowX === "hidden" && !node.children.length);
    if (cuts && style.overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1
        && node.textContent.trim()) {
      node.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
      if (!node.closest("[title]") && !node.querySelector("[title]")) found.push(`${name(node)} is cut`);
    }
  }
  return found;
}"""


def looked_at(page: Page, url: str) -> list[str]:
    """What is wrong with one page, a line each."""
    page.goto(url, wait_until="load")
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{url} at {width} px: {said}" for said in page.evaluate(LOOK)]
    return found


def test_every_page_fits_its_window(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    sign_in(in_thread(factories.make_superuser))
    urls = [app_server.url(one) for one in addresses(in_thread(make_world_of_pages)) if not one.startswith("/admin/")]
    shown = [url for url in urls if shows_a_page(page, url)]
    assert len(shown) >= 50
    found = [said for url in shown for said in looked_at(page, url)]
    assert found == [], "\n".join(found)


def test_a_name_without_a_space_fits_too(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    world = in_thread(make_world_of_pages)
    long = {"name": "L" * 200}
    in_thread(
        lambda: (Study.objects.update(**long), Campaign.objects.filter(pk=Campaign.objects.first().pk).update(**long))
    )
    sign_in(in_thread(factories.make_superuser))
    kinds = ("/studies/", "/runs/", "/annotate/")
    found = ["/", *(one for one in addresses(world) if one.startswith(kinds))]
    urls = [app_server.url(one) for one in found]
    said = [said for url in urls if shows_a_page(page, url) for said in looked_at(page, url) if "cut" not in said]
    assert said == [], "\n".join(said)
