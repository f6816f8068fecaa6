"""Imports, exports and releases as background jobs: started by people, run by `io` workers in slices."""

import logging
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.text import slugify

from annotations.access import rules
from annotations.corpus.exporting import export_dataset, export_release
from annotations.corpus.importing import ImportProgress, ImportReport, Position, StopImport, import_files
from annotations.datasets import READERS, WRITERS
from annotations.datasets.files import ArchiveError
from annotations.datasets.records import BadRecord
from annotations.jobs import full_disk, placement, stopping, waking
from annotations.jobs.uploads import below_import_root, keep_upload, source_of
from annotations.models import Dataset, Job, Project, Split
from annotations.models.accounts.projects import Account
from annotations.models.jobs.jobs import Cancelled
from annotations.models.releases.releases import ReleasedConversationQuerySet
from annotations.monitor.outages import OUTAGES
from annotations.storage import forget_scratch, private_folder, scratch, store

logger = logging.getLogger(__name__)
SLICE_SECONDS = 240  # a message must not live longer than the broker's visibility timeout
WAY_SECONDS = 2  # before a job that made way asks again
MAX_RUNNING_PER_USER = 5
LONGEST_NAME: int = Dataset._meta.get_field("name").max_length or 0
SHOWN_WARNINGS = 100
ALL_BAD = "No record could be imported; see the errors below."
ALL_SKIPPED = "Every record was left out: "
NO_RECORD = "Nothing in it is a record of this format."
ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same data gives the same bytes


def start_import(
    *,
    user: Account,
    project: Project,
    format: str,
    name: str,
    split: str = "",
    limit: int | None = None,
    upload: UploadedFile | None = None,
    path: str = "",
    replace_judged: bool = False,
) -> Job:
    """A queued import of an uploaded file, or of a file or folder below IMPORT_ROOT. Raises ValidationError."""
    rules.require(user, "import", project)
    errors = named_wrongly(name, project) | _source_errors(upload, path)
    if format not in READERS:
        errors["format"] = f"Choose one of {', '.join(READERS)}."
    if split and split not in Split.values:
        errors["split"] = f"Choose one of {', '.join(Split.values)}."
    if limit is not None and limit < 1:
        errors["limit"] = "Import at least one record."
    check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    file = keep_upload(upload) if upload else ""
    params = {"format": format, "name": name, "split": split, "limit": limit, "path": path}
    params["replace_judged"] = replace_judged
    if upload:
        params["original_name"] = Path(upload.name or "upload").name[:200]
    return queue(Job(kind=Job.Kind.IMPORT, project=project, created_by=user, params=params, file=file))


def named_wrongly(name: str, project: Project) -> dict[str, str]:
    """The error in the name of a dataset to import into, by field; {} for a good one. A project may import into its own
    datasets again."""
    if not name or slugify(name) != name:
        return {"name": "Use lower-case letters, digits and hyphens."}
    if len(name) > LONGEST_NAME:
        return {"name": f"Use at most {LONGEST_NAME} characters."}
    if Dataset.objects.filter(name=name).exclude(project=project).exists():
        return {"name": "This name is taken by another project."}
    return {}


def _source_errors(upload: UploadedFile | None, path: str) -> dict[str, str]:
    """The errors of an import's source, by field: it must be either an uploaded file or a path below IMPORT_ROOT."""
    errors: dict[str, str] = {}
    if bool(upload) == bool(path):
        errors["upload"] = "Give either a file to upload or a path on the server."
    if upload and upload.size and upload.size > settings.MAX_UPLOAD_BYTES:
        errors["upload"] = f"At most {settings.MAX_UPLOAD_BYTES // 1024**3} GB; put larger files below IMPORT_ROOT."
    if path:
        try:
            below_import_root(path)
        except ValidationError as error:
            errors["path"] = error.messages[0]
    return errors


def start_export(*, user: Account, dataset: Dataset, format: str, split: str = "", release: str = "") -> Job:
    """A queued export of the dataset as it is, or of the release with this version; test splits are left out for users
    who may not see their gold. Raises ValidationError."""
    rules.require(user, "export", dataset.project)
    errors: dict[str, str] = {}
    if format not in WRITERS:
        errors["format"] = f"Choose one of {', '.join(WRITERS)}."
    if split and split not in Split.values:
        errors["split"] = f"Choose one of {', '.join(Split.values)}."
    elif split and not rules.sees_gold(user, dataset.project, split):
        errors["split"] = "The gold actions of this split are not open to you; ask an admin of the project."
    if release and not dataset.releases.filter(version=release).exists():
        errors["release"] = f"There is no release {release} of {dataset}."
    check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    name = f"{dataset.name}-{release}" if release else dataset.name
    params = {"format": format, "name": name, "split": split} | ({"release": release} if release else {})
    return queue(Job(kind=Job.Kind.EXPORT, project=dataset.project, dataset=dataset, created_by=user, params=params))


