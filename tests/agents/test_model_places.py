"""People name models, not places of the machine: nobody learns from a form what lies on its disk."""

import pytest
from django.core.exceptions import ValidationError

from agents.cookbook import saved
from agents.cookbook.lacking import missing
from agents.encoders import weights
from agents.memory.jobs import start_embedding
from agents.prompts.packs import parted
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.training.jobs import start_training
from evaluation.studies.running import create_study
from tests import factories

HIDDEN = (
    "/etc/passwd",
    "/nowhere/at/all",
    "../../etc/passwd",
    "../x",
    "./x/../../y",
    "a/b/../../../etc",
    "a\0b",
)
NAMED = ("", weights.MINILM, "my-ranker", "microsoft/deberta-v3-base", "scores/dmr.json")


@pytest.mark.parametrize("name", HIDDEN)
def test_a_place_of_the_machine_is_not_open_to_people(name) -> None:
    assert not weights.open_to_people(name)


@pytest.mark.parametrize("name", NAMED)
def test_models_are_named(name) -> None:
    assert weights.open_to_people(name)


def test_a_place_below_the_model_folder_is_open(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    (tmp_path / "out").symlink_to("/etc")
    assert weights.open_to_people(str(tmp_path / "scores" / "a.json"))
    assert not weights.open_to_people(str(tmp_path / "out" / "passwd"))


def test_a_name_too_long_for_a_file_names_no_score_file() -> None:
    settings = {"rank.kind": "score_file", "rank.model": "a" * 1000}
    assert any("is no file" in line for line in missing(literature.override(RECIPES["mindact"], settings)))


def test_a_name_too_long_for_a_pack_names_none() -> None:
    with pytest.raises(ValueError, match="names no pack: write webnav, NAME or NAME@VERSION"):
        parted("a" * 1000)


@pytest.mark.parametrize("setting", ["rank.model", "rank.base", "plan.model", "plan.base", "recall.encoder"])
def test_a_recipe_of_people_names_no_place(setting) -> None:
    told = set()
    for place in ("/etc/passwd", "/nowhere"):
        with pytest.raises(ValueError, match="names a place on this machine") as refused:
            saved.derive(RECIPES["mindact"], "mine", "", {setting: place})
        told.add(str(refused.value))
    assert len(told) == 1  # the same whether there is something or not


@pytest.mark.django_db
def test_a_study_a_training_and_a_memory_of_people_name_no_place() -> None:
    dataset = factories.make_conversation().dataset
    user = factories.make_user("admin", dataset.project)
    with pytest.raises(ValueError, match="names a place"):
        create_study(user=user, dataset=dataset, recipes=["mindact"], overrides={"rank.model": "/etc/passwd"})
    with pytest.raises(ValidationError, match="names a place"):
        start_training(user=user, dataset=dataset, kind="dual_encoder", name="x", base="/etc/passwd")
    with pytest.raises(ValidationError, match="names a place"):
        start_embedding(user=user, dataset=dataset, encoder="/etc")


@pytest.mark.django_db
def test_the_command_line_may_name_any_place() -> None:
    dataset = factories.make_conversation().dataset
    with pytest.raises(ValueError, match="no model '/nowhere'"):
        create_study(user=None, dataset=dataset, recipes=["mindact"], overrides={"rank.model": "/nowhere"})


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a" * 1_000, "a/" * 5_000, "a\0b"])
def test_a_name_that_no_disk_can_hold_is_not_found(name) -> None:
    assert weights.find(name) is None
    with pytest.raises(ValueError, match="a name has at most 300 characters, and no NUL"):
        weights.check(name)
