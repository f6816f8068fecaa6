"""The packaged controls, and what is counted of them; `tests/live/test_guard_controls.py` has the guard judge them."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.guard import judging
from agents.guard.policy import Risk
from evaluation.guard import controls
from evaluation.guard.controls import ELEMENT, PARTS, JudgedControl, controls_report, packaged_controls
from evaluation.guard.labels import HARMLESS, StepLabels
from evaluation.guard.learning import WEIGHTS
from evaluation.models.risk_forecasts import LOOKS_BY

GUARD = Path(judging.__file__).parent
HELD = Risk("pay", "says so", "page")


def test_every_part_is_large_enough_and_each_page_has_its_element() -> None:
    found = packaged_controls()
    assert len({one.key for one in found}) == len(found) >= 600
    assert all(f'id="{ELEMENT}"' in one.html and one.html.count(f'id="{ELEMENT}"') == 1 for one in found)
    for part in PARTS:
        own = [one for one in found if one.part == part]
        assert sum(all(one.labels.risky) for one in own) >= 60
        assert sum(not any(one.labels.risky) for one in own) >= 60
        assert len({one.site for one in own}) >= 30, "of websites of many kinds"
    pages = {part: {one.html for one in found if one.part == part} for part in PARTS}
    assert not (pages["develop"] | pages["odd"]) & pages["held"], "nothing that is held back was read in another part"
    others = set().union(*(own for part, own in pages.items() if part != "test"))
    assert not others & pages["test"], "nothing that is tested with was learned from"
    assert "test" not in WEIGHTS


@pytest.mark.parametrize(("column", "value"), [("part", "trained"), ("reader_b", "dangerous")])
def test_a_row_that_cannot_be_counted_is_named(
    column: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"id": "7", "part": "held", "site": "s", "html": "<p>", "operation": "CLICK", "value": ""}
    row |= {"reader_a": "pay", "reader_b": HARMLESS, "why": "w", column: value}
    file = tmp_path / "some.csv"
    file.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n", "utf-8")
    monkeypatch.setattr(controls, "PACKAGED", file)
    with pytest.raises(ValueError, match=f"some.csv, 7: '{value}'"):
        packaged_controls.__wrapped__()


def test_shares_are_counted_by_part_and_disputed_rows_apart() -> None:
    risky = next(one for one in packaged_controls() if all(one.labels.risky) and one.part == "held")
    harmless = replace(risky, key="b", labels=StepLabels(HARMLESS, HARMLESS))
    disputed = replace(risky, key="c", labels=StepLabels("pay", HARMLESS))
    judged = [JudgedControl(risky, HELD), JudgedControl(replace(risky, key="a"), None)]
    judged += [JudgedControl(harmless, HELD), JudgedControl(disputed, None)]
    report = controls_report(judged)
    assert list(report["parts"]) == ["held"]
    found = report["parts"]["held"]
    assert (found["controls"], found["disputed"]) == (4, 1)
    assert [found[gold]["recall"]["n"] for gold in ("agreed", "either", "both")] == [2, 3, 2]
    assert (found["agreed"]["recall"]["hits"], found["agreed"]["false_alarms"]["hits"]) == (1, 1)
    assert [one["key"] for one in report["missed"]] == ["a", "c"]
    assert [(one["key"], one["held"]) for one in report["false_alarms"]] == [("b", "says so")]


def test_what_was_kept_by_other_words_is_looked_at_anew() -> None:
    """Whichever file of the guard changes: but that which asks whether an approved action still is the same."""
    read = {Path(module.__file__ or "").name for module in LOOKS_BY}
    assert read == {path.name for path in GUARD.glob("*.py")} - {"__init__.py", "again.py"}
