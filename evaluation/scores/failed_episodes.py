"""Why episodes of live runs failed: each that did not get the full reward has exactly one cause, told by its last step
and by what its environment has said."""

from collections import Counter
from collections.abc import Iterable

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from agents.environments.task_sets import FREE, TALKING
from agents.live.under_way import NO_ACTION
from agents.models import Run, Trajectory, TrajectoryStep
from agents.models.steps import TURN, TrajectoryStepQuerySet
from evaluation.metrics.episodes import FULL_REWARD
from evaluation.scores.failures import Reason

LOOP = 3  # times that the same is done in one turn
IDLE = ("", "STOP")  # operations that do nothing to a page
LABELS = {
    "lost": "the browser was lost",
    "people": "ended by people, or for want of them",
    "error": "the decision failed",
    "nothing": "nothing was done",
    "effect": "something changed that nobody asked for",
    "wrong": "wrong, as the environment says",
    "part": "right in part, as the environment says",
    "unjudged": "stopped, and nothing here says whether all was done",
    "early": "stopped too early",
    "loop": f"went round in a loop: the same action {LOOP} times or more",
    "steps": "the limit of steps was reached",
    "time": "the limit of time was reached",
}
CAUSES = [Reason(key, label, Q(cause=key)) for key, label in LABELS.items()]


class FailedEpisodes:
    """The episodes of a live run that failed, each read as its last step."""

    def __init__(self, run: Run) -> None:
        self.run, self.limits = run, run.dataset.live
        self._of_episode = TrajectoryStep.objects.filter(trajectory=OuterRef("trajectory")).order_by()

    def ends(self) -> TrajectoryStepQuerySet:
        """The last step of each, with its `cause`, and with `earned`, its reward in all."""
        later = self._of_episode.filter(seq__gt=OuterRef("seq"))
        ended = self.run.steps.filter(~Exists(later), trajectory__state=Trajectory.State.DONE)
        each = self._of_episode.values("trajectory")
        rewards = each.annotate(sum=Sum("reward")).values("sum")
        by_agent = each.filter(done_by=None).annotate(n=Count("pk")).values("n")
        rows = ended.annotate(earned=Coalesce(Subquery(rewards), 0.0), by_agent=Coalesce(Subquery(by_agent), 0))
        cases = [When(condition, then=Value(key)) for key, condition in self._conditions()]
        cause = Case(*cases, default=Value("time"), output_field=CharField())
        return rows.filter(earned__lt=FULL_REWARD).annotate(cause=cause)

    def _conditions(self) -> list[tuple[str, Q]]:
        """(cause, when it holds): the first that holds is the cause, and where none does it is the limit of time."""
        done = self._of_episode.exclude(operation__in=IDLE)
        same = done.values("turn", "operation", "node_id", "value").annotate(n=Count("pk")).filter(n__gte=LOOP)
        talks = self.limits["environment"] in TALKING
        spent = Q(by_agent__gte=self.limits["steps"])
        return [
            ("lost", ~Q(error="") & Q(outcome=F("error"))),
            ("people", Q(outcome__startswith="held, ") | Q(outcome__startswith="ended: ") & ~Q(outcome=NO_ACTION)),
            ("error", ~Q(error="")),
            ("nothing", ~Q(Exists(done))),
            *(self._of_turns() if talks else self._of_environment()),
            ("loop", Q(Exists(same))),
            ("steps", spent | Q(Exists(self._missed)) if talks else spent),  # a turn has a limit of its own
        ]

    @property
    def _missed(self) -> TrajectoryStepQuerySet:
        """The ends of turns that did not come out as asked."""
        return self._of_episode.filter(**{f"trace__{TURN}__reached": False})

    def _of_turns(self) -> list[tuple[str, Q]]:
        """Causes of conversations, by such turns."""
        unasked = self._missed.exclude(**{f"trace__{TURN}__side_effects": []})
        return [("effect", Q(Exists(unasked))), ("early", Q(Exists(self._missed.filter(operation__in=IDLE))))]

    def _of_environment(self) -> list[tuple[str, Q]]:
        """Causes of other episodes, by whether the environment has ended them, or the agent."""
        told = Q(outcome__contains="; the task has ended") | Q(reward__gt=0) | Q(reward__lt=0)
        stopped = "unjudged" if self.limits["environment"] in FREE else "early"
        return [("part", told & Q(earned__gt=0)), ("wrong", told), (stopped, Q(operation__in=IDLE))]

    @staticmethod
    def counted(causes: Iterable[str]) -> list[tuple[Reason, int]]:
        """How often each cause, of all that there are, is among these."""
        counts = Counter(causes)
        return [(cause, counts[cause.key]) for cause in CAUSES]
