"""What the first page shows: what waits for this person, what runs, what the last study found, and one's datasets."""

from typing import Any

from django.db.models import Exists, OuterRef

from agents.recipes import saved
from agents.recipes.starters import missing
from annotations.access import rules
from annotations.access.rules import User
from annotations.jobs.live import span_text
from annotations.jobs.progress import job_live
from annotations.models import Campaign, Dataset, Job
from annotations.models.projects import Account
from annotations.work.measure.progress import STATES, progress_of
from annotations.work.queue import waiting
from evaluation.models import Score, Study
from evaluation.scores import tables

LATEST = 6
CARDS = 6
PLOTTED = 8  # recipes of the last study, best first
PLOT_WIDTH = 420  # pixels


def context(user: Account) -> dict[str, Any]:
    studies = [(one, one.progress()) for one in rules.visible(user, Study.objects.select_related("project"))[:LATEST]]
    visible_jobs = rules.visible(user, Job.objects.select_related("project", "dataset", "created_by"))
    jobs = [(job, job_live(job)) for job in visible_jobs[:LATEST]]
    returned = list(waiting.returned(user))
    to_do = waiting.waiting(user)
    return {
        "returned": returned,
        "defects": defects_of(returned),
        "to_do": [(one, pace(one), key) for key, one in enumerate(to_do[:CARDS], 2 if returned else 1)],
        "more_to_do": len(to_do) > CARDS,
        "sentence": sentence(sum(one.count for one in to_do) + len(returned), [live for _, live in studies + jobs]),
        "running": [(study, live) for study, live in studies if live.running],
        "working": [(job, live) for job, live in jobs if live.running],
        "plot": plot(user),
        "campaigns": campaigns(user),
        "campaign_states": STATES,
        "datasets": rules.visible(user, Dataset.objects.for_list()).order_by("-created_at")[:LATEST],
        "studies": [(study, live) for study, live in studies if not live.running],
        "jobs": [(job, live) for job, live in jobs if not live.running],
        "agents": agents(user),
        "may_import": rules.projects(user, "import").exists(),
        "may_evaluate": rules.projects(user, "evaluate").exists(),
    }


def sentence(waiting_for: int, lives: list[Any]) -> str:
    """ "3 items wait for you; 1 is running." """
    running = sum(live.running for live in lives)
    waits = (
        f"{waiting_for or 'Nothing'} {'item waits' if waiting_for == 1 else 'items wait' if waiting_for else 'waits'}"
    )
    return f"{waits} for you; {running or 'nothing'} {'are' if running > 1 else 'is'} running."


def defects_of(returned: list[Any]) -> list[str]:
    """The codes of what is to be corrected, each once, as they were given."""
    verdicts = [verdict for one in returned[:CARDS] if (verdict := one.last_return())]
    return list(dict.fromkeys(defect.code for verdict in verdicts for defect in verdict.defects.all()))


def agents(user: User) -> tuple[int, int]:
    """How many recipes can run here, of how many."""
    listed = saved.listed(user)
    return sum(not missing(recipe) for recipe in listed), len(listed)


def campaigns(user: User) -> list[tuple[Campaign, Any, str]]:
    """Open campaigns that this person manages, how far each is, and what holds it up."""
    rows = Campaign.objects.live().filter(closed_at=None, project__in=rules.projects(user, "manage"))
    found = list(rows.select_related("project")[:LATEST])
    progress = progress_of(found)
    return [(campaign, progress[campaign.pk], held_up(progress[campaign.pk])) for campaign in found]


def held_up(progress: Any) -> str:
    """What a campaign needs next, in a few words."""
    if not progress.sessions:
        return "no sessions yet: organise some"
    if progress.passed_sessions == progress.sessions:
        return "all passed: release it"
    stage, counts = max(progress.stages.items(), key=lambda pair: (pair[1].returned, pair[1].left))
    if counts.returned:
        return f"{counts.returned} returned to be corrected ({stage})"
    return f"{counts.left} left to {stage}"


def plot(user: User) -> dict[str, Any] | None:
    """The last study with scores as intervals of its main metric, on the split that most of its runs are on."""
    scored = Exists(Score.objects.filter(run__studies=OuterRef("pk"), headline=True))
    study = rules.visible(user, Study.objects.filter(scored)).first()
    if study is None:
        return None
    runs = study.runs_with_progress()
    metrics = tables.main_metrics(runs)
    plotted = tables.PLOTTED[metrics]
    scores = list(Score.objects.headline(study.preset).filter(run__in=runs))
    found = tables.tables(runs, scores, metrics, plotted, PLOT_WIDTH)
    if not found:
        return None
    table = max(found, key=lambda one: len(one.rows))
    return {
        "study": study,
        "dataset": runs[0].dataset,
        "table": table,
        "metric": tables.FULL_NAMES[plotted],
        "rows": [(row, row.cells[metrics.index(plotted)]) for row in table.rows[:PLOTTED]],
        "width": PLOT_WIDTH,
        "more": max(0, len(table.rows) - PLOTTED),
    }


def pace(one: waiting.Waiting) -> str:
    """ "your pace: 6 min each, about 1 h 20 min in all"; "" before it is known."""
    if one.pace is None or one.seconds is None:
        return ""
    return f"your pace: {span_text(one.pace)} each, about {span_text(one.seconds)} in all"
