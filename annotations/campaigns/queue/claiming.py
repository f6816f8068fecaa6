"""Handing out work: who gets which item next. Each place is given once, however many people ask at the same time."""

from django.db import transaction

from annotations.models import Assignment, Campaign, Item, Stage
from annotations.models.accounts.projects import Account


def next_item(user: Account, campaign: Campaign, stage: str) -> Assignment | None:
    """What this person should do next: their returned work, then what they have begun, then what is assigned to them;
    in an open pool else a free item, or one whose holder's lease ran out. `why_nothing` explains None.

    A new item comes with a lease; the rest gets one by `take`.
    """
    if not campaign.is_open or not campaign.project.lets(user, Stage(stage).ability):
        return None
    # Items that others lock are passed over first; then waited for, as a locked one may have places left.
    for skip_locked in (True, False):
        tried: list[int] = []
        while True:
            with transaction.atomic():  # one attempt each: locks of items that turned out full are let go
                campaign.take_turns(user)
                if (own := Assignment.objects.next_of(user, campaign, stage)) is not None:
                    return own
                if campaign.mode != Campaign.Mode.OPEN or Assignment.objects.are_capped(user, campaign, stage):
                    return None
                free = (
                    Item.objects.free_for(user, campaign, stage)
                    .exclude(pk__in=tried)
                    .select_related("session__campaign")
                )
                item = free.select_for_update(skip_locked=skip_locked, of=("self",)).first()
                if item is None:
                    break
                if (slot := item.free_slot()) is not None:
                    return item.hand(user, slot).lease(user)
                tried.append(item.pk)
    return _abandoned(user, campaign, stage)


@transaction.atomic
def _abandoned(user: Account, campaign: Campaign, stage: str) -> Assignment | None:
    campaign.take_turns(user)
    items = Item.objects.to_do(campaign, stage).not_of(user).seen_by(user, campaign.project)
    left = Assignment.objects.filter(item__in=items.order_by()).left_behind()
    found = left.select_for_update(skip_locked=True, of=("self",)).first()
    return None if found is None else found.lease(user)
