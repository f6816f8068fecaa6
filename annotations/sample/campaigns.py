"""The sample's campaigns, worked on by invented people through the functions that the pages call: one is finished and
released twice, one is under way: some of it has passed, and there is something to do for everybody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pghistory
from django.contrib.auth import get_user_model
from django.db import transaction

from annotations.campaigns.propose.proposing import NoProposals, Proposing
from annotations.desk import moving_on
from annotations.edits import saving
from annotations.models import (
    DEFAULT_RUBRIC,
    Assignment,
    Campaign,
    Dataset,
    Guideline,
    Item,
    Membership,
    Project,
    Role,
    Session,
    Stage,
)
from annotations.models.accounts.projects import Account
from annotations.releases.checking import check_dataset
from annotations.releases.redacting import redact
from annotations.releases.releasing import make_release
from annotations.sample.errand_script import BY, ERRANDS, Errand, ErrandPart, marked, read_errands
from annotations.work.organise.sessions import Organising, suggest
from annotations.work.verify import verdicts

FINISHED, UNDER_WAY = "Sample errands", "Sample errands, second round"
FIRST, SECOND, VERIFIER = BY
PEOPLE = {FIRST: Role.ANNOTATOR, SECOND: Role.ANNOTATOR, VERIFIER: Role.REVIEWER}
IN_FIRST_RELEASE = 6  # errands
REDACTED = "07700 555 340"  # taken out of the second release
SECONDS = {Stage.DECOMPOSE: 17, Stage.REWRITE: 12, Stage.VERIFY: 8}
"""How long people would be at work on a stage, per step of the session: nobody is, so no heartbeat tells it."""
REASONS = {
    "value-lost": "A value that is typed can no longer be known.",
    "unresolvable": "What it points to cannot be found in the turns before.",
    "unnatural": "Nobody would say it like this.",
}


def make_campaigns(project: Project, tasks: Dataset, say: Callable[[str], None]) -> None:
    """Make both campaigns on the sample's single tasks, each unless the project has it already."""
    for name, make in ((FINISHED, _finish), (UNDER_WAY, _go_halfway)):
        with transaction.atomic():
            if not project.campaigns.filter(name=name).exists():
                made = make(Player(_campaign(project, tasks, name), _people(project)))
                say(f"{name}: {made}")


