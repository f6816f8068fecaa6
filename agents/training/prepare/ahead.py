"""What has its turn at the worker `gpu` before something else, and how long that takes, as far as it is known."""

from dataclasses import dataclass

from agents.cookbook import starters
from agents.models import Run
from agents.models.awaited import awaits_people
from annotations.models import Job, Split
from annotations.shown_progress import about_text, span_text
from annotations.text.amounts import amount

# On two cores that do nothing else.
STARTING_SECONDS = 30  # loading the libraries and the weights, scoring the dev examples
STEP_SECONDS = {"cross_encoder": 0.6, "dual_encoder": 1.6}  # of training on one step with its negatives
SITE_SECONDS = 60  # of asking the embedded model for the workflows of a website
MOST_STEPS = 250  # a starter is trained on about so many; on half of the sample a cross encoder learns next to nothing


@dataclass(frozen=True)
class Ahead:
    """Jobs and runs that come first. `seconds`: what those take of which it is known; `unknown`: how many others."""

    jobs: int = 0
    runs: int = 0
    seconds: float = 0.0
    unknown: int = 0

    def __bool__(self) -> bool:
        return bool(self.jobs or self.runs)

    @property
    def text(self) -> str:
        """ "3 runs and 1 job"; "" where nothing is ahead."""
        counted = ((self.runs, "run"), (self.jobs, "job"))
        return " and ".join(amount(number, word) for number, word in counted if number)

    def ready_in(self, seconds: float) -> str:
        """When something is ready that takes so many seconds after all of these: "about 12 min", "more than 12 min"."""
        whole = self.seconds + seconds
        return f"more than {span_text(max(1, whole))}" if self.unknown else about_text(whole)


NOTHING = Ahead()


@dataclass(frozen=True)
class QueuedJob:
    """A job that waits or is done now. `whole`: the seconds that it takes in all, where the caller knows them."""

    job: Job
    whole: float | None = None

    @property
    def left(self) -> float | None:
        """The seconds until it is over: by its pace once that is known, else as expected; None: not known."""
        if (paced := self.job.seconds_left) is not None:
            return paced
        whole = self._expected() if self.whole is None else self.whole
        return None if whole is None else whole * (1 - (self.job.fraction or 0))

    def _expected(self) -> float | None:
        kind, params, dataset = self.job.kind, self.job.params, self.job.dataset
        if dataset is not None and kind == Job.Kind.INDUCE:
            return induction_seconds(len(dataset.recorded_websites(Split.TRAIN)))
        if dataset is None or kind != Job.Kind.TRAIN or not starters.is_starter(params["name"]):
            return None
        return training_seconds(params["kind"], dataset.recorded_counts(Split.TRAIN)[1])


@dataclass(frozen=True)
class QueuedRun:
    """A run that waits or is under way, read `with_progress`. `pace`: seconds that one of its steps takes."""

    run: Run
    pace: float | None

    @property
    def left(self) -> float | None:
        if self.pace is None or self.run.unit != "steps":
            return None
        return max(0, self.run.step_count - self.run.done) * self.pace


class WorkQueue:
    """All work that waits for the worker `gpu` or is done by it now. A queue is made for one page, as it is read once.
    Work is done in the order in which it was asked for, by one worker: more of them are faster. Conversations whose
    person is to say something hold nothing up."""

    def __init__(self) -> None:
        jobs = [job for job in Job.objects.unfinished().select_related("dataset") if job.queue == "gpu"]
        going = Run.objects.open().exclude(awaits_people("pk"))
        runs = list(going.with_progress().select_related("dataset"))
        paces = Run.objects.seconds_per_step_of({run.recipe_name for run in runs}) if runs else {}
        works: list[tuple[Job | Run, float | None]] = [(job, QueuedJob(job).left) for job in jobs]
        works += [(run, QueuedRun(run, paces.get(run.recipe_name)).left) for run in runs]
        # (waits, asked for at, which, seconds left)
        self.rows = [(one.state != Job.State.RUNNING, one.created_at, one, left) for one, left in works]

    def before(self, work: Job | Run | None = None) -> Ahead:
        """What comes before a job or run that waits; before one that is not asked for yet: all."""
        rows = self.rows
        if work is not None:
            own = (work.state != Job.State.RUNNING, work.created_at)
            rows = [row for row in rows if row[2] != work and row[:2] <= own]
        known = [seconds for *_, seconds in rows if seconds is not None]
        jobs = sum(isinstance(row[2], Job) for row in rows)
        return Ahead(jobs, len(rows) - jobs, sum(known), len(rows) - len(known))


def training_seconds(kind: str, steps: int) -> int:
    """What training a starter of a kind takes."""
    return STARTING_SECONDS + round(min(steps, MOST_STEPS) * STEP_SECONDS[kind])


def induction_seconds(sites: int) -> int:
    return STARTING_SECONDS + sites * SITE_SECONDS
