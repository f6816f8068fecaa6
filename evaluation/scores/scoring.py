"""Computes scores from stored steps: a pure function of rows, computed again whenever a run ends."""

from collections.abc import Iterable, Iterator

from agents.environments.task_sets import TALKING, least_reward
from agents.models import Run, TrajectoryStep
from agents.recipes import literature
from agents.stages.registry import judging_of, ranks_only
from agents.types import Action, Decision
from annotations.models import Step
from evaluation.metrics import is_ranking, wants_operation
from evaluation.metrics.outcomes import Metric, StepOutcome
from evaluation.metrics.scores import PRESETS, headlines, score
from evaluation.models import Score, Study
from evaluation.scores.breakdowns import RunBreakdown, SiteBreakdown
from evaluation.scores.judging import Gold, Judgement, judge, judge_as_published
from evaluation.scores.live import episodes_of, live_metrics, turns_of
from evaluation.scores.weblinx import weblinx_metrics


def judge_step(decision: Decision, step: Step) -> Judgement:
    """Judge a decision by the gold of its recorded step. The runner, which knows no evaluation, is given this
    function."""
    action = decision.actions[0] if decision.actions else None
    return judge(action, decision.ranking, Gold(step.operation, step.value, step.reachable_gold()))


class RunScores:
    """Computes and stores the scores of a run from its stored steps."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def outcomes(self, preset: str) -> list[StepOutcome]:
        """The facts of every stored step that has a gold action, in the order of the split; others are in no score.

        `faithful`: a step without a gold element among the first top_k is skipped, which means failed in every metric
        (sources.md M6.2), and planners whose own evaluation judges differently are judged as there, by those quirks
        that the run's recipe has on; `corrected` judges every step alike.
        """
        return [outcome for _, outcome in self.outcomes_by_step(preset)]

    def outcomes_by_step(self, preset: str) -> Iterator[tuple[int, StepOutcome]]:
        """`outcomes`, each with the key of its stored step."""
        faithful = preset == Study.Preset.FAITHFUL
        top_k = self.run.recipe["rank"]["top_k"]
        judged = self._as_published() if faithful else {}
        rows = (
            TrajectoryStep.objects.with_gold()
            .filter(run=self.run)
            .order_by("trajectory__conversation__position", "trajectory__conversation_id", "seq")
            .values_list(
                "pk",
                "trajectory__conversation_id",
                "step__turn_id",
                "step__turn__index",
                "step__operation",
                "trajectory__conversation__website__name",
                "trajectory__conversation__website__domain",
                "element_correct",
                "operation_f1",
                "success",
                "gold_rank",
            )
        )
        for position, row in enumerate(rows.iterator()):
            pk, conversation, turn, turn_index, operation, website, domain, element, f1, success, rank = row
            element_score, f1, success = judged[pk] if pk in judged else (float(element), f1, success)
            skipped = faithful and (rank is None or rank >= top_k)
            yield (
                pk,
                StepOutcome(
                    conversation=str(conversation),
                    turn=str(turn),
                    turn_index=turn_index,
                    operation=operation,
                    website=website,
                    domain=domain,
                    position=position,
                    gold_rank=rank,
                    skipped=skipped,
                    element_correct=0.0 if skipped else element_score,
                    operation_f1=0.0 if skipped else f1,
                    success=success and not skipped,
                ),
            )

    def _as_published(self) -> dict[int, tuple[float, float, bool]]:
        """Stored step -> judgement as the planner's own published evaluation gives it; {} for planners that are judged
        as ours are."""
        recipe = literature.readable(self.run.recipe)
        published = judging_of(recipe) if recipe else None
        if recipe is None or published is None:
            return {}
        rows = (
            self.run.steps.with_gold()
            .select_related("step")
            .prefetch_related("step__targets")
            .only("operation", "node_id", "value", "step__operation", "step__value", "trace")
        )
        found = {}
        for row in rows.iterator(chunk_size=500):
            assert row.step is not None  # only those with gold were asked for
            action = Action(row.operation, row.node_id, row.value) if row.node_id else None
            text = row.trace.get("act", {}).get("text", row.trace.get("plan", {}).get("text", ""))
            gold = Gold(row.step.operation, row.step.value, row.step.reachable_gold())
            found[row.pk] = judge_as_published(published, action, text, gold, recipe.quirks)
        return found

    def store(self) -> int:
        """Replace the scores of both presets; the number of steps they rest on."""
        run = self.run
        rows, count = [], 0
        if run.dataset.is_live:  # of episodes both presets have the same values
            episodes = episodes_of(run.trajectories.all())
            count = len(episodes)
            turns = turns_of(run.steps.turn_ends())
            environment = run.dataset.live["environment"]
            if environment in TALKING:
                SiteBreakdown(run).store(episodes, turns)
            metrics = live_metrics(episodes, turns, run.seed, least_reward(environment))
            rows = [row for preset in PRESETS for row in score_rows(metrics, run, preset)]
        recipe = literature.readable(run.recipe)
        published = judging_of(recipe) if recipe else None
        tail = published is not None and published.overlooks_tail  # Q6 is of published loops alone
        for preset in () if run.dataset.is_live else PRESETS:
            steps = self.outcomes(preset)
            count = len(steps)
            RunBreakdown(run, preset).store(steps)
            metrics = score(steps, preset, seed=run.seed, legacy_tail=tail) if steps else []
            if run.recipe.get("data") == "weblinx" and steps:
                own = weblinx_metrics(run, preset)
                if preset == Study.Preset.FAITHFUL:  # where no gold element was ranked the published code has no recall
                    metrics = [metric for metric in metrics if not is_ranking(metric.name)]
                metrics = [*own, *metrics]  # their recall@k is the one to show
            rows += score_rows(metrics, run, preset)
        Score.objects.filter(run=run, preset__in=PRESETS).delete()
        Score.objects.bulk_create(rows)
        return count


def score_rows(metrics: Iterable[Metric], run: Run, preset: str) -> list[Score]:
    """One row for each metric, not stored yet; the first of a name is its headline. For an agent that only ranks,
    metrics that need an operation are left out."""
    metrics = [one for one in metrics if not (ranks_only(run.recipe) and wants_operation(one.name))]
    first = {(metric.name, metric.grouping) for metric in headlines(metrics).values()}
    return [
        Score(
            run=run,
            preset=preset,
            metric=metric.name,
            grouping=metric.grouping,
            value=metric.value,
            low=metric.low,
            high=metric.high,
            n=metric.n,
            headline=(metric.name, metric.grouping) in first,
        )
        for metric in metrics
    ]