class Player:
    """Plays the invented people of a campaign: each method is what one of them does."""

    def __init__(self, campaign: Campaign, people: dict[str, Account]) -> None:
        self.campaign, self.people = campaign, people
        rows = campaign.source.conversations.values_list("source_id", "pk")
        self.tasks: dict[str, int] = dict(rows)

    def organise(self, errand: Errand) -> Session:
        """Make a session of the errand's tasks and open its first stage."""
        tasks = [self.tasks[name] for name in errand.tasks]
        with acting(self.manager):
            change = Organising(self.campaign, self.manager).change({"do": "new", "tasks": tasks})
            session = self.campaign.sessions.get(pk=change.sessions[0])
            moving_on.open_work(session)
        return session

    @property
    def manager(self) -> Account:
        return self.people["admin"]

    def decompose(self, session: Session, errand: Errand, name: str) -> None:
        """Cut a session and write its instructions as the errand says; the second annotator leaves some cuts out."""
        wanted = [(at, part) for at, part in self._placed(session, errand) if name != SECOND or not part.is_joined]
        with acting(self.people[name]):
            assignment = self._take(session, Stage.DECOMPOSE, name)
            now = assignment.contents()
            edits: list[dict[str, Any]] = [
                {"kind": "join", "step": step, "before": content}
                for step, content in now.items()
                if step not in {at for at, _ in wanted}
            ]
            for at, part in wanted:
                if at in now:
                    edits.append(_text(at, "instruction", now[at]["instruction"], part.instruction))
                else:
                    edits.append({"kind": "cut", "step": at, "after": {"instruction": part.instruction}})
            self._save(assignment, edits)
            moving_on.submit(assignment)

    def rewrite(self, session: Session, errand: Errand, name: str) -> Assignment:
        """Rewrite the parts as they are said in conversation, first with the errand's flaws, and hand that in."""
        with acting(self.people[name]):
            assignment = self._take(session, Stage.REWRITE, name)
            self._say(assignment, errand, flawed=True)
            moving_on.submit(assignment)
        return assignment

    def rewrite_as_proposed(self, session: Session, name: str) -> Assignment:
        """Take over what the proposer by rules proposes, and hand that in."""
        with acting(self.people[name]):
            assignment = self._take(session, Stage.REWRITE, name)
            self._accept_proposal(assignment)
            moving_on.submit(assignment)
        return assignment

    def correct(self, assignment: Assignment, errand: Errand) -> None:
        """Mend what was returned, and hand it in again."""
        with acting(assignment.user):
            assignment.take(assignment.user)
            if assignment.user == self.people[SECOND]:
                self._say_plainly(assignment, errand)
            else:
                self._say(assignment, errand, flawed=False)
            moving_on.submit(assignment)

    def verify(self, assignment: Assignment, errand: Errand, name: str) -> bool:
        """Return a rewrite for the flaws that it still has, else accept it; whether it is accepted."""
        defects = [
            {"code": code, "step": step, "note": REASONS[code]} for step, code in self._flaws(assignment, errand)
        ]
        verifier = self.people[name]
        with acting(verifier):
            item = Item.objects.get(stage=Stage.VERIFY, subject=assignment)
            verification = item.assignments.filter(user=verifier).first()
            verification = verification or item.hand(verifier, 0)
            verification.take(verifier)
            verdicts.give(verification, "return" if defects else "accept", {}, "", defects)
        assignment.refresh_from_db()
        return not defects

    def _flaws(self, assignment: Assignment, errand: Errand) -> Iterator[tuple[int, str]]:
        """(first step of the part, code of the defect) for each part of a rewrite with a flaw that the script knows."""
        now, is_second = assignment.contents(), assignment.user == self.people[SECOND]
        for step, part in self._placed(assignment.item.session, errand):
            rewrite = now[step]["rewrite"] if step in now else ""
            if part.flaw and rewrite == part.flaw[0]:
                yield step, part.flaw[1]
            elif part.is_odd and is_second and rewrite not in ("", part.instruction):
                yield step, "unnatural"

    def _placed(self, session: Session, errand: Errand) -> list[tuple[int, ErrandPart]]:
        """The errand's parts with the steps of the session at which they begin."""
        by_task = [steps for _, steps in session.turns()]
        return [(by_task[part.task][part.step - 1].pk, part) for part in errand.parts]

    def _take(self, session: Session, stage: Stage, name: str) -> Assignment:
        item = session.items.get(stage=stage)
        slot = item.free_slot()
        assert slot is not None  # the script gives an item to as many as it has places for
        return item.hand(self.people[name], slot).take(self.people[name])

    def _say(self, assignment: Assignment, errand: Errand, *, flawed: bool) -> None:
        now, before, edits = assignment.contents(), list[tuple[int, str]](), list[dict[str, Any]]()
        for at, part in self._placed(assignment.item.session, errand):
            if at not in now:
                continue
            said = part.flaw[0] if flawed and part.flaw else part.said or part.instruction
            text, mentions = marked(said, before, at)
            before.append((at, text))
            edits.append(_text(at, "rewrite", now[at]["rewrite"], text))
            edits.append({"kind": "mentions", "step": at, "before": now[at]["mentions"], "after": mentions})
        self._save(assignment, edits)

    def _say_plainly(self, assignment: Assignment, errand: Errand) -> None:
        """Replace flawed rewrites by the instructions of their parts."""
        now = assignment.contents()
        edits: list[dict[str, Any]] = []
        for step, _ in self._flaws(assignment, errand):
            edits.append({"kind": "mentions", "step": step, "before": now[step]["mentions"], "after": []})
            edits.append(_text(step, "rewrite", now[step]["rewrite"], now[step]["instruction"]))
        self._save(assignment, edits)

    def _accept_proposal(self, assignment: Assignment) -> None:
        try:
            proposal = Proposing(assignment).propose("rewrite")
        except NoProposals:
            return
        now = assignment.contents()
        edits: list[dict[str, Any]] = []
        for part in proposal.content["parts"]:
            at, mentions = part["step"], part["mentions"]
            edits.append(_text(at, "rewrite", now[at]["rewrite"], part["rewrite"]) | {"proposal": proposal.pk})
            edits.append({"kind": "mentions", "step": at, "before": [], "after": mentions, "proposal": proposal.pk})
        self._save(assignment, edits)

    def _save(self, assignment: Assignment, edits: list[dict[str, Any]]) -> None:
        """Save edits as the workbench does: under the lease, each with a number of its own."""
        edits = [edit for edit in edits if edit.get("before") != edit.get("after")]
        if not edits:
            return
        token, user = str(assignment.lease_token), assignment.user
        locked = Assignment.objects.for_saving(assignment.pk, user)
        numbered = [
            edit | {"op_id": str(uuid5(NAMESPACE_URL, f"sample/{assignment.pk}/{locked.version + place}"))}
            for place, edit in enumerate(edits)
        ]
        saved = saving.save(locked, user, token, locked.version, numbered)
        assert all(result["status"] == "applied" for result in saved.results), saved.results
        assignment.refresh_from_db()


