"""The progress of a job in words. A report may hold `said`, the headline of its end, and `landed`, what went well."""

from annotations.jobs.live import Live, ago_text, counts_text, pace_text, span_text, worker_text
from annotations.models import Job

State = Job.State
LABELS: dict[str, str] = {State.DONE_WITH_ERRORS: "done, with errors"}
VERBS: dict[str, str] = {Job.Kind.IMPORT: "Imported", Job.Kind.EXPORT: "Exported"}


def job_live(job: Job) -> Live:
    label = "cancelling" if job.cancel_requested and not job.is_over else LABELS.get(job.state, job.state)
    fields = {
        "headline": _headline(job),
        "detail": " · ".join(part for part in _details(job) if part),
        "state": job.state,
        "state_label": label,
    }
    return Live(not job.is_over, f"{job.state} {job.error_count} {job.cancel_requested}", fields, _bar(job))


def _headline(job: Job) -> str:
    progress, report = job.progress, job.report
    if job.state in (State.DONE, State.DONE_WITH_ERRORS):
        return report.get("said") or f"{VERBS[job.kind]} {report.get('conversations', 0):,} conversations"
    if job.state == State.FAILED:
        return f"The {job.get_kind_display()} failed"
    if job.state == State.CANCELLED:
        return f"The {job.get_kind_display()} was cancelled"
    if not progress.get("unit"):
        return "Starting" if job.state == State.RUNNING else "Waiting to start"
    return counts_text(progress.get("done", 0), progress.get("total"), progress["unit"])


def _details(job: Job) -> list[str]:
    progress = job.progress
    if job.is_over:
        seconds = job.report.get("seconds")
        took = f"in {span_text(seconds)}" if seconds else ""
        return [took, f"finished {ago_text(job.finished_at)}" if job.finished_at else ""]
    pace = pace_text(progress.get("per_second"), job.seconds_left, progress.get("unit", ""))
    return [progress.get("phase", ""), *pace, worker_text(job)]


def _bar(job: Job) -> tuple[float, float, float]:
    if job.state in (State.DONE, State.DONE_WITH_ERRORS):
        landed = job.report.get("landed", job.report.get("conversations", 0) + job.report.get("skipped", 0))
        errors = job.error_count
        return (landed / (landed + errors), errors / (landed + errors), 0.0) if errors else (1.0, 0.0, 0.0)
    fraction = job.fraction or 0.0
    if job.is_over:
        return (0.0, fraction or 1.0, 0.0) if job.state == State.FAILED else (fraction, 0.0, 0.0)
    return (fraction, 0.0, 0.0 if fraction else 0.02)
