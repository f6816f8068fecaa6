"""The order in which files are tested: those that wait are apart from each other, and none is the last."""

import re
from pathlib import Path

from tests.conftest import spread
from tests.one_app import piece_of_work

ROOT = Path(__file__).resolve().parent.parent
# Those that start what `make run` starts, or hosts of their own.
STARTS = re.compile(r"^from tests\.(web\.running_up|hosts\.machines) import (\([^)]*|.*)\b(start|Host)\b", re.M)
STARTING = [file for file in (ROOT / "tests").rglob("test_*.py") if STARTS.search(file.read_text())]


class Case:
    """As much of an item of pytest as its place in the order depends on."""

    def __init__(self, path: str, marker: str = "") -> None:
        self.path, self.marker = Path(path), marker

    def get_closest_marker(self, name: str) -> bool:
        return name == self.marker


def ordered(cases: list[Case]) -> str:
    return " ".join(str(case.path) + "!" * bool(case.marker) for case in spread(cases, ("browser",)))


def test_long_files_are_spread_over_four_fifths_of_the_others() -> None:
    cases = [Case("A", "browser"), Case("B", "browser"), *map(Case, "abcde")]
    assert ordered(cases) == "A! a b B! c d e"


def test_no_case_is_lost_and_those_of_a_file_stay_together() -> None:
    assert ordered([Case("a"), Case("A"), Case("A", "browser"), Case("a"), Case("b", "slow")]) == "A A! a a b!"
    assert ordered([*map(Case, "abc")]) == "a b c"
    assert ordered([Case("A", "browser")]) == "A!"


def test_what_starts_the_whole_app_comes_first() -> None:
    assert ordered([Case("a"), Case("A", "browser"), Case("W", "whole_app"), *map(Case, "bc")]) == "W! A! a b c"


def test_files_that_start_the_whole_app_are_one_piece_of_work() -> None:
    pieces = {piece_of_work(ROOT, f"{file.relative_to(ROOT)}::test_x") for file in STARTING}
    assert (pieces, len(STARTING) > 5) == ({"whole_app"}, True)
    assert piece_of_work(ROOT, "tests/test_names.py::test_x") == "tests/test_names.py"
