"""Why the queue is empty, in one exact sentence."""

from django.utils import timezone

from annotations.models import Assignment, Campaign, Item, Stage
from annotations.models.accounts.projects import Account
from annotations.models.work.queue import ItemQuerySet
from annotations.text.amounts import amount


def why_nothing(user: Account, campaign: Campaign, stage: str) -> str:
    """Why this person gets no item of this stage, as a sentence."""
    project, word, ability = campaign.project, Stage(stage).label, Stage(stage).ability
    if campaign.deleted_at:
        return f"{campaign} is in the bin."
    if campaign.closed_at:
        return f"{campaign} was closed on {campaign.closed_at:%-d %B %Y}."
    if not project.lets(user, ability):
        return f"Your role in {project} may not {ability}; ask one of its admins."
    if not campaign.sessions.live().exists():
        return f"{campaign} has no sessions yet: they are made on its Organise page."
    items = Item.objects.to_do(campaign, stage)
    if not items.exists():
        return _why_none_opened(stage)
    if Assignment.objects.are_capped(user, campaign, stage):
        return f"You have had {amount(campaign.cap, 'item')} to {word}, the most that one person gets in {campaign}."
    left = items.filter(state=Item.State.OPEN)
    if not left.exists():
        return f"Nothing is left to {word}: {amount(items.count(), 'item')} so far, all done."
    if campaign.mode == Campaign.Mode.ASSIGNED:
        return f"{campaign} gives work to people by name, and nothing is assigned to you to {word}."
    return _why_none_of(left, user, campaign, stage)


def _why_none_opened(stage: str) -> str:
    return {
        Stage.DECOMPOSE: "The sessions are not open for work yet: that is done on the campaign's Organise page.",
        Stage.REWRITE: "Rewriting begins when the first decomposition is submitted; none is yet.",
        Stage.VERIFY: "Verifying begins when the first rewrite is submitted; none waits for it now.",
    }[Stage(stage)]


def _why_none_of(left: ItemQuerySet, user: Account, campaign: Campaign, stage: str) -> str:
    """Why none of the items left in an open pool is for this person."""
    seen = left.seen_by(user, campaign.project)
    if not seen.exists():
        return f"{_left(left, stage)}, all of test splits, whose gold actions you may not see."
    others = seen.not_of(user)
    if not others.exists():
        own = "rewrites of your own" if stage == Stage.VERIFY else "of which you have had your part"
        return f"{_left(seen, stage)}, {own}: other people's work."
    holders = Assignment.objects.filter(item__in=others.order_by()).unfinished()
    people = holders.order_by().values("user").distinct().count()
    first = holders.leased().order_by("lease_until").first()
    until = (
        f"the next lease runs out at {timezone.localtime(first.lease_until):%H:%M:%S} unless its holder goes on"
        if first
        else "nobody is at work on them right now"
    )
    return f"{_left(others, stage)}, held by {amount(people, 'person', 'people')}; {until}."


def _left(items: ItemQuerySet, stage: str) -> str:
    return f"Left to {Stage(stage).label}: {amount(items.count(), 'item')}"
