"""Packs: the packaged one, those of a project, what a recipe needs of them, and how they count in its identity."""

import dataclasses

import pytest

from agents.cookbook import checking
from agents.cookbook.texts import pack_of, planned
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.errors import LlmError
from agents.llm.protocol import LlmInfo, Reply, Request
from agents.memory import encoding
from agents.models import PromptPack, TrainedModel
from agents.prompts.catalogue import TEXTS, misfit
from agents.prompts.marks import BadText
from agents.prompts.packs import VERSIONS, NoSuchText, Pack, checked, webnav
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.runs.building import build_pipeline
from agents.stages.kind import CannotRun, Parts
from agents.stages.registry import texts_of, unfit
from agents.training.jobs import start_training
from agents.training.trained.card import Training, card
from annotations.models import Dataset, Split
from evaluation.studies import running
from tests import factories
from tests.agents.prompt_world import BUILT
from tests.tiny_models import tiny_t5

SELF_MAP = RECIPES["self-map"]


@pytest.fixture
def dataset(db: None) -> Dataset:
    dataset = factories.make_dataset()
    for split in (Split.TRAIN, Split.TEST_TASK):
        factories.make_conversation(turns=2, steps=2, split=split, dataset=dataset)
    return dataset


def changed(pack: Pack, name: str = "own", **texts: str) -> Pack:
    return Pack(name, 1, dict(pack.texts) | texts)


def naming(recipe: literature.Recipe, pack: str) -> literature.Recipe:
    return checking.vary(recipe, {"prompts.pack": pack})


def test_the_packaged_pack_has_every_text_in_a_form_that_its_use_can_show() -> None:
    assert set(webnav().texts) == set(TEXTS)
    assert [name for name in TEXTS if misfit(webnav().prompt(name))] == []


def test_changed_words_need_a_new_version() -> None:
    assert VERSIONS[webnav().version] == webnav().sha256, "give the pack a new version in agents/prompts/packs.py"
    assert webnav().version == max(VERSIONS)
    assert len(set(VERSIONS.values())) == len(VERSIONS)


def test_a_pack_is_its_words_whatever_its_name() -> None:
    assert changed(webnav()).sha256 == webnav().sha256
    assert changed(webnav(), page_header="Now:").sha256 != webnav().sha256
    assert (webnav().reference, changed(webnav()).reference) == ("webnav", "own@1")


def test_a_pack_without_texts_or_with_a_bad_one_is_refused() -> None:
    with pytest.raises(BadText, match="a pack has at least one text"):
        checked(Pack("own", 1, {}))
    with pytest.raises(BadText, match=r"rewrite: \{\{earlier\}\}, .* must stand in it"):
        checked(changed(webnav(), rewrite="Say it again."))


def test_recipes_say_which_texts_they_read() -> None:
    assert {name for name in RECIPES if not RECIPES[name].needs and texts_of(RECIPES[name])} == set(BUILT)
    assert set(texts_of(SELF_MAP)) == {
        *("page_system", "page_header", "page_question_generation", "rationale", "rationale_none"),
    }
    assert set(texts_of(RECIPES["synapse-abstraction"])) == {"abstraction_system", "abstraction_demos"}
    assert "objective" in texts_of(RECIPES["mims"])
    assert {"workflow_induction", "workflow_summary"} <= set(texts_of(RECIPES["awm-online"]))
    assert texts_of(RECIPES["grounded"]) == {}


@pytest.mark.parametrize("name", BUILT)
def test_a_pack_that_lacks_a_text_is_refused_with_its_name(name) -> None:
    recipe = RECIPES[name]
    assert unfit(recipe, webnav()) == ""
    for text, kind in texts_of(recipe).items():
        pack = Pack("own", 2, {key: words for key, words in webnav().texts.items() if key != text})
        said = f"the prompt pack own@2 has no text {text!r}, which {name} needs to {kind.stage}"
        assert unfit(recipe, pack) == said


def test_a_text_in_a_form_that_the_planner_cannot_use_is_refused() -> None:
    pack = changed(webnav(), page_header="@@ user\n@@ image page\n@@ image page_before\nLook.")
    assert unfit(SELF_MAP, pack) == (
        "self-map cannot use the prompt pack own@1 to compose: its 'page_header' shows images (page, page_before), "
        "which it cannot show there"
    )
    assert unfit(RECIPES["synapse"], pack) == "", "it does not read that text"


def test_a_recipe_that_reads_no_words_refuses_a_pack() -> None:
    with pytest.raises(ValueError, match=r"prompts\.pack would change nothing in grounded: it needs .*plan\.kind="):
        naming(RECIPES["grounded"], "own")
    assert naming(SELF_MAP, "own@3").prompts.pack == "own@3"


def test_without_the_pack_that_it_names_nothing_is_put_together() -> None:
    with pytest.raises(CannotRun, match="no such prompt pack was given"):
        _ = Parts(naming(SELF_MAP, "own")).words
    assert Parts(SELF_MAP).words is webnav()


