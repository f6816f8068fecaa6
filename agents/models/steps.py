"""What an agent decided at one recorded step, and what each stage recorded of it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import connection, models
from django.db.models import Avg, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import KT, KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Coalesce, Concat

from agents.models.runs import Run, RunTally
from agents.models.trajectories import Trajectory
from annotations.dom.marks import Mark, MarkKind
from annotations.models import Correction, Operation, Snapshot, Step, Target, Turn
from annotations.models.corpus.tallies import difference_triggers

PAGES_HELD = 20
MARKED_CANDIDATES = 5  # more marks than this hide the page; the list shows the rest one at a time

SAID = ("act__representation", "plan__reply", "plan__samples", "plan__rounds", "compose__prompt")  # in a trace
TURN = "turn"  # in the trace of the step that a turn of a live conversation ends with: what it has come to


class TrajectoryStepQuerySet(models.QuerySet["TrajectoryStep"]):
    def mean_seconds(self) -> float | None:
        """The mean seconds that deciding a step took; None where no step says."""
        milliseconds = self.aggregate(mean=Avg("milliseconds"))["mean"]
        return None if milliseconds is None else milliseconds / 1000

    def mean_seconds_of(self, stage: str) -> float:
        """What a stage took of a step on average."""
        told = KeyTextTransform(stage, KeyTransform("seconds", "trace"))
        return self.aggregate(seconds=Avg(Cast(told, models.FloatField())))["seconds"] or 0.0

    def to_compare(self) -> QuerySet[Any, Any]:
        """Steps with `representation`, their action in words, and with what says where they are; without traces."""
        rows = self.annotate(representation=KT("trace__act__representation")).select_related("step__turn", "turn")
        return rows.defer("trace", "branches", "candidate_ids", "candidate_scores", "step__candidates", "step__extra")

    def turn_ends(self) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """(the site, the goal of a turn, how it ended) for each ended turn of live conversations, in order. Turns that
        the episode's limits left unended are not among them."""
        ended = self.filter(trajectory__state="done", trace__has_key=TURN)
        ended = ended.order_by("trajectory__conversation__position", "trajectory", "seq")
        of = "trajectory__conversation"
        return list(ended.values_list(f"{of}__website__name", f"{of}__extra", f"trace__{TURN}"))

    def with_gold(self) -> Self:
        """Steps that have a recorded step. The others count in no score."""
        return self.filter(step__isnull=False)

    def stored_since(self, when: datetime) -> int:
        return self.filter(created_at__gte=when).count()

    def failed(self) -> Self:
        """Steps whose action is not the gold one."""
        return self.with_gold().filter(success=False)

    def judged_by_former_gold(self) -> Self:
        """Steps whose gold was corrected after they were judged."""
        done = Correction.objects.done().filter(step=OuterRef("step"), decided_at__gt=OuterRef("created_at"))
        return self.filter(Exists(done))

    def by_place(self) -> dict[int, int]:
        """Place in the trajectory -> number (`pk`), of steps of one trajectory."""
        return dict(self.order_by("seq").values_list("seq", "pk"))

    def with_pages(self) -> Iterator["TrajectoryStep"]:
        """The steps in order with the pages that they were decided at, of which a few are held at a time."""
        pages = ("snapshot__dictionary", "step__snapshot__dictionary", "step__raw_snapshot__dictionary")
        shots = ("step__screenshot", "pictured__screenshot")
        steps = self.select_related("step__turn", "turn", "done_by", *pages, *shots).prefetch_related("step__targets")
        unread = ("step__candidates", "step__extra", *(f"{shot}__data" for shot in shots))
        return steps.defer(*unread).order_by("seq").iterator(PAGES_HELD)

    def wrong_first(self) -> models.QuerySet["TrajectoryStep", int]:
        """The numbers (`pk`) of the steps, those that are not right before the others."""
        return self.order_by("success", "seq").values_list("pk", flat=True)

    def overruled(self) -> Self:
        """Steps at which the agent did another action than the one whose value it found best, as the published WMA
        does (quirk wq23)."""
        best = [{"by_value": True, "chosen": False}]
        return self.filter(branches__contains=best)

    def that_guard_would_hold(self) -> Self:
        """Steps whose action the guard calls risky; recorded steps are held up by nothing."""
        return self.filter(trace__act__held__isnull=False)

    def with_representation(self) -> Self:
        """Steps with `representation`, their action in words, read without the rest of the trace."""
        return self.annotate(representation=KT("trace__act__representation"))

    def saying(self, text: str) -> Self:
        """Steps in whose action, error, replies or prompt a text stands, in whatever case, with all of these as `said`.
        Each is read whole."""
        text_of = models.TextField()
        read = [Coalesce(KT(f"trace__{key}"), Value(""), output_field=text_of) for key in SAID]
        parts = [Cast("error", text_of), *read]
        apart = [one for part in parts for one in (part, Value(" \n", output_field=text_of))]
        return self.annotate(said=Concat(*apart, output_field=text_of)).filter(said__icontains=text)

    def answered_by(self) -> set[str]:
        """The models that the endpoint says answered the planner's prompts, of the first and the last step that tells:
        another may answer since a run was resumed, and traces are long."""
        told = self.filter(trace__plan__answered_by__isnull=False).values_list("trace__plan__answered_by", flat=True)
        return {name for order in ("pk", "-pk") for name in told.order_by(order)[:1]}

    def cut(self) -> Self:
        """Steps of which the model did not read all workflows or exemplars, as the prompt was too long."""
        return self.filter(trace__compose__cut__isnull=False)

    def not_asked(self) -> Self:
        """Steps that were failed without asking a model, as their gold element was out of reach."""
        return self.filter(trace__plan__not_asked=True)

    def with_error(self) -> Self:
        """Steps in which the agent reported an error."""
        return self.exclude(error="")

    def shown_workflow(self, pk: int) -> Self:
        """Steps in which the agent was shown a workflow, those of the newest run first."""
        rows = self.filter(workflow_ids__contains=[pk])
        return rows.order_by("-run_id", "trajectory__conversation__position", "trajectory_id", "seq")

    def count_by_workflow(self, pks: Sequence[int], *, tests: bool) -> dict[int, int]:
        """Workflow -> how many steps of all runs were shown it, without `tests` in runs over the other splits only;
        those that were never shown are left out. In SQL, for one pass: the index over the arrays finds the steps, and
        their elements are counted as they are read. 0.15 s for 100 workflows in 60,000 steps where reading the arrays
        takes 0.54 s, and a query for each 0.62 s."""
        steps, runs = self.model._meta.db_table, Run._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT shown, count(*) FROM {steps} step, unnest(workflow_ids) AS shown "  # our tables  # nosec B608
                "WHERE workflow_ids && %s::bigint[] AND shown = ANY(%s::bigint[]) AND (%s OR EXISTS (SELECT 1 "
                f"FROM {runs} WHERE id = step.run_id AND split <> '' AND split NOT LIKE 'test%%')) GROUP BY shown",
                [list(pks), list(pks), tests],
            )
            return dict(cursor.fetchall())


