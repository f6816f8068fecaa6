"""Tables of the papers, cell by cell: printed numbers, ours where a run has them, else what they need."""

import csv
import io
import json

import pytest
from django.urls import reverse

from agents.cookbook import checking
from agents.models import Connection, Run
from agents.recipes import differences, literature, published
from agents.recipes.literature import RECIPES
from annotations.models import Dataset
from evaluation.reports.formats import to_csv, to_json, to_markdown
from evaluation.reports.papers import UNKNOWN, is_as_printed, key_of, paper_table, slug_of
from evaluation.reports.tables import report
from evaluation.studies.running import create_study
from tests import factories
from tests.evaluation.test_reports import add_run
from tests.signed_in import client_of

TWO = ("Self-MAP", "2")


def table(key: tuple[str, str] = TWO, dataset=None, preset: str = "faithful"):
    return paper_table(key, Run.objects.all(), Dataset.objects.all(), dataset, preset)


def cells(found, recipe: str) -> dict:
    (row, *_) = (row for row in found.rows if row.recipe == recipe)
    return dict(zip(found.columns, row.cells, strict=True))


def test_every_listed_table_is_in_the_file_with_all_its_cells_and_an_address_of_its_own() -> None:
    assert len({slug_of(*key) for key in published.TABLES}) == len(published.TABLES)
    for key in published.TABLES:
        rows = published.rows_of(*key)
        assert rows, key
        assert all(row.values for row in rows), key
        assert key_of(slug_of(*key)) == key
    compared = {
        (cell["source"], cell["table"]) for cell in published._all() if cell.get("system") and not cell.get("task")
    }
    assert compared == set(published.TABLES)
    with_recipe = {key[:2] for key in published.RECIPES_OF_ROWS}
    assert with_recipe <= set(published.TABLES)
    for (source, number, system), recipe in published.RECIPES_OF_ROWS.items():
        assert system in {row.system for row in published.rows_of(source, number)}, (source, number, recipe)


@pytest.mark.django_db
def test_cells_have_the_newest_finished_run_and_say_what_the_others_need() -> None:
    assert {why for row in table().rows for why in row.whys} == {"needs MT-Mind2Web data"}
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    factories.make_conversation(dataset=dataset, split="test_website")
    add_run(dataset, "self-map", "test_website")
    newest = add_run(dataset, "self-map", "test_website", shift=0.125)
    add_run(dataset, "self-map", "test_website", shift=0.2, state="running")
    add_run(dataset, "self-map", "test_website", shift=0.2, limit=3)  # a part is no table's cell
    found = table()
    assert found.groups == [("test_task", 4), ("test_website", 4), ("test_subdomain", 4)]
    assert found.metric_labels == ["Ele. Acc", "Op. F1", "SSR", "TSR"] * 3
    ours = cells(found, "self-map")["test_website", "turn_success"]
    assert (ours.run, ours.score.value) == (newest, 0.25)
    assert cells(found, "self-map")["test_task", "turn_success"].why == "needs conversations of test_task"
    assert "needs" in cells(found, "mindact")["test_website", "turn_success"].why  # weights
    assert found.counts == (4, 135)  # of Flan-T5base, not of Flan-T5large, four metrics of one split
    assert {row.system for row in found.rows if row.whys == ["no recipe here has these settings"]} == set()


@pytest.mark.django_db
def test_of_several_datasets_the_one_with_the_splits_of_the_table_fills_it_and_what_lacks_is_said_in_one_sentence() -> (
    None
):
    fitting = factories.make_dataset(name="fitting", source_format="mt-mind2web")
    factories.make_conversation(dataset=fitting, split="test_website")
    for name in ("newer", "newest"):
        factories.make_conversation(dataset=factories.make_dataset(name=name, source_format="mt-mind2web"))
    assert table().dataset == fitting
    assert {why for row in table().rows for why in row.whys if why.startswith("needs conv")} == {
        "needs conversations of test_task, test_subdomain"
    }


