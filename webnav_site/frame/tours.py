"""Tours for newcomers: five stops over real pages for each kind of work, `?tour=annotator-2` is the second of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Model, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from agents.models import Run, Trajectory, TrajectoryStep
from annotations.access import rules
from annotations.access.rules import User
from annotations.desk.write.document import readable
from annotations.models import Assignment, Campaign, Conversation, Dataset, Stage
from annotations.text.amounts import whole
from evaluation.models import Study
from evaluation.studies.page import failed_steps


@dataclass(frozen=True)
class Stop:
    """A stop of a tour: one page, and a text on what to look at there. `first`: the rows of whose pages the newest is
    shown that has something to see for this person; where there is none, `instead` is shown."""

    text: str
    route: str
    first: Callable[[User], Any] | None = None
    instead: str = ""
    field: str = "pk"

    def url(self, user: User) -> str:
        if self.first is None:
            return reverse(self.route)
        found: Model | None = rules.visible(user, self.first(user)).order_by("-pk").first()
        return reverse(self.route, args=[getattr(found, self.field)]) if found else reverse(self.instead)


def _campaigns(user: User) -> QuerySet[Campaign]:
    return Campaign.objects.live()


def _under_way(user: User) -> QuerySet[Campaign]:
    """Open campaigns with work; where there is none, all of them."""
    begun = _campaigns(user).filter(closed_at=None, sessions__items__isnull=False).distinct()
    return begun if rules.visible(user, begun).exists() else _campaigns(user)


def _reviewed(user: User) -> QuerySet[Campaign]:
    """Such campaigns whose work this person may see."""
    return _under_way(user).filter(project__in=rules.projects(user, "review"), sessions__items__isnull=False)


def _handed_in(user: User) -> QuerySet[Assignment]:
    """What was decomposed or rewritten and is over, so that a look at it takes nothing from anybody: one's own, else
    what one may read."""
    rows = readable(user).filter(state=Assignment.State.SUBMITTED).exclude(item__stage=Stage.VERIFY)
    shown = rules.gold_filter(user, rows, "item__session__split", "item__session__campaign__project")
    own = shown.filter(user_id=user.pk or 0)
    return own if own.exists() else shown


def _datasets(user: User) -> Any:
    """Datasets of recorded pages that have conversations."""
    return Dataset.objects.filter(live={}).with_conversations()


def _released(user: User) -> Any:
    """Such datasets with a release; where there is none, all of them."""
    released = _datasets(user).filter(releases__isnull=False).distinct()
    return released if rules.visible(user, released).exists() else _datasets(user)


def _scored(user: User) -> QuerySet[Run]:
    """Runs over recorded steps that are over, with scores that this person sees."""
    over = Run.objects.filter(state=Run.State.DONE, scores__headline=True, dataset__live={}).distinct()
    return rules.visible(user, rules.gold_filter(user, over, "split", "dataset__project"))


def _studied(user: User) -> Any:
    """The dataset on which most of such runs were made; where there is none, all of them."""
    runs = _scored(user).order_by().values("dataset").annotate(n=Count("pk", distinct=True))
    most = runs.order_by("-n", "-dataset").first()
    return _datasets(user).filter(pk=most["dataset"]) if most else _datasets(user)


def _runs(user: User) -> Any:
    """Such runs on that dataset; where there is none, all that are over."""
    scored = _scored(user).filter(dataset__in=_studied(user))
    return scored if scored.exists() else Run.objects.filter(state=Run.State.DONE, dataset__live={})


def _conversations(user: User) -> Any:
    """Conversations with steps whose gold this person may see."""
    return rules.gold_filter(user, Conversation.objects.filter(step_count__gt=0), "split", "dataset__project")


def _replays(user: User) -> Any:
    """Decided trajectories of which this person may see what was right: on recorded pages, by agents that act."""
    acted = TrajectoryStep.objects.filter(trajectory=OuterRef("pk"), step__snapshot__isnull=False).exclude(operation="")
    decided = Trajectory.objects.filter(Exists(acted), state=Trajectory.State.DONE, step_count__gt=1)
    return rules.gold_filter(user, decided, "conversation__split", "run__dataset__project")


def _failing(user: User) -> Any:
    """Studies whose runs are over, and whose first run has failures that this person sees."""
    over = Study.objects.filter(runs__isnull=False).exclude(runs__in=Run.objects.open()).distinct()
    for study in rules.visible(user, over).order_by("-pk")[:LOOKED_AT]:
        run = study.runs.order_by("id").first()
        if run and not run.dataset.is_live and failed_steps(user, run).exists():
            return Study.objects.filter(pk=study.pk)
    return Study.objects.none()


LOOKED_AT = 10  # studies, from the newest on
HOME = "What waits for you, what is running and what the last study found. A card's key starts its work."
TOURS: dict[str, tuple[Stop, ...]] = {
    "annotator": (
        Stop(HOME, "home"),
        Stop("What you hold and what you handed in; n gets the next item.", "annotate-queue"),
        Stop(
            "The workbench: the recorded steps, the parts that you make of them with what each asks for, and the page "
            "as it was; the guidelines are beside it. What is handed in, as here, is only read.",
            *("annotate-item", _handed_in, "annotate-campaigns"),
        ),
        Stop(
            "What annotators make: a conversation, its turns, and the recorded steps that each of them asks for.",
            *("conversation", _conversations, "datasets"),
        ),
        Stop("Everything has a key: ? shows those of a page, and here they are changed.", "keys"),
    ),
    "reviewer": (
        Stop(HOME, "home"),
        Stop("Verifying comes before everything else, as it holds up what others have done.", "annotate-queue"),
        Stop(
            "How far a campaign is: per stage, person and batch, with what the checks found.",
            *("annotate-campaign", _under_way, "annotate-campaigns"),
        ),
        Stop(
            "What an agent saw, considered and did, step by step: the arrow keys go from step to step.",
            *("trajectory", _replays, "runs"),
        ),
        Stop("Where a study fails, by reason and website.", "study-failures", _failing, "studies"),
    ),
    "manager": (
        Stop(HOME, "home"),
        Stop("Campaigns: how far each of them is, and who works in it.", "annotate-campaigns"),
        Stop(
            "One campaign: what every stage, person and batch has done, what the checks found, and what holds it up.",
            *("annotate-campaign", _under_way, "annotate-campaigns"),
        ),
        Stop(
            "The work itself, which reviewers and admins see: every item with who has it, how good each person's is, "
            "and how long what is left takes.",
            *("annotate-campaign-work", _reviewed, "annotate-campaigns"),
        ),
        Stop(
            "Releases: frozen versions with checks, a datasheet, and what each changed since the one before.",
            *("releases", _released, "datasets", "name"),
        ),
    ),
    "researcher": (
        Stop(HOME, "home"),
        Stop(
            "A dataset: its splits, statistics, releases, and exports in every published format.",
            *("dataset", _studied, "datasets", "name"),
        ),
        Stop("The published agents as recipes: eight stages with settings. Derive one to try a mixture.", "recipes"),
        Stop(
            "A run: every conversation and its settings; who may see the gold also sees scores and what went wrong.",
            *("run", _runs, "runs"),
        ),
        Stop(
            "Studies compare recipes on a split, with statistics that hold; admins of a project start one.",
            "studies",
        ),
    ),
}


def stop(request: HttpRequest) -> dict[str, Any] | None:
    """What the banner of a tour shows on this page; None without a tour."""
    name, _, number = request.GET.get("tour", "").partition("-")
    stops, place = TOURS.get(name, ()), whole(number) or 0
    if not request.user.is_authenticated or not 1 <= place <= len(stops):
        return None
    return {
        "name": name,
        "number": place,
        "count": len(stops),
        "text": stops[place - 1].text,
        "before": _address(request, name, place - 1),
        "after": _address(request, name, place + 1),
    }


def _address(request: HttpRequest, name: str, place: int) -> str:
    """The address of a stop's page; "" before the first stop and after the last."""
    if not 1 <= place <= len(TOURS[name]):
        return ""
    return f"{TOURS[name][place - 1].url(request.user)}?tour={name}-{place}"