def check_quota(user: Account, errors: dict[str, str]) -> None:
    """Add an error where the user has too many unfinished jobs."""
    if Job.objects.filter(created_by=user).unfinished().count() >= MAX_RUNNING_PER_USER:
        errors["__all__"] = f"You have {MAX_RUNNING_PER_USER} unfinished jobs; wait for one or cancel one."


def queue(job: Job) -> Job:
    """Store a new job and tell a worker of it."""
    with transaction.atomic():
        job.save()
        publish(job)  # not an outbox: the reaper publishes again what was lost
    return job


def publish(job: Job) -> None:
    """Wake up a worker of the job's queue once the row is committed."""
    # Robust: without a broker the job still stands, and the reaper publishes it when the broker is back.
    transaction.on_commit(partial(_tell_workers, job), robust=True)


def _tell_workers(job: Job) -> None:
    if waking.broker_answers():
        job_task.apply_async((job.pk,), queue=job.queue)
        Job.objects.filter(pk=job.pk).note_message()


job_task: Any = None
"""Celery's task that works on a job; `annotations.apps` sets it."""
NEEDS: dict[str, Callable[[Job], placement.Needs]] = {}
"""Kind -> what a job needs of the host that works on it; others add theirs."""


def better_queue(pk: int) -> str | None:
    """The queue of a host that suits a waiting job better than this one; None to work on it here."""
    job = Job.objects.filter(pk=pk, state=Job.State.QUEUED).first()
    if job is None or job.kind not in NEEDS:
        return None
    return placement.better_queue(job.queue, NEEDS[job.kind](job))


def propose_first() -> None:
    """Make the proposals that people wait for, before other work of the same worker begins."""
    for pk in Job.objects.at_desks().values_list("pk", flat=True):
        if (job := Job.objects.claim(pk)) is None:
            continue
        try:
            run(job)
        except Exception:  # its row says why; the other work is not to suffer, and the reaper sends its message again
            logger.exception("%s failed", job)


def is_slice_over(begun: float) -> bool:
    """Whether work that a slice began then, of `time.monotonic`, is to be queued again: it had its time, its worker is
    told to stop, or somebody waits for this worker."""
    return stopping.asked() or time.monotonic() - begun > SLICE_SECONDS or stopping.makes_way()


def makes_way(pk: int) -> bool:
    """Put a waiting job back where it would hold up work that somebody watches; False where it may begin."""
    job = Job.objects.filter(pk=pk, state=Job.State.QUEUED).first()
    if job is None or job.queue != "gpu" or job.kind == Job.Kind.PROPOSE or not stopping.watched():
        return False
    if waking.broker_answers():
        job_task.apply_async((pk,), queue=job.queue, countdown=WAY_SECONDS)
        Job.objects.filter(pk=pk).note_message()
    return True


def retry(job: Job) -> Job:
    """Queue a job again that ended without success, and tell a worker of it. Raises ValidationError."""
    with transaction.atomic():
        job.queue_again()
        publish(job)
    return job


def run(job: Job) -> bool:
    """Work on a claimed job for at most one slice; True when it must be queued again."""
    with job.heartbeat():
        try:
            return RUNNERS[job.kind](job)
        except Cancelled:
            _give_up(job, Job.State.CANCELLED)
        except ArchiveError as error:  # refused for what it is: trying again would refuse it again
            if _give_up(job, Job.State.FAILED, last_error=_explained(error)):
                job.forget_file()
        except (ValueError, OSError, ValidationError) as error:  # bad input: explained, not retried
            _give_up(job, Job.State.FAILED, last_error=_explained(error))
        except MemoryError:
            _give_up(job, Job.State.FAILED, last_error=job.out_of_memory())
        except Exception as error:
            if disk := full_disk.said(error):
                _give_up(job, Job.State.FAILED, last_error=disk)
                return False
            job.retry_or_fail(f"{type(error).__name__}: {error}")
            if isinstance(error, OUTAGES):
                return True
            raise
    return False


def _give_up(job: Job, state: str, **fields: Any) -> bool:
    """End the job without success, and remove a dataset that it made and left empty; False when somebody else ended it
    first."""
    ended = job.finish(state, **fields)
    if ended:
        job.forget_bare_dataset()
    return ended


def _explained(error: Exception) -> str:
    """The error's message for people, without paths of the server's disk."""
    if disk := full_disk.said(error):
        return disk
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    if isinstance(error, OSError) and error.filename:
        return f"{Path(error.filename).name}: {error.strerror}"
    return str(error)


