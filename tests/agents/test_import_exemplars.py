"""Exemplar sets are read from a clone of their authors' repository into a project, and are nowhere else."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from agents.encoders.embedding import HashEncoder
from agents.memory.exemplar_sets import ProjectExemplarSets, packaged
from agents.memory.searched import lacking_of
from agents.models import ExemplarSet
from agents.prompts.importing.exemplar_sets import EXEMPLARS, KEYS
from agents.recipes import literature
from agents.stages.registry import searched
from tests import factories

pytestmark = pytest.mark.django_db

STEP = {"act": "agent.press('enter')", "state": "<b/>"}
BODIES: dict[str, Any] = {
    "press-it": {"demo": [STEP, {"act": "x", "obs": "o"}], "filter_prompt": "Which?"},
    "two-steps": {"demo": [{"task": "t", "trajectory": [STEP, STEP]}], "code_filter_prompt": ["", "Code <state>"]},
}
SPECIFIERS = {
    "press-it": ["Task: press\nState:\n<b/>", "Task: push\nState:\n<b/>"],
    "two-steps": ["Task: both\nState:\n"],
}


def cloned(folder: Path, bodies: Any = BODIES, keys: Any = SPECIFIERS) -> Path:
    for path, said in ((EXEMPLARS, bodies), (KEYS, keys)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(said if isinstance(said, str) else json.dumps(said))
    return folder


def imported(folder: Path, *arguments: str) -> str:
    out = io.StringIO()
    call_command("import_exemplars", "synapse", folder, *arguments, stdout=out)
    return out.getvalue()


def test_sets_become_rows_of_a_project_and_replace_those_before(tmp_path: Path) -> None:
    project, other = factories.make_project(), factories.make_project()
    imported(cloned(tmp_path), "--project", other.slug)
    told = json.loads(imported(tmp_path, "--project", project.slug, "--json"))
    assert told == {"project": project.slug, "sets": 2, "keys": 3, "source": f"synapse: {EXEMPLARS}, {KEYS}"}
    rows = ExemplarSet.objects.filter(project=project)
    assert [(row.name, row.position, row.keys) for row in rows] == [
        ("press-it", 0, SPECIFIERS["press-it"]),
        ("two-steps", 1, SPECIFIERS["two-steps"]),
    ]
    assert rows[0].body == BODIES["press-it"]
    cloned(tmp_path, {"press-it": BODIES["press-it"]}, {"press-it": ["one key"]})
    assert "1 exemplar sets with 1 keys" in imported(tmp_path, "--project", project.slug)
    assert ExemplarSet.objects.filter(project=project).get().keys == ["one key"]
    assert ExemplarSet.objects.filter(project=other).count() == 2, "another project's stay"


def test_a_page_finds_the_set_of_the_nearest_keys_of_its_own_project(tmp_path: Path) -> None:
    project, other = factories.make_project(), factories.make_project()
    sets, encoder = ProjectExemplarSets(project, HashEncoder()), HashEncoder()
    imported(cloned(tmp_path, keys=SPECIFIERS | {"two-steps": ["Task: press\nState:\n<b/>"]}), "--project", other.slug)
    sets.prepare(True)
    assert (sets.find("two-steps"), sets.find("login-user") is not None) == (None, True), "ours, not another project's"
    imported(cloned(tmp_path), "--project", project.slug)
    sets.prepare(True)
    assert sets.find("login-user") is None, "imported ones take the place of ours"
    query: np.ndarray = encoder.encode(["Task: both\nState:\n"])[0]
    assert sets.nearest(query, 1) == ["two-steps"]
    assert sorted(sets.nearest(query, 5)) == ["press-it", "press-it", "two-steps"]
    found = sets.find("two-steps")
    assert found is not None
    assert (found.trajectory, found.code_filter_prompt) == (True, ("", "Code <state>"))
    assert sets.find("absent") is None


def test_a_page_of_a_kind_that_comes_with_webnav_finds_its_set() -> None:
    dataset, encoder = factories.make_dataset(), HashEncoder()
    wanted = searched(literature.get("synapse-miniwob"))
    assert wanted == {"exemplar_sets"}
    assert lacking_of(dataset, wanted) == []
    sets = ProjectExemplarSets(dataset.project, encoder)
    sets.prepare(True)
    for one in packaged():
        for key in one["keys"]:
            assert one["name"] in sets.nearest(encoder.encode([key])[0], 3), key
        found = sets.find(one["name"])
        assert found is not None
        assert [demo.steps[0].act for demo in found.demos] == [demo["act"] for demo in one["demo"]]


@pytest.mark.parametrize(
    ("bodies", "keys", "said"),
    [
        ("{", SPECIFIERS, "exemplars.json is no JSON"),
        ("[" * 100_000, SPECIFIERS, "exemplars.json is no JSON"),
        ([], SPECIFIERS, "no object of exemplar sets"),
        ({}, {}, "no object of exemplar sets"),
        (BODIES, [], "no object of keys"),
        (BODIES, {"press-it": ["a"]}, "no list of keys for 'two-steps'"),
        (BODIES, SPECIFIERS | {"third": ["a"]}, "keys of 'third'"),
        (BODIES, SPECIFIERS | {"two-steps": [5]}, "should be a text"),
        (BODIES, SPECIFIERS | {"two-steps": ["\0"]}, "should be a text"),
        (BODIES | {"two-steps": {"demo": []}}, SPECIFIERS, "no list demo for 'two-steps'"),
        (BODIES | {"two-steps": {"demo": [5]}}, SPECIFIERS, "that is no object"),
        (BODIES | {"two-steps": {"demo": [{"state": "a"}]}}, SPECIFIERS, "without act"),
        (BODIES | {"two-steps": {"demo": [{"act": ["a"]}]}}, SPECIFIERS, "should be a text"),
        (BODIES | {"two-steps": {"demo": [STEP, {"task": "t", "trajectory": [STEP]}]}}, SPECIFIERS, "beside traj"),
        (BODIES | {"two-steps": {"demo": [{"trajectory": [STEP]}]}}, SPECIFIERS, "should be a text"),
        (BODIES | {"two-steps": {"demo": [{"task": "t", "trajectory": []}]}}, SPECIFIERS, "without steps"),
        (BODIES | {"two-steps": {"demo": [STEP], "filter_prompt": {"a": 1}}}, SPECIFIERS, "should be a text"),
        (BODIES | {" two": {"demo": [STEP]}}, SPECIFIERS, "no name"),
        (BODIES | {"x" * 101: {"demo": [STEP]}}, SPECIFIERS, "no name"),
    ],
)
def test_what_is_no_set_is_refused_with_its_name_and_nothing_is_lost(
    tmp_path: Path, bodies: Any, keys: Any, said: str
) -> None:
    project = factories.make_project()
    imported(cloned(tmp_path), "--project", project.slug)
    with pytest.raises(CommandError, match=said):
        imported(cloned(tmp_path, bodies, keys), "--project", project.slug)
    assert ExemplarSet.objects.filter(project=project).count() == 2


def test_no_clone_and_no_project_are_said(tmp_path: Path) -> None:
    factories.make_project()
    with pytest.raises(CommandError, match="is no folder"):
        imported(tmp_path / "absent")
    with pytest.raises(CommandError, match="has no file"):
        imported(tmp_path)
    with pytest.raises(CommandError, match="there is no project 'absent'"):
        imported(cloned(tmp_path), "--project", "absent")