def _finish(player: Player) -> str:
    """Work on all errands to their end, and release the dataset twice: before the last errands and after them."""
    errands = read_errands(ERRANDS / "finished.txt")
    for place, errand in enumerate(errands):
        if place == IN_FIRST_RELEASE:
            _release(player, "1.0", "The first six conversations.")
        session = player.organise(errand)
        for name in (FIRST, SECOND):
            player.decompose(session, errand, name)
        written = [player.rewrite(session, errand, FIRST), player.rewrite_as_proposed(session, SECOND)]
        for rewrite in written:
            while not player.verify(rewrite, errand, VERIFIER):
                player.correct(rewrite, errand)
    _take_out(player)
    _release(player, "1.1", "Two more conversations, on websites of their own; a telephone number was taken out.")
    player.campaign.close()
    return f"{len(errands)} sessions, all passed, and two releases"


def _go_halfway(player: Player) -> str:
    """Have some sessions passed, and leave work of every kind: to cut, to rewrite, to correct, to verify, and sessions
    that are only proposed."""
    player.campaign.ask_for(1)
    errands = read_errands(ERRANDS / "half.txt")
    for errand in errands:
        _work_until(player, errand)
    _tell_times(player)
    passed = sum(errand.until == "passed" for errand in errands)
    proposed = suggest(player.campaign)
    return f"{passed} of {len(errands)} sessions passed, {proposed} proposed"


def _work_until(player: Player, errand: Errand) -> None:
    """Work on an errand as far as it says."""
    session, (cutter, writer, verifier) = player.organise(errand), errand.by
    if errand.until == "gold":
        _hide_gold(player, session)
    elif errand.until != "decompose":
        player.decompose(session, errand, cutter)
    if errand.until == "verify":
        player.rewrite(session, errand, writer)
    elif errand.until == "returned":
        player.verify(player.rewrite(session, errand, writer), errand, verifier)
    elif errand.until == "passed":
        rewrite = player.rewrite(session, errand, writer)
        while not player.verify(rewrite, errand, verifier):
            player.correct(rewrite, errand)


def _tell_times(player: Player) -> None:
    """Give the work that was handed in the times that it would have taken, so that pace and forecasts show."""
    for stage, seconds in SECONDS.items():
        for done in Assignment.objects.of(player.campaign, stage).exclude(submitted_at=None):
            done.write(active_seconds=seconds * done.item.session.steps().count() * done.round)


def _hide_gold(player: Player, session: Session) -> None:
    """Make the session a hidden gold item; its solution is the accepted rewrite of the same tasks in the finished
    campaign."""
    passed = Assignment.objects.filter(
        item__session__campaign__name=FINISHED,
        item__session__campaign__project=player.campaign.project,
        item__stage=Stage.REWRITE,
        review=Assignment.Reviewed.PASSED,
        user=player.people[FIRST],
    )
    wanted = session.task_keys()
    for expert in passed.select_related("item__session"):
        if expert.item.session.task_keys() == wanted:
            session.use_as_gold(expert)


def _take_out(player: Player) -> None:
    target = player.campaign.ensure_target()
    for finding in check_dataset(target).privacy.of_kind("phone"):
        if finding.text == REDACTED:
            redact(target, finding, player.manager)


def _release(player: Player, version: str, notes: str) -> None:
    """Release the campaign's dataset. All concerns of the checks are accepted, as the data are invented."""
    target = player.campaign.ensure_target()
    concerns = [concern.key for concern in check_dataset(target).concerns()]
    consent = "Nobody was recorded: websites, people and what they say are invented."
    with acting(player.manager):
        make_release(target, version, player.manager, "Apache-2.0", consent, notes, accepted_findings=concerns)


def _campaign(project: Project, tasks: Dataset, name: str) -> Campaign:
    manager = _user("admin")
    with acting(manager):
        campaign = Campaign.objects.create(
            project=project, name=name, source=tasks, rubric=DEFAULT_RUBRIC, overlap=2, created_by=manager
        )
        text = Path(__file__).with_name("guidelines.md").read_text("utf-8")
        Guideline.objects.create(campaign=campaign, version=1, text=text, created_by=manager)
    return campaign


def _people(project: Project) -> dict[str, Account]:
    """The demo accounts that take part, and the invented people, who cannot sign in."""
    for name, role in PEOPLE.items():
        user, created = get_user_model().objects.get_or_create(username=name)
        if created:
            user.set_unusable_password()
            user.save()
        defaults = {"role": role, "sees_test_gold": True}
        Membership.objects.get_or_create(project=project, user=user, defaults=defaults)
    return {name: _user(name) for name in (*PEOPLE, "admin", "annotator", "reviewer")}


def _user(name: str) -> Account:
    return get_user_model().objects.get(username=name)


@contextmanager
def acting(user: Account) -> Iterator[None]:
    """Record what is stored in the block as changes by this person, in the history of rows."""
    with pghistory.context(user=user.pk):
        yield


def _text(step: int, field: str, before: str, after: str) -> dict[str, Any]:
    return {"kind": "text", "step": step, "field": field, "before": before, "after": after}
