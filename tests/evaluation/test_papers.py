"""Tables of the papers, cell by cell: printed numbers, ours where a run has them, else what they need."""

import pytest
from django.urls import reverse

from agents.models import Run
from agents.recipes import literature, published
from annotations.models import Dataset
from evaluation.reports.papers import is_as_printed, key_of, paper_table, slug_of
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
    assert found.counts == (8, 135)  # two printed rows of Self-MAP, with four metrics of one split each
    assert {row.system for row in found.rows if row.whys == ["no recipe here has these settings"]} == set()


@pytest.mark.django_db
def test_other_data_fill_the_table_only_when_asked_for() -> None:
    own = factories.make_dataset(name="own", source_format="jsonl")
    factories.make_conversation(dataset=own, split="test_website")
    add_run(own, "self-map", "test_website")
    assert table().counts[0] == 0
    assert table(dataset=own).counts[0] == 8


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
    assert "8 of 135" in client_of(member).get(reverse("papers")).content.decode()
    assert client_of(member).get(reverse("paper", args=["none"])).status_code == 404
    assert client_of(member).get(f"{address}?dataset=x&preset=y").status_code == 200


@pytest.mark.django_db
def test_a_mixture_stands_in_no_row_of_its_recipe_but_another_machine_does() -> None:
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    factories.make_conversation(dataset=dataset, split="test_website")
    place = "test_website", "turn_success"
    add_run(dataset, "self-map", "test_website", overrides={"recall.k": "7"}, shift=0.2)
    assert cells(table(), "self-map")[place].why == "run with other settings only"
    published_run = add_run(dataset, "self-map", "test_website", overrides={"plan.model": "own", "batch_size": "2"})
    add_run(dataset, "self-map", "test_website", overrides={"recall.memory": "none"}, shift=0.2)
    assert cells(table(), "self-map")[place].run == published_run


def stored(**changes: str) -> dict:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return literature.to_dict(literature.override(literature.get("wma"), named))


@pytest.mark.django_db
def test_a_row_that_is_a_variant_is_of_runs_with_its_settings() -> None:
    """Figure 6: so many actions are imagined, so many steps deep. Table 6: the value function, fine-tuned."""
    rows = {row.system: row for table in ("6", "9") for row in published.rows_of("WMA", table)}
    for k, d in ((1, 1), (3, 1), (2, 2), (9, 1)):
        own = stored(imagine__samples=f"{k}", imagine__depth=f"{d}")
        fit = {system for system, row in rows.items() if is_as_printed(own, row, "figure_6")}
        assert fit & {row.system for row in published.rows_of("WMA", "9")} == {f"k = {k}, d = {d}"}
    tuned, prompted = rows["WMA, fine-tuned value"], rows["WMA, prompted value"]
    assert is_as_printed(stored(imagine__value="progress", imagine__value_model="v"), tuned, "all")
    assert not is_as_printed(stored(imagine__value="progress", imagine__value_model="v"), prompted, "all")
    assert not is_as_printed(stored(), tuned, "all")
    assert is_as_printed(stored(preset="corrected"), prompted, "all")
    assert not is_as_printed({"name": "wma", "plan": "of an older version"}, prompted, "all")


def test_every_variant_is_a_row_of_a_listed_table_and_another_agent_than_its_recipe() -> None:
    for (source, number, system), (recipe, settings) in published.VARIANTS.items():
        assert system in {row.system for row in published.rows_of(source, number)}
        assert literature.changed(literature.override(literature.get(recipe), settings), literature.get(recipe))
