"""What is chosen among samples: the most frequent action, or the one whose imagined outcome is valued most."""

import re
from collections.abc import Callable, Sequence

import pytest

from agents.cookbook import checking, deviations, lacking
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.chat import ChatLlm, Endpoint
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.imagine import model_questions, scores
from agents.stages.imagine.considered import Considered
from agents.stages.imagine.model_questions import Asking
from agents.stages.imagine.scores import Valuation
from agents.stages.imagine.values import ProgressValue, Valuing
from agents.stages.imagine.worlds import WorldModel
from agents.stages.kind import CannotRun, Parts
from agents.stages.known import kinds
from agents.stages.plan.kinds import Planning
from agents.stages.registry import recipe_kinds
from agents.types import Action, Decision, RankedCandidate
from agents.words.generator import ChatGenerator
from agents.world_model.records import described
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.tree import parse
from tests.agents.fixed_ranker import FixedRanker
from tests.agents.llm_server import LlmServer, failure, prompt_text, serve
from tests.agents.test_policy import PAGE, ListMemory, observation

RESERVE, IMPRINT, HARBOUR = Action("CLICK", "11"), Action("CLICK", "13"), Action("TYPE", "5", "Bergen")
WRITTEN = {RESERVE: "CLICK [11]", IMPRINT: "CLICK [13]", HARBOUR: "TYPE [5] [Bergen]", None: "nothing"}
RANKING = tuple(RankedCandidate(node, 1.0, rank, node) for rank, node in enumerate(("11", "13", "5")))


def decided(reply: Callable, name: str = "cot", html: str = PAGE, **changes: str) -> tuple[Decision, LlmServer]:
    """One decision of a recipe of the corrected preset, with an endpoint that answers by `reply`."""
    changes = {"preset": "corrected", "rank.model": "fixed"} | {k.replace("__", "."): v for k, v in changes.items()}
    recipe = literature.override(literature.get(name), changes)
    with serve(reply) as server:
        llm = ChatLlm(Endpoint(server.url, "m"))
        parts = Parts(recipe, 7, llm, ListMemory(), CachedEncoder(HashEncoder()), ranker=FixedRanker(*RANKING))
        (decision,) = Pipeline.of(parts).decide([observation("Reserve it.", html)])
    return decision, server


def sampled(*actions: Action | None, values: dict[str, list[str]] | None = None) -> Callable:
    """An endpoint whose planner draws these actions; `values`: what an answer to a value prompt holds for the action
    that its prompt names."""

    def reply(body):
        text = prompt_text(body)
        if "You judge single actions" in text:
            action = re.search(r"CURRENT ACTION: (.*)", text)[1]
            found = next((said for start, said in (values or {}).items() if action.startswith(start)), ["[Score]: 3"])
            return (found * body.get("n", 1))[: body.get("n", 1)]
        if "You know how websites behave" in text:
            action = re.search(r"CURRENT ACTION: (.*)", text)[1]
            return f"[Rationale] r\n[Next State] The expected effect is that {action} works."
        if "name the single action" in text:
            return "CLICK the link Back"
        return [f"Action: `{WRITTEN[action]}` (why)" for action in actions][: body.get("n", 1)]

    return reply


def test_the_most_frequent_action_is_taken_and_all_are_told():
    decision, server = decided(sampled(IMPRINT, RESERVE, HARBOUR, RESERVE), plan__samples="4")
    assert decision.actions == (RESERVE,)
    assert [(branch.action, branch.chosen) for branch in decision.branches] == [
        (RESERVE, True),
        (IMPRINT, False),
        (HARBOUR, False),
    ]
    assert decision.branches[0].prediction == "2 of 4 samples"
    assert decision.trace["imagine"]["counts"] == [2, 1, 1]
    assert (server.requests[0]["n"], server.requests[0]["temperature"], server.requests[0]["top_p"]) == (4, 1.0, 0.95)


def test_of_equally_frequent_actions_the_first_drawn_is_taken():
    decision, _ = decided(sampled(HARBOUR, RESERVE, RESERVE, HARBOUR), plan__samples="4")
    assert decision.actions == (HARBOUR,)


