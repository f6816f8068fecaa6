"""Workflows as pages and API read and change them: which exist for a user, who used them, what an edit does."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, CharField, F, QuerySet, Value, When
from django.utils import timezone

from agents.encoders import weights
from agents.models import Run, TrajectoryStep, Workflow
from annotations.access import rules
from annotations.models import Dataset

TEXTS = ("name", "description", "body")


def with_gold_split(rows: QuerySet[Workflow]) -> QuerySet[Workflow]:
    """With `gold_split`, the split whose gold a workflow may tell: online ones repeat what the steps of their run were
    shown, gold actions of earlier steps included. A run over every split has test steps among them."""
    told = Case(
        When(run=None, then=Value("train")),
        When(run__split="", then=Value("test")),
        default=F("run__split"),
        output_field=CharField(),
    )
    return rows.annotate(gold_split=told)


def visible(user: rules.User) -> QuerySet[Workflow]:
    """The workflows that exist for a user, without their embeddings."""
    rows = rules.visible(user, with_gold_split(Workflow.objects.defer("embedding")))
    return rules.gold_filter(user, rows, "gold_split", "dataset__project")


def may_edit(user: rules.User, workflow: Workflow) -> bool:
    """Those of a run stay as the run made them."""
    return workflow.run_id is None and rules.can(user, "annotate", workflow.dataset.project)


def uses(workflow: Workflow) -> QuerySet[TrajectoryStep]:
    """The steps of agents that were shown a workflow, newest run first."""
    rows = TrajectoryStep.objects.filter(workflow_ids__contains=[workflow.pk])
    return rows.order_by("-run_id", "trajectory__conversation__position", "trajectory_id", "seq")


def use_counts(ids: Sequence[int], *, tests: bool) -> dict[int, int]:
    """Workflow -> how many steps of agents were shown it, without `tests` in runs over the other splits only; those
    that were never shown are left out."""
    steps, runs = TrajectoryStep._meta.db_table, Run._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT shown, count(*) FROM {steps} step, unnest(workflow_ids) AS shown "  # our tables  # nosec B608
            "WHERE workflow_ids && %s::bigint[] AND shown = ANY(%s::bigint[]) AND (%s OR EXISTS ("
            f"SELECT 1 FROM {runs} WHERE id = step.run_id AND split <> '' AND split NOT LIKE 'test%%')) GROUP BY shown",
            [list(ids), list(ids), tests],
        )
        return dict(cursor.fetchall())


def edit(workflow: Workflow, user, values: dict[str, Any]) -> Workflow:
    """Store what a person changed or wrote; it is then no longer replaced by a model's.

    A new description is embedded by a background job; until then the workflow is found by its site alone.
    """
    changed = workflow.pk is None or values.get("description", workflow.description) != workflow.description
    encoder = workflow.encoder or _encoder_of(workflow.dataset)
    for name, value in values.items():
        setattr(workflow, name, value)
    workflow.edited_by, workflow.edited_at = user, timezone.now()
    if changed:
        workflow.encoder, workflow.embedding = "", None
    with transaction.atomic():
        workflow.save()
        if changed:
            from agents.memory.jobs import start_embedding

            start_embedding(user=None, dataset=workflow.dataset, encoder=encoder, parts=["workflows"])
    return workflow


def taken(dataset: Dataset, website_id: int | None, name: str, but: int | None) -> bool:
    """Whether another workflow of the site has this name."""
    return dataset.workflows.filter(website=website_id, run=None, name=name).exclude(pk=but).exists()


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


def _encoder_of(dataset: Dataset) -> str:
    """The encoder of the dataset's other workflows, or the packaged one."""
    known = dataset.workflows.exclude(encoder="").order_by("-pk").values_list("encoder", flat=True).first()
    return known or weights.MINILM
