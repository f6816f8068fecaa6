"""Shards: the part of a run that one worker does under one lease."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Self

from django.db import models, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from agents.encoders.memory_limits import inference_advice
from agents.live.parked import KEPT_SECONDS
from agents.models import Drive, HeldStep, Run, RunTally
from agents.models.awaited import awaits_people, last_asked
from agents.models.trajectories import LOST
from agents.runs import events
from annotations.hosts.identity import shown
from annotations.models import Conversation, Job, Leased, LeasedQuerySet
from annotations.models.jobs.awaiting import MAKES_WAY, STAYS
from annotations.models.jobs.worker_leases import WAITING_SECONDS, is_at_work, owner_name
from annotations.shown_progress import ago_text, span_text

WATCHED_FOR = timedelta(minutes=2)  # somebody who looks does not wait longer
BROWSERS_KEPT = timedelta(seconds=KEPT_SECONDS)
NAMED_WORKERS = 3
LEAVING = timedelta(minutes=15)  # more than the longest batch of the embedded model takes
_steps_of = attrgetter("step_count")
Scorer = Callable[[Run], int]  # replaces the scores of a run; gives the number of steps that they rest on


class ShardQuerySet(LeasedQuerySet["Shard"]):
    def cut(self, run: Run, conversations: Sequence[Conversation], most: float) -> None:
        """Store the shards of a run: parts of whole conversations, with about `most` steps each."""
        parts = enumerate(_parts(conversations, most))
        self.bulk_create(
            Shard(run=run, index=index, conversation_ids=[one.pk for one in part], step_count=sum(map(_steps_of, part)))
            for index, part in parts
        )

    def waiting(self) -> Self:
        return self.filter(state=Shard.State.QUEUED)

    def just_asked(self) -> Self:
        """Waiting shards that are new. After WATCHED_FOR none holds up long work, as then no worker could take it."""
        return self.waiting().filter(created_at__gt=timezone.now() - WATCHED_FOR)

    def watched(self) -> Self:
        """Waiting shards that somebody watches, or in which they wait for the browser that they drive or for what comes
        of a held action that they decided; without those that go on only when people have said something."""
        since = timezone.now() - WATCHED_FOR
        wanting = Drive.objects.wanting(since).filter(trajectory__run=OuterRef("run"))
        rows = self.waiting().filter(Q(is_watched=True) | Exists(wanting) | Exists(_just_decided(since)))
        return rows.exclude(awaits_people("run"))

    def for_this_process(self) -> Self:
        """All but waiting shards in whose browsers people have acted, where another live process keeps these: in any
        other one they would be lost."""
        peoples = Exists(Drive.objects.filter(trajectory__run=OuterRef("run"), stands_at__isnull=False))
        kept = self.model.objects.waiting().filter(peoples, heartbeat_at__gt=timezone.now() - BROWSERS_KEPT)
        owners = kept.exclude(lease_owner__in=("", owner_name())).values_list("pk", "lease_owner")
        return self.exclude(pk__in=[pk for pk, owner in owners if is_at_work(owner)])

    def just_watched(self) -> Self:
        """Those of them that are new, or whose person has just said or decided something."""
        since = timezone.now() - WATCHED_FOR
        heard = Drive.objects.just_done(since).filter(trajectory__run=OuterRef("run"))
        return self.watched().filter(Q(created_at__gt=since) | Exists(heard) | Exists(_just_decided(since)))

    def open(self) -> Self:
        """Shards that wait or are worked on."""
        return self.filter(state__in=[Shard.State.QUEUED, Shard.State.RUNNING])

    def failed(self) -> Self:
        return self.filter(state=Shard.State.FAILED)

    def cancel(self) -> None:
        """Cancel the open shards. Their workers look every second whether they hold the lease, and end within a batch;
        until then the phase stays."""
        over = {"state": Shard.State.CANCELLED, "finished_at": timezone.now(), **Shard.FREE}
        self.waiting().update(phase="", **over)
        self.open().update(**over)

    def leaving(self) -> list["Shard"]:
        """Cancelled shards whose workers have not let go of them yet."""
        left = self.filter(state=Shard.State.CANCELLED, finished_at__gt=timezone.now() - LEAVING).exclude(phase="")
        return [shard for shard in left if is_at_work(shard.lease_owner)]

    def queue_again(self) -> None:
        """Queue cancelled and failed shards again, as if they were new."""
        self.filter(state__in=[Shard.State.CANCELLED, Shard.State.FAILED]).update(
            state=Shard.State.QUEUED,
            attempt=0,
            loading_deaths=0,
            not_before=None,
            last_error="",
            error_id="",
            last_log="",
            finished_at=None,
            created_at=timezone.now(),
        )

    def end_run(self, run: Run, score: Scorer) -> bool:
        """End the run whose shards these are, once all are over: scores first, then its state. True for the caller that
        ended it."""
        with transaction.atomic():
            locked = run.locked()
            if locked.is_over or self.open().exists():
                return False
            stored = score(locked)
            locked.finish(stored, self.first_error())
            RunTally.fold()
        events.publish(events.run_group(run.pk), stored, locked.state)
        return True

    def cancel_run(self, run: Run, score: Scorer, reason: str = "") -> None:
        """End the run of these shards before its time, with scores of what is stored; nothing happens when it has just
        ended."""
        with transaction.atomic():
            if run.locked().is_over:
                return
            self.cancel()
            stored = score(run)
            run.cancel(reason)
        events.publish(events.run_group(run.pk), stored, run.state)

    def first_error(self) -> str:
        """The error of the first failed shard; "" where none has one."""
        return self.failed().exclude(last_error="").values_list("last_error", flat=True).first() or ""

    def under_way(self) -> int:
        """How many steps the shards have that workers decide now, their models loaded; some of these steps may be
        stored already."""
        return self.filter(state=Shard.State.RUNNING, is_loaded=True).aggregate(n=Sum("step_count"))["n"] or 0

    def are_left(self) -> bool:
        """Whether shards wait and no worker has been at any of them for a while."""
        lately = timezone.now() - timedelta(seconds=WAITING_SECONDS)
        at_work = Q(state=Shard.State.RUNNING) | Q(heartbeat_at__gt=lately) | Q(finished_at__gt=lately)
        return self.waiting().exists() and not self.filter(at_work).exists()

    def phase_text(self, **which: bool) -> str:
        """What a worker does before its first results, as "loading models"; "" where none says."""
        at_work = self.filter(state=Shard.State.RUNNING, **which).exclude(phase="")
        return at_work.order_by("-heartbeat_at").values_list("phase", flat=True).first() or ""

    def workers_text(self, *, turn_is_told: bool = False) -> str:
        """Who works on these shards, as a text; of waiting ones, since when they wait, which is since any of them was
        last worked on, and for what, without what is at work before them where that is told."""
        at_work = self.filter(state=Shard.State.RUNNING).order_by().values("lease_owner")
        heard = [row for row in at_work.annotate(heard=Max("heartbeat_at")) if row["heard"]]
        if heard:
            named = heard[:NAMED_WORKERS]
            return "; ".join(f"{shown(row['lease_owner'])}, last heard {ago_text(row['heard'])}" for row in named)
        first = self.waiting().order_by("created_at").first()
        if first is None:
            return ""
        # One that was queued again waits since then.
        worked_at = self.filter(heartbeat_at__gt=first.created_at).aggregate(at=Max("heartbeat_at"))["at"]
        return first.worker_text(turn_is_told=turn_is_told, worked_at=worked_at)

    def waits_text(self) -> str:
        """For who looks at an episode of these shards that no worker has now: how long it waits, for what, and what
        would help; "" where one has it, or where nothing but people is waited for."""
        if taken := self.filter(state=Shard.State.RUNNING).order_by("-is_loaded", "-heartbeat_at").first():
            loads = taken.phase if not taken.is_loaded else ""
            return f"{taken.waited_text()}: its worker is {loads}" if loads else ""
        first = self.waiting().exclude(awaits_people("run")).order_by("created_at").first()
        if first is None:
            owners = self.waiting().exclude(lease_owner="").values_list("lease_owner", flat=True)
            return "" if all(map(is_at_work, owners)) else LOST
        if later := first.later_text():
            return later
        if not (busy := first.busy_text()):
            return f"{first.waited_text()}: {first.awaited_text()}"
        turn = "" if first.is_next else "; its turn comes after what waits longer"
        return f"{first.waited_text()}: {busy}{turn}; one more worker would begin at once (GPU_PROCESSES)"


class Shard(Leased):
    """Some conversations of a run: what one worker does under one lease. Results are stored per batch of steps."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="shards")
    index = models.PositiveIntegerField()
    conversation_ids = models.JSONField()
    step_count = models.PositiveIntegerField()
    phase = models.CharField(max_length=100, blank=True, help_text="What its worker is at.")
    is_watched = models.BooleanField(default=False, help_text="Somebody looks at it: it goes before all others.")

    TRY_AGAIN = "Resume the study"
    objects = ShardQuerySet.as_manager()

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="shard_index_once")]

    def __str__(self) -> str:
        return f"shard {self.index} of run {self.run_id}"

    @property
    def queue(self) -> str:
        return "gpu"

    @property
    def work(self) -> str:
        if self.state == self.State.CANCELLED:
            return "a run that was cancelled, whose batch ends"
        if not self.is_watched:
            return "the steps of another run"
        return "a person at work with an agent" if self.run.dataset.is_live else "an agent that somebody watches"

    def worker_text(self, *, turn_is_told: bool = False, worked_at: datetime | None = None) -> str:
        if self.state == self.State.QUEUED and type(self).objects.filter(awaits_people("run"), pk=self.pk).exists():
            drive = Drive.objects.thinking().filter(trajectory__run=self.run_id).first()
            return f"{drive.words if drive else 'waits for a decision'}; its worker does other work meanwhile"
        return super().worker_text(turn_is_told=turn_is_told, worked_at=worked_at)

    def waited_text(self) -> str:
        """Since when it waits for a worker, or for the models that this loads, in words."""
        return f"waiting for {span_text((timezone.now() - self.waits_since).total_seconds())}"

    @property
    def waits_since(self) -> datetime:
        """Since its worker gave it back, or since people said or did something that it did not go on without."""
        given_back = self.heartbeat_at if self.state == self.State.QUEUED else None
        return max(filter(None, (self.created_at, given_back, last_asked(self.run_id))))

    @property
    def is_next(self) -> bool:
        return type(self).objects.watched().filter(pk=self.pk).exists()

    def _works_of(self, others: list[Leased]) -> list[str]:
        is_new, is_next = type(self).objects.just_watched().filter(pk=self.pk).exists(), self.is_next
        project = self.run.dataset.project_id
        return [row.work_beside(project, is_watched=is_next, is_new=is_new) for row in others]

    def work_beside(self, project: int, *, is_watched: bool, is_new: bool) -> str:
        if self.state == self.State.CANCELLED:
            return self.work
        study = None if self.is_watched else self.run.studies.filter(project=project).first()
        named = f"the study “{study.name}”" if study else self.work
        return f"{named}{MAKES_WAY if is_watched and not self.is_watched else STAYS}"

    def tell(self, phase: str, *, loaded: bool = False) -> None:
        """Store what the worker does now, and whether its models are loaded; nothing where another has taken the shard
        over."""
        self.under_lease().update(phase=phase, is_loaded=loaded)

    def let_go(self) -> None:
        """Note that no worker is at it any more, after it was cancelled."""
        type(self).objects.filter(pk=self.pk, state=self.State.CANCELLED).update(phase="")

    def makes_way(self) -> bool:
        """Whether this shard should be put back because another waits that somebody watches, or somebody waits for a
        proposal, and nobody watches this one."""
        if self.is_watched:
            return False
        watched = type(self).objects.watched().for_this_process()
        return watched.exists() or Job.objects.at_desks().hold_up_work()

    def others_wait(self) -> bool:
        """Whether other work waits for its worker that no person need say anything for."""
        others = type(self).objects.claimable().exclude(pk=self.pk).exclude(awaits_people("run")).for_this_process()
        return others.exists() or Job.objects.claimable().of_queue(self.queue).exists()

    def is_decided(self) -> bool:
        """Whether nothing is left to decide in its conversations."""
        left = self.run.trajectories.filter(conversation_id__in=self.conversation_ids).exclude(state="done")
        return not (left if self.run.dataset.is_live else left.filter(step_count__gt=0)).exists()

    def memory_advice(self) -> str:
        return inference_advice(self.run.recipe)


def _just_decided(since: datetime) -> QuerySet[HeldStep]:
    return HeldStep.objects.just_decided(since).filter(trajectory__run=OuterRef("run"))


def _parts(conversations: Sequence[Conversation], most: float) -> list[list[Conversation]]:
    parts: list[list[Conversation]] = []
    size = most
    for conversation in conversations:
        if size + conversation.step_count > most or not parts:
            parts.append([])
            size = 0
        parts[-1].append(conversation)
        size += conversation.step_count
    return parts
