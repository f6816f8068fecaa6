"""The sample's websites as working sites, without a browser: what its conversations come to, and what sites refuse."""

import pytest

from annotations.sample.build import SITES, find_target
from annotations.sample.goals import ConversationGoals, TurnGoal, conversations
from annotations.sample.nodes import VisitState
from annotations.sample.script import ScriptedAction
from annotations.sample.visit import FAULT, Disturbance, SiteVisit
from tests.quick import first_is_quick


def begun(goals: ConversationGoals, seed: int = 0) -> SiteVisit:
    state = VisitState(page="home", **goals.start)
    return SiteVisit(SITES[goals.website], state, Disturbance.of(goals.name, seed))


def do(visit: SiteVisit, action: ScriptedAction) -> None:
    """As a person: what is in the way is closed, and what failed is tried again."""
    if visit.state["own-notice"] == "open":
        visit.press(find_target(visit.page(), ScriptedAction("CLICK", "own-notice-close"), "").node_id)
    node_id = find_target(visit.page(), action, visit.site.NAME).node_id
    if action.operation == "CLICK":
        visit.press(node_id)
        if visit.state["own-problem"] == FAULT:
            visit.press(node_id)
    else:
        visit.put(node_id, action.value)


@pytest.mark.slow
@first_is_quick("seed", [0, 1])
def test_the_recorded_path_passes_every_check_and_nothing_done_fails_each(seed: int) -> None:
    disturbed = 0
    for goals in conversations().values():
        visit = begun(goals, seed)
        for turn in goals.turns:
            before = VisitState(visit.state)
            assert turn.missing(visit.state), (goals.name, turn.instruction)
            for action in turn.actions:
                do(visit, action)
            assert turn.missing(visit.state) == [], (goals.name, turn.instruction)
            assert turn.side_effects(before, visit.state) == []
        disturbed += visit.problems > 0 or visit.state["own-notice"] == "closed"
    assert (len(conversations()), sum(len(goals.turns) for goals in conversations().values())) == (27, 142)
    assert disturbed == 0 if seed == 0 else disturbed > 20


def walked(name: str, turns: int) -> tuple[SiteVisit, TurnGoal]:
    """A visit before a turn, the path of the earlier ones walked."""
    goals = conversations()[name]
    visit = begun(goals)
    for turn in goals.turns[:turns]:
        for action in turn.actions:
            do(visit, action)
    return visit, goals.turns[turns]


@pytest.mark.parametrize(
    ("name", "turn", "right", "wrong", "missing"),
    [
        ("fernandfell-boot-fitting", 1, "shop-ashmere", "shop-", ["fit-shop"]),
        ("casaverde-limonera-with-dog", 3, "rooms-casa-limonera", "rooms-", ["house"]),
        ("nordline-with-an-old-dog", 5, "hold", "pay", ["paid"]),
        ("willowclinic-two-medicines", 0, "take-salbutamol", "take-", ["take-salbutamol"]),
    ],
)
def test_a_wrong_item_fails(name: str, turn: int, right: str, wrong: str, missing: list[str]) -> None:
    visit, goal = walked(name, turn)
    if wrong == "pay":
        do(visit, ScriptedAction("CLICK", "terms"))
    chosen = {action.key for action in goal.actions}
    for action in goal.actions:
        key = action.key
        if key == right:
            keys = sorted(node.key for node in visit.page().walk() if node.on)
            key = next(found for found in keys if found.startswith(wrong) and found not in chosen)
        do(visit, ScriptedAction(action.original, key, action.value))
    assert goal.missing(visit.state) == missing


def test_what_nobody_asked_for_is_a_side_effect() -> None:
    visit, goal = walked("nordline-night-to-tindal", 2)
    before = VisitState(visit.state)
    do(visit, ScriptedAction("SELECT", "language", "Norsk"))
    for action in goal.actions:
        do(visit, action)
    assert goal.missing(visit.state) == []
    assert goal.side_effects(before, visit.state) == ["language"]


def test_the_order_of_what_is_put_together_and_a_default_make_no_difference() -> None:
    goal = conversations()["fernandfell-tent-as-a-gift"].turns[2]
    assert goal.missing(VisitState(liked="heron-two|wren-one")) == []
    assert goal.missing(VisitState(liked="heron-two")) == ["liked"]
    untouched = TurnGoal("", (), {"people": "1"}, {"people": "1"})
    assert untouched.missing(VisitState()) == []


def test_a_form_says_what_it_lacks_and_does_nothing() -> None:
    visit, _ = walked("brightrail-weekend-away", 5)
    visit.state["email"] = "nobody"
    do(visit, ScriptedAction("CLICK", "to-review"))
    assert (visit.state["page"], visit.problems) == ("details", 1)
    assert "first name, last name" in next(node for node in visit.page().walk() if node.key == "own-problem").text()
    visit.state.update({"first-name": "Ida", "last-name": "Wren"})
    do(visit, ScriptedAction("CLICK", "to-review"))
    assert "no email address: nobody" in visit.state["own-problem"]
    visit.state["email"] = "ida@wren.example"
    do(visit, ScriptedAction("CLICK", "to-review"))
    assert (visit.state["page"], visit.state["own-problem"]) == ("review", "")


def press(visit: SiteVisit, words: str) -> None:
    visit.press(next(node.node_id for node in visit.page().walk() if node.tag == "a" and node.text() == words))


def test_people_sign_in_with_the_right_password_only() -> None:
    visit = SiteVisit(SITES["nordline"], VisitState(page="home"))
    press(visit, "Log in")
    for field, value in (("own-email", "ida@wren.example"), ("own-password", "guess")):
        do(visit, ScriptedAction("TYPE", field, value))
    do(visit, ScriptedAction("CLICK", "own-sign-in"))
    assert "do not know" in visit.state["own-problem"]
    do(visit, ScriptedAction("TYPE", "own-password", "sample"))
    do(visit, ScriptedAction("CLICK", "own-sign-in"))
    assert (visit.state["own-signed-in"], visit.state["popup"]) == ("yes", "")


def test_going_back_shows_the_page_before_and_undoes_nothing() -> None:
    visit, _ = walked("fernandfell-mugs-and-kettle", 3)
    cart, item = visit.state["cart"], visit.state["item"]
    do(visit, ScriptedAction("CLICK", "view-basket"))
    press(visit, "Terms")
    assert visit.state["page"] == "elsewhere"
    visit.page()
    visit.show(visit.place - 1)
    assert visit.state["page"] == "basket"
    visit.show(visit.place - 1)
    assert (visit.state["page"], visit.state["item"], visit.state["cart"]) == ("product", item, cart)
    visit.show(99)
    assert visit.state["page"] == "product"


def test_a_seed_decides_what_goes_wrong_the_same_each_time() -> None:
    assert Disturbance.of("a", 0) == Disturbance()
    assert Disturbance.of("a", 7) == Disturbance.of("a", 7)
    assert len({(one.notice_after, one.fault_at) for seed in range(1, 30) for one in [Disturbance.of("a", seed)]}) > 5
