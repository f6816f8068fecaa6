"""The benchmark command works at small sizes and leaves nothing behind."""

import json
import math

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from evaluation.bench import BENCHMARKS
from evaluation.bench.measures import Goal, Measure, table
from tests.factories import make_conversation

KEYS = ["name", "value", "unit", "baseline", "ratio", "goal", "met"]


def _row_counts() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


def _databases() -> set[str]:
    """Those of benchmarks: other processes of the tests make and drop their own meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE '%bench%'")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_quick_benchmarks_give_finite_figures_and_leave_no_rows(settings, tmp_path, capsys):
    settings.VAR_DIR = tmp_path
    make_conversation()
    rows, databases = _row_counts(), _databases()
    call_command("bench", "--quick")
    results = json.loads((tmp_path / "bench.json").read_text())
    assert all(list(result) == KEYS for result in results)
    assert all(math.isfinite(result["value"]) and result["value"] > 0 for result in results)
    shown = capsys.readouterr().out
    assert all(result["name"] in shown for result in results)
    for start in (
        "600-node list page",
        "600-node pages, every element changed: memory",
        "import sample",
        "1,000 exemplars: recall@10",
        "ranking 3 × 40 elements, all texts new",
        "memory of 32",
        "grounded, cold",
        "CodeLlama-7B, bare",
        "DeBERTa-v3-base, ranking",
    ):
        assert any(result["name"].startswith(start) for result in results), start
    assert _row_counts() == rows
    assert _databases() == databases


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_failing_benchmark_leaves_no_database(settings, tmp_path, monkeypatch):
    settings.VAR_DIR = tmp_path
    before = _databases()

    def fail(setting):
        raise RuntimeError("no")

    monkeypatch.setitem(BENCHMARKS, "candidates", fail)
    with pytest.raises(RuntimeError, match="no"):
        call_command("bench", "candidates")
    assert _databases() == before
    assert not (tmp_path / "bench.json").exists()


def test_an_unknown_benchmark_is_refused_with_the_known_names():
    with pytest.raises(CommandError, match="unknown benchmark speed; choose from candidates, differences, import"):
        call_command("bench", "speed")


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (None, None),
        (Goal("<=", 5), True),
        (Goal("<=", 4), False),
        (Goal(">=", 5), True),
        (Goal("<=", 2.3, "ratio"), False),
        (Goal("<=", 2.5, "ratio"), True),
    ],
)
def test_a_goal_limits_the_value_or_the_ratio(goal, met):
    measure = Measure("twice", 5.0, "s", 2.0, goal)
    assert (measure.ratio, measure.met) == (2.5, met)


def test_a_missed_goal_stands_out_in_the_table():
    lines = table([Measure("slow", 5.0, "s", 2.0, Goal("<=", 2.3, "ratio"), note="how it was measured")])
    assert lines[1].split() == ["slow", "5.000", "s", "2.000", "2.500", "ratio", "<=", "2.3", "NO"]
    assert "· how it was measured" in lines
