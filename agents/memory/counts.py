"""How much of a dataset agents remember, and how many of its steps are explained."""

from django.db.models import Count, Exists, OuterRef, Q

from agents.models import MemorySnippet, WorkflowVector
from annotations.models import Dataset, Rationale, Step


def encoder_counts(dataset: Dataset) -> list[dict]:
    """Per encoder (and form of snippet): how many snippets, exemplars and workflows it has embedded."""
    found: dict[str, dict] = {}
    for part, known in (
        ("snippets", MemorySnippet.objects.filter(conversation__dataset=dataset)),
        ("exemplars", dataset.exemplars),
        ("workflows", WorkflowVector.objects.filter(workflow__in=dataset.workflows.standing())),
    ):
        for encoder, count in known.order_by().values_list("encoder").annotate(n=Count("pk")):
            found.setdefault(encoder, {"encoder": encoder, "snippets": 0, "exemplars": 0, "workflows": 0})[part] = count
    return [found[encoder] for encoder in sorted(found)]


def rationale_counts(dataset: Dataset) -> list[dict]:
    """Per split: steps, and how many of them a person or a model has explained."""
    by = {source: Exists(Rationale.objects.filter(step=OuterRef("pk"), source=source)) for source in ("human", "model")}
    steps = Step.objects.of_dataset(dataset).annotate(**by)
    split = "turn__conversation__split"
    counts = {
        "steps": Count("pk"),
        "people": Count("pk", filter=Q(human=True)),
        "models": Count("pk", filter=Q(model=True)),
    }
    return [row | {"split": row[split]} for row in steps.order_by(split).values(split).annotate(**counts)]
