"""Mixtures that no paper tried: what a recipe recalls stands in its prompt, whatever planner reads it."""

import dataclasses

import pytest

from agents.cookbook import checking, deviations, lacking, sentences
from agents.models import Run
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.recipes.settings import RankSettings
from agents.stages import known, registry
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.plan.kinds import Planning
from tests.evaluation.recipe_world import make_workflows
from tests.evaluation.test_recipes_run import dataset, endpoint, run, stored_dataset, weights
from tests.quick import first_is_quick

__all__ = ["dataset", "endpoint", "stored_dataset", "weights"]
pytestmark = pytest.mark.django_db


def prompts(result: Run) -> list[str]:
    """The composed prompts of the later turns."""
    rows = result.steps.filter(step__turn__index__gt=0).exclude(error__gt="")
    return [row.trace["compose"]["prompt"] for row in rows]


def exemplar_text(result: Run) -> str:
    """The first words of a train conversation's instruction, which only an exemplar can show."""
    (row, *_) = result.steps.filter(step__turn__index__gt=0)
    return str(row.trace["recall"]["exemplars"][0]["instruction"])


@pytest.mark.slow
@first_is_quick("name", ["mindact-icl", "self-map", "mindact"])
def test_pages_show_workflows_and_exemplars(name, dataset, weights, endpoint, hash_encoder) -> None:
    make_workflows(dataset)
    plain = prompts(run(name, dataset, weights))
    mixture = {"recall.workflows": "environment", "recall.exemplars": "semantic", "recall.exemplar_k": "1"}
    if (
        literature.RECIPES[name].plan.backend == "local"
    ):  # what does not fit is not sent, and the trace does not show it
        mixture["compose.max_tokens"] = "30000"
    mixed = run(name, dataset, weights, **mixture)
    assert prompts(mixed)
    assert all("opens the form of a house" in text or "sorts the list of results" in text for text in prompts(mixed))
    assert not any("opens the form of a house" in text for text in plain)
    for row, text in zip(mixed.steps.filter(step__turn__index__gt=0), prompts(mixed), strict=True):
        assert text.count(exemplar_text(mixed)) >= 1, row


@pytest.mark.slow
@first_is_quick("name", ["awm", "synapse"])
def test_trajectories_show_memory_with_its_rationales(name, dataset, weights, endpoint, hash_encoder) -> None:
    make_workflows(dataset)
    plain = run(name, dataset, weights)
    memory = {"recall.memory": "multifaceted", "recall.k": "2", "recall.rationales": "model"}
    mixed = run(name, dataset, weights, **memory)
    rows = list(mixed.steps.filter(step__turn__index__gt=0))
    assert all(row.trace["recall"]["snippets"] for row in rows)
    for row in rows:
        for snippet in row.trace["recall"]["snippets"]:
            assert f"({snippet['action']})" in row.trace["compose"]["prompt"]
        assert "Rationale: The button carries out what was asked." in row.trace["compose"]["prompt"]
    assert not any("Rationale:" in text for text in prompts(plain))


def test_a_ranking_that_takes_what_memory_gives_comes_after_it() -> None:
    assert registry.recipe_kinds(literature.get("grounded"))[1].stage == "recall", "before the ranking that takes it"
    assert registry.recipe_kinds(literature.get("self-map"))[1].stage == "rank"


def test_what_is_not_there_is_refused_and_not_ignored(monkeypatch) -> None:
    recipe = literature.override(literature.get("bare"), {"imagine.kind": "world_model"})
    monkeypatch.delitem(known.kinds()["imagine.kind"], "world_model")
    with pytest.raises(CannotRun, match=r"imagine\.kind=world_model: there is no such kind yet"):
        registry.recipe_kinds(recipe)
    assert not [kind for kind in registry.recipe_kinds(literature.get("bare")) if kind.stage == "imagine"]


def test_every_published_recipe_is_put_together_of_kinds_in_the_order_of_the_stages() -> None:
    for recipe in literature.RECIPES.values():
        if recipe.needs:
            continue
        stages = [kind.stage for kind in registry.recipe_kinds(recipe)]
        assert stages[0] == "observe", recipe.name
        assert ("imagine" in stages) == (recipe.imagine.kind != "none"), recipe.name
        assert [stage for stage in stages if stage != "imagine"][-2:] == ["plan", "act"], recipe.name
        assert {"recall"} | ({"rank"} if registry.ranking_of(recipe) else set()) <= set(stages), recipe.name
        assert registry.ranking_of(recipe) or not registry.planner_of(recipe).needs_ranking, recipe.name


class Loudest(StageKind):
    """A kind of another package."""

    stage = "rank"


class _Point:
    def __init__(self, name: str, kind: type) -> None:
        self.name, self.kind = name, kind

    def load(self) -> type:
        return self.kind


