"""Reports: a study's scores as tables, with published numbers beneath, as commands, pages and the API give them."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.html import escape

from agents.cookbook import deviations, saved
from agents.cookbook.deviations import DEVIATIONS
from agents.cookbook.starters import is_mixture
from agents.models import Run, SavedRecipe, TrainedModel
from agents.recipes import literature, published
from evaluation.models import Study
from evaluation.reports.tables import report
from tests import factories

SMALL = {"plan.backend": "endpoint", "plan.model": "embedded:smollm2-135m"}
LESS = {"plan.samples": "4", "imagine.kind": "retrieval", "imagine.value": "embedded"}  # beside it, in wma
VALUES = {"element_accuracy": 0.5, "operation_f1": 0.75, "step_success": 0.25, "turn_success": 0.125, "mrr": 0.6}
GROUPINGS = {"element_accuracy": "turn", "operation_f1": "turn"}


def add_run(dataset, recipe: str, split: str, preset: str = "faithful", shift: float = 0.0, **fields) -> Run:
    found = literature.override(literature.get(recipe), fields.pop("overrides", {}))
    stored = {"recipe_name": recipe, "recipe": literature.to_dict(found), "recipe_sha256": literature.sha256(found)}
    run = factories.make_run(dataset, split=split, **{"state": "done"} | stored | fields)
    for metric, value in VALUES.items():
        factories.make_score(
            run,
            preset=preset,
            metric=metric,
            grouping=GROUPINGS.get(metric, "conversation"),
            value=value + shift,
            low=value + shift - 0.125,
            high=value + shift + 0.125,
            n=7,
        )
    return run


@pytest.fixture
def study(db) -> Study:
    """self-map and grounded on the test splits of a dataset in MT-Mind2Web's format."""
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    runs = [
        add_run(dataset, "self-map", "test_website"),
        add_run(dataset, "self-map", "test_task", shift=0.125),
        add_run(dataset, "grounded", "test_task", overrides={"rank.top_k": "7"}),
    ]
    return factories.make_study(runs=runs, preset="faithful")


@pytest.mark.slow
def test_a_model_that_was_trained_on_other_inputs_is_named(study) -> None:
    run = study.runs.filter(recipe_name="self-map").first()
    run.recipe["plan"]["model"] = "mine"
    run.save()
    config = {"paradigm": "generation", "memory": "chronological", "memory_k": 3, "max_new_tokens": 7}
    model = TrainedModel.objects.create(
        name="mine", kind="seq2seq", project=run.dataset.project, dataset_name="mt", config=config
    )
    said = "plan.model=mine was trained with memory=chronological; self-map asks it with memory=multifaceted."
    assert report([study])[0].notes.count(said) == 1
    model.config = config | {"memory": "multifaceted"}
    model.save()
    assert not any("was trained with" in note for note in report([study])[0].notes)
    other = factories.make_dataset(name="elsewhere").project
    TrainedModel.objects.filter(pk=model.pk).update(project=other, config=config)
    assert not any("was trained with" in note for note in report([study])[0].notes), "a model of another project"


def tables_for(user, study: Study) -> list[dict]:
    client = Client()
    client.force_login(user)
    return client.get(f"/api/studies/{study.pk}/report/").json()


def printed(*arguments) -> str:
    out = io.StringIO()
    call_command("report", *arguments, stdout=out)
    return out.getvalue()


def printed_in_paper(recipe: str, split: str, metric: str) -> list[str]:
    """The published numbers in percent, read from the file directly."""
    rows = json.loads(published.FILE.read_text())
    return [
        f"{row['value']:.1f}"
        for row in rows
        if (row.get("recipe"), row.get("split"), row["metric"]) == (recipe, split, metric)
    ]


def test_rows_are_recipes_and_columns_splits_and_metrics(study) -> None:
    (table,) = report([study])
    assert (table.dataset, table.preset) == ("mt", "faithful")
    assert table.splits == ["test_task", "test_website"], "in the order of the papers"
    assert table.metrics == ["element_accuracy", "operation_f1", "step_success", "turn_success"]
    assert [row.label for row in table.rows] == ["self-map", "grounded (rank.top_k=7)"]
    assert table.rows[0].scores["test_task", "step_success"].value == 0.375
    assert ("test_website", "step_success") not in table.rows[1].scores