@pytest.mark.django_db
def test_other_data_fill_the_table_only_when_asked_for() -> None:
    own = factories.make_dataset(name="own", source_format="jsonl")
    factories.make_conversation(dataset=own, split="test_website")
    add_run(own, "self-map", "test_website")
    assert table().counts[0] == 0
    assert table(dataset=own).counts[0] == 4


@pytest.mark.slow
@pytest.mark.django_db
def test_pages_show_only_runs_that_their_reader_may_see(client) -> None:
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    factories.make_conversation(dataset=dataset, split="test_website")
    run = add_run(dataset, "self-map", "test_website")
    stranger, member = factories.make_user(), factories.make_user("reader", dataset.project)
    address = reverse("paper", args=["self-map-2"])
    page = client_of(member).get(address).content.decode()
    assert f'href="{reverse("run", args=[run.pk])}"' in page
    page = client_of(stranger).get(address).content.decode()
    assert reverse("run", args=[run.pk]) not in page
    assert "needs MT-Mind2Web data" in page
    assert "4 of 135" in client_of(member).get(reverse("papers")).content.decode()
    assert client_of(member).get(reverse("paper", args=["none"])).status_code == 404
    assert client_of(member).get(f"{address}?dataset=x&preset=y").status_code == 200


@pytest.mark.django_db
def test_a_mixture_stands_in_no_row_of_its_recipe_but_another_machine_does() -> None:
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    factories.make_conversation(dataset=dataset, split="test_website")
    place = "test_website", "turn_success"
    add_run(dataset, "self-map", "test_website", overrides={"recall.k": "7"}, shift=0.2)
    assert cells(table(), "self-map")[place].why == "run with other settings only"
    factories.make_trained_model(dataset, name="own", kind="seq2seq", base="google/flan-t5-base")
    published_run = add_run(dataset, "self-map", "test_website", overrides={"plan.model": "own", "batch_size": "2"})
    add_run(dataset, "self-map", "test_website", overrides={"recall.memory": "none"}, shift=0.2)
    assert cells(table(), "self-map")[place].run == published_run


def fills(recipe: str, number: tuple[str, str], split: str, changes: dict[str, str]) -> list[tuple[str, str]]:
    """(system, model) of the rows of a table that a run of a recipe fills, alone on a dataset of its own."""
    dataset = factories.make_dataset(source_format=published.data_of(*number))
    factories.make_conversation(dataset=dataset, split=split)
    run = add_run(dataset, recipe, split, overrides=changes)
    rows = table(number, dataset).rows
    return [(row.system, row.model) for row in rows if any(cell.run == run for cell in row.cells)]


