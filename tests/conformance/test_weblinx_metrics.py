"""WebLINX metrics as the published code gives them: per pair of actions, per turn and aggregated."""

import csv
import io
from dataclasses import asdict

import pytest

from agents.weblinx.quirks import CRASHING
from evaluation.metrics.weblinx.action import TURN_METRICS, WeblinxAction, handled_crashes, overall, text_chrf
from evaluation.metrics.weblinx.groups import aggregate
from evaluation.metrics.weblinx.turns import TurnReply, TurnScores, compare, rounded, score_turns
from tests.conformance.weblinx import demos, params, section

FILE = "weblinx_metrics"
ERRORS = {"ZeroDivisionError": ZeroDivisionError, "AttributeError": AttributeError}


@pytest.mark.parametrize("case", params(FILE, "pairs"))
def test_pairs_score_as_published(case):
    predicted, gold = (WeblinxAction(**case[side]) for side in ("pred", "ref"))
    scores = {name: metric(predicted, gold) for name, metric in TURN_METRICS.items()}
    assert {name: score is not None for name, score in scores.items()} == case["applicable"]
    crashes = {name: score["error"] for name, score in case["scores"].items() if isinstance(score, dict)}
    for name, error in crashes.items():
        with pytest.raises(ERRORS[error.partition(":")[0]]):
            TURN_METRICS[name](predicted, gold, CRASHING)
        assert scores.pop(name) == 0.0
    assert len(handled_crashes(predicted, gold)) == len(crashes)
    assert scores == pytest.approx({name: case["scores"][name] for name in scores}, abs=1e-9)
    if "overall_conditional" in case:
        assert overall(scores) == pytest.approx(case["overall_conditional"], abs=1e-9)


@pytest.mark.parametrize("case", params(FILE, "chrf"))
def test_chrf_agrees(case):
    assert text_chrf(case["hyp"], case["ref"]) == pytest.approx(case["chrf"], abs=1e-9)


@pytest.fixture(scope="module")
def compared():
    predictions = [
        TurnReply(result["demo_name"], result["turn_index"], result["output_predicted"])
        for result in section(FILE, "end_to_end", "model_results")
    ]
    return compare(predictions, demos(FILE, "end_to_end"))


def published_table(scores: list[TurnScores]) -> list[dict]:
    return [
        {"demo_name": turn.demo, "turn_index": turn.turn, "pred_intent": turn.predicted_intent}
        | {"ref_intent": turn.gold_intent}
        | turn.metrics
        for turn in scores
    ]


def test_the_same_turns_are_kept_with_the_same_actions(compared):
    kept, dropped = compared
    assert [[prediction.demo, prediction.turn] for prediction in dropped] == section(
        FILE, "end_to_end", "dropped_turns"
    )
    made = [
        {"demo_name": turn.demo, "turn_index": turn.turn, "pred": asdict(turn.predicted), "ref": asdict(turn.gold)}
        for turn in kept
    ]
    assert made == section(FILE, "end_to_end", "processed")
    assert not any(turn.handled for turn in kept)


@pytest.mark.parametrize("future", [1, 3])
def test_turn_scores_agree(compared, future):
    made = published_table(score_turns(compared[0], future))
    published = section(FILE, "end_to_end", f"turn_scores_future{future}")
    assert len(made) == len(published)
    for row, expected in zip(made, published, strict=True):
        assert row == pytest.approx(expected, abs=1e-9)


def test_the_rounded_table_agrees(compared):
    made = published_table([rounded(turn) for turn in score_turns(compared[0])])
    published = list(csv.DictReader(io.StringIO(section(FILE, "end_to_end", "csv_rounded"))))
    assert len(made) == len(published)
    for row, expected in zip(made, published, strict=True):
        numbers = {name: float(value) if value else None for name, value in expected.items() if name in TURN_METRICS}
        assert row == {**expected, "turn_index": int(expected["turn_index"]), **numbers}


def test_aggregated_scores_agree(compared):
    means = aggregate(score_turns(compared[0]))
    published = section(FILE, "end_to_end", "aggregated")
    for row in published:
        mean = means[row["intent"], row["metric"]]
        assert [mean.conditional, mean.unconditional] == pytest.approx(
            [row["score"], row["unconditional_score"]], abs=1e-9
        )
    assert len(means) == len(published) + 2  # and the two clean groups
