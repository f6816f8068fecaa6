"""Workflows as pages and API read and change them: which exist for a user, who used them, what an edit does."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from agents.models import Workflow
from agents.models.memory import WorkflowQuerySet
from annotations.access import rules
from annotations.models.accounts.projects import Account

TEXTS = ("name", "description", "body")


def visible(user: rules.User) -> WorkflowQuerySet:
    """The workflows that exist for a user."""
    rows = rules.visible(user, Workflow.objects.with_gold_split())
    return rules.gold_filter(user, rows, "gold_split", "dataset__project")


def edit(workflow: Workflow, user: Account, values: dict[str, Any]) -> Workflow:
    """Store what a person changed or wrote; a background job embeds a new description."""
    known = workflow.vectors.order_by("encoder").values_list("encoder", flat=True) if workflow.pk else []
    encoders = list(known) or [workflow.dataset.workflows.encoder()]
    with transaction.atomic():
        if workflow.correct(user, values):
            from agents.memory.jobs import start_embedding

            for encoder in encoders:
                start_embedding(user=None, dataset=workflow.dataset, encoder=encoder, parts=["workflows"])
    return workflow


def lines(text: str) -> str:
    """The text without blank lines, which separate workflows in prompts."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def by_website(rows: Iterable[Workflow]) -> list[tuple[str, list[Workflow]]]:
    """Rows that are in order of their sites, one group per site."""
    groups: list[tuple[str, list[Workflow]]] = []
    for row in rows:
        name = row.website.name if row.website else "any website"
        if not groups or groups[-1][0] != name:
            groups.append((name, []))
        groups[-1][1].append(row)
    return groups