SYNAPSE = "SYNAPSE w/ state abstraction + TaE + memory"
SMOLLM2 = {"plan.backend": "endpoint", "plan.model": "embedded:smollm2-135m"}
LOCAL = {"plan.backend": "local"}
MINI = {"plan.model": "gpt-4o-mini-2024-07-18"}
BY_TEXT = "GPT-4o-mini, by the paper's text"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("recipe", "number", "changes", "filled"),
    [
        ("self-map", TWO, {"plan.model": "google/flan-t5-small"}, []),
        ("self-map", TWO, {"plan.model": "google/flan-t5-large"}, [("Self-MAP", "Flan-T5large")]),
        ("self-map", TWO, {"plan.model": "large"}, [("Self-MAP", "Flan-T5large")]),
        ("self-map", TWO, {"plan.model": "nobodys"}, []),
        ("self-map", TWO, {"rank.model": "all-MiniLM-L6-v2"}, []),
        ("self-map", TWO, {"rank.model": "starter-cross-encoder"}, [("Self-MAP", "Flan-T5base")]),
        ("self-map", TWO, SMOLLM2, [("Self-MAP", "Flan-T5base")]),
        ("deberta", TWO, {"rank.model": "all-MiniLM-L6-v2"}, []),
        ("deberta", TWO, {"rank.model": "microsoft/deberta-v3-base"}, [("DeBERTa", "deberta-v3-base")]),
        ("synapse", ("Synapse", "1"), {"plan.model": "gpt-4"}, []),
        ("synapse", ("Synapse", "1"), {"plan.model": "gpt-3.5-turbo-16k-0613"}, [(SYNAPSE, "GPT-3.5")]),
        ("synapse", ("Synapse", "1"), {"plan.model": "ours"}, [(SYNAPSE, "GPT-3.5")]),
        ("synapse", ("Synapse", "1"), LOCAL | {"plan.model": "codellama/CodeLlama-7b-hf"}, [(SYNAPSE, "CodeLlama-7B")]),
        ("synapse", ("Synapse", "1"), SMOLLM2, [(SYNAPSE, "CodeLlama-7B")]),
        ("mims", ("MIMS", "4.3"), LOCAL | {"plan.model": "google/flan-t5-base"}, []),
        ("mims", ("MIMS", "4.3"), {"plan.model": "gpt-4", "recall.workflow_k": "13"}, []),
        ("mims", ("MIMS", "4.3"), MINI | {"recall.workflow_k": "13"}, [("MIMS", BY_TEXT)]),
        ("bare", ("MIMS", "4.3"), MINI, [("none", BY_TEXT)]),
    ],
)
def test_a_run_fills_the_row_of_its_own_models_alone(recipe: str, number, changes, filled) -> None:
    project = factories.make_dataset()
    factories.make_trained_model(project, name="first", kind="seq2seq", base="google/flan-t5-large")
    factories.make_trained_model(project, name="large", kind="seq2seq", base="first")
    Connection.objects.create(name="ours", base_url="http://127.0.0.1:9/v1", model="gpt-3.5-turbo")
    assert fills(recipe, number, "test_task", changes) == filled


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "models"),
    [
        ({"plan__model": "gpt-4o-2024-08-06"}, ["GPT-4o"]),
        ({"plan__model": "gpt-4o-mini"}, ["GPT-4o-mini"]),
        ({"plan__model": "gpt-4o", "imagine__model": "google/flan-t5-base"}, []),
        ({"plan__model": "gpt-4o", "imagine__value_model": "google/flan-t5-base"}, []),
    ],
)
def test_an_agent_of_other_planners_or_world_models_stands_in_the_row_of_its_own(changes: dict, models: list) -> None:
    rows = [row for row in published.rows_of("WMA", "1") if row.system == "WMA"]
    assert [row.model for row in rows if is_as_printed(stored(**TRAINED | changes), row, "all")] == models


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "printed"), [("BAAI/bge-small-en-v1.5", False), ("my-bge", False), ("unknown", False), ("mine", True)]
)
def test_other_encoders_fill_no_cell_of_a_ranker(model: str, printed: bool) -> None:
    factories.make_trained_model(name="my-bge", base="BAAI/bge-small-en-v1.5")
    factories.make_trained_model(name="mine", base="sentence-transformers/all-MiniLM-L6-v2")
    (row,) = (row for row in published.rows_of("context", "4") if row.recipe == "dmr-minilm")
    recipe = literature.override(literature.get("dmr-minilm"), {"rank.model": model})
    assert is_as_printed(literature.to_dict(recipe), row, "test_task") == printed


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"preset": "corrected"}, ["quirks off"]),
        ({"quirks.q12_relevant_first": "false"}, ["quirks off"]),
        ({"quirks.q18_gold_in_top_k": "false"}, []),  # it is no trajectory: nothing reads that
        ({"prompts.pack": "own"}, ["other prompt pack"]),
        ({"prompts.pack": "own", "quirks.q12_relevant_first": "false"}, ["quirks off", "other prompt pack"]),
    ],
)
def test_numbers_of_another_agent_than_was_published_say_so_in_every_form(client, changes, said) -> None:
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    factories.make_conversation(dataset=dataset, split="test_website")
    run = add_run(dataset, "self-map", "test_website", overrides=changes)
    assert [*cells(table(), "self-map")["test_website", "turn_success"].differs] == said
    member = client_of(factories.make_user("reader", dataset.project))
    page = member.get(reverse("paper", args=["self-map-2"])).content.decode()
    study = factories.make_study(runs=[run], preset="faithful")
    tables = report([study])
    (row,) = json.loads(to_json(tables))[0]["rows"]
    assert row["differs"] == said
    (ours, *_) = csv.DictReader(io.StringIO(to_csv(tables)))
    assert ours["differs"] == "; ".join(said)
    markdown = to_markdown(tables).partition("Percent.")[0]
    for brief in ("quirks off", "other prompt pack"):
        assert (f">{brief}</small>" in page) == (f", {brief}" in markdown) == (brief in said), brief


