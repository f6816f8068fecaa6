"""`ood`: the unweighted mean over WebLINX's four out-of-domain splits, wherever metrics are shown."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from agents.models import Run
from agents.recipes import literature, published
from annotations.corpus.importing import import_files
from annotations.models import Conversation, Dataset
from evaluation.metrics.ood import OOD, OOD_SPLITS, ood_mean, ood_means
from evaluation.metrics.outcomes import Metric
from evaluation.models import Study
from evaluation.reports.tables import report
from tests import factories
from tests.annotations.weblinx_folder import write_demo
from tests.evaluation.recipe_world import TEXTS
from tests.evaluation.test_score_weblinx import rows
from tests.tiny_models import tiny_encoder

SHARES = dict(zip(OOD_SPLITS, (0.2, 0.4, 0.6, 0.8), strict=True))


def metric(value: float, low: float, high: float, n: int = 1) -> Metric:
    return Metric("overall", value, low, high, n, "turn")


def test_the_mean_takes_every_split_once_whatever_its_size() -> None:
    found = ood_mean("overall", [metric(0.5, 0.4, 0.6, 10), metric(0.1, 0.1, 0.2, 1000)])
    assert (found.value, found.n, found.grouping) == (pytest.approx(0.3), 1010, "turn")
    assert found.low == pytest.approx(0.3 - 0.05)
    assert found.high == pytest.approx(0.3 + np.sqrt(0.1**2 + 0.1**2) / 2)


def test_it_is_the_published_mean_of_the_published_scores() -> None:
    scores = {"test_vis": 59.73, "test_geo": 50.95, "test_cat": 44.05, "test_web": 52.75, "test_iid": 90.0}
    means = ood_means({split: {"overall": metric(value, value, value)} for split, value in scores.items()})
    assert means["overall"].value == pytest.approx(51.87)


def test_intervals_combine_as_those_of_independent_samples() -> None:
    """Against drawing all splits anew, each from its own turns."""
    rng = np.random.default_rng(0)
    samples = [rng.random(size) < share for size, share in ((300, 0.2), (500, 0.5), (200, 0.7), (400, 0.4))]

    def drawn(sample: np.ndarray) -> np.ndarray:
        return sample[rng.integers(len(sample), size=(4000, len(sample)))].mean(axis=1)

    apart = [metric(sample.mean(), *np.percentile(drawn(sample), (2.5, 97.5))) for sample in samples]
    together = np.percentile(np.mean([drawn(sample) for sample in samples], axis=0), (2.5, 97.5))
    found = ood_mean("overall", apart)
    assert (found.low, found.high) == pytest.approx(tuple(together), abs=0.003)


@given(st.sets(st.sampled_from([*OOD_SPLITS, "valid", ""])))
def test_a_mean_needs_all_four_splits(splits: set[str]) -> None:
    found = ood_means({split: {"overall": metric(0.5, 0.4, 0.6)} for split in splits})
    assert (found.keys() == {"overall"}) == (set(OOD_SPLITS) <= splits)


def test_a_metric_that_one_split_did_not_measure_has_no_mean() -> None:
    both = {"overall": metric(0.5, 0.4, 0.6), "iou": metric(0.5, 0.4, 0.6)}
    by_split = dict.fromkeys(OOD_SPLITS, both) | {"test_geo": both | {"iou": metric(0, 0, 0, n=0)}}
    assert ood_means(by_split).keys() == {"overall"}


def run_of(dataset: Dataset, recipe: str, split: str, **scores: float) -> Run:
    stored = literature.get(recipe)
    fields = {"recipe": literature.to_dict(stored), "recipe_sha256": literature.sha256(stored), "recipe_name": recipe}
    run = factories.make_run(dataset, split=split, state="done", **fields)
    for name, value in scores.items():
        grouping = "positive element" if name.startswith("recall") else "turn"
        interval = {"low": value - 0.1, "high": value + 0.1}
        factories.make_score(run, preset="faithful", metric=name, grouping=grouping, value=value, n=5, **interval)
    return run


@pytest.fixture
def dataset(db: None) -> Dataset:
    return factories.make_dataset(name="w", source_format="weblinx")


@pytest.fixture
def study(dataset: Dataset) -> Study:
    """Flan-T5 on the four splits and valid, MindAct on three of them."""
    runs = [run_of(dataset, "weblinx-flan-t5", split, overall=v, turn_success=0.01) for split, v in SHARES.items()]
    runs += [run_of(dataset, "weblinx-flan-t5", "valid", overall=0.9)]
    runs += [run_of(dataset, "mindact-weblinx", split, **{"recall@10": 0.5}) for split in OOD_SPLITS[:3]]
    return factories.make_study(runs=runs, preset="faithful", project=dataset.project)


@pytest.mark.slow
def test_a_report_has_a_column_of_the_mean_beside_the_published_one(study: Study) -> None:
    (table,) = report([study])
    assert table.metrics == ["overall"]
    assert table.splits == ["valid", *OOD_SPLITS, OOD]
    (row,) = [row for row in table.rows if row.recipe == "weblinx-flan-t5"]
    assert row.scores[OOD, "overall"].value == pytest.approx(0.5)
    assert row.scores[OOD, "overall"].low == pytest.approx(0.5 - 0.1 * 2 / 4)
    (printed,) = [cell for cell in published.of_recipe("weblinx-flan-t5", "weblinx") if cell.split == OOD]
    assert [p.values for p in row.published] == [{(OOD, "overall"): printed.value}]
    assert "ood: unweighted mean of test_web, test_cat, test_geo, test_vis" in table.caption
    out = io.StringIO()
    call_command("report", study.pk, stdout=out)
    assert "| 50.0 [45.0, 55.0] |" in out.getvalue()


@pytest.mark.slow
def test_every_recipe_that_ran_on_all_four_has_its_mean(dataset: Dataset) -> None:
    names = ("dmr-minilm", "dmr-bge", "dmr-gte")
    runs = [run_of(dataset, name, split, **{"recall@10": 0.5}) for split in OOD_SPLITS for name in names]
    (table,) = report([factories.make_study(runs=runs[:-1], preset="faithful", project=dataset.project)])
    assert {row.recipe: (OOD, "recall@10") in row.scores for row in table.rows} == dict(
        zip(names, (True, True, False), strict=True)
    )


def test_three_splits_have_no_mean(dataset: Dataset) -> None:
    runs = [run_of(dataset, "dmr-minilm", split, **{"recall@10": 0.5}) for split in OOD_SPLITS[:3]]
    (table,) = report([factories.make_study(runs=runs, preset="faithful", project=dataset.project)])
    assert table.splits == list(OOD_SPLITS[:3])


def test_a_study_page_shows_what_weblinx_measures_and_its_mean(study: Study) -> None:
    client = Client()
    client.force_login(factories.make_user("reader", study.project))
    response = client.get(f"/studies/{study.pk}/")
    tables = response.context["tables"]
    assert [table.split for table in tables] == [*sorted(OOD_SPLITS), "valid", tables[-1].split]
    assert tables[-1].split.startswith("ood, the mean of test_web,")
    assert [column.label for column in tables[-1].columns][:2] == ["Overall", "IM"]
    assert response.context["plotted"] == "overall"
    (row,) = tables[-1].rows
    assert row.cells[0].value == pytest.approx(0.5)
    assert row.cells[1] is None
    assert response.context["ranking"][0].split == "test_cat"


@pytest.fixture
def demos(tmp_path: Path, dataset: Dataset) -> list[str]:
    """A demonstration in each split."""
    names = [f"{split[-3:]}demo" for split in OOD_SPLITS]
    for name in names:
        write_demo(tmp_path / "demos", name)
    import_files("weblinx", tmp_path / "demos", dataset)
    for name, split in zip(names, OOD_SPLITS, strict=True):
        assert Conversation.objects.filter(dataset=dataset, source_id=name).update(split=split) == 1
    return names


def scored(tmp_path: Path, predictions: list[dict], *arguments: str) -> dict:
    (tmp_path / "p.json").write_text(json.dumps(predictions))
    out = io.StringIO()
    command = ("score", "w", str(tmp_path / "p.json"), "--format", "weblinx", "--json", *arguments)
    call_command(*command, stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


@pytest.mark.slow
def test_predictions_for_all_splits_are_scored_by_the_mean(demos: list[str], tmp_path: Path) -> None:
    predictions = [row for name in demos[:2] for row in rows(name)] + rows(demos[2])[:3]
    found = scored(tmp_path, predictions, "--split", OOD)
    apart = [scored(tmp_path, predictions, "--split", s)["metrics"]["overall"]["value"] for s in OOD_SPLITS[:3]]
    assert found["split"] == OOD
    assert found["metrics"]["overall"]["value"] == pytest.approx(sum(apart) / 4)
    assert found["counts"]["missing"] == 3 + 6
    assert found["unknown"] == []


def test_a_split_that_is_not_there_is_named(demos: list[str], dataset: Dataset, tmp_path: Path) -> None:
    dataset.conversations.filter(split="test_geo").update(split="valid")
    with pytest.raises(CommandError, match="w has no conversation in test_geo; ood is a mean of four"):
        scored(tmp_path, rows(demos[0]), "--split", OOD)


@pytest.mark.slow
def test_a_recipe_is_evaluated_on_all_four(demos: list[str], dataset: Dataset, tmp_path: Path) -> None:
    out, encoder = io.StringIO(), tiny_encoder(tmp_path / "tiny", TEXTS)
    command = ("evaluate", "dmr-minilm", "w", "--split", OOD, "--inline", "--json", "--set", f"rank.model={encoder}")
    call_command(*command, stdout=out, stderr=io.StringIO())
    found = json.loads(out.getvalue().splitlines()[-1])
    runs = Study.objects.get(pk=found["study"]).runs.all()
    assert (found["split"], found["state"]) == (OOD, "done")
    assert {run.split for run in runs} == set(OOD_SPLITS)
    assert found["counts"]["conversations"] == 4
    assert found["counts"]["steps"] == sum(run.steps.count() for run in runs) > 4
    of_runs = [run.scores.headline("faithful").get(metric="recall@10").value for run in runs]
    assert found["metrics"]["recall@10"]["value"] == pytest.approx(sum(of_runs) / 4)
