"""The learned part of the guard: what it weighs, what it holds beside the rules, and what it never does."""

import json
from pathlib import Path
from time import process_time

import pytest

from agents.guard.again import what_changed
from agents.guard.judging import decided, judge, look, weighed
from agents.guard.learned import ALWAYS_THERE, NUMBERS, LearnedPart, packaged, read
from agents.guard.policy import PolicyRule, Risk
from agents.types import Action
from annotations.dom.tree import Element, parse

FRIEND = """<div class="profile-header"><h1><text>Callum Reid</text></h1><p><text>12 mutual friends</text></p>
<div {id} role="button" tabindex="0" aria_label="Add friend Callum Reid"><span><text>Add friend</text></span></div>
<div role="button"><text>Message</text></div></div>"""
CLICK, ENTER = Action("CLICK", "4"), Action("TYPE", "4", "tea\n")
EVERYTHING = LearnedPart({ALWAYS_THERE: (9.0, *[0.0] * (len(NUMBERS) - 1))}, 0.45, 0.3, {})
NOTHING = LearnedPart(
    {ALWAYS_THERE: (-9.0, *[0.0] * (len(NUMBERS) - 1)), "name: a price": (-0.5, *[0.0] * 6)}, 0.45, 0.3, {}
)


def page(body: str) -> Element:
    shown = body.replace("{id}", 'backend_node_id="4"')
    return parse(f'<html backend_node_id="1"><body backend_node_id="2"><main>{shown}</main></body></html>')


def test_it_holds_what_the_rules_let_pass_and_says_what_it_is_like() -> None:
    assert judge(page(FRIEND), CLICK).risk is None
    risk = judge(page(FRIEND), CLICK, learned=packaged()).risk
    assert risk is not None
    assert (risk.kind, risk.by) == ("send", "learned")
    assert risk.sure is not None
    assert 0.55 <= risk.sure < 1
    assert risk.why.startswith("“Add friend Callum Reid” is much like controls that send something (name: ")


@pytest.mark.parametrize(
    "body",
    [
        "<nav><a {id} href='/about'><text>About us</text></a></nav>",
        "<ul><li><button {id}><text>Show more photos</text></button></li></ul>",
        "<form role='search'><input name='q'/><button {id} type='submit'><text>Submit search</text></button></form>",
        "<div><p><text>£12.00</text></p><button {id}><text>Add to basket</text></button></div>",
    ],
)
def test_what_is_harmless_passes_with_it(body: str) -> None:
    assert judge(page(body), CLICK, learned=packaged()).risk is None


@pytest.mark.parametrize("name", ["Delete account", "Pay now", "Pay £12.00", "Empty basket"])
def test_what_pays_or_deletes_by_the_rules_stays_held(name: str) -> None:
    root = page(f"<button {{id}}><text>{name}</text></button>")
    assert judge(root, CLICK, learned=NOTHING) == judge(root, CLICK)
    assert judge(root, CLICK).risk is not None


def test_what_else_the_rules_hold_passes_where_it_looks_harmless_and_says_why() -> None:
    root = page("<a {id} href='#sign-form'><text>Sign this petition for £2</text></a>")
    by_rules = judge(root, CLICK)
    assert by_rules.risk is not None
    assert by_rules.risk.kind == "order"
    verdict = judge(root, CLICK, learned=NOTHING)
    assert verdict.risk is None
    assert verdict.passed_by == "learned: risky with a chance of 0.00 (name: a price)"
    assert look(root, CLICK, NOTHING).looks_risky, "people are asked of it"
    barely = LearnedPart(NOTHING.weights, 0.45, 0.00005, {})
    assert judge(root, CLICK, learned=barely) == by_rules, "not unlikely enough to pass"


def test_what_is_foreseen_holds_what_was_let_pass() -> None:
    root = page("<a {id} href='#sign-form'><text>Sign this petition</text></a>")
    foreseen = Risk("order", "the world model expects “Signed” to appear", "prediction", 0.9)
    verdict = decided(look(root, CLICK, NOTHING), foreseen=foreseen)
    assert (verdict.risk, verdict.passed_by) == (foreseen, "")


def test_a_rule_of_a_project_goes_before_it() -> None:
    rule = PolicyRule("words", "add friend")
    assert judge(page(FRIEND), CLICK, rules=[rule], learned=packaged()).risk is None


@pytest.mark.parametrize(
    ("body", "action"),
    [
        ("<input {id} type='text' name='colour'/>", Action("TYPE", "4", "red")),
        ("<input {id} type='checkbox'/>", CLICK),
        ("<select {id}><option><text>Red</text></option></select>", Action("SELECT", "4", "Red")),
        ("<p {id}><text>Nothing reacts here</text></p>", CLICK),
        ("<button {id} aria_haspopup='dialog'><text>Wonderful</text></button>", CLICK),
        ("<button {id}><text>Wonderful</text></button>", Action("HOVER", "4")),
        (
            "<form role='search'><input {id} name='q'/><button><text>Go</text></button></form>",
            Action("TYPE", "4", "a\n"),
        ),
    ],
)
def test_what_uses_no_control_that_decides_is_not_weighed(body: str, action: Action) -> None:
    assert weighed(page(body), action) == {}
    assert look(page(body), action, EVERYTHING).risk is None


def test_enter_is_weighed_by_the_button_that_it_presses() -> None:
    form = "<form><input {id} name='word'/><button type='submit'><text>Hand it to Ida</text></button></form>"
    by_enter = weighed(page(form), ENTER)
    assert by_enter["is: pressed by Enter"] == 1
    assert by_enter["named “ida”"] == pytest.approx(7**-0.5, abs=1e-4), "its share of four words and three pairs"
    assert "named “ida”" in weighed(page(form.replace("{id}", "").replace("<button", "<button {id}")), CLICK)


def test_a_long_page_is_weighed_in_little_time_and_by_its_beginning() -> None:
    words = " ".join(f"word{number}" for number in range(200_000))
    buttons = "<button><text>Send</text></button>" * 3000
    body = f"<form><p><text>{words}</text></p>{buttons}<button {{id}} aria_label='{words[:50_000]}'/></form>"
    root, began = page(body), process_time()
    evidence = weighed(root, CLICK)
    assert process_time() - began < 5
    assert 0 < len(evidence) < 600


def test_an_approved_action_is_not_another_because_a_word_of_the_page_changed() -> None:
    before = f'<html backend_node_id="1"><body>{FRIEND}</body></html>'.replace("{id}", 'backend_node_id="4"')
    assert what_changed(before, before.replace("12 mutual", "13 mutual"), CLICK) == ""


def test_numbers_of_other_kinds_of_risk_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "learned.json"
    told = {"numbers": ["risky", "pay"], "holds_from": 0.5, "passes_below": 0.3, "learned_of": {}, "weights": {}}
    file.write_text(json.dumps(told), "utf-8")
    with pytest.raises(ValueError, match="train it anew"):
        read(file)