def _run_import(job: Job) -> bool:
    params = job.params
    source, problems = _source(job)
    dataset = job.made_dataset()
    state = job.progress.get("resume")
    start = Position(**state) if state else Position()
    report = ImportReport.from_dict(job.report) if state else ImportReport(dataset.name)
    if not state:
        for member, message in problems:
            report.bad(BadRecord(member, "", "", message))
    begun = time.monotonic()

    def tell(progress: ImportProgress) -> None:
        _tell_import(job, progress)
        if stopping.asked() or time.monotonic() - begun > SLICE_SECONDS:
            raise StopImport

    try:
        report = import_files(
            params["format"],
            source,
            dataset,
            split=params["split"],
            limit=params["limit"],
            replace_judged=params.get("replace_judged", False),
            start=start,
            report=report,
            progress=tell,
        )
    except StopImport:
        return job.hand_back()
    _finish_import(job, report)
    return False


def _finish_import(job: Job, report: ImportReport) -> None:
    failed = report.nothing_landed
    state = Job.State.FAILED if failed else Job.State.DONE_WITH_ERRORS if report.error_count else Job.State.DONE
    if not job.end(state, report.to_dict(), _why_nothing_landed(report) if failed else ""):
        return
    if failed:
        job.forget_bare_dataset()
    if state == Job.State.DONE:
        job.forget_file()


def _why_nothing_landed(report: ImportReport) -> str:
    if report.error_count:
        return ALL_BAD
    if report.skipped:
        return ALL_SKIPPED + "; ".join(f"{reason} ({count:,})" for reason, count in report.reasons.items())
    return NO_RECORD


def _source(job: Job) -> tuple[Path, list[tuple[str, str]]]:
    """What to import, and the members of an uploaded zip that are damaged."""
    if job.params["path"]:
        return below_import_root(job.params["path"]), []
    return source_of(job.file, job.params["original_name"])


def _tell_import(job: Job, progress: ImportProgress) -> None:
    report = progress.report
    values = {
        "phase": f"file {min(progress.position.file + 1, progress.files)} of {progress.files}",
        "done": report.records,
        "total": job.params["limit"],
        "unit": "records",
        "bytes_done": progress.bytes_done,
        "bytes_total": progress.bytes_total,
        "per_second": round(report.records / report.seconds, 1) if report.seconds else None,
        "resume": asdict(progress.position),
    }
    if not job.tell(values, report=report.to_dict()):
        raise Cancelled


def _run_export(job: Job) -> bool:
    dataset, params = job.existing_dataset(), job.params
    if job.created_by is None:  # nobody to ask what may be seen
        raise ValueError("the person who asked for this export has been removed")
    release = dataset.releases.get(version=params["release"]) if params.get("release") else None
    rows = release.conversations.all() if release else dataset.conversations.all()
    if params["split"]:
        rows = rows.filter(split=params["split"])
    project = "release__dataset__project" if release else "dataset__project"
    rows = rules.gold_filter(job.created_by, rows, "split", project)
    sees_test = rules.sees_gold(job.created_by, job.project, Split.TEST_TASK)
    total = rows.count()
    tell = partial(job.go_on_of, total, "conversations")
    tell("writing", 0)
    name = f"exports/{job.pk}.zip"
    forget_scratch(name)
    folder, archive = scratch(name) / "files", scratch(name) / "export.zip"
    private_folder(folder)
    try:
        out, told = folder / dataset.name, lambda done: tell("writing", done)
        warnings: list[str] = []
        if release:
            counts = export_release(
                release,
                params["format"],
                out,
                conversations=cast(ReleasedConversationQuerySet, rows),
                progress=told,
                warn=warnings.append,
            )
        else:
            counts = export_dataset(dataset, params["format"], out, rows, progress=told, warn=warnings.append)
        tell("compressing", total)
        _zip(folder, archive)
        store.keep(name, archive)
        report = {
            "conversations": sum(counts.values()),
            "files": len(counts),
            "bytes": archive.stat().st_size,
            "test_gold": sees_test,
        } | ({"warnings": _first(warnings)} if warnings else {})
    finally:
        forget_scratch(name)
    job.finish(Job.State.DONE, file=name, report=report)
    return False


def _first(warnings: list[str]) -> list[str]:
    """The first warnings, as many as a person reads, and a line that says how many more there are."""
    more = len(warnings) - SHOWN_WARNINGS
    return [*warnings[:SHOWN_WARNINGS], *([f"and {more:,} more like these"] if more > 0 else [])]


def _zip(folder: Path, archive: Path) -> None:
    """Pack the folder into a zip whose bytes depend only on its content."""
    with ZipFile(archive, "w", ZIP_DEFLATED) as out:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            info = ZipInfo(str(path.relative_to(folder)), ZIP_TIME)
            info.compress_type = ZIP_DEFLATED
            with path.open("rb") as source, out.open(info, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1024 * 1024)


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.IMPORT: _run_import, Job.Kind.EXPORT: _run_export}
"""Kind -> what works on a claimed job for one slice and says whether it must go on; others add theirs."""