def test_published_numbers_stand_beneath_the_recipe_with_their_source(study) -> None:
    (table,) = report([study])
    (base,) = table.rows[0].published
    assert base.label == "Self-MAP, Table 2: Self-MAP, Flan-T5base"
    number, _ = printed_in_paper("self-map", "test_task", "turn_success")  # the other is of Flan-T5large
    assert f"{100 * base.values['test_task', 'turn_success']:.1f}" == number
    assert {split for split, _ in base.values} == {"test_task", "test_website"}, "only splits that have a column"
    assert table.rows[1].published == []


def test_numbers_of_other_data_are_not_set_beside_ours(study) -> None:
    dataset = factories.make_dataset(name="own", source_format="jsonl")
    (table,) = report([factories.make_study(runs=[add_run(dataset, "self-map", "test_task")], preset="faithful")])
    assert table.rows[0].published == []
    assert "Published" not in table.caption


@pytest.mark.slow
def test_unseen_subdomains_and_unseen_domains_have_columns_of_their_own(study) -> None:
    dataset = study.runs.first().dataset
    study.runs.add(add_run(dataset, "self-map", "test_domain"), add_run(dataset, "self-map", "test_subdomain"))
    (table,) = report([study])
    assert table.splits == ["test_task", "test_website", "test_subdomain", "test_domain"]
    assert "test_subdomain Ele. Acc" in printed(study.pk)
    assert "test_domain Ele. Acc" in printed(study.pk)


def test_the_caption_says_metric_set_groupings_and_intervals(study) -> None:
    (table,) = report([study])
    assert table.caption == (
        "Percent. Metric set faithful (published quirks and groupings). Ele. Acc, Op. F1: mean over turns; SSR, TSR: "
        "mean over conversations. Brackets: 95 % percentile bootstrap over conversations. Published: as the papers "
        "print it, on the authors' MT-Mind2Web."
    )


@pytest.mark.slow
def test_run_times_stand_beside_those_of_the_paper(study) -> None:
    run = study.runs.get(recipe_name="self-map", split="test_task")
    factories.make_trajectory(run, factories.make_conversation(dataset=run.dataset, turns=1, steps=2))
    for row, milliseconds in zip(run.steps.order_by("seq"), (500.0, 1500.0), strict=True):
        run.steps.filter(pk=row.pk).update(milliseconds=milliseconds)
    rows = [row for row in json.loads(published.FILE.read_text()) if row["unit"] == "seconds"]
    (base,) = [row["value"] for row in rows if (row["system"], row["model"]) == ("Self-MAP", "Flan-T5base")]
    note = "Seconds per step of self-map, as run here: test_task 1; published (Self-MAP, Table 4, one A5000: "
    assert f"- {note}Self-MAP, Flan-T5base) {base:g}" in printed(study.pk)
    escaped = note.replace("_", "\\_")
    assert f"{escaped}Self-MAP, Flan-T5base) {base:g}" in printed(study.pk, "--format", "latex")
    hidden = tables_for(factories.make_user("reader", study.project), study)[0]
    assert (hidden["notes"], hidden["rows"][0]["seconds_per_step"]) == ([], {}), "what steps took may tell test gold"
    (table,) = json.loads(printed(study.pk, "--format", "json"))
    assert table["rows"][0]["seconds_per_step"] == {"test_task": 1.0}
    assert table["rows"][0]["published_seconds_per_step"][0]["value"] == base
    assert table["rows"][1]["published_seconds_per_step"] == []
    lines = list(csv.DictReader(io.StringIO(printed(study.pk, "--format", "csv").strip())))
    assert [float(line["value"]) for line in lines if line["metric"] == "seconds_per_step"][:2] == [1.0, base]


def test_what_a_paper_chose_for_each_split_shares_a_row(study) -> None:
    dataset, runs = factories.make_dataset(name="m2w", source_format="mind2web"), []
    for split, chosen in published.SETTINGS_OF_SPLITS["mims"].items():
        runs.append(add_run(dataset, "mims", split, overrides=chosen))
    (table,) = report([factories.make_study(runs=runs, preset="faithful")])
    assert [row.label for row in table.rows] == ["mims"]
    assert table.notes == [
        "mims as the paper chose it for each split: test_task: recall.workflow_k=13, test_website: "
        "recall.workflow_k=2, test_domain: recall.workflow_k=89."
    ]
    assert len(table.rows[0].published) == 1
    other = add_run(dataset, "mims", "test_website", overrides={"recall.workflow_k": "5"})
    (table,) = report([factories.make_study(runs=[*runs, other], preset="faithful")])
    assert [row.label for row in table.rows] == ["mims", "mims (recall.workflow_k=5)"]


