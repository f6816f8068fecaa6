"""WebLINX recipes from end to end on demonstrations in the published layout, and the scores of such runs."""

from pathlib import Path

import pytest

from agents.models import Run
from agents.observations import RecordedConversation
from agents.recipes import literature
from agents.runs.weblinx_demos import demo_of
from annotations.corpus.importing import import_files
from annotations.models import Dataset, Split
from evaluation.metrics import is_ranking
from evaluation.metrics.scores import PRESETS
from evaluation.metrics.weblinx.groups import aggregate
from evaluation.metrics.weblinx.turns import TurnReply, compare, score_turns
from evaluation.scores.scoring import RunScores
from evaluation.studies import running
from tests import factories
from tests.annotations.weblinx_folder import write_demo
from tests.evaluation.recipe_world import tiny_weights
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db
NAMES = [name for name, recipe in literature.RECIPES.items() if recipe.data == "weblinx"]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def dataset(db: None, tmp_path: Path) -> Dataset:
    write_demo(tmp_path, "aaaaaaa")
    write_demo(tmp_path, "bbbbbbb")
    dataset = factories.make_dataset(source_format="weblinx")
    report = import_files("weblinx", tmp_path, dataset, split=Split.VALID)
    assert report.error_count == 0
    return dataset


def run(name: str, dataset: Dataset, weights: dict[str, Path], **changes: str) -> Run:
    """With weights of a few layers, but for MiniLM where a recipe does nothing but rank."""
    recipe = literature.get(name)
    if not recipe.rank.model or recipe.plan.kind == "action_string":
        changes["rank.model"] = str(weights["cross_encoder" if recipe.rank.kind == "cross_encoder" else "encoder"])
    if recipe.plan.kind == "action_string":
        changes |= {"plan.model": str(weights["seq2seq"]), "plan.max_new_tokens": "4"}
    study = running.create_study(user=None, dataset=dataset, recipes=[name], overrides=changes, publish=False)
    running.run_inline(study)
    return study.runs.get()


@pytest.mark.slow
@first_is_quick("name", NAMES)
def test_every_weblinx_recipe_runs_and_is_scored_in_the_published_grouping(name, dataset, weights) -> None:
    result = run(name, dataset, weights)
    assert (result.state, result.error) == (Run.State.DONE, "")
    assert result.steps.count() == result.step_count
    shown = {score.metric: score for score in result.scores.headline("faithful")}
    assert shown["recall@10"].grouping == "positive element"
    assert shown["recall@10"].n == result.steps.filter(gold_rank__isnull=False).count() > 3
    if literature.get(name).plan.kind == "action_string":
        asked = [row for row in result.steps.all() if "reply" in row.trace["plan"]]
        assert asked
        assert all("uid = " in row.trace["compose"]["prompt"] for row in asked)
        assert {"overall", "intent_match", "element_group", "text_group"} <= set(shown)


@pytest.mark.slow
def test_a_turn_without_a_page_shows_the_elements_of_an_earlier_one_to_an_encoder_of_pages_too(
    dataset, weights
) -> None:
    changes = {"rank.kind": "dual_encoder", "rank.model": str(weights["encoder"])}
    rows = list(run("weblinx-flan-t5", dataset, weights, **changes).steps.all())
    assert [row.error for row in rows] == [""] * len(rows)
    ranked = [bool(row.trace["rank"]["top"]) for row in rows]
    assert ranked.count(False) == 4, "of each conversation the two turns before its first page"
    assert ranked.count(True) > ranked.count(False)


@pytest.mark.slow
def test_gold_replies_score_as_the_metrics_say(dataset, weights) -> None:
    """The stored rows lead to the numbers that the metrics give for the same replies."""
    result = run("weblinx-flan-t5", dataset, weights)
    kept, demos = [], {}
    for trajectory in result.trajectories.all():
        recorded = RecordedConversation(trajectory.conversation_id)
        demo = demo_of(recorded)
        demos[demo.name] = demo
        for row in trajectory.steps.select_related("step"):
            if "reply" in row.trace["plan"]:
                row.trace["plan"]["reply"] = 'click(uid="0bbbbbbb-0002-0002")'
                row.save()
                kept.append(TurnReply(demo.name, row.step.source_index, row.trace["plan"]["reply"]))
    RunScores(result).store()
    wanted = aggregate(score_turns(compare(kept, demos)[0]))
    shown = {score.metric: score for score in result.scores.headline("faithful")}
    for (row, metric), name in {
        ("overall", "overall"): "overall",
        ("overall", "intent-match"): "intent_match",
        ("element-group", "iou"): "element_group",
        ("text-group", "chrf-urlf"): "text_group",
    }.items():
        assert shown[name].value == pytest.approx(wanted[row, metric].unconditional)
        assert shown[name].low <= shown[name].value <= shown[name].high
    assert shown["intent_match"].value > 0


@pytest.mark.slow
def test_where_no_gold_element_was_ranked_faithful_has_no_recall_and_corrected_has_zero(dataset, weights) -> None:
    result = run("dmr-minilm", dataset, weights)
    result.steps.update(gold_rank=None)
    RunScores(result).store()
    faithful, corrected = (set(result.scores.headline(p).values_list("metric", flat=True)) for p in PRESETS)
    assert not {metric for metric in faithful if is_ranking(metric)}
    assert {"recall@10", "mrr"} <= corrected
    assert result.scores.headline("corrected").get(metric="recall@10").value == 0.0


def test_a_dataset_without_recorded_turns_is_refused_in_words(weights) -> None:
    dataset = factories.make_conversation().dataset
    result = run("dmr-minilm", dataset, weights)
    assert result.state == Run.State.FAILED
    assert "has no recorded WebLINX turns" in result.error
