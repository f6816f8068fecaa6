"""What waits for a person: what was returned to them, and what each open campaign has for them to do."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from annotations.access import rules
from annotations.models import Assignment, Campaign, Dispute, Item, Stage
from annotations.models.accounts.projects import Account
from annotations.models.work.disputes import DisputeQuerySet
from annotations.models.work.queue import FEWEST_FOR_PACE, AssignmentQuerySet, ItemQuerySet
from annotations.shown_progress import span_text

# What waits for verification holds up what is done already, so it comes first.
STAGES = (Stage.VERIFY, Stage.REWRITE, Stage.DECOMPOSE)
MOST = 100  # items of an open pool that are counted


@dataclass(frozen=True)
class Waiting:
    """How much work of one stage of a campaign a person could do now."""

    campaign: Campaign
    stage: Stage
    own: int  # they have it already
    free: int  # they would get it by asking; at most MOST are counted
    pace: float | None  # seconds that one takes them; None before they have handed in a few
    returned: int = 0  # sent back to them beside these: it comes first

    @property
    def count(self) -> int:
        return self.own + self.free

    @property
    def is_more(self) -> bool:
        """Whether `free` reached the most that is counted, so that there may be more."""
        return self.free == MOST

    @property
    def seconds(self) -> float | None:
        return self.pace and self.pace * self.count

    @property
    def says_pace(self) -> str:
        """ "your pace: 6 min each, about 1 h 20 min in all"; before it is known, when it will be."""
        if self.pace is None or self.seconds is None:
            return f"your pace: known once you have handed in {FEWEST_FOR_PACE}"
        return f"your pace: {span_text(self.pace)} each, about {span_text(self.seconds)} in all"


def campaigns(user: Account) -> list[Campaign]:
    """The open campaigns that this person may see."""
    return list(rules.visible(user, Campaign.objects.live().filter(closed_at=None).select_related("project")))


def places(user: Account, among: list[Campaign]) -> list[tuple[Campaign, Stage]]:
    """Each of these campaigns with every stage in which this person may work; stages that hold others up come first."""
    able = {
        ability: set(rules.projects(user, ability).values_list("pk", flat=True))
        for ability in {stage.ability for stage in Stage}
    }
    return [(c, stage) for c in among for stage in STAGES if c.project_id in able[stage.ability]]


def mine(user: Account) -> AssignmentQuerySet:
    """This person's unfinished assignments that can be worked on, most needed first."""
    own = rules.visible(user, Assignment.objects.filter(user=user))
    open_ones = own.filter(item__session__campaign__deleted_at=None, item__session__campaign__closed_at=None)
    return open_ones.workable().in_order_of_need().select_related("item__session__campaign", "item__session__website")


def returned(user: Account) -> QuerySet[Assignment, Any]:
    return mine(user).filter(review=Assignment.Reviewed.RETURNED)


def waiting(user: Account) -> list[Waiting]:
    """The campaigns and stages in which this person has something to do; work returned to them is not counted."""
    rows = mine(user).order_by().values_list("item__session__campaign", "item__stage", "review")
    own, back = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for campaign, of_stage, review, count in rows.annotate(n=Count("pk")):
        (back if review == Assignment.Reviewed.RETURNED else own)[campaign, of_stage] += count
    found = []
    for one, stage in places(user, campaigns(user)):
        pace = Assignment.objects.pace(user, one, stage)
        key = one.pk, str(stage)
        found.append(Waiting(one, stage, own[key], _free(user, one, stage), pace, back[key]))
    return [one for one in found if one.count]


def disputes(user: Account) -> DisputeQuerySet:
    """Disputes between verifiers in projects where this person verifies, and of which they may see the gold."""
    project = "assignment__item__session__campaign__project"
    rows = Dispute.objects.live().filter(**{f"{project}__in": rules.projects(user, "review").values("pk")})
    return rules.gold_filter(user, rows, "assignment__item__session__split", project)


def with_versions(user: Account) -> ItemQuerySet:
    """Items of which this person could make one version of two: in projects where they verify, of which they may see
    the gold, and without a version of their own."""
    project = "session__campaign__project"
    rows = Item.objects.with_versions().filter(**{f"{project}__in": rules.projects(user, "review").values("pk")})
    seen = rules.gold_filter(user, rows, "session__split", project).not_of(user)
    return seen.select_related("session__campaign").prefetch_related("assignments__user")


def _free(user: Account, campaign: Campaign, stage: Stage) -> int:
    if campaign.mode != Campaign.Mode.OPEN or Assignment.objects.are_capped(user, campaign, stage):
        return 0
    return Item.objects.free_for(user, campaign, stage).order_by()[:MOST].count()
