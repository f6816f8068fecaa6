"""Proposals of cuts and rewrites: making them, what became of them at submit, and how good each model's are.

`content` of a proposal is {"parts": [{"step", "why", "instruction"}, …]} for cuts, {"parts": [{"step", "rewrite",
"mentions"}, …]} for rewrites. What a part does not name stays as it is; where any part of a proposal of cuts has an
instruction, one without it gets none. "left_out": the clauses of the source that no proposed part asks for.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

import numpy as np
from django.db.models import QuerySet

from annotations.access import rules
from annotations.jobs import running
from annotations.models import Assignment, Campaign, Job, Part, Project, Proposal, Session, Stage, Step
from annotations.models.accounts.projects import Account
from annotations.models.work.edits import ProposalQuerySet
from annotations.text.amounts import amount
from annotations.text.garbled import garbled, is_blank
from annotations.text.merging import pieces
from annotations.text.tfidf import Vectorise
from annotations.work.decompose.clauses import covered, recorded_tasks
from annotations.work.decompose.cuts import Face, Meaning, SeenStep, face_of, propose_cuts
from annotations.work.decompose.invented import AskedFor
from annotations.work.rewrite.rewrites import propose_rewrites

EMBEDDED = {Proposal.Kind.CUTS: "pages and forms 3", Proposal.Kind.REWRITE: "repeated words 2"}
STAGES = {Proposal.Kind.CUTS: Stage.DECOMPOSE, Proposal.Kind.REWRITE: Stage.REWRITE}


connections: Callable[[], list[str]] = list
"""The connections to language models that a campaign may name. `agents.apps` sets it: this app knows none."""
why_unreached: Callable[[str], str] | None = None
"""Why the model of a connection ("": what answers here) cannot be asked, within a second; "" where it can, or where
that takes longer to know. `agents.apps` sets it."""


class NoProposals(ValueError):
    """Nothing can be proposed here; the message says why."""


class UnusableProposal(NoProposals):
    """A proposal that a model did make and that is shown to nobody; `count` keeps it, rejected, as one of that model's,
    after what was begun for it has been rolled back, too."""

    def __init__(self, why: str, count: Callable[[], None]) -> None:
        super().__init__(why)
        self.count = count


class Proposing:
    """Proposals for an annotation that somebody is at work on."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    def propose(self, kind: str, vectors: Vectorise | None = None, encoder: str = "") -> Proposal:
        """A new proposal by rules; `vectors` embeds texts, `encoder` names what does. Raises NoProposals."""
        self.check(kind)
        if kind == Proposal.Kind.CUTS:
            parts = self.cuts(vectors)
        else:
            texts = [(part.first_step_id, part.instruction) for part in self.assignment.ordered_parts()]
            parts = [asdict(rewrite) for rewrite in propose_rewrites(texts)]
            if not parts:
                raise NoProposals("No part repeats what an earlier one says in a way that could be left out.")
        return self.keep(kind, " · ".join(filter(None, (EMBEDDED[Proposal.Kind(kind)], encoder))), parts)

    def keep(self, kind: str, model_name: str, parts: list[dict[str, Any]]) -> Proposal:
        """Keep what a model proposes. Raises UnusableProposal."""
        try:
            without = self._checked(kind, parts)
        except NoProposals as error:
            count = partial(self.assignment.keep_unusable, kind, model_name, parts)
            count()
            raise UnusableProposal(str(error), count) from error
        return self.assignment.keep_proposal(kind, model_name, parts, without)

    def usable(self) -> list[Proposal]:
        """The open proposals, the newest first, that the checks of today let pass. One that was kept before there were
        these checks is shown to nobody, and settled at submit like any other."""
        return [row for row in self.assignment.proposals.filter(outcome=Proposal.Outcome.OPEN) if self._is_usable(row)]

    def _is_usable(self, proposal: Proposal) -> bool:
        try:
            self._checked(proposal.kind, proposal.content.get("parts", []))
        except NoProposals:
            return False
        return True

    def _checked(self, kind: str, parts: list[dict[str, Any]]) -> list[str]:
        """The clauses that proposed parts leave out. Raises NoProposals for parts that nobody is to be shown."""
        self._check_punctuation(parts)
        if kind == Proposal.Kind.CUTS:
            self._check_invented(parts)
        return left_out(kind, parts, self.assignment.item.session)

    @cached_property
    def _source(self) -> AskedFor:
        """What the tasks say, what their steps enter, and what these are called: read once for all proposals."""
        rows = self.assignment.item.session.steps().values_list("turn__instruction", "value", "action_repr")
        return AskedFor(*(list(dict.fromkeys(column)) for column in zip(*rows, strict=True)))

    def start_job(self, kind: str, user: Account) -> Job:
        """Ask the configured endpoint in the background. Raises NoProposals, and ValidationError as other jobs do."""
        self.check(kind)
        project = self.assignment.item.session.campaign.project
        rules.require(user, "annotate", project)
        params = {"name": self.assignment.item.session.name, "assignment": self.assignment.pk, "kind": str(kind)}
        return _started(params, project, user, project.jobs.filter(state=Job.State.QUEUED))

    def check(self, kind: str) -> None:
        """Raise NoProposals where this kind makes no sense."""
        if kind not in STAGES:
            raise NoProposals(f"Proposals are of {' or '.join(STAGES)}.")
        if STAGES[Proposal.Kind(kind)] != self.assignment.item.stage:
            raise NoProposals(f"In this stage no {Proposal.Kind(kind).label} are proposed.")
        if not self.assignment.item.session.campaign.proposer:
            raise NoProposals("This campaign works without proposals.")

    def seen_steps(self) -> tuple[list[SeenStep], list[str]]:
        """The steps of the session as proposals see them, and the instructions of its tasks. A page that several steps
        show is read once."""
        rows = self.assignment.item.session.steps().select_related("turn", "snapshot__dictionary").defer("candidates")
        faces: dict[str, Face] = {}
        steps: list[SeenStep] = []
        tasks: list[Step] = []
        for step in rows:
            if not tasks or tasks[-1].turn_id != step.turn_id:
                tasks.append(step)
            address = str(step.extra.get("url") or "")
            key = f"{step.snapshot.sha256} {address}" if step.snapshot else ""
            if step.snapshot and key not in faces:
                faces[key] = face_of(step.snapshot.html, address)
            text = step.action_repr or str(step)
            steps.append(SeenStep(step.pk, len(tasks) - 1, step.operation, text, step.value, faces.get(key)))
        return steps, [step.turn.instruction for step in tasks]

    def settle(self) -> None:
        """Decide the outcome of the open proposals of an annotation that is being submitted, by comparing them with
        what it says now.

        Unchanged: all that was proposed stands there; edited: it was accepted and changed; rejected: it was not.
        """
        proposals = list(self.assignment.proposals.filter(outcome=Proposal.Outcome.OPEN))
        if not proposals:
            return
        parts, distances = self.assignment.ordered_parts(), dict[Proposal, float]()
        for proposal in proposals:
            measure = _cut_distance if proposal.kind == Proposal.Kind.CUTS else _rewrite_distance
            distances[proposal] = measure(proposal.content["parts"], parts)
        Proposal.objects.settle(distances, self.assignment.edits.accepted_proposals())

    def _check_punctuation(self, parts: list[dict[str, Any]]) -> None:
        """Raise NoProposals where that of a part is garbled, and neither the source nor who wrote the parts did it."""
        there = [text for part in self.assignment.ordered_parts() for text in (part.instruction, part.rewrite)]
        sources = [*there, *{step.turn.instruction for step in self.assignment.item.session.bare_steps()}]
        for part in parts:
            for text in (part.get("instruction", ""), part.get("rewrite", "")):
                if wrong := garbled(text, sources):
                    raise NoProposals(f"Its punctuation is garbled: “{wrong}”.")

    def _check_invented(self, parts: list[dict[str, Any]]) -> None:
        """Raise NoProposals where a part says what no source says."""
        said = [text for part in parts if not is_blank(text := part.get("instruction", ""))]
        if not said:
            return
        for text in said:
            if why := self._source.lacks(text):
                raise NoProposals(why)

    def cuts(self, vectors: Vectorise | None = None, meaning: Meaning | None = None) -> list[dict[str, Any]]:
        """Cuts by rules, and by what a model adds to them. Raises NoProposals."""
        steps, tasks = self.seen_steps()
        if not steps:
            raise NoProposals("The session has no steps.")
        wanted = self.assignment.item.session.campaign.target_parts(len(steps))
        found = propose_cuts(steps, tasks, wanted, vectors, meaning)
        return [asdict(part) | {"why": list(part.why)} for part in found]


