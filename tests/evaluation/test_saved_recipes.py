"""Recipes that people derived are evaluated like any other."""

import io
import json

import pytest
from django.core.management import call_command
from django.test import Client

from agents.models import SavedRecipe
from agents.recipes import literature
from agents.recipes.literature import changed_settings
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