def test_versions_are_counted_and_the_newest_is_meant(dataset) -> None:
    project = dataset.project
    first = PromptPack.objects.add(project, changed(webnav()))
    second = PromptPack.objects.add(project, changed(webnav(), page_header="Now:"))
    assert (str(first), str(second)) == ("own@1", "own@2")
    assert PromptPack.objects.pack("own", project).words("page_header") == "Now:"
    assert PromptPack.objects.pack("own@1", project).sha256 == webnav().sha256
    assert list(PromptPack.objects.newest()) == [second]
    assert PromptPack.objects.pack(f"webnav@{webnav().version}", project) is webnav()


@pytest.mark.parametrize("reference", ["other", "own@7", "webnav@99", "Own", "own@0", "../own", ""])
def test_what_is_no_pack_of_the_project_is_refused(reference, dataset) -> None:
    PromptPack.objects.add(dataset.project, changed(webnav()))
    PromptPack.objects.add(factories.make_dataset().project, changed(webnav(), "other"))
    with pytest.raises(NoSuchText, match=r"there are webnav, own@1|names no pack|webnav has version \d+ here"):
        PromptPack.objects.pack(reference, dataset.project)


def test_a_plan_holds_the_very_texts(dataset) -> None:
    PromptPack.objects.add(dataset.project, changed(webnav(), page_header="Now:"))
    plain, own = planned(SELF_MAP, dataset), planned(naming(SELF_MAP, "own"), dataset)
    assert plain.prompts == literature.PackSettings("webnav", webnav().sha256)
    assert own.prompts.pack == "own@1"
    assert len({literature.sha256(recipe) for recipe in (SELF_MAP, plain, own)}) == 3
    assert literature.from_dict(literature.to_dict(own)) == own
    assert planned(RECIPES["grounded"], dataset) == RECIPES["grounded"], "no model is given words"
    with pytest.raises(CannotRun, match="there is no prompt pack gone in "):
        planned(naming(SELF_MAP, "gone"), dataset)
    del (texts := dict(webnav().texts))["rationale"]
    PromptPack.objects.add(dataset.project, Pack("short", 1, texts))
    with pytest.raises(CannotRun, match="short@1 has no text 'rationale', which self-map needs to simplify"):
        planned(naming(SELF_MAP, "short"), dataset)


def test_words_that_changed_since_the_plan_are_refused(dataset) -> None:
    later = dataclasses.replace(SELF_MAP, prompts=literature.PackSettings("webnav", "0" * 64))
    with pytest.raises(CannotRun, match="the texts of webnav have changed since self-map was planned; start it anew"):
        pack_of(later, dataset)


def test_a_run_is_stored_and_put_together_with_its_pack(dataset, monkeypatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "test-model")
    monkeypatch.setattr(encoding, "encoder_named", lambda name: CachedEncoder(HashEncoder()))
    PromptPack.objects.add(dataset.project, changed(webnav(), trajectory_system="Go on."))
    changes = {"prompts.pack": "own", "rank.kind": "dual_encoder", "rank.model": "all-MiniLM-L6-v2"}
    studies = [
        running.create_study(
            user=None, dataset=dataset, recipes=["bare"], splits=["test_task"], overrides=settings, publish=False
        )
        for settings in (changes, changes | {"prompts.pack": "webnav"})
    ]
    own, plain = (study.runs.get() for study in studies)
    assert own.recipe["prompts"]["pack"] == "own@1"
    assert own.recipe["prompts"]["sha256"] == PromptPack.objects.get().sha256
    assert own.recipe_sha256 != plain.recipe_sha256
    composing = build_pipeline(own, llm=_Nobody()).stages["compose"][0]
    assert composing.system.content == "Go on."
    with pytest.raises(ValueError, match="there is no prompt pack own@2"):
        running.create_study(
            user=None, dataset=dataset, recipes=["bare"], overrides=changes | {"prompts.pack": "own@2"}, publish=False
        )


class _Nobody:
    """An endpoint that is never asked."""

    info = LlmInfo("nowhere", "nobody", None)

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        raise AssertionError("nothing is asked")


def test_a_training_keeps_the_pack_of_its_recipe(dataset, tmp_path, settings) -> None:
    settings.MODEL_ROOT = tmp_path
    PromptPack.objects.add(dataset.project, changed(webnav(), page_header="Now:"))
    recipe = checking.vary(naming(SELF_MAP, "own"), {"recall.rationales": "stored"})  # no model writes any here
    asked = {"kind": "seq2seq", "name": "m", "base": str(tiny_t5(tmp_path / "t5", ["Now:"], layers=1, width=32))}
    model = start_training(user=None, dataset=dataset, **asked, recipe=recipe, publish=False)
    assert model.job is not None
    stored = literature.from_dict(model.job.params["recipe"])
    assert stored == planned(recipe, dataset)
    assert TrainedModel.objects.get().name == "m"


def test_a_card_names_the_words_of_its_samples() -> None:
    fields = {field.name: "" for field in dataclasses.fields(Training)}
    numbers = {"conversations": 2, "seed": 0, "lessons": 0}
    made = Training(**(fields | numbers | {"kind": "seq2seq", "settings": {"paradigm": "generation"}, "metrics": {}}))
    named = dataclasses.replace(made, recipe="self-map", recipe_sha256="abc", prompts="own@1", prompts_sha256="def")
    assert "Words: prompt pack `own@1` (SHA-256 of its texts `def`)." in card(named)
    assert "Words:" not in card(dataclasses.replace(named, prompts_sha256=""))
