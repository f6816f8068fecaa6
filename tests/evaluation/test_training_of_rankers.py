"""What a ranker is trained on for a recipe is what the recipe asks it: queries and elements are written alike."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.models import TrainedModel
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.weblinx_demos import demo_of
from agents.stages.kind import Parts
from agents.stages.rank.kinds import Ranked
from agents.stages.registry import MODELS, chosen, trained_for, training_of
from agents.training.mismatches import unlike_training
from agents.training.samples.rows import RankingRows, SplitRows
from agents.training.settings import make_settings
from agents.training.work import Work
from agents.types import Observation
from agents.weblinx.documents import is_ranked
from annotations.corpus.importing import import_files
from annotations.models import Dataset, Job, Split
from tests import factories
from tests.agents.training_world import weblinx_demonstrations
from tests.tiny_models import tiny_cross_encoder, tiny_encoder

pytestmark = pytest.mark.django_db
TEXTS = ["[[tag]] button [[xpath]] /html/body Viewport(height=1, width=2) click(uid='a') say(speaker='navigator')"]
Texts = tuple[str, tuple[str, ...]]
"""A query and its elements, in order of the alphabet."""

TURNS: list[tuple[str, dict[str, str]]] = [
    ("mindact-weblinx", {}),
    ("mindact-weblinx", {"rank.history_turns": "2"}),
    ("mindact-weblinx", {"rank.element_limit": "10"}),
    ("mindact-weblinx", {"rank.element_limit": "30", "rank.element_limit_unit": "tokens"}),
    ("mindact-weblinx", {"preset": "corrected"}),
    ("dmr-minilm", {}),
    ("dmr-minilm", {"rank.history_turns": "2", "rank.element_limit": "0"}),
    ("dmr-minilm", {"rank.element_limit": "30", "rank.element_limit_unit": "tokens"}),
    ("dmr-minilm", {"preset": "corrected"}),
    ("dmr-minilm", {"quirks.wq1_history_hides_attributes": "false"}),
    ("dmr-minilm", {"quirks.first_utterance_is_extra": "false", "rank.history_turns": "0"}),
]
PUBLISHED = {name: literature.get(name) for name in ("mindact-weblinx", "dmr-minilm")}


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("weights")
    return {
        "cross_encoder": tiny_cross_encoder(folder / "cross", TEXTS, layers=1, width=32),
        "dual_encoder": tiny_encoder(folder / "dual", TEXTS, layers=1, width=32),
    }


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory) -> Path:
    return weblinx_demonstrations(tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def turns(rows_of_the_file: None, demonstrations) -> Dataset:
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", demonstrations, dataset).error_count == 0
    dataset.conversations.update(split=Split.TRAIN)
    return dataset


@pytest.fixture(scope="module")
def as_published(turns, weights) -> dict[str, list[Texts]]:
    """What the published recipes are trained on: every test compares another recipe with it."""
    return {
        name: trained_on(recipe, turns, weights[trained_for(recipe, MODELS["rank"])])
        for name, recipe in PUBLISHED.items()
    }


@pytest.fixture
def pages() -> Dataset:
    dataset = factories.make_dataset()
    factories.make_conversation(turns=2, steps=2, split=Split.TRAIN, dataset=dataset)
    return dataset


def trained_on(recipe: Recipe, dataset: Dataset, base: Path) -> list[Texts]:
    """What a training of the recipe's ranker reads of each step."""
    kind = trained_for(recipe, MODELS["rank"])
    model = TrainedModel(name="own", kind=kind, base=str(base), project=dataset.project, dataset=dataset)
    work = Work(model, {"limit": None, "recipe": literature.to_dict(recipe)}, lambda: False, lambda *a, **b: None)
    settings = make_settings(kind, training_of(recipe, kind)[1])
    rows = RankingRows(work.rows, settings, work.left_out, recipe=work.recipe, base=model.base)
    steps = [step for _, found in rows.groups() for step in found]
    assert not len(work.left_out)
    return [(step.query, tuple(sorted(step.positives + step.negatives))) for step in steps]


def asked(recipe: Recipe, dataset: Dataset, folder: Path) -> list[Texts]:
    """What the ranker of the recipe is given of the same steps in use."""
    kind = chosen(literature.override(recipe, {"rank.model": str(folder)}), "rank.kind")
    assert kind is not None
    ranking = kind(Parts(literature.override(recipe, {"rank.model": str(folder)})))
    assert isinstance(ranking, Ranked)
    inputs = [ranking.rankings.ranker.input(seen) for seen in observations(dataset)]  # type: ignore[attr-defined]
    return [(found.query, tuple(sorted(found.texts))) for found in inputs]


