"""Synapse's table of MiniWoB++ is what the paper prints: its own averages and counts would tell a wrong digit."""

import csv

import pytest

from agents.environments import miniwob
from agents.environments.task_sets import SYNAPSE
from agents.recipes.miniwob_table import FILE, SYSTEMS, printed, reported

# What stands below the table, but for "solved", as it calls the tasks of which a system reports anything.
FOOT = {
    "Synapse": (0.992, 64),
    "Human": (0.935, 104),
    "RCI": (0.906, 54),
    "AdaPlanner": (0.929, 53),
    "Pix2Act": (0.962, 59),
    "Pix2Act (BC)": (0.665, 59),
    "CC-Net": (0.935, 104),
    "CC-Net (BC)": (0.305, 104),
    "WebGUM": (0.802, 56),
    "WebN-T5": (0.484, 56),
    "Others": (0.646, 88),
}


@pytest.mark.parametrize("system", FOOT)
def test_each_column_has_the_mean_and_the_number_of_tasks_that_stand_below_it(system: str) -> None:
    mean, tasks = reported(system)
    assert mean is not None
    assert (round(mean, 3), len(tasks)) == FOOT[system]


def test_every_column_of_the_file_is_read_in_its_order() -> None:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["task", *SYSTEMS] == ["task", *FOOT]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert [row[0] for row in rows[1:]] == sorted({row[0] for row in rows[1:]}) == sorted(printed())
    assert len(printed()) == 104


def test_the_tasks_that_synapse_reports_are_the_set_of_its_name() -> None:
    assert set(reported("Synapse")[1]) == set(SYNAPSE)


def test_its_tasks_have_the_names_of_ours_but_for_one_that_is_no_more() -> None:
    assert set(printed()) - set(miniwob.task_names()) == {"drag-item"}


def test_a_mean_is_over_those_of_the_tasks_that_a_system_reports() -> None:
    assert reported("RCI", ["count-shape", "guess-number", "bisect-angle"]) == (
        pytest.approx(0.3),
        ["count-shape", "guess-number"],
    )
    assert reported("Synapse", ["bisect-angle"]) == (None, [])
    assert printed()["terminal"]["CC-Net"] == -0.01
