"""Tours for newcomers: five stops over real pages for each kind of work, `?tour=annotator-2` is the second of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from agents.models import Run, Trajectory
from annotations.access import rules
from annotations.access.rules import User
from annotations.models import Campaign, Conversation, Dataset
from evaluation.models import Study


@dataclass(frozen=True)
class Stop:
    """One page and what to look at on it. `first`: the rows of which the page shows the newest; without one,
    `instead` is shown."""

    text: str
    route: str
    first: Callable[[], Any] | None = None
    instead: str = ""
    field: str = "pk"

    def url(self, user: User) -> str:
        if self.first is None:
            return reverse(self.route)
        found: Model | None = rules.visible(user, self.first()).order_by("-pk").first()
        return reverse(self.route, args=[getattr(found, self.field)]) if found else reverse(self.instead)


HOME = "What waits for you, what is running and what the last study found. A card's key starts its work."
TOURS: dict[str, tuple[Stop, ...]] = {
    "annotator": (
        Stop(HOME, "home"),
        Stop("What you hold and what you handed in; n gets the next item.", "annotate-queue"),
        Stop(
            "Every campaign has guidelines; the workbench shows them beside the page, and says when they change.",
            *("annotate-guidelines", Campaign.objects.live, "annotate-campaigns"),
        ),
        Stop(
            "What annotators make: a conversation, its turns, and the recorded steps that each of them asks for.",
            *("conversation", Conversation.objects.all, "datasets"),
        ),
        Stop("Everything has a key: ? shows those of a page, and here they are changed.", "keys"),
    ),
    "reviewer": (
        Stop(HOME, "home"),
        Stop("Verifying comes before everything else, as it holds up what others have done.", "annotate-queue"),
        Stop(
            "How far a campaign is: per stage, person and batch, with what the checks found.",
            *("annotate-campaign", Campaign.objects.live, "annotate-campaigns"),
        ),
        Stop(
            "What an agent saw, considered and did, step by step: the arrow keys go from step to step.",
            *("trajectory", Trajectory.objects.all, "runs"),
        ),
        Stop("Where a study fails, by reason and website.", "study-failures", Study.objects.all, "studies"),
    ),
    "researcher": (
        Stop(HOME, "home"),
        Stop(
            "A dataset: its splits, statistics, releases, and exports in every published format.",
            *("dataset", Dataset.objects.all, "datasets", "name"),
        ),
        Stop("The published agents as recipes: eight stages with settings. Derive one to try a mixture.", "recipes"),
        Stop(
            "A run: its scores with intervals, every conversation, and where each of them went wrong.",
            *("run", Run.objects.all, "runs"),
        ),
        Stop("Studies compare recipes on a split, with statistics that hold. New study starts one.", "studies"),
    ),
}


def stop(request: HttpRequest) -> dict[str, Any] | None:
    """What the banner of a tour shows on this page; None without a tour."""
    name, _, number = request.GET.get("tour", "").partition("-")
    stops, place = TOURS.get(name, ()), int(number) if number.isdecimal() else 0
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
    """The page of a stop; "" before the first and after the last."""
    if not 1 <= place <= len(TOURS[name]):
        return ""
    return f"{TOURS[name][place - 1].url(request.user)}?tour={name}-{place}"
