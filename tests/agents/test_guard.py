"""The guard: which actions on which pages are held, and why."""

from time import process_time

import pytest

from agents.cookbook import checking
from agents.guard.judging import GuardVerdict, judge
from agents.guard.policy import PolicyRule
from agents.recipes import literature
from agents.stages.act.guarded import Guarded
from agents.stages.kind import Parts
from agents.stages.state import StepState
from agents.types import Action, Observation
from agents.world_model.effects import Effect, Happening
from agents.world_model.lines import PageLine
from agents.world_model.predicting import Prediction
from annotations.dom.tree import parse

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
  <div backend_node_id="3"><button backend_node_id="4"><text>Book a room</text></button></div>
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


@pytest.mark.parametrize(
    ("field", "button", "kind"),
    [
        ('name="first-name" type="text" value="Ida"', "Continue to payment", "personal"),
        ('name="mail" type="email" value="ida@postbox.example"', "Next", "personal"),
        ('name="x" placeholder="Your post code" value="HC1 4QT"', "Continue", "personal"),
        ('name="first-name" type="text" value=""', "Continue to payment", None),
        ('name="from" type="text" value="Westmere"', "Continue", None),
        ('name="filename" type="text" value="a.txt"', "Continue", None),
        ('name="account" type="hidden" value="7"', "Continue", None),
        ('name="postcode" type="text" value="HC1 4QT"', "Find address", None),
        ('name="email" type="email" value="ida@postbox.example"', "Back", None),
    ],
)
def test_what_leads_on_with_a_filled_field_about_a_person_hands_it_in(field, button, kind) -> None:
    page = f"""<html backend_node_id="1"><body backend_node_id="2"><form backend_node_id="3">
        <input backend_node_id="4" {field}/><button backend_node_id="5"><text>{button}</text></button>
        </form></body></html>"""
    risk = judge(parse(page), Action("CLICK", "5", "")).risk
    assert (risk.kind if risk else None) == kind


def test_a_button_without_a_form_only_opens_one_unless_its_words_leave_no_doubt() -> None:
    assert judged(node="4").risk is None
    assert judged(node="14").risk is None, "a dialog without a field to fill in"
    assert judged(node="11").risk is None, "a link"


COMMITTING = (
    *("Continue and pay €20", "Proceed and place order", "Proceed to pay and place your order", "Pay", "Pay €349.00"),
    *("Check out and pay €349", "Add card and pay now", "Next: place order", "View and delete account"),
    *("Confirm payment", "Submit order", "Complete booking", "Send money", "Subscribe for €9/month", "Transfer €500"),
    *("Confirm", "Unsubscribe", "Remove", "Remove payment method", "Book this flight", "Place bid", "Sign contract"),
    *("Buy", "Purchase", "Submit", "Send", "Reserve this table"),
)
LEADING = (
    *("Book a flight", "Remove filters", "Remove all filters", "Send feedback", "Submit a ticket", "Removed items"),
    *("Buyers' guide", "Posts", "Bookings", "Payments"),
    "Continue to payment",
    "Find orders",
    "See prices from €20",
    "Add to basket, €20",
    "Order by",
)


@pytest.mark.parametrize(("name", "held"), [*((one, True) for one in COMMITTING), *((one, False) for one in LEADING)])
def test_words_that_leave_no_doubt_hold_wherever_they_stand_and_however_a_name_begins(name: str, held: bool) -> None:
    page = f"""<html backend_node_id="1"><body backend_node_id="2"><main backend_node_id="3">
        <button backend_node_id="4"><text>{name}</text></button></main></body></html>"""
    assert (judge(parse(page), Action("CLICK", "4", "")).risk is not None) == held
    if held:
        assert judged(name).risk is not None, "in a form, too"


@pytest.mark.parametrize(
    ("element", "held"),
    [
        ("<div {id} onclick='pay()'><text>Pay now</text></div>", True),
        ("<div><span {id}><text>Place order</text></span></div>", True),
        ("<li {id}><text>Unsubscribe</text></li>", True),
        ("<a {id} href='/confirm'><text>Confirm</text></a>", False),  # a link leads to where it is asked
        ("<div {id}><text>Confirm</text></div>", False),
        ("<label {id}><text>Delete my account</text></label>", False),  # only ticks a box
        ("<div {id}><text>Whoever wants to pay now may do so at any of our counters in town</text></div>", False),
    ],
)
def test_what_is_no_button_by_its_tag_is_held_where_its_words_leave_no_doubt(element: str, held: bool) -> None:
    shown = element.replace("{id}", 'backend_node_id="4"')
    page = f'<html backend_node_id="1"><body backend_node_id="2"><main backend_node_id="3">{shown}</main></body></html>'
    assert (judge(parse(page), Action("CLICK", "4")).risk is not None) == held


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


