"""The order in which files are tested: those that wait are apart from each other, and none is the last."""

from pathlib import Path

from tests.conftest import spread


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