def test_a_sample_without_action_competes_in_the_published_way_alone():
    drawn = sampled(None, RESERVE, None)
    assert decided(drawn, plan__samples="3")[0].actions == (RESERVE,)
    published, _ = decided(drawn, plan__samples="3", quirks__unread_samples_compete="true")
    assert published.actions == ()
    assert [branch.chosen for branch in published.branches] == [True, False]


def test_without_imagining_the_first_sample_is_acted_on():
    assert decided(sampled(IMPRINT, RESERVE, RESERVE), plan__samples="3", imagine__kind="none")[0].actions == (IMPRINT,)


VALUES = {"CLICK on [11]": ["[Score]: 2", "[Score]: 4"], "CLICK on [13]": ["[Score]: 5", "nothing"]}


def test_the_best_valued_action_is_taken_whatever_its_frequency():
    decision, server = decided(
        sampled(RESERVE, RESERVE, IMPRINT, values=VALUES), "wma", plan__samples="3", imagine__value_samples="2"
    )
    assert decision.actions == (IMPRINT,)
    reserve, imprint = decision.branches
    assert (reserve.value, imprint.value, imprint.chosen) == (3.0, 5.0, True)
    assert imprint.prediction.startswith("The expected effect is that CLICK on [13] where [13] is link 'Imprint'")
    assert decision.trace["imagine"]["scores"] == [[2.0, 4.0], [5.0, None]]
    assert decision.trace["imagine"]["usage"]["calls"] == 4
    assert set(decision.trace["imagine"]["prompts"]) == {"world_model", "value"}
    assert decision.usage.calls == 5
    assert decision.seconds["imagine"] > 0
    imagined = next(prompt_text(body) for body in server.requests if "You know how" in prompt_text(body))
    assert "[11] button 'Reserve'" in imagined, "the page as an accessibility tree"


def test_without_chance_each_value_is_asked_for_once():
    drawn = sampled(RESERVE, RESERVE, IMPRINT, values=VALUES)
    changes = {"plan__samples": "3", "imagine__value_samples": "9"}
    counts = {}
    for temperature in ("0", "1"):
        _, server = decided(drawn, "wma", **changes, imagine__temperature=temperature)
        counts[temperature] = sorted(body.get("n", 1) for body in server.requests)
    assert counts == {"0": [1, 1, 1, 1, 3], "1": [1, 1, 3, 9, 9]}


def test_a_page_that_is_not_cut_to_imagine_is_cut_to_be_valued(monkeypatch):
    monkeypatch.setattr(WorldModel, "page", lambda self, tree: tree)  # as kinds that ask no model leave it
    drawn = sampled(RESERVE, RESERVE, IMPRINT)
    shown = {}
    for tokens in ("16", "3840"):
        changes = {"plan__samples": "3", "imagine__value_samples": "1", "imagine__page_tokens": tokens}
        _, server = decided(drawn, "wma", **changes)
        texts = [prompt_text(body) for body in server.requests]
        shown[tokens] = [text for text in texts if "You judge single actions" in text]
    assert len(shown["16"]) == len(shown["3840"]) == 2
    assert all("link 'Imprint'" in text.partition("NEXT")[0] for text in shown["3840"])
    assert not any("[13] link 'Imprint'\n" in text for text in shown["16"])


class Shortest(Valuing):
    """The shortest outcome is the best."""

    reads = frozenset({"imagine.value_model"})

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return ["weights of mine"]

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {"lengths": "Lengths are counted in characters."}

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        return "short outcomes alone" if recipe.imagine.max_new_tokens > 1000 else ""

    def value(self, considered: Sequence[Considered], text: str) -> None:
        for one in considered:
            one.score = Valuation(-len(one.expected or ""), (float(-len(one.expected or "")),))


class Weights(ChatGenerator):
    """Weights that somebody trained: what another server answers."""

    def configure(self, max_new_tokens: int, max_tokens: int) -> None:
        self.max_new_tokens = max_new_tokens


