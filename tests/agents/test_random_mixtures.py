"""Mixtures that are accepted run: drawn at random, decided on pages, with what a run must have said before apart."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agents.cookbook import checking
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.pipeline import Pipeline
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.recipes.declaring import settings_of, values_of
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.kind import Parts
from agents.stages.registry import recipe_kinds
from agents.types import Decision, Image, Observation, PastAction, RecordedStep
from annotations.datasets import miniwob_demos
from annotations.datasets.records import ConversationRecord
from annotations.dom.weblinx_page import page_xml
from tests.agents.prompt_world import AllCandidates, Asked, KnownMemory, KnownSets, recorded, turns
from tests.agents.test_imagine_retrieval import CHANGING, Known
from tests.agents.weblinx_demo import BOXES
from tests.annotations.miniwob_tasks import write

pytestmark = pytest.mark.django_db  # what weights are here, rows say
MIXTURES = 60  # of recipes on each kind of data
SEED = 12
SHOT = Image(b"a picture of the page")
EPISODES = 3
EVERY = {"multichoice", "generation", "trajectory", "program", "first"}
KINDS = {"miniwob": "any"}  # data -> what recipes for it say
ELSEWHERE = {
    "preset": "sets every quirk",
    "prompts.pack": "people make them",
    "recall.encoder": "one is known here",
}
DRAWN = {
    name: found.choices
    for name, found in settings_of(Recipe).items()
    if len(found.choices) > 1 and name not in ELSEWHERE
}
SAID = ('click(uid="go")', 'say(speaker="navigator", utterance="7")', 'textinput(text="1", uid="field")')  # of turns
COMPARED = {"plan.samples": "3", "plan.temperature": "0.7"}  # what compares samples asks for


def mixture(drawn: random.Random, names: Sequence[str]) -> tuple[Recipe, list[str]]:
    """A recipe with what was accepted of some settings, one after another."""
    recipe = literature.get(drawn.choice(names))
    taken: list[str] = []
    for setting in drawn.sample(sorted(DRAWN), 12):
        value = str(drawn.choice([*DRAWN[setting]]))
        if value == str(values_of(recipe)[setting]):
            continue
        try:
            recipe = checking.vary(
                recipe, {setting: value} | (COMPARED if setting in ("imagine.kind", "act.ask") else {})
            )
        except ValueError:
            continue
        taken.append(f"{setting}={value}")
    return recipe, taken


def lacks(recipe: Recipe) -> bool:
    """Whether a run is refused before its first step: weights of what imagines, keys that vote. Rankers and planners
    that lack their weights are known here."""
    said = [what for kind in recipe_kinds(recipe) for what in kind.lacking(recipe)]
    return any(what.startswith(("imagine.", "recall.")) for what in said)


class Demonstrated(KnownMemory):
    """Recalls what people did on MiniWoB++-like pages."""

    def __init__(self) -> None:
        self.steps = list(demonstrated())


@cache
def demonstrated() -> tuple[RecordedStep, ...]:
    """Three episodes as turns of a conversation, as the importer reads what was recorded of people."""
    with TemporaryDirectory() as folder:
        read = [one for one in miniwob_demos.read(write(Path(folder))) if isinstance(one, ConversationRecord)]
    found: list[RecordedStep] = []
    several = [episode for episode in read if len(episode.turns[0].steps) > 1]
    for number, episode in enumerate(several[:: len(several) // EPISODES][:EPISODES]):
        first = len(found)
        for index, step in enumerate(episode.turns[0].steps):
            done = tuple(one.action for one in found[first:])
            positives = tuple(one.node_id for one in step.positives)
            seen = Observation(
                key=100 * number + index + 1,
                conversation=1,
                turn_index=number,
                step_index=index,
                website=episode.website,
                domain=episode.domain,
                subdomain=episode.subdomain,
                instruction=episode.turns[0].instruction,
                html=step.html,
                candidate_ids=tuple(sorted({one.node_id for one in (*step.positives, *step.negatives)})),
                turn_actions=done,
                earlier_instructions=tuple(other.turns[0].instruction for other in several[:number]),
                turn_steps=tuple(found[first:]),
            )
            action = PastAction(step.action_repr, step.operation, positives[0] if positives else None, step.value)
            found.append(RecordedStep(seen, action, positives))
    return tuple(found)


def steps(recipe: Recipe, data: str) -> list[Observation]:
    """As an import has them: pages of turns are written as XML, and turns that load or say have none."""
    if data == "miniwob":
        return [step.observation for step in demonstrated()]
    if recipe.data == "any":
        return [step.observation for step in recorded()]
    shown = [(turn, turn.demo.pages.page_html(turn.demo.turns[turn.demo_turn])) for turn in turns() if turn.demo]
    return [replace(turn, html=page_xml(html, BOXES)[0] if html else "") for turn, html in shown]


def decided(recipe: Recipe, seen: Sequence[Observation], data: str) -> list[Decision]:
    asked, encoder = Asked(webnav(), several=recipe.plan.samples > 1), CachedEncoder(HashEncoder())
    if recipe.plan.samples > 1 and data == "weblinx":
        asked.samples = SAID
    memory = Demonstrated() if data == "miniwob" else KnownMemory()
    given = asked, memory, encoder, asked, AllCandidates(), asked, asked.pack
    return Pipeline.of(Parts(recipe, 0, *given, sets=KnownSets(), remembered=Known(CHANGING))).decide(seen)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["any", "weblinx", "miniwob"])
def test_an_accepted_mixture_decides_every_step_that_has_a_page(data: str) -> None:
    drawn = random.Random(SEED)
    names = [name for name, recipe in RECIPES.items() if recipe.data == KINDS.get(data, data) and not recipe.needs]
    ran, looked = Counter[str](), Counter[str]()
    seeing = {"text", "text+image"} | ({"image"} if data != "weblinx" else set())
    # some planners go with little of what is drawn
    while sum(ran.values()) < MIXTURES or not ran.keys() >= EVERY or not looked.keys() >= seeing:
        assert sum(ran.values()) < 10 * MIXTURES, f"never drawn: {(EVERY - ran.keys()) | (seeing - looked.keys())}"
        recipe, taken = mixture(drawn, names)
        if not taken or lacks(recipe):
            continue
        seen = [replace(step, screenshot=SHOT) for step in steps(recipe, data)]
        made = decided(recipe, seen, data)
        assert made
        errors = [one.error for one in made]
        failed = [error for step, error in zip(seen, errors, strict=True) if error and step.html]
        assert failed == [], f"{recipe.name} with {taken}"
        ran[recipe.plan.kind] += 1
        looked[recipe.observe.observation] += 1


@pytest.mark.parametrize(
    "imagined",
    [
        {"imagine.kind": "world_model"},
        {"imagine.kind": "value_only"},
        {"imagine.kind": "retrieval", "imagine.value": "embedded"},
        {"imagine.kind": "world_model", "imagine.loop": "mind2web"},
    ],
)
def test_a_turn_without_a_page_is_decided_by_the_most_frequent_reply_and_fails_no_other(
    imagined: dict[str, str],
) -> None:
    recipe = checking.vary(literature.get("weblinx-flan-t5"), COMPARED | imagined)
    seen = steps(recipe, "weblinx")
    decisions = zip(seen, decided(recipe, seen, "weblinx"), strict=True)
    asked = [(step, one) for step, one in decisions if "samples" in one.trace["plan"]]
    assert {bool(step.html) for step, _ in asked} == {True, False}, "turns of both kinds"
    for step, one in asked:
        assert one.error == ""
        assert len(one.branches) == len(SAID)
        unseen = f"not imagined: no page was recorded at turn {step.turn_index + 1}, step {step.step_index + 1}"
        assert all((branch.prediction == unseen) is not bool(step.html) for branch in one.branches)
        assert all((branch.value is None) is not bool(step.html) for branch in one.branches)
        assert step.html or one.actions == (one.branches[0].action,)


def test_a_turn_before_the_first_page_is_no_error_of_a_planner_that_acts_on_the_best_element() -> None:
    recipe = checking.vary(literature.get("weblinx-flan-t5"), {"rank.kind": "dual_encoder", "plan.kind": "grounded"})
    seen = steps(recipe, "weblinx")
    unranked = [one for one in decided(recipe, seen, "weblinx") if not one.ranking]
    assert {(one.actions, one.error) for one in unranked} == {((), "")}