def observations(dataset: Dataset) -> list[Observation]:
    """The steps that are trained on: of WebLINX those whose element is on its page."""
    found = []
    for _, recorded in SplitRows(dataset, Split.TRAIN).recorded():
        if dataset.source_format != "weblinx":
            found += [recorded.observation(step) for step in recorded.steps]
            continue
        demo = demo_of(recorded)
        step = recorded.steps[0]
        for turn in demo.turns:
            page = demo.pages.page_html(turn) or ""
            if turn.uid is not None and is_ranked(demo, turn) and f'data-webtasks-id="{turn.uid}"' in page:
                found.append(recorded.observation(step, page=False, demo=demo, demo_turn=turn.index))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes"), TURNS)
def test_a_ranker_of_turns_is_trained_on_what_its_recipe_asks(name, changes, turns, weights, as_published) -> None:
    recipe = literature.override(literature.get(name), changes)
    folder = weights[trained_for(recipe, MODELS["rank"])]
    trained = trained_on(recipe, turns, folder)
    assert len(trained) > 5
    assert trained == asked(recipe, turns, folder)
    assert (trained != as_published[name]) == bool(changes), "what a recipe changes changes its training"


@pytest.mark.parametrize("changes", [{}, {"rank.kind": "dmr"}])
def test_a_ranker_of_pages_is_trained_on_what_its_recipe_asks(changes, pages, weights) -> None:
    recipe = literature.override(literature.get("mindact"), changes)
    folder = weights[trained_for(recipe, MODELS["rank"])]
    trained = trained_on(recipe, pages, folder)
    assert len(trained) == 4
    assert trained == asked(recipe, pages, folder)


@pytest.mark.parametrize(
    ("name", "before", "now", "said"),
    [
        ("mindact-weblinx", {}, {}, ""),
        ("mindact-weblinx", {}, {"rank.top_k": "10"}, ""),
        ("mindact-weblinx", {}, {"rank.history_turns": "2"}, "rank.history_turns=2"),
        ("mindact-weblinx", {"rank.element_limit": "40"}, {}, "rank.element_limit=200"),
        ("mindact-weblinx", None, {"rank.element_limit": "40"}, "rank.element_limit=40"),
        ("dmr-minilm", {}, {"rank.element_limit_unit": "tokens"}, "rank.element_limit_unit=tokens"),
        ("dmr-minilm", {"rank.history_turns": "2"}, {"rank.history_turns": "2"}, ""),
        ("dmr-minilm", None, {}, ""),
        ("dmr-minilm", None, {"rank.history_turns": "2"}, "rank.history_turns=2"),
        (
            "dmr-minilm",
            None,
            {"preset": "corrected"},
            "quirks.wq1_history_hides_attributes=False, quirks.first_utterance_is_extra=False",
        ),
        ("mindact", {}, {"rank.top_k": "10"}, ""),
    ],
)
def test_a_ranker_that_is_asked_otherwise_than_it_was_trained_is_named(
    name: str, before: Mapping[str, str] | None, now: Mapping[str, str], said: str
) -> None:
    """`before` None: its training named no recipe."""
    dataset, trained_by = factories.make_dataset(), literature.override(literature.get(name), dict(before or {}))
    kind = trained_for(trained_by, MODELS["rank"])
    params = {} if before is None else {"recipe": literature.to_dict(trained_by)}
    job = Job.objects.create(kind=Job.Kind.TRAIN, project=dataset.project, params=params)
    config = make_settings(kind, training_of(trained_by, kind)[1]).__dict__
    TrainedModel.objects.create(name="own", kind=kind, project=dataset.project, job=job, config=config)
    asks = literature.override(literature.get(name), dict(now) | {"rank.model": "own"})
    found = unlike_training(literature.to_dict(asks), dataset.project_id)
    assert found == [] if not said else said in found[0].partition("asks it with")[2]
    assert all(sentence.startswith("rank.model=own was trained with") for sentence in found)


@pytest.mark.parametrize(
    ("source_format", "recipe", "said"),
    [
        ("mind2web", "mindact-weblinx", "on recorded pages; mindact-weblinx asks it about recorded WebLINX turns"),
        ("weblinx", "mindact", "on recorded WebLINX turns; mindact asks it about recorded pages"),
        ("mind2web", "mindact", ""),
        ("weblinx", "mindact-weblinx", ""),
    ],
)
def test_a_ranker_of_other_data_is_named(source_format: str, recipe: str, said: str) -> None:
    """Queries and elements of pages and of turns are written otherwise."""
    dataset = factories.make_dataset(source_format=source_format)
    model = TrainedModel.objects.create(
        name="own", kind="cross_encoder", project=dataset.project, dataset=dataset, config={}
    )
    asks = literature.override(literature.get(recipe), {"rank.model": "own"})
    wanted = [f"rank.model=own was trained {said}."] if said else []
    assert unlike_training(literature.to_dict(asks), dataset.project_id) == wanted
    trained_by = literature.get("mindact" if source_format == "mind2web" else "mindact-weblinx")
    params = {"recipe": literature.to_dict(trained_by)}
    model.job = Job.objects.create(kind=Job.Kind.TRAIN, project=dataset.project, params=params)
    model.dataset = None  # deleted since
    model.save()
    assert unlike_training(literature.to_dict(asks), dataset.project_id) == wanted
