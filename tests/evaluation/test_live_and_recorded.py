"""Settings that count in live episodes alone, or on recorded steps alone, in recipes that were derived by them."""

import pytest

from agents.models import SavedRecipe
from agents.recipes import differences, literature
from annotations.models import Dataset
from evaluation.models import Study
from evaluation.studies.running import create_study
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_loop_that_nothing_reads_any_more_hinders_no_live_goals() -> None:
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    factories.make_conversation(dataset=goals, split="test_task")
    user = factories.make_user("admin", goals.project)
    derive(
        goals, "looped", "wma", {"imagine.loop": "mind2web", "imagine.kind": "retrieval", "imagine.value": "embedded"}
    )
    derive(goals, "counted", "looped", {"imagine.kind": "majority"})
    with pytest.raises(ValueError, match=r"imagine\.loop=mind2web is of recorded steps alone"):
        create_study(user=user, dataset=goals, recipes=["looped"], splits=["test_task"], publish=False)
    with pytest.raises(ValueError, match=r"^counted cannot run yet"):  # its weights alone are not here
        create_study(user=user, dataset=goals, recipes=["counted"], splits=["test_task"], publish=False)


def test_what_only_live_episodes_read_is_refused_for_recorded_steps_of_a_derived_recipe_too() -> None:
    recorded = factories.make_dataset()
    factories.make_conversation(dataset=recorded, split="test_task")
    user = factories.make_user("admin", recorded.project)
    derive(recorded, "patient", "grounded", {"act.guard": "policy", "act.guard_seconds": "5"})

    def study(**overrides: str) -> Study:
        named = {name.replace("__", "."): value for name, value in overrides.items()}
        chosen = {"recipes": ["patient"], "splits": ["test_task"], "overrides": named}
        return create_study(user=user, dataset=recorded, publish=False, **chosen)

    default = literature.get("grounded").act.guard_seconds
    said = rf"^act\.guard_seconds would change nothing .* derived by it, so set act\.guard_seconds={default}, too$"
    with pytest.raises(ValueError, match=said):
        study()
    with pytest.raises(ValueError, match=r"act\.guard_seconds would change nothing .*: it needs live episodes$"):
        study(act__guard_seconds="7")
    run = study(act__guard_seconds=str(default)).runs.get()
    assert "act.guard_seconds" not in differences.changed_settings(run.recipe)


def derive(dataset: Dataset, name: str, parent: str, changes: dict[str, str]) -> None:
    SavedRecipe.objects.create(project=dataset.project, name=name, parent=parent, changes=changes)
