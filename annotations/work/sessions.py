"""Sessions being organised: which tasks lie in which, changed one action at a time, each with what undoes it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from annotations.models import (
    Assignment,
    Campaign,
    Conversation,
    Item,
    Proposal,
    Session,
    SessionTask,
    Step,
    Turn,
)
from annotations.models.campaigns import next_position
from annotations.work import organising

Layout = dict[int, list[int]]  # session -> its tasks (conversations of the source) in order


class Refused(ValueError):
    """A change that the rules do not allow; the message says which and why."""


@dataclass
class Change:
    """What an action did: a sentence, the sessions and proposals it touched, and the action that takes it back."""

    said: str
    sessions: list[int]
    proposals: list[int]
    undo: dict[str, Any]


def act(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    """Do one action on the sessions of a campaign, all of it or nothing.

    {"do": "new", "tasks": […]}, {"do": "move", "tasks": […], "session": id, "at": index or null},
    {"do": "remove", "tasks": […]} (they are leftovers then), {"do": "split", "session": id, "at": index},
    {"do": "delete", "session": id}, {"do": "accept" or "reject", "proposals": […]}, {"do": "each", "tasks": […]} (a
    session of its own for each), and {"do": "set", "sessions": [[id, tasks], …], "proposals": [[id, outcome], …]},
    which is what undoes the others. Raises `Refused`; ValueError, KeyError or TypeError for no action.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)  # one change at a time
        return ACTIONS[action["do"]](campaign, user, action)


def suggest(
    campaign: Campaign,
    vectors: organising.Vectors | None = None,
    model_name: str = "tf-idf",
    rules: organising.Rules | None = None,
) -> int:
    """Propose sessions of the leftovers in place of the proposals not decided yet; how many were made."""
    found = organising.suggest(source_tasks(leftovers(campaign)), vectors, rules)
    with transaction.atomic():
        open_proposals(campaign).delete()
        Proposal.objects.bulk_create(
            Proposal(
                campaign=campaign, kind=Proposal.Kind.SESSIONS, model_name=model_name,
                content={"tasks": list(one.tasks), "why": one.why, "score": one.score},
            )
            for one in found
        )  # fmt: skip
    return len(found)


def open_proposals(campaign: Campaign) -> QuerySet[Proposal]:
    return campaign.proposals.filter(kind=Proposal.Kind.SESSIONS, outcome=Proposal.Outcome.OPEN)


def leftovers(campaign: Campaign) -> QuerySet[Conversation]:
    """Tasks of the source dataset that lie in no live session, in its order."""
    placed = SessionTask.objects.filter(campaign=campaign, session__deleted_at=None).values("conversation")
    return campaign.source.conversations.exclude(pk__in=placed).order_by("position", "pk")


def source_tasks(conversations: QuerySet[Conversation]) -> list[organising.Task]:
    """Conversations as the proposer wants them: instructions of all turns, and what their steps type or choose."""
    steps = Step.objects.exclude(value="").order_by("index").only("value", "turn_id")
    turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
    rows = conversations.select_related("website").prefetch_related(Prefetch("turns", queryset=turns))
    return [
        organising.Task(
            row.pk, place, row.split, row.website.name, " ".join(turn.instruction for turn in row.turns.all()),
            tuple(dict.fromkeys(step.value for turn in row.turns.all() for step in turn.steps.all())),
        )
        for place, row in enumerate(rows)
    ]  # fmt: skip


def begun(campaign: Campaign) -> set[int]:
    """Sessions that somebody has work on: their tasks are fixed."""
    active = Assignment.objects.active().filter(item__session__campaign=campaign)
    return set(active.values_list("item__session_id", flat=True))


# Actions ---------------------------------------------------------------------------------------------------------


