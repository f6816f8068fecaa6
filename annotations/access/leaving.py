"""What follows when somebody loses a right: open sockets check again at once, and the unfinished work of who leaves a
project goes to others."""

import logging

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from annotations.models import Assignment, Invite, Membership

logger = logging.getLogger(__name__)


def sockets_of(user_id: int) -> str:
    """The group of all open sockets of a person."""
    return f"user.{user_id}"


def look_again(user_id: int) -> None:
    """Have the open sockets of this person check after the transaction whether they may still be open. Where the
    message is lost, they do so by themselves within a minute."""
    transaction.on_commit(lambda: _tell(sockets_of(user_id)))


def _tell(group: str) -> None:
    layer = get_channel_layer()
    assert layer is not None  # the settings name one
    try:
        async_to_sync(layer.group_send)(group, {"type": "look_again"})
    except (redis.RedisError, OSError) as error:
        logger.warning("could not tell the sockets of %s: %s", group, error)


def end_reset_links(user_id: int) -> None:
    """Delete the open one-time links of this person, so that whoever holds one cannot reset the password that has just
    been set."""
    Invite.objects.filter(user=user_id, used_at=None).delete()


@transaction.atomic
def remove_member(member: Membership) -> int:
    """End a membership. What they made stays; what they had not finished goes back to the queue: how many items."""
    theirs = Assignment.objects.filter(user=member.user, item__session__campaign__project=member.project)
    rows = list(theirs.unfinished().lock())
    for row in rows:
        row.free_place()
    member.delete()
    return len(rows)
