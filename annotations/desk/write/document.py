"""An annotation as the browser gets it: its steps with their pages, the parts, and what may be done with it."""

from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils import timezone

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.propose.proposing import Proposing
from annotations.corpus.browse import step_page
from annotations.desk.write.checks import clauses, warnings, warnings_of_cuts
from annotations.edits.saving import Saved, open_desk
from annotations.models import Assignment, Edit, Job, Proposal, Session, Step, Target


def readable(user: rules.User, rows: QuerySet[Assignment] | None = None) -> QuerySet[Assignment]:
    """Annotations that this user may read: their own, and others' unless the campaign is blind; reviewers and admins
    see all of their projects."""
    rows = Assignment.objects.all() if rows is None else rows
    live = rows.filter(item__session__deleted_at=None, item__session__campaign__deleted_at=None)
    reviewed = rules.projects(user, "review").values("pk")
    shown = Q(user_id=user.pk) | Q(item__session__campaign__blind=False)
    return rules.visible(user, live).filter(shown | Q(item__session__campaign__project__in=reviewed))


def document(request: HttpRequest, assignment: Assignment) -> dict[str, Any]:
    """The whole annotation as JSON. `assignment` comes with its item, session, campaign, website and user."""
    session, desk = assignment.item.session, open_desk(assignment, signed_in(request))
    steps = shown_steps(session)
    tasks = _tasks(steps)
    done, undone = assignment.edits.stacks_of(request.user)
    why_not = assignment.why_not_written_by(request.user)
    return {
        "id": assignment.pk,
        "version": assignment.version,
        "stage": assignment.item.stage,
        "state": assignment.state,
        "review": assignment.review,
        "round": assignment.round,
        **assignment.lease_told_to(request.user),
        "writable": not why_not,
        "why_not": why_not,
        "csrf": get_token(request),
        "session": {
            "id": session.pk,
            "name": session.name,
            "website": session.website.name,
            "split": session.split,
            "why": session.why,
        },
        "target_parts": session.campaign.target_parts(len(steps)),
        "guideline": assignment.guideline.version if assignment.guideline else None,
        "steps": [_step(request, assignment, step, place, tasks) for place, step in enumerate(steps)],
        "tasks": tasks,
        "parts": desk.ordered(),
        "clauses": clauses(desk),
        "warnings": warnings(desk),
        "warnings_of_cuts": warnings_of_cuts(desk),
        "undo": bool(done),
        "redo": bool(undone),
        "proposals": [proposal_row(row) for row in Proposing(assignment).usable()],
        "asked": None if why_not else Job.objects.asked_for(assignment.pk).values_list("pk", flat=True).first(),
    }


def answer(saved: Saved) -> dict[str, Any]:
    """The JSON that a save, an undo or a redo answers."""
    return {
        "version": saved.desk.assignment.version,
        "results": saved.results,
        "parts": saved.desk.ordered(),
        "others": [edit_row(edit) for edit in saved.others],
        "clauses": clauses(saved.desk),
        "warnings": warnings(saved.desk),
        "undo": saved.undo,
        "redo": saved.redo,
        "saved_at": timezone.now().isoformat(timespec="seconds"),
    }


def edit_row(edit: Edit) -> dict[str, Any]:
    return {
        "version": edit.version,
        "op_id": str(edit.op_id),
        "kind": edit.kind,
        "step": edit.step_id,
        "field": edit.field,
        "before": edit.before,
        "after": edit.after,
        "undoes": edit.undoes_id is not None,
        "proposal": edit.proposal_id,
        "who": edit.user.get_username(),
        "at": edit.at.isoformat(timespec="seconds"),
    }


def shown_steps(session: Session) -> list[Step]:
    """The steps of a session in order, with their pages (not the content) and gold elements. Two queries."""
    targets = Prefetch("targets", Target.objects.only("step_id", "node_id", "position"))
    return list(session.steps().light().select_related("turn").prefetch_related(targets))


def frame(request: HttpRequest, step: Step) -> dict[str, Any] | None:
    """The addresses of the step's rendered page with its gold elements marked, and without marks; None without a page.

    The caller has made sure that the user may see the step and its gold.
    """
    shown = step.shown_snapshot()
    return step_page.frame(request, shown, step.gold_ids()) if shown is not None else None


def _step(request: HttpRequest, assignment: Assignment, step: Step, place: int, tasks: list[dict]) -> dict[str, Any]:
    return {
        "id": step.pk,
        "index": place,
        "task": max(index for index, task in enumerate(tasks) if task["place"] <= place),
        "operation": step.operation,
        "value": step.value,
        "action_repr": step.action_repr or str(step),
        "tree_url": reverse("annotate-step-tree", args=[assignment.pk, step.pk]),
        "frame_url": reverse("annotate-step-frame", args=[assignment.pk, step.pk]),
        "frame": frame(request, step),
        "gold": [target.node_id for target in step.targets.all()],
    }


def _tasks(steps: list[Step]) -> list[dict[str, Any]]:
    """The recorded tasks of a session: the instruction of each, with its first step."""
    tasks: list[dict[str, Any]] = []
    for place, step in enumerate(steps):
        if place == 0 or steps[place - 1].turn_id != step.turn_id:
            tasks.append({"first_step": step.pk, "place": place, "instruction": step.turn.instruction})
    return tasks


def proposal_row(row: Proposal) -> dict[str, Any]:
    return {
        "id": row.pk,
        "kind": row.kind,
        "model": row.model_name,
        "content": row.content,
        "outcome": row.outcome,
    }