@pytest.mark.parametrize(
    ("changes", "of_weights"),
    [
        ({"imagine__kind": "trained", "imagine__model": "w"}, {"You know how websites behave": 2}),
        (
            {"imagine__value": "progress", "imagine__value_model": "w"},
            {"You judge single actions": 2},
        ),
        (
            {"imagine__kind": "trained", "imagine__model": "w", "imagine__value": "progress"}
            | {"imagine__value_model": "w"},
            {"You know how websites behave": 2, "You judge single actions": 2},
        ),
    ],
)
def test_trained_models_are_asked_beside_a_planner_that_asks_another(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], of_weights: dict[str, int]
) -> None:
    """The planner's model answered in their place."""
    reply = sampled(RESERVE, IMPRINT)
    with serve(reply) as weights:
        monkeypatch.setattr(
            model_questions, "imagining_weights", lambda name: Weights(ChatLlm(Endpoint(weights.url, "own")), name, 30)
        )
        _, server = decided(reply, "wma", plan__samples="2", imagine__value_samples="1", **changes)
        begun = [prompt_text(body) for body in weights.requests]
        planner = [prompt_text(body) for body in server.requests]
    texts = ("You know how websites behave", "You judge single actions")
    assert {
        text: sum(text in one for one in begun) for text in texts if any(text in one for one in begun)
    } == of_weights
    assert not any(text in one for text in of_weights for one in planner)
    assert {body["model"] for body in weights.requests} == {"w"}


def test_another_package_says_what_outcomes_are_worth(monkeypatch):
    monkeypatch.setitem(kinds()["imagine.value"], "embedded", Shortest)  # as if it had added it
    decision, server = decided(sampled(RESERVE, IMPRINT), "wma", plan__samples="2", imagine__value="embedded")
    assert len(server.requests) == 3, "the planner's samples, and what each of the two leads to"
    assert [branch.value < 0 for branch in decision.branches] == [True, True]
    recipe = literature.override(literature.get("wma"), {"imagine.value": "embedded"})
    with pytest.raises(ValueError, match=r"imagine\.predicts=page does not go with imagine\.value"):
        checking.vary(recipe, {"imagine.predicts": "page"})
    assert checking.vary(recipe, {"imagine.value_model": "mine"}), "which it reads"
    with pytest.raises(
        ValueError, match=r"value_model would change nothing .* needs imagine\.value=progress or embedded"
    ):
        checking.vary(literature.get("wma"), {"imagine.value_model": "mine"})
    with pytest.raises(ValueError, match=r"needs imagine\.value=likert or progress with imagine\.kind=world_model or "):
        checking.vary(literature.get("mindact-icl"), {"imagine.value_samples": "3"})
    assert "weights of mine" in [what for kind in recipe_kinds(recipe) for what in kind.lacking(recipe)]
    assert "Lengths are counted in characters." in [said.words for said in deviations.of_recipe(recipe)]
    with pytest.raises(ValueError, match="short outcomes alone"):
        checking.vary(recipe, {"imagine.max_new_tokens": "4000"})


def test_a_text_that_repeats_a_line_is_hidden_from_the_world_model_in_the_published_way_alone():
    drawn = sampled(RESERVE, RESERVE, IMPRINT)
    changes = {"plan__samples": "3", "imagine__value_samples": "1"}
    page = PAGE.replace("</body>", '<p backend_node_id="15"><text backend_node_id="16">Imprint</text></p></body>')
    shown = {}
    for hides in ("true", "false"):
        _, server = decided(drawn, "wma", page, **changes, quirks__webarena_hides_repeated_texts=hides)
        shown[hides] = [text for body in server.requests if "CURRENT OBSERVATION" in (text := prompt_text(body))]
    assert len(shown["true"]) == len(shown["false"]) == 4, "imagined and valued"
    assert all("link 'Imprint'" in text for text in shown["true"] + shown["false"])
    assert all("StaticText 'Imprint'" in text for text in shown["false"])
    assert not any("StaticText 'Imprint'" in text for text in shown["true"])


def test_another_model_may_imagine_and_at_more_length_than_the_planner():
    drawn = sampled(RESERVE, RESERVE, IMPRINT)
    changes = {"plan__samples": "3", "imagine__model": "dreamer", "imagine__max_new_tokens": "700"}
    _, server = decided(drawn, "wma", **changes, imagine__value_samples="1")
    assert {(body["model"], body["max_tokens"]) for body in server.requests} == {("m", 100), ("dreamer", 700)}