def test_every_deviation_is_told_once_with_the_recipes_that_it_touches(study) -> None:
    text = printed(study.pk)
    assert "Where these agents still differ from the papers and their code:" in text
    for deviation in DEVIATIONS:
        touched = [name for name in ("self-map", "grounded") if deviation.touches(literature.get(name))]
        told = f"- {deviation.words} ({', '.join(touched)})"
        assert text.count(deviation.words) == bool(touched), deviation.key
        assert not touched or told in text
    (table,) = json.loads(printed(study.pk, "--format", "json"))
    assert {"key": "wording", "recipes": ["self-map"]}.items() <= table["deviations"][0].items()
    assert "sentences of our own." in printed(study.pk, "--format", "latex")


def test_what_a_kind_says_of_itself_is_told_too(study) -> None:
    """Kinds of stages deviate by themselves, those of other packages too: none may be left out of a report."""
    dataset = factories.make_dataset(name="wl", source_format="weblinx")
    run = add_run(dataset, "weblinx-flan-t5", "valid")
    text = printed(factories.make_study(runs=[run], preset="faithful").pk)
    told = [one.words for one in deviations.of_stored(run.recipe)]
    assert any(words.startswith("Scores below the first top_k are estimates") for words in told)
    assert all(f"- {words} (weblinx-flan-t5)" in text for words in told)


@pytest.mark.slow
def test_a_report_of_all_recipes_prints_each_deviation_once_with_all_that_it_touches(db) -> None:
    dataset = factories.make_dataset(name="all")
    runs = [add_run(dataset, name, "test_task") for name in literature.RECIPES]
    text = printed(factories.make_study(runs=runs, preset="faithful").pk)
    touched: dict[str, list[str]] = {}
    for name, recipe in literature.RECIPES.items():
        for deviation in deviations.of_recipe(recipe):
            touched.setdefault(deviation.words, []).append(name)
    assert len(touched) > len(DEVIATIONS) + 10, "kinds tell their own"
    for words, names in touched.items():
        assert text.count(f"- {words} ({', '.join(names)})\n") == 1, words
        assert text.count(words) == 1, words


@pytest.mark.parametrize(
    ("recipe", "changes", "wanted"),
    [
        ("synapse", {"rank.model": "starter-cross-encoder", "plan.model": "gpt-3.5-turbo"}, {"ranking-stands-in"}),
        ("synapse", {"plan.model": "embedded:smollm2-135m"}, {"planner-stands-in"}),
        ("synapse", {}, set()),
        ("deberta", {"rank.model": "starter-cross-encoder"}, {"ranking-stands-in"}),
        ("deberta", {"plan.model": "embedded:smollm2-135m"}, set()),
    ],
)
def test_a_stand_in_is_told_of_the_stage_where_it_stands(recipe: str, changes: dict, wanted: set) -> None:
    told = {one.key for one in deviations.of_recipe(literature.override(literature.get(recipe), changes))}
    assert {key for key in told if key.endswith("stands-in")} == wanted


def test_another_encoder_than_the_paper_s_is_told_where_it_ranks_too() -> None:
    mixed = literature.override(literature.get("self-map"), {"rank.kind": "dual_encoder"})
    known = {name: {one.key for one in deviations.of_recipe(literature.get(name))} for name in ("self-map", "grounded")}
    assert "encoder" in {one.key for one in deviations.of_recipe(mixed)} & known["self-map"]
    assert "encoder" not in known["grounded"], "as it is packaged it ranks so"