def test_a_website_is_the_same_in_letters_of_either_case() -> None:
    rule = PolicyRule("words", "send", "", website="NORDLINE")
    assert judged(rules=[rule], website="nordline").risk is None
    assert judged(rules=[rule], website="nordline2").risk is not None


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
        (PolicyRule("url", "https://rail.example/book/confirm?x=1", "order"), True),
        (PolicyRule("url", "*/confirm?x=*", "order"), True),
        (PolicyRule("url", "*/confirm?y=*", "order"), False),
        (PolicyRule("url", "*/confirmXx=1", "order"), False),
    ],
)
def test_a_rule_looks_at_words_role_operation_address_or_price(rule: PolicyRule, held: bool) -> None:
    found = judged("Saver £3.00", rules=[rule], url="https://rail.example/book/confirm?x=1").risk
    assert (found is not None) is held


@pytest.mark.parametrize(("pattern", "name"), [("*are you sure?*", "Are you sure? Yes"), ("*[now]*", "Pay [now]")])
def test_nothing_but_a_star_stands_for_anything(pattern: str, name: str) -> None:
    rule = PolicyRule("words", pattern, "order")
    assert rule.holds("", name, "button", "CLICK", "")
    assert not rule.holds("", name.replace("?", "!").replace("[", "{"), "button", "CLICK", "")


@pytest.mark.parametrize(("operation", "held"), [("CLICK", True), ("TYPE", True), ("SCROLL", False), ("HOVER", False)])
def test_a_rule_of_an_address_holds_what_can_commit_there(operation: str, held: bool) -> None:
    rule = PolicyRule("url", "*/pay*", "pay")
    assert rule.holds("", "Go", "button", operation, "https://shop.example/pay?id=3") is held
    assert PolicyRule("operation", operation, "pay").holds("", "Go", "button", operation, ""), "an operation is named"


@pytest.mark.parametrize(
    ("of", "pattern", "passes"),
    [
        ("words", "*", True),
        ("words", "* *", True),
        ("words", "*e*", True),
        ("words", "save list", False),
        ("role", "*u*", True),
        ("role", "button", True),
        ("role", "link", False),
        ("url", "http*", True),
        ("url", "*:*", True),
        ("url", "*/help/*", False),
        ("operation", "cl*", True),
        ("operation", "type", False),
    ],
)
def test_a_rule_that_calls_nearly_every_click_harmless_is_known(of: str, pattern: str, passes: bool) -> None:
    assert PolicyRule(of, pattern).passes_every_click is passes
    assert not PolicyRule(of, pattern, "pay").passes_every_click


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


@pytest.mark.parametrize(("operation", "is_done"), [("CLICK", False), ("SCROLL", True)])
def test_what_can_commit_is_not_done_on_a_page_that_cannot_be_read(operation: str, is_done: bool) -> None:
    parts = Parts(checking.vary(literature.get("grounded"), {"act.guard": "policy"}))
    state = StepState.of(Observation(1, 1, 0, 0, "shop", "", "", "Tip.", "<html><p"), 0)
    state.close(Action(operation, "8"))
    Guarded(parts).run([state])
    assert (state.action is not None) is is_done
    assert ("the guard could not read the page" in state.error) is not is_done


def test_enter_in_a_form_of_any_size_is_judged_in_time() -> None:
    """Each button read the whole form again: 1,000 took 15 seconds of a processor."""
    button = '<button backend_node_id="{}" type="submit"><text>Show results</text></button>'
    lines = "".join(f'<p backend_node_id="{number}"><text>Line</text></p>' for number in range(10_000, 16_000))
    form = f'<form><input backend_node_id="8"/>{lines}{"".join(map(button.format, range(50_000, 52_000)))}</form>'
    root, began = parse(f"<html><body>{form}</body></html>"), process_time()
    assert judge(root, Action("TYPE", "8", "ann\n")).risk is None
    assert process_time() - began < 5


def test_how_long_it_waits_is_refused_where_nothing_is_held() -> None:
    with pytest.raises(ValueError, match=r"act\.guard_seconds would change nothing"):
        checking.vary(literature.get("grounded"), {"act.guard_seconds": "5"})
