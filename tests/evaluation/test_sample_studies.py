"""The studies that come with the sample: queued once, of recipes that a fresh machine can run, with real results."""

from pathlib import Path

import pytest

from agents.llm.embedded import SMOLLM2
from agents.models import Run, SavedRecipe
from agents.recipes import saved
from agents.recipes.lacking import missing
from agents.training import preparing
from annotations.sample.project import make_demo_accounts, parts
from evaluation.models import Score, Study
from evaluation.studies.running import run_inline
from evaluation.studies.sample import AGENTS, PART, STUDIES, VARIANTS, make_studies, make_waiting
from tests.evaluation.sample_rows import import_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample(tmp_path: Path, settings):
    """The dataset `sample` with one short conversation of one split, and the demo accounts."""
    settings.VAR_DIR = tmp_path / "var"
    (tmp_path / "sources").mkdir()
    dataset = import_website(tmp_path / "sources", "casaverde", conversations=1)
    dataset.name = "sample"
    dataset.save()
    make_demo_accounts(dataset.project)
    return dataset


def test_they_are_a_part_of_the_sample_made_after_its_datasets_and_before_trainings_that_take_minutes() -> None:
    assert parts()[-3:] == ("sample-campaigns", PART, preparing.PART)


def test_the_study_of_the_agents_waits_for_their_models_and_is_queued_once(sample, monkeypatch, tmp_path) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    monkeypatch.setattr("evaluation.studies.sample.STUDIES", ())
    sample.project.slug = "sample"
    sample.project.save()
    assert make_waiting() is None  # nobody has asked for it
    make_studies(sample.project, [].append)
    assert make_waiting() is None
    (tmp_path / "starter-cross-encoder").mkdir()
    (tmp_path / "starter-cross-encoder" / "config.json").write_text("{}")
    study = make_waiting()
    assert study is not None
    assert list(study.runs.order_by("pk").values_list("recipe_name", flat=True)) == list(AGENTS.recipes)
    assert study.budget_seconds == AGENTS.seconds
    assert all(run.recipe["plan"]["model"] == SMOLLM2 for run in study.runs.filter(recipe_name="mindact"))
    assert make_waiting() is None
    make_studies(sample.project, [].append)
    assert make_waiting() is None


def test_every_recipe_of_them_runs_on_a_fresh_machine(sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.studies.sample.STUDIES", ())
    make_studies(sample.project, [].append)
    assert set(SavedRecipe.objects.values_list("name", flat=True)) == set(VARIANTS)
    assert {name: missing(saved.get(name)) for one in STUDIES for name in one.recipes} == {
        "grounded": [],
        "dmr-minilm": [],
        **{name: [] for name in VARIANTS},
    }


@pytest.mark.slow
def test_they_are_queued_once_and_end_with_scores_that_differ(sample, monkeypatch: pytest.MonkeyPatch) -> None:
    here = [one for one in STUDIES if one.dataset == "sample"]
    monkeypatch.setattr(
        "evaluation.studies.sample.STUDIES",
        [type(one)(one.name, one.dataset, one.recipes, ("test_subdomain",)) for one in here],
    )
    said: list[str] = []
    make_studies(sample.project, said.append)
    make_studies(sample.project, said.append)
    study = Study.objects.get()
    assert said == [f"{study}: 4 runs queued"]
    assert set(study.runs.values_list("state", flat=True)) == {Run.State.QUEUED}
    run_inline(study)
    assert set(study.runs.values_list("state", flat=True)) == {Run.State.DONE}
    found = Score.objects.headline("corrected").filter(run__studies=study, metric="element_accuracy")
    values = dict(found.values_list("run__recipe_name", "value"))
    assert values.keys() == {"grounded", *VARIANTS}
    assert values["grounded"] > values["grounded-encoder"]