@pytest.mark.parametrize(
    ("recipe", "changes", "printed"),
    [
        ("self-map", {"plan.model": "mine", "rank.model": "other", "preset": "corrected", "batch_size": "2"}, True),
        ("self-map", {"plan.model": "other"}, False),
        ("self-map", {"rank.model": "mine"}, False),
        ("dmr-minilm", {"rank.model": "BAAI/bge-small-en-v1.5"}, False),
        ("self-map", {"plan.backend": "endpoint", "plan.model": "gpt-4"}, False),  # the number is of Flan-T5
        ("self-map", {"recall.exemplars": "semantic"}, False),
        ("self-map", {"recall.rationales": "none"}, False),
        ("self-map", {"recall.encoder": "other"}, False),
        ("self-map", {"recall.encoder": "endpoint:text-embedding-ada-002"}, True),  # as the papers
        ("self-map", {"rank.top_k": "1"}, False),
        ("self-map", {"compose.max_tokens": "64"}, False),
        # what stands in is told beside the numbers, but nobody may set something else beside it
        ("self-map", SMALL | {"rank.top_k": "10", "compose.max_tokens": "768", "plan.constrained": "true"}, True),
        ("self-map", SMALL | {"rank.top_k": "1"}, False),
        ("self-map", SMALL | {"compose.max_tokens": "64"}, False),
        ("synapse", {"plan.model": "gpt-4"}, False),
        ("synapse", {"plan.model": "gpt-4o-mini"}, True),  # MIMS' row, by the paper's text
        ("synapse", {"plan.backend": "local", "plan.model": "codellama/CodeLlama-7b-hf"}, True),
        ("synapse", {"plan.backend": "local", "plan.model": "my-codellama"}, False),
        ("synapse", {"plan.kind": "multichoice", "plan.model": "gpt-4"}, False),
        ("mims", {"recall.workflow_k": "2"}, False),  # which is of another split
        ("mims", {"recall.workflow_k": "13"}, True),
    ],
)
@pytest.mark.django_db
def test_no_published_number_stands_beneath_a_mixture(recipe: str, changes: dict, printed: bool) -> None:
    (data,) = {cell.data for cell in published.of_recipe(recipe)}
    dataset = factories.make_dataset(name="own", source_format=data)
    factories.make_trained_model(dataset, name="mine", base="google/flan-t5-base")
    factories.make_trained_model(dataset, name="other", base="microsoft/deberta-v3-base")
    run = add_run(dataset, recipe, "test_task", overrides=changes)
    (table,) = report([factories.make_study(runs=[run], preset="faithful")])
    assert bool(table.rows[0].published) == printed


@pytest.mark.parametrize(
    ("changes", "mixed"),
    [
        ({"plan.model": "gpt-4o"}, False),
        ({"plan.samples": "2"}, True),
        ({"imagine.depth": "5"}, True),
        ({"imagine.kind": "majority"}, True),  # that is cot
        (SMALL, False),
        (SMALL | LESS, False),
        (SMALL | LESS | {"plan.samples": "2"}, True),
        (SMALL | LESS | {"imagine.depth": "5"}, True),
        (SMALL | LESS | {"imagine.kind": "majority"}, True),
    ],
)
def test_settings_of_what_stands_in_are_those_that_it_sets(changes: dict, mixed: bool) -> None:
    wma = literature.get("wma")
    assert is_mixture(literature.override(wma, changes), wma) == mixed
    own_base = {"rank.base": "BAAI/bge-small-en-v1.5", "rank.model": "my-bge"}
    minilm = literature.get("dmr-minilm")
    assert is_mixture(literature.override(minilm, own_base), minilm)


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{"recall.workflows": "environment"}, {"plan.model": "gpt-4"}])
def test_a_choice_of_the_paper_for_a_split_is_told_where_the_recipe_recalls_as_there(changes: dict[str, str]) -> None:
    dataset = factories.make_dataset(name="own", source_format="mind2web")
    run = add_run(dataset, "mims", "test_website", overrides=changes | {"recall.workflow_k": "2"})
    (table,) = report([factories.make_study(runs=[run], preset="faithful")])
    nearest = "recall.workflows" not in changes
    assert any("as the paper chose it for each split" in note for note in table.notes) == nearest
    assert ("recall.workflow_k" in table.rows[0].settings) != nearest


def test_runs_on_some_websites_have_a_row_of_their_own(study) -> None:
    dataset = factories.make_dataset(name="sites")
    runs = [add_run(dataset, "grounded", "test_task", **fields) for fields in ({}, {"websites": ["shop", "inn"]}, {})]
    (table,) = report([factories.make_study(runs=runs[:2], preset="faithful")])
    assert [row.websites for row in table.rows] == [(), ("shop", "inn")]
    assert "| grounded, on shop, inn |" in printed(factories.make_study(runs=runs[:2], preset="faithful").pk)


