"""How much of a dataset agents remember."""

from django.db.models import Count

from agents.models import MemorySnippet, WorkflowVector
from annotations.models import Dataset


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
