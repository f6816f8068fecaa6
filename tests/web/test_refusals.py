"""What settings of a recipe refuse is said in one sentence by command, forms and API, and what was typed is kept."""

import html
import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from agents.encoders.weights import MINILM
from agents.models import SavedRecipe
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_pages_recipes import form_data
from tests.web.test_pages_studies import study_form

pytestmark = pytest.mark.django_db

# A setting that no kind reads, a block that no later stage shows, two that do not go together, a quirk of others.
REFUSED = {
    "compose.shots": ("3", "compose.shots would change nothing in {}: it needs plan.kind=multichoice, "),
    "recall.workflows": (
        "semantic",
        "recall.workflows=semantic would change nothing in {}: it needs a prompt that shows workflows: "
        "plan.kind=multichoice, generation or trajectory",
    ),
    "imagine.kind": (
        "majority",
        "imagine.kind=majority counts equal samples, and plan.kind=grounded gives each action once; it takes "
        "plan.kind=",
    ),
    "quirks.q7_single_candidate_fails": (
        "true",
        "quirks.q7_single_candidate_fails would change nothing in {}: it needs plan.kind=multichoice",
    ),
}
cases = pytest.mark.parametrize("setting", REFUSED)


@pytest.fixture
def dataset() -> Dataset:
    return factories.make_conversation(split="train").dataset


@pytest.fixture
def admin(dataset) -> Client:
    return client_of(factories.make_user("admin", dataset.project))


def refused(setting: str, dataset: Dataset) -> str:
    """What the command says."""
    with pytest.raises(CommandError) as caught:
        call_command(
            "evaluate", "grounded", dataset.name, set=[f"{setting}={REFUSED[setting][0]}"], stdout=io.StringIO()
        )
    return str(caught.value)


@cases
def test_the_command_says_what_would_accept_it(setting, dataset) -> None:
    assert refused(setting, dataset).startswith(REFUSED[setting][1].format("grounded"))
    assert not Study.objects.exists()


@cases
def test_the_api_answers_with_the_sentence_of_the_command(setting, dataset, admin) -> None:
    asked = {"dataset": dataset.name, "recipes": ["grounded"], "overrides": {setting: REFUSED[setting][0]}}
    answer = admin.post("/api/studies/", asked, content_type="application/json")
    assert (answer.status_code, answer.json()) == (400, {"detail": refused(setting, dataset)})
    assert not Study.objects.exists()


@pytest.mark.slow
@cases
def test_the_form_of_a_study_says_it_at_the_settings_and_keeps_them(setting, dataset, admin) -> None:
    typed = f"recall.k=2\n{setting}={REFUSED[setting][0]}"
    values = study_form(dataset=dataset.name, overrides=typed, name="my study", seed="7", splits=["train"])
    answer = admin.post("/studies/new/", values)
    page = html.unescape(source(answer))
    assert f"<li>grounded: {refused(setting, dataset)}</li>" in page
    assert f"{typed}</textarea>" in html.unescape(answer.content.decode())
    for kept in ("my study", "7"):
        assert f'value="{kept}"' in page
    for kept in ("grounded", "train"):
        assert re.search(rf'value="{kept}"\s+checked', page)
    assert f'value="{dataset.name}" selected' in page
    assert not Study.objects.exists()


@cases
def test_the_form_that_derives_says_it_above_and_at_the_setting_and_keeps_what_was_typed(
    setting, dataset, admin
) -> None:
    value = REFUSED[setting][0]
    data = form_data("grounded", dataset.project, recall__k="33", description="Mine.") | {setting: value}
    answer = admin.post("/recipes/grounded/derive/", data)
    page = html.unescape(source(answer))
    said = refused(setting, dataset).replace("in grounded:", "in wide:")
    assert page.count(said) == 2, "above all settings, and at its own"
    assert f'<a href="#id_{setting}">{said}</a>' in page
    assert f'<span class="down" role="alert">{said}</span>' in page
    assert answer.context["form"][setting].value() == value
    for kept in ("wide", "Mine.", "33"):
        assert f'value="{kept}"' in page
    opened = [form_part for form_part in page.split("<details class=")[1:] if " open" in form_part.split(">", 1)[0]]
    assert any(f'id="id_{setting}"' in form_part for form_part in opened), "what is wrong is not folded away"
    assert any('id="id_recall.k"' in form_part for form_part in opened), "nor what differs from the parent"
    assert page.count('<details class="stage-fields"') > len(opened), "the others are folded"
    assert not SavedRecipe.objects.exists()


def test_more_worked_examples_than_a_pack_of_the_project_has_are_refused(dataset, admin, monkeypatch) -> None:
    """As of the packaged pack: by the form that derives at the setting, by command and API before anything runs."""
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "some-model")
    pack = factories.make_prompt_pack(dataset.project, "few")
    said = f"compose.shots=9: the prompt pack {pack.name}@1 has 3 worked examples (page_shots_generation)"
    data = form_data("self-map", dataset.project, **{"prompts.pack": pack.name, "compose.shots": "9"})
    answer = admin.post("/recipes/self-map/derive/", data)
    assert f'<a href="#id_compose.shots">{said}</a>' in html.unescape(source(answer))
    assert not SavedRecipe.objects.exists()
    typed = [f"{name}={data[name]}" for name in ("prompts.pack", "compose.shots")]
    models = ["plan.backend=endpoint", "rank.kind=dual_encoder", f"rank.model={MINILM}", "recall.rationales=none"]
    with pytest.raises(CommandError, match=re.escape(said)):
        call_command("evaluate", "self-map", dataset.name, set=[*typed, *models], stdout=io.StringIO())
    assert not Study.objects.exists()
