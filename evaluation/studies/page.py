"""The content of a study's page: progress, tables of both metric sets, and where the chosen run fails."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet
from django.http import Http404, QueryDict

from agents.cookbook import saved
from agents.cookbook.lacking import asks_endpoint
from agents.cookbook.starters import missing_of
from agents.environments.task_sets import MINIWOB
from agents.models import Run, Trajectory, TrajectoryStep, UserLedger
from agents.models.steps import TrajectoryStepQuerySet
from agents.recipes import differences, literature
from agents.stages.registry import ranks_only
from annotations.access import rules
from annotations.access.rules import User
from annotations.models import Correction, Split
from evaluation.judges.agreeing import told_agreements
from evaluation.judges.plotting import agreement_plot
from evaluation.metrics import label
from evaluation.metrics.scores import PRESETS, MetricPreset, preset_named
from evaluation.models import ReviewedRun, Score, Shard, Study
from evaluation.models.scores import REVIEWED
from evaluation.reviews.counting import being_counted
from evaluation.scores import failures, plots
from evaluation.scores import tables as score_tables
from evaluation.scores.breakdowns import RunBreakdown
from evaluation.scores.corrected_since import CorrectedSince
from evaluation.scores.failed_episodes import CAUSES, FailedEpisodes
from evaluation.scores.out_of_reach import OutOfReach
from evaluation.scores.reviewed import CorrectedGold
from evaluation.scores.scoring import RunScores
from evaluation.studies.expecting import asked
from evaluation.studies.findings import RunFindings
from evaluation.studies.forms import BudgetForm, StudyForm, coming_of

SHOWN_SHARDS = 10  # that lost their worker
SHOWN_CORRECTIONS = 50
CHANGED = ("step_success", "turn_success", "conversation_success")


@dataclass(frozen=True)
class ReviewedChange:
    """What reviews change in the scores of one run: (as recorded, as reviewed) of each headline metric, None where a
    run has no such score, as one that only ranks."""

    reviewed: ReviewedRun
    values: list[tuple[Score, Score] | None]
    is_being_counted: bool  # they do not know yet of what was said last


@dataclass(frozen=True)
class CorrectedStep:
    """A corrected step that changes scores: for each run, whether it is right by the old gold and by the new."""

    correction: Correction
    runs: list[tuple[Run, bool, bool]]


def new_study_context(user: User, form: StudyForm, query: QueryDict) -> dict[str, Any]:
    """The form of a new study: recipes by family, those that cannot run yet apart unless they are ticked, and what a
    study of what is chosen would take."""
    offered, ticked = list(form.offered.values()), form["recipes"].value()
    lacking = {recipe.name: found for recipe, found in zip(offered, missing_of(offered), strict=True)}
    coming = {recipe.name: coming_of(form, recipe, lacking[recipe.name]) for recipe in offered}
    shown = [recipe for recipe in offered if not lacking[recipe.name] or recipe.name in ticked]
    expected = asked(user, form.filled_in(query), form.datasets, form.offered)
    refused = bool(form.is_bound and form.errors.get("recipes"))
    told = [name for name, needs in lacking.items() if coming[name] or (refused and needs)]
    return {
        "form": form,
        "families": [
            (
                family,
                [(one, lacking[one.name], coming[one.name]) for one in found],
                sum(one.name in ticked for one in found),
            )
            for family, found in saved.families(shown).items()
        ],
        "unready": [(one, lacking[one.name], coming[one.name]) for one in offered if one not in shown],
        "expected": expected and expected.without_reasons(told),
        "coming": [] if refused or not expected else [(one.recipe, coming[one.recipe]) for one in expected.recipes],
    }


def study_context(study: Study, query: QueryDict, rights: rules.Rights) -> dict[str, Any]:
    """The template's context. `query`: preset, plot (a metric) and run (whose failures are shown)."""
    able = {name: rights.can(name, study.project_id) for name in ("evaluate", "manage", "judge")}
    found = study.runs_with_progress()
    live, runs = study.progress(found), list(found)
    for run in runs:
        run.error = rights.message(run.error, study.project_id, run.split)
    preset = _preset(query, study)
    changed = reviewed_changes(runs)
    shown_as = REVIEWED if changed and query.get("preset") == REVIEWED else preset
    metrics = score_tables.main_metrics(runs)
    plotted = named if (named := query.get("plot", "")) in metrics else score_tables.PLOTTED[metrics]
    scores = list(Score.objects.headline(shown_as).filter(run__in=runs))
    main = score_tables.tables(runs, scores, score_tables.with_people(metrics, scores), plotted)
    ranked = () if metrics in (score_tables.LIVE, score_tables.LIVE_TALKS) else score_tables.RANKING
    shown = _chosen(runs, main, query.get("run"))
    # Failures are not shown of episodes, which have no gold, nor of test splits to who may not see their gold.
    told = shown if shown and not shown.dataset.is_live and rights.sees_gold(study.project_id, shown.split) else None
    return {
        "study": study,
        "runs": runs,
        "live": live,
        "preset": preset,
        "shown_as": shown_as,
        "presets": [*Study.Preset.values, *([REVIEWED] if changed else [])],
        "changed": changed,
        "changed_metrics": [label(metric) for metric in CHANGED],
        "corrected": corrected_steps(rights, runs) if changed else [],
        "judges": told_agreements(rights, runs),
        "plotted": plotted,
        "plotted_label": label(plotted),
        "tables": main,
        "has_tasks": any(run.dataset.live.get("environment") in MINIWOB for run in runs),
        "out_of_reach": OutOfReach.of(runs, scores),
        "ranking": score_tables.tables(runs, scores, ranked, plotted) if ranked else [],
        "plot_width": score_tables.PLOT_WIDTH,
        "failing": _failing(told, preset) if told else None,
        "asks_endpoint": any(asks_endpoint(one) for run in runs if (one := literature.readable(run.recipe))),
        "user_model": UserLedger.objects.told_of(runs),
        "budget": BudgetForm(initial={name: getattr(study, name) for name in BudgetForm.base_fields}),
        "may_cancel": able["evaluate"] and live.running and not study.cancel_requested,
        "may_resume": able["evaluate"] and not live.running and live.fields["state"] != Run.State.DONE,
        "troubled": Shard.objects.filter(run__in=runs).exclude(last_log="").select_related("run")[:SHOWN_SHARDS],
        "watched": _watched(runs, shown),
    } | {f"may_{name}": is_able for name, is_able in able.items()}


