"""The progress of one run: what is in the database. Workers and time left are on its study's page."""

from agents.models import Run
from annotations.jobs.live import Live, ago_text, counts_text, span_text

LABELS = {Run.State.DONE_WITH_ERRORS: "done, with errors"}


def run_live(run: Run) -> Live:
    """`run` comes with `done` and `failed`, its stored steps and those in which the agent reported an error."""
    fields = {
        "headline": counts_text(run.done, run.step_count, "steps"),
        "detail": _detail(run),
        "state": run.state,
        "state_label": LABELS.get(run.state, run.state),
    }
    total = run.step_count or 1
    bar = ((run.done - run.failed) / total, run.failed / total, 0.02 if run.state == Run.State.RUNNING else 0.0)
    return Live(not run.is_over, f"{run.state} {run.done}", fields, bar)


def _detail(run: Run) -> str:
    if run.finished_at and run.started_at:
        return f"in {span_text((run.finished_at - run.started_at).total_seconds())}, {ago_text(run.finished_at)}"
    return f"started {ago_text(run.started_at)}" if run.started_at else "not started"