def _new(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    tasks = _tasks(action)
    session = _make(campaign, user, tasks[0])
    return _write(campaign, {session.pk: tasks}, f"Made {session} of {_counted(len(tasks))}.")


def _each(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    wanted = {_make(campaign, user, task).pk: [task] for task in _tasks(action)}
    return _write(campaign, wanted, f"Made {len(wanted)} session{'' if len(wanted) == 1 else 's'} of one task each.")


def _move(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    tasks, session = _tasks(action), _session(campaign, action)
    now = _now(session)
    at = len(now) if action.get("at") is None else int(action["at"])
    before = [task for task in now[:at] if task not in tasks]
    after = [task for task in now[at:] if task not in tasks]
    return _write(campaign, {session.pk: before + tasks + after}, f"Moved {_counted(len(tasks))} to {session}.")


def _remove(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    tasks = _tasks(action)
    held = Session.objects.live().filter(campaign=campaign, tasks__conversation__in=tasks).distinct()
    wanted = {session.pk: [task for task in _now(session) if task not in tasks] for session in held}
    return _write(campaign, wanted, f"Took {_counted(len(tasks))} out.")


def _split(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    session, at = _session(campaign, action), int(action["at"])
    tasks = _now(session)
    if not 0 < at < len(tasks):
        raise Refused("A session is split before its second task or a later one.")
    other = _make(campaign, user, tasks[at])
    # The same place: the newer of two sessions at one place comes second.
    Session.objects.filter(pk=other.pk).update(position=session.position)
    return _write(campaign, {session.pk: tasks[:at], other.pk: tasks[at:]}, f"Split {session}: the rest is {other}.")


def _delete(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    session = _session(campaign, action)
    return _write(campaign, {session.pk: []}, f"Put {session} into the bin: its tasks are leftovers.")


def _accept(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    """Make the sessions of proposals; those whose tasks have been used meanwhile are passed over if others remain."""
    free = set(leftovers(campaign).values_list("pk", flat=True))
    chosen = list(open_proposals(campaign).filter(pk__in=action["proposals"]).order_by("pk"))
    usable = [proposal for proposal in chosen if free.issuperset(proposal.content["tasks"])]
    if not usable:
        raise Refused("Its tasks have been put elsewhere meanwhile." if chosen else "The proposal is decided already.")
    wanted = {}
    for proposal in usable:
        session = _make(campaign, user, proposal.content["tasks"][0], why=proposal.content["why"])
        wanted[session.pk] = proposal.content["tasks"]
        proposal.session = session
        proposal.save(update_fields=["session"])
    change = _write(campaign, wanted, f"Made {len(usable)} session{'' if len(usable) == 1 else 's'} as proposed.")
    return _decide(change, usable, Proposal.Outcome.UNCHANGED)


def _reject(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    chosen = list(open_proposals(campaign).filter(pk__in=action["proposals"]))
    if not chosen:
        raise Refused("The proposal is decided already.")
    said = f"Rejected {len(chosen)} proposal{'' if len(chosen) == 1 else 's'}."
    return _decide(Change(said, [], [], {"do": "set", "sessions": []}), chosen, Proposal.Outcome.REJECTED)


def _set(campaign: Campaign, user: Any, action: dict[str, Any]) -> Change:
    """Sessions and proposals as they were; Refused where tasks have gone into other sessions since."""
    wanted = {int(pk): [int(task) for task in tasks] for pk, tasks in action["sessions"]}
    for task in SessionTask.objects.filter(
        campaign=campaign, session__deleted_at=None, conversation__in={t for tasks in wanted.values() for t in tasks}
    ).exclude(session__in=wanted).select_related("session"):  # fmt: skip
        raise Refused(f"It cannot be undone: a task lies in {task.session} since.")
    change = _write(campaign, wanted, "Undone.")
    for pk, outcome in action.get("proposals", []):
        decided = None if outcome == Proposal.Outcome.OPEN else timezone.now()
        campaign.proposals.filter(pk=int(pk)).update(outcome=Proposal.Outcome(outcome), decided_at=decided)
        change.proposals.append(int(pk))
    return change


ACTIONS: dict[str, Callable[[Campaign, Any, dict[str, Any]], Change]] = {
    "new": _new, "each": _each, "move": _move, "remove": _remove, "split": _split, "delete": _delete,
    "accept": _accept, "reject": _reject, "set": _set,
}  # fmt: skip


def _write(campaign: Campaign, wanted: Layout, said: str) -> Change:
    """Give sessions their tasks. Sessions that lose tasks by it are changed too; empty ones go into the bin."""
    moving = {task for tasks in wanted.values() for task in tasks}
    known = set(campaign.source.conversations.filter(pk__in=moving).values_list("pk", flat=True))
    if moving - known:
        raise Refused("A task is no longer in the source dataset.")
    losing = Session.objects.live().filter(campaign=campaign, tasks__conversation__in=moving).exclude(pk__in=wanted)
    for session in losing.distinct():
        wanted[session.pk] = [task for task in _now(session) if task not in moving]
    sessions = {session.pk: session for session in campaign.sessions.filter(pk__in=wanted)}
    if set(wanted) - set(sessions):
        raise Refused("A session of it is no longer there.")
    before = {pk: _now(session) for pk, session in sessions.items()}
    changed = [pk for pk in wanted if wanted[pk] != before[pk]]
    _check_not_begun(campaign, [sessions[pk] for pk in changed])
    for pk in changed:
        _check_together(sessions[pk], wanted[pk])
    for pk in changed:
        _store(sessions[pk], wanted[pk])
    undo = {"do": "set", "sessions": [[pk, before[pk]] for pk in changed]}
    return Change(said, changed, [], undo)


def _store(session: Session, tasks: list[int]) -> None:
    """An emptied session goes into the bin with the places of its tasks, so that it can be restored."""
    if not tasks:
        Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now())
        return
    session.tasks.exclude(conversation__in=tasks).delete()
    for position, task in enumerate(tasks):
        place = {"session": session, "position": position}
        SessionTask.objects.update_or_create(campaign_id=session.campaign_id, conversation_id=task, defaults=place)
    if session.deleted_at:
        Session.objects.filter(pk=session.pk).update(deleted_at=None)


def _check_not_begun(campaign: Campaign, sessions: Iterable[Session]) -> None:
    # Locked, so that nobody claims an item of a session while its tasks change.
    list(Item.objects.select_for_update().filter(session__in=sessions).order_by("pk"))
    at_work = begun(campaign)
    for session in sessions:
        if session.pk in at_work:
            raise Refused(f"Work on {session} has begun: its tasks are fixed.")


def _check_together(session: Session, tasks: Sequence[int]) -> None:
    """Tasks of one split and one website, those of the session; a session without a task before takes over theirs."""
    rows = Conversation.objects.filter(pk__in=tasks).select_related("website")
    if len(rows) != len(tasks):
        raise Refused("A task is named twice.")
    splits, sites = {row.split for row in rows}, {row.website.name for row in rows}
    if len(splits) > 1:
        raise Refused(f"A session lies in one split, and these tasks are of {' and '.join(sorted(splits))}.")
    if len(sites) > 1:
        raise Refused(f"A session stays on one website, and these tasks are of {' and '.join(sorted(sites))}.")
    if rows and (rows[0].split, rows[0].website_id) != (session.split, session.website_id):
        Session.objects.filter(pk=session.pk).update(split=rows[0].split, website=rows[0].website)


def _make(campaign: Campaign, user: Any, first: int, why: str = "") -> Session:
    """A session, still empty, for tasks like this one."""
    task = campaign.source.conversations.select_related("website").filter(pk=first).first()
    if task is None:
        raise Refused("A task is no longer in the source dataset.")
    stem = slugify(task.website.name) or "session"
    number = campaign.sessions.filter(name__startswith=f"{stem}-").count() + 1
    while campaign.sessions.filter(name=f"{stem}-{number:03d}").exists():
        number += 1
    return Session.objects.create(
        campaign=campaign, name=f"{stem}-{number:03d}", position=next_position(campaign), website=task.website,
        split=task.split, why=why, created_by=user,
    )  # fmt: skip


def _decide(change: Change, proposals: list[Proposal], outcome: str) -> Change:
    keys = [proposal.pk for proposal in proposals]
    Proposal.objects.filter(pk__in=keys).update(outcome=outcome, decided_at=timezone.now())
    change.proposals = keys
    change.undo["proposals"] = [[pk, ""] for pk in keys]
    return change


def _session(campaign: Campaign, action: dict[str, Any]) -> Session:
    found = campaign.sessions.live().filter(pk=int(action["session"])).first()
    if found is None:
        raise Refused("The session is no longer there.")
    return found


def _tasks(action: dict[str, Any]) -> list[int]:
    tasks = [int(task) for task in action["tasks"]]
    if not tasks:
        raise Refused("Mark tasks first.")
    return tasks


def _now(session: Session) -> list[int]:
    """The session's tasks in order; none while it is in the bin."""
    if session.deleted_at:
        return []
    return list(session.tasks.order_by("position").values_list("conversation_id", flat=True))


def _counted(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"