def _watched(runs: list[Run], shown: Run | None) -> Trajectory | None:
    """The trajectory that the replay key opens: of the run under way, else of the one whose failures are shown."""
    running = next((run for run in runs if run.state == Run.State.RUNNING), None)
    chosen = running or shown or next(iter(runs), None)
    return chosen.trajectories.to_watch() if chosen else None


def reviewed_changes(runs: list[Run]) -> list[ReviewedChange]:
    """For the runs whose scores reviews change, the headline values by recorded gold and by reviewed gold."""
    rows = ReviewedRun.objects.filter(run__in=runs).exclude(accepted=0, left_out=0, corrected=0).select_related("run")
    headline = Score.objects.filter(run__in=[row.run_id for row in rows], headline=True, metric__in=CHANGED)
    waiting = being_counted([row.run_id for row in rows])
    scores = {(score.run_id, score.preset, score.metric): score for score in headline}
    return [
        ReviewedChange(
            row,
            [
                (before, after)
                if (before := scores.get((row.run_id, Study.Preset.CORRECTED, metric)))
                and (after := scores.get((row.run_id, REVIEWED, metric)))
                else None
                for metric in CHANGED
            ],
            row.run_id in waiting,
        )
        for row in rows
    ]


def corrected_steps(rights: rules.Rights, runs: list[Run]) -> list[CorrectedStep]:
    """The corrections of gold that change how right decisions of these runs are."""
    found: dict[int, list[tuple[Run, bool, bool]]] = defaultdict(list)
    for run in runs:
        gold = CorrectedGold(run)
        fields = ("step_id", "operation", "node_id", "value", "element_correct", "operation_f1", "success")
        for row in run.steps.filter(step__in=gold.of_step).only(*fields):
            if row.step_id is None or not rights.sees_gold(run.dataset.project_id, run.split):
                continue
            after = gold.parts(row)
            if after != (bool(row.element_correct), row.operation_f1, bool(row.success)):
                found[row.step_id].append((run, bool(row.success), after[2]))
    place = "step__turn__conversation__dataset"
    done = Correction.objects.done().filter(step__in=found).select_related(place, "corrected_by", "decided_by")
    newest = {one.step_id: one for one in done.order_by("decided_at")}
    return [CorrectedStep(one, found[step]) for step, one in newest.items()][:SHOWN_CORRECTIONS]


def plots_context(rights: rules.Rights, study: Study, query: QueryDict) -> dict[str, Any]:
    """The plots for this user: slices of test splits only where they may see their gold."""
    of_all = list(study.runs_with_progress())
    runs = [run for run in of_all if "rank" in run.recipe]
    preset = _preset(query, study)

    def sees(split: str) -> bool:
        return rights.sees_gold(study.project_id, split)

    judges = agreement_plot(told_agreements(rights, of_all))
    found = plots.drawn_together([one for one in (*plots.RunPlots(runs, preset).all(sees), judges) if one.points])
    hidden, running = not all(sees(run.split) for run in runs), any(not run.is_over for run in runs)
    return {"study": study, "preset": preset, "plots": found, "hidden": hidden, "running": running}


def _preset(query: QueryDict, study: Study) -> MetricPreset:
    asked = (query.get("preset", ""), study.preset, Study.Preset.CORRECTED)  # the last where neither names one
    return preset_named(next(name for name in asked if name in PRESETS))