def test_an_answer_that_cannot_be_read_counts_as_nothing_in_the_published_way_alone():
    """The mean of 5 and of nothing is 2.5 there, which is less than 3."""
    drawn = sampled(RESERVE, RESERVE, IMPRINT, values=VALUES)
    changes = {"plan__samples": "3", "imagine__value_samples": "2", "preset": "faithful"}
    assert decided(drawn, "wma", **changes, quirks__q18_gold_in_top_k="false")[0].actions == (RESERVE,)


def test_the_published_code_takes_another_sample_than_it_chose():
    """Quirk Q23: the best of the frequency-sorted actions stands at place 1, where IMPRINT was drawn first."""
    drawn = sampled(IMPRINT, IMPRINT, RESERVE, values=VALUES | {"CLICK on [13]": ["[Score]: 1"]})
    changes = {"plan__samples": "3", "imagine__value_samples": "2"}
    corrected, _ = decided(drawn, "wma", **changes)
    assert corrected.actions == (RESERVE,)
    assert [one.action for one in corrected.branches if one.chosen and one.by_value] == [RESERVE]
    quirk = {"quirks__wq23_takes_sample_of_that_place": "true"}
    live, _ = decided(drawn, "wma", **changes, **quirk)
    assert live.actions == (RESERVE,), "the loop of WebArena does what it chose"
    published, _ = decided(drawn, "wma", **changes, **quirk, imagine__loop="mind2web")
    assert published.actions == (IMPRINT,)
    told = {branch.action: (branch.chosen, branch.by_value) for branch in published.branches}
    assert told == {IMPRINT: (True, False), RESERVE: (False, True)}, "both are told: what was best, and what is done"


def test_it_takes_the_sample_of_that_place_among_those_that_compete():
    """Replies without an action stand before the others in what was drawn."""
    drawn = sampled(None, None, RESERVE, IMPRINT, values=VALUES | {"CLICK on [13]": ["[Score]: 1"]})
    changes = {"plan__samples": "4", "imagine__value_samples": "1", "imagine__loop": "mind2web"}
    decision, _ = decided(drawn, "wma", **changes, quirks__wq23_takes_sample_of_that_place="true")
    assert decision.actions == (RESERVE,)
    assert [branch.action for branch in decision.branches if branch.chosen] == [RESERVE]


def test_no_more_actions_are_imagined_than_asked_for():
    drawn = sampled(RESERVE, RESERVE, IMPRINT, IMPRINT, HARBOUR)
    changes = {"plan__samples": "5", "imagine__samples": "2"}
    decision, _ = decided(drawn, "wma", **changes)
    assert [branch.action for branch in decision.branches] == [RESERVE, IMPRINT]
    quirk = {"quirks__wq22_imagines_every_sample": "true"}
    live, _ = decided(drawn, "wma", **changes, **quirk)
    assert live.branches == decision.branches, "the loop of WebArena imagines the most frequent ones"
    every, _ = decided(drawn, "wma", **changes, **quirk, imagine__loop="mind2web")
    assert [branch.action for branch in every.branches] == [RESERVE, IMPRINT, HARBOUR]


INPUTS = {"imagine-address", "imagine-cut"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, {"imagine-examples", "imagine-planned"}),
        ({"imagine.loop": "mind2web"}, {"imagine-examples", "imagine-tree", "imagine-errors"}),
        ({"imagine.kind": "trained"}, {"imagine-described", "imagine-planned"}),
        ({"imagine.kind": "value_only"}, {"imagine-planned"}),
    ],
)
def test_what_models_are_asked_otherwise_than_published_is_told(changes: dict[str, str], told: set[str]):
    recipe = literature.override(literature.get("wma"), changes)
    found = {one.key for one in deviations.of_recipe(recipe) if one.key.startswith("imagine-")}
    assert found == INPUTS | told
    ours = literature.override(literature.get("grounded-world-model"), {})
    assert not any(one.key.startswith("imagine-") for one in deviations.of_recipe(ours)), "no paper asks so"


STOPPING = Action("TYPE", "5", "bus stop")
WRITTEN[STOPPING] = "TYPE [5] [bus stop]"


