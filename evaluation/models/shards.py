"""Shards: the part of a run that one worker does under one lease."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Self

from django.db import models, transaction
from django.db.models import F, Max, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone

from agents.encoders.memory_limits import inference_advice
from agents.models import Run, RunTally
from agents.runs import events
from annotations.hosts.identity import shown
from annotations.models import Conversation, Leased, LeaseQuerySet
from annotations.shown_progress import ago_text, span_text

TELL_AGAIN = timedelta(minutes=2)  # one that waits longer than this gets another message
NAMED_WORKERS = 3
LOADING_WAITS = (0, 0, 0, 15, 30, 60, 120, 240, 480)
"""Seconds until a shard is tried again, by how often its workers died while they loaded its models: who restarts a
worker a few times loses nothing, and what never fits is given up after a quarter of an hour."""
LOADING_DEATHS = len(LOADING_WAITS) + 1
Scorer = Callable[[Run], int]  # replaces the scores of a run; gives the number of steps that they rest on


class ShardQuerySet(LeaseQuerySet["Shard"]):
    def cut(self, run: Run, conversations: Sequence[Conversation], most: float) -> None:
        """Shards of whole conversations, about `most` steps together."""
        self.bulk_create(
            Shard(
                run=run,
                index=index,
                conversation_ids=[conversation.pk for conversation in part],
                step_count=sum(conversation.step_count for conversation in part),
            )
            for index, part in enumerate(_parts(conversations, most))
        )

    def claimable(self) -> Self:
        return super().claimable().filter(Q(not_before=None) | Q(not_before__lte=Now()))

    def reap(self) -> list[int]:
        """As of all work; a worker that dies before its models are loaded has tried nothing of the shard, so that uses
        up no attempt."""
        loading = self._lost().filter(is_loaded=False)
        loading.filter(loading_deaths__gte=LOADING_DEATHS - 1).park(Shard._never_loaded_because)
        for row in loading:
            wait = LOADING_WAITS[row.loading_deaths]
            self._leave_last_words(row.pk)
            loading.filter(pk=row.pk).update(
                state=Shard.State.QUEUED,
                lease_owner="",
                attempt=F("attempt") - 1,
                loading_deaths=F("loading_deaths") + 1,
                not_before=Now() + timedelta(seconds=wait) if wait else None,
                **Shard.FREE,
            )
        return super().reap()

    def waiting(self) -> Self:
        return self.filter(state=Shard.State.QUEUED)

    def open(self) -> Self:
        """Those that wait or are at work."""
        return self.filter(state__in=[Shard.State.QUEUED, Shard.State.RUNNING])

    def failed(self) -> Self:
        return self.filter(state=Shard.State.FAILED)

    def unheard(self) -> Self:
        """Those whose message may be gone. Messages pile up behind a long queue: only these are told again."""
        before = timezone.now() - TELL_AGAIN
        died = Q(attempt__gt=0) | Q(loading_deaths__gt=0)
        return self.filter(Q(published_at=None) | Q(published_at__lt=before) | died)

    def cancel(self) -> None:
        """Taking the token away makes the next write of a worker fail: it stops within one batch."""
        self.open().update(state=Shard.State.CANCELLED, finished_at=timezone.now(), **Shard.FREE)

    def queue_again(self) -> None:
        """Those that were cancelled or have failed wait for workers as if they were new."""
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
        """End the run whose shards these are before its time, unless it has just ended by itself."""
        with transaction.atomic():
            if run.locked().is_over:
                return
            self.cancel()
            stored = score(run)
            run.cancel(reason)
        events.publish(events.run_group(run.pk), stored, run.state)

    def first_error(self) -> str:
        """Why the first that failed did; "" where none says."""
        return self.failed().exclude(last_error="").values_list("last_error", flat=True).first() or ""

    def under_way(self) -> int:
        """Steps of those that workers hold; some of them may be stored already."""
        return self.filter(state=Shard.State.RUNNING).aggregate(n=Sum("step_count"))["n"] or 0

    def phase_text(self) -> str:
        """What is done before the first results: "loading models"; "" where nobody says."""
        at_work = self.filter(state=Shard.State.RUNNING).exclude(phase="")
        return at_work.order_by("-heartbeat_at").values_list("phase", flat=True).first() or ""

    def workers_text(self) -> str:
        """Who works on them; for waiting ones, since when and for what."""
        at_work = self.filter(state=Shard.State.RUNNING).order_by().values("lease_owner")
        heard = [row for row in at_work.annotate(heard=Max("heartbeat_at")) if row["heard"]]
        if heard:
            named = heard[:NAMED_WORKERS]
            return "; ".join(f"{shown(row['lease_owner'])}, last heard {ago_text(row['heard'])}" for row in named)
        first = self.waiting().order_by("created_at").first()
        return first.worker_text() if first else ""


class Shard(Leased):
    """Some conversations of a run: what one worker does under one lease. Results are stored per batch of steps."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="shards")
    index = models.PositiveIntegerField()
    conversation_ids = models.JSONField()
    step_count = models.PositiveIntegerField()
    published_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last told about it.")
    phase = models.CharField(max_length=100, blank=True, help_text="What its worker is at.")
    is_watched = models.BooleanField(default=False, help_text="Somebody looks at it: it goes before all others.")
    is_loaded = models.BooleanField(default=False, help_text="Its worker has the models that it decides with.")
    loading_deaths = models.PositiveSmallIntegerField(
        default=0, help_text="How many workers in a row died before they had its models."
    )
    not_before = models.DateTimeField(null=True, blank=True, help_text="When it is tried again after such deaths.")

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
        return "the steps of another run"

    @classmethod
    def anew(cls) -> dict[str, Any]:
        return super().anew() | {"is_loaded": False, "not_before": None}

    def tell(self, phase: str, *, loaded: bool = False) -> None:
        """What its worker is at now, and whether it has what it decides with; nothing where somebody else has taken it
        over."""
        self.held().update(phase=phase, is_loaded=loaded)

    def got_on(self) -> None:
        super().got_on()
        if self.loading_deaths:
            self.loading_deaths = 0
            self.held().update(loading_deaths=0)

    def worker_text(self) -> str:
        if self.state == self.State.QUEUED and self.not_before and self.not_before > timezone.now():
            left = span_text((self.not_before - timezone.now()).total_seconds())
            return f"tried again in {left}: {self.loading_deaths} workers died while models were loading"
        return super().worker_text()

    def _never_loaded_because(self) -> str:
        died = f"{LOADING_DEATHS} workers died one after the other while they loaded the models of this shard"
        return f"{died}; none of its steps was tried since{self.killed_text()} Resume the study once a worker stays up."

    def makes_way(self) -> bool:
        """Whether one that somebody watches waits, and this is none."""
        return not self.is_watched and type(self).objects.waiting().filter(is_watched=True).exists()

    def memory_advice(self) -> str:
        return inference_advice(self.run.recipe)


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
