"""Sessions being organised: which tasks lie in which, changed one action at a time, each with what undoes it."""

from collections.abc import Callable
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
from annotations.text.tfidf import Vectorise
from annotations.work.organise import grouping

Layout = dict[int, list[int]]  # session -> its tasks (conversations of the source) in order


class ChangeRefused(ValueError):
    """A change that the rules do not allow; the message says which and why."""


@dataclass
class SessionChange:
    """What an action did: a sentence, the sessions and proposals it touched, and the action that takes it back."""

    said: str
    sessions: list[int]
    proposals: list[int]
    undo: dict[str, Any]


class Organising:
    """The sessions of a campaign, being changed by a person."""

    def __init__(self, campaign: Campaign, user: Any) -> None:
        self.campaign, self.user = campaign, user

    def change(self, action: dict[str, Any]) -> SessionChange:
        """Do one action, all of it or nothing.

        {"do": "new", "tasks": […]}, {"do": "move", "tasks": […], "session": id, "at": index or null},
        {"do": "remove", "tasks": […]} (they are leftovers then), {"do": "split", "session": id, "at": index},
        {"do": "delete", "session": id}, {"do": "accept" or "reject", "proposals": […]}, {"do": "each", "tasks": […]} (a
        session of its own for each), and {"do": "set", "sessions": [[id, tasks], …], "proposals": [[id, outcome], …]},
        which is what undoes the others. Raises `ChangeRefused`; ValueError, KeyError or TypeError for no action.
        """
        with transaction.atomic():
            Campaign.objects.select_for_update().get(pk=self.campaign.pk)  # one change at a time
            return ACTIONS[action["do"]](self, action)

    def _new(self, action: dict[str, Any]) -> SessionChange:
        tasks = _tasks(action)
        (session,) = self._make([(tasks[0], "")])
        return self._write({session.pk: tasks}, f"Made {session} of {_counted(len(tasks))}.")

    def _each(self, action: dict[str, Any]) -> SessionChange:
        tasks = list(dict.fromkeys(_tasks(action)))
        made = self._make([(task, "") for task in tasks])
        wanted = {session.pk: [task] for session, task in zip(made, tasks, strict=True)}
        return self._write(wanted, f"Made {len(wanted)} session{'' if len(wanted) == 1 else 's'} of one task each.")

    def _move(self, action: dict[str, Any]) -> SessionChange:
        tasks, session = _tasks(action), self._session(action)
        now = session.task_keys()
        at = len(now) if action.get("at") is None else int(action["at"])
        before = [task for task in now[:at] if task not in tasks]
        after = [task for task in now[at:] if task not in tasks]
        return self._write({session.pk: before + tasks + after}, f"Moved {_counted(len(tasks))} to {session}.")

    def _remove(self, action: dict[str, Any]) -> SessionChange:
        tasks = _tasks(action)
        held = Session.objects.live().filter(campaign=self.campaign, tasks__conversation__in=tasks).distinct()
        wanted = {session.pk: [task for task in session.task_keys() if task not in tasks] for session in held}
        return self._write(wanted, f"Took {_counted(len(tasks))} out.")

    def _split(self, action: dict[str, Any]) -> SessionChange:
        session, at = self._session(action), int(action["at"])
        tasks = session.task_keys()
        if not 0 < at < len(tasks):
            raise ChangeRefused("A session is split before its second task or a later one.")
        (other,) = self._make([(tasks[at], "")])
        # The same place: the newer of two sessions at one place comes second.
        Session.objects.filter(pk=other.pk).update(position=session.position)
        return self._write({session.pk: tasks[:at], other.pk: tasks[at:]}, f"Split {session}: the rest is {other}.")

    def _delete(self, action: dict[str, Any]) -> SessionChange:
        session = self._session(action)
        return self._write({session.pk: []}, f"Put {session} into the bin: its tasks are leftovers.")

    def _accept(self, action: dict[str, Any]) -> SessionChange:
        """Make the sessions of proposals; of several, those whose tasks have been used meanwhile are passed over."""
        free = set(SessionTask.objects.leftovers(self.campaign).values_list("pk", flat=True))
        chosen = list(self.campaign.proposals.of_sessions().filter(pk__in=action["proposals"]).order_by("pk"))
        usable = [proposal for proposal in chosen if free.issuperset(proposal.content["tasks"])]
        if not usable:
            raise ChangeRefused(
                "Its tasks have been put elsewhere meanwhile." if chosen else "The proposal is decided already."
            )
        made = self._make([(proposal.content["tasks"][0], proposal.content["why"]) for proposal in usable])
        for proposal, session in zip(usable, made, strict=True):
            proposal.session = session
        Proposal.objects.bulk_update(usable, ["session"])
        wanted = {session.pk: proposal.content["tasks"] for proposal, session in zip(usable, made, strict=True)}
        change = self._write(wanted, f"Made {len(usable)} session{'' if len(usable) == 1 else 's'} as proposed.")
        return _decide(change, usable, Proposal.Outcome.UNCHANGED)

    def _reject(self, action: dict[str, Any]) -> SessionChange:
        chosen = list(self.campaign.proposals.of_sessions().filter(pk__in=action["proposals"]))
        if not chosen:
            raise ChangeRefused("The proposal is decided already.")
        said = f"Rejected {len(chosen)} proposal{'' if len(chosen) == 1 else 's'}."
        return _decide(SessionChange(said, [], [], {"do": "set", "sessions": []}), chosen, Proposal.Outcome.REJECTED)

    def _set(self, action: dict[str, Any]) -> SessionChange:
        """Sessions and proposals as they were; ChangeRefused where tasks have gone into other sessions since."""
        wanted = {int(pk): [int(task) for task in tasks] for pk, tasks in action["sessions"]}
        for task in (
            SessionTask.objects.filter(
                campaign=self.campaign,
                session__deleted_at=None,
                conversation__in={t for tasks in wanted.values() for t in tasks},
            )
            .exclude(session__in=wanted)
            .select_related("session")
        ):
            raise ChangeRefused(f"It cannot be undone: a task lies in {task.session} since.")
        change = self._write(wanted, "Undone.")
        for pk, outcome in action.get("proposals", []):
            decided = None if outcome == Proposal.Outcome.OPEN else timezone.now()
            self.campaign.proposals.filter(pk=int(pk)).update(outcome=Proposal.Outcome(outcome), decided_at=decided)
            change.proposals.append(int(pk))
        return change

    def _write(self, wanted: Layout, said: str) -> SessionChange:
        """Give sessions their tasks. Sessions that lose tasks by it are changed too; empty ones go into the bin."""
        moving = {task for tasks in wanted.values() for task in tasks}
        if len(moving) != sum(map(len, wanted.values())):
            raise ChangeRefused("A task is named twice.")
        losing = (
            Session.objects.live().filter(campaign=self.campaign, tasks__conversation__in=moving).exclude(pk__in=wanted)
        )
        for pk, tasks in SessionTask.objects.layout(losing.distinct()).items():
            wanted[pk] = [task for task in tasks if task not in moving]
        sessions = {session.pk: session for session in self.campaign.sessions.filter(pk__in=wanted)}
        if set(wanted) - set(sessions):
            raise ChangeRefused("A session of it is no longer there.")
        before = SessionTask.objects.layout(sessions.values())
        changed = {pk: tasks for pk, tasks in wanted.items() if tasks != before[pk]}
        self._check_not_begun([sessions[pk] for pk in changed])
        self._check_together([(sessions[pk], tasks) for pk, tasks in changed.items()])
        self._store(changed)
        undo = {"do": "set", "sessions": [[pk, before[pk]] for pk in changed]}
        return SessionChange(said, list(changed), [], undo)

    def _store(self, wanted: Layout) -> None:
        """An emptied session goes into the bin with the places of its tasks, so that it can be restored."""
        filled = [pk for pk, tasks in wanted.items() if tasks]
        places = {task: (pk, position) for pk, tasks in wanted.items() for position, task in enumerate(tasks)}
        SessionTask.objects.filter(session__in=filled).exclude(conversation__in=places).delete()
        known = list(SessionTask.objects.filter(campaign=self.campaign, conversation__in=places))
        for row in known:
            row.session_id, row.position = places[row.conversation_id]
        SessionTask.objects.bulk_update(known, ["session", "position"])
        SessionTask.objects.bulk_create(
            SessionTask(
                campaign=self.campaign, conversation_id=task, session_id=places[task][0], position=places[task][1]
            )
            for task in places.keys() - {row.conversation_id for row in known}
        )
        Session.objects.filter(pk__in=wanted.keys() - set(filled)).put_into_bin()
        Session.objects.filter(pk__in=filled).take_out_of_bin()

    def _check_not_begun(self, sessions: list[Session]) -> None:
        def check() -> None:
            at_work = Assignment.objects.begun_sessions(self.campaign)
            for session in sessions:
                if session.pk in at_work:
                    raise ChangeRefused(f"Work on {session} has begun: its tasks are fixed.")

        check()
        # Locked, so that nobody claims an item of a session while its tasks change; then looked at again.
        list(Item.objects.select_for_update().filter(session__in=sessions).order_by("pk"))
        check()

    def _check_together(self, wanted: list[tuple[Session, list[int]]]) -> None:
        """Tasks of one split and one website per session; a session takes over theirs."""
        moving = [task for _, tasks in wanted for task in tasks]
        rows = {
            row.pk: row for row in self.campaign.source.conversations.filter(pk__in=moving).select_related("website")
        }
        if len(rows) != len(moving):
            raise ChangeRefused("A task is no longer in the source dataset.")
        for session, tasks in wanted:
            splits = {rows[task].split for task in tasks}
            sites = {rows[task].website.name for task in tasks}
            if len(splits) > 1:
                raise ChangeRefused(
                    f"A session lies in one split, and these tasks are of {' and '.join(sorted(splits))}."
                )
            if len(sites) > 1:
                raise ChangeRefused(
                    f"A session stays on one website, and these tasks are of {' and '.join(sorted(sites))}."
                )
            if tasks and (rows[tasks[0]].split, rows[tasks[0]].website_id) != (session.split, session.website_id):
                first = rows[tasks[0]]
                Session.objects.filter(pk=session.pk).update(split=first.split, website=first.website)

    def _make(self, wanted: list[tuple[int, str]]) -> list[Session]:
        """Sessions, still empty, for tasks like these: (first task, what the proposal saw in common)."""
        keys = [task for task, _ in wanted]
        firsts = {
            row.pk: row for row in self.campaign.source.conversations.filter(pk__in=keys).select_related("website")
        }
        if set(keys) - set(firsts):
            raise ChangeRefused("A task is no longer in the source dataset.")
        taken = set(self.campaign.sessions.values_list("name", flat=True))
        position = self.campaign.next_position()
        made = []
        for number, (task, why) in enumerate(wanted):
            name = _free_name(firsts[task].website.name, taken)
            taken.add(name)
            made.append(
                Session(
                    campaign=self.campaign,
                    name=name,
                    position=position + number,
                    website=firsts[task].website,
                    split=firsts[task].split,
                    why=why,
                    created_by=self.user,
                )
            )
        return Session.objects.bulk_create(made)

    def _session(self, action: dict[str, Any]) -> Session:
        found = self.campaign.sessions.live().filter(pk=int(action["session"])).first()
        if found is None:
            raise ChangeRefused("The session is no longer there.")
        return found