@pytest.mark.slow
def test_every_deviation_touches_a_recipe_and_stands_on_its_page(client, db) -> None:
    assert len({deviation.key for deviation in DEVIATIONS}) == len(DEVIATIONS)
    # what stands in where nothing is named, here by name
    changes = {"plan.model": "embedded:smollm2-135m", "rank.model": "starter-cross-encoder"}
    project = factories.make_project()
    row = SavedRecipe.objects.create(project=project, name="small", parent="synapse", changes=changes)
    other = {"preset": "corrected", "prompts.pack": "own"}
    told = SavedRecipe.objects.create(project=project, name="told", parent="synapse", changes=other)
    client.force_login(factories.make_user("reader", project))
    for deviation in DEVIATIONS:
        known = [*literature.RECIPES.values(), saved.load(row), saved.load(told)]
        name = next(recipe.name for recipe in known if deviation.touches(recipe))
        page = client.get(f"/recipes/{name}/").content.decode()
        assert escape(deviation.words) in page.partition('id="deviations"')[2], deviation.key
    assert 'id="deviations"' in client.get("/recipes/grounded/").content.decode()


def test_every_printed_run_time_belongs_to_a_recipe() -> None:
    recipes = ("mindact", "mindact-car", "mindact-fixed", "synapse-conversation", "self-map")
    times = [seconds for recipe in recipes for _, seconds in published.seconds_of(recipe, "mt-mind2web")]
    assert len(times) == 2 * len(recipes)
    assert published.seconds_of("self-map", "mind2web") == []


def test_markdown_prints_percent_with_intervals(study) -> None:
    text = printed(study.pk)
    assert "| self-map | 62.5 [50.0, 75.0] | 87.5 [75.0, 100.0] |" in text
    assert "| grounded (rank.top_k=7) | 50.0 [37.5, 62.5] |" in text
    assert text.count("–") >= 4, "grounded did not run on test_website"
    (number,) = printed_in_paper("self-map", "test_task", "element_accuracy")[:1]
    assert f"| *published (Self-MAP, Table 2: Self-MAP, Flan-T5base)* | *{number}* |" in text


def test_csv_has_a_line_per_number_and_names_the_source_of_published_ones(study) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(study.pk, "--format", "csv").strip())))
    ours = [row for row in rows if not row["published_in"]]
    assert len(ours) == 3 * 4
    assert ours[0] | {"recipe": "self-map", "value": "0.5", "low": "0.375", "high": "0.625", "n": "7"} == ours[0]
    assert {row["grouping"] for row in ours} == {"turn", "conversation"}
    assert ours[-1]["settings"] == '{"rank.top_k": 7}'
    theirs = [row for row in rows if row["published_in"]]
    assert len(theirs) == 2 * 4
    assert all(not row["low"] and 0 < float(row["value"]) < 1 for row in theirs)


def test_latex_has_balanced_columns_and_escapes_names(study) -> None:
    text = printed(study.pk, "--format", "latex")
    assert r"\begin{tabular}{lrrrrrrrr}" in text
    assert r"\multicolumn{4}{c}{test\_task} & \multicolumn{4}{c}{test\_website}" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in rows[1:]} == {8}
    assert r"grounded (rank.top\_k=7)" in text


def test_json_is_the_content_of_the_api(study) -> None:
    reader = factories.make_user("reader", study.project)
    client = Client()
    client.force_login(reader)
    found = json.loads(printed(study.pk, "--format", "json"))
    assert client.get(f"/api/studies/{study.pk}/report/").json() == found
    assert found[0]["rows"][0]["cells"][0] == {
        "split": "test_website",
        "metric": "element_accuracy",
        "value": 0.5,
        "low": 0.375,
        "high": 0.625,
        "n": 7,
        "grouping": "turn",
    }
    assert client.get(f"/api/studies/{study.pk}/report/?preset=best").status_code == 400