def test_in_the_published_loop_of_webarena_an_action_that_says_stop_is_done_at_once():
    """Quirk Q21: whatever is typed may hold the word."""
    drawn = sampled(RESERVE, RESERVE, STOPPING, values=VALUES)
    changes = {"plan__samples": "3", "imagine__value_samples": "2"}
    corrected, server = decided(drawn, "wma", **changes)
    assert corrected.actions == (RESERVE,)
    assert len(server.requests) > 1
    quirk = {"quirks__wq21_stop_wins": "true"}
    published, server = decided(drawn, "wma", **changes, **quirk)
    assert (published.actions, len(server.requests)) == ((STOPPING,), 1), "nothing is imagined"
    assert [branch.chosen for branch in published.branches] == [False, True]
    assert {branch.value for branch in published.branches} == {None}
    recorded, _ = decided(drawn, "wma", **changes, **quirk, imagine__loop="mind2web")
    assert recorded.actions == (RESERVE,)


def test_one_action_alone_needs_no_imagining():
    decision, server = decided(sampled(RESERVE, RESERVE), "wma", plan__samples="2")
    assert (decision.actions, len(server.requests)) == ((RESERVE,), 1)


def test_two_actions_in_a_row_are_imagined():
    decision, server = decided(
        sampled(RESERVE, IMPRINT, values=VALUES),
        "wma",
        plan__samples="2",
        imagine__depth="2",
        imagine__value_samples="1",
    )
    texts = [prompt_text(body) for body in server.requests]
    assert sum("You know how" in text for text in texts) == 4
    second = [text for text in texts if "CURRENT ACTION: CLICK the link Back" in text]
    assert len(second) == 2
    for text in second:
        seen = text.partition("CURRENT OBSERVATION:")[2]
        assert "[11] button" in seen, "elements that may be acted on are still shown"
        assert "EXPECTED SINCE THEN, and not yet shown above:\nThe expected effect is that CLICK on [1" in seen
    (asked, *_) = (text for text in texts if "name the single action" in text)
    assert "[11] button" in asked
    assert "The expected effect is that" in asked
    first = decision.branches[0]
    assert first.prediction.startswith("The expected effect is that CLICK on [11]")
    assert [(one.representation, one.prediction) for one in first.further] == [
        ("CLICK the link Back", "The expected effect is that CLICK the link Back works.")
    ]
    assert "imagined_action" in decision.trace["imagine"]["prompts"]


def test_an_endpoint_that_refuses_to_imagine_leaves_the_most_frequent_action():
    """What cannot be valued is worth nothing, and the more frequent one of equals is taken."""
    drawn = sampled(IMPRINT, RESERVE, RESERVE)

    def refusing(body):
        imagines = re.search("You know how|You judge", prompt_text(body))
        return drawn(body) if imagines is None else failure(400, "too long")

    decision, _ = decided(refusing, "wma", plan__samples="3", imagine__value_samples="1")
    assert decision.actions == (RESERVE,)
    assert len(decision.trace["imagine"]["errors"]) == 4


@pytest.mark.slow
def test_a_long_page_is_cut_to_its_budget():
    page = "<html backend_node_id='1'>" + "".join(
        f"<button backend_node_id='{n}'><text backend_node_id='{n}0'>Number {n}</text></button>" for n in range(11, 400)
    )
    recipe = literature.override(literature.get("wma"), {"imagine.page_tokens": "100"})
    with serve(sampled(RESERVE)) as server:
        asking = Asking.of_endpoint(Parts(recipe, llm=ChatLlm(Endpoint(server.url, "m"))), 100, "")
        text = asking.cut(accessibility_tree(parse(page + "</html>")))
    assert 50 < asking.generator.count_tokens(text) <= 100
    assert text.startswith("[1] RootWebArea")


def test_an_action_is_told_with_the_line_of_its_element():
    page = "[1] RootWebArea 'x'\n\t[5] textbox 'Harbour' required: False"
    assert described(HARBOUR, page) == "TYPE [Bergen] on [5] where [5] is textbox 'Harbour' required: False"
    assert described(RESERVE, page) == "CLICK on [11]"
    assert described(Action("SCROLL"), page) == "SCROLL"