def left_out(kind: str, parts: list[dict[str, Any]], session: Session) -> list[str]:
    """The clauses of the source that proposed parts do not ask for. NoProposals where one is asked for twice, or more
    than half of them are left out."""
    said = {part["step"]: part["instruction"] for part in parts if not is_blank(part.get("instruction", ""))}
    if kind != Proposal.Kind.CUTS or not said:
        return []
    steps = ((step.pk, step.turn_id, step.turn.instruction) for step in session.bare_steps())
    tasks = covered(recorded_tasks(steps, {part["step"] for part in parts}), said)
    clauses = [clause for task in tasks for clause in task if clause.text]
    if twice := next((clause for clause in clauses if clause.state == "doubled"), None):
        several = len(set(twice.parts))
        where = f"in {several} parts" if several > 1 else "twice in one part"
        raise NoProposals(f"It asks for “{twice.text}” {where}.")
    found = [clause.text for clause in clauses if clause.state == "uncovered"]
    if 2 * len(found) > len(clauses):
        whole = amount(len(clauses), "clause")
        raise NoProposals(f"It leaves out {len(found)} of {whole} of the source: “{found[0]}” is one.")
    return found


def check_reached(connection: str) -> None:
    """Raise NoProposals where the model that a campaign asks cannot be reached, with what to do."""
    if why_unreached and (why := why_unreached(connection)):
        raise NoProposals(f"{why} An admin can set up another connection, or let the campaign propose by rules.")


