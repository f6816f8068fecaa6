"""`manage.py score`: predictions made elsewhere get the numbers that a study of the same predictions gets."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.recipes import literature
from agents.types import Action
from annotations.models import Conversation, Dataset, Target
from evaluation.metrics.scores import headlines, score
from evaluation.scores.scoring import RunScores
from evaluation.studies import running
from tests import factories


@pytest.fixture
def dataset(db) -> Dataset:
    """Two conversations of the test split and one other; ids of turns are unique, as annotation ids are."""
    dataset = factories.make_dataset(name="shopping")
    for number, split in enumerate(("test_task", "test_task", "train")):
        conversation = factories.make_conversation(turns=0, dataset=dataset, split=split)
        for index in range(2):
            factories.make_turn(conversation, steps=3, index=index, source_id=f"a{number}{index}")
    return dataset


def gold_rows(dataset: Dataset, split: str = "test_task") -> list[list[str]]:
    """A perfect file of predictions."""
    rows = []
    for conversation in Conversation.objects.filter(dataset=dataset, split=split).order_by("position"):
        for turn in conversation.turns.order_by("index"):
            for step in turn.steps.order_by("index"):
                text = Action(step.operation, None, step.value).operation_text()
                rows.append([f"{turn.source_id}_{step.source_id}", step.targets.get().node_id, text])
    return rows


def write(folder: Path, content, name: str = "test_task_predictions_top50.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def run(dataset: Dataset, path: Path, *arguments: str) -> tuple[dict, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("score", dataset.name, str(path), "--format", "mind2web", "--json", *arguments, stdout=out, stderr=err)
    (line,) = out.getvalue().splitlines()
    return json.loads(line), err.getvalue()


def values(metrics: dict) -> dict[str, float]:
    return {name: metric["value"] for name, metric in metrics.items()}


def test_perfect_predictions_are_all_right_and_nothing_is_said_of_ranks(dataset, tmp_path) -> None:
    result, said = run(dataset, write(tmp_path, gold_rows(dataset)))
    assert said == ""
    assert list(result) == [
        *("dataset", "file", "format", "split", "preset", "counts", "metrics", "presets", "unknown", "missing"),
        "errors",
    ]
    assert result["split"] == "test_task", "the split that the file's name starts with"
    assert result["counts"] == {
        "conversations": 2,
        "turns": 4,
        "steps": 12,
        "predicted": 12,
        "missing": 0,
        "unknown": 0,
        "defects": 0,
        "skipped": 0,
    }
    names = {"element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success"}
    assert values(result["presets"]["corrected"]) == dict.fromkeys(names, 1.0)
    assert result["metrics"] == result["presets"]["faithful"]
    assert result["metrics"]["element_accuracy"]["grouping"] == "turn"


def test_a_value_beside_a_click_counts_as_published_and_only_there(dataset, tmp_path) -> None:
    rows = [[sample, node, text.replace("CLICK", "CLICK 2 adults")] for sample, node, text in gold_rows(dataset)]
    result, _ = run(dataset, write(tmp_path, rows))
    assert values(result["presets"]["corrected"])["operation_f1"] == 1.0
    assert values(result["presets"]["faithful"])["operation_f1"] == pytest.approx(1 - 0.5 / 3)
    assert values(result["presets"]["faithful"])["step_success"] == pytest.approx(2 / 3)


def test_missing_predictions_fail_and_unknown_ones_are_listed(dataset, tmp_path) -> None:
    rows = gold_rows(dataset)
    result, said = run(dataset, write(tmp_path, [*rows[:9], ["elsewhere_1", "5", "CLICK"]]))
    assert (result["counts"]["missing"], result["counts"]["unknown"]) == (3, 1)
    assert result["missing"] == [row[0] for row in rows[9:]]
    assert result["unknown"] == ["elsewhere_1"]
    assert values(result["presets"]["corrected"])["step_success"] == 0.75
    assert "elsewhere_1" in said
    assert "counted as failures" in said


@pytest.mark.slow
def test_the_exported_predictions_of_a_study_get_its_numbers(dataset, hash_encoder, tmp_path, monkeypatch) -> None:
    grounded = literature.get("grounded")
    cut = replace(grounded, rank=replace(grounded.rank, top_k=2))
    monkeypatch.setitem(literature.RECIPES, "grounded", cut)  # as recipes that show no more than they rank say it
    Target.objects.filter(step__index=1, step__turn__index=0).update(node_id="9")  # so that it errs
    Target.objects.filter(step__index=2, step__turn__index=1).update(node_id="12")
    study = running.create_study(
        user=None,
        dataset=dataset,
        recipes=["grounded"],
        splits=["test_task"],
        publish=False,
    )
    running.run_inline(study)
    found = study.runs.get()
    predictions, scores = [], {}
    for row in found.steps.select_related("step__turn"):
        sample = f"{row.step.turn.source_id}_{row.step.source_id}"
        predictions.append([sample, row.node_id, Action(row.operation, None, row.value).operation_text()])
        scores[sample] = {node_id: -rank for rank, node_id in enumerate(row.candidate_ids)}
    path = write(tmp_path, {"scores": scores}, "scores.json")
    result, _ = run(dataset, write(tmp_path, predictions), "--scores", str(path), "--top-k", "2")
    assert result["counts"]["steps"] == found.step_count
    assert result["counts"]["skipped"] == found.steps.filter(gold_rank__gte=2).count() > 0, "the cut matters"
    assert 0 < found.scores.headline("corrected").get(metric="step_success").value < 1
    # Predictions made elsewhere come of a published loop, which overlooks what is skipped at the end (Q6); `grounded`
    # has none, so its stored faithful scores do not.
    published = headlines(score(RunScores(found).outcomes("faithful"), "faithful", seed=found.seed))
    for preset, known in (("corrected", found.scores.headline("corrected")), ("faithful", published.values())):
        expected = {
            getattr(one, "metric", None) or one.name: {
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "grouping": one.grouping,
            }
            for one in known
        }
        assert result["presets"][preset] == expected, preset


def test_ranks_follow_from_scores_where_a_file_has_no_ranks(dataset, tmp_path) -> None:
    rows = gold_rows(dataset)
    scores = {row[0]: {row[1]: 0.1, "12": 0.9, "14": 0.5} for row in rows}
    path = write(tmp_path, {"scores": scores}, "scores.json")
    result, _ = run(dataset, write(tmp_path, rows), "--scores", str(path), "--top-k", "2")
    assert result["counts"]["skipped"] == 12
    assert values(result["presets"]["faithful"])["element_accuracy"] == 0
    assert values(result["presets"]["corrected"])["element_accuracy"] == 1
    assert values(result["presets"]["corrected"])["mrr"] == pytest.approx(1 / 3)


def test_steps_without_ranks_are_counted_and_skipped(dataset, tmp_path) -> None:
    rows = gold_rows(dataset)
    path = write(tmp_path, {"scores": {rows[0][0]: {rows[0][1]: 0.5}}}, "scores.json")
    result, _ = run(dataset, write(tmp_path, rows), "--scores", str(path))
    assert (result["counts"]["unranked"], result["counts"]["skipped"]) == (11, 11)


def test_punctuation_counts_only_where_it_is_asked_for(dataset, tmp_path) -> None:
    rows = [[sample, element, text.replace("red", "- red")] for sample, element, text in gold_rows(dataset)]
    path = write(tmp_path, rows)
    assert values(run(dataset, path)[0]["metrics"])["step_success"] == 1
    assert values(run(dataset, path, "--keep-punctuation")[0]["metrics"])["step_success"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (["x"], "", "expected [sample id, element id, action], found a list of 1"),
        ({"id": 1}, "", "expected [sample id, element id, action], found an object"),
        ([7, "5", "CLICK"], "sample id", "expected text, found a number"),
        (["a00_step-0", ["5"], "CLICK"], "element id", "expected text, a number or null, found a list"),
        (["a00_step-0", "5", 3], "action", 'expected text such as "CLICK", found a number'),
        (["a00_step-1", "5", "CLICK"], "sample id", "'a00_step-1' was predicted before; the first prediction counts"),
    ],
)
def test_a_bad_record_is_named_and_the_others_count(dataset, tmp_path, row, field, message) -> None:
    rows = gold_rows(dataset)
    result, said = run(dataset, write(tmp_path, [*rows[1:], row]))
    name = "test_task_predictions_top50.json"
    assert result["errors"] == [{"file": name, "record": "record 12", "field": field, "message": message}]
    assert f"{name}: record 12: " in said
    assert result["counts"]["predicted"] == 11


def test_no_element_and_no_action_is_a_failure(dataset, tmp_path) -> None:
    rows = [[sample, element, None] for (sample, _, _), element in zip(gold_rows(dataset), [None, ""] * 6, strict=True)]
    result, _ = run(dataset, write(tmp_path, rows))
    assert set(values(result["metrics"]).values()) == {0.0}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("test_task_outputs_top50.json", [], "raw replies; score takes the predictions beside it"),
        ("test_task_results_top50.json", {}, "it holds means; score takes the predictions beside it"),
        ("x.json", {"a": 1}, "expected a list of [sample id, element id, action], found an object"),
        ("x.json", "[1,", "x.json: not JSON"),
        ("x.json", "[" * 100_000, "x.json: not JSON"),
        ("x.json", [], "no prediction in x.json can be read: it is empty"),
        ("x.json", [3], "x.json: record 1: expected [sample id"),
        ("x.json", [["other_1", "5", "CLICK"]], "belongs to this split of the dataset; the first is for 'other_1'"),
        ("test_website_predictions_top50.json", [["a00_step-0", "5", "CLICK"]], "no conversation in this split"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(dataset, tmp_path, name, content, message) -> None:
    with pytest.raises(CommandError, match=message.replace("[", r"\[")):
        run(dataset, write(tmp_path, content, name))


def test_a_missing_file_and_an_unknown_dataset_are_named(dataset, tmp_path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        run(dataset, tmp_path / "none.json")
    dataset.name = "other"
    with pytest.raises(CommandError, match="there is no dataset 'other'; there are: shopping"):
        run(dataset, tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], 'scores.json: a score file is an object with "scores" and "ranks"'),
        ({"scores": {"a00_step-0": {"5": "first"}}}, "scores.json: .*a00_step-0"),
        ("[1", "scores.json is not JSON"),
        ("[" * 100_000, "scores.json is not JSON"),
        ("9" * 5_000, "scores.json is not JSON"),
    ],
)
def test_a_score_file_of_another_shape_is_refused(dataset, tmp_path, content, message) -> None:
    path = write(tmp_path, content, "scores.json")
    with pytest.raises(CommandError, match=message):
        run(dataset, write(tmp_path, gold_rows(dataset)), "--scores", str(path))
    with pytest.raises(CommandError, match="No such file"):
        run(dataset, write(tmp_path, gold_rows(dataset)), "--scores", str(tmp_path / "none.json"))


def test_ids_that_several_steps_share_are_refused(dataset, tmp_path) -> None:
    twin = factories.make_conversation(turns=0, dataset=dataset, split="test_task")
    factories.make_turn(twin, steps=1, source_id="a00")
    with pytest.raises(CommandError, match="share their annotation and action ids"):
        run(dataset, write(tmp_path, gold_rows(dataset)))


def test_without_json_a_table_says_what_each_mean_is_over(dataset, tmp_path) -> None:
    out = io.StringIO()
    path = write(tmp_path, gold_rows(dataset))
    call_command("score", "shopping", str(path), "--format", "mind2web", stdout=out)
    assert "test_task_predictions_top50.json on shopping · test_task · faithful" in out.getvalue()
    assert "turn_success               1.000   0.158 – 1.000         2  conversation" in out.getvalue()