@pytest.mark.django_db
def test_what_stood_in_is_told_of_the_run_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that was set since, or taken away, changes nothing in what a run is said to have been."""
    dataset = factories.make_dataset(name="web", source_format="mind2web")
    factories.make_conversation(dataset=dataset, split="test_task")

    def said(**overrides: str) -> dict[str, list[str]]:
        Run.objects.all().delete()
        add_run(dataset, "synapse", "test_task", overrides=overrides)
        return {row.model: row.stands_in for row in table(("Synapse", "1")).rows if row.system == SYNAPSE}

    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    assert said(**{"plan.model": "gpt-3.5-turbo"}) == {"CodeLlama-7B": [], "GPT-3.5": []}
    assert said() == {"CodeLlama-7B": [], "GPT-3.5": []}
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "gpt-4")
    words = said(**SMOLLM2)
    assert any("embedded:smollm2-135m, untrained, answers" in one for one in words["CodeLlama-7B"])
    assert words["GPT-3.5"] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answered", "filled", "whys"),
    [
        ([], [], {UNKNOWN}),
        (["gpt-3.5-turbo-16k-0613"], ["GPT-3.5"], {"run by gpt-3.5-turbo-16k-0613 only"}),
        (["codellama/CodeLlama-7b-hf"], ["CodeLlama-7B"], {"run by codellama/CodeLlama-7b-hf only"}),
        (["gpt-4"], [], {"run by gpt-4 only"}),
        (["gpt-3.5-turbo", "gpt-4"], [], {"run by gpt-3.5-turbo and gpt-4 only"}),
    ],
)
def test_a_run_that_names_no_model_stands_in_the_row_of_the_one_that_answered(answered, filled, whys) -> None:
    dataset = factories.make_dataset(source_format="mind2web")
    conversation = factories.make_conversation(dataset=dataset, split="test_task")
    run = add_run(dataset, "synapse", "test_task")
    steps = factories.make_trajectory(run, conversation).steps.order_by("pk")
    for step, name in zip(steps, answered, strict=False):
        step.trace = {"plan": {"answered_by": name}}
        step.save()
    found = table(("Synapse", "1"), dataset)
    rows = [row for row in found.rows if row.system == SYNAPSE]
    assert [row.model for row in rows if any(cell.run == run for cell in row.cells)] == filled
    of_split = next(place for place, (split, _) in enumerate(found.columns) if split == "test_task")
    assert {row.cells[of_split].why for row in rows if row.model not in filled} == whys
    said = [words for row in rows if row.model in filled for words in row.stands_in]
    assert said == [f"{name} answered, as the endpoint says" for name in answered if filled]


def stored(**changes: str) -> dict:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return literature.to_dict(literature.override(literature.get("wma"), named))


LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
TRAINED = {
    "imagine__kind": "trained",
    "imagine__model": LLAMA,
    "imagine__value": "progress",
    "imagine__value_model": LLAMA,
}


@pytest.mark.django_db
def test_a_row_that_is_a_variant_is_of_runs_with_its_settings() -> None:
    """Figure 6: so many actions are imagined, so many steps deep. Table 6: the value function, prompted."""
    rows = {row.system: row for table in ("6", "9") for row in published.rows_of("WMA", table)}
    for k, d in ((3, 1), (2, 2), (9, 1)):
        own = stored(**TRAINED, imagine__samples=f"{k}", imagine__depth=f"{d}")
        fit = {system for system, row in rows.items() if row.recipe and is_as_printed(own, row, "figure_6")}
        assert fit & {row.system for row in published.rows_of("WMA", "9")} == {f"k = {k}, d = {d}"}
    tuned, prompted = rows["WMA, fine-tuned value"], rows["WMA, prompted value"]
    likert = stored(**TRAINED | {"imagine__value": "likert"})
    assert is_as_printed(stored(**TRAINED), tuned, "all")
    assert not is_as_printed(stored(**TRAINED), prompted, "all")
    assert not is_as_printed(likert, tuned, "all")
    assert is_as_printed(likert, prompted, "all")
    assert not is_as_printed({"name": "wma", "plan": "of an older version"}, prompted, "all")


@pytest.mark.django_db
def test_an_untrained_world_model_stands_beside_no_number_of_the_trained_one() -> None:
    """Tables 1, 2, 4 and 7 are of the agent whose world model and value function were trained; Table 5 of both."""
    prompted, untrained = stored(), stored(imagine__value="progress", imagine__value_model=LLAMA)
    rows = [(table, row) for table in "12345679" for row in published.rows_of("WMA", table) if row.recipe == "wma"]
    assert [(table, row.system) for table, row in rows if is_as_printed(untrained, row, "all")] == [
        ("5", "WMA, untrained world model")
    ]
    assert [(table, row.system) for table, row in rows if is_as_printed(prompted, row, "all")] == []
    full = {(table, row.system) for table, row in rows if is_as_printed(stored(**TRAINED), row, "all")}
    assert full == {(table, "WMA") for table in "12457"} | {("6", "WMA, fine-tuned value"), ("9", "k = 3, d = 1")}
    assert "wma" not in {cell.recipe for cell in published.cells()}


@pytest.mark.django_db
@pytest.mark.parametrize("preset", ["faithful", "corrected"])
def test_rows_with_and_without_the_element_filter_are_of_other_runs(preset: str) -> None:
    rows = {row.system: row for row in published.rows_of("WMA", "3") if row.recipe.startswith("awm")}
    for filters in ("true", "false"):
        own = {"preset": preset, "quirks.q27_fails_unasked": filters}
        run = literature.to_dict(literature.override(literature.get("awm"), own))
        fit = {system for system, row in rows.items() if is_as_printed(run, row, "test_task")}
        assert fit == {f"AWM {'with' if filters == 'true' else 'without'} element filter"}


def test_every_variant_can_be_made_as_its_paper_ran_it() -> None:
    """The settings of a row are taken, each of them, by the recipe in the preset of the papers."""
    for (_, _, system), (recipe, settings) in published.VARIANTS.items():
        changed = {name: text for name, text in settings.items() if text != "true"}
        made = checking.vary(RECIPES[recipe], changed)
        assert made == literature.override(RECIPES[recipe], settings), system


@pytest.mark.django_db
def test_a_row_that_no_recipe_can_fill_says_why() -> None:
    rows = {row.system: row for row in table(("WMA", "9")).rows}
    assert rows["k = 1, d = 3"].whys == [published.UNFILLED["WMA", "9", "k = 1, d = 3"]]
    with pytest.raises(ValueError, match=r"imagine\.depth would change nothing in wma: it needs imagine\.samples of"):
        checking.vary(RECIPES["wma"], {"imagine.samples": "1", "imagine.depth": "3"})
    assert rows["k = 3, d = 1"].whys == [
        "needs WebArena data, which no format here reads; goals of your own can be chosen"
    ]


@pytest.mark.django_db
def test_what_a_task_cost_and_took_is_counted_from_its_stored_steps() -> None:
    """Table 4, on data of our own: a run on every split stands under all sites."""
    goals = factories.make_dataset(name="goals", source_format="jsonl")
    made = [factories.make_conversation(dataset=goals, split=split) for split in ("test_task", "test_website")]
    asked = TRAINED | {"plan__model": "gpt-4o"}
    named = {name.replace("__", "."): value for name, value in asked.items()}
    run = add_run(goals, "wma", "", overrides=named)
    for conversation in made:
        factories.make_trajectory(run, conversation)
    steps, tasks = run.steps.count(), run.trajectories.count()
    assert (steps > tasks, tasks) == (True, 2)
    run.steps.update(milliseconds=3000.0, cost=0.0)
    found = {row.system: row for row in table(("WMA", "4"), dataset=goals).rows}
    cells = dict(zip(table(("WMA", "4"), dataset=goals).columns, found["WMA"].cells, strict=True))
    seconds, dollars = cells["all", "seconds_per_task"], cells["all", "dollars_per_task"]
    assert seconds.measured == pytest.approx(3.0 * steps / tasks)
    assert (dollars.measured, dollars.why) == (None, "its model has no prices, so that no money was counted")
    run.steps.update(cost=0.25)
    row = next(row for row in table(("WMA", "4"), dataset=goals).rows if row.system == "WMA")
    (cell,) = (cell for cell in row.cells if cell.unit == "dollars")
    assert (cell.measured, cell.measured_text) == (0.25 * steps / tasks, f"{0.25 * steps / tasks:.3g} $")
    page = client_of(factories.make_user("reader", goals.project)).get(
        reverse("paper", args=["wma-4"]), {"dataset": goals.pk}
    )
    assert cell.measured_text in page.content.decode()


@pytest.mark.django_db
def test_the_loop_of_recorded_steps_is_refused_for_goals_that_are_done_live() -> None:
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    factories.make_conversation(dataset=goals, split="test_task")
    user = factories.make_user("admin", goals.project)
    loop = {"imagine.loop": "mind2web", "imagine.kind": "retrieval", "imagine.value": "embedded"}
    with pytest.raises(ValueError, match=r"imagine\.loop=mind2web is of recorded steps alone, and .* are done live"):
        create_study(user=user, dataset=goals, recipes=["wma"], splits=["test_task"], overrides=loop, publish=False)


@pytest.mark.django_db
def test_what_ranks_alone_does_nothing_live_and_is_refused() -> None:
    """It was scored 0 beside published numbers."""
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    factories.make_conversation(dataset=goals, split="test_task")
    asked = {"user": factories.make_user("admin", goals.project), "splits": ["test_task"], "publish": False}
    with pytest.raises(ValueError, match="deberta ranks elements and plans no action"):
        create_study(dataset=goals, recipes=["deberta"], **asked)


def test_every_variant_is_a_row_of_a_listed_table_and_another_agent_than_its_recipe() -> None:
    for (source, number, system), (recipe, settings) in published.VARIANTS.items():
        assert system in {row.system for row in published.rows_of(source, number)}
        varied = [literature.with_preset(literature.get(recipe), preset) for preset in ("faithful", "corrected")]
        assert any(differences.changed(literature.override(one, settings), one) for one in varied)
    for source, number, system in published.UNFILLED:
        assert system in {row.system for row in published.rows_of(source, number) if not row.recipe}


@pytest.mark.parametrize(
    ("source", "number", "system", "recipe"),
    [
        ("MIMS", "3.5", "exemplar=none", "bare"),
        ("MIMS", "3.5", "exemplar=semantic", "synapse"),
        ("context", "2", "MiniLM limit 100", "dmr-minilm"),
        ("context", "2", "MiniLM limit none", "dmr-minilm"),
        ("context", "2", "MiniLM limit 200", "dmr-minilm"),
        ("context", "3", "MiniLM baseline", "dmr-minilm"),
        ("Synapse", "1", "MindAct", "mindact-icl"),
    ],
)
def test_rows_of_an_ablation_can_be_filled(source: str, number: str, system: str, recipe: str) -> None:
    assert {row.recipe for row in published.rows_of(source, number) if row.system == system} == {recipe}
