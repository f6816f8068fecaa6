"""Pages of datasets, conversations and steps."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotations.access import rules
from annotations.access.rules import Sight
from annotations.corpus.browse.changes import changes_between
from annotations.corpus.browse.step_page import TABS, sight_of, step_page, tree_fragment
from annotations.corpus.forms import ConversationFilterForm, ExportForm
from annotations.models import Conversation, ConversationTally, Dataset, Step
from annotations.paging import page_of
from annotations.text.amounts import whole


def datasets(request: HttpRequest) -> HttpResponse:
    rows = list(rules.visible(request.user, Dataset.objects.for_list()).order_by("name"))
    rights = rules.rights_of(request)
    for row in rows:
        row.bytes = row.known_page_bytes(row.step_count, tests=rights.sees_gold(row.project_id, "test"))
    context = {
        "datasets": rows,
        "may_import": rules.projects(request.user, "import").exists(),
        "may_make_goals": rules.projects(request.user, "goals").exists(),
        "may_show": rules.projects(request.user, "review").exists(),
    }
    return render(request, "annotations/datasets.html", context)


def dataset(request: HttpRequest, name: str) -> HttpResponse:
    return dataset_page(request, visible_dataset(request, name))


def dataset_page(request: HttpRequest, found: Dataset, export_form: ExportForm | None = None) -> HttpResponse:
    """A dataset with its list; `export_form`: one that was sent with mistakes."""
    filters = ConversationFilterForm(request.GET, found)
    rows = filters.apply(found.conversations.in_order()).values_list("pk", flat=True)
    page = page_of(request, rows, count=filters.count(rows))
    page.object_list = _list_rows(list(page))
    splits = list(ConversationTally.by_split(found.pk))
    abilities = ("import", "export", "evaluate", "embed", "induce", "refine")
    rights, steps = rules.rights_of(request), sum(row["step_count"] for row in splits)
    context = {
        "dataset": found,
        "splits": splits,
        "bytes": found.known_page_bytes(steps, tests=rights.sees_gold(found.project_id, "test")),
        "websites": found.websites.counted().order_by("domain", "subdomain", "name"),
        "filters": filters,
        "page": page,
        "open_splits": [row["split"] for row in splits if rights.sees_gold(found.project_id, row["split"])],
        "export_form": export_form or ExportForm(splits=[row["split"] for row in splits]),
        "may": {ability: rights.can(ability, found.project_id) for ability in abilities}
        | {"flag": any(rights.can(ability, found.project_id) for ability in ("annotate", "review"))},
    }
    return render(request, "annotations/dataset.html", context)


def conversation(request: HttpRequest, pk: int) -> HttpResponse:
    """A conversation at its first step."""
    rows = rules.visible(request.user, Conversation.objects.with_steps().select_related("dataset__project", "website"))
    return _workbench(request, get_object_or_404(rows, pk=pk), None)


def step(request: HttpRequest, pk: int) -> HttpResponse:
    rows = rules.visible(request.user, Conversation.objects.with_steps().select_related("dataset__project", "website"))
    return _workbench(request, get_object_or_404(rows, turns__steps=pk), pk)


def step_tree(request: HttpRequest, pk: int) -> HttpResponse:
    """Rows below one node of a step's page, for branches of the tree that were closed."""
    steps = Step.objects.select_related("snapshot__dictionary", "turn__conversation__dataset")
    found = get_object_or_404(rules.visible(request.user, steps).defer("candidates"), pk=pk)
    inside = found.turn.conversation
    sight = sight_of(request, found, inside.dataset.project_id, inside.split)
    first, to = whole(request.GET.get("from", "0")), request.GET.get("to", "")
    last = whole(to)
    if found.snapshot is None or sight == Sight.PLACE or first is None or (to and last is None):
        raise Http404
    gold = found.gold_ids() if sight == Sight.GOLD else []
    rows = tree_fragment(found, gold, request.GET.get("node", ""), first, last)
    return render(request, "annotations/_tree.html", {"rows": rows, "step": found})


def step_changes_part(request: HttpRequest, pk: int) -> HttpResponse:
    """What the step's action changed on its page, for the replay."""
    steps = Step.objects.select_related(
        "snapshot__dictionary", "snapshot_after__dictionary", "turn__conversation__dataset"
    )
    found = get_object_or_404(rules.visible(request.user, steps).defer("candidates"), pk=pk)
    inside = found.turn.conversation
    if sight_of(request, found, inside.dataset.project_id, inside.split) < Sight.GOLD:
        raise Http404
    return render(request, "annotations/_changes.html", {"panel": changes_between(*found.pages_around)})


def _workbench(request: HttpRequest, found: Conversation, step_pk: int | None) -> HttpResponse:
    page = step_page(request, found, step_pk)
    return render(request, "annotations/step.html", vars(page) | {"tabs": TABS})


def _list_rows(pks: list[int]) -> list[Conversation]:
    """These conversations with the first instruction of each, for the rows of one page of a list."""
    return list(Conversation.objects.for_list().filter(pk__in=pks).in_order().with_first_instruction())


def visible_dataset(request: HttpRequest, name: str) -> Dataset:
    return get_object_or_404(rules.visible(request.user, Dataset.objects.select_related("project")), name=name)
