"""The studies that come with the sample: queued once, of recipes that a fresh machine can run, with real results."""

import dataclasses
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from agents.cookbook import saved
from agents.cookbook.lacking import missing
from agents.llm.embedded import SMOLLM2
from agents.memory.searched import lacking_of
from agents.models import Run, SavedRecipe, TrainedModel
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.stages.registry import searched
from agents.training.mismatches import unlike_training
from agents.training.prepare import preparing
from annotations.jobs import stopping
from annotations.models import Dataset, Split
from annotations.sample.project import EARLY, make_demo_accounts, parts
from evaluation.models import Score, Shard, Study
from evaluation.models.shards import WATCHED_FOR
from evaluation.studies.running import planned_recipe, run_inline
from evaluation.studies.sample import (
    AGENTS,
    COMPARED,
    CONVERSATIONS,
    LIVE_TASKS,
    PART,
    STUDIES,
    VARIANTS,
    SampleStudy,
    act_live,
    ask_reviewers,
    grow,
    make_studies,
)
from tests import factories
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


@pytest.fixture
def fresh(sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A fresh installation after its sample was made: no endpoint, no ranker yet."""
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    monkeypatch.setattr("evaluation.studies.sample.STUDIES", ())
    sample.project.slug = "sample"
    sample.project.save()
    return sample


@pytest.mark.slow
def test_the_study_that_home_shows_is_queued_first_and_then_the_ranker_that_most_recipes_wait_for(
    fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.make_conversation(turns=1, steps=1, split=Split.TRAIN, dataset=fresh)
    told: list[str] = []
    ordered = [
        SampleStudy(name, "sample", ("grounded",), ("test_subdomain",)) for name in ("A first one", "Another one")
    ]
    monkeypatch.setattr("evaluation.studies.sample.STUDIES", tuple(ordered))
    make_studies(fresh.project, told.append)
    preparing.make_cheap(fresh.project, told.append)
    assert told[0] == "A first one: 1 run queued"
    assert [one.partition(" from ")[0].partition(":")[0] for one in told] == [
        "A first one",
        "train the ranker starter-cross-encoder",
        "Another one",
        f"have the model write workflows of 1 website of {fresh.name}",
    ]


@pytest.mark.slow
def test_numbers_come_before_the_other_datasets_of_the_sample_are_there(
    sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = [dataclasses.replace(one, splits=("test_subdomain",)) for one in STUDIES]
    monkeypatch.setattr("evaluation.studies.sample.STUDIES", short)
    told: list[str] = []
    make_studies(sample.project, told.append)
    study = Study.objects.get()
    assert (study.name, told[0]) == (COMPARED.name, f"{COMPARED.name}: {study.runs.count()} runs queued")
    assert set(study.runs.values_list("recipe_name", flat=True)) == {"grounded", *VARIANTS}
    assert [one.waiting.exists() for one in AGENTS] == [False, True], "one that grows waits for its dataset"
    later = factories.make_dataset(name="sample-tasks", project=sample.project)
    factories.make_conversation(dataset=later, split="test_subdomain")
    make_studies(sample.project, told.append)
    assert set(Study.objects.values_list("name", flat=True)) == {COMPARED.name, STUDIES[2].name}
    assert PART in EARLY


def make_ranker(folder: Path) -> None:
    (folder / "starter-cross-encoder").mkdir()
    (folder / "starter-cross-encoder" / "config.json").write_text("{}")


def end(runs: list[Run]) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(state=Run.State.DONE)


def grown(most: int) -> list[str]:
    """Names of the recipes that are queued, one when the one before is done, until nothing more is."""
    names = []
    for _ in range(most):
        runs = grow()
        assert grow() == []  # the one before is not done yet
        names += [run.recipe_name for run in runs]
        end(runs)
    return names


@pytest.mark.slow
def test_the_study_of_all_agents_grows_as_what_they_need_is_made(fresh, tmp_path: Path) -> None:
    assert grow() == []  # nobody has asked for it
    make_studies(fresh.project, [].append)
    assert grown(4) == ["grounded", "grounded-world-model"]
    make_ranker(tmp_path)
    names = grown(30)
    assert names[:3] == ["deberta", "mindact", "self-map"]
    assert "synapse" not in names  # no train split to take exemplars from
    assert {"awm", "mims"}.isdisjoint(names)  # no workflows yet
    factories.make_conversation(turns=1, steps=1, split=Split.TRAIN, dataset=fresh)
    names += grown(30)
    factories.make_workflow(fresh)
    names += grown(3)
    study = Study.objects.get()
    wanted = {one.name for one in RECIPES.values() if one.data == "any" and not one.needs}
    wanted.remove("synapse-miniwob")  # its exemplar sets are of live pages
    assert names[-2:] == ["awm", "mims"]
    assert set(study.runs.values_list("recipe_name", flat=True)) == wanted
    assert study.runs.count() == len(wanted)
    assert set(study.runs.values_list("limit", "split")) == {(CONVERSATIONS, "test_subdomain")}
    assert study.budget_seconds == AGENTS[1].seconds
    assert all(run.recipe["plan"]["model"] == SMOLLM2 for run in study.runs.filter(recipe_name="mindact"))
    assert not AGENTS[1].waiting.exists()
    assert study.coming == []


def weblinx_beside(sample: Dataset) -> Dataset:
    """The dataset of turns, with a conversation of each split that its study decides, and one to train on."""
    turns = factories.make_dataset(name="sample-weblinx", project=sample.project, source_format="weblinx")
    for split in (Split.TRAIN, *AGENTS[0].splits):
        factories.make_conversation(turns=1, steps=1, split=split, dataset=turns)
    return turns


def test_published_agents_of_several_kinds_come_before_the_rest_of_any_study(fresh, tmp_path: Path) -> None:
    weblinx_beside(fresh)
    make_studies(fresh.project, [].append)
    of_turns = [name for name in AGENTS[0].first]

    def queued() -> list[str]:
        """The recipes that are queued now, each once; then they are done."""
        runs = grow()
        end(runs)
        return list(dict.fromkeys(run.recipe_name for run in runs))

    assert queued() == [of_turns[0], "grounded"], "each begins with what is ready"
    make_ranker(tmp_path)
    assert [queued() for _ in range(3)] == [["deberta"], ["mindact"], ["self-map"]]
    waiting = Study.objects.get(name=AGENTS[0].name)
    assert waiting.coming[0] == of_turns[1]
    assert queued() == [of_turns[1], "grounded-world-model"], "none of the first can go on: what they lack is not there"
    factories.make_conversation(turns=1, steps=1, split=Split.TRAIN, dataset=fresh)
    assert queued() == ["synapse"]


def test_a_training_makes_way_for_the_first_published_agents_alone(fresh, tmp_path: Path) -> None:
    make_studies(fresh.project, [].append)
    make_ranker(tmp_path)
    told = {}
    for _ in range(5):
        runs = grow()
        told[runs[0].recipe_name] = stopping.watched()
        end(runs)
        Shard.objects.filter(run__in=runs).update(state=Shard.State.DONE)
    assert [name for name, waits in told.items() if waits] == ["deberta", "mindact"]
    assert [name for name, waits in told.items() if not waits] == ["grounded", "self-map", "grounded-world-model"]
    Shard.objects.filter(run__recipe_name="mindact").update(state=Shard.State.QUEUED)
    assert stopping.watched()
    Shard.objects.update(created_at=timezone.now() - WATCHED_FOR)
    assert not stopping.watched(), "where no worker could take it"


@pytest.mark.slow
def test_no_study_of_the_sample_asks_a_model_otherwise_than_the_sample_trained_it(fresh, tmp_path: Path) -> None:
    factories.make_conversation(turns=1, steps=1, split=Split.TRAIN, dataset=fresh)
    turns = weblinx_beside(fresh)
    preparing.make_cheap(fresh.project, [].append)
    trained = list(TrainedModel.objects.values_list("name", flat=True))
    assert len(trained) == 3
    for name in trained:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    manager, told, ranking = get_user_model().objects.get(username="admin"), [], set()
    for one, dataset in zip(AGENTS, (turns, fresh), strict=True):
        for recipe in one.recipes():
            if lacking_of(dataset, searched(recipe)):
                continue
            planned = planned_recipe(manager, recipe.name, one.preset, dataset, one.splits[0])
            ranking.add(planned.rank.model)
            told += unlike_training(literature.to_dict(planned), dataset.project_id)
    assert {*trained} <= ranking
    assert told == []
    assert [one.preset for one in STUDIES if one.dataset == turns.name] == [AGENTS[0].preset]


@pytest.mark.slow
def test_a_study_that_people_have_stopped_or_deleted_grows_no_more(fresh, tmp_path: Path) -> None:
    make_ranker(tmp_path)
    make_studies(fresh.project, [].append)
    (run,) = grow()
    coming = Study.objects.get().coming
    assert {"deberta", "mindact", "awm"} <= {*coming}, "also those that are not ready yet"
    assert run.recipe_name not in coming
    assert Study.objects.get().progress().fields["headline"] == f"0 of {(1 + len(coming)) * run.step_count} steps"
    end([run])
    (second,) = grow()
    assert Study.objects.get().coming == [name for name in coming if name != second.recipe_name]
    end([second])
    Study.objects.get().ask_to_cancel()
    assert grow() == []
    assert Study.objects.get().coming == []
    Study.objects.update(cancel_requested=False)
    assert grow() == []
    AGENTS[1].waiting.write_text(str(Study.objects.get().pk))
    Study.objects.all().delete()
    assert grow() == []
    assert not Study.objects.exists()


def test_who_looks_while_somebody_else_ends_the_study_finds_nothing_to_do(
    fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: True)  # as it was until the lock was waited for
    assert not AGENTS[0].waiting.is_file()
    assert grow() == []


@pytest.mark.slow
def test_nobody_pays_for_what_nobody_has_ordered(fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ranker(tmp_path)
    for name, value in (("BASE_URL", "http://localhost:1"), ("MODEL", "dear"), ("API_KEY", "secret")):
        monkeypatch.setenv(f"LLM_{name}", value)
    make_studies(fresh.project, [].append)
    asking = set(grown(30)) - {"grounded", "grounded-world-model", "deberta"}
    assert "synapse" not in Study.objects.get().coming, "nobody waits for what is never added"
    rows = Run.objects.filter(recipe_name__in=asking)
    assert all(run.recipe["plan"]["model"] == SMOLLM2 for run in rows)
    assert "synapse" not in asking  # it would ask the endpoint


@pytest.mark.slow
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
    sample.project.slug = "sample"
    sample.project.save()
    queue = ask_reviewers()
    assert queue is not None
    assert queue.tasks.count() > 0
    assert ask_reviewers() is None


@pytest.mark.slow
def test_agents_of_live_pages_act_once_the_others_are_past_their_first(fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.studies.sample.find", lambda: "/usr/bin/browser")
    make_studies(fresh.project, [].append)
    assert act_live() is None, "the others have not begun"
    first = [recipe for recipe in AGENTS[1].recipes() if recipe.name in AGENTS[1].first]
    assert grown(1) == ["grounded"]
    Run.objects.update(state=Run.State.RUNNING)
    assert act_live() is None, f"{first[0].name} is at it"
    Run.objects.update(state=Run.State.DONE)
    study = act_live()
    assert study is not None
    goals = study.runs.first().dataset
    assert set(study.runs.values_list("recipe_name", flat=True)) == {"grounded", "synapse-miniwob"}
    assert {one.extra["task"] for one in goals.conversations.all()} == {*LIVE_TASKS}
    assert goals.live["environment"] == "miniwob"
    assert act_live() is None, "once"
    make_studies(fresh.project, [].append)
    assert act_live() is None, "a second start finds it"


@pytest.mark.slow
def test_where_there_is_no_browser_nothing_acts_live(fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.studies.sample.find", lambda: None)
    make_studies(fresh.project, [].append)
    end(grow())
    before = Study.objects.count()
    assert act_live() is None
    assert Study.objects.count() == before
