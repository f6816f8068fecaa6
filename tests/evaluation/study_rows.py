"""Studies over small conversations, and what is compared of their results."""

from agents.models import Run, TrajectoryStep
from annotations.models import Dataset
from evaluation.models import Score, Study
from evaluation.studies import running

FACTS = (
    "step_id",
    "seq",
    "operation",
    "node_id",
    "value",
    "gold_rank",
    "element_correct",
    "operation_f1",
    "success",
    "error",
)


def make_study(dataset: Dataset, **options) -> Study:
    """A study of `grounded` in batches of four, of which no worker is told."""
    options = {"user": None, "recipes": ["grounded"], "publish": False, "overrides": {"batch_size": "4"}} | options
    return running.create_study(dataset=dataset, **options)


def rows(run: Run, *more: str) -> list[dict]:
    """The results of a run by step; `more`: further columns."""
    fields = (*FACTS, *more)
    return list(TrajectoryStep.objects.filter(run=run).order_by("step_id").values(*fields))


def numbers(run: Run) -> list[tuple]:
    """Every score of a run, with its interval."""
    fields = ("preset", "metric", "grouping", "headline", "value", "low", "high", "n")
    return list(Score.objects.filter(run=run).order_by("preset", "metric", "grouping").values_list(*fields))


def undisturbed(dataset: Dataset) -> Run:
    """The run of a study that nothing happens to."""
    study = make_study(dataset)
    running.run_inline(study)
    return study.runs.get()
