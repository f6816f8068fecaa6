"""Changing which tasks lie in which sessions, one action at a time, each with an action that undoes it."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet

from annotations.desk import moving_on
from annotations.models import (
    Campaign,
    Conversation,
    Proposal,
    Session,
    SessionTask,
    Step,
    Turn,
)
from annotations.text.amounts import amount
from annotations.text.tfidf import Vectorise
from annotations.work.organise import grouping
from annotations.work.organise.layouts import ChangeRefused, Layouts, SessionChange


class Organising(Layouts):
    """The sessions of a campaign, as a person organises them."""

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

    @transaction.atomic
    def open_work(self, batch: str) -> list[Session]:
        """Open the decomposition of every session that is not open yet, as a batch of this name; which these were."""
        waiting = list(self.campaign.sessions.unopened().locked())
        for session in waiting:
            session.join_batch(batch)
            moving_on.open_work(session)
        return waiting

    def _new(self, action: dict[str, Any]) -> SessionChange:
        tasks = _tasks(action)
        (session,) = self.make([(tasks[0], "")])
        return self.write({session.pk: tasks}, f"Made {session} of {amount(len(tasks), 'task')}.")

    def _each(self, action: dict[str, Any]) -> SessionChange:
        tasks = list(dict.fromkeys(_tasks(action)))
        made = self.make([(task, "") for task in tasks])
        wanted = {session.pk: [task] for session, task in zip(made, tasks, strict=True)}
        return self.write(wanted, f"Made {amount(len(wanted), 'session')} of one task each.")

    def _move(self, action: dict[str, Any]) -> SessionChange:
        tasks, session = _tasks(action), self._session(action)
        now = session.task_keys()
        at = len(now) if action.get("at") is None else int(action["at"])
        before = [task for task in now[:at] if task not in tasks]
        after = [task for task in now[at:] if task not in tasks]
        return self.write({session.pk: before + tasks + after}, f"Moved {amount(len(tasks), 'task')} to {session}.")

    def _remove(self, action: dict[str, Any]) -> SessionChange:
        tasks = _tasks(action)
        losing = Session.objects.live().filter(campaign=self.campaign, tasks__conversation__in=tasks).distinct()
        wanted = {session.pk: [task for task in session.task_keys() if task not in tasks] for session in losing}
        return self.write(wanted, f"Took {amount(len(tasks), 'task')} out.")

    def _split(self, action: dict[str, Any]) -> SessionChange:
        session, at = self._session(action), int(action["at"])
        tasks = session.task_keys()
        if not 0 < at < len(tasks):
            raise ChangeRefused("A session is split before its second task or a later one.")
        (other,) = self.make([(tasks[at], "")])
        other.come_after(session)
        return self.write({session.pk: tasks[:at], other.pk: tasks[at:]}, f"Split {session}: the rest is {other}.")

    def _delete(self, action: dict[str, Any]) -> SessionChange:
        session = self._session(action)
        return self.write({session.pk: []}, f"Put {session} into the bin: its tasks are leftovers.")

    def _accept(self, action: dict[str, Any]) -> SessionChange:
        """Make sessions of these proposals. Of several, those whose tasks have been used meanwhile are passed over."""
        free = set(SessionTask.objects.leftovers(self.campaign).values_list("pk", flat=True))
        chosen = list(self.campaign.proposals.of_sessions().filter(pk__in=action["proposals"]).order_by("pk"))
        usable = [proposal for proposal in chosen if free.issuperset(proposal.content["tasks"])]
        if not usable:
            raise ChangeRefused(
                "Its tasks have been put elsewhere meanwhile." if chosen else "The proposal is decided already."
            )
        made = self.make([(proposal.content["tasks"][0], proposal.content["why"]) for proposal in usable])
        Proposal.objects.make_into(zip(usable, made, strict=True))
        wanted = {session.pk: proposal.content["tasks"] for proposal, session in zip(usable, made, strict=True)}
        change = self.write(wanted, f"Made {amount(len(usable), 'session')} as proposed.")
        return _decide(change, usable, Proposal.Outcome.UNCHANGED)

    def _reject(self, action: dict[str, Any]) -> SessionChange:
        chosen = list(self.campaign.proposals.of_sessions().filter(pk__in=action["proposals"]))
        if not chosen:
            raise ChangeRefused("The proposal is decided already.")
        said = f"Rejected {amount(len(chosen), 'proposal')}."
        return _decide(SessionChange(said, [], [], {"do": "set", "sessions": []}), chosen, Proposal.Outcome.REJECTED)

    def _set(self, action: dict[str, Any]) -> SessionChange:
        """Set sessions and proposals back to an earlier state; ChangeRefused where tasks have gone into other sessions
        since."""
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
        change = self.write(wanted, "Undone.")
        for pk, outcome in action.get("proposals", []):
            self.campaign.proposals.filter(pk=int(pk)).decide(Proposal.Outcome(outcome))
            change.proposals.append(int(pk))
        return change

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
    contents = [{"tasks": list(one.tasks), "why": one.why, "score": one.score} for one in found]
    Proposal.objects.propose_sessions(campaign, model_name, contents)
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


def _decide(change: SessionChange, proposals: list[Proposal], outcome: Proposal.Outcome) -> SessionChange:
    keys = [proposal.pk for proposal in proposals]
    Proposal.objects.filter(pk__in=keys).decide(outcome)
    change.proposals = keys
    change.undo["proposals"] = [[pk, ""] for pk in keys]
    return change


def _tasks(action: dict[str, Any]) -> list[int]:
    tasks = [int(task) for task in action["tasks"]]
    if not tasks:
        raise ChangeRefused("Mark tasks first.")
    return tasks