def test_without_samples_there_is_nothing_to_compare():
    with pytest.raises(CannotRun, match=r"compares samples: set plan\.samples of at least 2"):
        decided(sampled(RESERVE), plan__samples="1")


@pytest.mark.parametrize(
    ("loop", "preset", "answers", "value"),
    [
        ("webarena", "faithful", ["[Score] 0.5", "none"], 0.5),
        ("mind2web", "faithful", ["[Score] 0.5", "none"], 0.25),
        ("webarena", "faithful", ["Score: 0.5"], 0.5),
        ("mind2web", "faithful", ["Score: 0.5"], 0.0),
        ("webarena", "faithful", ["[Score]: 0.25"], 0.0),
        ("webarena", "corrected", ["[Score]: 0.25"], 0.25),
    ],
)
def test_how_far_a_step_is_is_read_as_in_the_loop_that_was_published(loop, preset, answers, value):
    changes = {"preset": preset, "imagine.loop": loop, "imagine.value": "progress"}
    recipe = literature.override(literature.get("wma"), changes)
    valuing = object.__new__(ProgressValue)  # without its weights, which nothing here asks
    valuing.recipe = recipe
    assert valuing._reading()(answers).mean == value


@pytest.mark.parametrize(
    ("answer", "published", "ours"),
    [("[Score]: 4", 4, 4), ("[Score] 4", 0, 4), ("Score: 2", 0, 2), ("[Score]: 9", 0, None), ("none", 0, None)],
)
def test_our_reading_takes_every_usual_spelling(answer, published, ours):
    assert scores.likert([answer]).mean == published
    assert scores.corrected([answer]).mean == ours


def test_unread_answers_are_left_out_of_our_mean():
    assert scores.corrected(["[Score]: 4", "hm"]).mean == 4
    assert scores.corrected(["[Score]: 4", "hm"]).each == (4, None)
    assert scores.likert(["[Score]: 4", "hm"]).mean == 2


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("[Rationale] A score of 5 would need the right date. [Score]: 2", 2),
        ("The score is: 3.", 3),
        ("Some would say score 1, my score is 4", 4),
        ("[Score]: 9", None),
    ],
)
def test_the_grade_that_is_given_last_counts_and_that_after_the_tag_before_any_other(answer, grade):
    assert scores.corrected([answer]).mean == grade


def test_an_action_whose_value_nobody_can_read_is_told_so_and_loses_against_one_that_was_read():
    values = {"CLICK on [11]": ["who knows"], "CLICK on [13]": ["[Score]: 1"]}
    decision, _ = decided(sampled(RESERVE, RESERVE, IMPRINT, values=values), "wma", plan__samples="3")
    assert decision.actions == (IMPRINT,)
    assert [branch.value for branch in decision.branches] == [None, 1.0]
    noted = decision.trace["imagine"]
    assert (noted["graded"], noted["ungraded"]) == ([["who knows"] * 3, ["[Score]: 1"] * 3], [20, 0])


def test_grades_that_the_published_way_of_reading_misses_are_counted_as_not_read():
    """A score that is written without its colon is 0 there, which nobody has given."""
    values = {"CLICK on [11]": ["[Score] 4"], "CLICK on [13]": ["[Score]: 1"]}
    reply = sampled(RESERVE, RESERVE, IMPRINT, values=values)
    decision, _ = decided(reply, "wma", plan__samples="3", preset="faithful")
    assert [branch.value for branch in decision.branches] == [0.0, 1.0]
    assert decision.trace["imagine"]["ungraded"] == [20, 0]


def test_an_outcome_that_cannot_be_read_is_noted_at_the_step():
    reply = sampled(RESERVE, IMPRINT)

    def mute(body):
        return "It will work." if "You know how websites behave" in prompt_text(body) else reply(body)

    decision, _ = decided(mute, "wma", plan__samples="2")
    assert decision.trace["imagine"]["unread"] == 2
    assert {branch.prediction for branch in decision.branches} == {"the world model's answer could not be read"}


