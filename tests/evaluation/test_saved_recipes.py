"""Recipes that people derived are evaluated like any other."""

import io
import json

import pytest
from django.core.management import call_command
from django.test import Client

from agents.cookbook import checking, saved
from agents.models import SavedRecipe
from agents.recipes import literature
from agents.recipes.declaring import value_of
from agents.recipes.differences import changed_settings
from evaluation.studies import running
from tests import factories
from tests.web.reading import source

pytestmark = pytest.mark.django_db


def test_another_preset_is_told_without_the_quirks_that_it_sets() -> None:
    corrected = literature.override(literature.get("mindact"), {"preset": "corrected"})
    assert changed_settings(literature.to_dict(corrected)) == {"preset": ("faithful", "corrected")}
    mixed = literature.override(corrected, {"quirks.q12_relevant_first": "true"})
    told = {"preset": ("faithful", "corrected"), "quirks.q12_relevant_first": (False, True)}
    assert changed_settings(literature.to_dict(mixed)) == told
    alone = literature.override(literature.get("mindact"), {"quirks.q12_relevant_first": "false"})
    assert changed_settings(literature.to_dict(alone)) == {"quirks.q12_relevant_first": (True, False)}


WQ22, Q17 = "quirks.wq22_imagines_every_sample", "quirks.q17_typed_command_presses"


def test_a_preset_of_a_study_leaves_the_quirks_of_a_saved_recipe_and_what_reads_its_settings() -> None:
    changes = {"imagine.loop": "mind2web", WQ22: "false", "imagine.samples": "5"}
    SavedRecipe.objects.create(name="few", parent="wma", changes=changes, project=factories.make_project())
    for preset in ("faithful", None):
        given = running.as_it_runs(saved.get("few"), {}, preset)
        assert not given.quirks.wq22_imagines_every_sample, preset
        assert "imagine.samples" in checking.read_by(given), preset
    with pytest.raises(ValueError, match=r"imagine\.loop would change nothing in few: .*preset=corrected sets that"):
        running.as_it_runs(saved.get("few"), {}, "corrected")


def test_a_preset_that_leaves_a_setting_of_a_saved_recipe_unread_is_refused_as_the_setting_itself_is() -> None:
    SavedRecipe.objects.create(
        name="nine", parent="bare", changes={"rank.top_k": "9"}, project=factories.make_project()
    )
    said = r"rank\.top_k would change nothing in \w+: it needs quirks\.q27_fails_unasked"
    with pytest.raises(ValueError, match=said + r".*; preset=corrected sets that otherwise"):
        running.as_it_runs(saved.get("nine"), {}, "corrected")
    with pytest.raises(ValueError, match=said):
        running.as_it_runs(literature.get("bare"), {"rank.top_k": "9"}, "corrected")
    assert running.as_it_runs(saved.get("nine"), {}, "faithful").rank.top_k == 9
    assert running.as_it_runs(saved.get("nine"), {"preset": "faithful"}, "corrected").rank.top_k == 9
    asked = {"preset": "corrected", "quirks.q27_fails_unasked": "true"}
    assert running.as_it_runs(saved.get("nine"), asked, None).rank.top_k == 9


def test_an_agent_that_people_talk_with_keeps_the_quirks_it_was_derived_by(monkeypatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "gpt")
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    SavedRecipe.objects.create(name="types", parent="synapse-miniwob", changes={Q17: "false"}, project=goals.project)
    user = factories.make_user("admin", goals.project)
    recipe = running.planned_recipe(user, "types", saved.get("types").preset, goals, "test_task")
    assert not recipe.quirks.q17_typed_command_presses
    assert changed_settings(literature.to_dict(recipe))[Q17] == (True, False)


