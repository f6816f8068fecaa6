"""The guard: which actions on which pages are held, and why."""

import pytest

from agents.guard.judging import GuardVerdict, judge
from agents.guard.policy import PolicyRule
from agents.recipes import checking, literature
from agents.stages.act.guarded import Guarded
from agents.stages.kind import Parts
from agents.stages.state import StepState
from agents.types import Action, Observation
from agents.world_model.effects import Effect, Happening
from agents.world_model.lines import PageLine
from agents.world_model.predicting import Prediction
from annotations.dom.tree import parse

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
  <div backend_node_id="3"><button backend_node_id="4"><text>Book this room</text></button></div>
  <form backend_node_id="5">
    <input backend_node_id="6" type="email" name="email"/>
    <div backend_node_id="7"><button backend_node_id="8"><i backend_node_id="9"/><text>{button}</text></button></div>
    <p backend_node_id="10"><text>Tickets of this fare cannot be refunded.</text></p>
  </form>
  <a backend_node_id="11"><text>Send us a letter</text></a>
  <div role="dialog" backend_node_id="12"><input backend_node_id="13" type="hidden"/>
    <button backend_node_id="14"><text>Order tea</text></button></div>
</body></html>"""


def judged(button: str = "Send", node: str = "8", operation: str = "CLICK", value: str = "", **more) -> GuardVerdict:
    return judge(parse(PAGE.format(button=button)), Action(operation, node, value), **more)


@pytest.mark.parametrize(
    ("button", "kind"),
    [
        ("Pay 1,240 kr", "pay"),
        ("Apply and pay £42.00", "pay"),
        ("Place order", "order"),
        ("Book", "order"),
        ("Send message", "send"),
        ("Text me", "send"),
        ("Delete my account", "delete"),
        ("Remove", "delete"),
        ("Publish", "publish"),
        ("Save", "personal"),
        ("Continue to payment", None),
        ("Find my booking", None),
        ("Add to basket", None),
        ("Close", None),
    ],
)
def test_the_words_on_the_button_of_a_form_say_what_it_does(button: str, kind: str | None) -> None:
    risk = judged(button).risk
    assert (risk.kind if risk else None) == kind


def test_a_button_without_a_form_only_opens_one_unless_its_words_leave_no_doubt() -> None:
    assert judged(node="4").risk is None
    assert judged(node="14").risk is None, "a dialog without a field to fill in"
    assert judged(node="11").risk is None, "a link"


def test_what_is_inside_of_a_button_is_the_button() -> None:
    assert judged(node="9").risk == judged(node="8").risk is not None


def test_it_says_that_the_page_calls_it_final() -> None:
    risk = judged("Pay 1,240 kr").risk
    assert risk is not None
    assert (risk.by, risk.words) == ("page", "pays")
    assert "cannot be refunded" in risk.why


def test_enter_in_a_field_does_what_the_button_of_its_form_does() -> None:
    assert judged("Pay", node="6", operation="PRESS", value="Enter").risk is not None
    assert judged("Pay", node="6", operation="PRESS", value="a").risk is None
    assert judged("Find", node="6", operation="PRESS", value="Enter").risk is None


@pytest.mark.parametrize("operation", ["TYPE", "SELECT", "HOVER", "SCROLL"])
def test_what_changes_nothing_that_lasts_passes(operation: str) -> None:
    assert judged("Pay", operation=operation).risk is None


def test_a_page_that_cannot_be_read_holds_nothing_by_itself() -> None:
    assert judge(None, Action("CLICK", "8")).risk is None
    assert judged(node="no-such").risk is None


def test_a_websites_own_rule_comes_before_that_of_every_website_and_before_the_page() -> None:
    everywhere = PolicyRule("words", "send", "send")
    here = PolicyRule("words", "send", "", website="shop")
    assert judged(rules=[everywhere, here], website="shop").risk is None
    assert "shop" in judged(rules=[everywhere, here], website="shop").passed_by
    found = judged(rules=[everywhere, here], website="bank").risk
    assert found is not None
    assert (found.kind, found.by) == ("send", "policy")


@pytest.mark.parametrize(
    ("rule", "held"),
    [
        (PolicyRule("price", kind="pay"), True),
        (PolicyRule("url", "*/confirm*", "order"), True),
        (PolicyRule("url", "*/help*", "order"), False),
        (PolicyRule("operation", "click", "order"), True),
        (PolicyRule("role", "link", "order"), False),
        (PolicyRule("words", "saver", "order"), True),
        (PolicyRule("words", "save", "order"), False),  # a word, not a part of one
        (PolicyRule("words", "*3.00", "order"), True),
        (PolicyRule("words", "", "order"), False),
    ],
)
def test_a_rule_looks_at_words_role_operation_address_or_price(rule: PolicyRule, held: bool) -> None:
    found = judged("Saver £3.00", rules=[rule], url="https://rail.example/book/confirm?x=1").risk
    assert (found is not None) is held


@pytest.mark.parametrize(("confidence", "held"), [(0.93, True), (0.2, False)])
def test_what_the_world_model_expects_holds_a_step_that_looks_harmless(confidence: float, held: bool) -> None:
    said = Happening(Effect("added", "heading", "Booking NL-31 confirmed: you have paid"), None, PageLine("", "h", "x"))
    found = judged("Go", prediction=Prediction((said,), confidence, confidence)).risk
    assert (found is not None) is held
    if found is not None:
        assert (found.kind, found.by, found.sure) == ("pay", "prediction", 0.93)


def test_the_stage_notes_what_it_would_hold() -> None:
    recipe = checking.vary(literature.get("grounded"), {"act.guard": "policy"})
    parts = Parts(recipe, policy=[PolicyRule("words", "send a tip", "", "shop")])
    html = PAGE.format(button="Send a tip")
    states = [StepState.of(Observation(1, 1, 0, 0, website, "", "", "Tip.", html), 0) for website in ("shop", "bank")]
    for state in states:
        state.close(Action("CLICK", "8"))
    Guarded(parts).run(states)
    assert [state.trace["act"].get("held", {}).get("kind") for state in states] == [None, "send"]
    assert "shop" in states[0].trace["act"]["passed"]


def test_how_long_it_waits_is_refused_where_nothing_is_held() -> None:
    with pytest.raises(ValueError, match=r"act\.guard_seconds would change nothing"):
        checking.vary(literature.get("grounded"), {"act.guard_seconds": "5"})