def test_another_package_adds_a_kind_by_entry_point(monkeypatch) -> None:
    points = {"x": _Point("rank.kind.loudest", Loudest)}
    monkeypatch.setattr(known, "added", lambda group: points if group == "webnav.stages" else {})
    known.kinds.cache_clear()
    try:
        assert known.kinds()["rank.kind"]["loudest"] is Loudest
        known.kinds.cache_clear()
        points["x"] = _Point("rank.kind.dmr", Loudest)
        with pytest.raises(ValueError, match=r"rank\.kind\.dmr.* is no new kind"):
            known.kinds()
        points["x"] = _Point("recall.rewrite_instruction.mine", Loudest)  # a switch, so that nobody could choose it
        known.kinds.cache_clear()
        with pytest.raises(ValueError, match=r"is no new kind of (?!.*rewrite_instruction)"):
            known.kinds()
        points["x"] = _Point("rank.kind.odd", dict)
        known.kinds.cache_clear()
        with pytest.raises(ValueError, match="is no new kind"):
            known.kinds()
    finally:
        monkeypatch.undo()
        known.kinds.cache_clear()


def test_kinds_of_one_stage_that_stand_apart_are_refused_and_none_is_dropped() -> None:
    recipe = literature.get("bare")
    parts = Parts(recipe)

    class Later(StageKind):
        stage = "plan"

    with pytest.raises(CannotRun, match="stand apart, and each stage is run once: rank, plan, rank"):
        Pipeline(recipe, [Loudest(parts), Later(parts), Loudest(parts)])
    assert len(Pipeline(recipe, [Loudest(parts), Loudest(parts), Later(parts)]).stages["rank"]) == 2


def test_a_kind_that_does_nothing_is_named_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Idle(StageKind):
        stage = "rank"

    monkeypatch.setitem(known.kinds()["rank.kind"], "cross_encoder", Idle)  # as if a package had added it
    with pytest.raises(CannotRun, match=r"Idle, a kind of rank, has no run\(states\)"):
        Pipeline.of(Parts(literature.get("bare")))


class Odd(Planning):
    """Decides oddly, by what is
    at hand.

    More of it.
    """

    reads = frozenset({"rank.top_k", "quirks.q19_first_positive_only"})

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return [f"an oddity for {recipe.name}"]

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return True

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {"odd": "Odd by design."}


def test_what_a_kind_says_of_itself_is_told_everywhere(monkeypatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    recipe = literature.override(literature.get("deberta"), {"rank.kind": "score_file", "rank.model": __file__})
    assert lacking.missing(recipe) == []
    assert not lacking.asks_endpoint(recipe)
    monkeypatch.setitem(known.kinds()["plan.kind"], "first", Odd)  # as if another package had added it
    assert lacking.missing(recipe) == ["an oddity for deberta", "an LLM endpoint: set LLM_BASE_URL and LLM_MODEL"]
    assert lacking.asks_endpoint(recipe)
    assert deviations.of_recipe(recipe)[-1].words == "Odd by design."
    assert [s.sentence for s in sentences.stages(recipe) if s.name == "plan"] == ["Decides oddly, by what is at hand."]
    assert "quirks.q19_first_positive_only" in checking.read_by(recipe)
    unranked = dataclasses.replace(recipe, rank=RankSettings())
    assert "a ranker: rank.kind is none" in lacking.missing(unranked)
    monkeypatch.setattr(Odd, "needs_ranking", False)
    assert "a ranker: rank.kind is none" not in lacking.missing(unranked)


def test_a_kind_that_does_nothing_says_so() -> None:
    with pytest.raises(NotImplementedError):
        StageKind(Parts(literature.get("bare"))).run([])


def test_that_training_draws_what_it_recalls_is_told_of_recipes_that_recall_and_are_trained_here() -> None:
    told = {
        name: any(one.key == "training-memory" for one in deviations.of_recipe(recipe))
        for name, recipe in literature.RECIPES.items()
        if not recipe.needs
    }
    assert told["self-map"]
    assert not told["mindact-icl"], "an endpoint's model is not trained here"
    assert not told["bare"]
    assert not told["synapse"]
    only_exemplars = {"recall.exemplars": "semantic", "recall.exemplar_k": "1"}
    with_exemplars = literature.override(literature.get("mindact-task"), only_exemplars)
    assert "training-memory" in {one.key for one in deviations.of_recipe(with_exemplars)}


def test_that_training_reads_workflows_of_the_train_split_is_told_where_a_run_shows_its_own() -> None:
    def is_told(name: str, backend: str) -> bool:
        recipe = literature.override(literature.get(name), {"plan.backend": backend})
        return "training-workflows" in {one.key for one in deviations.of_recipe(recipe)}

    assert is_told("awm-online", "local")
    assert not is_told("awm-online", "endpoint"), "an endpoint's model is not trained here"
    assert not is_told("awm", "local")
