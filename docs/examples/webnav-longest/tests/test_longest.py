"""Tests of the example. Run in the folder of the product: `.venv/bin/python -m pytest
docs/examples/webnav-longest/tests`."""

import csv
from pathlib import Path

import pytest

from agents.cookbook import deviations
from agents.cookbook.checking import read_by, vary
from agents.cookbook.sentences import stages
from agents.pipeline import Pipeline
from agents.recipes.literature import from_dict, get, override, to_dict
from agents.stages.kind import Parts
from agents.types import Observation, RankedCandidate
from annotations.datasets import reader
from annotations.datasets.records import BadRecord, ConversationRecord
from evaluation.metrics import METRICS
from evaluation.metrics.scores import CORRECTED

PAGE = '<html backend_node_id="1"><button backend_node_id="2">Go</button><a backend_node_id="3">Read on</a></html>'


COLUMNS = ["task", "instruction", "operation", "value", "html", "target"]


class Ranked:
    """Stands in for a ranker, so that no weights are needed: it always ranks the same two elements."""

    def rank(self, observations: list[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [(RankedCandidate("2", 0.9, 0, "Go on"), RankedCandidate("3", 0.1, 1, "Proceed")) for _ in observations]


def decide(**settings: str) -> str | None:
    changes = {"plan.kind": "longest"} | {name.replace("__", "."): value for name, value in settings.items()}
    pipeline = Pipeline.of(Parts(override(get("deberta"), changes), ranker=Ranked()))
    (decision,) = pipeline.decide([Observation(1, 1, 0, 0, "w", "", "", "Go", PAGE)])
    return decision.actions[0].node_id


def test_the_longest_text_is_clicked() -> None:
    assert decide() == "3"
    assert decide(rank__top_k="1") == "2"
    assert decide(plan__longest_by="words") == "2"


def test_the_metric_is_among_those_that_are_scored() -> None:
    assert METRICS["long_operation"].label == "Long Op."
    assert ("long_operation", "long_operation", "conversation") in CORRECTED


def test_the_reader_reads(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, ["t1", "Go", "CLICK", "", PAGE, "2"]])
    (tmp_path / "b.csv").write_text("task,instruction\nt2,Stop\n")
    with (tmp_path / "c.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, ["t3", "Go", "CLICK", "", "", "2"]])
    good, bad, unreadable = reader("csv-tasks")(tmp_path)
    assert isinstance(good, ConversationRecord)
    (step,) = good.turns[0].steps
    assert (step.html, step.positives[0].node_id, step.negatives[0].node_id) == (PAGE, "2", "3")
    assert isinstance(bad, BadRecord)
    assert "html" in bad.field
    assert isinstance(unreadable, BadRecord)


def test_a_recipe_may_choose_it_and_says_so() -> None:
    recipe = vary(get("grounded"), {"plan.kind": "longest"})
    assert {"rank.top_k", "plan.longest_by"} <= read_by(recipe)
    assert "longest_by" not in to_dict(recipe)["plan"], "as long as nobody changes it, nothing says it"
    changed = vary(get("grounded"), {"plan.kind": "longest", "plan.longest_by": "words"})
    assert from_dict(to_dict(changed)) == changed
    with pytest.raises(
        ValueError, match=r"plan\.longest_by would change nothing in grounded: it needs plan\.kind=longest"
    ):
        vary(get("grounded"), {"plan.longest_by": "words"})
    with pytest.raises(ValueError, match=r"plan\.longest_by must be one of letters, words; got 'lines'"):
        override(recipe, {"plan.longest_by": "lines"})
    assert [stage.sentence for stage in stages(recipe) if stage.name == "plan"] == [
        "Clicks the longest text, by its letters, of the 50 best elements; there is no value."
    ]
    assert deviations.of_recipe(recipe)[-1].words == "Nobody has published it: the longest text is right by luck."
