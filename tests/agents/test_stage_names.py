"""A stage has one name: of its folder, its settings, in traces and timings, on pages."""

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from lxml import etree

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.pipeline import Pipeline
from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.recipes.literature import RECIPES, Recipe
from agents.stages import known, registry
from agents.stages.kind import Parts, StageKind
from agents.stages.state import StepState
from agents.types import STAGES, Decision
from agents.weblinx.pages import KEPT_CHARS, kept_page, parse_page, xpaths
from tests.agents.prompt_world import AllCandidates, Asked, KnownMemory, KnownSets, recorded, turns
from tests.agents.test_imagine_retrieval import CHANGING, Known
from tests.parsed_sources import parsed

ROOT = Path(__file__).resolve().parents[2]
SIDE = (ROOT / "static" / "js" / "replay" / "side.js").read_text("utf-8")
RUNNABLE = [name for name, recipe in RECIPES.items() if not recipe.needs]


def decided(name: str) -> list[Decision]:
    """What the recipe decides at some steps, with everything that answers, embeds or remembers known."""
    recipe = literature.get(name)
    asked, encoder = Asked(webnav(), several=recipe.plan.samples > 1), CachedEncoder(HashEncoder())
    given = asked, KnownMemory(), encoder, asked, AllCandidates(), asked, asked.pack
    parts = Parts(recipe, 0, *given, sets=KnownSets(), remembered=Known(CHANGING))
    seen = [step.observation for step in recorded()] if recipe.data == "any" else list(turns())
    return Pipeline.of(parts).decide(seen)


def kinds() -> list[type[StageKind]]:
    return [kind for name in RUNNABLE for kind in registry.recipe_kinds(RECIPES[name])]


def test_folders_and_groups_of_settings_are_called_as_the_stages() -> None:
    folders = {folder.parent.name for folder in (ROOT / "agents" / "stages").glob("*/__init__.py")}
    assert folders == set(STAGES)
    assert {setting.partition(".")[0] for setting in known.kinds()} <= set(STAGES)
    groups = {field.name for field in fields(Recipe) if isinstance(field.default_factory, type)}
    assert groups - {"prompts", "quirks"} <= set(STAGES)


def test_a_kind_lies_in_the_folder_of_its_stage() -> None:
    every = [*kinds(), *(kind for by_name in known.kinds().values() for kind in by_name.values())]
    found = {(kind.stage, kind.__module__) for kind in every}
    assert {stage for stage, _ in found} == set(STAGES)
    assert [module for stage, module in found if not module.startswith(f"agents.stages.{stage}.")] == []


@pytest.mark.parametrize("name", RUNNABLE)
def test_what_a_run_records_and_times_is_called_as_the_stages(name: str) -> None:
    made = decided(name)
    assert made
    for decision in made:
        assert decision.trace.keys() <= set(STAGES)
        assert decision.seconds.keys() <= set(STAGES)
        assert decision.trace.keys() >= {kind.stage for kind in registry.recipe_kinds(literature.get(name))} & {"plan"}


def test_a_stage_writes_its_own_trace_and_no_other() -> None:
    written: dict[str, set[str]] = {}
    for path in sorted((ROOT / "agents" / "stages").rglob("*.py")):
        for node in ast.walk(parsed(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note":
                told = node.args[0]
                if isinstance(told, ast.Constant):
                    written.setdefault(path.parent.name, set()).add(str(told.value))
    assert written == {stage: {stage} for stage in STAGES if stage in written}
    assert written.keys() >= set(STAGES) - {"imagine"}, "which notes by `self.stage`"


@pytest.mark.parametrize("name", RUNNABLE)
def test_what_goes_wrong_is_said_by_the_stage_that_failed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: StageKind, states: Sequence[StepState]) -> None:
        for state in states:
            state.fail("the lamp went out")

    kind = next(kind for kind in registry.recipe_kinds(literature.get(name)) if kind.stage == "plan")
    monkeypatch.setattr(kind, "run", fails)
    for decision in decided(name):
        assert decision.error == "the lamp went out"
        assert [stage for stage, told in decision.trace.items() if "error" in told] == ["plan"]


def test_panels_and_headings_of_stages_are_called_as_the_stages() -> None:
    panels = re.findall(r"\b(stagePanel|section)\(\s*\"([^\"]+)\"", SIDE)
    assert {title for of, title in panels if of == "stagePanel"} == {"rank", "recall", "compose", "plan", "imagine"}
    assert {title for of, title in panels if of == "section"} == {"Decision", "What really happened", "Stages"}
    for template in ("agents/replay_file.html", "evaluation/compare_conversation.html"):
        headings = re.findall(r"<h3>\s*(\w+)", (ROOT / "templates" / template).read_text("utf-8"))
        assert set(headings) - {"reviews", "corrected"} == {"rank", "recall", "compose", "plan"}, template


def test_the_replay_lists_the_stages_in_their_order() -> None:
    listed = re.search(r"^const STAGES = \[(.*?)\];", SIDE, re.M)
    assert listed is not None
    assert tuple(re.findall(r'"(\w+)"', listed[1])) == STAGES


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_page_is_parsed_once_for_its_step_and_once_as_a_past_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever parser: all of lxml's end at this function. A past step that is shown to several steps of a batch is
    parsed once for all of them, and so is a recorded page that several turns of a demonstration are on."""
    parsed: list[str] = []
    parse = etree.fromstring

    def counted(html: str, *given: object, **named: object) -> object:
        parsed.append(html)
        return parse(html, *given, **named)

    monkeypatch.setattr(etree, "fromstring", counted)
    kept_page.cache_clear()
    xpaths.cache_clear()
    decided(name)
    of_turns = RECIPES[name].data != "any"
    assert parsed or RECIPES[name].plan.kind == "first", "pages are read by lxml"
    # equal pages of different steps are different ones
    times = Counter(parsed) if of_turns else Counter(map(id, parsed))
    assert max(times.values(), default=0) <= (1 if of_turns else 2)


def test_what_reads_a_shared_page_leaves_it_as_it_was() -> None:
    kept_page.cache_clear()
    decided("weblinx-flan-t5")
    shown = [(seen.demo, seen.demo.turns[seen.demo_turn]) for seen in turns() if seen.demo]
    pages = {html for demo, turn in shown if (html := demo.pages.page_html(turn))}
    assert pages
    for html in pages:
        page = parse_page(html)
        fresh = kept_page.__wrapped__(html)
        assert page is not None
        assert fresh is not None
        assert etree.tostring(page) == etree.tostring(fresh)


def test_a_page_that_would_fill_the_memory_is_not_kept() -> None:
    small = "<p>a</p>"
    large = f"<p>{'a' * KEPT_CHARS}</p>"
    assert parse_page(small) is parse_page(small)
    assert parse_page(large) is not parse_page(large)
