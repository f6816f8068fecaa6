"""What really happens on a page of a real browser when an action is carried out, and what the guard said before."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, sync_playwright

from agents.environments.acting import act
from agents.environments.browser import find, launch
from agents.environments.sight import PAGE_SCRIPT, page_view
from agents.guard.judging import judge
from agents.types import Action
from annotations.dom.tree import parse

pytestmark = pytest.mark.browser
DONE = "<meta charset='utf-8'><script>window.n = 0; function done() { window.n++; return false; }</script>"
HEARD = "<script>document.querySelector('#x').addEventListener('click', done);</script>"


@pytest.fixture(scope="module")
def page(has_chromium) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright, find() or "")
        opened = browser.new_page(viewport={"width": 500, "height": 400})
        opened.add_init_script(PAGE_SCRIPT)
        opened.route("**/*", lambda route: route.fulfill(body="<html></html>", content_type="text/html"))
        yield opened
        browser.close()


@pytest.mark.parametrize(
    ("body", "operation", "value", "kind"),
    [
        ("<button id=x onclick=done()>Pay n&shy;ow</button>", "CLICK", "", "pay"),
        ("<button id=x onclick=done()><b>Pay</b> <b>n</b><b>ow</b></button>", "CLICK", "", "pay"),
        ("<button id=x onclick=done()><div>Size</div><div>Large</div></button>", "CLICK", "", ""),
        ("<button id=x onclick=done() aria-label='Delete account'>X</button>", "CLICK", "", "delete"),
        ("<button id=x onclick=done()><img alt='Delete account' width=20 height=20></button>", "CLICK", "", "delete"),
        (f"<div id=x><p>Remove</p><p>Ida</p></div>{HEARD}", "CLICK", "", "delete"),
        ("<div onclick=done()>Delete account <a id=x>Details</a></div>", "CLICK", "", "delete"),
        ("<div role=dialog><p>Delete it?</p><button id=x onclick=done()>OK</button></div>", "CLICK", "", "delete"),
        ("<form id=f onsubmit='return done()'><input></form><button id=x form=f>Send</button>", "CLICK", "", "send"),
        ("<label id=x for=b>Go</label><button id=b onclick=done()>Pay now</button>", "CLICK", "", "pay"),
        ("<form onsubmit='return done()'><input id=x><button>Pay now</button></form>", "TYPE", "Ann\n", "pay"),
        (
            "<form><select id=x onchange='done(); /* this.form.submit() */'><option>A<option>B</select>"
            "<button>Pay now</button></form>",
            "SELECT",
            "B",
            "pay",
        ),
        ("<div id=x onmousedown=done()>Slide to pay</div>", "DRAG", "40,0", "pay"),
        (
            "<main><div contenteditable>Draft of it</div><div><button id=x onclick=done()>Share</button></div></main>",
            "CLICK",
            "",
            "send",
        ),
        ("<button id=x data-show=d onclick=done()>Delete photo</button><dialog id=d>Sure?</dialog>", "CLICK", "", ""),
        ("<button id=x data-show=d onclick=done()>Delete photo</button><p id=d>Sure?</p>", "CLICK", "", "delete"),
        ("<button id=x aria-expanded=false onclick=done()>Delete photo</button>", "CLICK", "", ""),
        ("<p>Petra will be notified.</p><a id=x href='#' onclick=done()>Wonderful</a>", "CLICK", "", "send"),
        ("<p>Petra will be notified.</p><a id=x href=' java&#9;script:done()'>Wonderful</a>", "CLICK", "", "send"),
        (
            "<p>Petra will be notified.</p><a id=x href='/javascript' onclick='return done()'>Wonderful</a>",
            "CLICK",
            "",
            "",
        ),
    ],
)
def test_what_does_something_on_a_live_page_is_judged_by_what_it_does(page: Page, body, operation, value, kind) -> None:
    page.goto("http://shop.test/")
    page.set_content(DONE + body)
    view = page_view(page)
    number = page.evaluate("() => window.webnavPage.number(document.querySelector('#x'))")
    action = Action(operation, str(number), value)
    risk = judge(parse(view.html), action, url=view.url).risk
    act(page, action)
    page.wait_for_function("() => window.n === 1", timeout=10_000)  # it does something, a link by a script soon after
    assert (risk.kind if risk else "") == kind
