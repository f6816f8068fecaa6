"""What is derived from a recipe that was itself derived still knows the packaged one at its beginning."""

import pytest

from agents.cookbook import checking, saved
from agents.models import SavedRecipe
from agents.recipes import differences, literature
from evaluation.studies.running import _on_split
from tests import factories

pytestmark = pytest.mark.django_db


def derived(name: str, parent: str, **changes: str) -> literature.Recipe:
    project = SavedRecipe.objects.values_list("project", flat=True).first() or factories.make_project().pk
    settings = {setting.replace("__", "."): value for setting, value in changes.items()}
    return saved.load(SavedRecipe.objects.create(project_id=project, name=name, parent=parent, changes=settings))


def test_its_label_names_what_was_changed_on_the_whole_way() -> None:
    child = derived("my-map", "self-map", recall__k="5")
    grandchild = derived("my-map-2", "my-map", recall__sort_by="time")
    last = derived("my-map-3", "my-map-2", recall__k="3")
    labels = [differences.changed_settings(literature.to_dict(one)) for one in (child, grandchild, last)]
    sort_by = literature.get("self-map").recall.sort_by, "time"
    assert labels == [
        {"recall.k": (3, 5)},
        {"recall.k": (3, 5), "recall.sort_by": sort_by},
        {"recall.sort_by": sort_by},
    ]
    assert literature.from_dict(literature.to_dict(last)) == last
    assert "origin" not in literature.to_dict(child), "hashes of recipes that were stored before stay as they were"


def test_what_a_paper_chose_for_a_split_is_kept_by_what_is_derived_from_its_recipe() -> None:
    first = derived("my-mims", "mims", recall__exemplar_k="2")
    second = derived("my-mims-2", "my-mims", recall__exemplar_k="1")
    own = derived("my-mims-3", "my-mims", recall__workflow_k="5")
    chosen = [_on_split(one, "test_website", ()).recall.workflow_k for one in (literature.get("mims"), first, second)]
    assert chosen == [2, 2, 2]
    assert _on_split(own, "test_website", ()).recall.workflow_k == 5, "somebody chose it"
    assert _on_split(first, "test_website", ("recall.workflow_k",)).recall.workflow_k == first.recall.workflow_k


@pytest.mark.parametrize(
    "changes",
    [
        {"recall.workflows": "environment"},
        {"recall.workflows": "none"},
        {"recall.workflow_query": "task"},
        {"plan.kind": "multichoice"},
    ],
)
def test_what_a_paper_chose_for_a_split_is_not_set_where_the_recipe_recalls_otherwise(changes: dict[str, str]) -> None:
    """2 are the best number of workflows nearest to the objective there; of others, the paper says nothing."""
    other = literature.override(literature.get("mims"), changes)
    assert _on_split(other, "test_website", ()) == other


def test_what_a_recipe_was_derived_by_can_be_undone_where_nothing_reads_it_any_more() -> None:
    """The loop of Mind2Web, beside a kind of imagine that has no loop."""
    derived("looped", "wma", imagine__loop="mind2web")
    counted = derived("counted", "looped", imagine__kind="majority")
    undone = checking.vary(counted, {"imagine.loop": "webarena"})
    assert differences.changed(undone).keys() == {"imagine.kind"}
    with pytest.raises(ValueError, match=r"imagine\.samples would change nothing in counted"):
        checking.vary(counted, {"imagine.samples": "5"})
    with pytest.raises(ValueError, match=r"imagine\.loop would change nothing in cot"):
        checking.vary(literature.get("cot"), {"imagine.loop": "mind2web"})