def failures_context(study: Study, query: QueryDict, user: User) -> dict[str, Any]:
    """The list of failed steps of the run that `query` names, or of the first; `rows` are all that its filters
    leave. Of a live run they are the last steps of its failed episodes, as no step of these has gold."""
    runs = list(study.runs_with_progress())
    run = next((run for run in runs if str(run.pk) == query.get("run")), runs[0] if runs else None)
    if run is None:
        raise Http404
    failed = RunFailures(user, run)
    rows, chosen = failed.listed(query)
    found = {"study": study, "run": run, "runs": runs, "chosen": chosen, "reasons": failed.counted()}
    if failed.is_live:
        hides = not rules.sees_gold(user, study.project, run.split or Split.TEST_TASK)  # "": of every split
        return found | {"rows": rows, "seen": {}, "hides": hides}
    since = CorrectedSince(failed_steps(user, run))
    what = query.get("since", "")
    if (among := since.chosen(what)) is not None:
        chosen["since"] = what
        rows = rows.filter(pk__in=among)
    return found | {"rows": rows, "since": since} | _scanned_context(user, run, rows, chosen, query)


def _scanned_context(
    user: User, run: Run, rows: QuerySet[TrajectoryStep], chosen: dict[str, str], query: QueryDict
) -> dict[str, Any]:
    """What scanners found in the run, for the template. `rows` are narrowed to the finding that the query names, which
    is noted in `chosen`."""
    found = RunFindings(user, run, set(failed_steps(user, run).values_list("pk", flat=True)))
    listed, clusters = [*found.of_scanners(), *found.of_models()], found.clusters()
    context: dict[str, Any] = {"findings": listed, "clusters": clusters, "seen": {}, "is_scanned": bool(found.kept)}
    finding = next((row for row in listed if row.key == query.get("scanner")), None)
    if finding:
        chosen |= {"scanner": finding.key, "scanner_label": finding.label}
        context |= {"rows": rows.filter(pk__in=finding.seen), "seen": finding.seen}
    cluster = next((row for row in clusters if row.name == query.get("cluster")), None)
    if cluster:
        chosen["cluster"] = cluster.name
        context["rows"] = context.get("rows", rows).filter(pk__in=cluster.steps)
    return context


def failed_steps(user: User, run: Run) -> TrajectoryStepQuerySet:
    """The failed steps of a run, without those of test splits for users who may not see their gold: a failed guess says
    what gold is not."""
    rows = run.steps.failed()
    return rules.gold_filter(user, rows, "trajectory__conversation__split", "run__dataset__project")


class RunFailures:
    """What failed of a run, as far as a user may see it: steps, or of a live run the last steps of its episodes."""

    def __init__(self, user: User, run: Run) -> None:
        self.run, self.is_live = run, run.dataset.is_live
        if self.is_live:
            ends = FailedEpisodes(run).ends()
            self.rows = rules.gold_filter(user, ends, "trajectory__conversation__split", "run__dataset__project")
        else:
            self.rows = failed_steps(user, run)

    def counted(self) -> list[tuple[failures.Reason, int]]:
        """For each reason, how many failed for it."""
        if self.is_live:
            return FailedEpisodes.counted(self.rows.values_list(F("cause"), flat=True))
        return failures.counted(self.rows, self.run.top_k)

    def listed(self, query: QueryDict) -> tuple[QuerySet[TrajectoryStep], dict[str, str]]:
        """The rows for the list, and the filters that were understood."""
        rows = self.rows.select_related("trajectory__conversation__website", "step__turn__conversation__dataset")
        rows = rows.with_representation().defer("trace", "step__candidates", "candidate_ids", "candidate_scores")
        chosen: dict[str, str] = {}
        reasons = CAUSES if self.is_live else failures.reasons(self.run.top_k)
        reason = next((r for r in reasons if r.key == query.get("reason")), None)
        if reason:
            chosen["reason"] = reason.key
            chosen["reason_label"] = reason.label
            rows = rows.filter(reason.condition)
        website = self.run.dataset.websites.filter(name=query.get("website", "").replace("\0", "")).first()
        if website:
            chosen["website"] = website.name
            rows = rows.filter(trajectory__conversation__website__name=website.name)
        return rows.order_by("trajectory__conversation__position", "seq"), chosen


def _chosen(runs: list[Run], tables: list[score_tables.ScoreTable], wanted: str | None) -> Run | None:
    """The run whose failures are shown: the one asked for, else the best of the first table, else one with steps."""
    named = next((run for run in runs if str(run.pk) == wanted), None)
    best = tables[0].rows[0].run if tables and tables[0].rows else None
    return named or best or next((run for run in runs if run.done), None)


def _failing(run: Run, preset: MetricPreset) -> dict[str, Any]:
    breakdown = RunBreakdown(run, preset)
    found = breakdown.stored()
    if found is None:
        # A recipe of an older version has no slices.
        judged = RunScores(run).outcomes(preset) if "rank" in run.recipe else []
        found = breakdown.computed(judged)
    total = sum(count for _, count in found["counts"])
    of_run = {"run": run, "ranks_only": ranks_only(run.recipe), "settings": differences.changed_settings(run.recipe)}
    return of_run | {"total": total} | found
