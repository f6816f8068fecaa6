"""What an agent did in one conversation of a run."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from django.db import models
from django.db.models import Avg, BooleanField, Case, Count, F, Min, Q, Sum, When
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.urls import reverse

from agents.models import runs
from agents.models.runs import Run
from annotations.models import Conversation, Step, Turn
from annotations.models.corpus.conversations import StepQuerySet

USER = "user"  # in the trace of a live conversation's step: what its user, a language model, has said
LOST = "the browser was lost with its worker"


class TrajectoryQuerySet(models.QuerySet["Trajectory"]):
    def plan(self, run: Run, conversations: Iterable[Conversation]) -> None:
        """Add a waiting trajectory of the run for each of these conversations."""
        rows: Any = (Trajectory(run=run, conversation=found, step_count=found.step_count) for found in conversations)
        self.bulk_create(rows)

    def of_conversation(self, conversation: Conversation) -> Self:
        return self.filter(conversation=conversation)

    def with_place(self) -> Self:
        """Trajectories with what a replay says of where they are: dataset, project and website."""
        return self.select_related("run__dataset__project", "conversation__website")

    def counts(self, runs: Iterable[Run]) -> dict[int, int]:
        """Run -> how many trajectories it has, one for each conversation that it decides."""
        rows = self.filter(run__in=list(runs)).order_by().values("run").annotate(n=Count("pk"))
        return dict(rows.values_list("run", "n"))

    def done_since(self, when: datetime) -> int:
        return self.filter(state=Trajectory.State.DONE, updated_at__gte=when).count()

    def give_up(self) -> None:
        """Mark trajectories that are not done as failed: no further step of them will be stored."""
        self.exclude(state=Trajectory.State.DONE).update(state=Trajectory.State.FAILED)

    def wait_again(self) -> None:
        """Let failed trajectories wait for workers again."""
        self.filter(state=Trajectory.State.FAILED).update(state=Trajectory.State.WAITING)

    def in_order(self) -> Self:
        return self.order_by("conversation__position", "id")

    def worst_first(self) -> Self:
        """Trajectories with the fewest right steps, or episodes with the lowest reward, first. It reads all steps: only
        for where that is asked."""
        right = Count("steps", filter=Q(steps__success=True))
        rows = self.annotate(right_steps=right, earned=Coalesce(Sum("steps__reward"), 0.0))
        return rows.order_by("earned", "right_steps", "conversation__position", "id")

    def to_watch(self) -> "Trajectory | None":
        """The trajectory to look at: the one that is being decided, else the next one; of a run that is over, the
        first."""
        running, waiting = (self.filter(state=state) for state in (Trajectory.State.RUNNING, Trajectory.State.WAITING))
        decided = running.order_by("-updated_at", "pk").first()
        return decided or waiting.in_order().first() or self.in_order().first()

    def with_results(self) -> Self:
        """Trajectories with their number of stored steps, accuracies and the place of the first failure; `lost`: its
        browser was, which its last step has as error and outcome. It reads every step: for one page of a list."""
        return self.select_related("conversation__website").annotate(
            done=Count("steps"),
            right_elements=Count("steps", filter=Q(steps__element_correct=True)),
            operation_f1=Avg("steps__operation_f1", filter=Q(steps__step__isnull=False)),
            right_steps=Count("steps", filter=Q(steps__success=True)),
            first_failure=Min("steps__seq", filter=Q(steps__success=False, steps__step__isnull=False)),
            errors=Count("steps", filter=~Q(steps__error="")),
            lost=Count("steps", filter=~Q(steps__error="") & Q(steps__outcome=F("steps__error"))),
            reward=Sum("steps__reward"),
        )

    def with_metric(self, full_reward: float) -> Self:
        """Annotate `right`: whether an episode got the full reward, or every action is the recorded one. None for an
        episode without a reward, and where nothing is decided."""
        recorded = Q(steps__step__isnull=False)
        rows = self.annotate(
            earned=Sum("steps__reward", filter=Q(steps__step=None)),
            compared=Count("steps", filter=recorded),
            wrong=Count("steps", filter=recorded & Q(steps__success=False)),
        )
        cases = (
            When(earned__gte=full_reward, then=True),
            When(earned__isnull=False, then=False),
            When(wrong__gt=0, then=False),
            When(compared__gt=0, then=True),
        )
        return rows.annotate(right=Case(*cases, output_field=BooleanField(null=True)))

    def outcomes(self) -> Iterable[tuple[dict[str, Any], float | None, int, int, str]]:
        """Of each episode that has ended, in order: its goal, the reward of its end, the number of its steps, how many
        of these people did, and its site. Read as values, as a run has thousands."""
        ended = self.filter(state=Trajectory.State.DONE, steps__step=None).order_by("conversation__position", "pk")
        by_people = Count("steps", filter=Q(steps__done_by__isnull=False))
        counted = ended.annotate(earned=Sum("steps__reward"), taken=Count("steps"), by_people=by_people)
        return counted.values_list(
            "conversation__extra", "earned", "taken", "by_people", "conversation__website__name"
        ).iterator()


class Trajectory(models.Model):
    """An agent's steps in one conversation of a run."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    stored_count: int  # of its steps, where the admin page has counted
    reward: float | None  # of an episode, where it is read `with_results`
    done: int
    right: bool | None  # where it is read `with_metric`

    run = models.ForeignKey(Run, models.CASCADE, related_name="trajectories")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="trajectories")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    step_count = models.PositiveIntegerField(help_text="Steps that a complete trajectory has.")
    updated_at = models.DateTimeField(auto_now=True)

    objects = TrajectoryQuerySet.as_manager()

    class Meta:
        ordering = ["conversation__position", "id"]
        verbose_name_plural = "trajectories"
        constraints = [models.UniqueConstraint(fields=["run", "conversation"], name="trajectory_once_per_run")]

    def __str__(self) -> str:
        return f"{self.run.recipe_name} · {self.conversation.source_id}"

    def got_on(self) -> None:
        """Update the state after steps were stored: done once all are, else running."""
        complete = self.steps.count() >= self.step_count
        self.state = self.State.DONE if complete else self.State.RUNNING
        self.save(update_fields=["state", "updated_at"])

    def begin_episode(self) -> None:
        """Begin the episode from the start: steps that an earlier attempt has stored are deleted."""
        self.steps.all().delete()
        self.state, self.step_count = self.State.RUNNING, 0
        self.save(update_fields=["state", "step_count", "updated_at"])

    def waits_text(self) -> str:
        """How long it waits for a worker, and for what: before its first step, and of an episode between its steps,
        too. "" where nobody tells, or a worker has it."""
        awaits = self.state == self.State.WAITING or (self.state == self.State.RUNNING and self.run.dataset.is_live)
        return runs.waits_for(self.run) if awaits and runs.waits_for else ""

    def end_episode(self, lost: bool = False) -> None:
        """Mark the episode as done and count it in the run; `lost`: it has no outcome, and its last step says why."""
        self.state = self.State.DONE
        self.save(update_fields=["state", "updated_at"])
        self.run.count_episode(lost)

    @cached_property
    def has_own_steps(self) -> bool:
        """Whether it is an episode, whose steps no recorded path gives."""
        return self.run.dataset.is_live or self.steps.filter(step=None).exists()

    @property
    def may_grow(self) -> bool:
        """Whether further steps may come, so that nobody knows yet how many it will have."""
        return self.has_own_steps and self.state != self.State.DONE and not self.run.is_over

    def last_words(self) -> str:
        """How its user has ended the conversation, of one that a person types: no worker may have heard it yet. ""
        where nobody has."""
        typed = self.run.dataset.is_live and self.conversation.extra.get("typed")
        row = self.drives.last_words().first() if typed else None
        return row.verdict.removeprefix("ended: ") if row else ""

    def lost_text(self, waits: str) -> str:
        """Why a talk is over that its user has not ended: its browser was lost. `waits`: what it waits for."""
        if self.state != self.State.DONE:
            return waits if waits == LOST and self.conversation.extra.get("typed") else ""
        ends = self.steps.filter(outcome=F("error"), trajectory__conversation__extra__typed=True).exclude(error="")
        return ends.latest("seq").outcome.removeprefix("ended: ") if ends else ""

    def driven(self) -> dict[str, Any] | None:
        """The person who has stopped the agent, as the replay page reads it; None where nobody has."""
        may = self.run.dataset.is_live and not self.run.is_over
        row = self.drives.open().select_related("person").defer("picture").first() if may else None
        return row.shown if row else None

    @property
    def shown_in(self) -> tuple[str, str]:
        """Dataset and source id of what people show in it, where that is kept."""
        return f"{self.run.dataset.name[:90]}-shown", f"{self.conversation.source_id}-shown-{self.pk}"

    def kept(self) -> dict[str, str] | None:
        """Where what people have shown in it is kept: {dataset, split, url}; None while it is under way."""
        if not self.run.dataset.is_live or self.state != self.State.DONE:
            return None
        (dataset, name), project = self.shown_in, self.run.dataset.project_id
        found = Conversation.objects.filter(dataset__name=dataset, dataset__project=project, source_id=name).first()
        url = reverse("conversation", args=[found.pk]) if found else ""
        return {"dataset": dataset, "split": found.split, "url": url} if found else None

    def hear_answer(self, words: str) -> None:
        """The user answers its last step, which asked."""
        self.steps.filter(seq=self.step_count - 1).update(outcome=f"the user says: {words}")

    def outline(self) -> list[dict[str, Any]]:
        """The turns: {index, instruction, step_count}. Those of an episode count its own steps, others the recorded
        ones."""
        if self.has_own_steps:
            return self._own_outline()
        turns = Turn.objects.filter(conversation=self.conversation_id).order_by("index")
        return [dict(turn) for turn in turns.values("index", "instruction").annotate(step_count=Count("steps"))]

    def _own_outline(self) -> list[dict[str, Any]]:
        """The turns of an episode with the number of its steps. While it may grow, the step that is decided next
        counts, so that the page can wait for it."""
        own = self.steps.values("turn__index", "turn__instruction").order_by("turn__index")
        counted = own.annotate(n=Count("pk")).values_list("turn__index", "turn__instruction", "n")
        spoken = self._spoken()
        turns: list[dict[str, Any]] = [
            {"index": index, "instruction": spoken.get(index) or text, "step_count": n} for index, text, n in counted
        ]
        if not turns:
            begun = Turn.objects.filter(conversation=self.conversation_id).order_by("index")
            turns = [{"index": turn.index, "instruction": turn.instruction, "step_count": 0} for turn in begun[:1]]
        for turn in turns[-1:]:
            turn["step_count"] += self.may_grow or not turn["step_count"]
        return turns

    def _spoken(self) -> dict[int, str]:
        """Turn -> its instruction in the words of the user, where that is a language model; {} where it is not."""
        if not self.run.dataset.live.get("user"):
            return {}
        told = self.steps.annotate(spoken=KT(f"trace__{USER}__instruction")).exclude(spoken__isnull=True)
        return dict(told.values_list("turn__index", "spoken"))

    def recorded_steps(self) -> StepQuerySet:
        """The steps of its conversation in order, decided or not; the place of a step is its `seq`. Candidates are not
        read."""
        steps = Step.objects.filter(turn__conversation=self.conversation_id).defer("candidates", "extra")
        return steps.order_by("turn__index", "index")

    def before(self) -> "Trajectory | None":
        """The trajectory of the conversation before this one in the run; None for the first."""
        here = self.conversation.position
        earlier = Q(conversation__position__lt=here) | Q(conversation__position=here, pk__lt=self.pk)
        return self.run.trajectories.filter(earlier).in_order().last()

    def after(self) -> "Trajectory | None":
        """The trajectory of the conversation after this one in the run; None for the last."""
        here = self.conversation.position
        later = Q(conversation__position__gt=here) | Q(conversation__position=here, pk__gt=self.pk)
        return self.run.trajectories.filter(later).in_order().first()
