"""Which runs are compared: chosen from those that a user may see, and offered beside them."""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from agents.models import Run
from agents.recipes import differences
from annotations.access import rules
from annotations.access.rules import Rights, User
from annotations.text.amounts import whole
from evaluation.comparing.steps import LETTERS, MOST_RUNS

TOLD = 8  # of what is not compared
OFFERED = 60  # newest runs in the list to choose from


def chosen(user: User, values: Sequence[str]) -> list[Run]:
    """The runs that `?runs=` names, in that order; the keys come as a list with commas, or one by one."""
    pks = list(dict.fromkeys(pk for part in _named(values) if (pk := whole(part)) is not None))
    found = _runs(user).in_bulk(pks[: MOST_RUNS * 4])
    return [found[pk] for pk in pks if pk in found][:MOST_RUNS]


def left_out(user: User, values: Sequence[str], kept: Collection[int]) -> str:
    """What `?runs=` names beside the runs with these keys, and why it is not compared, as sentences; "" for nothing."""
    rest = [part for part in _named(values) if whole(part) not in kept][:TOLD]
    known = _runs(user).filter(pk__in=[pk for part in rest if (pk := whole(part)) is not None])
    there = set(known.values_list("pk", flat=True))
    unknown = [part[:20] for part in rest if whole(part) not in there]
    said = [f"No run {', '.join(unknown)} is here that you may see."] if unknown else []
    if more := [part for part in rest if whole(part) in there]:
        said.append(f"{MOST_RUNS} runs are the most at once: {', '.join(more)} is left out.")
    return " ".join(said)


def _named(values: Sequence[str]) -> list[str]:
    parts = (part.strip() for value in values for part in value.split(","))
    return list(dict.fromkeys(part for part in parts if part))


def problem(runs: Sequence[Run]) -> str:
    """Why these runs cannot be compared, as a sentence; "" where they can."""
    if len(runs) == 1:
        return "Choose a second run, on the same dataset."
    if len({run.dataset_id for run in runs}) > 1:
        return "These runs are on different datasets: only what decided the same steps can be compared."
    return ""


def lettered(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The runs, each with its letter (A, B, …) and the settings that differ from its named recipe."""
    return [
        {"letter": letter, "run": run, "settings": differences.changed_settings(run.recipe)}
        for letter, run in zip(LETTERS, runs, strict=False)
    ]


def tells_gold(rights: Rights, runs: Sequence[Run]) -> bool:
    """Whether the user may know which of the runs' steps are right."""
    return all(rights.sees_gold(run.dataset.project_id, run.split) for run in runs)


def query_of(pks: Sequence[int]) -> str:
    """The runs as a query that these pages read: `runs=3,7`."""
    return urlencode({"runs": ",".join(map(str, pks))}, safe=",")


def offered(user: User, query: QueryDict, runs: Sequence[Run]) -> dict[str, Any]:
    """The newest runs that can still be added: on the dataset of the runs already chosen, with `?q=` in the name of
    their recipe or dataset."""
    words, pks = query.get("q", "").replace("\0", "").strip(), [run.pk for run in runs]
    rows = _runs(user).order_by("-id")
    context = {"words": words, "has_runs": bool(runs) or rows.exists(), "is_full": len(runs) >= MOST_RUNS}
    if runs:
        rows = rows.filter(dataset=runs[0].dataset_id).exclude(pk__in=pks)
    if words:
        rows = rows.filter(Q(recipe_name__icontains=words) | Q(dataset__name__icontains=words))
    newest = [] if context["is_full"] else list(rows[: OFFERED + 1])
    with_it = [(run, query_of([*pks, run.pk])) for run in newest[:OFFERED]]
    return context | {"offered": with_it, "are_more": len(newest) > OFFERED}


def _runs(user: User) -> QuerySet[Run]:
    return rules.visible(user, Run.objects.select_related("dataset__project"))