class TrajectoryStep(models.Model):
    """What the agent decided at one step, and what each stage recorded: one action.

    At a recorded step the gold action says whether it was right, and `seq` is the step's place in its conversation: the
    sequence number of the live stream. A step of an episode without a recorded path has no `step`; then it has its own
    observation, time, reward and outcome, `turn` says whose instruction it followed, and `seq` counts its actions.
    Actions of the same model call have the same `call_index`. `branches` are the actions that were considered, with
    what was predicted of each (`agents.types.Branch`).
    """

    said: str  # its words, where it is read as one of those `saying` something
    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="steps")
    step = models.ForeignKey(
        Step,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="trajectory_steps",
        help_text="Empty: no recorded path.",
    )
    turn = models.ForeignKey(
        Turn, models.PROTECT, null=True, blank=True, related_name="+", help_text="Whose instruction it followed, then."
    )
    snapshot = models.ForeignKey(
        Snapshot, models.PROTECT, null=True, blank=True, related_name="+", help_text="Its own page, likewise."
    )
    snapshot_after = models.ForeignKey(
        Snapshot, models.PROTECT, null=True, blank=True, related_name="+", help_text="The page at an episode's end."
    )
    url = models.TextField(blank=True)
    happened_at = models.DateTimeField(null=True, blank=True)
    reward = models.FloatField(null=True, blank=True)
    outcome = models.TextField(blank=True, help_text="What came of the action, in the environment's words.")
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", help_text="Empty: the agent."
    )
    branches = models.JSONField(default=list, blank=True, help_text="Actions considered, and what was predicted.")
    seq = models.PositiveIntegerField()
    operation = models.CharField(max_length=12, blank=True)
    node_id = models.CharField("backend node id", max_length=64, blank=True)
    value = models.TextField(blank=True)
    call_index = models.PositiveIntegerField(default=0, help_text="Model call that gave this action.")
    candidate_ids = ArrayField(models.CharField(max_length=64), default=list, help_text="Best first, at most 200.")
    candidate_scores = ArrayField(models.FloatField(), default=list)
    gold_rank = models.PositiveIntegerField(null=True, blank=True, help_text="Of the best gold element; empty: absent.")
    element_correct = models.BooleanField(default=False)
    operation_f1 = models.FloatField(default=0.0)
    success = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.FloatField(default=0.0, help_text="Of the model calls, in the currency of the configured prices.")
    exemplar_ids = ArrayField(models.BigIntegerField(), default=list, help_text="Exemplars shown, in prompt order.")
    workflow_ids = ArrayField(models.BigIntegerField(), default=list, help_text="Workflows shown, in prompt order.")
    milliseconds = models.FloatField(default=0.0)
    trace = models.JSONField(default=dict, help_text="Per stage word: what it saw and gave.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TrajectoryStepQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step"], name="step_result_once_per_run"),
            models.UniqueConstraint(fields=["trajectory", "seq"], name="trajectory_seq_once"),
            models.CheckConstraint(condition=Q(step=None) ^ Q(turn=None), name="step_or_own_turn"),
            models.CheckConstraint(
                condition=Q(operation="") | Q(operation__in=Operation.values), name="decided_operation_known"
            ),
        ]
        indexes = [
            GinIndex(fields=["workflow_ids"], name="step_by_workflow"),
            models.Index(fields=["run", "created_at"]),  # how fast a run goes at this moment
        ]
        triggers = difference_triggers(
            RunTally,
            "counted.run_id",
            "(counted.step_id IS NOT NULL)::int, (counted.step_id IS NOT NULL AND counted.error <> '')::int",
        )

    def __str__(self) -> str:
        return f"{self.operation} {self.node_id} {self.value}".strip()

    @property
    def followed(self) -> Turn:
        """The turn whose instruction the agent followed at this step."""
        turn = self.step.turn if self.step else self.turn
        assert turn is not None  # the database sees to it
        return turn

    @property
    def pages_around(self) -> tuple[str | None, str | None]:
        """In an episode: the pages before and after the action."""
        before, after = (page.html if page else None for page in (self.snapshot, self.page_after))
        return before, after

    @property
    def page_after(self) -> Snapshot | None:
        """In an episode: the page that the agent was shown `next_shown`, or that it ended with."""
        return self.next_shown.snapshot if self.next_shown else self.snapshot_after

    @cached_property
    def next_shown(self) -> "TrajectoryStep | None":
        """The step before which an episode's next page was shown, in this turn or the next one; None where there is
        none, or where the same call did further actions in between."""
        rows = self.trajectory.steps.filter(call_index__in=(self.call_index, self.call_index + 1)).exclude(pk=self.pk)
        other = rows.select_related("snapshot__dictionary").order_by("seq").first()
        return other if other and other.call_index > self.call_index else None

    @property
    def done_before(self) -> tuple[str, ...]:
        """What the agent did in the turn before this action, in words."""
        rows = self.trajectory.steps.filter(turn=self.turn_id, seq__lt=self.seq).order_by("seq")
        return tuple(words for words in rows.values_list("trace__act__representation", flat=True) if words)

    @property
    def ranked_count(self) -> int:
        """How many elements were ranked. The row keeps only the best 200 of them."""
        seen = (self.trace.get("rank", {}) | self.trace.get("observe", {})).get("candidates")  # as older runs say it
        return seen if isinstance(seen, int) else len(self.candidate_ids)

    @property
    def was_not_asked(self) -> bool:
        """Whether it was failed without asking a model, as its gold element was out of reach."""
        plan = self.trace.get("plan")
        return isinstance(plan, dict) and bool(plan.get("not_asked"))

    def ranking(self) -> list[dict[str, Any]]:
        """The ranked elements, best first; only the first ones have a text."""
        texts = {item["node_id"]: item["text"] for item in self.trace.get("rank", {}).get("top", [])}
        ranked = zip(self.candidate_ids, self.candidate_scores, strict=False)
        return [{"node_id": node, "score": score, "text": texts.get(node, "")} for node, score in ranked]

    def kept_nodes(self) -> list[str]:
        """What of the page was kept for the planner, or by it; all ranked elements where neither stage says."""
        kept = (self.trace.get("plan", {}) | self.trace.get("simplify", {})).get("kept")
        return kept if isinstance(kept, list) else self.candidate_ids[: kept if isinstance(kept, int) else None]

    def marks(self, targets: Sequence[Target]) -> list[Mark]:
        """What is marked in the page, most important first; `targets` are the gold elements."""
        found = [self._mark("gold", target.node_id) for target in targets if not target.pruned]
        if self.node_id:
            found.append(self._mark("predicted", self.node_id))
        named = {mark.node_id for mark in found}
        best = list(enumerate(self.candidate_ids[:MARKED_CANDIDATES], 1))
        return [*found, *(Mark(node, "candidate", str(rank)) for rank, node in best if node not in named)]

    def _mark(self, kind: MarkKind, node: str) -> Mark:
        ranks = {other: rank for rank, other in enumerate(self.candidate_ids, 1)}
        return Mark(node, kind, f"{kind} · rank {ranks[node]}" if node in ranks else f"{kind} · not ranked")

    def verdict(self, targets: Sequence[Target], ranked: int) -> list[str]:
        """Plain words for the replay: what was wrong, and where the gold element was: "wrong element", "gold was rank 2
        of 50", "operation right". `ranked` elements were ranked."""
        if self.error and not self.operation:
            return ["no decision", self.error]
        if self.step is None:
            return ["no recorded path: nothing to compare with"]
        if self.was_not_asked:
            return ["not asked, as published", self._gold_place(targets, ranked)]
        if not self.operation and not targets:
            return [_why_nothing(self.trace.get("plan", {}))]
        phrases = ["right element" if self.element_correct else "wrong element"]
        if not self.element_correct or self.gold_rank:
            phrases.append(self._gold_place(targets, ranked))
        return [*phrases, *self._operation_words()]

    def _gold_place(self, targets: Sequence[Target], ranked: int) -> str:
        if self.gold_rank is not None:
            return f"gold was rank {self.gold_rank + 1:,} of {ranked:,}"
        if targets and all(target.pruned for target in targets):
            return "the gold element is not in the page"
        return f"gold was not among the {ranked:,} ranked"

    def _operation_words(self) -> list[str]:
        assert self.step is not None  # `verdict` has asked
        then = self.step.corrections.gold_at(self.step.pk, self.created_at)
        operation, value = then.get("operation", self.step.operation), then.get("value", self.step.value)
        if self.node_id and not self.operation:
            return ["an element only, no operation"]
        if self.operation != operation:
            return [f"operation wrong: {self.operation or 'none'} instead of {operation}"]
        if self.operation == "CLICK" or (self.value == value):
            return ["operation right"]
        if self.operation_f1 == 1.0:
            return ["operation right", "value right but for case, spaces or order"]
        return ["operation right", f"value differs (F1 {self.operation_f1:.2f})"]


def _why_nothing(planned: dict[str, Any]) -> str:
    """Why there is no action where the gold one has no element either."""
    if why := planned.get("left_out"):
        return f"no model was asked: {why}"
    return "the reply names no action" if "reply" in planned else "the gold action has no element to rank"
