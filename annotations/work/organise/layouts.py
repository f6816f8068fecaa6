"""Which tasks lie in which sessions of a campaign: changing that as far as the rules allow, with an action that undoes
it."""

from dataclasses import dataclass
from typing import Any

from django.utils.text import slugify

from annotations.models import Assignment, Campaign, Item, Session, SessionTask
from annotations.models.accounts.projects import Account

Layout = dict[int, list[int]]  # session -> its tasks (conversations of the source) in order


class ChangeRefused(ValueError):
    """The rules do not allow the change; the message says which and why."""


@dataclass
class SessionChange:
    """The result of an action: a sentence, the sessions and proposals that it changed, and the action that undoes
    it."""

    said: str
    sessions: list[int]
    proposals: list[int]
    undo: dict[str, Any]


class Layouts:
    """Writes which tasks lie in which sessions of a campaign, for a person."""

    def __init__(self, campaign: Campaign, user: Account | None) -> None:
        self.campaign, self.user = campaign, user

    def write(self, wanted: Layout, said: str) -> SessionChange:
        """Give sessions these tasks, with `said` as the sentence of the result. Sessions that lose tasks are changed
        too; one that is empty then goes into the bin."""
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
        """Store the tasks of sessions. A session without tasks goes into the bin and keeps its old ones, so that it can
        be restored."""
        filled = [pk for pk, tasks in wanted.items() if tasks]
        SessionTask.objects.lay_out(self.campaign, wanted)
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
        """Raise ChangeRefused unless the tasks of each session are of one split and one website, which the session
        takes over."""
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
                session.follow(rows[tasks[0]])

    def make(self, wanted: list[tuple[int, str]]) -> list[Session]:
        """Make sessions without tasks. `wanted`: for each, the task from which it takes split and website, and the
        reason of its proposal."""
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


def _free_name(site: str, taken: set[str]) -> str:
    """A name that no session has: the site and the next number, as "united-001"."""
    stem = slugify(site) or "session"
    number = sum(name.startswith(f"{stem}-") for name in taken) + 1
    while f"{stem}-{number:03d}" in taken:
        number += 1
    return f"{stem}-{number:03d}"
