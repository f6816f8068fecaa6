"""A page that cannot be shown fails its own step, whatever agent meets it; the others of its batch are decided."""

from dataclasses import replace

import pytest

from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.types import Decision, DecisionUsage, Observation, RankedCandidate
from agents.weblinx.documents import training_documents
from agents.weblinx.turns import Demo
from agents.words.generator import Generated
from annotations.dom.limits import MAX_TAGS
from annotations.sandbox import deadline
from tests.agents.fixed_ranker import FixedRanker
from tests.agents.weblinx_demo import BOXES, PAGE, PagesByName, browser, chat

SMALL = '<html backend_node_id="1"><a backend_node_id="2"><text backend_node_id="3">Go</text></a></html>'
HEAVY = PAGE.replace("</form>", "<i></i>" * MAX_TAGS + "</form>")


class Answers:
    """Gives the same answer to every prompt."""

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    def generate(self, prompts) -> list[Generated]:
        assert prompts  # a server would refuse an empty request
        self.asked += len(prompts)
        return [Generated(self.text, "", DecisionUsage()) for _ in prompts]

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def observation(key: int, html: str, **fields) -> Observation:
    return Observation(
        key=key,
        conversation=1,
        turn_index=1,
        step_index=0,
        website="w",
        domain="",
        subdomain="",
        instruction="Go",
        html=html,
        **fields,
    )


class Named:
    """Ranks an element that is named for each step first, then the root."""

    def __init__(self, *node_ids: str) -> None:
        self.node_ids = node_ids

    def rank(self, observations) -> list[tuple[RankedCandidate, ...]]:
        return [
            tuple(RankedCandidate(named, 1.0, rank, "Go") for rank, named in enumerate((self.node_ids[seen.key], "1")))
            for seen in observations
        ]


def agent(kind: str, ranker, generator) -> Pipeline:
    """The first recipe with that planner, without memory."""
    recipe = next(r for r in literature.RECIPES.values() if r.plan.kind == kind)
    return Pipeline.of(
        Parts(literature.override(recipe, {"recall.memory": "none"}), ranker=ranker, generator=generator)
    )


def error(decision: Decision) -> str:
    return decision.error


@pytest.mark.parametrize(
    ("html", "node_id", "why"),
    [
        (SMALL, "3", "is a <text>, not an element"),
        (SMALL.replace("Go", ""), "2", "no text"),
        (SMALL, "77", "no element with"),
        ("<a", "2", "not well-formed"),
        ("<a/>" * (MAX_TAGS + 1), "2", "at most 1,000,000"),
    ],
)
@pytest.mark.parametrize("kind", ["multichoice", "generation"])
def test_prompts_about_pages(kind, html, node_id, why) -> None:
    generator = Answers("B.\nAction: CLICK\n" if kind == "multichoice" else "Element: Go\nAction: CLICK\n")
    planner = agent(kind, Named(node_id, "2"), generator)
    bad, good = planner.decide([observation(0, html), observation(1, SMALL)])
    assert why in error(bad)
    assert bad.actions == ()
    assert error(good) == ""
    assert generator.asked > 0
    assert error(planner.decide([observation(0, html)])[0]) == error(bad)


@pytest.mark.parametrize("kind", ["multichoice", "generation", "trajectory", "program"])
@pytest.mark.parametrize("data", ["any", "weblinx"])
def test_a_step_that_was_recorded_without_a_page_says_so(kind, data) -> None:
    """Turns of WebLINX are often words alone; any planner may be asked about them."""
    recipe = next(r for r in literature.RECIPES.values() if r.plan.kind == kind)
    recipe = literature.override(recipe, {"recall.memory": "none", "recall.exemplars": "none"})
    generator = Answers("None")
    planner = Pipeline.of(Parts(replace(recipe, data=data), ranker=Named("2"), generator=generator))
    (decision,) = planner.decide([observation(0, " \n")])
    assert error(decision).endswith("cannot be shown: no page was recorded at turn 2, step 1")
    assert decision.actions == ()
    assert generator.asked == 0


def weblinx(html: str) -> Demo:
    turns = [chat("instructor", "Find", 0), browser("click", "go", 1)]
    return Demo.from_replay("a", {"data": turns}, PagesByName({"page-0-0.html": html}, {"bboxes-0.json": BOXES}))


def test_prompts_about_recordings() -> None:
    planner = agent("action_string", FixedRanker(), Answers('click(uid="go")'))
    steps = [observation(n, "", demo=weblinx(html), demo_turn=1) for n, html in enumerate((HEAVY, PAGE))]
    bad, good = planner.decide(steps)
    assert "at most 1,000,000 are read" in error(bad)
    assert (error(good), good.actions[0].node_id) == ("", "go")


def test_a_page_that_takes_too_long_fails_its_step_too(monkeypatch) -> None:
    monkeypatch.setattr(deadline, "SECONDS", 0.02)
    slow = PAGE.replace("</form>", "<i></i>" * (MAX_TAGS // 4) + "</form>")
    planner = agent("action_string", FixedRanker(), Answers('click(uid="go")'))
    (bad,) = planner.decide([observation(0, "", demo=weblinx(slow), demo_turn=1)])
    assert error(bad) == "the page cannot be shown: the page was given up: it took longer than 0.02 s"


def test_training_goes_without_a_recording_that_cannot_be_read() -> None:
    told: list[str] = []
    rows = training_documents(weblinx(HEAVY), on_unread=lambda turn, why: told.append(str(why)))
    assert list(rows) == []
    assert told == ["the page has 2,000,009 tags, at most 1,000,000 are read"]
    assert [turn.index for turn, _ in training_documents(weblinx(PAGE))] == [1]
