"""Background jobs that people start: imports, exports and releases, and what the agents app adds, such as training and
induction."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from annotations.models.accounts.projects import Project
from annotations.models.corpus.datasets import Dataset
from annotations.models.jobs.awaiting import MAKES_WAY, STAYS
from annotations.models.jobs.worker_leases import Leased, LeasedQuerySet
from annotations.shown_progress import ShownProgress, ago_text, counts_text, pace_text, span_text
from annotations.storage import forget_scratch, store

_MODEL = "start the gpu worker with CUDA_VISIBLE_DEVICES= to compute on the processor, or choose a smaller encoder."
LESS_MEMORY = {
    "train": "set a lower batch_size (and a higher accumulate) or max_length, gradient_checkpointing=true or "
    "mixed_precision=bf16, or choose a smaller base.",
    "embed": _MODEL,
    "induce": _MODEL,
    "transition": _MODEL,
    "import": "import the file in parts.",
}
"""Kind of job -> what makes it need less memory."""
LOADING = "loading models"  # the phase of a job that has none of what it works with
LOADING_KINDS = ("train", "embed", "induce", "transition")  # those that load weights before anything else
PAUSING_KINDS = ("train", "embed", "induce", "refine", "transition")  # they make way between two batches
IO_KINDS = ("import", "export", "release", "sample")  # files: what trains, embeds or asks models is `gpu` work
ASKS_NOBODY = "asks_nobody"  # in the params of a job whose kind may ask a model, and that goes by stored rows alone

HELD_UP_FOR = timedelta(minutes=2)  # a proposal that nobody took for so long holds up nothing: no worker could

STATE_WORDS = {"done_with_errors": "done, with errors"}
DONE_WORDS = {"import": "Imported", "export": "Exported"}


class Cancelled(Exception):
    """The job was cancelled by a person, or another worker has taken it over."""


class JobQuerySet(LeasedQuerySet):
    def unfinished(self) -> "JobQuerySet":
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])

    def lose_files(self) -> None:
        """Note that the files of these jobs, uploads or results, are gone."""
        self.update(file="")

    def imports(self) -> "JobQuerySet":
        return self.filter(kind=Job.Kind.IMPORT)

    def loading(self) -> "JobQuerySet":
        return super().loading().filter(kind__in=LOADING_KINDS)

    def waiting_in(self, queue: str) -> "JobQuerySet":
        """Jobs that wait for a worker of this queue, `io` or `gpu`."""
        return self.filter(state=Job.State.QUEUED).of_queue(queue)

    def of_queue(self, queue: str) -> "JobQuerySet":
        """Jobs of this queue, as `Job.queue` says."""
        io = self.filter(Q(kind__in=IO_KINDS) | Q(**{f"params__{ASKS_NOBODY}": True}))
        return io if queue == "io" else self.exclude(pk__in=io.values("pk"))

    def at_desks(self) -> "JobQuerySet":
        """Waiting proposals for an annotation that somebody is at work on, the first that was asked for first: they go
        before all other work of their worker."""
        return self.claimable().filter(kind=Job.Kind.PROPOSE, params__has_key="assignment").order_by("id")

    def asked_for(self, assignment: int) -> "JobQuerySet":
        """Proposals for an annotation that are asked for and not made yet, without those that somebody has stopped."""
        asked = self.unfinished().filter(kind=Job.Kind.PROPOSE, params__assignment=assignment)
        return asked.filter(cancel_requested=False)

    def hold_up_work(self) -> bool:
        """Whether one of these is so new that long work makes way for it."""
        return self.filter(created_at__gt=timezone.now() - HELD_UP_FOR).exists()


class JobKind(models.TextChoices):
    """What a job does; each is an ability of roles, too."""

    IMPORT = "import", "import"
    EXPORT = "export", "export"
    TRAIN = "train", "training"
    EMBED = "embed", "embedding"
    INDUCE = "induce", "workflow induction"
    REFINE = "refine", "rationales"
    PROPOSE = "propose", "proposals"
    RELEASE = "release", "release"
    SAMPLE = "sample", "sample data"
    GOALS = "goals", "live goals"
    TRANSITION = "transition", "transitions"
    RISKS = "risks", "risk forecasts"
    JUDGE = "judge", "judging"
    EXPLAIN = "explain", "explanations of failures"


class Job(Leased):
    """A long piece of work with its progress and its report."""

    Kind = JobKind

    kind = models.CharField(max_length=10, choices=Kind.choices)
    project = models.ForeignKey(Project, models.CASCADE, related_name="jobs")
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, blank=True, related_name="jobs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    params = models.JSONField(default=dict, help_text="format, name, split, limit; path below IMPORT_ROOT.")
    file = models.CharField(max_length=500, blank=True, help_text="Upload to read or result to download, under var/.")
    progress = models.JSONField(default=dict, help_text="phase, done, total, unit, per_second.")
    furthest = models.JSONField(default=dict, help_text="unit -> the most that was ever done: progress goes beyond it.")
    report = models.JSONField(default=dict)
    cancel_requested = models.BooleanField(default=False)

    TRY_AGAIN = "Try it again"
    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.params.get('name', '?')}"

    def tell(self, progress: dict, **fields) -> bool:
        """Store the progress under our lease; False when it is lost or the job was cancelled. Progress that was never
        reached before makes earlier attempts forgotten, so only a job that dies at the same place again and again runs
        out of attempts. In the phase `LOADING` nothing of the work has been tried."""
        unit, done = progress.get("unit", ""), progress.get("done", 0)
        if done > self.furthest.get(unit, 0):
            self.furthest = fields["furthest"] = self.furthest | {unit: done}
            self.attempt = fields["attempt"] = min(self.attempt, 1)
            self.loading_deaths = fields["loading_deaths"] = 0
        fields["is_loaded"] = progress.get("phase") != LOADING
        return bool(self.under_lease().filter(cancel_requested=False).update(progress=progress, **fields))

    def go_on(self, progress: dict) -> None:
        """Store the progress; raises Cancelled when the job is no longer ours or was cancelled."""
        if not self.tell(progress):
            raise Cancelled
        self.progress = progress
        self.told()

    def go_on_of(self, total: int, unit: str, phase: str, done: int) -> None:
        """Store progress as `go_on` does: `done` of `total` units in this phase."""
        self.go_on({"phase": phase, "done": done, "total": total, "unit": unit})

    def keep_report(self, report: dict) -> None:
        """Store what the report holds so far, under our lease."""
        self.under_lease().update(report=report)

    def end(self, state: str, report: dict, last_error: str = "") -> bool:
        """Finish the job and forget the place where it would go on: when it is tried again, it starts anew."""
        kept = Job.objects.values_list("progress", flat=True).get(pk=self.pk)
        kept.pop("resume", None)
        return self.finish(state, report=report, last_error=last_error, progress=kept)

    def existing_dataset(self) -> Dataset:
        if self.dataset is None:
            raise ValueError("the dataset has been deleted")
        return self.dataset

    def made_dataset(self, **fields) -> Dataset:
        """The dataset to import into, made with these fields where there is none; the job keeps whether it has made
        it."""
        with transaction.atomic():
            dataset, made = Dataset.objects.get_or_create(
                name=self.params["name"],
                defaults={"project": self.project, "source_format": self.params["format"]} | fields,
            )
            if dataset.project_id != self.project_id:
                raise ValueError(f"the dataset {dataset.name} belongs to another project")
            made = made or (self.dataset_id == dataset.pk and self.params.get("made_dataset", False))
            self.params["made_dataset"] = made
            Job.objects.filter(pk=self.pk).update(dataset=dataset, params=self.params)
        return dataset

    def forget_bare_dataset(self) -> None:
        """Remove the dataset that an import without success has made, unless somebody has begun to use it."""
        if not self.params.get("made_dataset"):
            return
        with transaction.atomic():
            made = Dataset.objects.select_for_update().filter(jobs=self).first()
            if made is not None and made.is_bare(but=self):
                made.delete()

    def cancel(self) -> None:
        """Cancel the job: a queued one ends at once, a running one at its next batch."""
        own = Job.objects.filter(pk=self.pk)
        own.update(cancel_requested=True)
        own.filter(state=Job.State.QUEUED).update(state=Job.State.CANCELLED, finished_at=timezone.now())

    def queue_again(self) -> None:
        """Queue a failed or cancelled job again, with the same upload: it goes on where it stopped, or starts anew
        when it had come to its end with errors. ValidationError where it cannot; workers are told by `running.retry`.
        """
        over = [Job.State.FAILED, Job.State.CANCELLED, Job.State.DONE_WITH_ERRORS]
        if self.kind == Job.Kind.IMPORT and not self.params["path"] and not (self.file and store.exists(self.file)):
            raise ValidationError("The upload is gone: start a new import.")
        anew = {"state": Job.State.QUEUED, "attempt": 0, "loading_deaths": 0, "furthest": {}, "cancel_requested": False}
        anew |= {"not_before": None, "finished_at": None, "last_error": "", "error_id": "", "last_log": ""}
        if not Job.objects.filter(pk=self.pk, state__in=over).update(**anew):
            raise ValidationError("Only a job that has ended without success can be retried.")
        self.refresh_from_db()

    @staticmethod
    def queue_of(kind: str) -> str:
        """The queue in which jobs of a kind wait for a worker, unless they ask nobody."""
        return "io" if kind in IO_KINDS else "gpu"

    @property
    def queue(self) -> str:
        return "io" if self.params.get(ASKS_NOBODY) else self.queue_of(self.kind)

    @property
    def before_it(self) -> int:
        """How many proposals are asked for that are made before this one."""
        return Job.objects.at_desks().filter(pk__lt=self.pk).count()

    @property
    def work(self) -> str:
        return f"other work ({self.get_kind_display()})"

    def work_beside(self, project: int, *, is_watched: bool, is_new: bool) -> str:
        return f"{self.work}{MAKES_WAY if is_new and self.kind in PAUSING_KINDS else STAYS}"

    def has_file(self) -> bool:
        """Whether its result can still be downloaded."""
        return self.has_result and store.exists(self.file)

    @property
    def has_result(self) -> bool:
        """Whether it made a file to download: an import's file is somebody's upload and is never handed out."""
        return self.kind == Job.Kind.EXPORT and self.state == Job.State.DONE and bool(self.file)

    @property
    def has_landed(self) -> bool:
        """Whether it came to its end, with or without errors."""
        return self.state in (self.State.DONE, self.State.DONE_WITH_ERRORS)

    @property
    def download_name(self) -> str:
        """The name of the downloaded result: it names dataset, format and split, so that several exports can lie side
        by side."""
        told = [self.params["name"], self.params["format"], self.params.get("split", "")]
        return f"{'-'.join(filter(None, told))}{Path(self.file).suffix}"

    @property
    def error_count(self) -> int:
        return self.report.get("error_count", 0)

    @property
    def fraction(self) -> float | None:
        """How much is done, 0 … 1: by records where their number is known, else by bytes of whole files; None: not
        known."""
        progress = self.progress
        if progress.get("total"):
            return min(1.0, progress.get("done", 0) / progress["total"])
        if progress.get("bytes_total"):
            return min(1.0, progress.get("bytes_done", 0) / progress["bytes_total"])
        return None

    @property
    def seconds_left(self) -> float | None:
        progress, fraction = self.progress, self.fraction
        if progress.get("total") and progress.get("per_second"):
            return max(0.0, (progress["total"] - progress.get("done", 0)) / progress["per_second"])
        elapsed = self.report.get("seconds")
        return elapsed * (1 - fraction) / fraction if elapsed and fraction else None

    def live(self) -> ShownProgress:
        """The progress for its page. A report may hold `said`, the headline of its end; `landed`, what went well."""
        label = STATE_WORDS.get(self.state, self.state)
        fields = {
            "headline": self._headline(),
            "detail": " · ".join(part for part in self._details() if part),
            "state": self.state,
            "state_label": "cancelling" if self.cancel_requested and not self.is_over else label,
        }
        version = f"{self.state} {self.error_count} {self.cancel_requested}"
        return ShownProgress(not self.is_over, version, fields, self._bar())

    def _headline(self) -> str:
        progress, report = self.progress, self.report
        if self.has_landed:
            return report.get("said") or f"{DONE_WORDS[self.kind]} {report.get('conversations', 0):,} conversations"
        unit = progress.get("unit")
        counted = counts_text(progress.get("done", 0), progress.get("total"), unit) if unit else ""
        if self.is_over:  # how and why it ended is said elsewhere on the page
            return f"Stopped at {counted}" if counted else "Stopped before anything was done"
        return counted or ("Starting" if self.state == self.State.RUNNING else "Waiting to start")

    def _details(self) -> list[str]:
        progress = self.progress
        if self.is_over:
            seconds = self.report.get("seconds")
            took = f"in {span_text(seconds)}" if seconds else ""
            return [took, f"finished {ago_text(self.finished_at)}" if self.finished_at else ""]
        pace = pace_text(progress.get("per_second"), self.seconds_left, progress.get("unit", ""))
        return [progress.get("phase", ""), *pace, self.worker_text()]

    def _bar(self) -> tuple[float, float, float]:
        if self.has_landed:
            landed = self.report.get("landed", self.report.get("conversations", 0) + self.report.get("skipped", 0))
            errors = self.error_count
            return (landed / (landed + errors), errors / (landed + errors), 0.0) if errors else (1.0, 0.0, 0.0)
        fraction = self.fraction or 0.0
        if self.is_over:
            return (0.0, fraction or 1.0, 0.0) if self.state == self.State.FAILED else (fraction, 0.0, 0.0)
        return (fraction, 0.0, 0.0 if fraction else 0.02)

    def forget_file(self) -> None:
        """Remove its upload, if it had one, and what this machine made of it."""
        if self.file:
            store.delete(self.file)
            forget_scratch(self.file)

    def out_of_memory(self) -> str:
        advice = self.memory_advice() or "give the worker more, or split the work: an import by --limit or file by file"
        return f"Out of memory: {advice}"

    def memory_advice(self) -> str:
        return LESS_MEMORY.get(self.kind, "")

    # Called after progress was stored, by who works on the job where somebody waits for it.
    on_progress: Callable[[], object] | None = None

    def told(self) -> None:
        if self.on_progress is not None:
            self.on_progress()

    @property
    def path(self) -> Path:
        """The job's upload or result on this machine, fetched when it lies elsewhere. FileNotFoundError when it is
        gone."""
        return store.local(self.file)
