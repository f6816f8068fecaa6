"""`manage.py score --format weblinx`: action strings made elsewhere against stored demonstrations."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotations.corpus.importing import import_files
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories
from tests.annotations.weblinx_folder import FROM, LIST, SEARCH, write_demo
from tests.quick import first_is_quick

# What was done at the six turns of the demonstration that a model is asked about.
DONE = {
    4: f'click(uid="{FROM}")',
    5: f'text_input(text="Arlen Bridge", uid="{FROM}")',
    6: f'change(value="Cheapest first", uid="{LIST}")',
    7: 'say(speaker="navigator", utterance="Which day?")',
    9: "scroll(x=0, y=400)",
    10: f'submit(uid="{SEARCH}")',
}


@pytest.fixture
def dataset(db, tmp_path) -> Dataset:
    """Two demonstrations of the same turns."""
    for name in ("abcdefg", "hijklmn"):
        write_demo(tmp_path / "demos", name)
    dataset = factories.make_dataset(name="w", source_format="weblinx")
    assert import_files("weblinx", tmp_path / "demos", dataset).conversations == 2
    return dataset


def rows(demo: str = "abcdefg", **changed: str) -> list[dict]:
    done = DONE | {int(turn[1:]): reply for turn, reply in changed.items()}
    return [{"demo_name": demo, "turn_index": turn, "output_predicted": reply} for turn, reply in done.items()]


def run(path: Path, content, *arguments: str) -> tuple[dict, str]:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    out, err = io.StringIO(), io.StringIO()
    call_command("score", "w", str(path), "--format", "weblinx", "--json", *arguments, stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def values(result: dict, preset: str = "faithful") -> dict[str, float]:
    return {name: metric["value"] for name, metric in result["presets"][preset].items()}


def test_what_was_done_scores_full_marks_but_for_scrolls(dataset, tmp_path) -> None:
    result, said = run(tmp_path / "x.json", rows() + rows("hijklmn"))
    assert said == ""
    assert result["counts"] == {
        "conversations": 2,
        "steps": 12,
        "predicted": 12,
        "missing": 0,
        "dropped": 0,
        "unknown": 0,
        "defects": 0,
    }
    for preset in Study.Preset.values:
        found = values(result, preset)
        assert found["overall"] == pytest.approx(5 / 6), "a matched scroll scores 0, as published"
        assert found["intent_match"] == 1
        assert found["element_group_clean"] == 1
        assert found["text_group_clean"] == 1
        assert found["textinput chrf"] == 1
    assert result["metrics"]["overall"] == {
        "value": pytest.approx(5 / 6),
        "low": pytest.approx(5 / 6 * 0.025**0.5),  # both conversations are alike, as most others may not be
        "high": pytest.approx(1 - 1 / 6 * 0.025**0.5),
        "n": 12,
        "grouping": "turn",
    }


def test_turns_that_are_not_predicted_fail(dataset, tmp_path) -> None:
    result, said = run(tmp_path / "x.json", rows())
    assert result["counts"]["missing"] == 6
    assert result["missing"] == [f"hijklmn {turn}" for turn in DONE]
    assert values(result)["overall"] == pytest.approx(5 / 12)
    assert values(result)["intent_match"] == 0.5
    assert result["metrics"]["overall"]["low"] == 0
    assert "6 missing (not predicted; counted as failures)" in said


def test_unknown_turns_and_demonstrations_are_listed(dataset, tmp_path) -> None:
    odd = [{"demo_name": "zzzzzzz", "turn_index": 1, "output_predicted": "x"}, rows()[0] | {"turn_index": 99}]
    result, _ = run(tmp_path / "x.json", rows() + rows("hijklmn") + odd)
    assert result["unknown"] == ["zzzzzzz 1", "abcdefg 99"]
    assert values(result)["overall"] == pytest.approx(5 / 6)


@pytest.mark.slow
def test_the_presets_differ_where_a_quirk_acts(dataset, tmp_path) -> None:
    """Q2: a quoted number is no text as published."""
    both = [
        row | {"turn_index": 7, "output_predicted": 'say(utterance="5")'} for row in (rows()[3], rows("hijklmn")[3])
    ]
    result, _ = run(tmp_path / "x.json", [*both, *(r for r in rows() + rows("hijklmn") if r["turn_index"] != 7)])
    assert values(result, "faithful")["say chrf"] == 0
    longer = [row | {"output_predicted": 'say(utterance="day?")'} for row in both]
    result, _ = run(tmp_path / "x.json", [*longer, *(r for r in rows() + rows("hijklmn") if r["turn_index"] != 7)])
    faithful, corrected = (values(result, preset)["say chrf"] for preset in ("faithful", "corrected"))
    assert 0 < faithful < 1
    assert faithful == round(corrected, 2) != corrected, "published values have two decimals"


def test_json_lines_and_prefixed_names_are_read(dataset, tmp_path) -> None:
    lines = rows() + rows("2023_hijklmn")
    result, _ = run(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    assert (result["counts"]["missing"], result["counts"]["unknown"]) == (0, 0)


@first_is_quick(
    ("line", "field", "message"),
    [
        ("{", "", "not JSON: "),
        ("3", "", "expected an object, found a number"),
        ('{"turn_index": 1, "output_predicted": ""}', "demo_name", "expected text, found no such field"),
        ('{"demo_name": "a", "turn_index": "1"}', "turn_index", "expected a whole number, found text"),
        ('{"demo_name": "a", "turn_index": true}', "turn_index", "expected a whole number, found true or false"),
        ('{"demo_name": "a", "turn_index": 1, "output_predicted": null}', "output_predicted", "found null"),
        (json.dumps(rows()[0]), "turn_index", "this turn was predicted before; the first prediction counts"),
    ],
)
def test_a_bad_line_is_named_and_the_others_count(dataset, tmp_path, line, field, message) -> None:
    result, _ = run(tmp_path / "x.jsonl", "\n".join([*map(json.dumps, rows()), line]))
    (error,) = result["errors"]
    assert (error["file"], error["record"], error["field"]) == ("x.jsonl", "line 7", field)
    assert message in error["message"]
    assert result["counts"]["predicted"] == 6


def test_scores_of_candidates_belong_to_mind2web(dataset, tmp_path) -> None:
    with pytest.raises(CommandError, match="--scores belongs to --format mind2web"):
        run(tmp_path / "x.json", rows(), "--scores", "x.json")
    with pytest.raises(CommandError, match="the first is for 'other 1'"):
        run(tmp_path / "x.json", [rows()[0] | {"demo_name": "other", "turn_index": 1}])
