"""Rationales that people write or correct. Those of models stay beside them; agents get a person's newest one first."""

from django.core.exceptions import PermissionDenied, ValidationError

from annotations.access import rules
from annotations.models import Rationale, Step
from annotations.models.accounts.projects import Account

MAX_LENGTH = 2_000  # characters: one or two sentences are meant


def may_explain(user: rules.User, step: Step) -> bool:
    """Whether the user may explain the step: those who annotate may, where they may see its gold action."""
    inside = step.turn.conversation
    project = inside.dataset.project
    return rules.can(user, "annotate", project) and rules.sees_gold(user, project, inside.split)


def explain(user: Account, step: Step, text: str) -> Rationale:
    """Store a person's rationale of a step. Raises PermissionDenied and ValidationError."""
    if not may_explain(user, step):
        raise PermissionDenied("Rationales are written by annotators and admins who may see the gold action.")
    plain = " ".join(text.split())
    if not plain:
        raise ValidationError({"text": "Say in one or two sentences why the action fits."})
    if len(plain) > MAX_LENGTH:
        raise ValidationError({"text": f"Use at most {MAX_LENGTH:,} characters."})
    return Rationale.objects.create(step=step, text=plain, source=Rationale.Source.HUMAN, author=user)