ACTIONS: dict[str, Callable[[Organising, dict[str, Any]], SessionChange]] = {
    "new": Organising._new,
    "each": Organising._each,
    "move": Organising._move,
    "remove": Organising._remove,
    "split": Organising._split,
    "delete": Organising._delete,
    "accept": Organising._accept,
    "reject": Organising._reject,
    "set": Organising._set,
}


def suggest(
    campaign: Campaign,
    vectors: Vectorise | None = None,
    model_name: str = "tf-idf",
    rules: grouping.Rules | None = None,
) -> int:
    """Propose sessions of the leftovers in place of the proposals not decided yet; how many were made."""
    found = grouping.suggest(source_tasks(SessionTask.objects.leftovers(campaign)), vectors, rules)
    with transaction.atomic():
        campaign.proposals.of_sessions().delete()
        Proposal.objects.bulk_create(
            Proposal(
                campaign=campaign,
                kind=Proposal.Kind.SESSIONS,
                model_name=model_name,
                content={"tasks": list(one.tasks), "why": one.why, "score": one.score},
            )
            for one in found
        )
    return len(found)


def source_tasks(conversations: QuerySet[Conversation]) -> list[grouping.TaskFacts]:
    """Conversations as the proposer wants them: instructions of all turns, and what their steps type or choose."""
    steps = Step.objects.exclude(value="").order_by("index").only("value", "turn_id")
    turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
    rows = conversations.select_related("website").prefetch_related(Prefetch("turns", queryset=turns))
    return [
        grouping.TaskFacts(
            row.pk,
            place,
            row.split,
            row.website.name,
            " ".join(turn.instruction for turn in row.turns.all()),
            tuple(dict.fromkeys(step.value for turn in row.turns.all() for step in turn.steps.all())),
        )
        for place, row in enumerate(rows)
    ]


def _free_name(site: str, taken: set[str]) -> str:
    """ "united-001" and so on: the number after those of the site that there are."""
    stem = slugify(site) or "session"
    number = sum(name.startswith(f"{stem}-") for name in taken) + 1
    while f"{stem}-{number:03d}" in taken:
        number += 1
    return f"{stem}-{number:03d}"


def _decide(change: SessionChange, proposals: list[Proposal], outcome: str) -> SessionChange:
    keys = [proposal.pk for proposal in proposals]
    Proposal.objects.filter(pk__in=keys).update(outcome=outcome, decided_at=timezone.now())
    change.proposals = keys
    change.undo["proposals"] = [[pk, ""] for pk in keys]
    return change


def _tasks(action: dict[str, Any]) -> list[int]:
    tasks = [int(task) for task in action["tasks"]]
    if not tasks:
        raise ChangeRefused("Mark tasks first.")
    return tasks


def _counted(count: int) -> str:
    return f"{count} task{'' if count == 1 else 's'}"