@pytest.mark.parametrize("stage", ["rank", "plan"])
def test_a_recipe_derived_by_a_base_takes_no_model_that_was_not_trained_from_it(stage: str) -> None:
    base, model, other = f"{stage}.base", f"{stage}.model", "all-MiniLM-L6-v2"
    changes = {base: "BAAI/bge-small-en-v1.5"}
    SavedRecipe.objects.create(name="bge", parent="self-map", changes=changes, project=factories.make_project())
    factories.make_trained_model(name="mine", base="BAAI/bge-small-en-v1.5")
    said = rf"{stage}\.model=all-MiniLM-L6-v2 was not trained from BAAI/bge-small-en-v1\.5, which \w+ has as {stage}"
    with pytest.raises(ValueError, match=said):
        running.as_it_runs(saved.get("bge"), {model: other}, None)
    with pytest.raises(ValueError, match=said):
        saved.derive(saved.get("bge"), "child", "", {model: other})
    assert value_of(running.as_it_runs(saved.get("bge"), {model: "mine"}, None), model) == "mine"
    free = running.as_it_runs(saved.get("bge"), {model: other, base: ""}, None)
    assert (value_of(free, model), value_of(free, base)) == (other, "")


@pytest.mark.slow
def test_a_saved_recipe_can_be_evaluated_by_name_form_and_api(hash_encoder) -> None:
    dataset = factories.make_conversation().dataset
    SavedRecipe.objects.create(name="wide", parent="grounded", changes={"rank.top_k": "77"}, project=dataset.project)
    user = factories.make_user("admin", dataset.project)
    client = Client()
    client.force_login(user)
    assert 'name="recipes" value="wide"' in source(client.get("/studies/new/"))
    sent = {"dataset": dataset.name, "recipes": ["wide"], "seed": "0", "preset": "", "overrides": "", "name": ""}
    assert client.post("/studies/new/", sent).status_code == 302
    asked = client.post(
        "/api/studies/", {"dataset": dataset.name, "recipes": ["wide"]}, content_type="application/json"
    )
    assert asked.status_code == 202, asked.content
    out = io.StringIO()
    call_command("evaluate", "wide", dataset.name, "--inline", "--json", stdout=out, stderr=io.StringIO())
    assert json.loads(out.getvalue())["recipe"] == "wide"
    runs = dataset.runs.order_by("id")
    assert [run.recipe["rank"]["top_k"] for run in runs] == [77, 77, 77]
    assert {run.recipe["parent"] for run in runs} == {"grounded"}


def test_the_runs_of_a_saved_recipe_show_what_differs_from_its_parent(hash_encoder) -> None:
    dataset = factories.make_conversation().dataset
    SavedRecipe.objects.create(name="wide", parent="grounded", changes={"rank.top_k": "77"}, project=dataset.project)
    study = running.create_study(user=None, dataset=dataset, recipes=["wide"], publish=False)
    assert changed_settings(study.runs.get().recipe) == {"rank.top_k": (50, 77)}


@pytest.mark.slow
def test_a_recipe_that_was_saved_before_bounds_came_is_shown_and_starts_no_study(client: Client) -> None:
    project = factories.make_project()
    client.force_login(factories.make_user("admin", project))
    changes = {"plan.samples": "250", "plan.temperature": "0.0001"}
    SavedRecipe.objects.create(project=project, name="many", parent="wma", changes=changes)
    assert saved.get("many").plan.samples == 250
    assert not saved.listed()[-1].needs, "it can be read"
    page = client.get("/recipes/many/").content.decode()
    assert "plan.samples must lie in 1..100, got 250" in page
    assert client.get("/recipes/").status_code == 200
    assert client.get("/recipes/many/derive/").status_code == 200
    with pytest.raises(ValueError, match=r"0\.001, got 0\.0001, as many was stored before"):
        running.as_it_runs(saved.get("many"), {}, None)
    with pytest.raises(ValueError, match=r"as many was stored before these bounds"):
        saved.derive(saved.get("many"), "more", "", {"plan.max_new_tokens": "50"})
    within = {"plan.samples": "20", "plan.temperature": "1"}
    assert saved.derive(saved.get("many"), "less", "", within).plan.samples == 20