@pytest.mark.slow
def test_the_page_of_a_study_offers_its_tables_to_those_who_see_it(study) -> None:
    client = Client()
    client.force_login(factories.make_user("reader", study.project))
    page = client.get(f"/studies/{study.pk}/").content.decode()
    for kind in ("md", "tex"):
        assert f"/studies/{study.pk}/report.{kind}?preset=faithful" in page
    for kind, start in (("md", "### mt"), ("tex", r"\begin{table}"), ("csv", "dataset,"), ("json", "[{")):
        response = client.get(f"/studies/{study.pk}/report.{kind}")
        assert response.content.decode().startswith(start)
        assert response["Content-Disposition"].startswith("attachment")
    assert client.get(f"/studies/{study.pk}/report.pdf").status_code == 404
    stranger = Client()
    stranger.force_login(factories.make_user("reader"))
    assert stranger.get(f"/studies/{study.pk}/report.md").status_code == 404


def test_studies_share_a_table_per_dataset_and_repeated_runs_keep_rows_of_their_own(study) -> None:
    dataset = study.runs.first().dataset
    again = factories.make_study(runs=[add_run(dataset, "self-map", "test_task", seed=0)])
    other = factories.make_study(runs=[add_run(factories.make_dataset(name="b"), "grounded", "test_task")])
    first, second = report([study, again, other])
    assert [row.label for row in first.rows] == ["self-map", "grounded (rank.top_k=7)", "self-map"]
    assert second.dataset == "b"


def test_seeds_limits_and_missing_steps_are_marked(study) -> None:
    dataset = study.runs.first().dataset
    study.runs.add(add_run(dataset, "self-map", "test_task", seed=3, limit=5, state="done_with_errors"))
    text = printed(study.pk)
    assert "| self-map, seed 0 |" in text
    assert "| self-map, seed 3, first 5 conversations* |" in text
    assert "* Not every step has a result." in text


def test_recipes_that_only_rank_are_shown_by_ranking_metrics(db) -> None:
    run = factories.make_run(recipe_name="deberta", recipe=literature.to_dict(literature.get("deberta")), state="done")
    for metric in ("element_accuracy", "recall@5", "mrr"):
        factories.make_score(run, metric=metric)
    (table,) = report([factories.make_study(runs=[run])])
    assert table.metrics == ["recall@5", "mrr"]


def test_the_other_metric_set_can_be_asked_for(study) -> None:
    assert report([study], "corrected") == []
    with pytest.raises(CommandError, match="no run of these studies has scores yet"):
        printed(study.pk, "--preset", "corrected")


def test_an_unknown_study_is_named(db) -> None:
    with pytest.raises(CommandError, match="there is no study 999999"):
        printed(999999)


def test_every_published_row_belongs_to_a_recipe_that_exists() -> None:
    cells = published.cells()
    assert {cell.recipe for cell in cells} <= set(literature.RECIPES)
    assert len(cells) > 200
    assert all(0 <= cell.value <= 1 for cell in cells)
    named = {(row["source"], row["table"], row.get("system")) for row in json.loads(published.FILE.read_text())}
    assert set(published.RECIPES_OF_ROWS) <= named, "a row that the file does not have would go unnoticed"


def test_the_numbers_of_a_recipe_are_those_of_the_file() -> None:
    (cell,) = [c for c in published.of_recipe("mims") if (c.split, c.metric) == ("test_task", "step_success")]
    assert f"{100 * cell.value:g}" == "37"
    assert (cell.where, cell.data) == ("MIMS, Table 4.3", "mind2web")
    assert published.of_recipe("mims", "mt-mind2web") == []


def test_steps_that_did_not_read_their_workflows_are_counted(db) -> None:
    dataset = factories.make_dataset(name="mt", source_format="mt-mind2web")
    beside = {"recall.workflows": "environment"}
    run = add_run(dataset, "mindact", "test_task", overrides=beside)
    step, *_ = factories.make_trajectory(run).steps.order_by("pk")
    said = "Steps of mindact (recall.workflows=environment) that did not read all their workflows or exemplars"
    for cut, count in (({}, 0), ({"cut": ["workflows"]}, 1)):
        step.trace = {"compose": cut}
        step.save()
        (table,) = report([factories.make_study(runs=[run], preset="faithful")])
        (note,) = [note for note in table.notes if note.startswith(said)]
        assert f"test_task {count} of {run.step_count}" in note
    plain = add_run(dataset, "mindact", "test_task")
    (table,) = report([factories.make_study(runs=[plain], preset="faithful")])
    assert not any("did not read all" in note for note in table.notes)