def test_without_an_outcome_actions_are_valued_as_they_are():
    """Of WMA's Table 5, no next state in the reward."""
    drawn = sampled(RESERVE, RESERVE, IMPRINT, values=VALUES)
    changes = {"plan__samples": "3", "imagine__value_samples": "2", "imagine__kind": "value_only"}
    decision, server = decided(drawn, "wma", **changes)
    assert decision.actions == (IMPRINT,)
    assert set(decision.trace["imagine"]["prompts"]) == {"value_only"}
    assert [branch.prediction for branch in decision.branches] == ["not imagined"] * 2
    valued = [text for body in server.requests if "You judge" in (text := prompt_text(body))]
    assert len(valued) == 2
    assert not any("EXPECTED" in text for text in valued)
    assert len(server.requests) == 3, "nothing is imagined"


def test_a_world_model_may_write_the_whole_page():
    """Of WMA's Table 5, no abstraction."""
    drawn = sampled(RESERVE, RESERVE, IMPRINT, values=VALUES)

    def reply(body):
        if "write the page after that action" in prompt_text(body):
            return "[Rationale] r\n[Next State] [1] RootWebArea 'Harbour'\n\t[2] button 'Back'"
        return drawn(body)

    changes = {"plan__samples": "3", "imagine__value_samples": "2", "imagine__predicts": "page"}
    decision, server = decided(reply, "wma", **changes, imagine__page_tokens="700")
    assert decision.actions == (IMPRINT,)
    assert set(decision.trace["imagine"]["prompts"]) == {"world_model_page", "value_page"}
    assert decision.branches[0].prediction == "[1] RootWebArea 'Harbour'\n\t[2] button 'Back'"
    valued = [text for body in server.requests if "You judge" in (text := prompt_text(body))]
    assert all(text.endswith("EXPECTED PAGE:\n[1] RootWebArea 'Harbour'\n\t[2] button 'Back'") for text in valued)
    assert [body["max_tokens"] for body in server.requests] == [100, 700, 700, 500, 500], "as long as a page shown"


def test_the_page_that_is_imagined_last_is_valued_alone():
    first = iter(["[1] RootWebArea 'First'", "[1] RootWebArea 'Other'"])
    drawn = sampled(RESERVE, RESERVE, IMPRINT, values=VALUES)

    def reply(body):
        if "write the page after that action" not in (text := prompt_text(body)):
            return drawn(body)
        after = {"'First'": "[1] RootWebArea 'Last'", "'Other'": "unreadable"}
        return f"[Next State] {next((page for name, page in after.items() if name in text), None) or next(first)}"

    changes = {"plan__samples": "3", "imagine__value_samples": "1", "imagine__depth": "2"}
    decision, server = decided(reply, "wma", **changes, imagine__predicts="page")
    told = [[branch.prediction, *(one.prediction for one in branch.further)] for branch in decision.branches]
    assert sorted(told) == [
        ["[1] RootWebArea 'First'", "[1] RootWebArea 'Last'"],
        ["[1] RootWebArea 'Other'", "unreadable"],
    ]
    second = [text for body in server.requests if "name the single action" in (text := prompt_text(body))]
    assert sum("First" in text for text in second) == sum("Other" in text for text in second) == 1


class FirstThree(Planning):
    """A planner of another package that asks nothing: the first three elements, as a click each."""

    draws = True

    def run(self, states):
        for state in states:
            state.drawn = tuple(Action("CLICK", one.node_id) for one in state.ranking[:3])
            state.close(state.drawn[0])


def test_a_planner_of_another_package_that_asks_nothing_is_imagined_for_by_the_endpoint(monkeypatch):
    monkeypatch.setitem(kinds()["plan.kind"], "grounded", FirstThree)
    drawn = sampled(values={"CLICK on [5]": ["[Score]: 5"]})
    changes = {"imagine__kind": "world_model", "imagine__value": "likert", "imagine__value_samples": "1"}
    decision, server = decided(drawn, "grounded-world-model", **changes, imagine__samples="3", plan__temperature="1")
    assert decision.actions == (Action("CLICK", "5"),)
    assert len(server.requests) == 6, "three imagined, three valued"
    recipe = literature.override(literature.get("grounded-world-model"), {"imagine.kind": "world_model"})
    assert lacking.asks_endpoint(recipe)