def start_sessions_job(campaign: Campaign, user: Account) -> Job:
    """Have the embedded model look at the leftovers of a campaign in the background; one job at a time."""
    rules.require(user, "manage", campaign.project)
    params = {"name": campaign.name, "campaign": campaign.pk, "kind": str(Proposal.Kind.SESSIONS)}
    return _started(params, campaign.project, user, campaign.project.jobs.unfinished())


def _started(params: dict[str, Any], project: Project, user: Account, begun: QuerySet[Job]) -> Job:
    """The job of proposing by these params: the one among those `begun`, else a new one."""
    found = begun.filter(kind=Job.Kind.PROPOSE, params=params).first()
    return found or running.queue(Job(kind=Job.Kind.PROPOSE, project=project, created_by=user, params=params))


def judge(rows: ProposalQuerySet, subject: Assignment, *, passed: bool, about_cuts: bool = False) -> None:
    """Keep with these proposals of a session whether a verdict on `subject`, a rewrite, confirmed what they proposed. A
    returned rewrite counts against the proposals of the stage that must be mended (`about_cuts`: the cuts). A proposal
    that was judged wrong once stays so."""
    parts = subject.ordered_parts()
    judged = dict[Proposal, bool]()
    for proposal in rows:
        wanted = proposal.content
        if proposal.kind == Proposal.Kind.CUTS and (passed or about_cuts):
            judged[proposal] = passed and _cut_distance(wanted["parts"], parts) == 0
        elif proposal.assignment_id == subject.pk and (passed or not about_cuts):
            judged[proposal] = passed and _rewrite_distance(wanted["parts"], parts) == 0
        elif proposal.kind == Proposal.Kind.SESSIONS and passed:
            judged[proposal] = wanted["tasks"] == subject.item.session.task_keys()
    Proposal.objects.judge(judged)


def edit_distance(a: Sequence[str], b: Sequence[str]) -> float:
    """Levenshtein distance of two sequences by the length of the longer one: 0 (the same) … 1; of two empty ones 0.

    A row at a time, as two texts of 10,000 characters make 100 million places.
    """
    longest = max(len(a), len(b))
    numbers = {element: number for number, element in enumerate({*a, *b})}
    other = np.array([numbers[element] for element in b], dtype=np.int32)
    places = np.arange(len(b) + 1, dtype=np.int32)
    row = places
    for number, element in enumerate(a, 1):
        above = np.minimum(row[1:] + 1, row[:-1] + (other != numbers[element]))
        row = np.minimum.accumulate(np.append(number, above).astype(np.int32) - places) + places
    return float(row[-1] / longest) if longest else 0.0


def _cut_distance(proposed: list[dict[str, Any]], parts: list[Part]) -> float:
    """How far proposed cuts are from the parts, 0 (the same) … 1: the mean of the share of cuts that only one side has
    and of the distance of the instructions."""
    wanted, there = {part["step"] for part in proposed[1:]}, {part.first_step_id for part in parts[1:]}
    together = wanted | there
    cuts = len(wanted ^ there) / len(together) if together else 0.0
    texts = {part.first_step_id: part.instruction for part in parts}
    said = [(part["instruction"], texts.get(part["step"], "")) for part in proposed if part.get("instruction")]
    return (cuts + _text_distance(said)) / 2


def _rewrite_distance(proposed: list[dict[str, Any]], parts: list[Part]) -> float:
    texts = {part.first_step_id: part.rewrite for part in parts}
    return _text_distance([(part["rewrite"], texts.get(part["step"], "")) for part in proposed])


def _text_distance(pairs: list[tuple[str, str]]) -> float:
    """Mean edit distance by words; 0 without texts."""
    return sum(edit_distance(pieces(a), pieces(b)) for a, b in pairs) / len(pairs) if pairs else 0.0
