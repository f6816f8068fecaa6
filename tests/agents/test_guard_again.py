"""An approved action is carried out only where it still is what was approved."""

import pytest

from agents.guard.again import what_changed
from agents.types import Action

PAGE = """<html backend_node_id="1"><body backend_node_id="2"><div><text>Total €20.00</text>
  <form><input/><button backend_node_id="4"><text>Pay now</text></button></form></div></body></html>"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Pay now", "Delete account", "what was 'button Pay now' is 'button Delete account' now"),
        ("<button", '<button aria_label="Buy now"', "'button Buy now / Pay now'"),
        ("form>", "fieldset>", "'button Pay now' is at another place of the page now"),
        ('backend_node_id="4"', 'backend_node_id="5"', "its element is not on the page any more"),
        ("€20.00", "€2000.00", "the prices beside 'button Pay now' are others now: €2000.00"),
        ("</form>", "<p><text>No refunds.</text></p></form>", "the page says something else of 'button Pay now' now"),
        ("<div>", "<p><text>Ida has written to you.</text></p><div>", ""),
        ("Total", "Your total", ""),
    ],
)
def test_what_is_another_about_the_control_is_said(old: str, new: str, said: str) -> None:
    changed = what_changed(PAGE, PAGE.replace(old, new), Action("CLICK", "4"))
    assert said in changed
    assert bool(said) == bool(changed)


def test_what_does_nothing_or_names_no_element_is_not_compared() -> None:
    now = PAGE.replace("Pay now", "Delete account")
    assert what_changed(PAGE, now, Action("HOVER", "4")) == ""
    assert what_changed(PAGE, now, Action("PRESS", None, "Enter")) == ""
    assert what_changed(PAGE, "<html", Action("CLICK", "4")) == "the page cannot be read any more"
