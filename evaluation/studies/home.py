"""The content of the first page: what waits for the user, what runs, what the last study found, and their datasets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from agents.cookbook import saved
from agents.environments.task_sets import FREE
from agents.models import Run
from agents.recipes import literature
from agents.stages.registry import searched
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.access.rules import User
from annotations.campaigns.holding_up import Hindrance, hindrances
from annotations.campaigns.places import STATES
from annotations.campaigns.progress import CampaignProgress, progress_of
from annotations.campaigns.queue import waiting
from annotations.models import Campaign, Dataset, Job
from annotations.models.accounts.projects import Account
from annotations.shown_progress import ShownProgress
from evaluation.models import ReviewQueue, Score, Study
from evaluation.reviews.questions import answered_for
from evaluation.scores import tables
from evaluation.studies.taking_part.showing import NAME as SHOWN
from evaluation.studies.taking_part.talking import NAME as TALKED
from evaluation.studies.watching import NAME as WATCHED
from evaluation.studies.watching import watchable_datasets
from evaluation.studies.worth import worth_a_look

Shown = TypeVar("Shown", bound=Model)

LATEST = 6
CARDS = 6
JUDGED = 2  # queues of review with a card
LOOKED_THROUGH = 20  # the newest ones, for those that still ask
RECENT, LOOKED_AT = 12, 3  # of so many runs, so many are named to reviewers
COMPARING = 4  # studies of which one may have numbers to compare
ALIKE = 4  # agents with the same numbers that share a row
PLOTTED = 8  # recipes of the last study, best first
PLOT_WIDTH = 420  # pixels
ALONE = Q(name=WATCHED) | Q(name__startswith=SHOWN) | Q(name__startswith=TALKED)
LASTING = Q(live={}) | ~Q(live__environment__in=list(FREE))  # without goals that somebody typed
LIVE = {name for name, recipe in literature.RECIPES.items() if "exemplar_sets" in searched(recipe)}


def context(request: HttpRequest) -> dict[str, Any]:
    user = signed_in(request)
    work = UnderWay.of(user)
    returned = list(waiting.returned(user))
    to_do = waiting.waiting(user)
    judging, answered = to_judge(user), answered_for(user)
    keys = iter(range(2 if returned else 1, 10))
    may_evaluate, listed = rules.projects(user, "evaluate").exists(), saved.listed(user)
    ready = [recipe.name for recipe in preparing.ready(user, listed)]
    last, managed = plot(user), campaigns(user)
    recorded = plot(user, {}) if last and last["dataset"].is_live else last
    return {
        "returned": returned,
        "defects": defects_of(returned),
        "to_do": [(one, next(keys)) for one in to_do[:CARDS]],
        "to_judge": [(queue, left, next(keys)) for queue, left in judging],
        "answered": answered,
        "more_to_do": len(to_do) > CARDS,
        "sentence": sentence(
            sum(one.count for one in to_do) + len(returned) + len(answered) + sum(left for _, left in judging),
            work,
        ),
        "under_way": work.under_way,
        "more_under_way": work.running + work.queued - len(work.under_way),
        "plot": last,
        "worth_a_look": worth_a_look(request, recorded["rows"][0][0].run) if recorded and recorded["rows"] else [],
        "campaigns": managed,
        "several_projects": len({one.campaign.project_id for one in managed}) > 1,
        "campaign_states": STATES,
        "datasets": rules.visible(user, Dataset.objects.for_list().filter(LASTING)).order_by("-created_at")[:LATEST],
        "studies": [(study, live) for study, live in work.studies if not live.running],
        "jobs": [(job, live) for job, live in work.jobs if not live.running],
        "agents": (len(ready), len(listed)),
        "next_thing": next_thing(user, ready, len(listed)) if may_evaluate else None,
        "to_look_at": to_look_at(user),
        "may_import": rules.projects(user, "import").exists(),
        "may_evaluate": may_evaluate,
        "may_watch": watchable_datasets(user).exists(),
    }


@dataclass(frozen=True)
class UnderWay:
    """The latest studies and jobs of a user's projects with how far they are, and older ones that are under way.
    `jobs_running`, `jobs_queued`: how many there are in all."""

    studies: list[tuple[Study, ShownProgress]]
    jobs: list[tuple[Job, ShownProgress]]
    jobs_running: int
    jobs_queued: int

    @classmethod
    def of(cls, user: User) -> "UnderWay":
        begun = Q(pk__in=Run.objects.open().order_by().values("studies"))
        # What one person watches, shows or says is theirs, and over once it has ended.
        others = ALONE & ~(begun & Q(created_by=user.pk))
        studies = rules.visible(user, Study.objects.select_related("project").exclude(others))
        jobs = rules.visible(user, Job.objects.select_related("project", "dataset", "created_by"))
        states = Counter(jobs.unfinished().order_by().values_list("state", flat=True))
        return cls(
            [(one, one.progress()) for one in _with_older(studies, studies.filter(begun))],
            [(one, one.live()) for one in _with_older(jobs, jobs.filter(state=Job.State.RUNNING))],
            states[Job.State.RUNNING],
            states[Job.State.QUEUED],
        )

    @property
    def under_way(self) -> list[tuple[str, Study | Job, ShownProgress]]:
        """What runs, then what waits, each with whether it is a study or a job."""
        rows: list[tuple[str, Study | Job, ShownProgress]] = [("study", *one) for one in self.studies]
        rows += [("job", *one) for one in self.jobs]
        return sorted((row for row in rows if row[2].running), key=lambda row: not _runs(row[2]))

    @property
    def running(self) -> int:
        return self.jobs_running + sum(_runs(live) for _, live in self.studies)

    @property
    def queued(self) -> int:
        return self.jobs_queued + sum(live.running and not _runs(live) for _, live in self.studies)


def _runs(live: ShownProgress) -> bool:
    """Whether it is done now; what is under way otherwise waits."""
    return live.running and live.fields["state"] == Run.State.RUNNING


def _with_older(rows: QuerySet[Shown], under_way: QuerySet[Shown]) -> list[Shown]:
    """The latest rows, and older ones of those under way."""
    latest = list(rows[:LATEST])
    return latest + list(under_way.exclude(pk__in=[one.pk for one in latest])[:LATEST])


def sentence(waiting_for: int, work: UnderWay) -> str:
    """The first sentence of the page, as "3 items wait for you; 1 is running, 4 wait for their turn." is."""
    waits = (
        f"{waiting_for or 'Nothing'} {'item waits' if waiting_for == 1 else 'items wait' if waiting_for else 'waits'}"
    )
    running, queued = work.running, work.queued
    turn = f", {queued} {'wait for their' if queued > 1 else 'waits for its'} turn" if queued else ""
    return f"{waits} for you; {running or 'nothing'} {'are' if running > 1 else 'is'} running{turn}."


def defects_of(returned: list[Any]) -> list[str]:
    """What is wrong with returned work, each once, in the order in which it was said: the note of a defect, else the
    question of the rubric that it denies."""
    verdicts = [verdict for one in returned[:CARDS] for verdict in one.last_returns()]
    told = [defect for verdict in verdicts for defect in verdict.facts(verdict.defects.all())["defects"]]
    return list(dict.fromkeys(one["note"] or f"Not so: {one['question'] or one['code']}" for one in told))


def next_thing(user: User, ready: list[str], total: int) -> tuple[str, str, str] | None:
    """What somebody who may start studies should do next: a sentence, the text of its link, and the address. `ready`:
    recipes that can run, of `total` in all; those of live pages are not compared on what is recorded."""
    visible = rules.visible(user, Run.objects.order_by())
    last = visible.order_by("-pk").first()
    if last is not None and last.state == Run.State.FAILED and (study := last.studies.first()):
        return f"{last.recipe_name} failed in {study.name}.", "See why", reverse("study", args=[study.pk])
    run = set(visible.values_list("recipe_name", flat=True).distinct())
    if untried := [name for name in ready if name not in run | LIVE]:
        more = len(untried) - 1
        said = f"{untried[0]} and {more} more are ready and have" if more else f"{untried[0]} is ready and has"
        return f"{said} never run here.", "Compare", f"{reverse('study-new')}?recipe={untried[0]}"
    if len(ready) < total:
        return f"{total - len(ready)} agents lack something that may be made here.", "Prepare", reverse("recipes")
    return None


def to_judge(user: Account) -> list[tuple[ReviewQueue, int]]:
    """Review queues that still ask this person for verdicts, newest first, each with how many; queues whose gold they
    may not see are left out."""
    queues = rules.visible(user, ReviewQueue.objects.filter(project__in=rules.projects(user, "review")))
    found = []
    for queue in queues.select_related("study")[:LOOKED_THROUGH]:
        tasks = queue.tasks.all()
        shown = rules.gold_filter(user, tasks, "trajectory__conversation__split", "queue__project")
        if (left := tasks.left_for(user).count()) and shown.count() == tasks.count():
            found.append((queue, left))
        if len(found) == JUDGED:
            break
    return found


def to_look_at(user: Account) -> list[Score]:
    """Of the latest runs in projects where the user reviews, those of which most can be learnt: where the right element
    is chosen as often as not. One that gets nothing right shows no more than that."""
    projects = rules.projects(user, "review")
    recent = rules.visible(user, Run.objects.filter(state=Run.State.DONE, dataset__project__in=projects))
    latest = list(recent.order_by("-pk").values_list("pk", flat=True)[:RECENT])
    scores = Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=latest, metric="element_accuracy")
    mixed = scores.annotate(mixed=F("value") * (1 - F("value"))).order_by("-mixed", "-run")
    return list(mixed.select_related("run__dataset")[:LOOKED_AT])


@dataclass(frozen=True)
class Managed:
    """An open campaign that somebody manages, how far it is, and what holds it up."""

    campaign: Campaign
    progress: CampaignProgress
    held_up: list[Hindrance]

    @property
    def needs(self) -> str:
        """What it needs next, in a few words."""
        if self.held_up:
            return self.held_up[0].text
        return "all passed: release it" if self.progress.is_passed else "nothing holds it up"


def campaigns(user: User) -> list[Managed]:
    """The latest open campaigns that this person manages."""
    rows = Campaign.objects.live().filter(closed_at=None, project__in=rules.projects(user, "manage"))
    found = list(rows.select_related("project")[:LATEST])
    progress, held_up = progress_of(found), hindrances(campaign.pk for campaign in found)
    return [Managed(campaign, progress[campaign.pk], held_up[campaign.pk]) for campaign in found]


def plot(user: User, live: dict[str, str] | None = None) -> dict[str, Any] | None:
    """What the plot of the home page shows: the last study that compares recipes and has numbers of two, else the last,
    with the intervals of its main metric on the split that most of its runs are on. `live`: only of datasets whose
    `live` is this, where {} is that of recorded ones. Runs of one conversation that somebody watches, shows or has are
    left out: they say nothing of agents."""
    of_these = {} if live is None else {"run__dataset__live": live}
    scored = Exists(Score.objects.filter(run__studies=OuterRef("pk"), headline=True, **of_these))
    studies = rules.visible(user, Study.objects.filter(scored).exclude(ALONE))
    several = studies.annotate(compared=Count("runs__recipe_sha256", distinct=True)).filter(compared__gt=1)
    first: dict[str, Any] | None = None
    for study in several.order_by("-pk")[:COMPARING]:  # what is grouped has no order of its own
        found = PlottedStudy(study).shown()
        if found and len({row.label for row, cell, *_ in found["rows"] if cell}) > 1:
            return found
        first = first or found
    last = studies.first() if first is None else None
    return PlottedStudy(last).shown() if last else first


@dataclass(frozen=True)
class PlottedStudy:
    """A study as the plot of the home page shows it."""

    study: Study

    def shown(self) -> dict[str, Any] | None:
        """What the plot shows; None while the study has no numbers."""
        runs = list(self.study.runs_with_progress())
        metrics = tables.main_metrics(runs)
        plotted = tables.PLOTTED[metrics]
        scores = list(Score.objects.headline(self.study.preset).filter(run__in=runs))
        found = tables.tables(runs, scores, metrics, plotted, PLOT_WIDTH)
        if not found:
            return None
        table = max(found, key=lambda one: len(one.rows))
        place = metrics.index(plotted)
        with_value = [row for row in table.rows if row.cells[place] or not row.ranks_only]
        labels = [row.label for row in with_value]
        kept = _alike(with_value, place)
        return {
            "study": self.study,
            "dataset": runs[0].dataset,
            "table": table,
            "metric": tables.FULL_NAMES[plotted],
            "plotted": plotted,
            # Settings only where they tell two rows apart; then the other agents that have the same numbers.
            "rows": [
                (
                    row,
                    row.cells[place],
                    row.settings if labels.count(row.label) > 1 else {},
                    [one.label for one in others],
                )
                for row, *others in kept[:PLOTTED]
            ],
            "ranking": sorted({row.label for row in table.rows if row not in with_value}),
            "width": PLOT_WIDTH,
            "more": sum(map(len, kept[PLOTTED:])),
        }


def _alike(rows: Sequence["tables.RunRow"], place: int) -> list[list["tables.RunRow"]]:
    """The rows in groups of one; those that have the same value and interval together where they are many, as a dozen
    agents that never succeed tell no more than one line does."""
    groups: dict[object, list[tables.RunRow]] = {}
    for row in rows:
        cell = row.cells[place]
        groups.setdefault((cell.value, cell.low, cell.high) if cell else row.label, []).append(row)
    found: list[list[tables.RunRow]] = []
    for group in groups.values():
        found += [group] if len(group) >= ALIKE else [[row] for row in group]
    return found
